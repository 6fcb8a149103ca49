//! Windows in which one node after another has its turn.
//!
//! What happens at a node can act on another one only by packets on links, which take at least a link's delay. In a
//! window that is no longer than the shortest delay everything that will arrive is known when it begins, and nodes do
//! not wait for each other: each handles its own arrivals and timers in their order. No schedule has to put the
//! arrivals of all nodes in order, and a node's ports are in the processor's cache while it has its turn.

use super::Region;
use super::look_ahead::LookAhead;
use crate::build;
use crate::division::Turns;
use crate::scheduler::{Alarm, DueTimer};
use pathweave_fabric::routing::RoutingKind;
use pathweave_network::{Arrival, Arrivals, DueInputs, InputTimes, Inputs, PacketLabel, Ports};
use pathweave_scenario::Plan;
use pathweave_units::Time;
use std::sync::Arc;

/// A smaller fabric fits into a cache of a few megabytes, at about 600 bytes a link: reading ahead is not worth it.
const FEWEST_LINKS: usize = 4096;
/// Events of a window, for each node, from which on it is worth it if all links are busy with full packets.
const FEWEST_EVENTS: f64 = 1.0;
/// A part of a window that is shorter than this is handled in the order of all nodes.
const SMALLEST_PART: u64 = 8;
/// Events of a window, for the whole fabric, that are enough: windows need not be as long as they could be.
const MOST_EVENTS: f64 = 100_000.0;

/// What windows need, and room for what happens in them.
#[derive(Debug)]
pub(crate) struct ByNode {
    inputs: Arc<Inputs>,
    /// How long windows may be.
    window: Time,
    /// Inputs at which something happens.
    due: DueInputs,
    /// Whether what packets need is fetched from memory before.
    looks_ahead: bool,
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
            due: DueInputs::new(),
            looks_ahead: inputs.count() > FEWEST_LINKS,
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
        Turns::AsSuits => events >= FEWEST_EVENTS * plan.fabric.nodes.len() as f64,
    };
    suits.then_some(window)
}

impl<P: Ports> Region<P> {
    /// Whether what happens between two times in one window is handled node by node. If little of a window is asked
    /// for, all inputs would be looked through for it too often.
    pub fn is_by_node(&self, from: Time, end: Time) -> bool {
        let by_node = self.by_node.as_ref();
        by_node.is_some_and(|by_node| end - from >= by_node.window / SMALLEST_PART)
    }

    /// Handles what happens to packets before a time, node by node. Everything before `from` has happened, nothing
    /// comes from elsewhere meanwhile, and the time is no later than a window after `from`. Returns the number of
    /// events.
    pub fn run_by_node(&mut self, from: Time, before: Time) -> u64 {
        let Some(mut work) = self.by_node.take() else {
            unreachable!("whoever calls has asked for the window")
        };
        self.limit = before;
        self.stop_watching(from);
        self.scheduler.arrivals().forget_order();
        #[cfg(feature = "checks")]
        {
            self.scheduler.arrivals().not_before = before;
        }
        self.list_timers(&mut work, before);
        work.arrivals.begin(from);
        let mut handled = 0;
        let mut last = self.scheduler.now();
        let mut node_end = 0;
        for page in 0..self.scheduler.arrivals().times.pages() {
            self.list_due(&mut work, page, before);
            if work.looks_ahead {
                self.fetch(&mut work);
            }
            let mut done = 0;
            while let Some(&input) = work.due.all().get(done) {
                if input as usize >= node_end {
                    handled += self.take_turn(&mut work, node_end, before, &mut last);
                    node_end = work.inputs.end_of_node(input as usize);
                }
                done += self.network.gather(
                    &work.due.all()[done..],
                    (&work.inputs, node_end),
                    (from, before),
                    &mut self.scheduler.arrivals().times,
                    &mut work.arrivals,
                );
            }
        }
        handled += self.take_turn(&mut work, node_end, before, &mut last);
        self.scheduler.end_window(last, before);
        #[cfg(feature = "checks")]
        {
            self.scheduler.arrivals().not_before = Time::ZERO;
        }
        self.by_node = Some(work);
        handled
    }

    /// Lists the inputs of a page at which something happens before a time.
    #[inline(always)]
    fn list_due(&mut self, work: &mut ByNode, page: usize, before: Time) {
        let times = &mut self.scheduler.arrivals().times;
        times.list_due(page, before, &mut work.due);
        // The first timer comes last.
        let page_end = (page + 1) * InputTimes::PAGE;
        let timers = work.timers.iter().rev().map(|&(input, _)| input);
        for input in timers.take_while(|&input| input < page_end) {
            work.due.add(input as u32);
        }
    }

    /// What the packets need that arrive at the listed inputs is fetched from memory.
    fn fetch(&self, work: &mut ByNode) {
        let inputs = &work.inputs;
        let due = work.due.all().iter();
        let ports = due.map(|&input| inputs.port(input as usize));
        work.look_ahead
            .fetch(ports, &self.network, &self.sending, &self.receiving);
    }

    /// Lists the timers that are due before a time.
    #[inline(never)]
    fn list_timers(&mut self, work: &mut ByNode, before: Time) {
        let ByNode { inputs, timers, .. } = work;
        debug_assert!(timers.is_empty(), "every timer has had its turn");
        while let Some(timer) = self.scheduler.take_timer(before) {
            let Alarm::Transport(of) = timer.alarm else {
                unreachable!("feedback of switches is not handled node by node")
            };
            let host = self.departures.host(of.end());
            timers.push((inputs.of_node(host).start, timer));
        }
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
        let count = arrivals.count();
        let mut handled = count as u64;
        self.packet_hops += handled;
        if let Some(at) = arrivals.last() {
            *last = at.max(*last);
        }
        let far = arrivals.first_port();
        let inputs = (&**inputs, node_end);
        // Of what happens at one time, timers come last.
        let mut latest = own_timers.last().map_or(Time::MAX, |timer| timer.at);
        let mut place = 0;
        loop {
            let arrived = {
                let (network, events) = (&mut self.network, self.scheduler.arrivals());
                let mut left = arrivals.from_on(place);
                left.find_map(|(now, held)| {
                    if now > latest {
                        return Some(None);
                    }
                    place += 1;
                    match network.arrive_held((now, held), far, inputs, events) {
                        Arrival::Forwarded | Arrival::Consumed => None,
                        arrival => Some(Some((now, held, arrival))),
                    }
                })
            };
            if let Some(Some((now, held, arrival))) = arrived {
                self.scheduler.turn_to(now);
                if let Arrival::AtHost(header, label) = arrival {
                    let watched = self.recorder.watches_packets;
                    let port = watched.then(|| self.network.port_of_held(held, inputs));
                    self.on_packet(port, header, label.feedback(), now);
                } else if let Arrival::Dropped(header) = arrival {
                    self.on_dropped(header, now);
                }
            } else if let Some(DueTimer { at, alarm, .. }) = own_timers.pop() {
                self.scheduler.turn_to(at);
                self.on_alarm(alarm, at);
                self.on_notices(at);
                *last = at.max(*last);
                handled += 1;
            } else {
                break;
            }
            self.take_new_timers(own_timers, before);
            latest = own_timers.last().map_or(Time::MAX, |timer| timer.at);
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
