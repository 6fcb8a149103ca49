//! The traffic of a run on real hosts: when flows start and stop, and when the run ends.

use super::fabric::FabricRecord;
use super::hosts::{Hosts, SenderLimits};
use crate::flows::paths::{PathList, SubflowPaths};
use crate::flows::routing::Routing;
use crate::flows::rows::{
    FlowTotals, SenderLimitColumns, SubflowColumns, SubflowRow, TotalsColumns,
};
use crate::measurement::extent::{Course, Samples};
use crate::measurement::recovery::Recoveries;
use crate::measurement::series::Series;
use crate::outcome::{RunError, Verdict};
use crate::record::{Record, Switches};
use crate::results::{self, Output};
use crate::schedule::beat::Beat;
use crate::schedule::traffic_agenda::{Act, TrafficAgenda};
use crate::workload::Workload;
use pathweave_fabric::LinkId;
use pathweave_scenario::{Change, Plan, Sampling};
use pathweave_transport::RttHistogram;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

/// What was on its way when a link began to lose everything arrives within this time: a flow may yet
/// finish by it.
const LAST_ARRIVALS: Time = Time::from_secs(1);

/// A flow that has started.
#[derive(Default)]
pub(super) struct Live {
    pub paths: Vec<SubflowPaths>,
    /// The place of each subflow's path among those that tables name.
    pub named: Vec<u32>,
    /// Of each subflow.
    pub rtts: Vec<RttHistogram>,
    /// What was last recorded of each subflow.
    pub recorded: Vec<Recorded>,
}

/// What was last recorded of a subflow, and what has been seen of it since.
#[derive(Default)]
pub(super) struct Recorded {
    pub window: Option<f64>,
    pub rtt: Option<Time>,
    pub course: Option<Course>,
    pub samples: Samples,
}

/// The traffic of a plan, for hosts that are somebody else's.
///
/// Times that it is told never go back.
pub struct Run<'p> {
    pub(super) plan: &'p Plan,
    pub(super) workload: Workload<'p>,
    pub(super) agenda: TrafficAgenda,
    /// The latest time that it has been told.
    pub(super) now: Time,
    pub(super) routing: Routing,
    pub(super) path_list: PathList,
    pub(super) live: BTreeMap<u32, Live>,
    pub(super) subflow_rows: Vec<SubflowRow>,
    pub(super) sender_limits: Vec<(u32, u32, SenderLimits)>,
    /// By flow, of those that have ended.
    pub(super) totals: Vec<FlowTotals>,
    /// Changes of links already noticed.
    pub(super) changes_made: usize,
    pub(super) is_up: Vec<bool>,
    /// Since when each link has lost everything, if it does.
    pub(super) loses_all_since: Vec<Option<Time>>,
    pub(super) recoveries: Recoveries,
    pub(super) series: Series,
    pub(super) window_beat: Beat,
    pub(super) rtt_beat: Beat,
    pub(super) look_beat: Beat,
    /// The shortest RTT without queues of all subflows so far.
    pub(super) base_rtt: Option<Time>,
}

