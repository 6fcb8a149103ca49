//! How far nodes are handled one after the other without hearing of what happens meanwhile.
//!
//! What happens at a node acts on its neighbours no earlier than a link's delay later. Where the nodes of a fabric have
//! two sides, so that the neighbours of each are all on the other one, the sides take steps in turn: if one has been
//! handled up to a time, the other can be up to a delay after that. Then each goes on by two delays in a step, where
//! all nodes together can only go on by one.

use pathweave_fabric::NodeId;
use pathweave_network::LinkSetup;
use pathweave_scenario::Plan;
use pathweave_units::Time;
use std::collections::VecDeque;

/// The sides of a fabric.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// By node; one side has all nodes where they have no two sides.
    of_node: Box<[u8]>,
    count: usize,
    /// The side that has all hosts, if one of two does.
    of_hosts: Option<usize>,
}

impl Sides {
    /// At most this many.
    pub const MOST: usize = 2;

    /// The sides of these links' ends, some of which are hosts.
    pub fn new(nodes: usize, links: &[LinkSetup], hosts: &[NodeId]) -> Sides {
        let Some(of_node) = divide(nodes, links) else {
            return Sides::one(nodes);
        };
        let side = |host: &NodeId| usize::from(of_node[host.0 as usize]);
        let of_hosts = hosts.first().map(side);
        Sides {
            of_hosts: of_hosts.filter(|&own| hosts.iter().all(|host| side(host) == own)),
            of_node,
            count: 2,
        }
    }

    /// All nodes are on one side.
    pub fn one(nodes: usize) -> Sides {
        Sides {
            of_node: vec![0; nodes].into(),
            count: 1,
            of_hosts: None,
        }
    }

    /// Number of sides.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The side of a node.
    pub fn of_node(&self, node: u32) -> usize {
        usize::from(self.of_node[node as usize])
    }

    /// The side that has all hosts, if one of two does.
    pub fn of_hosts(&self) -> Option<usize> {
        self.of_hosts
    }

    /// The sides that suit a plan where a step takes at most twice this long.
    ///
    /// A subflow fails at a timeout, and the longest link's delay later the run may act on all nodes. So no timeout
    /// may be set and pass within a step.
    pub fn of_plan(plan: &Plan, links: &[LinkSetup], window: Time) -> Sides {
        let nodes = plan.fabric.nodes.len();
        let timeouts = plan.groups.iter().map(|group| {
            let config = &group.transport;
            config
                .minimum_rto
                .min(config.initial_rto)
                .min(config.maximum_rto)
        });
        if timeouts.min().is_some_and(|shortest| shortest < window * 2) {
            return Sides::one(nodes);
        }
        Sides::new(nodes, links, &plan.fabric.hosts)
    }
}

/// The side of each node, if their neighbours can all be on the other one.
fn divide(nodes: usize, links: &[LinkSetup]) -> Option<Box<[u8]>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for link in links {
        neighbours[link.from as usize].push(link.to);
        neighbours[link.to as usize].push(link.from);
    }
    let mut sides: Vec<Option<u8>> = vec![None; nodes];
    let mut reached = VecDeque::new();
    for first in 0..nodes as u32 {
        if sides[first as usize].is_none() {
            sides[first as usize] = Some(0);
            reached.push_back(first);
        }
        while let Some(node) = reached.pop_front() {
            let other = sides[node as usize].map(|side| 1 - side);
            for &neighbour in &neighbours[node as usize] {
                let side = &mut sides[neighbour as usize];
                if side.is_none() {
                    *side = other;
                    reached.push_back(neighbour);
                } else if *side != other {
                    return None;
                }
            }
        }
    }
    sides.into_iter().collect()
}

/// A part of the way of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub side: usize,
    /// Everything has happened there before this time.
    pub from: Time,
    /// Everything that happens there before this time is part of the step.
    pub before: Time,
    /// Everything has happened before this time at the neighbours of that side.
    pub elsewhere: Time,
}

