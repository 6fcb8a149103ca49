//! Next hops along shortest paths.
//!
//! Tables are kept per *attachment*, the set of switches that a destination host has its cables to,
//! not per host: at k = 16 that is 128 destinations instead of 1,024. Everything lies in flat arrays.

use super::permuted::reduce;
use super::search::{Hops, Neighbours, NextHop, Tables, UNREACHABLE};
use crate::{Adjacency, Fabric, LinkId, NodeId};
use pathweave_random::{hash, hash_further, mix};
use pathweave_units::Time;
use std::collections::BTreeMap;

/// Marks, in the place of a switch's number, that a node is a host.
const HOST: u32 = u32::MAX;

/// What the switches hash: the seeded hash of a subflow's addresses and ports.
#[inline]
pub fn flow_hash(seed: u64, source: u32, destination: u32, connection: u64, subflow: u32) -> u64 {
    flow_hash_of(hash(&[seed]), source, destination, connection, subflow)
}

/// The same, given the hash of the seed.
#[inline]
pub(super) fn flow_hash_of(
    seed_hash: u64,
    source: u32,
    destination: u32,
    connection: u64,
    subflow: u32,
) -> u64 {
    let hosts = u64::from(source) << 32 | u64::from(destination);
    hash_further(seed_hash, &[hosts, connection, u64::from(subflow)])
}

/// The shortest paths of a fabric, all links counting alike. Hosts do not forward; a host with
/// several ports uses those from which its destination is nearest.
#[derive(Clone, Debug)]
pub struct ShortestPaths {
    /// The number among the switches of each node, or [`HOST`].
    switch: Vec<u32>,
    /// The index among the hosts of each node; meaningless for switches.
    host: Vec<u32>,
    switches: usize,
    /// The node at the end of each link.
    end: Vec<NodeId>,
    /// The number among the switches of the node at the end of each link, or [`HOST`].
    end_switch: Vec<u32>,
    /// What each switch mixes into its hashes, by its number among the switches.
    mixed: Vec<u64>,
    /// Where each host's ports begin in `ports`, and a last entry for the end.
    port_offsets: Vec<u32>,
    /// Usable links out of each host.
    ports: Vec<LinkId>,
    /// The port of each host that has one, and leads to a switch.
    only_port: Vec<Option<LinkId>>,
    /// The attachment of each host.
    attachment: Vec<u32>,
    /// By attachment.
    tables: Tables,
}

impl ShortestPaths {
    /// Finds the shortest paths over all links.
    pub fn new(fabric: &Fabric) -> ShortestPaths {
        ShortestPaths::over(fabric, |_| true)
    }

    /// Finds the shortest paths over the usable links, for example those that are up. A link counts as
    /// usable only if its reverse is, too.
    pub fn over(fabric: &Fabric, usable: impl Fn(LinkId) -> bool) -> ShortestPaths {
        let usable = |link: LinkId| usable(link) && usable(link.reverse());
        let adjacency = Adjacency::new(fabric);
        let mut switch = vec![HOST; fabric.nodes.len()];
        let mut host = vec![0; fabric.nodes.len()];
        let mut switch_nodes = Vec::new();
        for (index, node) in fabric.nodes.iter().enumerate() {
            match node.host_index() {
                Some(number) => host[index] = number,
                None => {
                    switch[index] = switch_nodes.len() as u32;
                    switch_nodes.push(NodeId(index as u32));
                }
            }
        }
        let switches = switch_nodes.len();
        let end: Vec<NodeId> = fabric.links.iter().map(|link| link.to).collect();

        let mut port_offsets = vec![0];
        let mut ports = Vec::new();
        let mut attachment = Vec::new();
        let mut attachments: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for &node in &fabric.hosts {
            let links = adjacency.out(node).iter().copied();
            let own: Vec<LinkId> = links.filter(|&link| usable(link)).collect();
            let mut at: Vec<u32> = own
                .iter()
                .map(|link| switch[end[link.0 as usize].0 as usize])
                .filter(|&number| number != HOST)
                .collect();
            // A switch with two cables to the host stays in twice: it has twice the paths.
            at.sort_unstable();
            let fresh = attachments.len() as u32;
            attachment.push(*attachments.entry(at).or_insert(fresh));
            ports.extend(own);
            port_offsets.push(ports.len() as u32);
        }
        let mut by_number: Vec<&[u32]> = vec![&[]; attachments.len()];
        for (at, &number) in &attachments {
            by_number[number as usize] = at;
        }

        let neighbours = Neighbours::new(&switch_nodes, |node| {
            let links = adjacency.out(node).iter().copied();
            let hops = links.filter(|&link| usable(link)).map(|link| NextHop {
                link,
                switch: switch[end[link.0 as usize].0 as usize],
            });
            hops.filter(|hop| hop.switch != HOST)
        });
        ShortestPaths {
            only_port: port_offsets
                .windows(2)
                .map(|range| match &ports[range[0] as usize..range[1] as usize] {
                    [only] if switch[end[only.0 as usize].0 as usize] != HOST => Some(*only),
                    _ => None,
                })
                .collect(),
            end_switch: end.iter().map(|node| switch[node.0 as usize]).collect(),
            mixed: switch_nodes.iter().map(|&node| mixed(node)).collect(),
            switch,
            host,
            switches,
            end,
            port_offsets,
            ports,
            attachment,
            tables: Tables::new(&by_number, &neighbours),
        }
    }

