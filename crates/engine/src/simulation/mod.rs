//! The run loop.

mod agenda;
mod capturing;
mod checks;
mod ending;
mod failing;
mod feedback;
mod flows;
mod measurement;
mod rerouting;
mod sampling;

use crate::build;
use crate::capacity::Capacity;
use crate::capture::Recording;
use crate::ended::EndedFlows;
use crate::flows::SubflowRow;
use crate::look_ahead::LookAhead;
use crate::map::LinkMap;
use crate::outlet::{Notice, Outlet, SubflowRoutes};
use crate::paths::PathList;
use crate::progress::Progress;
use crate::recovery::Recoveries;
use crate::results::{Output, Verdict};
use crate::routing::Routing;
use crate::scheduler::{Alarm, Event, Scheduler};
use crate::series::{Beat, Series};
use crate::spray::Sprays;
use crate::straddling::Straddling;
use crate::windows::{Window, plan_windows};
use crate::workload::Workload;
use pathweave_control::Feedback;
use pathweave_network::{
    Arrival, DeparturePorts, FifoPorts, Header, LinkEvent, Network, NoAgent, PacketLabel, PortId,
    Ports, SwitchAgent,
};
use pathweave_scenario::{Plan, Sampling};
use pathweave_transport::{Arrived, Config, Endpoints, RttHistogram, Segment};
use pathweave_units::Time;
use std::collections::BTreeMap;
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
    if build::explicit(plan).is_some() {
        Simulation::<FifoPorts<SwitchAgent>>::new(plan, progress)?.run()
    } else {
        Simulation::<FifoPorts>::new(plan, progress)?.run()
    }
}

/// The same with an event at every departure: slower, for comparison.
pub fn run_with_departure_ports(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    if build::explicit(plan).is_some() {
        Simulation::<DeparturePorts<SwitchAgent>>::new(plan, progress)?.run()
    } else {
        Simulation::<DeparturePorts<NoAgent>>::new(plan, progress)?.run()
    }
}

/// A run that comes to this time ends with an error: twice as much would not fit the type of times.
const LATEST: Time = Time::from_picos(u64::MAX / 2);

/// Events between two looks at the watch.
const BETWEEN_LOOKS: u32 = 1 << 14;

pub(crate) struct Simulation<'p, P: Ports> {
    pub plan: &'p Plan,
    progress: &'p Progress,
    pub network: Network<Segment, P>,
    pub endpoints: Endpoints,
    pub scheduler: Scheduler,
    /// Once the run is over: the first time of which not everything has happened.
    pub handled_before: Time,
    pub routing: Routing,
    configs: Vec<Arc<Config>>,
    pub workload: Workload<'p>,
    /// Why the run cannot go on.
    refused: Option<RunError>,
    /// The flow of each connection, by the connection's place.
    flow_of: Vec<u32>,
    routes: Vec<Option<SubflowRoutes>>,
    sprays: Sprays,
    /// Routes that subflows had before they were rerouted, by the subflow's place.
    retired: Vec<Vec<SubflowRoutes>>,
    /// The path of each subflow, by its place: a place in `path_list`.
    path_of: Vec<u32>,
    pub path_list: PathList,
    pub ended: EndedFlows,
    /// Room for the rows of a flow that ends, and for its RTTs.
    rows: Vec<SubflowRow>,
    rtts: RttHistogram,
    pub capacities: Vec<Capacity>,
    /// Changes of links already made.
    changes_made: usize,
    pub windows: Vec<Window>,
    straddling: Straddling<'p>,
    rate_beat: Beat,
    window_beat: Beat,
    rtt_beat: Beat,
    queue_beat: Beat,
    pub map: LinkMap,
    /// Whether something is looked at whenever a packet arrives at a host.
    watches_packets: bool,
    /// Whether the plan wants that all the time.
    records_packets: bool,
    pub recoveries: Recoveries,
    /// Switches whose next feedback is scheduled.
    feedback_scheduled: usize,
    /// By the flow's number.
    captures: BTreeMap<u32, Recording>,
    pub series: Series,
    notices: Vec<Notice>,
    look_ahead: LookAhead,
    pub packet_hops: u64,
}