/// How far the sides have come.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    done: [Time; Sides::MOST],
    sides: usize,
    delay: Time,
}

impl Steps {
    /// All sides have been handled up to a time, and links take no less than this.
    pub fn new(sides: &Sides, from: Time, delay: Time) -> Steps {
        Steps {
            done: [from; Sides::MOST],
            sides: sides.count,
            delay,
        }
    }

    /// The next step on the way to a time, if any is left. No subflow fails before `sure`. The run acts on a failure
    /// no earlier than `notice` after it; `notice` is no shorter than the delay.
    pub fn next(&self, limit: Time, sure: Time, notice: Time) -> Option<Step> {
        let own = &self.done[..self.sides];
        let side = (0..self.sides).min_by_key(|&side| own[side])?;
        let elsewhere = own[self.sides - 1 - side];
        let from = own[side];
        let known = sure.max(from).saturating_add(notice);
        let before = elsewhere.saturating_add(self.delay).min(known).min(limit);
        (before > from).then_some(Step {
            side,
            from,
            before,
            elsewhere,
        })
    }

    /// A step has been taken.
    pub fn take(&mut self, step: &Step) {
        self.done[step.side] = step.before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::Rate;

    fn links(ends: &[(u32, u32)]) -> Vec<LinkSetup> {
        let both = ends.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        both.map(|ends| LinkSetup::plain(ends, Rate::from_gbps(1), Time::from_micros(10)))
            .collect()
    }

    #[test]
    fn neighbours_are_on_other_sides() {
        // A tree, a ring of four, and a node without links.
        let ends = [(0, 1), (1, 2), (1, 3), (4, 5), (5, 6), (6, 7), (7, 4)];
        let sides = Sides::new(9, &links(&ends), &[]);
        assert_eq!(sides.count, 2);
        for (a, b) in ends {
            assert_ne!(sides.of_node(a), sides.of_node(b));
        }
        let ring_of_five = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
        assert_eq!(Sides::new(5, &links(&ring_of_five), &[]).count, 1);
    }

    /// All steps to a time, if no timer is set.
    fn steps(sides: &Sides, limit: u64) -> Vec<(usize, u64, u64)> {
        let micros = Time::from_micros;
        let mut steps = Steps::new(sides, micros(100), micros(10));
        let mut taken = Vec::new();
        while let Some(step) = steps.next(micros(limit), Time::MAX, micros(10)) {
            assert!(step.before <= step.elsewhere + micros(10));
            let number = |time: Time| time.as_picos() / 1_000_000;
            taken.push((step.side, number(step.from), number(step.before)));
            steps.take(&step);
        }
        taken
    }

    #[test]
    fn two_sides_go_on_by_two_delays() {
        let two = Sides::new(2, &links(&[(0, 1)]), &[]);
        let expected = [(0, 100, 110), (1, 100, 120), (0, 110, 130), (1, 120, 140)];
        assert_eq!(steps(&two, 145)[..4], expected);
        assert_eq!(steps(&two, 145)[4..], [(0, 130, 145), (1, 140, 145)]);
        assert_eq!(steps(&two, 107), [(0, 100, 107), (1, 100, 107)]);
        let one = Sides::one(2);
        assert_eq!(
            steps(&one, 125),
            [(0, 100, 110), (0, 110, 120), (0, 120, 125)]
        );
    }

    #[test]
    fn what_a_timeout_brings_about_is_known_in_time() {
        let micros = Time::from_micros;
        let sides = Sides::new(2, &links(&[(0, 1)]), &[]);
        let mut steps = Steps::new(&sides, micros(0), micros(10));
        for (sure, before) in [(3, 10), (4, 14), (11, 21), (40, 31)] {
            let step = steps.next(micros(1000), micros(sure), micros(10));
            let step = step.expect("there is more");
            assert_eq!(step.before, micros(before), "{step:?}");
            steps.take(&step);
        }
    }
}
