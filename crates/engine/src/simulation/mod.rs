//! The run loop.

mod capturing;
mod changes;
mod checks;
mod ending;
mod failing;
mod feedback;
mod flows;
mod measurement;
mod record;
mod rerouting;
mod sampling;
mod traffic;

use crate::agenda::{Act, Agenda, Whose};
use crate::beat::Beat;
use crate::build;
use crate::capacity::Capacity;
use crate::division;
use crate::ended::EndedFlows;
use crate::execution::Execution;
use crate::finishes::Finishes;
use crate::ideal::Ways;
use crate::into_host::{IntoHost, into_hosts};
use crate::map::LinkMap;
use crate::outcome::{RunError, Verdict};
use crate::paths::{PathList, SubflowPaths};
use crate::progress::{Progress, thread_cpu};
use crate::reactions::Reactions;
use crate::record::Record;
use crate::recovery::Recoveries;
use crate::region::Report;
use crate::regions::{Errand, Progressed, Regions};
use crate::routing::Routing;
use crate::rows::SubflowRow;
use crate::series::Series;
use crate::straddling::Straddling;
use crate::windows::{Window, plan_windows};
use crate::workload::Workload;
use pathweave_network::{DeparturePorts, FifoPorts, NoAgent, Ports, SwitchAgent};
use pathweave_rounds::{Lead, Rounds};
use pathweave_scenario::{Plan, Sampling};
use pathweave_transport::{Config, RttHistogram};
use pathweave_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Simulates every packet of a plan.
pub(crate) fn simulate<'p>(
    plan: &'p Plan,
    progress: &'p Progress,
    execution: &Execution,
) -> Result<Record<'p>, RunError> {
    if build::explicit(plan).is_some() {
        Simulation::<FifoPorts<SwitchAgent>>::new(plan, progress, execution)?.run(execution.threads)
    } else {
        Simulation::<FifoPorts>::new(plan, progress, execution)?.run(execution.threads)
    }
}

/// The same in one region with an event at every departure: slower, for comparison.
pub(crate) fn simulate_with_departure_ports<'p>(
    plan: &'p Plan,
    progress: &'p Progress,
) -> Result<Record<'p>, RunError> {
    let execution = &Execution::PLAIN;
    if build::explicit(plan).is_some() {
        Simulation::<DeparturePorts<SwitchAgent>>::new(plan, progress, execution)?.run(1)
    } else {
        Simulation::<DeparturePorts<NoAgent>>::new(plan, progress, execution)?.run(1)
    }
}

/// A run that comes to this time ends with an error: twice as much would not fit the type of times.
const LATEST: Time = Time::from_picos(u64::MAX / 2);

/// Other threads that carry out windows, if there are any.
type Followed<'a, P> = Option<Lead<'a, Errand<P>>>;

/// Events between two looks at the watch.
const BETWEEN_LOOKS: u32 = 1 << 14;

struct Simulation<'p, P: Ports> {
    plan: &'p Plan,
    progress: &'p Progress,
    regions: Regions<P>,
    /// Once the run is over: the first time of which not everything has happened.
    handled_before: Time,
    routing: Routing,
    configs: Vec<Arc<Config>>,
    workload: Workload<'p>,
    agenda: Agenda,
    reactions: Reactions,
    /// What happens to packets is carried out up to here, before whatever else is due then.
    limit: Time,
    /// Why the run cannot go on.
    refused: Option<RunError>,
    /// Subflows of the flows that have started.
    subflows_started: u32,
    /// Flows whose sending halves are closed, and of which something may be left.
    leaving: VecDeque<u32>,
    path_list: PathList,
    ended: EndedFlows,
    /// Room for the rows of a flow that ends, and for its RTTs.
    rows: Vec<SubflowRow>,
    /// Room for the paths of a subflow that starts, for the links of one, and for all that its flow's packets may take.
    paths: SubflowPaths,
    links: Vec<u32>,
    ways: Ways,
    rtts: RttHistogram,
    capacities: Vec<Capacity>,
    /// Changes of links already made.
    changes_made: usize,
    windows: Vec<Window>,
    straddling: Straddling<'p>,
    rate_beat: Beat,
    window_beat: Beat,
    rtt_beat: Beat,
    queue_beat: Beat,
    map: LinkMap,
    recoveries: Recoveries,
    /// When something goes from one switch or host to another without a packet.
    feedback_beat: Beat,
    series: Series,
    finishes: Finishes,
    /// How fast packets can come to each host.
    into_hosts: Box<[IntoHost]>,
    /// Room for what regions report.
    reports: Vec<Report>,
}

