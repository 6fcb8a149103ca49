//! Steps in which one node after another has its turn.
//!
//! What happens at a node can act on another one only by packets on links, which take at least a link's delay. In a
//! step of one side of the fabric ([`crate::regions::steps`]) everything that will arrive is known when it begins, and nodes do
//! not wait for each other: each handles its own arrivals and timers in their order. No schedule has to put the
//! arrivals of all nodes in order, and a node's ports are in the processor's cache while it has its turn.

use super::Region;
use super::listed_timers::ListedTimers;
use super::page_order::{Pages, order_of_pages};
use super::ports_out::PortsOut;
use super::prefetch::Prefetch;
use crate::build;
use crate::execution::{Prefetching, Turns};
use crate::regions::steps::{Sides, Step};
use crate::schedule::alarm::Alarm;
use crate::schedule::scheduler::Scheduler;
use crate::schedule::waiting_timers::DueTimer;
use pathweave_fabric::routing::RoutingKind;
use pathweave_network::{
    Arrivals, Delivered, DueInputs, Header, InputSet, Inputs, LinkSetup, Places, PortId, Ports,
    TurnInterval,
};
use pathweave_scenario::Plan;
use pathweave_transport::End;
use pathweave_units::Time;
use std::ops::Range;
use std::sync::Arc;

/// A smaller fabric fits into a cache of a few megabytes, at about 600 bytes a link: reading ahead is not worth it.
const FEWEST_LINKS: usize = 4096;
/// Events of a window, for each node, from which on it is worth it if all links are busy with full packets.
const FEWEST_EVENTS: f64 = 1.0;
/// Events of a window, for the whole fabric, that are enough: windows need not be as long as they could be.
const MOST_EVENTS: f64 = 100_000.0;

/// What steps need, and room for what happens in them.
#[derive(Debug)]
pub(crate) struct ByNode {
    inputs: Arc<Inputs>,
    sides: Sides,
    /// By port: the side of its node.
    of_ports: Box<[u8]>,
    /// The order of pages where both sides take a step together, by the first side, if they can.
    together: Option<[Box<[Pages]>; Sides::MOST]>,
    /// The inputs of hosts.
    of_hosts: InputSet,
    /// Those of hosts with one link, where packets come in their order.
    of_hosts_with_one_link: InputSet,
    /// Whether it reads ahead.
    prefetches: bool,
    /// What arrives at the node that has its turn.
    arrivals: Arrivals,
    /// Timers that are due in this step.
    timers: ListedTimers,
    /// Room to list them.
    due: Vec<DueTimer>,
    /// Those of the host that has its turn; the first comes last.
    own_timers: Vec<DueTimer>,
    /// Packets that the switch has lost that has its turn.
    lost: Vec<(Time, Header)>,
    prefetch: Prefetch,
    ports_out: PortsOut,
}

/// A step while it is under way.
#[derive(Debug)]
struct StepUnderWay {
    turn: TurnInterval,
    side: usize,
    /// When the last event was of those that have been handled.
    last: Time,
    /// Packets that have arrived.
    packets: u64,
    /// Timers that have expired.
    timers: u64,
}

impl StepUnderWay {
    /// A step begins; something has happened at a time, and nothing later.
    fn new(step: &Step, last: Time) -> StepUnderWay {
        StepUnderWay {
            turn: TurnInterval {
                from: step.from,
                before: step.before,
                elsewhere: step.elsewhere,
            },
            side: step.side,
            last,
            packets: 0,
            timers: 0,
        }
    }
}

