//! What switches choose, packet by packet, without a network.

use super::switch::reverse;
use super::*;
use pathweave_fabric::routing::FmpPrice;
use pathweave_fabric::topology::{FatTree, LeafSpine, PerLayer};
use pathweave_units::Rate;
use std::collections::BTreeSet;

const CONFIG: FmpConfig = FmpConfig {
    price: FmpPrice::Occupancy,
    feedback_period: Time::from_micros(100),
    silence_timeout: Time::from_micros(300),
    idle_expiry: Time::from_secs(1),
};

const PACKET: Bytes = Bytes::new(1500);
const RATE: Rate = Rate::from_gbps(1);

/// Two leaves with two hosts each, and this many spines.
fn leaf_spine(spines: u32) -> Fabric {
    let shape = LeafSpine {
        leaves: 2,
        spines,
        hosts_per_leaf: 2,
        host_rate: Rate::from_gbps(1),
        uplink_rate: Rate::from_gbps(1),
        host_delay: Time::from_micros(1).into(),
        uplink_delay: Time::from_micros(10).into(),
    };
    shape.build(1).expect("a fabric")
}

fn fat_tree(k: u32) -> Fabric {
    let delay = Time::from_micros(10).into();
    let rate = Rate::from_gbps(1);
    let shape = FatTree {
        k,
        hosts_per_edge: None,
        rate: PerLayer {
            rack: rate,
            aggregation: rate,
            core: rate,
        },
        delay: PerLayer {
            rack: delay,
            aggregation: delay,
            core: delay,
        },
    };
    shape.build(1).expect("a fabric")
}

fn link(fabric: &Fabric, from: &str, to: &str) -> u32 {
    let node = |name| fabric.node_named(name).expect("a node");
    fabric.link_between(node(from), node(to)).expect("a link").0
}

/// Opens subflow `subflow` of a connection from host 0 to another at its own position.
fn open(fmp: &mut Fmp, position: u32, destination: u32, token: u64, subflow: u32) {
    let port = fmp.host_port(0, destination, token, subflow);
    fmp.open(position, (0, destination), token, subflow, port);
}

/// The links that a packet takes.
fn walk(fmp: &mut Fmp, position: u32, now: Time) -> Vec<u32> {
    let mut links = vec![fmp.links(position)[0]];
    loop {
        match fmp.next(*links.last().expect("a link"), position, now) {
            Next::Link(link) => links.push(link),
            Next::Host => return links,
            Next::None => panic!("a port leads on"),
        }
    }
}

/// The messages that a switch sends over this link in a period.
fn told(fmp: &mut Fmp, link: u32) -> Vec<Message> {
    let teller = fmp.switch_at(reverse(link));
    let mut found = Vec::new();
    fmp.tell_all(teller, |_, over, message| {
        if over == link {
            found.push(message);
        }
    });
    found
}

/// The far end of a link hears these messages. Gives the rows that are cut off.
fn hear(fmp: &mut Fmp, link: u32, messages: Vec<Message>, now: Time, queue: f64) -> Vec<u32> {
    let mut cut_off = Vec::new();
    for message in messages {
        fmp.on_sent(link, message);
        fmp.on_message(link, now, queue, &mut cut_off);
    }
    cut_off
}

/// The path-failure notices that follow from rows without a port.
fn notices_of(fmp: &mut Fmp, rows: &[u32]) -> Vec<(u32, Message)> {
    let mut found = Vec::new();
    fmp.notify(rows, |_, link, message| found.push((link, message)));
    found
}

#[test]
fn price_tables_have_a_line_for_each_destination_and_port() {
    let fabric = fat_tree(4);
    let fmp = Fmp::new(&fabric, CONFIG, PACKET, 1);
    let prices = |name: &str| {
        let node = fabric.node_named(name).expect("a switch");
        let switch = (0..fmp.switches()).find(|&switch| fmp.node(switch) == node);
        fmp.statistics(switch.expect("a switch")).prices
    };
    // 8 edge switches. An edge switch reaches the 7 others over 2 ports; an aggregation switch the 2 of its
    // pod over one and the 6 others over 2; a core switch all 8 over one.
    assert_eq!(prices("edge0.0"), 7 * 2);
    assert_eq!(prices("agg1.1"), 2 + 6 * 2);
    assert_eq!(prices("core0.0"), 8);
}