impl<'p> Run<'p> {
    /// A run of this plan that has not begun. Hosts are looked at once in `looks` for their round-trip
    /// times, and at most so often for anything else that is recorded on change or more often.
    ///
    /// # Errors
    /// As a simulation.
    pub fn new(plan: &'p Plan, looks: Time) -> Result<Run<'p>, RunError> {
        let routing = Routing::new(plan).map_err(|error| RunError::Plan(error.to_string()))?;
        let workload = Workload::new(plan, routing.intact()).map_err(RunError::Plan)?;
        let sampled = |sampling: Option<Sampling>| match sampling {
            Some(Sampling::Every(interval)) => Some(interval.max(looks)),
            Some(Sampling::OnChange) => Some(looks),
            None => None,
        };
        let mut run = Run {
            workload,
            agenda: TrafficAgenda::default(),
            now: Time::ZERO,
            routing,
            path_list: PathList::default(),
            live: BTreeMap::new(),
            subflow_rows: Vec::new(),
            sender_limits: Vec::new(),
            totals: Vec::new(),
            changes_made: 0,
            is_up: (0..plan.fabric.links.len() as u32)
                .map(|link| !plan.fabric.is_down(LinkId(link)))
                .collect(),
            loses_all_since: vec![None; plan.fabric.links.len()],
            recoveries: Recoveries::default(),
            series: Series::default(),
            window_beat: Beat::every(sampled(plan.record.windows)),
            rtt_beat: Beat::every(sampled(plan.record.rtts)),
            look_beat: Beat::every(Some(looks)),
            base_rtt: None,
            plan,
        };
        run.workload.schedule(&mut run.agenda);
        Ok(run)
    }

    /// How it has ended, if it has.
    pub fn ended(&self) -> Option<Verdict> {
        self.workload.ended
    }

    /// When [`Run::advance`] has something to do next.
    pub fn next_due(&self) -> Time {
        self.agenda.next().min(self.next_control())
    }

    /// Flows asked for and flows finished.
    pub fn started_and_finished(&self) -> (u64, u64) {
        self.workload.started_and_finished()
    }

    /// Estimated share of the run that is done, from 0 to 1.
    pub fn fraction(&self, now: Time) -> f64 {
        self.workload.fraction(now).clamp(0.0, 1.0)
    }

    /// The shortest RTT without queues of all subflows so far; `None` before the first flow.
    pub fn base_rtt(&self) -> Option<Time> {
        self.base_rtt
    }

    /// Does what is due up to now.
    pub fn advance(&mut self, now: Time, hosts: &mut impl Hosts) {
        while self.workload.ended.is_none() {
            let control = self.next_control();
            let timer = self.agenda.next();
            let due = control.min(timer);
            if due > now {
                break;
            }
            if control <= timer {
                self.now = self.now.max(control);
                self.control(control, now, hosts);
            } else {
                self.now = self.now.max(due);
                self.follow_agenda(hosts);
            }
        }
        if self.workload.ended.is_none() {
            self.now = self.now.max(now);
        }
    }

    /// The last byte that a flow sent has been delivered.
    pub fn finished(&mut self, flow: u32, delivered: Bytes, now: Time, hosts: &mut impl Hosts) {
        self.advance(now, hosts);
        if self.workload.ended.is_some() || !self.workload.active.contains(flow) {
            return;
        }
        self.recoveries.on_delivered(flow, delivered, now);
        self.collect(flow, hosts);
        hosts.close(flow);
        self.workload.end(flow, delivered, self.now);
        self.workload.hear_end(flow, self.now, &mut self.agenda);
        self.end_if_nothing_can_happen();
    }

    /// A flow has got so far; only what recovers from failures asks for it.
    pub fn delivered(&mut self, flow: u32, delivered: Bytes, now: Time) {
        if self.recoveries.any_pending() {
            self.recoveries.on_delivered(flow, delivered, now);
        }
    }

    /// Ends the run and builds its tables. `now` is when it ended.
    ///
    /// # Errors
    /// When it has not ended.
    pub fn finish(
        mut self,
        now: Time,
        record: FabricRecord,
        hosts: &mut impl Hosts,
    ) -> Result<Output, RunError> {
        let Some(verdict) = self.workload.ended else {
            return Err(RunError::Cancelled);
        };
        let ended = self.plan.stop.at.map_or(now, |at| at.min(now));
        for flow in self.workload.active.iter().collect::<Vec<u32>>() {
            let delivered = hosts.look(flow).delivered;
            let stalled = !self.has_live_path(flow);
            let state = &mut self.workload.flows[flow as usize];
            (state.delivered, state.stalled) = (delivered, stalled);
            self.collect(flow, hosts);
            hosts.close(flow);
        }
        let subflows = SubflowColumns::sorted(std::mem::take(&mut self.subflow_rows));
        let sender_limits = limits_in_order(std::mem::take(&mut self.sender_limits));
        let totals = TotalsColumns::of(&self.totals, self.workload.flows.len());
        self.series.queues.clone_from(&record.queues);
        self.series.map.clone_from(&record.map);
        self.series.rates = self.rates(&record.rates, &record.rate_ends);
        let mut windows = record.windows.clone();
        for window in &mut windows {
            window.flows = self.flow_shares(window);
        }
        Ok(results::output(Record {
            plan: self.plan,
            verdict,
            ended,
            traffic: self.workload.over(),
            subflows,
            totals,
            waits: None,
            sender_limits,
            paths: self.path_list,
            windows,
            series: Some(self.series),
            recoveries: self.recoveries,
            packet_hops: record.packet_hops,
            links: record.totals,
            switches: Switches {
                buffers: record.buffers,
                ..Switches::default()
            },
            captures: Vec::new(),
            capture_notes: Vec::new(),
        }))
    }

    fn next_control(&self) -> Time {
        let change = self.plan.events.get(self.changes_made);
        let beats = [&self.window_beat, &self.rtt_beat, &self.look_beat];
        beats
            .map(Beat::next)
            .into_iter()
            .fold(change.map_or(Time::MAX, |event| event.at), Time::min)
            .min(self.routing.next_detection())
    }

    /// What was due at `due` is done, later than that.
    fn control(&mut self, due: Time, now: Time, hosts: &mut impl Hosts) {
        self.note_failures(due, hosts);
        while let Some(event) = self.plan.events.get(self.changes_made)
            && event.at <= due
        {
            self.changes_made += 1;
            let link = event.link.0 as usize;
            let up = match event.change {
                Change::Up => true,
                Change::Down => false,
                Change::Loss(probability) => {
                    let since = self.loses_all_since[link].unwrap_or(due);
                    self.loses_all_since[link] = (probability >= 1.0).then_some(since);
                    continue;
                }
                Change::Rate(_) => continue,
            };
            self.is_up[link] = up;
            self.routing.on_change(event.link, due);
        }
        if self.routing.next_detection() <= due {
            self.reroute(due, hosts);
        }
        self.sample(now, hosts);
        self.end_if_nothing_can_happen();
    }

    /// Carries out what the agenda has for now.
    fn follow_agenda(&mut self, hosts: &mut impl Hosts) {
        let now = self.now;
        let Some(entry) = self.agenda.take_due(now) else {
            return;
        };
        match entry.act {
            Act::Close => {
                self.workload.close();
                self.end_if_nothing_can_happen();
            }
            Act::End => self.workload.ended = Some(Verdict::Stopped),
            Act::StartFlow(flow) => self.start(flow, now, hosts),
            Act::StopFlow(flow) => self.stop(flow, hosts),
            Act::Begin => {
                let group = entry.whose.group();
                self.workload.begin(group, now, &mut self.agenda);
                self.end_if_nothing_can_happen();
            }
            Act::Stop => {
                for flow in self.workload.stop_group(entry.whose.group()) {
                    self.stop(flow, hosts);
                }
                self.end_if_nothing_can_happen();
            }
            Act::Wake => {
                let group = entry.whose.group();
                self.workload.wake(group, now, &mut self.agenda);
            }
            Act::Look | Act::Finished(_) | Act::HearStop(..) | Act::OpenPath(_) => {
                unreachable!("hosts say themselves what has become of a flow")
            }
        }
    }

    /// Whether a link is up and has not lost everything for some time.
    pub(super) fn carries(&self, LinkId(link): LinkId) -> bool {
        let now = self.now;
        let is_lost = self.loses_all_since[link as usize]
            .is_some_and(|since| now >= since.saturating_add(LAST_ARRIVALS));
        self.is_up[link as usize] && !is_lost
    }

    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self) {
        let carries = |link| self.carries(link);
        let stuck = |flow| !self.has_live_path(flow);
        self.workload.ended = self.workload.verdict(self.changes_made, carries, stuck);
    }
}

/// What senders were limited by, by flow and subflow; `None` if no host tells.
fn limits_in_order(mut rows: Vec<(u32, u32, SenderLimits)>) -> Option<SenderLimitColumns> {
    rows.sort_by_key(|&(flow, subflow, _)| (flow, subflow));
    let mut columns = SenderLimitColumns::default();
    for (flow, subflow, limits) in &rows {
        let SenderLimits {
            busy,
            receive_window,
            send_buffer,
        } = *limits;
        columns.push(*flow, *subflow, busy, receive_window, send_buffer);
    }
    (!rows.is_empty()).then_some(columns)
}