impl ByNode {
    /// For a region with these inputs and places.
    pub fn new(
        plan: &Plan,
        links: &[LinkSetup],
        places: &Places,
        (inputs, sides): (Arc<Inputs>, Sides),
        prefetching: Prefetching,
    ) -> Box<ByNode> {
        // A region that is not the only one has to hear of others between two steps.
        let is_only = places.count() == places.all_links();
        let together = sides.of_hosts().filter(|_| is_only).map(|_| {
            let hosts = &plan.fabric.hosts;
            [0, 1].map(|first| order_of_pages(first, &sides, &inputs, links, hosts))
        });
        let nodes = places.links().iter().map(|&link| links[link as usize].from);
        let hosts = || plan.fabric.hosts.iter().map(|host| inputs.of_node(host.0));
        let with_one_link = hosts().filter(|own| own.len() == 1).flatten();
        Box::new(ByNode {
            of_ports: nodes.map(|node| sides.of_node(node) as u8).collect(),
            sides,
            together,
            of_hosts: InputSet::of(inputs.count(), hosts().flatten()),
            of_hosts_with_one_link: InputSet::of(inputs.count(), with_one_link),
            prefetches: match prefetching {
                Prefetching::AsSuits => plan.fabric.links.len() > FEWEST_LINKS,
                Prefetching::Always => true,
                Prefetching::Never => false,
            },
            arrivals: Arrivals::new(),
            timers: ListedTimers::new(inputs.count()),
            due: Vec::new(),
            ports_out: PortsOut::new(plan, links, places, &inputs),
            inputs,
            own_timers: Vec::new(),
            lost: Vec::new(),
            prefetch: Prefetch::default(),
        })
    }

    /// The timers of the host whose inputs end there have their turn.
    #[cold]
    fn take_own_timers(&mut self, side: usize, node_end: usize, schedule: &Scheduler) {
        for timer in self.timers.take(side, node_end) {
            let comes_later = |other: &DueTimer| schedule.order(other, &timer).is_ge();
            let place = self.own_timers.partition_point(comes_later);
            self.own_timers.insert(place, timer);
        }
    }
}

