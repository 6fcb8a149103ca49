//! The run loop.

mod capturing;
mod changes;
mod checks;
mod ending;
mod failing;
mod feedback;
mod flows;
mod measurement;
mod rerouting;
mod sampling;
mod traffic;

use crate::agenda::{Act, Agenda, Whose, reaction_time};
use crate::build;
use crate::capacity::Capacity;
use crate::capture::Recording;
use crate::ended::EndedFlows;
use crate::flows::SubflowRow;
use crate::map::LinkMap;
use crate::outlet::{Departures, Notice, Outlet, SubflowRoutes};
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
use pathweave_network::{
    Arrival, DeparturePort, FifoPort, LinkEvent, Network, NoAgent, PacketId, PacketLabel, Port,
    SharedBuffer, SwitchAgent,
};
use pathweave_scenario::{Plan, Sampling};
use pathweave_transport::{
    Arrived, Config, End, Receiving, RttHistogram, Segment, Sending, TimerKind,
};
use pathweave_units::Time;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;
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
    if build::explicit(plan).is_some() || plan.shared_buffer.is_some() {
        Simulation::<DeparturePort<SwitchAgent>>::new(plan, progress)?.run()
    } else {
        Simulation::<FifoPort>::new(plan, progress)?.run()
    }
}

/// The same with an event at every departure: slower, for comparison.
pub fn run_with_departure_ports(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    Simulation::<DeparturePort<NoAgent>>::new(plan, progress)?.run()
}

/// A run that comes to this time ends with an error: twice as much would not fit the type of times.
const LATEST: Time = Time::from_picos(u64::MAX / 2);

/// Events between two looks at the watch.
const BETWEEN_LOOKS: u32 = 1 << 14;

pub(crate) struct Simulation<'p, P: Port> {
    pub plan: &'p Plan,
    progress: &'p Progress,
    pub network: Network<Segment, P>,
    /// Of each node.
    pub buffers: Vec<Option<Rc<SharedBuffer>>>,
    pub sending: Sending,
    pub receiving: Receiving,
    pub scheduler: Scheduler,
    pub routing: Routing,
    configs: Vec<Arc<Config>>,
    pub workload: Workload<'p>,
    agenda: Agenda,
    /// How long traffic takes to hear of what hosts do.
    reaction: Time,
    /// What happens to packets is carried out up to here, before whatever else is due then.
    limit: Time,
    /// Why the run cannot go on.
    refused: Option<RunError>,
    /// Subflows of the flows that have started.
    subflows_started: u32,
    /// Flows whose sending halves are closed, and of which something may be left.
    leaving: VecDeque<u32>,
    departures: Departures,
    /// The routes of each subflow, by the place of its sending half.
    routes: Vec<Option<SubflowRoutes>>,
    sprays: Sprays,
    /// Routes that subflows had before they were rerouted, by the place of the sending half.
    retired: Vec<Vec<SubflowRoutes>>,
    /// The path of each subflow, by the place of its sending half: a place in `path_list`.
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
    /// When something goes from one switch or host to another without a packet.
    feedback_beat: Beat,
    /// Nothing but feedback is left to happen.
    feedback_over: bool,
    /// By the flow's number.
    captures: BTreeMap<u32, Recording>,
    pub series: Series,
    notices: Vec<Notice>,
    pub packet_hops: u64,
}