#[test]
fn idle_prices_are_sums_of_delays() {
    let fabric = fat_tree(4);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 1);
    let up = link(&fabric, "edge0.0", "agg0.1");
    let messages = told(&mut fmp, reverse(up));
    let prices = &messages[0].prices;
    assert_eq!((messages.len(), prices.len()), (1, 7));
    assert!(prices.iter().all(|price| price.congestion == 0.0));
    let mut delays: Vec<u64> = prices
        .iter()
        .map(|p| (p.delay * 1e6).round() as u64)
        .collect();
    delays.sort_unstable();
    // The neighbour in the pod is one link behind the aggregation switch, the others three.
    assert_eq!(delays, [10, 30, 30, 30, 30, 30, 30]);
}

#[test]
fn siblings_take_all_paths_and_then_begin_again() {
    let fabric = fat_tree(4);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    for subflow in 0..8 {
        open(&mut fmp, subflow, 15, 77, subflow);
    }
    let paths: Vec<Vec<u32>> = (0..8)
        .map(|flow| walk(&mut fmp, flow, Time::ZERO))
        .collect();
    let different: BTreeSet<_> = paths.iter().collect();
    assert_eq!(different.len(), 4, "all four paths between two pods");
    for path in &different {
        assert_eq!(paths.iter().filter(|other| other == path).count(), 2);
    }
}

#[test]
fn connections_spread_over_an_idle_fabric() {
    let fabric = leaf_spine(4);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    let mut taken = [0; 4];
    for token in 0..4000u32 {
        open(&mut fmp, token, 2, u64::from(token), 0);
        let path = walk(&mut fmp, token, Time::ZERO);
        let node = fabric.link(pathweave_fabric::LinkId(path[1])).to;
        let spine = &fabric.node(node).name["spine".len()..];
        taken[spine.parse::<usize>().expect("a number")] += 1;
    }
    // Binomial: standard deviation 27.
    assert!(
        taken.iter().all(|count| (880..1120).contains(count)),
        "{taken:?}"
    );
}

/// Equation 19.
#[test]
fn a_switch_tells_the_pair_of_the_port_with_the_smallest_product() {
    let fabric = fat_tree(6);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    // What an aggregation switch hears from its three core switches, whose links add 10 us each: products of 11, 12 and 8.
    // The second pair has the shortest delay and the first the lowest congestion.
    for (core, congestion, delay) in [(0, 0.1, 100e-6), (1, 0.4, 20e-6), (2, 0.2, 30e-6)] {
        let from = link(&fabric, &format!("core0.{core}"), "agg0.0");
        let mut messages = told(&mut fmp, from);
        for price in messages.iter_mut().flat_map(|message| &mut message.prices) {
            *price = Price { congestion, delay };
        }
        hear(&mut fmp, from, messages, Time::from_micros(50), 0.0);
    }
    let down = link(&fabric, "agg0.0", "edge0.0");
    let messages = told(&mut fmp, down);
    let elsewhere: Vec<Price> = messages
        .iter()
        .flat_map(|message| &message.prices)
        .filter(|price| price.congestion > 0.0)
        .copied()
        .collect();
    assert_eq!(
        elsewhere.len(),
        15,
        "three edge switches in each of five pods"
    );
    for price in elsewhere {
        assert_eq!(price.congestion, 0.2);
        assert!((price.delay - 40e-6).abs() < 1e-12);
    }
}

