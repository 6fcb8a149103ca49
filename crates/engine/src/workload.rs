//! The traffic of a run: what its groups asked for, what is under way, and when it has been enough.
//!
//! It drives the groups' programs for any backend. A backend carries out the agenda that is written here: it
//! starts and stops flows, and says which have ended.

use crate::build;
use crate::flows::flow::{Ending, Flow};
use crate::flows::list::FlowList;
use crate::flows::set::FlowSet;
use crate::outcome::Verdict;
use crate::record::Traffic;
use crate::schedule::traffic_agenda::{Act, TrafficAgenda, Whose};
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::Router;
use pathweave_scenario::{Amount, Change, GroupPlan, Plan, TrafficStop};
use pathweave_traffic::{Event, FlowStart, Program};
use pathweave_units::{Bytes, Time};

/// How far a run is when it begins to drain, as nobody knows how long that takes.
const DRAINS_AT: f64 = 0.9;

/// What a traffic group has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupCount {
    pub started: u64,
    pub finished: u64,
    /// Flows that were stopped before they had finished, and of which nothing is under way.
    pub stopped: u64,
    pub started_bytes: u64,
    pub finished_bytes: u64,
    pub finished_jobs: u64,
}

pub(crate) struct Workload<'p> {
    plan: &'p Plan,
    pub programs: Vec<Program>,
    /// Whether any of them heeds the ends of flows.
    closes_loops: bool,
    /// The wake time set for each program; `Time::MAX` for none.
    wakes: Vec<Time>,
    pub counts: Vec<GroupCount>,
    pub flows: FlowList,
    /// Flows that have started and of which something is under way.
    pub active: FlowSet,
    /// Flows that were asked for and have not started.
    pub pending: u32,
    /// Groups whose traffic has not begun.
    to_begin: usize,
    starts: Vec<FlowStart>,
    /// The plan's last start has come: no flow starts any more.
    closed: bool,
    /// Set once the traffic's part of the scenario's stop condition holds.
    pub ended: Option<Verdict>,
}

