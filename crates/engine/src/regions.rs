//! All regions of a run, and what goes from one to another.

use crate::region::{Region, RegionId, Report};
use pathweave_network::{Network, Ports};
use pathweave_rounds::Lead;
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
    /// Events of the last window.
    last_handled: u64,
    /// Room for what threads have to do.
    errands: Vec<Errand<P>>,
}

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
        lookahead: Time,
    ) -> Regions<P> {
        Regions {
            all: all.into_iter().map(Box::new).collect(),
            of_host,
            of_link,
            lookahead,
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
    pub fn reports_of(&mut self, number: usize) -> Option<&mut Vec<Report>> {
        self.all.get_mut(number).map(|region| &mut region.reports)
    }

    /// What a region has told has been heard: it has the memory back, unless it has begun with other.
    pub fn take_back(&mut self, number: usize, heard: Vec<Report>) {
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
    pub fn network_of(&self, link: u32) -> &Network<crate::region::Carried, P> {
        let (region, _) = self.of_link[link as usize];
        &self[region].network
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
        !self.is_one() || self.first().scheduler.window().is_some()
    }

    /// Whether there is only one.
    pub fn is_one(&self) -> bool {
        self.lookahead == Time::MAX
    }

    /// When a window ends in which regions do not hear of each other, or in which nodes have their turns.
    pub fn end_of_window(&self, from: Time) -> Time {
        let by_node = self.first().scheduler.window().unwrap_or(Time::MAX);
        from.saturating_add(by_node.min(self.lookahead))
    }

    /// Handles what happens to packets before a time in the only region, node by node: it is not beyond the window, and
    /// no later than what is reported is due. `most` counts down to the next look at the watch.
    pub fn run_by_node(&mut self, from: Time, end: Time, most: u32) -> Progressed {
        let handled = self.first_mut().run_by_node(from, end);
        assert_eq!(
            self.first().handled_before(),
            end,
            "what is reported is not due within a window"
        );
        Progressed {
            handled_before: end,
            left: u64::from(most).saturating_sub(handled) as u32,
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
        let handled = match lead {
            Some(lead) if self.last_handled >= WORTH_SHARING => self.share(from, end, lead),
            _ => self
                .iter_mut()
                .map(|region| region.run_window(from, end))
                .sum(),
        };
        self.exchange();
        self.last_handled = handled;
        Progressed {
            handled_before: end,
            left: u64::from(most).saturating_sub(handled) as u32,
        }
    }

    /// Threads run the window side by side. Each has the same regions every time.
    fn share(&mut self, from: Time, end: Time, lead: &mut Lead<'_, Errand<P>>) -> u64 {
        let threads = lead.followers() + 1;
        let mut errands = std::mem::take(&mut self.errands);
        errands.resize_with(threads, Errand::default);
        let count = self.all.len();
        let mut regions = self.all.drain(..);
        for (thread, errand) in errands.iter_mut().enumerate() {
            (errand.from, errand.end) = (from, end);
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
        if due <= from.saturating_add(self.lookahead) {
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

/// What a thread has to do in a window.
pub(crate) struct Errand<P: Ports> {
    regions: Vec<Box<Region<P>>>,
    from: Time,
    end: Time,
    handled: u64,
}

impl<P: Ports> Default for Errand<P> {
    fn default() -> Errand<P> {
        Errand {
            regions: Vec::new(),
            from: Time::ZERO,
            end: Time::ZERO,
            handled: 0,
        }
    }
}

impl<P: Ports> Errand<P> {
    /// Runs the window in these regions.
    pub fn carry_out(&mut self) {
        let regions = self.regions.iter_mut();
        self.handled = regions
            .map(|region| region.run_window(self.from, self.end))
            .sum();
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