    fn ports(&self, host: u32) -> &[LinkId] {
        let host = host as usize;
        &self.ports[self.port_offsets[host] as usize..self.port_offsets[host + 1] as usize]
    }

    #[inline]
    fn end(&self, link: LinkId) -> NodeId {
        self.end[link.0 as usize]
    }

    /// The row of the tables for this switch and destination.
    #[inline]
    fn row(&self, switch: u32, destination: u32) -> usize {
        self.attachment[destination as usize] as usize * self.switches + switch as usize
    }

    /// Hops that are left after leaving a host by this port: 0 when it leads to the destination
    /// itself, `None` when it does not lead there.
    #[inline]
    fn beyond_port(&self, port: LinkId, destination: u32) -> Option<u32> {
        let node = self.end(port).0 as usize;
        if self.switch[node] == HOST {
            return (self.host[node] == destination).then_some(0);
        }
        match self.tables.distance[self.row(self.switch[node], destination)] {
            UNREACHABLE => None,
            hops => Some(u32::from(hops) + 1),
        }
    }

    /// Number of shortest paths after leaving a host by this port.
    fn count_beyond_port(&self, port: LinkId, destination: u32) -> u64 {
        let node = self.end(port).0 as usize;
        match self.switch[node] {
            HOST => 1,
            switch => self.tables.count[self.row(switch, destination)],
        }
    }

    /// Links on a shortest path between two hosts; `None` when none leads there.
    pub fn hops(&self, source: u32, destination: u32) -> Option<u32> {
        if source == destination {
            return None;
        }
        let ports = self.ports(source).iter();
        let hops = ports.filter_map(|&port| self.beyond_port(port, destination));
        hops.min().map(|hops| hops + 1)
    }

    /// Number of destinations that the tables tell apart: sets of switches that hosts have cables to.
    pub fn destinations(&self) -> u32 {
        if self.switches == 0 {
            return 0;
        }
        (self.tables.distance.len() / self.switches) as u32
    }

    /// The destination that a host belongs to.
    pub fn destination_of(&self, host: u32) -> u32 {
        self.attachment[host as usize]
    }

    /// Whether this switch has cables to the hosts of a destination.
    pub fn is_last_switch(&self, switch: NodeId, destination: u32) -> bool {
        self.tables.distance[self.row_of(switch, destination)] == 0
    }

    /// The links of a switch that are on shortest paths to a destination; none where it is the last.
    pub fn next_hops_to(&self, switch: NodeId, destination: u32) -> impl Iterator<Item = LinkId> {
        let next = self
            .tables
            .next_hops(self.row_of(switch, destination))
            .iter();
        next.map(|hop| hop.link)
    }

    fn row_of(&self, switch: NodeId, destination: u32) -> usize {
        destination as usize * self.switches + self.switch[switch.0 as usize] as usize
    }

