//! In which order pages of inputs have their turns where both sides of the fabric take a step.
//!
//! A node of the second side can have its turn as soon as all its neighbours have had theirs. It has it then, and not
//! after the whole first side: what they have in common is still in the processor's cache, in a rack or a pod.

use crate::steps::Sides;
use pathweave_fabric::NodeId;
use pathweave_network::{Inputs, LinkSetup};
use std::ops::Range;

/// Pages of a side that have their turns one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pages {
    pub side: usize,
    pub pages: Range<usize>,
}

/// The order of all pages if this side is the first. All hosts are on one side, whose pages come in their own order, as timers
/// do.
pub(super) fn order_of_pages(
    first: usize,
    sides: &Sides,
    inputs: &Inputs,
    links: &[LinkSetup],
    hosts: &[NodeId],
) -> Box<[Pages]> {
    let groups = [0, 1].map(|side| groups(&inputs.pages_of_side(side), inputs, links));
    let group = |node: u32| {
        let page = inputs.of_node(node).start / Inputs::PAGE;
        let groups = &groups[sides.of_node(node)];
        groups.partition_point(|pages| pages.end <= page)
    };
    let mut have_hosts = vec![false; groups[first].len()];
    for host in hosts {
        if sides.of_node(host.0) == first && !inputs.of_node(host.0).is_empty() {
            have_hosts[group(host.0)] = true;
        }
    }
    let second = 1 - first;
    let mut needs = vec![Vec::new(); groups[second].len()];
    for link in links {
        // In a region there are nodes that others reach from elsewhere.
        let are_here = [link.from, link.to].map(|node| !inputs.of_node(node).is_empty());
        if sides.of_node(link.to) == second && are_here == [true; 2] {
            needs[group(link.to)].push(group(link.from));
        }
    }
    let mut order = Vec::new();
    let mut is_in = vec![false; groups[first].len()];
    let mut put = |order: &mut Vec<Pages>, own: usize| {
        if !std::mem::replace(&mut is_in[own], true) {
            let pages = groups[first][own].clone();
            order.push(Pages { side: first, pages });
        }
    };
    let mut hosts_before = 0;
    for (own, needed) in needs.iter_mut().enumerate() {
        needed.sort_unstable();
        for &needed in &*needed {
            if have_hosts[needed] {
                (hosts_before..needed)
                    .filter(|&other| have_hosts[other])
                    .for_each(|other| put(&mut order, other));
                hosts_before = hosts_before.max(needed);
            }
            put(&mut order, needed);
        }
        let pages = groups[second][own].clone();
        order.push(Pages {
            side: second,
            pages,
        });
    }
    (0..groups[first].len()).for_each(|own| put(&mut order, own));
    order.into()
}

/// Pages that can have their turns apart from each other: no node has inputs in two of them.
fn groups(pages: &Range<usize>, inputs: &Inputs, links: &[LinkSetup]) -> Vec<Range<usize>> {
    let mut goes_on = vec![false; pages.end];
    for link in links {
        let own = inputs.of_node(link.to);
        let first = own.start / Inputs::PAGE;
        let end = own.end.div_ceil(Inputs::PAGE);
        if pages.contains(&first) {
            goes_on[(first + 1).min(end)..end].fill(true);
        }
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    for page in pages.clone() {
        match groups.last_mut() {
            Some(last) if goes_on[page] => last.end = page + 1,
            _ => groups.push(page..page + 1),
        }
    }
    groups
}