#[test]
fn a_connection_avoids_what_is_congested() {
    let fabric = leaf_spine(3);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    let now = Time::from_micros(50);
    // Queues at the ports of leaf 0 to spines 0 and 1; behind spine 2 things are worse.
    for (spine, own, behind) in [(0, 0.4, 0.0), (1, 0.1, 0.0), (2, 0.0, 0.7)] {
        let from = link(&fabric, &format!("spine{spine}"), "leaf0");
        let mut messages = told(&mut fmp, from);
        for price in messages.iter_mut().flat_map(|message| &mut message.prices) {
            price.congestion = behind;
        }
        assert!(hear(&mut fmp, from, messages, now, own).is_empty());
    }
    let firsts: Vec<u32> = (0..4)
        .map(|subflow| {
            open(&mut fmp, subflow, 2, 9, subflow);
            walk(&mut fmp, subflow, now)[1]
        })
        .collect();
    let to = |spine: &str| link(&fabric, "leaf0", spine);
    assert_eq!(
        firsts,
        [to("spine1"), to("spine0"), to("spine2"), to("spine1")]
    );
}

#[test]
fn the_order_stays_while_a_sibling_is_active_and_is_chosen_afresh_after_idleness() {
    let fabric = leaf_spine(2);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    open(&mut fmp, 0, 2, 9, 0);
    let start = walk(&mut fmp, 0, Time::ZERO);
    let end = |links: &[u32]| fabric.link(pathweave_fabric::LinkId(links[1])).to;
    let congested = fabric.node(end(&start)).name.clone();
    let from = link(&fabric, &congested, "leaf0");
    let messages = told(&mut fmp, from);
    hear(&mut fmp, from, messages, Time::from_millis(1), 0.5);
    // Half a second later the entry is fresh: the same port, and the sibling takes the other.
    let soon = Time::from_millis(500);
    assert_eq!(walk(&mut fmp, 0, soon), start);
    open(&mut fmp, 1, 2, 9, 1);
    assert_ne!(walk(&mut fmp, 1, soon)[1], start[1]);
    // When both have been idle, the better port comes first.
    let later = soon + CONFIG.idle_expiry + Time::from_picos(1);
    let after_idleness = walk(&mut fmp, 0, later);
    assert_ne!(after_idleness[1], start[1]);
    assert_eq!(fmp.statistics(0).reroutes + fmp.statistics(1).reroutes, 0);
}

#[test]
fn a_dead_port_is_left_at_once_and_taken_again_after_feedback() {
    let fabric = leaf_spine(2);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    open(&mut fmp, 0, 2, 9, 0);
    let start = walk(&mut fmp, 0, Time::ZERO);
    let mut cut_off = Vec::new();
    fmp.on_down(start[1], &mut cut_off);
    assert!(cut_off.is_empty(), "the other spine is left");
    let now = Time::from_millis(1);
    let other = walk(&mut fmp, 0, now);
    assert_ne!(other[1], start[1]);
    let leaf = fmp.switch_at(reverse(start[1]));
    assert_eq!(fmp.statistics(leaf).reroutes, 1);
    assert!(fmp.has_live_path(0, |link| fmp.up[link as usize]));
    // The last port dies: nothing leads on, and the neighbours are told.
    fmp.on_down(other[1], &mut cut_off);
    assert_eq!(cut_off.len(), 1);
    assert_eq!(fmp.next(start[0], 0, now), Next::None);
    assert!(!fmp.has_live_path(0, |link| fmp.up[link as usize]));
    assert_eq!(fmp.statistics(leaf).unroutable, 1);
    // Up again: nothing is known of what is behind until the neighbour tells.
    fmp.on_up(start[1], now);
    assert!(fmp.has_live_path(0, |link| fmp.up[link as usize]));
    assert_eq!(fmp.next(start[0], 0, now), Next::None);
    let from = reverse(start[1]);
    let messages = told(&mut fmp, from);
    hear(&mut fmp, from, messages, now, 0.0);
    assert_eq!(walk(&mut fmp, 0, now), start);
}

