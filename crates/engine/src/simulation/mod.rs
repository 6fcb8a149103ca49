//! A run of packets: what is due is asked for at its time, and regions run between.

mod checks;
mod control;
mod feedback;
mod lifetimes;
mod record;
mod traffic;

use crate::agenda::{Agenda, LATEST};
use crate::build;
use crate::execution::Execution;
use crate::flow_table::FlowTable;
use crate::outcome::{RunError, Verdict};
use crate::progress::{Progress, thread_cpu};
use crate::record::Record;
use crate::recorder::Recorder;
use crate::regions::division;
use crate::regions::reactions::Reactions;
use crate::regions::region::Notification;
use crate::regions::{Errand, Progressed, Regions};
use crate::schedule::traffic_agenda::{Act, Whose};
use crate::workload::Workload;
use pathweave_lockstep::{Lead, Lockstep};
use pathweave_network::{DeparturePorts, FifoPorts, NoAgent, Ports, SwitchAgent};
use pathweave_scenario::Plan;
use pathweave_units::Time;

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

/// Other threads that carry out windows, if there are any.
type Followed<'a, P> = Option<Lead<'a, Errand<P>>>;

/// Events between two looks at the watch.
const BETWEEN_LOOKS: u32 = 1 << 14;

struct Simulation<'p, P: Ports> {
    plan: &'p Plan,
    progress: &'p Progress,
    regions: Regions<P>,
    workload: Workload<'p>,
    agenda: Agenda<'p>,
    flows: FlowTable<'p>,
    recorder: Recorder<'p>,
    /// The first time of which not everything has happened.
    handled_before: Time,
    /// Whether packets go no further than to the time at which traffic hears that a flow has ended. Regions know it too.
    heeds_ends: bool,
    /// Why the run cannot go on.
    refused: Option<RunError>,
}

