//! The longest round trip between two sets of hosts.

use super::ShortestPaths;
use crate::{Fabric, LinkId};
use pathweave_units::Time;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pairs of different hosts: each source with each destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPairs {
    /// Indexes of the hosts that send.
    pub sources: Vec<u32>,
    /// Indexes of the hosts that receive.
    pub destinations: Vec<u32>,
    /// Pairs within a rack are left out.
    pub different_racks: bool,
}

/// What packets take over each link, by the link's number.
pub struct Costs {
    there: Vec<Time>,
    back: Option<Vec<Time>>,
    most: Most,
}

impl Costs {
    /// `there` is what a data packet takes; where acknowledgements come back on the path of the data, theirs on the link's
    /// reverse is added. `back` is what an acknowledgement takes, where it takes one of the shortest paths back on its own.
    pub fn new(fabric: &Fabric, there: Vec<Time>, back: Option<Vec<Time>>) -> Costs {
        Costs {
            most: Most::of(fabric, &there, back.as_deref()),
            there,
            back,
        }
    }
}

/// Hosts that are alike but for the cable to their one switch, or alike altogether: of these the two
/// farthest from the rest of the fabric stand for all.
type Class = (u32, u32, Vec<(u32, [Time; 4])>);

/// The longest round trip, and the work of finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestRoundTrip {
    /// How long it takes; `None` when no path joins any of the pairs, and none was known.
    pub time: Option<Time>,
    /// Pairs of hosts whose paths were compared.
    pub compared: u64,
}

/// The longest round trip over all pairs and all of their shortest paths.
///
/// The work grows with the pairs of edge switches, not of hosts, where hosts have one cable each. It stops at the first pair
/// whose round trip no path could exceed: where all links between switches cost the same and so do all hosts' links, that is
/// the first pair whose switches are as far apart as any. `known` is the longest one of other pairs, which counts as well:
/// pairs that cannot exceed it are not compared.
pub fn longest_round_trip(
    fabric: &Fabric,
    paths: &ShortestPaths,
    pairs: &HostPairs,
    costs: &Costs,
    known: Option<Time>,
) -> LongestRoundTrip {
    let there = |link: LinkId| costs.there[link.0 as usize];
    let back = |link: LinkId| {
        let back = costs.back.as_ref();
        back.map_or(Time::ZERO, |back| back[link.0 as usize])
    };
    let farthest = |hosts: &[u32], own: &dyn Fn(LinkId) -> Time| {
        let mut classes: BTreeMap<Class, Vec<(Time, u32)>> = BTreeMap::new();
        for &host in hosts {
            let mut ports: Vec<(u32, [Time; 4])> = Vec::new();
            let mut reach = Time::ZERO;
            for (switch, port) in paths.attached(host) {
                reach = reach.max(own(port));
                let reverse = port.reverse();
                ports.push((
                    switch,
                    [there(port), there(reverse), back(port), back(reverse)],
                ));
            }
            if ports.len() == 1 {
                ports.clear();
            }
            let class = (paths.destination_of(host), fabric.host(host).rack, ports);
            let members = classes.entry(class).or_default();
            members.push((reach, host));
            members.sort_by_key(|&(reach, host)| (std::cmp::Reverse(reach), host));
            members.truncate(2);
        }
        let members = classes.into_values();
        members
            .map(|members| members.iter().map(|&(_, host)| host).collect())
            .collect::<Vec<Vec<u32>>>()
    };
    let sources = farthest(&pairs.sources, &|port| {
        there(port).saturating_add(back(port.reverse()))
    });
    let destinations = farthest(&pairs.destinations, &|port| {
        there(port.reverse()).saturating_add(back(port))
    });
    // What acknowledgements take to each host of a class is only found when it is asked for.
    let sources: Vec<_> = sources
        .into_iter()
        .map(|class| (class, OnceCell::new()))
        .collect();
    let (mut longest, mut compared) = (known, 0);
    for class in destinations {
        let most = costs.most.to(paths.farthest_from(class[0]));
        if longest >= Some(most) {
            continue;
        }
        let to_each = longest_to_each(paths, &class, &costs.there);
        for (rank, (&destination, to)) in class.iter().zip(&to_each).enumerate() {
            for (others, others_back) in &sources {
                if longest >= Some(most) {
                    break;
                }
                // The farthest two make the longest pair, unless they are one host.
                let same = others[0] == class[0];
                let takes_part = |other: usize| {
                    if same {
                        other != rank
                    } else {
                        other + rank == 0
                    }
                };
                for (other, &source) in others.iter().enumerate().filter(|(at, _)| takes_part(*at))
                {
                    let rack = |host| fabric.host(host).rack;
                    let apart = !pairs.different_racks || rack(source) != rack(destination);
                    if !apart || source == destination {
                        continue;
                    }
                    compared += 1;
                    let forward = paths.longest_from(source, destination, &costs.there, to);
                    let back = match &costs.back {
                        Some(costs) => {
                            let to =
                                others_back.get_or_init(|| longest_to_each(paths, others, costs));
                            paths.longest_from(destination, source, costs, &to[other])
                        }
                        None => Some(Time::ZERO),
                    };
                    if let (Some(forward), Some(back)) = (forward, back) {
                        longest = longest.max(Some(forward.saturating_add(back)));
                    }
                }
            }
        }
    }
    LongestRoundTrip {
        time: longest,
        compared,
    }
}

/// What a round trip takes at most, whatever its path.
struct Most {
    /// For the hosts' links.
    at_hosts: Time,
    /// For each link between switches on the way.
    between_switches: Time,
}

impl Most {
    fn of(fabric: &Fabric, there: &[Time], back: Option<&[Time]>) -> Most {
        let (mut out, mut into, mut between) = ([Time::ZERO; 2], [Time::ZERO; 2], [Time::ZERO; 2]);
        let is_host = |node| fabric.node(node).host_index().is_some();
        for (number, link) in fabric.links.iter().enumerate() {
            let of_ack = back.map_or(Time::ZERO, |back| back[number]);
            let most = if is_host(link.from) {
                &mut out
            } else if is_host(link.to) {
                &mut into
            } else {
                &mut between
            };
            most[0] = most[0].max(there[number]);
            most[1] = most[1].max(of_ack);
        }
        let sum = |costs: [Time; 2]| costs[0].saturating_add(costs[1]);
        Most {
            at_hosts: sum(out).saturating_add(sum(into)),
            between_switches: sum(between),
        }
    }

    /// With so many links between switches on the way.
    fn to(&self, links: u16) -> Time {
        let between = self.between_switches.saturating_mul(u64::from(links));
        self.at_hosts.saturating_add(between)
    }
}

/// What packets take at most from each switch to each host of a class. Hosts whose last links cost the same share it.
fn longest_to_each(paths: &ShortestPaths, hosts: &[u32], cost: &[Time]) -> Vec<Rc<[Time]>> {
    let last_links = |host: u32| {
        let attached = paths.attached(host);
        attached.map(|(switch, port)| (switch, cost[port.reverse().0 as usize]))
    };
    let mut longest: Vec<Rc<[Time]>> = Vec::new();
    for (rank, &host) in hosts.iter().enumerate() {
        let earlier = hosts[..rank].iter();
        let alike = earlier.zip(&longest).find(|&(&other, _)| {
            // Hosts of a class have the same attachment.
            last_links(other).eq(last_links(host))
        });
        let to_host = match alike {
            Some((_, same)) => Rc::clone(same),
            None => paths.longest_to(host, cost).into(),
        };
        longest.push(to_host);
    }
    longest
}