#[test]
fn notices_travel_upstream() {
    let fabric = fat_tree(4);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    let mut cut_off = Vec::new();
    // The only link of core0.0 to pod 3.
    fmp.on_down(link(&fabric, "core0.0", "agg3.0"), &mut cut_off);
    let notices = notices_of(&mut fmp, &cut_off);
    let told: BTreeSet<u32> = notices.iter().map(|(link, _)| *link).collect();
    let pods = (0..3).map(|pod| link(&fabric, "core0.0", &format!("agg{pod}.0")));
    assert_eq!(told, pods.collect());
    assert!(
        notices.iter().all(|(_, message)| message.prices.len() == 2),
        "two edge switches"
    );
    // An aggregation switch of another pod has another core left; it tells nobody.
    let (to_agg, message) = notices[0].clone();
    assert!(hear(&mut fmp, to_agg, vec![message], Time::from_micros(10), 0.0).is_empty());
    // With its other core gone as well, it does.
    let agg = &fabric
        .node(fabric.link(pathweave_fabric::LinkId(to_agg)).to)
        .name
        .clone();
    let mut cut_off = Vec::new();
    fmp.on_down(link(&fabric, agg, "core0.1"), &mut cut_off);
    // Rows of its own pod stay; all those of other pods that core0.1 alone led to are gone: pod 3's.
    assert_eq!(cut_off.len(), 2);
    let notices = notices_of(&mut fmp, &cut_off);
    let ends: BTreeSet<String> = notices
        .iter()
        .map(|(link, _)| {
            let end = fabric.link(pathweave_fabric::LinkId(*link)).to;
            fabric.node(end).name.clone()
        })
        .collect();
    let edges = (0..2).map(|edge| format!("edge{}.{edge}", &agg["agg".len()..=3]));
    assert_eq!(ends, edges.collect());
}

#[test]
fn a_silent_neighbour_counts_as_dead_unless_other_packets_come() {
    let fabric = leaf_spine(2);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    let leaf = fmp.switch_at(link(&fabric, "spine0", "leaf0"));
    let mut cut_off = Vec::new();
    // Nothing can have come before the link's delay, 10 us, and a packet takes 12 us.
    let timeout = Time::from_micros(10 + 12) + CONFIG.silence_timeout;
    fmp.find_silent(leaf, timeout, |_| (0, RATE), &mut cut_off);
    assert_eq!(fmp.statistics(leaf).silences, 0, "not yet");
    // A packet came from spine 0 since then, and nothing from spine 1.
    let busy = link(&fabric, "spine0", "leaf0");
    let later = timeout + Time::from_micros(100);
    let sent = |link: u32| (u64::from(link == busy), RATE);
    fmp.find_silent(leaf, later, sent, &mut cut_off);
    assert_eq!(fmp.statistics(leaf).silences, 1);
    assert!(cut_off.is_empty());
    open(&mut fmp, 0, 2, 9, 0);
    assert_eq!(walk(&mut fmp, 0, later)[1], reverse(busy));
    // It is said once; when the other one is silent as well, nothing is left.
    let end = later + CONFIG.silence_timeout + Time::from_micros(12);
    fmp.find_silent(leaf, end, sent, &mut cut_off);
    assert_eq!(fmp.statistics(leaf).silences, 1);
    fmp.find_silent(leaf, end + Time::from_picos(1), sent, &mut cut_off);
    assert_eq!(fmp.statistics(leaf).silences, 2);
    assert_eq!(cut_off.len(), 1);
}

