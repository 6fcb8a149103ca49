//! The run loop.

use crate::build;
use crate::capacity::Capacity;
use crate::flows::{Flow, FlowTotals, SubflowRow, totals};
use crate::outlet::{Notice, Outlet, SubflowRoutes};
use crate::progress::Progress;
use crate::results::{Output, Verdict};
use crate::scheduler::{Alarm, Event, Scheduler};
use crate::series::{Beat, QueueRow, RateRow, Series, WindowRow};
use crate::windows::{FlowMark, FlowShare, Marks, Window};
use pathweave_fabric::routing::{PathRequest, Router};
use pathweave_fabric::{LinkId, PacketSizes, ideal_fct};
use pathweave_network::{Arrival, DeparturePort, FifoPort, LinkEvent, Network, PacketId, Port};
use pathweave_random::Stream;
use pathweave_scenario::{Amount, Change, Plan, Sampling};
use pathweave_traffic::{Event as TrafficEvent, FlowStart, Program};
use pathweave_transport::{
    Config, ConnectionId, Endpoints, Joins, Opening, RttHistogram, Segment, SubflowIndex,
};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Why a run gave no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It was asked to end.
    Cancelled,
    /// The plan cannot be run.
    Plan(String),
    /// A self-check failed: a defect of the simulator.
    Check(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Cancelled => f.write_str("the run was cancelled"),
            RunError::Plan(reason) => f.write_str(reason),
            RunError::Check(what) => write!(f, "a self-check failed: {what}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Simulates every packet of a plan.
pub fn run(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    Simulation::<FifoPort>::new(plan, progress)?.run()
}

/// The same with an event at every departure: slower, for comparison.
pub fn run_with_departure_ports(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    Simulation::<DeparturePort>::new(plan, progress)?.run()
}

/// Events between two looks at the watch.
const BETWEEN_LOOKS: u32 = 1 << 14;

/// What a traffic group has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupCount {
    pub started: u64,
    pub finished: u64,
    pub started_bytes: u64,
    pub finished_bytes: u64,
    pub finished_jobs: u64,
}

pub(crate) struct Simulation<'p, P> {
    pub plan: &'p Plan,
    progress: &'p Progress,
    pub network: Network<Segment, P>,
    pub endpoints: Endpoints,
    pub scheduler: Scheduler,
    router: Router,
    configs: Vec<Arc<Config>>,
    pub programs: Vec<Program>,
    /// The wake time set for each program; `Time::MAX` for none.
    wakes: Vec<Time>,
    pub counts: Vec<GroupCount>,
    pub flows: Vec<Flow>,
    /// Flows that have started and not finished.
    pub active: BTreeSet<u32>,
    /// Flows that were asked for and have not started.
    pending: u32,
    /// Groups whose traffic has not begun.
    to_begin: usize,
    /// The flow of each connection, by the connection's place.
    flow_of: Vec<u32>,
    routes: Vec<Option<SubflowRoutes>>,
    /// The path of each subflow, by its place: an index into `path_list`.
    path_of: Vec<u32>,
    paths: BTreeMap<Vec<LinkId>, u32>,
    pub path_list: Vec<Vec<LinkId>>,
    pub subflow_rows: Vec<SubflowRow>,
    rtts: RttHistogram,
    pub capacities: Vec<Capacity>,
    /// Changes of links already made.
    changes_made: usize,
    pub windows: Vec<Window>,
    rate_beat: Beat,
    window_beat: Beat,
    queue_beat: Beat,
    windows_on_change: bool,
    pub series: Series,
    notices: Vec<Notice>,
    starts: Vec<FlowStart>,
    pub packet_hops: u64,
    ended: Option<Verdict>,
}