    /// The ports of a host that begin a shortest path.
    pub fn nearest_ports(&self, source: u32, destination: u32) -> impl Iterator<Item = LinkId> {
        let nearest = self.hops(source, destination).map(|hops| hops - 1);
        let ports = self.ports(source).iter().copied();
        ports.filter(move |&port| {
            nearest.is_some() && self.beyond_port(port, destination) == nearest
        })
    }

    /// The links from a destination's last switch to it.
    pub fn last_links(&self, switch: NodeId, destination: u32) -> impl Iterator<Item = LinkId> {
        let ports = self.ports(destination).iter();
        let back = ports.filter(move |&&port| self.end(port) == switch);
        back.map(|port| port.reverse())
    }

    /// Links between switches on the shortest path from the switch that is farthest from a host, of those that lead there.
    pub(super) fn farthest_from(&self, destination: u32) -> u16 {
        let row = self.row(0, destination);
        let distances = self.tables.distance[row..row + self.switches].iter();
        let leading = distances.filter(|&&distance| distance != UNREACHABLE);
        leading.copied().max().unwrap_or(0)
    }

    /// What packets take at most from each switch to a destination over shortest paths, given what they
    /// take over each link; zero from switches that do not lead there.
    pub(super) fn longest_to(&self, destination: u32, cost: &[Time]) -> Vec<Time> {
        let mut longest = vec![Time::ZERO; self.switches];
        for &port in self.ports(destination) {
            let last = self.switch[self.end(port).0 as usize];
            if last != HOST {
                let longest = &mut longest[last as usize];
                *longest = (*longest).max(cost[port.reverse().0 as usize]);
            }
        }
        let distance = |switch: &u32| self.tables.distance[self.row(*switch, destination)];
        let mut order: Vec<u32> = (0..self.switches as u32)
            .filter(|switch| !matches!(distance(switch), 0 | UNREACHABLE))
            .collect();
        order.sort_unstable_by_key(distance);
        for switch in order {
            let next = self.tables.next_hops(self.row(switch, destination)).iter();
            let ways = next
                .map(|hop| cost[hop.link.0 as usize].saturating_add(longest[hop.switch as usize]));
            longest[switch as usize] = ways.max().unwrap_or(Time::ZERO);
        }
        longest
    }

    /// What packets take at most from one host to another over shortest paths. `longest_to` is that of the
    /// second host. `None` when no path leads there.
    pub(super) fn longest_from(
        &self,
        source: u32,
        destination: u32,
        cost: &[Time],
        longest_to: &[Time],
    ) -> Option<Time> {
        let ways = self.nearest_ports(source, destination).map(|port| {
            let beyond = match self.switch[self.end(port).0 as usize] {
                HOST => Time::ZERO,
                switch => longest_to[switch as usize],
            };
            cost[port.0 as usize].saturating_add(beyond)
        });
        ways.max()
    }

    /// The switches that a host's ports lead to, with the ports.
    pub(super) fn attached(&self, host: u32) -> impl Iterator<Item = (u32, LinkId)> {
        let ports = self.ports(host).iter();
        ports.map(|&port| (self.switch[self.end(port).0 as usize], port))
    }

    /// The link that a node sends a packet on, by its hash of the flow: what [`Self::hashed`] follows
    /// from hop to hop. `None` at the destination and where no path leads there.
    pub fn choose(&self, node: NodeId, destination: u32, flow: u64) -> Option<LinkId> {
        match self.switch[node.0 as usize] {
            HOST => self.choose_port(node, destination, flow),
            switch => {
                let next = self.tables.next_hops(self.row(switch, destination));
                match next.len() {
                    0 => self.choose_last(node, destination, flow),
                    count => Some(next[pick(self.mixed[switch as usize], flow, count)].link),
                }
            }
        }
    }

    /// The port that a host sends a packet on.
    fn choose_port(&self, node: NodeId, destination: u32, flow: u64) -> Option<LinkId> {
        let source = self.host[node.0 as usize];
        if let [only] = self.ports(source) {
            let leads = source != destination && self.beyond_port(*only, destination).is_some();
            return leads.then_some(*only);
        }
        let count = self.nearest_ports(source, destination).count();
        let choice = pick(mixed(node), flow, count);
        self.nearest_ports(source, destination).nth(choice)
    }

