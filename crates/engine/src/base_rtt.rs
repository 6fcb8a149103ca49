//! The longest base RTT of a plan's traffic: the interval of what switches measure, and the span of
//! start jitter.

use crate::listed::given;
use pathweave_fabric::routing::{Costs, HostPairs, Router, ShortestPaths, longest_round_trip};
use pathweave_fabric::{Fabric, LinkId, base_rtt};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_units::{Bytes, Time};

/// The longest RTT without queues over all pairs of hosts that a group's flows may join, with the group's
/// packets, and over all paths that they may take; zero when no path joins any.
pub(crate) fn longest_base_rtt(plan: &Plan, router: &Router) -> Time {
    let fabric = &plan.fabric;
    let own;
    let paths = match router.shortest_paths() {
        Some(paths) => paths,
        None => {
            own = ShortestPaths::new(fabric);
            &own
        }
    };
    // Groups often differ in nothing that matters here.
    let mut asked: Vec<(HostPairs, Bytes, Bytes)> = Vec::new();
    let mut longest = Time::ZERO;
    for group in &plan.groups {
        let (data, ack) = packets(group);
        let mut ask = |pairs: HostPairs| {
            let question = (pairs, data, ack);
            if !asked.contains(&question) {
                let costs = costs(fabric, router, data, ack);
                let found = longest_round_trip(fabric, paths, &question.0, &costs, Some(longest));
                longest = found.time.unwrap_or(longest);
                asked.push(question);
            }
        };
        match pairs(group, fabric) {
            Some(pairs) => ask(pairs),
            None => longest = longest.max(longest_listed(fabric, router, paths, group)),
        }
    }
    longest
}

/// Bytes on the wire of a group's data packets and acknowledgements.
fn packets(group: &GroupPlan) -> (Bytes, Bytes) {
    let config = &group.transport;
    let bytes = |size| Bytes::new(u64::from(size));
    (bytes(config.data_packet), bytes(config.ack_packet))
}

/// What packets of these sizes take over each link.
fn costs(fabric: &Fabric, router: &Router, data: Bytes, ack: Bytes) -> Costs {
    let links = || (0..fabric.links.len() as u32).map(LinkId);
    let one = |link: LinkId, size: Bytes| {
        let link = fabric.link(link);
        link.delay.saturating_add(link.rate.time_for(size))
    };
    if router.acks_choose_paths() {
        let there = links().map(|link| one(link, data)).collect();
        let back = links().map(|link| one(link, ack)).collect();
        return Costs::new(fabric, there, Some(back));
    }
    let both = |link: LinkId| one(link, data).saturating_add(one(link.reverse(), ack));
    Costs::new(fabric, links().map(both).collect(), None)
}

/// The hosts between which a pattern sends; `None` for a list of flows.
fn pairs(group: &GroupPlan, fabric: &Fabric) -> Option<HostPairs> {
    let all = || (0..fabric.hosts.len() as u32).collect::<Vec<u32>>();
    let or_all = |hosts: &Option<Vec<u32>>| hosts.clone().unwrap_or_else(all);
    let (sources, destinations) = match &group.pattern {
        Pattern::Permutation(p) => (or_all(p.hosts()), or_all(p.hosts())),
        Pattern::Incast(p) => (or_all(&p.hosts), or_all(&p.hosts)),
        Pattern::RequestResponse(p) => (or_all(&p.clients), or_all(&p.servers)),
        Pattern::Random(p) => (or_all(&p.sources), or_all(&p.destinations)),
        Pattern::Poisson(p) => {
            let (sources, destinations) = p.sides();
            (or_all(sources), or_all(destinations))
        }
        Pattern::ManyToMany(p) => (or_all(&p.sources), or_all(&p.destinations)),
        Pattern::ManyToOne(p) => (or_all(&p.sources), vec![p.destination]),
        Pattern::Bursts(p) => (or_all(&p.sources), vec![p.destination]),
        Pattern::Collective(p) => (or_all(&p.placement.hosts()), or_all(&p.placement.hosts())),
        Pattern::Goal(p) => (or_all(&p.placement.hosts()), or_all(&p.placement.hosts())),
        Pattern::Trace(p) => p.hosts(),
        Pattern::Listed(_) => return None,
    };
    let different_racks = match &group.pattern {
        Pattern::Random(p) => p.different_racks,
        Pattern::Poisson(p) => p.different_racks,
        _ => false,
    };
    Some(HostPairs {
        sources,
        destinations,
        different_racks,
    })
}