impl<'p, P: Ports> Simulation<'p, P> {
    fn new(
        plan: &'p Plan,
        progress: &'p Progress,
        execution: &Execution,
    ) -> Result<Simulation<'p, P>, RunError> {
        let routing = Routing::new(plan).map_err(|error| RunError::Plan(error.to_string()))?;
        let router = routing.intact();
        let workload = Workload::new(plan, router).map_err(RunError::Plan)?;
        let links = plan.fabric.links.iter();
        let capacities = links.map(|link| Capacity::new(link.rate)).collect();
        let sampled = |sampling: Option<Sampling>| match sampling {
            Some(Sampling::Every(interval)) => Some(interval),
            Some(Sampling::OnChange) | None => None,
        };
        let reactions = Reactions::new(plan);
        let regions = division::regions(plan, router, reactions, execution);
        Ok(Simulation {
            regions,
            handled_before: Time::ZERO,
            routing,
            configs: plan
                .groups
                .iter()
                .map(|group| Arc::new(group.transport.clone()))
                .collect(),
            workload,
            agenda: Agenda::default(),
            reactions,
            limit: Time::ZERO,
            refused: None,
            subflows_started: 0,
            leaving: VecDeque::new(),
            path_list: PathList::default(),
            ended: EndedFlows::default(),
            rows: Vec::new(),
            paths: SubflowPaths::default(),
            links: Vec::new(),
            ways: Ways::default(),
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
            recoveries: Recoveries::default(),
            feedback_beat: Beat::every(None),
            series: Series::default(),
            finishes: Finishes::default(),
            into_hosts: into_hosts(plan),
            reports: Vec::new(),
            plan,
            progress,
        })
    }

    fn run(mut self, threads: usize) -> Result<Record<'p>, RunError>
    where
        P: Send,
        P::Label: Send,
    {
        self.workload.schedule(&mut self.agenda);
        self.schedule_feedback();
        let verdict = self.run_on(threads.min(self.regions.iter().count()))?;
        self.conclude()?;
        Ok(self.record(verdict))
    }

    /// Runs to the end on this many threads.
    fn run_on(&mut self, threads: usize) -> Result<Verdict, RunError>
    where
        P: Send,
        P::Label: Send,
    {
        if threads <= 1 {
            return self.run_to_the_end(&mut None);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads - 1)
            .thread_name(|number| format!("region {}", number + 1));
        let pool = pool
            .build()
            .map_err(|error| RunError::Plan(format!("no threads could be started: {error}")))?;
        let rounds = Rounds::new(threads - 1);
        pool.in_place_scope(|scope| {
            for follower in 0..threads - 1 {
                let (rounds, progress) = (&rounds, self.progress);
                scope.spawn(move |_| {
                    rounds.follow(follower, Errand::carry_out);
                    progress.add_other_cpu(thread_cpu());
                });
            }
            self.run_to_the_end(&mut Some(rounds.lead()))
        })
    }

    /// The run is over: windows close, flows that are left give their counters, and all is checked.
    fn conclude(&mut self) -> Result<(), RunError> {
        let now = self.regions.now();
        self.workload.hear_rest(now);
        self.close_windows_at(now, true);
        self.sample_last_rates(now);
        self.sample_last_map(now);
        self.collect_records();
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

    fn run_to_the_end(&mut self, lead: &mut Followed<'_, P>) -> Result<Verdict, RunError> {
        let mut until_look = BETWEEN_LOOKS;
        let mut control = self.next_control();
        loop {
            // What happens meanwhile may put something on the agenda that is due earlier.
            self.limit = control.min(self.agenda.limit()).min(LATEST);
            loop {
                let ran = self.run_regions(until_look, lead);
                self.handled_before = ran.handled_before;
                self.hear_reports();
                until_look = ran.left;
                if until_look == 0 {
                    until_look = BETWEEN_LOOKS;
                    self.report_progress();
                    self.stop_if_cancelled()?;
                }
                if self.handled_before >= self.limit {
                    break;
                }
            }
            if !self.regions.is_one() {
                self.regions.take_in();
            }
            let agenda = self.agenda.next();
            if control.min(agenda) == Time::MAX && self.regions.nothing_before() == Time::MAX {
                self.handled_before = self.regions.now() + Time::from_picos(1);
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
                self.regions.advance(control);
                self.control(control);
                control = self.next_control();
            } else {
                self.regions.advance(agenda);
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

    /// Handles what happens to packets, up to the limit or a part of the way.
    fn run_regions(&mut self, until_look: u32, lead: &mut Followed<'_, P>) -> Progressed {
        let from = if self.regions.is_one() {
            let due = self.regions.nothing_before();
            due.max(self.handled_before).min(self.limit)
        } else {
            self.regions.skip(self.handled_before, self.limit)
        };
        let end = self.limit.min(self.regions.end_of_window(from));
        // What is reported from within the window must not be due within it.
        let safe = end.min(
            self.earliest_finish(from, end)
                .saturating_add(self.reactions.to_flows),
        );
        if !self.regions.is_one() {
            self.regions.run_window(from, safe, until_look, lead)
        } else if self.regions.first().is_by_node(from, safe) {
            self.regions.run_by_node(from, safe, until_look)
        } else {
            self.regions.run_alone(from, end, until_look)
        }
    }

    /// No flow finishes before this time, or before `horizon`, whichever is earlier. Everything before `from` has
    /// happened.
    fn earliest_finish(&mut self, from: Time, horizon: Time) -> Time {
        let (regions, workload) = (&self.regions, &self.workload);
        let earliest = self.finishes.earliest(from, horizon, |number| {
            let flow = &workload.flows[number as usize];
            let halves = flow.halves.filter(|_| flow.end.is_none())?;
            if flow.stopped {
                return Some(from);
            }
            let receiving = &regions[halves.destination].receiving;
            let subflows = receiving.subflows(halves.receiving);
            let arrived = subflows.map(|subflow| receiving.subflow(subflow).first_bytes);
            let left = flow.size?.get().saturating_sub(arrived.sum());
            let into_host = &self.into_hosts[flow.destination as usize];
            Some(from.saturating_add(into_host.shortest(left)))
        });
        earliest.max(from)
    }

    /// Hears what regions report.
    fn hear_reports(&mut self) {
        let mut number = 0;
        while let Some(reports) = self.regions.reports_of(number) {
            number += 1;
            if reports.is_empty() {
                continue;
            }
            std::mem::swap(reports, &mut self.reports);
            let mut reports = std::mem::take(&mut self.reports);
            for report in reports.drain(..) {
                self.hear(report);
            }
            self.reports = reports;
        }
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Lost(packet) => self.regions[packet.region].on_lost(&packet.segment),
            Report::Straddled(packet) => self.divide(packet),
            Report::Finished {
                flow,
                delivered,
                ended,
                heard,
            } => {
                if self.rate_beat.interval() < Time::MAX {
                    self.keep_remainders(flow);
                }
                let group = Whose::Group(self.workload.flows[flow as usize].group);
                self.workload.end(flow, delivered, ended);
                self.expect(heard, group, Act::Finished(flow));
            }
            Report::Failed { heard } => self.expect(heard, Whose::Run, Act::Look),
            Report::Closed { flow } => self.leaving.push_back(flow),
        }
    }

    /// What regions have recorded becomes the run's.
    fn collect_records(&mut self) {
        for region in self.regions.iter_mut() {
            self.series.windows.append(&mut region.recorder.window_rows);
            self.series.rtts.append(&mut region.recorder.rtt_rows);
            self.recoveries.hits.append(&mut region.recoveries.hits);
        }
        self.recoveries
            .hits
            .sort_by_key(|hit| (hit.failure, hit.flow));
    }
}