impl<'p, P: Ports> Simulation<'p, P> {
    fn new(plan: &'p Plan, progress: &'p Progress) -> Result<Simulation<'p, P>, RunError> {
        let routing = Routing::new(plan).map_err(|error| RunError::Plan(error.to_string()))?;
        let router = routing.intact();
        let network = build::network(plan, router);
        let scheduler = build::scheduler(plan, network.places());
        let look_ahead = LookAhead::new(network.links());
        let workload = Workload::new(plan, router).map_err(RunError::Plan)?;
        let links = plan.fabric.links.iter();
        let capacities = links.map(|link| Capacity::new(link.rate)).collect();
        let sampled = |sampling: Option<Sampling>| match sampling {
            Some(Sampling::Every(interval)) => Some(interval),
            Some(Sampling::OnChange) | None => None,
        };
        let records_packets = plan.record.windows.is_some()
            || plan.record.rtts.is_some()
            || !plan.record.packets.is_empty();
        Ok(Simulation {
            network,
            scheduler,
            handled_before: Time::ZERO,
            endpoints: Endpoints::default(),
            routing,
            configs: plan
                .groups
                .iter()
                .map(|group| Arc::new(group.transport.clone()))
                .collect(),
            workload,
            refused: None,
            flow_of: Vec::new(),
            routes: Vec::new(),
            sprays: Sprays::new(plan.seed),
            retired: Vec::new(),
            path_of: Vec::new(),
            path_list: PathList::default(),
            ended: EndedFlows::default(),
            rows: Vec::new(),
            rtts: RttHistogram::default(),
            capacities,
            changes_made: 0,
            windows: plan_windows(plan),
            straddling: Straddling::new(plan),
            rate_beat: Beat::every(plan.record.rates),
            window_beat: Beat::every(sampled(plan.record.windows)),
            rtt_beat: Beat::every(sampled(plan.record.rtts)),
            queue_beat: Beat::every(plan.record.queues),
            map: LinkMap::every(plan.record.map),
            watches_packets: records_packets,
            records_packets,
            recoveries: Recoveries::default(),
            feedback_scheduled: 0,
            captures: BTreeMap::new(),
            series: Series::default(),
            notices: Vec::new(),
            look_ahead,
            packet_hops: 0,
            plan,
            progress,
        })
    }

    fn run(mut self) -> Result<Output, RunError> {
        self.workload.schedule(&mut self.scheduler);
        self.schedule_feedback();
        let verdict = self.run_to_the_end()?;
        self.conclude()?;
        Ok(crate::results::output(&mut self, verdict))
    }

    /// The run is over: windows close, flows that are left give their counters, and all is checked.
    fn conclude(&mut self) -> Result<(), RunError> {
        let now = self.scheduler.now();
        self.close_windows_at(now, true);
        self.sample_last_rates(now);
        self.sample_last_map(now);
        self.collect_unfinished()?;
        self.check()
    }

    /// What is done for every flow asks this now and then.
    fn stop_if_cancelled(&self) -> Result<(), RunError> {
        if self.progress.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        Ok(())
    }

    fn run_to_the_end(&mut self) -> Result<Verdict, RunError> {
        let mut until_look = BETWEEN_LOOKS;
        loop {
            let is_over = self.workload.ended.is_some();
            let control = self.next_control();
            let limit = control.min(LATEST);
            until_look = self.handle_all(limit, until_look)?;
            if let Some(error) = self.refused.take() {
                return Err(error);
            }
            self.handled_before = self.scheduler.now();
            if !is_over {
                self.handled_before += Time::from_picos(1);
            }
            if let Some(verdict) = self.workload.ended {
                self.report_progress();
                return Ok(verdict);
            }
            if control == Time::MAX && self.scheduler.next_due() == Time::MAX {
                // Flows may be left whose every packet and timer is gone.
                let done = self.workload.active.is_empty() && self.workload.pending == 0;
                return Ok(if done {
                    Verdict::Finished
                } else {
                    Verdict::Stalled
                });
            }
            if limit == LATEST {
                return Err(RunError::Plan(format!(
                    "the run has come to {:.0} s, the latest time that can be counted; give stop.at",
                    LATEST.as_secs_f64()
                )));
            }
            self.stop_if_cancelled()?;
            self.scheduler.advance(limit);
            self.control(limit);
        }
    }

    /// Handles everything that is due before `limit`, unless the run ends. `until_look` counts down to the next look at
    /// the watch; returns what is left of it.
    fn handle_all(&mut self, limit: Time, mut until_look: u32) -> Result<u32, RunError> {
        while self.workload.ended.is_none() {
            // Almost all events are packets that go on from one switch to the next. They end no run.
            while until_look > 0
                && let Some((now, port, event)) = self.scheduler.pop_port(limit)
            {
                until_look -= 1;
                if self.handle_port(port, event, now) {
                    break;
                }
            }
            if until_look == 0 {
                until_look = BETWEEN_LOOKS;
                self.report_progress();
                self.stop_if_cancelled()?;
                continue;
            }
            if self.workload.ended.is_some() {
                break;
            }
            if self.scheduler.turn(limit) && self.look_ahead.is_worth_it() {
                self.look_ahead
                    .fetch(&self.scheduler, &self.network, &self.endpoints);
            }
            let Some((now, event)) = self.scheduler.pop_before(limit) else {
                break;
            };
            until_look -= 1;
            match event {
                Event::Link(port, event) => {
                    self.handle_port(port, event, now);
                }
                Event::Timer(alarm) => {
                    self.on_alarm(alarm, now);
                    self.on_notices(now);
                }
            }
        }
        Ok(until_look)
    }

    /// Handles a port's event. Returns whether more came of it than a packet that goes on.
    #[inline(always)]
    fn handle_port(&mut self, port: PortId, event: LinkEvent, now: Time) -> bool {
        if event == LinkEvent::Departure {
            self.network.depart(port, now, &mut self.scheduler);
            return false;
        }
        self.packet_hops += 1;
        match self.network.arrive(port, now, &mut self.scheduler) {
            Arrival::Forwarded | Arrival::Consumed => false,
            Arrival::Dropped(header) => {
                self.on_dropped(header, now);
                true
            }
            Arrival::AtHost(header, label) => {
                self.on_packet(port, header, label.feedback(), now);
                true
            }
        }
    }

    #[inline(always)]
    fn outlet(&mut self, now: Time) -> (&mut Endpoints, Outlet<'_, P>) {
        let out = Outlet {
            now,
            network: &mut self.network,
            scheduler: &mut self.scheduler,
            routes: &self.routes,
            sprays: &mut self.sprays,
            notices: &mut self.notices,
        };
        (&mut self.endpoints, out)
    }

    /// A packet has come to its host. Apart from the loop, which would otherwise keep its own values in memory.
    #[inline(never)]
    fn on_packet(&mut self, port: PortId, header: Header, feedback: Feedback, now: Time) {
        let segment = self.network.take(header);
        let arrived = Arrived {
            size: header.size(),
            congestion_experienced: header.congestion_experienced(),
            feedback,
        };
        if self.watches_packets {
            let link = self.network.places().link_of(port);
            self.watch(link, &segment, &header, now);
        }
        let (endpoints, mut out) = self.outlet(now);
        endpoints.on_packet(&segment, arrived, now, &mut out);
        self.on_notices(now);
    }

    #[cold]
    fn on_dropped(&mut self, header: Header, now: Time) {
        let lost = self.network.take(header);
        self.on_lost(&lost, now);
        self.on_notices(now);
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
                if self.workload.stop(flow)
                    && let Some(connection) = self.workload.flows[flow as usize].connection
                {
                    let (endpoints, mut out) = self.outlet(now);
                    endpoints.stop(connection, &mut out);
                }
            }
            Alarm::BeginTraffic(group) => {
                self.workload.begin(group as usize, &mut self.scheduler);
                self.end_if_nothing_can_happen();
            }
            Alarm::StopTraffic(group) => self.stop_group(group, now),
            Alarm::WakeTraffic(group) => {
                self.workload.wake(group as usize, &mut self.scheduler);
            }
            Alarm::Feedback(switch) => self.send_feedback(switch, now),
            _ => unreachable!("all other alarms are the transport's"),
        }
    }

    #[inline]
    fn on_notices(&mut self, now: Time) {
        if !self.notices.is_empty() {
            self.heed_notices(now);
        }
    }

    #[cold]
    fn heed_notices(&mut self, now: Time) {
        let mut next = 0;
        while next < self.notices.len() {
            let notice = self.notices[next];
            next += 1;
            match notice {
                Notice::Lost(segment) => self.on_lost(&segment, now),
                Notice::Arrived(subflow) => self.record_changes(subflow, now),
                Notice::Straddling(straddler) => self.divide(straddler, now),
                Notice::Sent(segment, shape) => self.capture_sent(&segment, shape, now),
                Notice::Finished(connection) => self.on_finished(connection),
                Notice::Failed => self.end_if_nothing_can_happen(),
                Notice::Gone(connection) => self.on_gone(connection),
            }
        }
        self.notices.clear();
    }
}