/// The longest base RTT of listed flows, each on the paths that are given for it, if any are.
fn longest_listed(
    fabric: &Fabric,
    router: &Router,
    paths: &ShortestPaths,
    group: &GroupPlan,
) -> Time {
    let Pattern::Listed(list) = &group.pattern else {
        return Time::ZERO;
    };
    let (data, ack) = packets(group);
    let costs = costs(fabric, router, data, ack);
    let mut joined: Vec<(u32, u32)> = Vec::new();
    let mut longest = Time::ZERO;
    for (flow, settings) in list.flows.iter().zip(&group.listed) {
        // One path serves all subflows, so that the longer list has every pair of paths.
        for subflow in 0..settings.paths.len().max(settings.ack_paths.len()) as u32 {
            let Some(path) = given(&settings.paths, subflow) else {
                continue;
            };
            let back = match given(&settings.ack_paths, subflow) {
                Some(back) => back.to_vec(),
                None => path.iter().rev().map(|link| link.reverse()).collect(),
            };
            longest = longest.max(base_rtt(fabric, path, &back, data, ack));
        }
        if settings.paths.is_empty() {
            joined.push((flow.source, flow.destination));
        }
    }
    joined.sort_unstable();
    joined.dedup();
    // Flows of one source are looked at together.
    for flows in joined.chunk_by(|a, b| a.0 == b.0) {
        let pairs = HostPairs {
            sources: vec![flows[0].0],
            destinations: flows.iter().map(|&(_, destination)| destination).collect(),
            different_racks: false,
        };
        let found = longest_round_trip(fabric, paths, &pairs, &costs, Some(longest));
        longest = found.time.unwrap_or(longest);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::Rate;

    fn plan(text: &str) -> Plan {
        let scenario = pathweave_scenario::check(text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        scenario.variants()[0].plan(1)
    }

    fn longest(plan: &Plan) -> Time {
        let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed);
        longest_base_rtt(plan, &router.expect("a router"))
    }

    /// Three hosts on one switch, of which one is far, in this order.
    fn star(hosts: &str, traffic: &str) -> Plan {
        plan(&format!(
            r#"
            [fabric]
            kind = "graph"
            hosts = {hosts}
            switches = ["X"]
            rate = "1 Gbps"
            delay = "10 us"
            cables = ["near-X", "next-X", {{ link = "far-X", delay = "1 ms" }}]
            {traffic}
            "#
        ))
    }

    const ANY: &str = r#"
        [[traffic]]
        name = "any"
        pattern = "random"
        size = "1 MB"
        controller = "xcp"
        [stop]
        at = "1 s"
    "#;

    /// Two links each way, for a packet of 1500 bytes and one of 52.
    fn by_hand(delays: Time) -> Time {
        let rate = Rate::from_gbps(1);
        let [data, ack] = [1500, 52].map(|size| rate.time_for(Bytes::new(size)));
        delays * 2 + data * 2 + ack * 2
    }

    #[test]
    fn the_order_of_the_hosts_does_not_matter() {
        let far = by_hand(Time::from_micros(1010));
        for hosts in [
            r#"["near", "next", "far"]"#,
            r#"["far", "near", "next"]"#,
            r#"["next", "far", "near"]"#,
        ] {
            assert_eq!(longest(&star(hosts, ANY)), far, "{hosts}");
        }
    }

    #[test]
    fn only_pairs_that_talk_count() {
        let hosts = r#"["far", "near", "next"]"#;
        let near = r#"sources = ["near"]
            destinations = ["next"]"#;
        let traffic = ANY.replace(
            "pattern = \"random\"",
            &format!("pattern = \"random\"\n{near}"),
        );
        assert_eq!(
            longest(&star(hosts, &traffic)),
            by_hand(Time::from_micros(20))
        );
        let listed = r#"
            [[traffic]]
            name = "listed"
            pattern = "flows"
            size = "1 MB"
            controller = "dctcp"
            flows = [{ from = "next", to = "near" }]
        "#;
        assert_eq!(
            longest(&star(hosts, listed)),
            by_hand(Time::from_micros(20))
        );
        let both = listed.replace("}]", "}, { from = \"next\", to = \"far\" }]");
        assert_eq!(
            longest(&star(hosts, &both)),
            by_hand(Time::from_micros(1010))
        );
    }

    #[test]
    fn each_group_counts_with_its_own_packets() {
        let groups = r#"
            [[traffic]]
            name = "small"
            pattern = "permutation"
            size = "1 MB"
            controller = "dctcp"
            packets = "300 B"
            [[traffic]]
            name = "large"
            pattern = "permutation"
            size = "1 MB"
            controller = "dctcp"
            [stop]
            at = "1 s"
        "#;
        let hosts = r#"["near", "next", "far"]"#;
        assert_eq!(
            longest(&star(hosts, groups)),
            by_hand(Time::from_micros(1010))
        );
    }

    #[test]
    fn paths_that_are_given_count_as_they_are() {
        let text = |paths: &str| {
            format!(
                r#"
                [fabric]
                kind = "parallel-paths"
                rates = ["1 Gbps", "1 Gbps"]
                delays = ["10 us", "500 us"]
                host_rate = "1 Gbps"
                host_delay = "0 s"
                [routing]
                kind = "pinned"
                [[traffic]]
                name = "one"
                pattern = "flows"
                size = "1 MB"
                controller = "dctcp"
                flows = [{{ from = "S1", to = "D1", paths = [{paths}] }}]
                "#
            )
        };
        let short = longest(&plan(&text(r#"["A1", "B1"]"#)));
        let both = longest(&plan(&text(r#"["A1", "B1"], ["A2", "B2"]"#)));
        assert_eq!(both - short, Time::from_micros(2 * 490));
        let back = r#"["A1", "B1"]], ack_paths = [["B2", "A2"]"#;
        assert_eq!(longest(&plan(&text(back))) - short, Time::from_micros(490));
    }
}
