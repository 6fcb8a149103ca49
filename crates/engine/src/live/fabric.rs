//! Ports, queues and links, played at times that somebody else tells.

use crate::build;
use crate::flows::routing::Routing;
use crate::measurement::capacity::Capacity;
use crate::measurement::extent::QueueCourse;
use crate::measurement::map::{LinkMap, MapRow};
use crate::measurement::measurement_windows::{
    CountersAtStart, FlowShares, MeasurementWindow, link_counters, measurement_windows,
};
use crate::measurement::rates::Rates;
use crate::measurement::series::QueueRow;
use crate::measurement::straddling::Straddling;
use crate::outcome::RunError;
use crate::record::Buffer;
use crate::schedule::beat::Beat;
use crate::schedule::scheduler::{Event, Scheduler};
use pathweave_fabric::LinkId;
use pathweave_network::{
    Arrival, FifoPorts, Header, LinkEvent, LinkStatistics, Network, Plain, RouteId,
};
use pathweave_scenario::{Change, Plan};
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// From a flow's source to its destination.
    Forward,
    /// Back.
    Back,
}

/// What came of handing a packet to the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is under way.
    Yes,
    /// The host's own port dropped it.
    Dropped,
    /// The flow or subflow has no route.
    Unknown,
}

/// Payload that has come to its host for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstArrival {
    /// The flow's number in the run.
    pub flow: u32,
    /// The subflow's number in the flow.
    pub subflow: u32,
    /// Bytes.
    pub payload: u64,
}

/// What a subflow has received for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    payload: u64,
    /// Of it, what came before the interval of rates that is under way.
    before: f64,
}

/// The two routes of a subflow.
#[derive(Clone, Copy, Debug)]
struct Routes {
    forward: RouteId,
    back: RouteId,
}

/// A plan's links with packets on them; `S` is what the owner wants to know of a packet.
///
/// Times that it is told never go back.
pub struct Fabric<'p, S: Copy + Default> {
    plan: &'p Plan,
    network: Network<Plain<S>, FifoPorts>,
    scheduler: Scheduler,
    /// By flow and subflow.
    routes: Vec<Vec<Option<Routes>>>,
    /// Changes of links already made.
    changes_made: usize,
    capacities: Vec<Capacity>,
    windows: Vec<MeasurementWindow>,
    straddling: Straddling<'p>,
    /// By flow and subflow.
    received: BTreeMap<u32, Vec<Received>>,
    rate_beat: Beat,
    rates: Rates,
    rate_ends: Vec<Time>,
    queue_beat: Beat,
    map_beat: Beat,
    map: LinkMap,
    queues: Vec<QueueRow>,
    /// Of each link whose queue is recorded, in their order.
    queue_courses: Vec<QueueCourse>,
    packet_hops: u64,
    /// The plan's end has passed: nothing is counted any more.
    over: bool,
}

/// What a fabric has counted.
pub struct FabricRecord {
    /// The plan's windows. Their flows are those of which something arrived; each one's duration is the window's.
    pub(crate) windows: Vec<MeasurementWindow>,
    pub(crate) rates: Rates,
    /// When intervals of rates ended.
    pub(crate) rate_ends: Vec<Time>,
    pub(crate) queues: Vec<QueueRow>,
    pub(crate) map: Vec<MapRow>,
    pub(crate) totals: Vec<LinkStatistics>,
    pub(crate) buffers: Option<Vec<Buffer>>,
    /// Packets that reached the far end of a link.
    pub packet_hops: u64,
}

impl FabricRecord {
    /// Bytes that all links together have carried.
    pub fn carried_bytes(&self) -> u64 {
        let bytes = self.totals.iter().map(|link| link.delivered_bytes);
        bytes.sum()
    }
}

