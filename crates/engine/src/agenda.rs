//! What is to happen in a simulation, and when: to traffic, to links, to windows of measurement, and to what is
//! recorded. Packets have a schedule of their own, in their regions; here is how far that may go on.

use crate::flow_table::FlowTable;
use crate::regions::Regions;
use crate::regions::finishes::Finishes;
use crate::regions::into_host::{IntoHost, into_hosts};
use crate::regions::reactions::Reactions;
use crate::schedule::beat::Beat;
use crate::schedule::traffic_agenda::{Act, Entry, TrafficAgenda, Whose};
use crate::workload::Workload;
use pathweave_network::Ports;
use pathweave_scenario::{LinkChange, Plan, Sampling};
use pathweave_units::Time;

/// A run that comes to this time ends with an error: twice as much would not fit the type of times.
pub(crate) const LATEST: Time = Time::from_picos(u64::MAX / 2);

/// All that is to happen.
pub(crate) struct Agenda<'p> {
    plan: &'p Plan,
    /// What is to happen to traffic.
    pub traffic: TrafficAgenda,
    pub reactions: Reactions,
    pub beats: Beats,
    /// Changes of links already made.
    changes_made: usize,
    /// When windows of measurement begin and end, the last first.
    boundaries: Vec<Time>,
    /// What happens to packets is carried out up to here, before whatever else is due then.
    limit: Time,
    finishes: Finishes,
    /// How fast packets can come to each host.
    into_hosts: Box<[IntoHost]>,
}

/// What comes at regular times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beats {
    pub rates: Beat,
    pub windows: Beat,
    pub rtts: Beat,
    pub queues: Beat,
    pub map: Beat,
    /// When something goes from one switch or host to another without a packet.
    pub feedback: Beat,
}

impl Beats {
    /// Of what a plan wants recorded.
    fn new(plan: &Plan) -> Beats {
        let record = &plan.record;
        let sampled = |sampling: Option<Sampling>| match sampling {
            Some(Sampling::Every(interval)) => Some(interval),
            Some(Sampling::OnChange) | None => None,
        };
        Beats {
            rates: Beat::every(record.rates),
            windows: Beat::every(sampled(record.windows)),
            rtts: Beat::every(sampled(record.rtts)),
            queues: Beat::every(record.queues),
            map: Beat::every(record.map),
            feedback: Beat::every(None),
        }
    }

    fn next(&self) -> Time {
        let all = [
            self.rates,
            self.windows,
            self.rtts,
            self.queues,
            self.map,
            self.feedback,
        ];
        all.iter().map(Beat::next).fold(Time::MAX, Time::min)
    }
}

impl<'p> Agenda<'p> {
    /// Of a run that has not begun; nothing is to happen to traffic yet.
    pub fn new(plan: &'p Plan, reactions: Reactions) -> Agenda<'p> {
        let main = (plan.measure.from, plan.measure.to.unwrap_or(Time::MAX));
        let phases = plan.measure.phases.iter();
        let windows = phases.map(|phase| (phase.from, phase.to)).chain([main]);
        let mut boundaries: Vec<Time> = windows.flat_map(|(from, to)| [from, to]).collect();
        boundaries.sort_unstable_by(|a, b| b.cmp(a));
        Agenda {
            plan,
            traffic: TrafficAgenda::default(),
            reactions,
            beats: Beats::new(plan),
            changes_made: 0,
            boundaries,
            limit: Time::ZERO,
            finishes: Finishes::default(),
            into_hosts: into_hosts(plan),
        }
    }

    /// When something is due that is not traffic; switches look for new paths at `detection`.
    pub fn next_control(&self, detection: Time) -> Time {
        let change = self.plan.events.get(self.changes_made);
        let boundary = self.boundaries.last().copied();
        self.beats
            .next()
            .min(change.map_or(Time::MAX, |event| event.at))
            .min(boundary.unwrap_or(Time::MAX))
            .min(detection)
    }

    /// Packets may go on up to `control`, or up to what is to happen to traffic before.
    pub fn set_limit(&mut self, control: Time) {
        self.limit = control.min(self.traffic.limit()).min(LATEST);
    }

    /// What happens to packets is carried out up to here, before whatever else is due then.
    pub fn limit(&self) -> Time {
        self.limit
    }

    /// Something is to happen to traffic; packets do not go on beyond it.
    pub fn expect(&mut self, at: Time, whose: Whose, act: Act) {
        self.traffic.add(at, whose, act);
        self.limit = self.limit.min(self.traffic.limit());
    }

    /// Something may follow from the ends of flows that have been noted; packets do not go on beyond it.
    pub fn heed_noted(&mut self) {
        self.traffic.heed_noted();
        self.limit = self.limit.min(self.traffic.limit());
    }

    /// What is due to traffic now, if packets have come as far as it needs.
    #[inline(always)]
    pub fn take_due(&mut self, now: Time) -> Option<Entry> {
        self.traffic.take_due_within(now, self.limit)
    }

    /// Windows of measurement that begin or end by now do so.
    pub fn pass_boundaries(&mut self, now: Time) {
        while self.boundaries.last().is_some_and(|&next| next <= now) {
            self.boundaries.pop();
        }
    }

    /// Changes of links that are due and not made.
    pub fn changes_due(&self, now: Time) -> &'p [LinkChange] {
        let to_come = &self.plan.events[self.changes_made..];
        let due = to_come.iter().take_while(|event| event.at <= now);
        &to_come[..due.count()]
    }

    /// A change of a link is made.
    pub fn make_change(&mut self) {
        self.changes_made += 1;
    }

    /// Changes of links already made.
    pub fn changes_made(&self) -> usize {
        self.changes_made
    }

    /// Whether neither traffic nor links have anything to come.
    pub fn is_over(&self) -> bool {
        self.traffic.is_empty() && self.changes_made == self.plan.events.len()
    }

    /// This flow may finish at any time, as far as is known.
    pub fn watch(&mut self, flow: u32) {
        self.finishes.watch(flow);
    }

    /// No flow finishes before this time, or before `horizon`, whichever is earlier. Everything before `from` has
    /// happened.
    pub fn earliest_finish<P: Ports>(
        &mut self,
        from: Time,
        horizon: Time,
        workload: &Workload<'_>,
        table: &FlowTable<'_>,
        regions: &Regions<P>,
    ) -> Time {
        let earliest = self.finishes.earliest(from, horizon, |number| {
            let flow = &workload.flows[number as usize];
            let halves = table.halves(number).filter(|_| flow.end.is_none())?;
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
}
