//! In which order pages of inputs have their turns where both sides of the fabric take a step.
//!
//! A node of the second side can have its turn as soon as all its neighbours have had theirs. It has it then, and not
//! after the whole first side: what they have in common is still in the processor's cache, in a rack or a pod.

use crate::regions::steps::Sides;
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
        if sides.of_node(host.0) == first {
            have_hosts[group(host.0)] = true;
        }
    }
    let second = 1 - first;
    let mut needs = vec![Vec::new(); groups[second].len()];
    for link in links {
        if sides.of_node(link.to) == second {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_fabric::routing::Router;
    use pathweave_network::Places;
    use pathweave_scenario::Plan;

    fn plan(fabric: &str) -> Plan {
        let text = format!(
            r#"
            [fabric]
            {fabric}
            [[traffic]]
            name = "all"
            pattern = "permutation"
            rounds = 1
            size = "1 MB"
            controller = "reno"
            "#
        );
        let scenario = pathweave_scenario::check(&text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        scenario.variants()[0].plan(1)
    }

    /// Fabrics with all hosts on one side.
    fn plans() -> Vec<Plan> {
        [
            "kind = \"fat-tree\"\nk = 8\nrate = \"1 Gbps\"\ndelay = \"1 us\"",
            "kind = \"star\"\nsenders = 150\nrate = \"1 Gbps\"\ndelay = \"1 us\"",
            r#"
            kind = "leaf-spine"
            leaves = 70
            spines = 3
            hosts_per_leaf = 5
            host_rate = "1 Gbps"
            host_delay = "1 us"
            "#,
        ]
        .map(plan)
        .into()
    }

    fn links(plan: &Plan) -> Vec<LinkSetup> {
        let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed);
        crate::build::links(plan, &router.expect("a fabric with routes"))
    }

    /// The inputs of a plan's only region.
    fn inputs(plan: &Plan) -> (Sides, Inputs) {
        let links = links(plan);
        let sides = Sides::new(plan.fabric.nodes.len(), &links, &plan.fabric.hosts);
        let of_node = |node| sides.of_node(node);
        let inputs = Inputs::new(&links, &Places::new(&links), (2, of_node));
        (sides, inputs)
    }

    fn pages_of(inputs: &Inputs, node: u32) -> Range<usize> {
        let own = inputs.of_node(node);
        own.start / Inputs::PAGE..own.end.div_ceil(Inputs::PAGE)
    }

    fn check_order(plan: &Plan, sides: &Sides, inputs: &Inputs, first: usize) {
        let (links, hosts) = (links(plan), &plan.fabric.hosts);
        let order = order_of_pages(first, sides, inputs, &links, hosts);
        let mut turns = vec![None; inputs.count() / Inputs::PAGE];
        let pages = order.iter().flat_map(|pages| pages.pages.clone());
        for (turn, page) in pages.enumerate() {
            let other = turns[page].replace(turn);
            assert_eq!(other, None, "page {page} has two turns");
        }
        let turns: Vec<usize> = turns
            .into_iter()
            .map(|turn| turn.expect("every page has a turn"))
            .collect();
        for Pages { side, pages } in &order {
            let all = inputs.pages_of_side(*side);
            assert!(all.start <= pages.start && pages.end <= all.end);
        }
        for link in &links {
            if sides.of_node(link.from) == first {
                let before = pages_of(inputs, link.from).map(|page| turns[page]).max();
                let after = pages_of(inputs, link.to).map(|page| turns[page]).min();
                assert!(before < after, "{} before {}", link.from, link.to);
            }
        }
        let mut of_hosts: Vec<usize> = hosts
            .iter()
            .flat_map(|host| pages_of(inputs, host.0))
            .collect();
        of_hosts.sort_unstable();
        of_hosts.dedup();
        assert!(of_hosts.is_sorted_by_key(|&page| turns[page]));
    }

    #[test]
    fn nodes_of_the_second_side_come_after_their_neighbours() {
        for plan in plans() {
            let (sides, inputs) = inputs(&plan);
            assert!(sides.of_hosts().is_some());
            assert!(inputs.count() > 4 * Inputs::PAGE);
            for first in [0, 1] {
                check_order(&plan, &sides, &inputs, first);
            }
        }
    }

    #[test]
    fn groups_are_as_small_as_nodes_allow() {
        for plan in plans() {
            let (links, (_, inputs)) = (links(&plan), inputs(&plan));
            for side in [0, 1] {
                let groups = groups(&inputs.pages_of_side(side), &inputs, &links);
                let pages: Vec<usize> = groups.iter().cloned().flatten().collect();
                assert!(inputs.pages_of_side(side).eq(pages.iter().copied()));
                for group in groups {
                    // Each page but the first one goes on with a node of the page before.
                    for page in group.start + 1..group.end {
                        let nodes = 0..plan.fabric.nodes.len() as u32;
                        let mut pages = nodes.map(|node| pages_of(&inputs, node));
                        assert!(pages.any(|own| own.start < page && own.contains(&page)));
                    }
                    let nodes = 0..plan.fabric.nodes.len() as u32;
                    for own in nodes.map(|node| pages_of(&inputs, node)) {
                        let inside = own.clone().filter(|page| group.contains(page)).count();
                        assert!(inside == 0 || inside == own.len());
                    }
                }
            }
        }
    }
}
