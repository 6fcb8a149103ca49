//! FMP: switches route flows by what their neighbours tell them about the paths behind them (FMPTCP paper, section V-B,
//! Algorithm 2).
//!
//! Each switch keeps a price for every destination edge switch and every port that leads there: the congestion degree
//! (sum of the queues' occupancy, each a share of its limit) and the delay (sum of the links' delays) of the best path
//! behind that port. Every feedback period it tells each upstream neighbour the pair of its best port, the one with the
//! smallest product. A subflow gets its port when its first packet arrives: the k-th subflow of a connection that a
//! switch sees gets the k-th port in the order of the products, starting over when there are more subflows than ports.
//!
//! Rulings:
//! - The paper's text says "largest" products once; its algorithm takes the smallest, and so do we.
//! - On an idle fabric every product is zero. Ports of equal congestion degree all use the smallest delay among them
//!   and are ordered by a hash of the connection; otherwise every first subflow would take the port that is nearest by
//!   nanoseconds.
//! - The delay of a link is its propagation delay, which switches know. The paper measures it by a time stamp in the
//!   feedback, which also contains how long the feedback waits in the queue: that would count congestion twice, in the
//!   congestion degree and in the delay.
//! - A switch knows the connection and the subflow of each packet. The paper identifies them by destination address, port
//!   and MPTCP token. On the wire only the SYN carries the token (MP_CAPABLE's key or MP_JOIN, RFC 8684), so that a real
//!   switch has to keep it with its line of the routing table.
//! - Instead of its queue, a port can add to the congestion degree what it did in the last feedback period
//!   ([`FmpPrice`]). All switches read their counters at the same time, at multiples of the period; each sends its
//!   messages at times of its own.
//! - A connection's order is fixed once per switch, so that siblings take different ports. It is computed again when no
//!   sibling has a fresh entry there, or when one of its ports is dead. A subflow takes the port that the fewest of its
//!   siblings take, the first such port in the order.
//! - The ports that lead to a destination are those on a shortest path of the intact fabric.
//! - Feedback waits in queues and takes its time on the links like any packet (16 bytes, and 8 for each destination, in
//!   packets of 1,500 bytes at most). As control traffic it is never dropped by a full queue.
//! - A neighbour counts as dead when nothing, neither feedback nor any other packet, has come from it for the time-out
//!   plus the time that the longest packet takes on the link: a growing queue delays feedback, too.
//! - A switch sends no feedback over a link that already holds more messages than fit into its delay, at one a period,
//!   plus 100 in its queue.
//! - Packets that arrive at a switch with no port left for them are lost.
//! - Hosts take no part, except that a host with several ports stops using those that no longer lead to the
//!   destination, as if told that it is unreachable. Feedback covers edge switches only; whether the cables of a host
//!   with several are up is known as if its switches had told each other. Both become known everywhere at the end of a
//!   feedback period of the run.
//! - Packets that MMPTCP scatters use all paths of the intact fabric.

mod beat;
mod feedback;
mod hops;
mod implied;
mod measured;
mod prices;
mod recall;
mod switch;
mod tables;
#[cfg(test)]
mod tests;
mod waits;

pub(crate) use feedback::Message;
pub(crate) use implied::{Implied, LinkToImply};
pub(crate) use measured::Counted;
pub use switch::FmpStatistics;
pub(crate) use tables::Next;

use measured::Measured;
use pathweave_fabric::routing::{FmpConfig, FmpPrice, ShortestPaths};
use pathweave_fabric::{Fabric, NodeId};
use pathweave_units::{Bytes, Time};
use prices::{Price, Prices};
use std::collections::VecDeque;
use switch::{NONE, Switch};
use tables::{Connections, Flow};

/// What a switch knows of the neighbour at the near end of a link.
#[derive(Clone, Copy, Debug)]
struct Hearing {
    /// When the switch last knew that a packet had come over the link; initially, when one can first arrive.
    at: Time,
    /// Packets that had come over it at the switch's last check.
    packets: u64,
    /// Packets that the link lost in transit.
    lost: u64,
    /// Whether the switch takes the neighbour for dead, and tells it so, because nothing has come for too long.
    silent: bool,
}

/// The state of FMP in all switches of a fabric.
#[derive(Clone, Debug)]
pub struct Fmp {
    config: FmpConfig,
    seed: u64,
    paths: ShortestPaths,
    /// The delay of each link, in seconds.
    delay: Vec<f64>,
    /// By link: the index in `switches` of the node at its end, or [`NONE`].
    switch_at: Vec<u32>,
    switches: Vec<Switch>,
    up: Vec<bool>,
    prices: Prices,
    /// Present unless a port's price is its current queue.
    measured: Option<Box<Measured>>,
    /// By link: what its far end knows of the near one.
    hearing: Vec<Hearing>,
    /// By link: the feedback on it and in its queue, oldest first.
    under_way: Vec<VecDeque<Message>>,
    in_network: usize,
    /// Present while feedback needs no packets.
    pub(crate) implied: Option<Box<Implied>>,
    longest_packet: Bytes,
    flows: Vec<Flow>,
    unused_flows: Vec<u32>,
    /// Flows whose host has several ports, and whether these ports have to be checked again.
    with_ports: Vec<u32>,
    ports_may_differ: bool,
    /// What has been known everywhere since the last period of the run: which price entries led on then, and which
    /// links were up.
    known_to_lead: Vec<bool>,
    known_up: Vec<bool>,
    /// The flow of each route, by the position of the route's packets.
    flow_at: Vec<u32>,
    connections: Connections,
    /// Buffers for what a switch is about to tell, and for the lines of messages.
    best: Vec<Price>,
    spare: Vec<Vec<Price>>,
}