impl<'p, P: Ports> Simulation<'p, P> {
    fn new(
        plan: &'p Plan,
        progress: &'p Progress,
        execution: &Execution,
    ) -> Result<Simulation<'p, P>, RunError> {
        let flows = FlowTable::new(plan, progress.faults())
            .map_err(|error| RunError::Plan(error.to_string()))?;
        let router = flows.routing().intact();
        let workload = Workload::new(plan, router).map_err(RunError::Plan)?;
        let reactions = Reactions::new(plan);
        Ok(Simulation {
            regions: division::regions(plan, router, reactions, execution),
            workload,
            agenda: Agenda::new(plan, reactions),
            flows,
            recorder: Recorder::new(plan),
            handled_before: Time::ZERO,
            heeds_ends: true,
            refused: None,
            plan,
            progress,
        })
    }

    fn run(mut self, threads: usize) -> Result<Record<'p>, RunError>
    where
        P: Send,
        P::Label: Send,
    {
        self.take_down();
        self.workload.schedule(&mut self.agenda.traffic);
        self.schedule_feedback();
        let verdict = self.run_on(threads.min(self.regions.iter().count()))?;
        self.conclude()?;
        Ok(self.record(verdict))
    }

    /// When something is due that is not traffic.
    fn next_control(&self) -> Time {
        let detection = self.flows.routing().next_detection();
        self.agenda.next_control(detection)
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
        let lockstep = Lockstep::new(threads - 1);
        pool.in_place_scope(|scope| {
            for follower in 0..threads - 1 {
                let (lockstep, progress) = (&lockstep, self.progress);
                scope.spawn(move |_| {
                    lockstep.follow(follower, Errand::carry_out);
                    progress.add_other_cpu(thread_cpu());
                });
            }
            self.run_to_the_end(&mut Some(lockstep.lead()))
        })
    }

    /// The run is over: windows close, flows that are left give their counters, and all is checked.
    fn conclude(&mut self) -> Result<(), RunError> {
        let now = self.regions.now();
        self.end_feedback(now);
        self.workload.hear_rest(now);
        self.close_windows(now, true);
        self.sample_last(now);
        self.recorder.collect_from(&mut self.regions);
        self.collect_unfinished()?;
        self.stop_at_fault()?;
        self.check()
    }

    /// What is done for every flow asks this now and then.
    fn stop_if_cancelled(&self) -> Result<(), RunError> {
        if self.progress.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        self.stop_at_fault()
    }

    /// Ends the run when a controller could not go on.
    fn stop_at_fault(&self) -> Result<(), RunError> {
        let Some(fault) = self.progress.first_fault() else {
            return Ok(());
        };
        let flow = &self.workload.flows[fault.flow as usize];
        let hosts = &self.plan.fabric.hosts;
        let host = |host: u32| &self.plan.fabric.node(hosts[host as usize]).name;
        Err(RunError::Controller(format!(
            "the controller of flow {} (group \"{}\", {} to {}) failed at {:.6} ms: {}",
            fault.flow,
            self.plan.groups[flow.group as usize].name,
            host(flow.source),
            host(flow.destination),
            fault.at.as_secs_f64() * 1e3,
            fault.message
        )))
    }

    fn run_to_the_end(&mut self, lead: &mut Followed<'_, P>) -> Result<Verdict, RunError> {
        let mut until_look = BETWEEN_LOOKS;
        let mut control = self.next_control();
        loop {
            // What happens meanwhile may put something on the agenda that is due earlier.
            self.agenda.set_limit(control);
            loop {
                let ran = self.run_regions(control, until_look, lead);
                self.handled_before = ran.handled_before;
                self.hear_reports();
                if let Some(error) = self.refused.take() {
                    return Err(error);
                }
                until_look = ran.left;
                if until_look == 0 {
                    until_look = BETWEEN_LOOKS;
                    self.report_progress();
                    self.stop_if_cancelled()?;
                }
                if self.handled_before >= self.agenda.limit() {
                    break;
                }
            }
            if !self.regions.is_one() {
                self.regions.take_in();
            }
            let traffic = self.agenda.traffic.next();
            if control.min(traffic) == Time::MAX && self.regions.nothing_before() == Time::MAX {
                // A start that was taken ahead may have been refused. Its time has been reached all the same.
                let last = self.regions.now().max(self.agenda.traffic.ahead());
                self.regions.advance(last);
                self.handled_before = last + Time::from_picos(1);
                // Flows may be left whose every packet and timer is gone.
                let done = self.workload.active.is_empty() && self.workload.pending == 0;
                return Ok(if done {
                    Verdict::Finished
                } else {
                    Verdict::Stalled
                });
            }
            if self.agenda.limit() == LATEST {
                return Err(RunError::Plan(format!(
                    "the run has come to {:.0} s, the latest time that can be counted; give stop.at",
                    LATEST.as_secs_f64()
                )));
            }
            if control <= traffic {
                self.stop_if_cancelled()?;
                self.regions.advance(control);
                for (flow, heard) in self.agenda.traffic.noted_before(control) {
                    self.workload.note_end(flow, heard);
                }
                self.control(control);
                control = self.next_control();
            } else {
                self.regions.advance(traffic);
                // Entries that follow from others at the same time come in their turn.
                while self.workload.ended.is_none()
                    && let Some(entry) = self.agenda.take_due(traffic)
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

    /// Handles what happens to packets, up to the limit or a part of the way. At `control` something is due that is not
    /// traffic.
    fn run_regions(
        &mut self,
        control: Time,
        until_look: u32,
        lead: &mut Followed<'_, P>,
    ) -> Progressed {
        // What was due before has been carried out.
        for (flow, heard) in self.agenda.traffic.noted_before(self.handled_before) {
            self.workload.note_end(flow, heard);
        }
        self.heed_ends();
        if !self.heeds_ends {
            let ahead = self.regions.end_of_turns(self.handled_before);
            self.start_ahead(ahead.min(control));
            self.heed_ends();
            self.agenda.set_limit(control);
        }
        let limit = self.agenda.limit();
        if !self.regions.has_windows() {
            return self
                .regions
                .run_alone(self.handled_before, limit, until_look);
        }
        if self.regions.hosts_go_first() {
            let from = self.handled_before;
            return self.regions.run_hosts_first(from, limit, until_look);
        }
        let from = if self.regions.is_one() {
            let due = self.regions.nothing_before();
            due.max(self.handled_before).min(limit)
        } else {
            self.regions.skip(self.handled_before, limit)
        };
        let end = limit.min(self.regions.end_of_window(from));
        let of_turns = limit.min(self.regions.end_of_turns(from)).max(end);
        // What is reported from within the window must not be due within it.
        let safe = if self.heeds_ends {
            let (workload, table) = (&self.workload, &self.flows);
            let finish =
                self.agenda
                    .earliest_finish(from, of_turns, workload, table, &self.regions);
            finish.saturating_add(self.agenda.reactions.to_flows)
        } else {
            Time::MAX
        };
        let known = safe.min(of_turns);
        if self.heeds_ends
            && self.regions.hosts_can_go_first()
            && !self.regions.have_long_turns(from, known)
        {
            // The run ends at one time for all nodes.
            let gather = control.min(self.plan.stop.at.unwrap_or(Time::MAX));
            let gather = gather.min(self.regions.end_of_turns(from));
            if self.regions.have_turns(from, gather) {
                self.regions.let_hosts_go_first(from, gather);
                return self.regions.run_hosts_first(from, limit, until_look);
            }
        }
        if self.regions.have_turns(from, known) {
            self.regions.run_by_node(from, known, until_look, lead)
        } else if self.regions.is_one() {
            self.regions.run_alone(from, end, until_look)
        } else {
            self.regions
                .run_window(from, safe.min(end), until_look, lead)
        }
    }

    /// Finds out whether packets may go on without traffic after a flow has ended.
    #[inline(always)]
    pub(super) fn heed_ends(&mut self) {
        if self.regions.has_windows() && self.workload.heeds_ends() != self.heeds_ends {
            self.change_heed();
        }
    }

    #[cold]
    #[inline(never)]
    fn change_heed(&mut self) {
        self.heeds_ends = !self.heeds_ends;
        for region in self.regions.iter_mut() {
            region.heeds_ends = self.heeds_ends;
        }
        if self.heeds_ends {
            self.agenda.heed_noted();
            // Nobody has watched those that have started meanwhile.
            for flow in self.workload.under_way() {
                self.agenda.watch(flow);
            }
        }
    }

    /// Hears what regions report.
    fn hear_reports(&mut self) {
        let mut number = 0;
        while let Some(reports) = self.regions.reports_of(number) {
            number += 1;
            if reports.is_empty() {
                continue;
            }
            let mut heard = std::mem::take(reports);
            for report in &heard {
                self.hear(report);
            }
            heard.clear();
            self.regions.take_back(number - 1, heard);
        }
        if self.plan.record.events.is_some() {
            self.tell_events();
        }
    }

    /// Hands on what has happened to the flow that is watched.
    #[cold]
    #[inline(never)]
    fn tell_events(&mut self) {
        for region in self.regions.iter_mut() {
            if let Some(watched) = &mut region.recorder.watched
                && !watched.events.is_empty()
            {
                self.progress.add_events(&mut watched.events);
            }
        }
    }

    fn hear(&mut self, report: &Notification) {
        match *report {
            Notification::Lost(packet) => self.regions[packet.region()].on_lost(&packet.0),
            Notification::Straddled(packet) => {
                let host = self.workload.flows[packet.flow as usize].destination;
                self.recorder.divide(packet, &mut self.regions, host);
            }
            Notification::Finished {
                flow,
                delivered,
                ended,
                heard,
            } => {
                if self.agenda.beats.rates.interval() < Time::MAX
                    && let Some(halves) = self.flows.halves(flow)
                {
                    self.recorder
                        .keep_remainders(flow, halves, &mut self.regions);
                }
                let group = self.workload.end(flow, delivered, ended);
                if self.heeds_ends {
                    self.agenda
                        .expect(heard, Whose::Group(group), Act::Finished(flow));
                } else {
                    self.agenda.traffic.note_end(heard, group, flow);
                }
            }
            Notification::Failed { heard } => self.agenda.expect(heard, Whose::Run, Act::Look),
            Notification::Closed { flow } => self.flows.expect_to_leave(flow),
        }
    }
}

#[cfg(test)]
mod idle_tests;
