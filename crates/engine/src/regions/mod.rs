//! All regions of a run, and what goes from one to another.

pub(crate) mod division;
pub(crate) mod finishes;
pub(crate) mod into_host;
pub(crate) mod reactions;
pub(crate) mod region;
pub(crate) mod steps;

use crate::regions::region::{Notification, Region, RegionId};
use crate::regions::steps::{Sides, Step, Steps};
use pathweave_lockstep::Lead;
use pathweave_network::{Network, Ports};
use pathweave_units::Time;
use std::ops::{Index, IndexMut};

/// The regions that a fabric is divided into, and where its hosts and links are.
pub(crate) struct Regions<P: Ports> {
    /// In boxes, so that they can be lent to threads.
    all: Vec<Box<Region<P>>>,
    of_host: Box<[RegionId]>,
    /// Where links begin, and where they end.
    of_link: Box<[(RegionId, RegionId)]>,
    /// No packet takes less from one region to another; `Time::MAX` where there is only one.
    lookahead: Time,
    /// How nodes have their turns, if they have.
    turns: Option<TurnsOfNodes>,
    /// How far nodes have come while hosts go first.
    lead: Option<HostsLead>,
    /// Events of the last window.
    last_handled: u64,
    /// Room for what threads have to do.
    errands: Vec<Errand<P>>,
}

/// How far nodes have been handled while hosts go first.
#[derive(Clone, Copy, Debug)]
struct HostsLead {
    /// When all nodes will have come to the same time.
    gather: Time,
    /// Everything has happened before this time at switches on the hosts' side.
    own_switches: Time,
    /// Everything has happened before this time at the nodes of the other side.
    other_side: Time,
}

/// How nodes have their turns.
#[derive(Clone, Debug)]
pub(crate) struct TurnsOfNodes {
    pub sides: Sides,
    /// No link delays packets for less.
    pub delay: Time,
    /// How long after a subflow has failed the run acts on it, at the earliest.
    pub notice: Time,
    /// The side of the hosts, if they can go first ([`Regions::run_hosts_first`]).
    pub first_side: Option<usize>,
}

/// Nodes have their turns for as long as it takes packets to pass this many links, before it is looked what else is to be
/// done.
const MOST_DELAYS: u64 = 32;
/// Where hosts can go first, nodes of both sides have their turns together if they can have them for this many delays:
/// that costs less.
const FEWEST_DELAYS: u64 = 4;
/// A time that is shorter than this part of a link's delay is handled in the order of all nodes.
const SMALLEST_PART: u64 = 16;

impl<P: Ports> Index<RegionId> for Regions<P> {
    type Output = Region<P>;
    fn index(&self, RegionId(region): RegionId) -> &Region<P> {
        &self.all[usize::from(region)]
    }
}

impl<P: Ports> IndexMut<RegionId> for Regions<P> {
    fn index_mut(&mut self, RegionId(region): RegionId) -> &mut Region<P> {
        &mut self.all[usize::from(region)]
    }
}