impl Fmp {
    /// FMP in all switches of this fabric, with the prices that they would have told each other if it had always been
    /// idle. `longest_packet` is the longest that hosts send; `seed` makes the hashes of a run its own.
    pub fn new(fabric: &Fabric, config: FmpConfig, longest_packet: Bytes, seed: u64) -> Fmp {
        let paths = ShortestPaths::new(fabric);
        let end: Vec<u32> = fabric.links.iter().map(|link| link.to.0).collect();
        let delay: Vec<f64> = fabric
            .links
            .iter()
            .map(|link| link.delay.as_secs_f64())
            .collect();
        let mut switch_of = vec![NONE; fabric.nodes.len()];
        let mut switches = Vec::new();
        for (number, node) in (0u32..).zip(&fabric.nodes) {
            if node.host_index().is_none() {
                switch_of[number as usize] = switches.len() as u32;
                switches.push(Switch {
                    node: NodeId(number),
                    ports: Vec::new(),
                    routes: 0,
                    statistics: FmpStatistics::default(),
                });
            }
        }
        for (number, link) in (0u32..).zip(&fabric.links) {
            let (from, to) = (
                switch_of[link.from.0 as usize],
                switch_of[link.to.0 as usize],
            );
            if from != NONE && to != NONE {
                switches[from as usize].ports.push(number);
            }
        }
        let prices = Prices::new(&switches, &paths, &end, &switch_of, &delay);
        for (number, switch) in switches.iter_mut().enumerate() {
            switch.statistics.prices = prices.entries_of(number);
        }
        let links = fabric.links.len();
        let measured = (config.price != FmpPrice::Occupancy).then(|| {
            let priced = (0..links as u32).filter(|&link| prices.has_entries(link));
            Box::new(Measured::new(config.price, links, priced.collect()))
        });
        let known_to_lead = prices.leading();
        let hearing = fabric.links.iter().map(|link| Hearing {
            at: link.delay,
            packets: 0,
            lost: 0,
            silent: false,
        });
        Fmp {
            config,
            seed,
            paths,
            delay,
            switch_at: fabric
                .links
                .iter()
                .map(|link| switch_of[link.to.0 as usize])
                .collect(),
            switches,
            up: vec![true; links],
            prices,
            measured,
            hearing: hearing.collect(),
            under_way: vec![VecDeque::new(); links],
            in_network: 0,
            implied: None,
            longest_packet,
            flows: Vec::new(),
            unused_flows: Vec::new(),
            with_ports: Vec::new(),
            ports_may_differ: false,
            known_to_lead,
            known_up: vec![true; links],
            flow_at: Vec::new(),
            connections: Connections::default(),
            best: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.switches.len() as u32
    }

    /// The node of a switch.
    pub fn node(&self, switch: u32) -> NodeId {
        self.switches[switch as usize].node
    }

    /// A switch's counters.
    pub fn statistics(&self, switch: u32) -> FmpStatistics {
        self.switches[switch as usize].statistics
    }

    /// How often switches send feedback.
    pub fn period(&self) -> Time {
        self.config.feedback_period
    }

    /// Feedback packets in the network.
    pub fn in_network(&self) -> usize {
        self.in_network
    }

    /// Takes the measurements of past periods, if prices depend on them. Must be followed by
    /// [`Fmp::give_back_measured`].
    pub(crate) fn take_measured(&mut self) -> Option<Box<Measured>> {
        self.measured.take()
    }

    pub(crate) fn give_back_measured(&mut self, measured: Box<Measured>) {
        self.measured = Some(measured);
    }

    /// The earliest time that prices computed from now on can depend on.
    pub(crate) fn recalled_from(&self, now: Time) -> Time {
        let implied = self.implied.as_deref();
        implied.map_or(now, |implied| implied.recalled_from(now))
    }

    /// What a link's port adds to the prices in a message that its switch receives now. `queue` is the port's queue as
    /// a share of the limit.
    pub(crate) fn own_price(&self, link: u32, now: Time, queue: impl FnOnce() -> f64) -> f64 {
        let measured = self.measured.as_deref();
        measured.map_or_else(queue, |measured| measured.share(link, now))
    }

    fn statistics_mut(&mut self, switch: u32) -> &mut FmpStatistics {
        &mut self.switches[switch as usize].statistics
    }

    /// The switch at the far end of a link; [`NONE`] for a host.
    #[inline]
    fn switch_at(&self, link: u32) -> u32 {
        self.switch_at[link as usize]
    }
}