/// The shortest delay of a link, if nodes have their turns in steps of that length or twice that; `None` if events are
/// handled in the order of all nodes. It is less where even that is more than enough.
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
    let enough = (MOST_EVENTS / rate).min((Arrivals::LONGEST / 2).as_picos() as f64);
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
    /// Steps begin. Everything before `from` has happened, and what is reported is not due before `limit`.
    pub fn begin_steps(&mut self, from: Time, limit: Time) {
        self.limit = limit;
        self.stop_watching(from);
        self.scheduler.arrivals().forget_order();
    }

    /// No retransmission timer that is set is due before.
    pub fn no_retransmission_before(&self) -> Time {
        let by_node = self.by_node.as_ref();
        let listed = by_node.iter().flat_map(|by_node| by_node.timers.all());
        let timers = listed.filter(|timer| timer.alarm.is_retransmission());
        let first = timers.map(|timer| timer.at).min();
        first
            .unwrap_or(Time::MAX)
            .min(self.scheduler.no_retransmission_before())
    }

    /// Whether both sides can take a step together: this is the only region, and all hosts are on one side.
    pub fn steps_together(&self) -> bool {
        let by_node = self.by_node.as_ref();
        by_node.is_some_and(|by_node| by_node.together.is_some())
    }

    /// Takes part in a step of all regions: handles what happens to packets at one side, node by node, with what has
    /// come from other regions, and makes ready what leaves for them. Returns the number of events.
    pub fn take_step(&mut self, step: &Step) -> u64 {
        let last = self.scheduler.now();
        self.scheduler.turn_to(step.from);
        self.take_in();
        self.scheduler.turn_to(last);
        let handled = self.run_step(step);
        if let Some(by_node) = &self.by_node {
            let of =
                |PortId(port): PortId| usize::from(by_node.of_ports[port as usize]) == step.side;
            self.network.hand_over(step.before, of, &mut self.leaving);
        }
        handled
    }

    /// Takes two steps, one of each side, where [`Region::steps_together`].
    pub fn take_steps_together(&mut self, first: &Step, second: &Step) -> u64 {
        self.run_steps(|region, work, last| {
            // The other side has no timers.
            let with_hosts = if work.sides.of_hosts() == Some(first.side) {
                first
            } else {
                second
            };
            region.list_timers(work, with_hosts);
            region.run_together(work, (first, second), last)
        })
    }

    /// From now on hosts handle what happens to them in the order of its times ([`Region::run`]) and the other nodes nothing,
    /// until [`Region::let_switches_follow`]. Something has happened at hosts at the time `last`, and nothing later.
    pub fn let_hosts_go_first(&mut self, last: Time) {
        let Some(work) = &self.by_node else {
            unreachable!("whoever calls has asked for turns of nodes")
        };
        self.scheduler.turn_to(last);
        self.scheduler.arrivals().order_only(&work.of_hosts);
        self.fetches_in_order = work.prefetches;
    }

    /// Everything has happened at hosts before the end of the first step, which is one of their side. Its switches and then
    /// the nodes of the other side take their steps. Returns the number of events.
    pub fn let_switches_follow(&mut self, first: &Step, second: &Step) -> u64 {
        self.scheduler.arrivals().order_all();
        self.fetches_in_order = false;
        self.run_steps(|region, work, last| region.run_together(work, (first, second), last))
    }

    /// What the packets need that arrive next in the order of times is fetched from memory, if that has not been done.
    #[inline(always)]
    pub(super) fn prefetch_in_order(&mut self, limit: Time) {
        if self.fetches_in_order && self.scheduler.goes_on_with_new(limit) {
            self.fetch_in_order();
        }
    }

    #[cold]
    #[inline(never)]
    fn fetch_in_order(&mut self) {
        let (due, ports, before) = self.scheduler.arrivals().next_in_order();
        if let Some(work) = &mut self.by_node {
            work.prefetch.fetch(
                (due, &ports),
                due,
                before,
                &self.network,
                (&self.sending, &self.receiving),
                &self.outgoing.departures,
            );
        }
    }

    /// Takes two steps, one of each side. Timers that are to expire in them have been listed.
    fn run_together(
        &mut self,
        work: &mut ByNode,
        (first, second): (&Step, &Step),
        last: Time,
    ) -> StepUnderWay {
        let mut windows = [
            StepUnderWay::new(first, last),
            StepUnderWay::new(second, last),
        ];
        let orders = work
            .together
            .take()
            .expect("whoever calls has asked for it");
        for Pages { side, pages } in &orders[first.side] {
            let window = &mut windows[usize::from(*side != first.side)];
            self.run_pages(work, pages.clone(), window);
        }
        work.together = Some(orders);
        work.timers.end_step(first.side);
        work.timers.end_step(second.side);
        let [one, other] = windows;
        StepUnderWay {
            last: one.last.max(other.last),
            packets: one.packets + other.packets,
            timers: one.timers + other.timers,
            ..one
        }
    }

    fn run_step(&mut self, step: &Step) -> u64 {
        self.run_steps(|region, work, last| {
            region.list_timers(work, step);
            let mut window = StepUnderWay::new(step, last);
            region.run_pages(work, work.inputs.pages_of_side(step.side), &mut window);
            work.timers.end_step(step.side);
            window
        })
    }

    /// Takes steps; `run` gets the time when something happened last. Returns the number of events.
    fn run_steps(&mut self, run: impl FnOnce(&mut Self, &mut ByNode, Time) -> StepUnderWay) -> u64 {
        let Some(mut work) = self.by_node.take() else {
            unreachable!("whoever calls has asked for turns of nodes")
        };
        let last = self.scheduler.now();
        let window = run(self, &mut work, last);
        self.packet_hops += window.packets;
        self.scheduler.end_step(window.last);
        #[cfg(feature = "checks")]
        {
            self.scheduler.arrivals().not_before = Time::ZERO;
        }
        self.by_node = Some(work);
        window.packets + window.timers
    }

    /// The nodes whose inputs lie in these pages have their turns.
    fn run_pages(&mut self, work: &mut ByNode, pages: Range<usize>, window: &mut StepUnderWay) {
        #[cfg(feature = "checks")]
        {
            self.scheduler.arrivals().not_before = window.turn.elsewhere;
        }
        work.arrivals.begin(window.turn.from, window.turn.before);
        // The end of the inputs of a node of which some have been gathered; zero if there is none.
        let mut open = 0;
        for page in pages {
            let times = &mut self.scheduler.arrivals().times;
            let with_timers = work.timers.take_hosts(page);
            let mut due = times.list_due(page, window.turn.before).or(with_timers);
            if work.prefetches {
                self.fetch(work, page, due, window.turn.before);
            }
            let hosts_with_one_link = work.of_hosts_with_one_link.among(page, due);
            let begin = page * Inputs::PAGE;
            while let Some(place) = due.first() {
                let input = begin + place;
                if open != 0 && input >= open {
                    self.take_turn(work, (DueInputs::default(), page), open, window);
                    open = 0;
                }
                if hosts_with_one_link.contains(place) {
                    if with_timers.contains(place) {
                        work.take_own_timers(window.side, input + 1, &self.scheduler);
                    }
                    self.take_turn_of_host(work, input, window);
                    due = due.rest();
                    continue;
                }
                // A large node has inputs in many pages.
                let node_end = match open {
                    0 => work.inputs.end_of_node(input),
                    open => open,
                };
                let (own, rest) = due.split(node_end - begin);
                due = rest;
                if node_end <= begin + Inputs::PAGE {
                    self.take_turn(work, (own, page), node_end, window);
                    open = 0;
                } else {
                    self.gather(work, (own, page), window);
                    open = node_end;
                }
            }
        }
        if open != 0 {
            let none = (DueInputs::default(), 0);
            self.take_turn(work, none, open, window);
        }
    }

    /// The packets that arrive at these inputs of a page are fetched from memory, and what they need at hosts.
    fn fetch(&self, work: &mut ByNode, page: usize, due: DueInputs, before: Time) {
        work.prefetch.fetch(
            (due, work.inputs.ports_of_page(page)),
            work.of_hosts.among(page, due),
            before,
            &self.network,
            (&self.sending, &self.receiving),
            &self.outgoing.departures,
        );
    }

    /// Lists the timers that are due in a step.
    #[inline(never)]
    fn list_timers(&mut self, work: &mut ByNode, step: &Step) {
        self.scheduler
            .take_timers_outside_the_heap(step.before, &mut work.due);
        while let Some(timer) = work
            .due
            .pop()
            .or_else(|| self.scheduler.take_timer(step.before))
        {
            debug_assert!(timer.at < step.before);
            let end = match timer.alarm {
                Alarm::Transport(of) => of.end(),
                Alarm::Start(_, first) => End::Sending(first),
                Alarm::Feedback(_) => {
                    unreachable!("feedback of switches is not handled node by node")
                }
            };
            let host = self.outgoing.departures.host(end);
            let side = work.sides.of_node(host);
            let inputs = work.inputs.of_node(host);
            work.timers.list(timer, side, inputs);
        }
    }

    /// Gathers what arrives at inputs of a node, which are some of those of a page.
    #[cold]
    #[inline(never)]
    fn gather(&mut self, work: &mut ByNode, due: (DueInputs, usize), window: &StepUnderWay) {
        self.network.gather(
            due,
            &work.inputs,
            window.turn,
            &mut self.scheduler.arrivals().times,
            &mut work.arrivals,
        );
    }

    /// The node whose inputs end there handles what arrives, at these inputs and what has been gathered before.
    #[inline(always)]
    fn take_turn(
        &mut self,
        work: &mut ByNode,
        due: (DueInputs, usize),
        node_end: usize,
        window: &mut StepUnderWay,
    ) {
        if work.of_hosts.contains(node_end - 1) {
            self.take_turn_of_links(work, due, node_end, window);
            return;
        }
        // The clock may show what another node has come to.
        #[cfg(feature = "checks")]
        self.scheduler.turn_to(window.turn.from);
        let arrivals = &mut work.arrivals;
        self.network.take_turn(
            due,
            (&work.inputs, node_end),
            window.turn,
            arrivals,
            self.scheduler.arrivals(),
            &mut work.lost,
        );
        window.packets += arrivals.count() as u64;
        if let Some(at) = arrivals.last() {
            window.last = at.max(window.last);
        }
        arrivals.clear();
        if let Some(ports) = work.ports_out.of(node_end) {
            let before = window.turn.before;
            self.network
                .hand_over_in_turn(ports, before, &mut self.leaving);
        }
        if !work.lost.is_empty() {
            self.on_lost_at_switch(work);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_lost_at_switch(&mut self, work: &mut ByNode) {
        for (now, header) in work.lost.drain(..) {
            self.scheduler.turn_to(now);
            self.on_dropped(header, now);
        }
    }

    /// A host of several links handles what arrives, and its timers.
    #[cold]
    #[inline(never)]
    fn take_turn_of_links(
        &mut self,
        work: &mut ByNode,
        due: (DueInputs, usize),
        node_end: usize,
        window: &mut StepUnderWay,
    ) {
        self.gather(work, due, window);
        let arrivals = self.scheduler.arrivals();
        self.network
            .sort((&work.inputs, node_end), &mut work.arrivals, arrivals);
        window.packets += work.arrivals.count() as u64;
        if let Some(at) = work.arrivals.last() {
            window.last = at.max(window.last);
        }
        work.take_own_timers(window.side, node_end, &self.scheduler);
        let first_port = work.arrivals.first_port();
        for (now, held) in work.arrivals.all() {
            // Of what happens at one time, timers come last.
            self.handle_timers(&mut work.own_timers, now, window);
            let (events, inputs) = (self.scheduler.arrivals(), (&*work.inputs, node_end));
            let port = self.network.port_of_held(held, inputs);
            let arrival = self
                .network
                .arrive_held((now, held), first_port, inputs, events);
            self.scheduler.turn_to(now);
            self.follow(port, arrival, now);
            self.take_new_timers(&mut work.own_timers, window.turn.before);
        }
        self.handle_timers(&mut work.own_timers, Time::MAX, window);
        work.arrivals.clear();
    }

    /// A host with one link handles what arrives there, and its timers.
    #[inline(never)]
    fn take_turn_of_host(&mut self, work: &mut ByNode, input: usize, window: &mut StepUnderWay) {
        let port = work.inputs.port(input);
        let mut next = self.scheduler.arrivals().times.at(input);
        let (mut packets, mut last) = (0, Time::ZERO);
        while next < window.turn.before {
            let now = next;
            if !work.own_timers.is_empty() {
                self.handle_timers(&mut work.own_timers, now, window);
            }
            let elsewhere = window.turn.elsewhere;
            let (delivered, after) = self.network.take_in_turn(port, now, elsewhere);
            next = after;
            packets += 1;
            last = now;
            self.scheduler.turn_to(now);
            if delivered.is_at_host() {
                self.on_packet(Some(port), delivered.header, delivered.label, now);
            } else {
                self.go_on_at_host(port, delivered, now);
            }
            self.take_new_timers(&mut work.own_timers, window.turn.before);
        }
        window.packets += packets;
        window.last = last.max(window.last);
        let times = &mut self.scheduler.arrivals().times;
        times.set_listed(input, next);
        if !work.own_timers.is_empty() {
            self.handle_timers(&mut work.own_timers, Time::MAX, window);
        }
    }

    /// A packet has come to a host with one link, and its path does not show that it ends there: its route stands in the table,
    /// or the link has lost it.
    #[cold]
    #[inline(never)]
    fn go_on_at_host(&mut self, port: PortId, delivered: Delivered<P::Label>, now: Time) {
        let events = self.scheduler.arrivals();
        let arrival = self.network.follow_path(port, delivered, now, events);
        self.follow(port, arrival, now);
    }

    /// A host's timers expire that are due before a time.
    #[inline(never)]
    fn handle_timers(
        &mut self,
        timers: &mut Vec<DueTimer>,
        limit: Time,
        window: &mut StepUnderWay,
    ) {
        while let Some(&DueTimer { at, alarm, .. }) = timers.last()
            && at < limit
        {
            timers.pop();
            self.scheduler.turn_to(at);
            self.on_alarm(alarm, at);
            self.on_notices(at);
            window.last = at.max(window.last);
            window.timers += 1;
            self.take_new_timers(timers, window.turn.before);
        }
    }

    /// Timers that a host has set and that are due within the window.
    #[inline(always)]
    fn take_new_timers(&mut self, timers: &mut Vec<DueTimer>, before: Time) {
        while let Some(timer) = self.scheduler.take_timer(before) {
            let order = |other: &DueTimer| self.scheduler.order(other, &timer);
            let place = timers.partition_point(|other| order(other).is_gt());
            timers.insert(place, timer);
        }
    }
}