    /// The link that a switch without next hops sends a packet on: one to the destination, if it is the last.
    fn choose_last(&self, node: NodeId, destination: u32, flow: u64) -> Option<LinkId> {
        if !self.is_last_switch(node, self.attachment[destination as usize]) {
            return None;
        }
        if let [only] = self.ports(destination) {
            return Some(only.reverse());
        }
        let count = self.last_links(node, destination).count();
        let choice = pick(mixed(node), flow, count);
        self.last_links(node, destination).nth(choice)
    }

    /// Appends the path that the nodes' hashes of the flow lead along; nothing when there is none.
    pub fn hashed(&self, source: u32, destination: u32, flow: u64, path: &mut Vec<LinkId>) {
        let begin = path.len();
        if !self.follow_hashes(source, destination, flow, path) {
            path.truncate(begin);
        }
    }

    /// Does so as far as they lead. Returns whether that is to the destination.
    fn follow_hashes(
        &self,
        source: u32,
        destination: u32,
        flow: u64,
        path: &mut Vec<LinkId>,
    ) -> bool {
        let first = match self.only_port[source as usize] {
            // Whether it leads there is seen at its switch.
            Some(only) if source != destination => Some(only),
            // A port's link begins where its reverse ends.
            _ => self
                .ports(source)
                .first()
                .and_then(|port| self.choose_port(self.end(port.reverse()), destination, flow)),
        };
        let Some(first) = first else {
            return false;
        };
        path.push(first);
        let mut switch = self.end_switch[first.0 as usize];
        if switch == HOST {
            return true;
        }
        let mut link = first;
        let rows = self.row(0, destination);
        let hops = &self.tables.hops[rows..rows + self.switches];
        loop {
            let Hops { begin, count } = hops[switch as usize];
            let choice = match count {
                0 => break,
                1 => 0,
                _ => pick(self.mixed[switch as usize], flow, count as usize),
            };
            NextHop { link, switch } = self.tables.next[begin as usize + choice];
            path.push(link);
        }
        let last = match self.only_port[destination as usize] {
            Some(only) if self.end_switch[only.0 as usize] == switch => Some(only.reverse()),
            _ => self.choose_last(self.end(link), destination, flow),
        };
        path.extend(last);
        last.is_some()
    }

    /// Number of different shortest paths between two hosts; 0 when none leads there.
    pub fn path_count(&self, source: u32, destination: u32) -> u64 {
        let ports = self.nearest_ports(source, destination);
        ports.fold(0, |sum: u64, port| {
            sum.saturating_add(self.count_beyond_port(port, destination))
        })
    }

    /// Appends the shortest path of this rank, counted from 0 in a fixed order; nothing when no
    /// path has that rank.
    pub fn ranked(&self, source: u32, destination: u32, rank: u64, path: &mut Vec<LinkId>) {
        let mut rank = rank;
        let mut link = None;
        for port in self.nearest_ports(source, destination) {
            let count = self.count_beyond_port(port, destination);
            if rank < count {
                link = Some(port);
                break;
            }
            rank -= count;
        }
        while let Some(taken) = link {
            path.push(taken);
            let node = self.end(taken);
            let switch = self.switch[node.0 as usize];
            if switch == HOST {
                return;
            }
            let row = self.row(switch, destination);
            if self.tables.distance[row] == 0 {
                link = self.last_links(node, destination).nth(rank as usize);
                continue;
            }
            link = None;
            for hop in self.tables.next_hops(row) {
                let count = self.count_beyond_port(hop.link, destination);
                if rank < count {
                    link = Some(hop.link);
                    break;
                }
                rank -= count;
            }
        }
    }
}

/// What a node mixes into its hashes.
fn mixed(node: NodeId) -> u64 {
    mix(u64::from(node.0))
}

/// Which of `count` equal links a node that mixes this into its hashes takes for a flow.
#[inline]
fn pick(mixed: u64, flow: u64, count: usize) -> usize {
    match count {
        1 => 0,
        _ => reduce(mix(flow ^ mixed), count as u64) as usize,
    }
}
