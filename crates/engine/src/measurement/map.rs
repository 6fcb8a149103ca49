//! What every link did, over time: the report draws the fabric from it.

use crate::measurement::capacity::Capacity;
use crate::measurement::measurement_windows::LinkCounters;
use pathweave_units::Time;

/// What one link did in one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRow {
    /// When the interval ended.
    pub at: Time,
    pub link: u32,
    /// What it sent, as a share of what it could have sent; NaN where it was down all the time.
    pub utilisation: f64,
    pub queue_mean: f64,
    pub marks: u64,
    /// Packets lost at the link, in its queue or by a failure.
    pub drops: u64,
}

/// Rows of all links, one for each interval. Links that did nothing in an interval have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkMap {
    /// When the last interval ended.
    since: Time,
    /// Counters then, by link; empty before the first interval ends.
    links: Vec<LinkCounters>,
    /// Bits that each link could have carried until then, times picoseconds a second.
    capacity: Vec<u128>,
    pub rows: Vec<MapRow>,
}

impl LinkMap {
    /// Whether an interval has begun that has not ended.
    pub fn is_behind(&self, now: Time) -> bool {
        now > self.since
    }

    /// An interval has ended, at which the links' counters are these.
    pub fn add(
        &mut self,
        now: Time,
        counters: impl Iterator<Item = LinkCounters>,
        capacities: &[Capacity],
    ) {
        self.links
            .resize_with(capacities.len(), LinkCounters::default);
        self.capacity.resize(capacities.len(), 0);
        let before = self.links.iter_mut().zip(&mut self.capacity);
        for (link, ((mark, capacity), (mark_before, capacity_before))) in
            (0u32..).zip(counters.zip(capacities).zip(before))
        {
            let could = capacity.until(now);
            let statistics = mark.statistics.since(&mark_before.statistics);
            let row = MapRow {
                at: now,
                link,
                utilisation: (mark.sent - mark_before.sent) as f64
                    / (could - *capacity_before) as f64,
                queue_mean: statistics.mean_waiting(now - self.since),
                marks: statistics.marked,
                drops: statistics.lost(),
            };
            let idle =
                row.utilisation == 0.0 && row.queue_mean == 0.0 && row.marks == 0 && row.drops == 0;
            if !idle {
                self.rows.push(row);
            }
            (*mark_before, *capacity_before) = (mark, could);
        }
        self.since = now;
    }
}