impl<'p, P: Port> Simulation<'p, P> {
    fn new(plan: &'p Plan, progress: &'p Progress) -> Result<Simulation<'p, P>, RunError> {
        let routing = Routing::new(plan).map_err(|error| RunError::Plan(error.to_string()))?;
        let router = routing.intact();
        let buffers = build::shared_buffers(plan);
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
            network: build::network(plan, router, &buffers),
            buffers,
            scheduler: build::scheduler(plan),
            sending: Sending::default(),
            receiving: Receiving::default(),
            routing,
            configs: plan
                .groups
                .iter()
                .map(|group| Arc::new(group.transport.clone()))
                .collect(),
            workload,
            agenda: Agenda::default(),
            reaction: reaction_time(plan),
            limit: Time::ZERO,
            refused: None,
            subflows_started: 0,
            leaving: VecDeque::new(),
            departures: Departures::default(),
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
            feedback_beat: Beat::every(None),
            feedback_over: false,
            captures: BTreeMap::new(),
            series: Series::default(),
            notices: Vec::new(),
            packet_hops: 0,
            plan,
            progress,
        })
    }

    fn run(mut self) -> Result<Output, RunError> {
        self.workload.schedule(&mut self.agenda);
        self.schedule_feedback();
        let verdict = self.run_to_the_end()?;
        self.conclude()?;
        Ok(crate::results::output(&mut self, verdict))
    }

    /// The run is over: windows close, flows that are left give their counters, and all is checked.
    fn conclude(&mut self) -> Result<(), RunError> {
        let now = self.scheduler.now();
        self.workload.hear_rest(now);
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
        let mut control = self.next_control();
        loop {
            // What happens meanwhile may put something on the agenda that is due earlier.
            self.limit = control.min(self.agenda.limit()).min(LATEST);
            while let Some((now, event)) = self.scheduler.pop_before(self.limit) {
                self.handle(now, event);
                until_look -= 1;
                if until_look == 0 {
                    until_look = BETWEEN_LOOKS;
                    self.report_progress();
                    self.stop_if_cancelled()?;
                }
            }
            let agenda = self.agenda.next();
            if control.min(agenda) == Time::MAX && self.scheduler.next_due() == Time::MAX {
                // Flows may be left whose every packet and timer is gone.
                let done = self.workload.active.is_empty() && self.workload.pending == 0;
                return Ok(if done {
                    Verdict::Finished
                } else {
                    Verdict::Stalled
                });
            }
            if self.limit == LATEST {
                return Err(RunError::Plan(format!(
                    "the run has come to {:.0} s, the latest time that can be counted; give stop.at",
                    LATEST.as_secs_f64()
                )));
            }
            if control <= agenda {
                self.stop_if_cancelled()?;
                self.scheduler.advance(control);
                self.control(control);
                control = self.next_control();
            } else {
                self.scheduler.advance(agenda);
                // Entries that follow from others at the same time come in their turn.
                while self.workload.ended.is_none()
                    && self.agenda.limit() <= self.limit
                    && let Some(entry) = self.agenda.take_due(agenda)
                {
                    self.follow(entry);
                    until_look -= 1;
                    if until_look == 0 {
                        until_look = BETWEEN_LOOKS;
                        self.stop_if_cancelled()?;
                    }
                }
            }
            if let Some(error) = self.refused.take() {
                return Err(error);
            }
            if let Some(verdict) = self.workload.ended {
                self.report_progress();
                return Ok(verdict);
            }
        }
    }

    // One event.

    #[inline(always)]
    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Link(link, LinkEvent::Arrival) => {
                self.packet_hops += 1;
                match self.network.arrive(link, now, &mut self.scheduler) {
                    Arrival::Forwarded | Arrival::Consumed => return,
                    Arrival::Dropped(packet) => {
                        let lost = self.network.take(packet).segment;
                        self.on_lost(&lost);
                    }
                    Arrival::AtHost(packet) => self.on_packet(link, packet, now),
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
    fn halves(&mut self, now: Time) -> (&mut Sending, &mut Receiving, Outlet<'_, P>) {
        let out = Outlet {
            now,
            network: &mut self.network,
            scheduler: &mut self.scheduler,
            departures: &self.departures,
            sprays: &mut self.sprays,
            notices: &mut self.notices,
        };
        (&mut self.sending, &mut self.receiving, out)
    }

    #[inline]
    fn on_packet(&mut self, link: u32, packet: PacketId, now: Time) {
        let packet = self.network.take(packet);
        if self.watches_packets {
            self.watch(link, packet, now);
        }
        let arrived = Arrived {
            size: packet.header.size,
            congestion_experienced: packet.header.congestion_experienced(),
            feedback: packet.label.feedback(),
        };
        let segment = &packet.segment;
        let (sending, receiving, mut out) = self.halves(now);
        match segment.destination() {
            End::Sending(_) => sending.on_packet(segment, arrived, now, &mut out),
            End::Receiving(_) => receiving.on_packet(segment, arrived, now, &mut out),
        }
    }

    fn on_lost(&mut self, segment: &Segment) {
        match segment.destination() {
            End::Sending(_) => self.sending.on_lost(segment),
            End::Receiving(_) => self.receiving.on_lost(segment),
        }
    }

    fn on_alarm(&mut self, alarm: Alarm, now: Time) {
        match alarm {
            Alarm::Transport(timer) => {
                let (sending, receiving, mut out) = self.halves(now);
                if timer.kind == TimerKind::DelayedAck {
                    receiving.on_timer(timer, now, &mut out);
                } else {
                    sending.on_timer(timer, now, &mut out);
                }
            }
            Alarm::Feedback(switch) => self.send_feedback(switch, now),
        }
    }

    #[cold]
    fn on_notices(&mut self, now: Time) {
        let mut next = 0;
        while next < self.notices.len() {
            let notice = self.notices[next];
            next += 1;
            match notice {
                Notice::Lost(segment) => self.on_lost(&segment),
                Notice::Arrived(end) => self.record_changes(end, now),
                Notice::Straddling(straddler) => self.divide(straddler, now),
                Notice::Sent(segment, shape) => self.capture_sent(&segment, shape, now),
                Notice::Finished(connection) => self.on_finished(connection, now),
                Notice::Failed => self.expect(now + self.reaction, Whose::Run, Act::Look),
                Notice::Closed(connection) => self.leaving.push_back(self.sending.flow(connection)),
            }
        }
        self.notices.clear();
    }
}