impl<'p, S: Copy + Default> Fabric<'p, S> {
    /// The plan's links when the run begins.
    ///
    /// # Errors
    /// When the plan's routing cannot be set up.
    pub fn new(plan: &'p Plan) -> Result<Fabric<'p, S>, RunError> {
        let routing = Routing::new(plan).map_err(|error| RunError::Plan(error.to_string()))?;
        let network = build::network(plan, routing.intact());
        let links = plan.fabric.links.iter();
        let mut fabric = Fabric {
            scheduler: build::scheduler(plan, network.places(), None),
            network,
            routes: Vec::new(),
            changes_made: 0,
            capacities: links.map(|link| Capacity::new(link.rate)).collect(),
            windows: measurement_windows(plan),
            straddling: Straddling::new(plan),
            received: BTreeMap::new(),
            rate_beat: Beat::every(plan.record.rates),
            rates: Rates::default(),
            rate_ends: Vec::new(),
            queue_beat: Beat::every(plan.record.queues),
            map_beat: Beat::every(plan.record.map),
            map: LinkMap::default(),
            queues: Vec::new(),
            queue_courses: Vec::new(),
            packet_hops: 0,
            over: false,
            plan,
        };
        for &link in &plan.fabric.down {
            fabric.change(link, &Change::Down, Time::ZERO, |_| {});
        }
        Ok(fabric)
    }

    /// Packets of this subflow take these links from now on.
    pub fn lay(&mut self, flow: u32, subflow: u32, forward: &[LinkId], back: &[LinkId]) {
        let (flow, subflow) = (flow as usize, subflow as usize);
        if self.routes.len() <= flow {
            self.routes.resize_with(flow + 1, Vec::new);
        }
        let own = &mut self.routes[flow];
        if own.len() <= subflow {
            own.resize(subflow + 1, None);
        }
        let mut add = |path: &[LinkId]| {
            let links = path.iter().map(|link| link.0);
            self.network.add_route(links)
        };
        own[subflow] = Some(Routes {
            forward: add(forward),
            back: add(back),
        });
    }

    /// A host sends a packet of this many bytes. Everything that is due before has been played
    /// ([`Fabric::advance`]).
    #[inline]
    #[allow(clippy::too_many_arguments)] // a packet's fields, which are never kept together
    pub fn send(
        &mut self,
        now: Time,
        flow: u32,
        subflow: u32,
        heading: Heading,
        size: u16,
        ecn_capable: bool,
        packet: S,
    ) -> Taken {
        let own = self
            .routes
            .get(flow as usize)
            .and_then(|own| own.get(subflow as usize));
        let Some(&Some(routes)) = own else {
            return Taken::Unknown;
        };
        let route = match heading {
            Heading::Forward => routes.forward,
            Heading::Back => routes.back,
        };
        let header = Header::new(size, ecn_capable);
        let packet = (Plain(packet), &());
        let events = &mut self.scheduler;
        let start = self.network.start(route);
        match self.network.send(now, start, (header, ()), packet, events) {
            None => Taken::Yes,
            Some(_) => Taken::Dropped,
        }
    }

    /// Plays everything that is due up to now. `arrived` gets the packets that come to their hosts: when
    /// that was, the packet, and whether it has been marked; it says what of their payload came for the first time.
    /// `lost` gets those that never will come.
    #[inline]
    pub fn advance(
        &mut self,
        now: Time,
        mut arrived: impl FnMut(Time, S, bool) -> Option<FirstArrival>,
        mut lost: impl FnMut(S),
    ) {
        loop {
            let control = self.next_control();
            let limit = control.min(now.saturating_add(Time::from_picos(1)));
            while let Some((at, event)) = self.scheduler.pop_before(limit) {
                match event {
                    Event::Link(port, LinkEvent::Arrival) => {
                        self.packet_hops += 1;
                        match self.network.arrive(port, at, &mut self.scheduler) {
                            Arrival::Forwarded | Arrival::Consumed => {}
                            Arrival::Dropped(header) => lost(self.network.take(header).0),
                            Arrival::AtHost(header, _) => {
                                let packet = self.network.take(header).0;
                                let marked = header.congestion_experienced();
                                if let Some(first) = arrived(at, packet, marked) {
                                    let link = self.network.places().link_of(port);
                                    self.count(link, header.size(), at, first);
                                }
                            }
                        }
                    }
                    Event::Link(port, LinkEvent::Departure) => {
                        self.network.depart(port, at, &mut self.scheduler);
                    }
                    Event::Timer(_) => unreachable!("a fabric sets no timers"),
                }
            }
            if control > now {
                break;
            }
            self.scheduler.advance(control);
            self.control(control, &mut lost);
        }
        if now > self.scheduler.now() {
            self.scheduler.advance(now);
        }
    }

    /// When something is due next; `Time::MAX` for nothing.
    pub fn next_due(&self) -> Time {
        self.scheduler.next_due().min(self.next_control())
    }

    /// Packets that have reached the far end of a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Ends the run, unless the plan's own end came before, and gives what was counted.
    pub fn finish(mut self, now: Time) -> FabricRecord {
        self.advance(now, |_, _, _| None, |_| {});
        if !self.over {
            self.close(now);
        }
        let links = 0..self.network.links();
        FabricRecord {
            windows: self.windows,
            rates: self.rates,
            rate_ends: self.rate_ends,
            queues: self.queues,
            map: self.map.rows,
            totals: links
                .map(|link| self.network.statistics(link, now))
                .collect(),
            buffers: self.plan.shared_buffer.map(|_| {
                let nodes = 0..self.plan.fabric.nodes.len() as u32;
                let memory = |node| Some(Buffer::of(node, self.network.shared_buffer(node)?));
                nodes.filter_map(memory).collect()
            }),
            packet_hops: self.packet_hops,
        }
    }

    fn next_control(&self) -> Time {
        if self.over {
            return Time::MAX;
        }
        let change = self.plan.events.get(self.changes_made);
        let windows = self.windows.iter().map(MeasurementWindow::next_boundary);
        windows
            .fold(change.map_or(Time::MAX, |event| event.at), Time::min)
            .min(self.rate_beat.next())
            .min(self.queue_beat.next())
            .min(self.map_beat.next())
            .min(self.plan.stop.at.unwrap_or(Time::MAX))
    }

    #[cold]
    #[inline(never)]
    fn control(&mut self, now: Time, lost: &mut impl FnMut(S)) {
        self.close_windows(now, false);
        self.open_windows(now);
        while let Some(event) = self.plan.events.get(self.changes_made)
            && event.at <= now
        {
            self.changes_made += 1;
            self.change(event.link, &event.change, now, &mut *lost);
        }
        if self.queue_beat.is_due(now) {
            let links = &self.plan.record.queue_links;
            self.queue_courses
                .resize_with(links.len(), QueueCourse::default);
            for (&LinkId(link), course) in links.iter().zip(&mut self.queue_courses) {
                let waiting = self.network.waiting(link, now);
                let waited = self.network.statistics(link, now).waited;
                let extent =
                    course.end(now, waiting, waited, &self.network.complete_histogram(link));
                self.queues.push(QueueRow {
                    at: now,
                    link,
                    waiting,
                    extent,
                });
            }
        }
        if self.map_beat.is_due(now) {
            let counters = link_counters(self.network.links(), |_| &self.network, now);
            self.map.add(now, counters, &self.capacities);
        }
        if self.rate_beat.is_due(now) {
            self.sample_rates(now);
        }
        if self.plan.stop.at.is_some_and(|at| at <= now) {
            self.close(now);
            self.over = true;
        }
    }

    /// The plan's end: what is under way is counted up to now.
    fn close(&mut self, now: Time) {
        self.close_windows(now, true);
        let interval = self.rate_beat.interval();
        if interval < Time::MAX && now > self.rate_beat.next() - interval {
            self.sample_rates(now);
        }
        if self.map_beat.interval() < Time::MAX && self.map.is_behind(now) {
            let counters = link_counters(self.network.links(), |_| &self.network, now);
            self.map.add(now, counters, &self.capacities);
        }
    }

    /// Counts payload that its host has read for the first time, where packets do not say what they carry. It counts when
    /// this is called, whole.
    pub fn count_read(&mut self, first: FirstArrival) {
        if !self.over {
            self.received_by(first.flow, first.subflow).payload += first.payload;
        }
    }

    fn received_by(&mut self, flow: u32, subflow: u32) -> &mut Received {
        let of_flow = self.received.entry(flow).or_default();
        let place = subflow as usize;
        if of_flow.len() <= place {
            of_flow.resize(place + 1, Received::default());
        }
        &mut of_flow[place]
    }

    /// Counts what a packet brought that came over this link.
    fn count(&mut self, link: u32, size: u16, at: Time, first: FirstArrival) {
        if self.over {
            return;
        }
        self.received_by(first.flow, first.subflow).payload += first.payload;
        if self.straddling.until().is_some_and(|until| at <= until) {
            let parts = self.straddling.parts(link, size, first.payload, at);
            for &(boundary, bytes) in parts {
                for window in &mut self.windows {
                    window.move_back(boundary, first.flow, first.subflow, bytes);
                }
            }
            let moved = self.rates.move_back(first.flow, first.subflow, parts);
            self.received_by(first.flow, first.subflow).before += moved;
        }
    }

    fn sample_rates(&mut self, now: Time) {
        let since = self.straddling.add_boundary(now);
        self.rates.begin_rows(now, since);
        self.rate_ends.push(now);
        for (&flow, subflows) in &mut self.received {
            for (subflow, received) in (0..).zip(subflows) {
                let payload = received.payload as f64;
                if payload > received.before {
                    self.rates.add(flow, subflow, payload - received.before);
                    received.before = payload;
                }
            }
        }
    }

    /// What has arrived of every flow for the first time, by subflow.
    fn received(received: &BTreeMap<u32, Vec<Received>>) -> BTreeMap<u32, Vec<f64>> {
        let payload =
            |subflows: &Vec<Received>| subflows.iter().map(|one| one.payload as f64).collect();
        let flows = received.iter();
        flows
            .map(|(&flow, subflows)| (flow, payload(subflows)))
            .collect()
    }

    fn change(
        &mut self,
        LinkId(link): LinkId,
        change: &Change,
        now: Time,
        mut lost: impl FnMut(S),
    ) {
        let capacity = &mut self.capacities[link as usize];
        match change {
            Change::Rate(rate) => {
                self.network.set_rate(link, now, *rate, &mut self.scheduler);
                if self.network.is_up(link) {
                    capacity.change(now, *rate);
                }
            }
            Change::Loss(probability) => self.network.set_loss(link, *probability),
            Change::Down => {
                capacity.change(now, Rate::ZERO);
                let lost = |packet: Plain<S>| lost(packet.0);
                self.network.fail(link, now, &mut self.scheduler, lost);
            }
            Change::Up => {
                self.network.restore(link, now);
                capacity.change(now, self.network.rate(link));
            }
        }
    }

    fn open_windows(&mut self, now: Time) {
        for window in &mut self.windows {
            if window.at_start.is_some() || window.from > now {
                continue;
            }
            window.at_start = Some(CountersAtStart {
                flows: Self::received(&self.received),
                links: link_counters(self.network.links(), |_| &self.network, now).collect(),
                capacity: self.capacities.iter().map(|c| c.until(now)).collect(),
            });
            self.straddling.add_boundary(now);
            if window.is_main() {
                let recorded = self.plan.record.queue_links.iter();
                for (&LinkId(link), course) in recorded.zip(&mut self.queue_courses) {
                    course.before_clearing(&self.network.complete_histogram(link));
                }
                self.network.clear_histograms();
            }
        }
    }

    fn close_windows(&mut self, now: Time, run_ends: bool) {
        for window in &mut self.windows {
            let due = window.to <= now || run_ends;
            if window.at_start.is_none() || window.closed.is_some() || !due {
                continue;
            }
            let links = link_counters(self.network.links(), |_| &self.network, now);
            window.links = window.link_shares(now, links, &self.capacities);
            if window.is_main() {
                for (link, share) in (0u32..).zip(&mut window.links) {
                    share.queue_p99 = f64::from(self.network.histogram(link).percentile(0.99));
                }
            }
            let before = window.at_start.take().unwrap_or_default();
            let mut shares = FlowShares::default();
            for (flow, received) in Self::received(&self.received) {
                let duration = now - window.from;
                shares.push(flow, duration, before.flows.get(&flow), received);
            }
            window.flows = shares;
            window.at_start = Some(before);
            window.closed = Some(now);
            self.straddling.add_boundary(now);
        }
    }
}