impl<'p, P: Port> Simulation<'p, P> {
    fn new(plan: &'p Plan, progress: &'p Progress) -> Result<Simulation<'p, P>, RunError> {
        let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed)
            .map_err(|error| RunError::Plan(error.to_string()))?;
        let programs = build::programs(plan, &router).map_err(RunError::Plan)?;
        let links = plan.fabric.links.iter();
        let capacities = links.map(|link| Capacity::new(link.rate)).collect();
        let end = plan.measure.to.unwrap_or(Time::MAX);
        let mut windows = vec![Window::new(None, plan.measure.from, end)];
        windows.extend(
            plan.measure
                .phases
                .iter()
                .map(|phase| Window::new(Some(phase.name.clone()), phase.from, phase.to)),
        );
        let sampled = |sampling: Option<Sampling>| match sampling {
            Some(Sampling::Every(interval)) => Some(interval),
            Some(Sampling::OnChange) | None => None,
        };
        Ok(Simulation {
            network: build::network(plan),
            scheduler: build::scheduler(plan),
            endpoints: Endpoints::default(),
            router,
            configs: plan
                .groups
                .iter()
                .map(|group| Arc::new(group.transport.clone()))
                .collect(),
            wakes: vec![Time::MAX; programs.len()],
            counts: vec![GroupCount::default(); programs.len()],
            programs,
            flows: Vec::new(),
            active: BTreeSet::new(),
            pending: 0,
            to_begin: plan.groups.len(),
            flow_of: Vec::new(),
            routes: Vec::new(),
            path_of: Vec::new(),
            paths: BTreeMap::new(),
            path_list: Vec::new(),
            subflow_rows: Vec::new(),
            rtts: RttHistogram::default(),
            capacities,
            changes_made: 0,
            windows,
            rate_beat: Beat::every(plan.record.rates),
            window_beat: Beat::every(sampled(plan.record.windows)),
            queue_beat: Beat::every(plan.record.queues),
            windows_on_change: plan.record.windows == Some(Sampling::OnChange),
            series: Series::default(),
            notices: Vec::new(),
            starts: Vec::new(),
            packet_hops: 0,
            ended: None,
            plan,
            progress,
        })
    }

    fn run(mut self) -> Result<Output, RunError> {
        for (group, plan) in self.plan.groups.iter().enumerate() {
            self.scheduler
                .wake(Alarm::BeginTraffic(group as u32), plan.start);
            if let Some(stop) = plan.stop {
                self.scheduler.wake(Alarm::StopTraffic(group as u32), stop);
            }
        }
        let verdict = self.run_to_the_end()?;
        let now = self.scheduler.now();
        self.close_windows_at(now, true);
        self.collect_unfinished();
        self.check()?;
        Ok(crate::results::output(&mut self, verdict))
    }

    fn run_to_the_end(&mut self) -> Result<Verdict, RunError> {
        let mut until_look = BETWEEN_LOOKS;
        loop {
            let limit = self.next_control();
            while self.ended.is_none()
                && let Some((now, event)) = self.scheduler.pop_before(limit)
            {
                self.handle(now, event);
                until_look -= 1;
                if until_look == 0 {
                    until_look = BETWEEN_LOOKS;
                    self.report_progress();
                    if self.progress.is_cancelled() {
                        return Err(RunError::Cancelled);
                    }
                }
            }
            if let Some(verdict) = self.ended {
                self.report_progress();
                return Ok(verdict);
            }
            if limit == Time::MAX {
                // Flows may be left whose every packet and timer is gone.
                let done = self.active.is_empty() && self.pending == 0;
                return Ok(if done {
                    Verdict::Finished
                } else {
                    Verdict::Stalled
                });
            }
            if self.progress.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            self.scheduler.advance(limit);
            self.control(limit);
        }
    }

    // One event.

    #[inline(always)]
    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Link(link, LinkEvent::Arrival) => {
                self.packet_hops += 1;
                match self.network.arrive(link, now, &mut self.scheduler) {
                    Arrival::Forwarded => return,
                    Arrival::Dropped(packet) => {
                        let lost = self.network.take(packet).segment;
                        self.on_lost(&lost, now);
                    }
                    Arrival::AtHost(packet) => self.on_packet(packet, now),
                }
            }
            Event::Link(link, LinkEvent::Departure) => {
                self.network.depart(link, now, &mut self.scheduler);
                return;
            }
            Event::Timer(alarm) => self.on_alarm(alarm, now),
        }
        if !self.notices.is_empty() {
            self.on_notices(now);
        }
    }

    #[inline(always)]
    fn outlet(&mut self, now: Time) -> (&mut Endpoints, Outlet<'_, P>) {
        let out = Outlet {
            now,
            network: &mut self.network,
            scheduler: &mut self.scheduler,
            routes: &self.routes,
            notices: &mut self.notices,
        };
        (&mut self.endpoints, out)
    }

    #[inline]
    fn on_packet(&mut self, packet: PacketId, now: Time) {
        let packet = self.network.take(packet);
        let (size, ce) = (packet.header.size, packet.header.congestion_experienced());
        let (endpoints, mut out) = self.outlet(now);
        endpoints.on_packet(&packet.segment, size, ce, now, &mut out);
        if self.windows_on_change {
            self.record_window_if_changed(packet.segment.subflow, now);
        }
    }

    fn on_lost(&mut self, segment: &Segment, now: Time) {
        let (endpoints, mut out) = self.outlet(now);
        endpoints.on_lost(segment, &mut out);
    }

    fn on_alarm(&mut self, alarm: Alarm, now: Time) {
        if let Some(timer) = alarm.of_transport() {
            let (endpoints, mut out) = self.outlet(now);
            endpoints.on_timer(timer, now, &mut out);
            return;
        }
        match alarm {
            Alarm::StartFlow(flow) => self.start_flow(flow, now),
            Alarm::StopFlow(flow) => {
                if let Some(connection) = self.flows[flow as usize].connection {
                    let (endpoints, mut out) = self.outlet(now);
                    endpoints.stop(connection, &mut out);
                }
            }
            Alarm::BeginTraffic(group) => {
                self.to_begin -= 1;
                self.tell_traffic(group as usize, TrafficEvent::Begin);
                self.end_if_nothing_can_happen();
            }
            Alarm::StopTraffic(group) => self.stop_group(group, now),
            Alarm::WakeTraffic(group) => {
                let group = group as usize;
                if self.wakes[group] == now {
                    self.wakes[group] = Time::MAX;
                    self.tell_traffic(group, TrafficEvent::Wake);
                }
            }
            _ => unreachable!("all other alarms are the transport's"),
        }
    }

    #[cold]
    fn on_notices(&mut self, now: Time) {
        let mut next = 0;
        while next < self.notices.len() {
            let notice = self.notices[next];
            next += 1;
            match notice {
                Notice::Lost(segment) => self.on_lost(&segment, now),
                Notice::Finished(connection) => self.on_finished(connection, now),
                Notice::Dead => self.end_if_nothing_can_happen(),
                Notice::Gone(connection) => self.on_gone(connection),
            }
        }
        self.notices.clear();
    }

    // Flows.

    fn tell_traffic(&mut self, group: usize, event: TrafficEvent) {
        let now = self.scheduler.now();
        let mut starts = std::mem::take(&mut self.starts);
        self.programs[group].on(event, now, &mut starts);
        for start in starts.drain(..) {
            self.expect_flow(group, start);
        }
        self.starts = starts;
        let wake = self.programs[group].next_wake().unwrap_or(Time::MAX);
        if wake < self.wakes[group] {
            self.wakes[group] = wake.max(now);
            self.scheduler.wake(Alarm::WakeTraffic(group as u32), wake);
        }
    }

    /// A group starts nothing new, and its flows stop sending.
    fn stop_group(&mut self, group: u32, now: Time) {
        self.programs[group as usize].drain();
        let under_way: Vec<ConnectionId> = self
            .active
            .iter()
            .map(|&number| &self.flows[number as usize])
            .filter(|flow| flow.group == group)
            .filter_map(|flow| flow.connection)
            .collect();
        for connection in under_way {
            let (endpoints, mut out) = self.outlet(now);
            endpoints.stop(connection, &mut out);
        }
        self.end_if_nothing_can_happen();
    }

    fn expect_flow(&mut self, group: usize, start: FlowStart) {
        let number = self.flows.len() as u32;
        let plan = &self.plan.groups[group];
        let listed = start.listed.map(|entry| &plan.listed[entry as usize]);
        let count = &mut self.counts[group];
        count.started += 1;
        count.started_bytes += start.size.map_or(0, Bytes::get);
        self.flows.push(Flow {
            group: group as u32,
            tag: start.tag,
            source: start.source,
            destination: start.destination,
            size: start.size,
            subflows: listed
                .and_then(|listed| listed.subflows)
                .unwrap_or(plan.subflows),
            job: start.job,
            listed: start.listed,
            established: start.established,
            start: start.at,
            stop: start.stop,
            end: None,
            ideal: None,
            connection: None,
            delivered: Bytes::ZERO,
            totals: FlowTotals::default(),
            stalled: false,
        });
        self.pending += 1;
        self.scheduler.wake(Alarm::StartFlow(number), start.at);
        if let Some(stop) = start.stop {
            self.scheduler
                .wake(Alarm::StopFlow(number), stop.max(start.at));
        }
        self.check_amounts_started(group);
    }

    fn start_flow(&mut self, number: u32, now: Time) {
        self.pending -= 1;
        let group = &self.plan.groups[self.flows[number as usize].group as usize];
        if group.stop.is_some_and(|stop| stop <= now) {
            return; // its group has ended since it was asked for
        }
        self.active.insert(number);
        let flow = &self.flows[number as usize];
        let group = flow.group as usize;
        let plan = &self.plan.groups[group];
        let listed = flow.listed.map(|entry| &plan.listed[entry as usize]);
        let (entry, parameters) = match listed.and_then(|listed| listed.controller.as_ref()) {
            Some((entry, parameters)) => (*entry, parameters),
            None => (plan.controller, &plan.parameters),
        };
        let config = Arc::clone(&self.configs[group]);
        let join_delays = match config.joins {
            Joins::WithinAfterHandshake(longest) => {
                let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
                (0..flow.subflows)
                    .map(|_| Time::from_picos(stream.between(0, longest.as_picos())))
                    .collect()
            }
            Joins::AfterHandshake => Vec::new(),
        };
        let packets = PacketSizes {
            payload: u32::from(config.maximum_segment),
            header: u32::from(config.overhead()),
        };
        let ecn_echo = build::ecn_echo(entry, parameters, config.ecn);
        let connection = self.endpoints.add(Opening {
            config,
            controller: (entry.build)(parameters),
            ecn_echo,
            subflows: flow.subflows,
            size: flow.size,
            subflow_starts: listed.map_or_else(Vec::new, |l| l.subflow_starts.clone()),
            join_delays,
            established: flow.established,
        });
        let paths = self.lay_routes(number, connection);
        let flow = &mut self.flows[number as usize];
        flow.connection = Some(connection);
        flow.ideal = flow
            .size
            .map(|size| ideal_fct(&self.plan.fabric, &paths, size, packets));
        let place = connection.0 as usize;
        if self.flow_of.len() <= place {
            self.flow_of.resize(place + 1, u32::MAX);
        }
        self.flow_of[place] = number;
        let stop = flow.stop;
        let (endpoints, mut out) = self.outlet(now);
        endpoints.start(connection, now, &mut out);
        if stop.is_some_and(|stop| stop <= now) {
            endpoints.stop(connection, &mut out); // jitter put the start off to its end
        }
    }

    /// Gives each subflow its routes. Returns the data paths.
    fn lay_routes(&mut self, number: u32, connection: ConnectionId) -> Vec<Vec<LinkId>> {
        let flow = &self.flows[number as usize];
        let plan = &self.plan.groups[flow.group as usize];
        let pinned = flow
            .listed
            .map_or(&[][..], |entry| &plan.listed[entry as usize].paths[..]);
        let mut paths = Vec::with_capacity(flow.subflows as usize);
        for (subflow, SubflowIndex(place)) in self.endpoints.subflows(connection).enumerate() {
            let place = place as usize;
            let request = PathRequest {
                source: flow.source,
                destination: flow.destination,
                connection: u64::from(number),
                subflow: subflow as u32,
                pinned: pinned.get(subflow % pinned.len().max(1)).map(Vec::as_slice),
            };
            let (mut forward, mut back) = (Vec::new(), Vec::new());
            self.router.data_path(&request, &mut forward);
            self.router.ack_path(&request, &forward, &mut back);
            if self.routes.len() <= place {
                self.routes.resize(place + 1, None);
                self.path_of.resize(place + 1, 0);
                self.series.received_before.resize(place + 1, 0);
                self.series.window_before.resize(place + 1, f64::NAN);
            }
            let mut add = |path: &[LinkId]| self.network.routes.add(path.iter().map(|link| link.0));
            self.routes[place] = Some(SubflowRoutes {
                forward: add(&forward),
                back: add(&back),
            });
            self.series.received_before[place] = 0;
            self.series.window_before[place] = f64::NAN;
            let known = self.paths.get(&forward).copied();
            self.path_of[place] = known.unwrap_or_else(|| {
                let index = self.path_list.len() as u32;
                self.paths.insert(forward.clone(), index);
                self.path_list.push(forward.clone());
                index
            });
            paths.push(forward);
        }
        paths
    }

    fn on_finished(&mut self, connection: ConnectionId, now: Time) {
        let number = self.flow_of[connection.0 as usize];
        self.active.remove(&number);
        let flow = &mut self.flows[number as usize];
        flow.end = Some(now);
        flow.delivered = self.endpoints.delivered(connection);
        let (group, tag) = (flow.group as usize, flow.tag);
        let count = &mut self.counts[group];
        count.finished += 1;
        count.finished_bytes += flow.delivered.get();
        let in_job = flow.job;
        self.tell_traffic(group, TrafficEvent::Finished { tag });
        if let Some(job) = in_job
            && self.programs[group].jobs()[job as usize].end == Some(now)
        {
            self.counts[group].finished_jobs += 1;
        }
        self.check_amounts_finished(group);
        self.end_if_nothing_can_happen();
    }

    /// Nothing of a finished flow is left: its counters become rows, its places are free.
    fn on_gone(&mut self, connection: ConnectionId) {
        let number = self.flow_of[connection.0 as usize];
        self.collect(number, connection);
        for SubflowIndex(place) in self.endpoints.subflows(connection) {
            if let Some(routes) = self.routes[place as usize].take() {
                self.network.routes.remove(routes.forward);
                self.network.routes.remove(routes.back);
            }
        }
        self.endpoints.release(connection);
    }

    /// Takes over the counters of a flow's connection.
    fn collect(&mut self, number: u32, connection: ConnectionId) {
        let now = self.scheduler.now();
        for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
            let place = index.0 as usize;
            let view = self.endpoints.subflow(index);
            let row = SubflowRow::new(number, subflow as u32, &view, self.path_of[place]);
            let bytes = row.received - self.series.received_before[place];
            if self.rate_beat.interval() < Time::MAX && bytes > 0 {
                let subflow = subflow as u32;
                self.series.remainders.push(RateRow {
                    at: now,
                    flow: number,
                    subflow,
                    bytes,
                });
            }
            self.subflow_rows.push(row);
        }
        let flow = &mut self.flows[number as usize];
        flow.totals = totals(&self.endpoints, connection, &mut self.rtts);
        flow.connection = None;
    }

    fn collect_unfinished(&mut self) {
        for number in 0..self.flows.len() as u32 {
            let flow = &self.flows[number as usize];
            let Some(connection) = flow.connection else {
                continue;
            };
            let unfinished = flow.end.is_none();
            if unfinished {
                let delivered = self.endpoints.delivered(connection);
                let stalled = self
                    .endpoints
                    .is_stuck(connection, |subflow| self.has_live_path(subflow));
                let flow = &mut self.flows[number as usize];
                flow.delivered = delivered;
                flow.stalled = stalled;
            }
            self.collect(number, connection);
        }
        self.subflow_rows.sort_by_key(|row| (row.flow, row.subflow));
    }

    // Stopping.

    fn check_amounts_started(&mut self, group: usize) {
        let Some(stop) = self
            .plan
            .stop
            .traffic
            .as_ref()
            .filter(|stop| stop.group == group)
        else {
            return;
        };
        let count = self.counts[group];
        let enough = match stop.amount {
            Amount::Flows(flows) => count.started >= flows,
            Amount::Bytes(bytes) => count.started_bytes >= bytes.get(),
            Amount::Jobs(jobs) => self.programs[group].jobs().len() as u64 >= jobs,
        };
        if stop.drain && enough {
            self.programs.iter_mut().for_each(Program::drain);
        }
    }

    fn check_amounts_finished(&mut self, group: usize) {
        let Some(stop) = self
            .plan
            .stop
            .traffic
            .as_ref()
            .filter(|stop| stop.group == group)
        else {
            return;
        };
        if !stop.drain && self.amount_done() >= 1.0 {
            self.ended = Some(Verdict::Stopped);
        }
        let others_only = |flow: &u32| self.flows[*flow as usize].group as usize != group;
        if stop.drain
            && self.counts[group].started == self.counts[group].finished
            && self.programs[group].next_wake().is_none()
            && self.active.iter().all(others_only)
        {
            self.ended = Some(Verdict::Stopped);
        }
    }

    /// The share of the stop condition on traffic that has come about.
    fn amount_done(&self) -> f64 {
        let Some(stop) = &self.plan.stop.traffic else {
            return 0.0;
        };
        let count = self.counts[stop.group];
        match stop.amount {
            Amount::Flows(flows) => count.finished as f64 / flows as f64,
            Amount::Bytes(bytes) => count.finished_bytes as f64 / bytes.get() as f64,
            Amount::Jobs(jobs) => count.finished_jobs as f64 / jobs as f64,
        }
    }

    /// Ends the run when all flows are done and none will come, or when none can go on.
    fn end_if_nothing_can_happen(&mut self) {
        let starts_to_come = self.pending > 0
            || self.to_begin > 0
            || self
                .programs
                .iter()
                .any(|program| program.next_wake().is_some());
        if starts_to_come || self.plan.stop.at.is_some() || self.ended.is_some() {
            return;
        }
        if self.active.is_empty() {
            self.ended = Some(Verdict::Finished);
            return;
        }
        let links_may_return = self.plan.events[self.changes_made..]
            .iter()
            .any(|event| event.change == Change::Up);
        if links_may_return {
            return;
        }
        let is_stuck = |number: &u32| {
            self.flows[*number as usize]
                .connection
                .is_none_or(|connection| {
                    self.endpoints
                        .is_stuck(connection, |subflow| self.has_live_path(subflow))
                })
        };
        if self.active.iter().all(is_stuck) {
            self.ended = Some(Verdict::Stalled);
        }
    }

    /// Whether a subflow's links, both ways, are all up.
    fn has_live_path(&self, SubflowIndex(place): SubflowIndex) -> bool {
        self.routes[place as usize].is_some_and(|routes| {
            [routes.forward, routes.back].into_iter().all(|route| {
                self.network
                    .routes
                    .links(route)
                    .all(|link| self.network.is_up(link))
            })
        })
    }

    // What is due at given times: changes of links, windows of measurement, samples, the end.

    fn next_control(&self) -> Time {
        let change = self
            .plan
            .events
            .get(self.changes_made)
            .map_or(Time::MAX, |event| event.at);
        let window = self
            .windows
            .iter()
            .map(Window::next_boundary)
            .min()
            .unwrap_or(Time::MAX);
        let beats = [&self.rate_beat, &self.window_beat, &self.queue_beat].map(Beat::next);
        let stop = self.plan.stop.at.unwrap_or(Time::MAX);
        beats
            .into_iter()
            .fold(change.min(window).min(stop), Time::min)
    }

    fn control(&mut self, now: Time) {
        self.close_windows_at(now, false);
        self.open_windows_at(now);
        while let Some(event) = self.plan.events.get(self.changes_made)
            && event.at <= now
        {
            self.changes_made += 1;
            self.change_link(event.link, &event.change, now);
        }
        if !self.notices.is_empty() {
            self.on_notices(now);
        }
        if self.rate_beat.is_due(now) {
            self.sample_rates(now);
        }
        if self.window_beat.is_due(now) {
            self.sample_windows(now);
        }
        if self.queue_beat.is_due(now) {
            self.sample_queues(now);
        }
        if self.plan.stop.at.is_some_and(|at| at <= now) {
            self.ended = Some(Verdict::Stopped);
        }
    }

    fn change_link(&mut self, link: LinkId, change: &Change, now: Time) {
        let LinkId(number) = link;
        match change {
            Change::Rate(rate) => {
                self.network
                    .set_rate(number, now, *rate, &mut self.scheduler);
                if self.network.is_up(number) {
                    self.capacities[number as usize].change(now, *rate);
                }
            }
            Change::Down => {
                self.capacities[number as usize].change(now, Rate::ZERO);
                let notices = &mut self.notices;
                let lost = |segment| notices.push(Notice::Lost(segment));
                self.network.fail(number, now, &mut self.scheduler, lost);
            }
            Change::Up => {
                self.network.restore(number, now);
                let rate = self.network.rate(number);
                self.capacities[number as usize].change(now, rate);
                self.end_if_nothing_can_happen();
            }
        }
    }

    // Windows of measurement.

    fn open_windows_at(&mut self, now: Time) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            if window.marks.is_some() || window.from > now {
                continue;
            }
            let mark = |number: &u32| {
                let connection = self.flows[*number as usize].connection?;
                let received = self
                    .endpoints
                    .subflows(connection)
                    .map(|subflow| self.endpoints.subflow(subflow).received_bytes)
                    .collect();
                let delivered = self.endpoints.delivered(connection);
                Some((
                    *number,
                    FlowMark {
                        delivered,
                        received,
                    },
                ))
            };
            let links = 0..self.network.links();
            let marks = Marks {
                flows: self.active.iter().filter_map(mark).collect(),
                links: links
                    .map(|link| self.network.statistics(link, now))
                    .collect(),
                capacity: self
                    .capacities
                    .iter()
                    .map(|capacity| capacity.bits(now))
                    .collect(),
            };
            if window.phase.is_none() {
                for link in 0..self.network.links() {
                    self.network.histogram(link).clear();
                }
            }
            self.windows[index].marks = Some(marks);
        }
    }

    /// Closes the windows that end now, or all that are open when the run ends.
    fn close_windows_at(&mut self, now: Time, run_ends: bool) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            let due = window.to <= now || run_ends;
            if window.marks.is_none() || window.closed.is_some() || !due {
                continue;
            }
            let statistics =
                (0..self.network.links()).map(|link| self.network.statistics(link, now));
            let links = window.link_shares(now, statistics, &self.capacities);
            let flows = self.flow_shares(window, now);
            let window = &mut self.windows[index];
            window.links = links;
            window.flows = flows;
            window.closed = Some(now);
        }
    }

    fn flow_shares(&self, window: &Window, now: Time) -> Vec<FlowShare> {
        let Some(marks) = &window.marks else {
            return Vec::new();
        };
        let ended_rows = rows_by_flow(&self.subflow_rows);
        let share = |(number, flow): (u32, &Flow)| {
            let from = flow.start.max(window.from);
            let to = flow.end.unwrap_or(now).min(now);
            let begun = flow.end.is_some() || self.active.contains(&number);
            if !begun || to <= from {
                return None;
            }
            let before = marks.flows.get(&number);
            let (delivered, received): (Bytes, Vec<u64>) = match flow.connection {
                Some(connection) => (
                    self.endpoints.delivered(connection),
                    self.endpoints
                        .subflows(connection)
                        .map(|subflow| self.endpoints.subflow(subflow).received_bytes)
                        .collect(),
                ),
                None => {
                    let rows = ended_rows.get(&number).map_or(&[][..], Vec::as_slice);
                    let received = |&row: &usize| self.subflow_rows[row].received;
                    (flow.delivered, rows.iter().map(received).collect())
                }
            };
            let received_before = |subflow: usize| {
                before
                    .and_then(|mark| mark.received.get(subflow))
                    .copied()
                    .unwrap_or(0)
            };
            Some(FlowShare {
                flow: number,
                delivered: delivered.get() - before.map_or(0, |mark| mark.delivered.get()),
                received: received
                    .iter()
                    .enumerate()
                    .map(|(subflow, bytes)| bytes - received_before(subflow))
                    .collect(),
                duration: to - from,
            })
        };
        (0u32..).zip(&self.flows).filter_map(share).collect()
    }

    // Series.

    fn sample_rates(&mut self, now: Time) {
        let remainders = std::mem::take(&mut self.series.remainders);
        self.series
            .rates
            .extend(remainders.into_iter().map(|row| RateRow { at: now, ..row }));
        for &number in &self.active {
            let Some(connection) = self.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                let received = self.endpoints.subflow(index).received_bytes;
                let before = &mut self.series.received_before[index.0 as usize];
                let bytes = received - *before;
                *before = received;
                let subflow = subflow as u32;
                self.series.rates.push(RateRow {
                    at: now,
                    flow: number,
                    subflow,
                    bytes,
                });
            }
        }
    }

    fn window_row(&self, index: SubflowIndex, flow: u32, subflow: u32, now: Time) -> WindowRow {
        let path = self.endpoints.subflow(index).path;
        WindowRow {
            at: now,
            flow,
            subflow,
            window: path.window,
            ssthresh: path.ssthresh,
            smoothed_rtt: path.smoothed_rtt,
        }
    }

    fn sample_windows(&mut self, now: Time) {
        for &number in &self.active {
            let Some(connection) = self.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                if self.endpoints.subflow(index).path.established {
                    let row = self.window_row(index, number, subflow as u32, now);
                    self.series.windows.push(row);
                }
            }
        }
    }

    fn record_window_if_changed(&mut self, index: SubflowIndex, now: Time) {
        let place = index.0 as usize;
        let path = self.endpoints.subflow(index).path;
        if path.established && path.window != self.series.window_before[place] {
            self.series.window_before[place] = path.window;
            let connection = self.endpoints.connection(index);
            let first = self.endpoints.subflows(connection).next();
            let subflow = index.0 - first.map_or(index.0, |first| first.0);
            let flow = self.flow_of[connection.0 as usize];
            let row = self.window_row(index, flow, subflow, now);
            self.series.windows.push(row);
        }
    }

    fn sample_queues(&mut self, now: Time) {
        for &link in &self.plan.record.queue_links {
            let waiting = self.network.waiting(link.0, now);
            self.series.queues.push(QueueRow {
                at: now,
                link: link.0,
                waiting,
            });
        }
    }

    // Watching and checking.

    fn report_progress(&self) {
        let now = self.scheduler.now();
        let (started, finished) = self.counts.iter().fold((0, 0), |(s, f), count| {
            (s + count.started, f + count.finished)
        });
        let by_time = self.plan.stop.at.map_or(0.0, |at| {
            now.as_picos() as f64 / at.as_picos().max(1) as f64
        });
        let by_flows = if self.plan.stop.at.is_none() && self.plan.stop.traffic.is_none() {
            finished as f64 / started.max(1) as f64
        } else {
            0.0
        };
        let done = by_time.max(self.amount_done()).max(by_flows);
        self.progress
            .set(now, self.packet_hops, started, finished, done);
    }

    fn check(&self) -> Result<(), RunError> {
        let now = self.scheduler.now();
        self.network.check_conservation(now).map_err(|broken| {
            let link = self.plan.fabric.link_name(LinkId(broken.link));
            RunError::Check(format!(
                "link {link}: {} packets went in, {} are accounted for",
                broken.offered, broken.accounted
            ))
        })?;
        for (number, flow) in self.flows.iter().enumerate() {
            let wrong = flow.end.is_some()
                && flow.stop.is_none()
                && flow
                    .size
                    .is_some_and(|size| size.get().max(1) != flow.delivered.get());
            if wrong {
                return Err(RunError::Check(format!(
                    "flow {number} finished with {} delivered",
                    flow.delivered
                )));
            }
        }
        for &number in &self.active {
            let connection = self.flow_of.iter().position(|&flow| flow == number);
            if let Some(place) = connection
                && !self.endpoints.is_consistent(ConnectionId(place as u32))
            {
                return Err(RunError::Check(format!(
                    "flow {number}: data was not delivered once and in order"
                )));
            }
        }
        Ok(())
    }
}

fn rows_by_flow(rows: &[SubflowRow]) -> BTreeMap<u32, Vec<usize>> {
    let mut by_flow: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        by_flow.entry(row.flow).or_default().push(index);
    }
    by_flow
}