impl<'p> Workload<'p> {
    pub fn new(plan: &'p Plan, router: &Router) -> Result<Workload<'p>, String> {
        let programs = build::programs(plan, router)?;
        Ok(Workload {
            plan,
            wakes: vec![Time::MAX; programs.len()],
            counts: vec![GroupCount::default(); programs.len()],
            programs,
            closes_loops: plan.groups.iter().any(GroupPlan::heeds_ends),
            flows: FlowList::default(),
            active: FlowSet::default(),
            pending: 0,
            to_begin: plan.groups.len(),
            starts: Vec::new(),
            closed: false,
            ended: None,
        })
    }

    /// Puts the groups' beginnings and ends on the agenda.
    pub fn schedule(&self, agenda: &mut TrafficAgenda) {
        for (group, plan) in (0..).zip(&self.plan.groups) {
            agenda.add(plan.start, Whose::Group(group), Act::Begin);
            if let Some(stop) = plan.stop {
                agenda.add(stop, Whose::Group(group), Act::Stop);
            }
        }
        if let Some(last_start) = self.plan.stop.last_start {
            agenda.add(last_start, Whose::Run, Act::Close);
        }
        if let Some(at) = self.plan.stop.at {
            agenda.add(at, Whose::Run, Act::End);
        }
    }

    /// A group begins.
    pub fn begin(&mut self, group: u32, now: Time, agenda: &mut TrafficAgenda) {
        self.to_begin -= 1;
        self.tell(group as usize, Event::Begin, now, agenda);
    }

    /// A time has come at which a group asked to be woken.
    pub fn wake(&mut self, group: u32, now: Time, agenda: &mut TrafficAgenda) {
        let wake = &mut self.wakes[group as usize];
        if *wake == now {
            *wake = Time::MAX;
            self.tell(group as usize, Event::Wake, now, agenda);
        }
    }

    fn tell(&mut self, group: usize, event: Event, now: Time, agenda: &mut TrafficAgenda) {
        let mut starts = std::mem::take(&mut self.starts);
        self.programs[group].on(event, now, &mut starts);
        self.expect_all(group, &mut starts, now, agenda);
        self.starts = starts;
    }

    /// A program has been told something: takes up what it wants started, and when it wants to be woken.
    fn expect_all(
        &mut self,
        group: usize,
        starts: &mut Vec<FlowStart>,
        now: Time,
        agenda: &mut TrafficAgenda,
    ) {
        for start in starts.drain(..) {
            self.expect(group, &start, now, agenda);
        }
        let wake = self.programs[group].next_wake().unwrap_or(Time::MAX);
        if wake < self.wakes[group] {
            let wake = wake.max(now);
            self.wakes[group] = wake;
            agenda.add(wake, Whose::Group(group as u32), Act::Wake);
        }
    }

    fn expect(&mut self, group: usize, start: &FlowStart, now: Time, agenda: &mut TrafficAgenda) {
        let number = self.flows.len() as u32;
        let plan = &self.plan.groups[group];
        let count = &mut self.counts[group];
        count.started += 1;
        let bytes = start.size.map_or(0, Bytes::get);
        count.started_bytes = count.started_bytes.saturating_add(bytes);
        self.flows.push(Flow::new(group as u32, plan, start));
        self.pending += 1;
        let whose = Whose::Group(group as u32);
        let at = start.at.max(now);
        agenda.add(at, whose, Act::StartFlow(number));
        if let Some(stop) = start.stop {
            agenda.add(stop.max(at), whose, Act::StopFlow(number));
        }
        self.check_amounts_started(group);
    }

    /// A flow's time has come. False when its group has ended since it was asked for.
    pub fn start(&mut self, number: u32, now: Time) -> bool {
        self.pending -= 1;
        let flow = &mut self.flows[number as usize];
        let group = flow.group as usize;
        if self.plan.groups[group].stop.is_some_and(|stop| stop <= now) {
            flow.stopped = true;
            self.counts[group].stopped += 1;
            self.check_amounts_finished(group);
            return false;
        }
        if self.closed {
            let bytes = flow.size.map_or(0, Bytes::get);
            let count = &mut self.counts[group];
            count.started -= 1;
            count.started_bytes = count.started_bytes.saturating_sub(bytes);
            return false;
        }
        flow.started = true;
        self.active.insert(number);
        true
    }

    /// The plan's last start has come: what is under way goes on, and nothing new starts.
    pub fn close(&mut self) {
        self.closed = true;
        self.programs.iter_mut().for_each(Program::halt);
        if let Some(stop) = &self.plan.stop.traffic {
            self.check_amounts_finished(stop.group);
        }
    }

    /// A flow's own `stop` has come. False when nothing of it is under way.
    pub fn stop(&mut self, number: u32) -> bool {
        let flow = &mut self.flows[number as usize];
        flow.stopped = true;
        flow.end.is_none() && self.active.contains(number)
    }

    /// Flows that have started and not ended.
    pub fn under_way(&self) -> impl Iterator<Item = u32> {
        self.active
            .iter()
            .filter(|&number| self.flows[number as usize].end.is_none())
    }

    /// A group starts nothing new. Gives its flows that are under way.
    pub fn stop_group(&mut self, group: u32) -> Vec<u32> {
        self.programs[group as usize].halt();
        let own = |number: &u32| self.flows[*number as usize].group == group;
        let own: Vec<u32> = self.under_way().filter(own).collect();
        for &number in &own {
            self.flows[number as usize].stopped = true;
        }
        self.check_amounts_finished(group as usize);
        own
    }

    /// The last of the bytes that a flow sent was delivered. Gives the flow's group.
    pub fn end(&mut self, number: u32, delivered: Bytes, at: Time) -> u32 {
        let flow = &mut self.flows[number as usize];
        flow.end = Some(at);
        flow.delivered = delivered;
        flow.group
    }

    /// Traffic hears that a flow has ended. Its group hears of it only if the flow has finished: what was
    /// stopped completes no job and makes no room for another flow.
    pub fn hear_end(&mut self, number: u32, now: Time, agenda: &mut TrafficAgenda) {
        self.active.remove(number);
        let mut starts = std::mem::take(&mut self.starts);
        let group = self.count_end(number, now, &mut starts) as usize;
        self.expect_all(group, &mut starts, now, agenda);
        self.starts = starts;
        self.check_amounts_finished(group);
    }

    /// Traffic hears that a flow has ended, where nothing follows from it ([`Workload::heeds_ends`]).
    pub fn note_end(&mut self, number: u32, now: Time) {
        self.active.remove(number);
        let mut starts = Vec::new();
        self.count_end(number, now, &mut starts);
        debug_assert!(starts.is_empty(), "open loops answer nothing");
    }

    /// Counts a flow that has ended, and tells its group if it has finished; pushes what it wants started. Gives the
    /// group.
    fn count_end(&mut self, number: u32, now: Time, starts: &mut Vec<FlowStart>) -> u32 {
        let flow = &self.flows[number as usize];
        let at = flow.end.unwrap_or(now);
        let group = flow.group;
        let count = &mut self.counts[group as usize];
        if flow.ending() == Ending::Stopped {
            count.stopped += 1;
            return group;
        }
        count.finished += 1;
        count.finished_bytes += flow.delivered.get();
        let program = &mut self.programs[group as usize];
        let tag = flow.tag;
        program.on(Event::Finished { tag, at }, now, starts);
        if let Some(job) = flow.job
            && program.jobs()[job as usize].end == Some(at)
        {
            count.finished_jobs += 1;
        }
        group
    }

    /// The run is over: flows that have ended and of which nobody has heard yet are counted, and nothing follows
    /// from it.
    pub fn hear_rest(&mut self, now: Time) {
        let ended = self.ended.take();
        self.programs.iter_mut().for_each(Program::halt);
        let unheard: Vec<u32> = self.active.iter().collect();
        let mut unwanted = Vec::new();
        for number in unheard {
            if self.flows[number as usize].end.is_some() {
                self.active.remove(number);
                self.count_end(number, now, &mut unwanted);
            }
        }
        self.ended = ended;
    }

    /// Whether the time matters at which traffic hears that a flow has ended: a program may start another flow then, or the
    /// run may end.
    #[inline]
    pub fn heeds_ends(&self) -> bool {
        let decides = |stop: &TrafficStop| {
            let count = self.counts[stop.group];
            // What has not started cannot have finished.
            let may_be_enough = match stop.amount {
                Amount::Flows(flows) => count.started >= flows,
                Amount::Bytes(bytes) => count.started_bytes >= bytes.get(),
                Amount::Jobs(_) => true,
            };
            may_be_enough || self.programs[stop.group].next_wake().is_none()
        };
        self.closes_loops
            || self.plan.stop.traffic.as_ref().is_some_and(decides)
            || (self.ends_with_flows() && !self.starts_to_come())
    }

    /// Whether flows may still start.
    pub fn starts_to_come(&self) -> bool {
        let wakes = |program: &Program| program.next_wake().is_some();
        !self.closed && (self.pending > 0 || self.to_begin > 0 || self.programs.iter().any(wakes))
    }

    /// Whether the run ends with its last flow, not at a time.
    pub fn ends_with_flows(&self) -> bool {
        self.plan.stop.at.is_none() || self.closed
    }

    /// How the run has ended, or ends now: because all flows are done and none will come, or because none can go on,
    /// for all are stuck and none of the changes to come makes a link carry something that does not now. A run that
    /// has a time to stop at goes on.
    pub fn verdict(
        &self,
        changes_made: usize,
        carries: impl Fn(LinkId) -> bool,
        is_stuck: impl Fn(u32) -> bool,
    ) -> Option<Verdict> {
        if self.starts_to_come() || !self.ends_with_flows() || self.ended.is_some() {
            return self.ended;
        }
        if self.active.is_empty() {
            return Some(Verdict::Finished);
        }
        let to_come = &self.plan.events[changes_made..];
        let links_may_return = to_come.iter().any(|event| {
            let may_help = match event.change {
                Change::Up => true,
                Change::Loss(probability) => probability < 1.0,
                Change::Down | Change::Rate(_) => false,
            };
            may_help && !carries(event.link)
        });
        let stalled = !links_may_return && self.active.iter().all(is_stuck);
        stalled.then_some(Verdict::Stalled)
    }

    /// The run is over: what traffic asked for, and what became of it.
    pub fn over(self) -> Traffic {
        let (started, finished) = self.started_and_finished();
        Traffic {
            started,
            finished,
            stopped: self.stopped(),
            jobs: self
                .programs
                .iter()
                .map(|program| program.jobs().to_vec())
                .collect(),
            iterations: self
                .programs
                .iter()
                .map(|program| program.iterations().to_vec())
                .collect(),
            flows: self.flows,
        }
    }

    /// Flows asked for and flows finished.
    pub fn started_and_finished(&self) -> (u64, u64) {
        self.counts
            .iter()
            .fold((0, 0), |(started, finished), count| {
                (started + count.started, finished + count.finished)
            })
    }

    /// Flows that were stopped before they had finished.
    pub fn stopped(&self) -> u64 {
        self.counts.iter().map(|count| count.stopped).sum()
    }

    /// How far the run is, from 0 to 1, by what is known of its end.
    pub fn fraction(&self, now: Time) -> f64 {
        let stop = &self.plan.stop;
        let by_time = stop.last_start.or(stop.at).map_or(0.0, |at| {
            let share = now.as_picos() as f64 / at.as_picos().max(1) as f64;
            if stop.last_start.is_some() {
                share.min(DRAINS_AT)
            } else {
                share
            }
        });
        let by_flows = if self.ends_with_flows() && stop.traffic.is_none() {
            let (started, finished) = self.started_and_finished();
            let to_come: u64 = self.programs.iter().filter_map(Program::to_come).sum();
            (finished + self.stopped()) as f64 / (started + to_come).max(1) as f64
        } else {
            0.0
        };
        by_time.max(self.amount_done()).max(by_flows)
    }

    /// The stop condition, if it is one on this group's traffic.
    fn stop_on(&self, group: usize) -> Option<&'p TrafficStop> {
        let stop = self.plan.stop.traffic.as_ref();
        stop.filter(|stop| stop.group == group)
    }

    fn check_amounts_started(&mut self, group: usize) {
        let Some(stop) = self.stop_on(group) else {
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
        let Some(stop) = self.stop_on(group) else {
            return;
        };
        if !stop.drain && self.amount_done() >= 1.0 {
            self.ended = Some(Verdict::Stopped);
        }
        if self.nothing_left(group, stop.drain) {
            self.ended = Some(Verdict::Stopped);
        }
    }

    /// Whether a group starts nothing more, and none of its flows under way will ever count: what is waited for where
    /// `drain` is set, and elsewhere all that can come of a condition that the group falls short of.
    fn nothing_left(&self, group: usize, drain: bool) -> bool {
        let never_counts = |number: u32| {
            let flow = &self.flows[number as usize];
            flow.group as usize != group || (flow.size.is_none() && !drain)
        };
        let count = self.counts[group];
        let under_way = count.started - count.finished - count.stopped;
        let own = |number: &u32| self.flows[*number as usize].group as usize == group;
        self.programs[group].next_wake().is_none()
            && self.active.iter().all(never_counts)
            // Those that were asked for and have not started are to come.
            && under_way == self.active.iter().filter(own).count() as u64
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
}
