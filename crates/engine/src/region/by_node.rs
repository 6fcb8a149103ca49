//! Windows in which one node after another has its turn.
//!
//! What happens at a node can act on another one only by packets on links, which take at least a link's delay. In a
//! window that is no longer than the shortest delay everything that will arrive is known when it begins, and nodes do
//! not wait for each other: each handles its own arrivals and timers in their order. No schedule has to put the
//! arrivals of all nodes in order, and a node's ports are in the processor's cache while it has its turn.

use super::Region;
use super::look_ahead::LookAhead;
use crate::build;
use crate::execution::Turns;
use crate::scheduler::{Alarm, DueTimer};
use pathweave_fabric::routing::RoutingKind;
use pathweave_network::{Arrival, Arrivals, Inputs, PacketLabel, Ports};
use pathweave_scenario::Plan;
use pathweave_units::Time;
use std::sync::Arc;

/// A smaller fabric fits into a cache of a few megabytes, at about 600 bytes a link. It is faster to put all its events
/// in order.
const FEWEST_LINKS: usize = 4096;
/// Events of a window, for each node, from which on it is worth it if all links are busy with full packets.
const FEWEST_EVENTS: f64 = 1.0;
/// Events of a window, for the whole fabric, that are enough: windows need not be as long as they could be.
const MOST_EVENTS: f64 = 100_000.0;

/// What windows need, and room for what happens in them.
#[derive(Debug)]
pub(crate) struct ByNode {
    inputs: Arc<Inputs>,
    /// How long windows may be.
    window: Time,
    /// A bit for each input of a node at which something happens.
    due: Box<[u64]>,
    /// What arrives at the node that has its turn.
    arrivals: Arrivals,
    /// Timers that were due when the window began, with inputs of their hosts; the first comes last.
    timers: Vec<(usize, DueTimer)>,
    /// Those of the host that has its turn; the first comes last.
    own_timers: Vec<DueTimer>,
    look_ahead: LookAhead,
}

impl ByNode {
    /// For a region with these inputs, and windows of this length.
    pub fn new(inputs: Arc<Inputs>, window: Time) -> Box<ByNode> {
        Box::new(ByNode {
            window,
            due: vec![0; inputs.count().div_ceil(64)].into(),
            inputs,
            arrivals: Arrivals::new(),
            timers: Vec::new(),
            own_timers: Vec::new(),
            look_ahead: LookAhead::default(),
        })
    }
}

/// How long windows are; `None` if events are handled in the order of all nodes.
pub(crate) fn window<P: Ports>(plan: &Plan, turns: Turns) -> Option<Time> {
    // What switches of FMP tell each other is all in one place.
    if !P::KNOW_ARRIVALS || matches!(plan.routing, RoutingKind::Fmp(_)) {
        return None;
    }
    let links = &plan.fabric.links;
    let shortest = links.iter().map(|link| link.delay).min()?;
    let packet = build::full_packet(plan);
    let rates = links
        .iter()
        .map(|link| 1.0 / link.rate.time_for(packet).as_picos() as f64);
    let rate: f64 = rates.sum();
    let enough = (MOST_EVENTS / rate).min(Arrivals::LONGEST.as_picos() as f64);
    let window = shortest.min(Time::from_picos(enough as u64));
    let events = window.as_picos() as f64 * rate;
    let suits = match turns {
        Turns::ByTime => false,
        Turns::ByNode => window > Time::from_picos(1),
        Turns::AsSuits => {
            links.len() > FEWEST_LINKS && events >= FEWEST_EVENTS * plan.fabric.nodes.len() as f64
        }
    };
    suits.then_some(window)
}

impl<P: Ports> Region<P> {
    /// Whether what happens between two times in one window is handled node by node. If little of a window is asked
    /// for, and not the last of it, it would be looked through for it too often.
    pub fn is_by_node(&self, from: Time, end: Time) -> bool {
        let Some(by_node) = &self.by_node else {
            return false;
        };
        end - from >= by_node.window / 2 || self.scheduler.end_of_window(from) == Some(end)
    }