impl<P: Ports> Regions<P> {
    pub fn new(
        all: Vec<Region<P>>,
        of_host: Box<[RegionId]>,
        of_link: Box<[(RegionId, RegionId)]>,
        (lookahead, turns): (Time, Option<TurnsOfNodes>),
    ) -> Regions<P> {
        Regions {
            all: all.into_iter().map(Box::new).collect(),
            of_host,
            of_link,
            lookahead,
            turns,
            lead: None,
            last_handled: 0,
            errands: Vec::new(),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Region<P>> {
        self.all.iter().map(|region| &**region)
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Region<P>> {
        self.all.iter_mut().map(|region| &mut **region)
    }

    /// What a region has to tell the run; `None` if there is none of this number.
    pub fn reports_of(&mut self, number: usize) -> Option<&mut Vec<Notification>> {
        self.all.get_mut(number).map(|region| &mut region.reports)
    }

    /// What a region has told has been heard: it has the memory back, unless it has begun with other.
    pub fn take_back(&mut self, number: usize, heard: Vec<Notification>) {
        let reports = &mut self.all[number].reports;
        if reports.is_empty() {
            *reports = heard;
        }
    }

    /// The region of a host.
    pub fn of_host(&self, host: u32) -> RegionId {
        self.of_host[host as usize]
    }

    /// The region where a link begins.
    pub fn of_link_mut(&mut self, link: u32) -> &mut Region<P> {
        let (region, _) = self.of_link[link as usize];
        &mut self[region]
    }

    /// The network where a link begins.
    pub fn network_of(&self, link: u32) -> &Network<crate::regions::region::Carried, P> {
        let (region, _) = self.of_link[link as usize];
        &self[region].network
    }

    /// The same, to be changed.
    pub fn network_of_mut(
        &mut self,
        link: u32,
    ) -> &mut Network<crate::regions::region::Carried, P> {
        let (region, _) = self.of_link[link as usize];
        &mut self[region].network
    }

    /// The only region, where nothing may be divided.
    pub fn first(&self) -> &Region<P> {
        &self.all[0]
    }

    /// The only region, to be changed.
    pub fn first_mut(&mut self) -> &mut Region<P> {
        &mut self.all[0]
    }

    /// Number of links.
    pub fn links(&self) -> u32 {
        self.of_link.len() as u32
    }

    /// Whether a link is up and does not lose everything.
    pub fn carries(&self, link: u32) -> bool {
        self.network_of(link).carries(link)
    }

    /// A link goes down: what was on it is lost.
    pub fn fail(&mut self, link: u32, now: Time) {
        let (begin, end) = self.of_link[link as usize];
        let mut lost = Vec::new();
        if begin != end {
            let Region {
                network, scheduler, ..
            } = &mut self[end];
            network.lose_crossings(link, now, scheduler, |packet| lost.push(packet));
        }
        let Region {
            network, scheduler, ..
        } = &mut self[begin];
        network.fail(link, now, scheduler, |packet| lost.push(packet));
        for packet in lost {
            self[packet.region()].on_lost(&packet.0);
        }
    }

    /// Nothing is due before this time; `Time::MAX` for nothing at all.
    pub fn nothing_before(&self) -> Time {
        let due = self.iter().map(Region::nothing_before);
        due.min().unwrap_or(Time::MAX)
    }

    /// Everything before this time has happened, in all regions.
    pub fn advance(&mut self, to: Time) {
        for region in self.iter_mut() {
            region.scheduler.advance(to);
        }
    }

    /// The time that the furthest region has come to.
    pub fn now(&self) -> Time {
        let nows = self.iter().map(|region| region.scheduler.now());
        nows.max().unwrap_or(Time::ZERO)
    }

    /// Deals with what the hosts' ends have said when something was done to them.
    pub fn on_notices(&mut self, now: Time) {
        for region in self.iter_mut() {
            region.on_notices(now);
        }
    }

    /// Whether windows are handled in another order than that of all events.
    pub fn has_windows(&self) -> bool {
        !self.is_one() || self.turns.is_some()
    }

    /// Whether there is only one.
    pub fn is_one(&self) -> bool {
        self.lookahead == Time::MAX
    }

    /// When a window ends in which regions do not hear of each other, or in which the only one has about as much to do.
    pub fn end_of_window(&self, from: Time) -> Time {
        let delay = self.turns.as_ref().map_or(Time::MAX, |turns| turns.delay);
        from.saturating_add(delay.min(self.lookahead))
    }

    /// Up to when nodes may have their turns in steps, if they have any; `from` otherwise.
    pub fn end_of_turns(&self, from: Time) -> Time {
        let turns = self.turns.as_ref();
        turns.map_or(from, |turns| from.saturating_add(turns.delay * MOST_DELAYS))
    }

    /// Whether nodes have their turns between two times. If that is a small part of a step, all inputs would be looked
    /// through for it too often.
    pub fn have_turns(&self, from: Time, end: Time) -> bool {
        let turns = self.turns.as_ref();
        turns.is_some_and(|turns| end - from >= turns.delay / SMALLEST_PART)
    }

    /// Whether nodes have their turns between two times for so long that hosts need not go first.
    pub fn have_long_turns(&self, from: Time, end: Time) -> bool {
        let turns = self.turns.as_ref();
        turns.is_some_and(|turns| end - from >= turns.delay * FEWEST_DELAYS)
    }

    /// Handles what happens to packets before a time in all regions, node by node, or until something is due earlier that
    /// is reported. No flow finishes so early that it would be due. `most` counts down to the next look at the watch.
    pub fn run_by_node(
        &mut self,
        from: Time,
        end: Time,
        most: u32,
        lead: &mut Option<Lead<'_, Errand<P>>>,
    ) -> Progressed {
        let Some(turns) = &self.turns else {
            unreachable!("whoever calls has asked for turns of nodes")
        };
        let mut steps = Steps::new(&turns.sides, from, turns.delay);
        let notice = turns.notice;
        let together = self.first().steps_together();
        for region in self.iter_mut() {
            region.begin_steps(from, end);
        }
        let mut handled = 0;
        let end = loop {
            let limits = self.iter().map(Region::handled_before);
            let end = limits.min().unwrap_or(end);
            let timers = self.iter().map(Region::no_retransmission_before);
            let no_failure_before = timers.min().unwrap_or(Time::MAX);
            let Some(step) = steps.next(end, no_failure_before, notice) else {
                break end;
            };
            steps.take(&step);
            // What the first step brings about is not heard of before the second one.
            let unheard = no_failure_before.max(step.from).saturating_add(notice);
            let other = steps.next(end.min(unheard), no_failure_before, notice);
            if together && let Some(other) = other.filter(|other| other.side != step.side) {
                steps.take(&other);
                handled += self.first_mut().take_steps_together(&step, &other);
            } else {
                handled += self.carry_out(Task::Step(step), lead);
            }
        };
        Progressed {
            handled_before: end,
            left: u64::from(most).saturating_sub(handled) as u32,
        }
    }

    /// Whether hosts can go first ([`Regions::run_hosts_first`]).
    pub fn hosts_can_go_first(&self) -> bool {
        let turns = self.turns.as_ref();
        turns.is_some_and(|turns| turns.first_side.is_some())
    }

    /// Whether hosts go first now ([`Regions::run_hosts_first`]).
    pub fn hosts_go_first(&self) -> bool {
        self.lead.is_some()
    }

    /// From now on hosts go first, up to `gather`. Everything before `from` has happened.
    pub fn let_hosts_go_first(&mut self, from: Time, gather: Time) {
        self.lead = Some(HostsLead {
            gather,
            own_switches: from,
            other_side: from,
        });
        let region = self.first_mut();
        let last = region.scheduler.now();
        region.let_hosts_go_first(last);
    }

    /// Handles what happens at hosts before a time, in the order of its times, or until something is due earlier that is
    /// reported. `from` is how far hosts have come. `most` counts down to the next look at the watch.
    ///
    /// Once hosts have come as far as they can, switches have their turns. Until all gather, nodes have come to different
    /// times: what traffic does meanwhile changes hosts only, and what these send reaches a switch a link's delay later.
    pub fn run_hosts_first(&mut self, from: Time, limit: Time, most: u32) -> Progressed {
        let (Some(lead), Some(turns)) = (self.lead, &self.turns) else {
            unreachable!("whoever calls has let hosts go first")
        };
        let (delay, Some(of_hosts)) = (turns.delay, turns.first_side) else {
            unreachable!("whoever lets hosts go first has asked whether they can")
        };
        let region = &mut *self.all[0];
        let gather = lead.gather;
        // What arrives at hosts before has left the other side.
        let end = lead.other_side.saturating_add(delay).min(gather);
        let left = region.run(limit.min(end), most);
        let progressed = Progressed {
            handled_before: left.map_or(from, |_| region.handled_before()),
            left: left.unwrap_or(0),
        };
        if left.is_none() || progressed.handled_before < end {
            return progressed;
        }
        let own = Step {
            side: of_hosts,
            from: lead.own_switches,
            before: end,
            elsewhere: lead.other_side,
        };
        let other = Step {
            side: 1 - of_hosts,
            from: lead.other_side,
            before: end.saturating_add(delay).min(gather),
            elsewhere: end,
        };
        let last = region.scheduler.now();
        let handled = region.let_switches_follow(&own, &other);
        self.lead = (end < gather).then(|| {
            let mut idle_until = Time::ZERO;
            if region.reports.is_empty() {
                // Traffic does something one picosecond before `limit` at the earliest. What a host sends then has left it at
                // `limit` or later.
                idle_until = region.nothing_before().min(limit).min(gather);
            }
            region.let_hosts_go_first(last);
            HostsLead {
                gather,
                own_switches: end.max(idle_until),
                other_side: other.before.max(idle_until),
            }
        });
        Progressed {
            left: u64::from(progressed.left).saturating_sub(handled) as u32,
            ..progressed
        }
    }

    /// Handles what happens to packets before a time in the only region, but no more events than this. What is
    /// reported may be due earlier.
    pub fn run_alone(&mut self, from: Time, limit: Time, most: u32) -> Progressed {
        let region = self.first_mut();
        let left = region.run(limit, most);
        Progressed {
            handled_before: left.map_or(from, |_| region.handled_before()),
            left: left.unwrap_or(0),
        }
    }

    /// Handles what happens to packets before a time, in all regions: one that is no later than the lookahead after
    /// everything has been handled, and than what is reported is due. `most` counts down to the next look at the
    /// watch.
    pub fn run_window(
        &mut self,
        from: Time,
        end: Time,
        most: u32,
        lead: &mut Option<Lead<'_, Errand<P>>>,
    ) -> Progressed {
        debug_assert!(end <= from.saturating_add(self.lookahead));
        let handled = self.carry_out(Task::Window(end), lead);
        Progressed {
            handled_before: end,
            left: u64::from(most).saturating_sub(handled) as u32,
        }
    }

    /// All regions do something, on several threads if it is worth it. Returns the number of events.
    fn carry_out(&mut self, task: Task, lead: &mut Option<Lead<'_, Errand<P>>>) -> u64 {
        let handled = match lead {
            Some(lead) if self.last_handled >= WORTH_SHARING => self.share(task, lead),
            _ => self.iter_mut().map(|region| task.carry_out(region)).sum(),
        };
        if !self.is_one() {
            self.exchange();
        }
        self.last_handled = handled;
        handled
    }

    /// Threads do it side by side. Each has the same regions every time.
    fn share(&mut self, task: Task, lead: &mut Lead<'_, Errand<P>>) -> u64 {
        let threads = lead.followers() + 1;
        let mut errands = std::mem::take(&mut self.errands);
        errands.resize_with(threads, Errand::default);
        let count = self.all.len();
        let mut regions = self.all.drain(..);
        for (thread, errand) in errands.iter_mut().enumerate() {
            errand.task = task;
            let share = count * (thread + 1) / threads - count * thread / threads;
            errand.regions.extend(regions.by_ref().take(share));
        }
        drop(regions);
        let mut own = errands.remove(0);
        lead.round(&mut errands, || own.carry_out());
        errands.insert(0, own);
        let mut handled = 0;
        for errand in &mut errands {
            self.all.append(&mut errand.regions);
            handled += errand.handled;
        }
        self.errands = errands;
        handled
    }

    /// The first time from `from` on at which anything may happen, `limit` at the latest. All that has been sent to
    /// other regions before is there.
    pub fn skip(&mut self, from: Time, limit: Time) -> Time {
        if self.last_handled > 0 {
            return from; // there is probably more
        }
        self.take_in();
        let due = self.nothing_before().min(limit);
        if due <= from {
            return from;
        }
        // Nothing leaves meanwhile, but what has left arrives.
        for region in self.iter_mut() {
            region.hand_over(due);
        }
        due
    }

    /// What has left one region for another comes there.
    fn exchange(&mut self) {
        for from in 0..self.all.len() {
            for to in 0..self.all.len() {
                let mut leaving = std::mem::take(&mut self.all[from].leaving[to]);
                if leaving.is_empty() {
                    self.all[from].leaving[to] = leaving;
                    continue;
                }
                let coming = &mut self.all[to].coming[from];
                if coming.is_empty() {
                    let room = std::mem::replace(coming, leaving);
                    self.all[from].leaving[to] = room;
                } else {
                    coming.append(&mut leaving);
                    self.all[from].leaving[to] = leaving;
                }
            }
        }
    }

    /// All regions take in what has come.
    pub fn take_in(&mut self) {
        for region in self.iter_mut() {
            region.take_in();
        }
    }
}

/// Events of a window that take longer than telling other threads of it.
const WORTH_SHARING: u64 = 256;

/// What all regions do.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// They handle what happens before a time.
    Window(Time),
    /// They take a step of one side.
    Step(Step),
}

impl Task {
    /// Returns the number of events.
    fn carry_out<P: Ports>(&self, region: &mut Region<P>) -> u64 {
        match self {
            Task::Window(end) => region.run_window(*end),
            Task::Step(step) => region.take_step(step),
        }
    }
}

/// What a thread has to do.
pub(crate) struct Errand<P: Ports> {
    regions: Vec<Box<Region<P>>>,
    task: Task,
    handled: u64,
}

impl<P: Ports> Default for Errand<P> {
    fn default() -> Errand<P> {
        Errand {
            regions: Vec::new(),
            task: Task::Window(Time::ZERO),
            handled: 0,
        }
    }
}

impl<P: Ports> Errand<P> {
    /// Does it in these regions.
    pub fn carry_out(&mut self) {
        let regions = self.regions.iter_mut();
        self.handled = regions.map(|region| self.task.carry_out(region)).sum();
    }
}

/// How far a run of all regions has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progressed {
    /// Everything before has been handled.
    pub handled_before: Time,
    /// What is left of the events that were to be handled; zero where it was time to look at the watch.
    pub left: u32,
}