#[test]
fn a_neighbour_that_is_not_heard_is_told_so() {
    let fabric = leaf_spine(2);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    let up = link(&fabric, "leaf0", "spine0");
    let (leaf, spine) = (fmp.switch_at(reverse(up)), fmp.switch_at(up));
    let mut cut_off = Vec::new();
    let reachable = |messages: &[Message]| -> Vec<bool> {
        let prices = messages.iter().flat_map(|message| &message.prices);
        prices.map(Price::is_reachable).collect()
    };
    assert_eq!(reachable(&told(&mut fmp, reverse(up))), [true]);
    // What the leaf sends to spine 0 gets lost; the spine's feedback still comes.
    let later = Time::from_millis(1);
    let heard = told(&mut fmp, reverse(up));
    hear(&mut fmp, reverse(up), heard, later, 0.0);
    let other = link(&fabric, "leaf1", "spine0");
    let sent = |link: u32| (u64::from(link == other), RATE);
    fmp.find_silent(spine, later, sent, &mut cut_off);
    assert_eq!(fmp.statistics(spine).silences, 1);
    let messages = told(&mut fmp, reverse(up));
    assert_eq!(reachable(&messages), [false]);
    // The leaf hears of it and takes the other spine.
    assert!(hear(&mut fmp, reverse(up), messages, later, 0.0).is_empty());
    open(&mut fmp, 0, 2, 9, 0);
    assert_eq!(
        walk(&mut fmp, 0, later)[1],
        link(&fabric, "leaf0", "spine1")
    );
    // The other leaf is heard and hears as before.
    assert_eq!(
        reachable(&told(&mut fmp, reverse(other))),
        [false],
        "leaf 0 is cut off there"
    );
    // Once something comes through again, the leaf is told what the spine leads to.
    let messages = told(&mut fmp, up);
    hear(&mut fmp, up, messages, later, 0.0);
    fmp.find_silent(spine, later, sent, &mut cut_off);
    assert_eq!(reachable(&told(&mut fmp, reverse(up))), [true]);
    assert_eq!(fmp.statistics(leaf).silences, 0);
}

#[test]
fn long_feedback_is_split_into_packets() {
    // A spine tells each of 400 leaves of the 399 others.
    let shape = LeafSpine {
        leaves: 400,
        spines: 1,
        hosts_per_leaf: 1,
        host_rate: Rate::from_gbps(1),
        uplink_rate: Rate::from_gbps(1),
        host_delay: Time::from_micros(1).into(),
        uplink_delay: Time::from_micros(10).into(),
    };
    let fabric = shape.build(1).expect("a fabric");
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 1);
    let down = link(&fabric, "spine0", "leaf7");
    let messages = told(&mut fmp, down);
    let sizes: Vec<u16> = messages.iter().map(Message::size).collect();
    assert_eq!(sizes, [16 + 8 * 185, 16 + 8 * 185, 16 + 8 * 29]);
    // All of them are heard, each in its place.
    let before: Vec<Price> = (0..400).map(|leaf| price(&fmp, 7, leaf)).collect();
    assert!(hear(&mut fmp, down, messages, Time::ZERO, 0.25).is_empty());
    for (leaf, before) in (0..400).zip(before).filter(|(leaf, _)| *leaf != 7) {
        let after = price(&fmp, 7, leaf);
        assert_eq!(after.congestion, before.congestion + 0.25, "{leaf}");
        assert_eq!(after.delay, before.delay, "{leaf}");
    }
}

/// What the leaf of host `host` knows of the way to host `destination`.
fn price(fmp: &Fmp, host: u32, destination: u32) -> Price {
    let port = fmp.host_port(host, (host + 1) % 2, 0, 0);
    let row = fmp
        .prices
        .row(fmp.paths.destination_of(destination), fmp.switch_at(port));
    fmp.prices.best(row)
}

#[test]
fn tables_forget_flows_that_are_closed() {
    let fabric = leaf_spine(2);
    let mut fmp = Fmp::new(&fabric, CONFIG, PACKET, 3);
    for round in 0..3 {
        for subflow in 0..2 {
            open(&mut fmp, subflow, 2, round, subflow);
            walk(&mut fmp, subflow, Time::ZERO);
        }
        assert!(fmp.routes(0));
        for position in 0..2 {
            fmp.close(position);
        }
        assert!(!fmp.routes(0) && fmp.links(0).is_empty());
    }
    assert_eq!(fmp.flows.len(), 2);
    let most = (0..fmp.switches())
        .map(|switch| fmp.statistics(switch).routes)
        .max();
    assert_eq!(most, Some(2));
}