    /// Handles what happens to packets before a time, node by node. Everything before `from` has happened, nothing
    /// comes from elsewhere meanwhile, and the time is not beyond the window. Returns the number of events.
    pub fn run_by_node(&mut self, from: Time, before: Time) -> u64 {
        let Some(mut work) = self.by_node.take() else {
            unreachable!("whoever calls has asked for the window")
        };
        self.limit = before;
        self.stop_watching(from);
        self.list_due(&mut work, from, before);
        work.arrivals.begin(from);
        let mut handled = 0;
        let mut last = self.scheduler.now();
        let mut node_end = 0;
        for word in 0..work.due.len() {
            let mut bits = std::mem::take(&mut work.due[word]);
            self.fetch(&mut work, word, bits);
            while bits != 0 {
                let input = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if input >= node_end {
                    handled += self.take_turn(&mut work, node_end, before, &mut last);
                    node_end = work.inputs.end_of_node(input);
                }
                let port = work.inputs.port(input);
                let (arrivals, events) = (&mut work.arrivals, &mut self.scheduler);
                self.network
                    .arrive_all(port, (from, before), arrivals, events);
            }
        }
        handled += self.take_turn(&mut work, node_end, before, &mut last);
        self.scheduler.end_window(last, before);
        self.by_node = Some(work);
        handled
    }

    /// What the packets need that arrive at the inputs of a word is fetched from memory.
    fn fetch(&self, work: &mut ByNode, word: usize, bits: u64) {
        let inputs = &work.inputs;
        let mut left = bits;
        let ports = std::iter::from_fn(|| {
            let input = (left != 0).then(|| 64 * word + left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(inputs.port(input))
        });
        work.look_ahead
            .fetch(ports, &self.network, &self.sending, &self.receiving);
    }

    /// Finds out where something may happen before a time.
    #[inline(never)]
    fn list_due(&mut self, work: &mut ByNode, from: Time, before: Time) {
        let ByNode {
            inputs,
            due,
            timers,
            ..
        } = work;
        let departures = &self.departures;
        self.scheduler.take_before(from, before, due, |due, timer| {
            let Alarm::Transport(of) = timer.alarm else {
                unreachable!("feedback of switches is not handled node by node")
            };
            let input = inputs.of_node(departures.host(of.end())).start;
            due[input / 64] |= 1 << (input % 64);
            timers.push((input, timer));
        });
        timers.sort_unstable_by_key(|&(input, timer)| {
            std::cmp::Reverse((input, timer.at, timer.rank))
        });
    }

    /// The node whose inputs end there handles what has been gathered for it. Returns the number of events.
    #[inline(never)]
    fn take_turn(
        &mut self,
        work: &mut ByNode,
        node_end: usize,
        before: Time,
        last: &mut Time,
    ) -> u64 {
        let ByNode {
            inputs,
            arrivals,
            timers,
            own_timers,
            ..
        } = work;
        let (network, scheduler) = (&self.network, &self.scheduler);
        arrivals.sort(|at, held| {
            let port = network.port_of_held(held, (inputs, node_end));
            scheduler.rank_of_arrival(at, port)
        });
        while let Some(&(input, timer)) = timers.last()
            && input < node_end
        {
            timers.pop();
            own_timers.insert(0, timer);
        }
        let mut handled = arrivals.count() as u64;
        self.packet_hops += handled;
        if let Some(at) = arrivals.last() {
            *last = at.max(*last);
        }
        loop {
            // Of what happens at one time, timers come last.
            let latest = own_timers.last().map_or(Time::MAX, |timer| timer.at);
            let next =
                self.network
                    .go_on(arrivals, latest, (inputs, node_end), &mut self.scheduler);
            if let Some((now, held, arrival)) = next {
                self.scheduler.turn_to(now);
                match arrival {
                    Arrival::AtHost(header, label) => {
                        let watched = self.recorder.watches_packets;
                        let port =
                            watched.then(|| self.network.port_of_held(held, (inputs, node_end)));
                        self.on_packet(port, header, label.feedback(), now);
                    }
                    Arrival::Dropped(header) => self.on_dropped(header, now),
                    Arrival::Forwarded | Arrival::Consumed => {}
                }
                self.take_new_timers(own_timers, before);
            } else if let Some(DueTimer { at, alarm, .. }) = own_timers.pop() {
                self.scheduler.turn_to(at);
                self.on_alarm(alarm, at);
                self.on_notices(at);
                self.take_new_timers(own_timers, before);
                *last = at.max(*last);
                handled += 1;
            } else {
                break;
            }
        }
        arrivals.clear();
        handled
    }

    /// Timers that a host has set and that are due within the window.
    #[inline(always)]
    fn take_new_timers(&mut self, timers: &mut Vec<DueTimer>, before: Time) {
        while let Some(timer) = self.scheduler.take_timer(before) {
            let key = |timer: &DueTimer| (timer.at, timer.rank);
            let place = timers.partition_point(|other| key(other) > key(&timer));
            timers.insert(place, timer);
        }
    }
}
