//! The least, mean and greatest value of something between two samples of it.

use pathweave_network::QueueHistogram;
use pathweave_units::Time;

/// What a value did over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub least: f64,
    pub mean: f64,
    pub most: f64,
}

impl Extent {
    /// Of a value that stayed the same.
    pub fn constant(value: f64) -> Extent {
        Extent {
            least: value,
            mean: value,
            most: value,
        }
    }
}

/// A value that stays until it changes; its mean is over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    value: f64,
    least: f64,
    most: f64,
    /// Sum of values times how long they stayed, in picoseconds.
    integral: f64,
    begun: Time,
    /// When the value was last looked at.
    seen: Time,
}

impl Course {
    /// From now on.
    pub fn begin(now: Time, value: f64) -> Course {
        Course {
            value,
            least: value,
            most: value,
            integral: 0.0,
            begun: now,
            seen: now,
        }
    }

    /// The value from now on.
    pub fn note(&mut self, now: Time, value: f64) {
        self.integral += self.value * (now - self.seen).as_picos() as f64;
        self.seen = now;
        self.value = value;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// The interval ends with this value, and the next begins.
    pub fn end(&mut self, now: Time, value: f64) -> Extent {
        self.note(now, value);
        let lasted = (now - self.begun).as_picos() as f64;
        let mean = self.integral / lasted;
        let extent = Extent {
            least: self.least,
            mean: if lasted > 0.0 {
                mean.clamp(self.least, self.most)
            } else {
                value
            },
            most: self.most,
        };
        *self = Course::begin(now, value);
        extent
    }
}

/// Values that come one by one; their mean is over their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Samples {
    least: f64,
    most: f64,
    sum: f64,
    count: u64,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples {
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            sum: 0.0,
            count: 0,
        }
    }
}

impl Samples {
    pub fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.sum += value;
        self.count += 1;
    }

    /// What came since the last call; not a number where nothing did.
    pub fn take(&mut self) -> Extent {
        let taken = std::mem::take(self);
        if taken.count == 0 {
            return Extent::constant(f64::NAN);
        }
        let mean = taken.sum / taken.count as f64;
        Extent {
            least: taken.least,
            mean: mean.clamp(taken.least, taken.most),
            most: taken.most,
        }
    }
}

/// A port's queue: what arriving packets find gives the extremes, and waiting times the mean.
///
/// The queue is shortest just before an arrival, which finds it so. After one it is longer by the packet that
/// came, which the next arrival finds if no other leaves before: the greatest is at most one packet too small.
/// Ports count what arrivals find in any case; in large fabrics, only where queues are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueCourse {
    /// What arrivals had found at the last look.
    counts: Vec<u32>,
    found: Option<(u32, u32)>,
    waited: u128,
    begun: Time,
}

impl QueueCourse {
    /// Notes what arrivals have found since the last look.
    pub fn look(&mut self, histogram: &QueueHistogram) {
        if let Some((least, most)) = histogram.found_since(&mut self.counts) {
            let (before_least, before_most) = self.found.unwrap_or((least, most));
            self.found = Some((least.min(before_least), most.max(before_most)));
        }
    }

    /// The counts of arrivals begin at zero: looks at them before.
    pub fn before_clearing(&mut self, histogram: &QueueHistogram) {
        self.look(histogram);
        self.counts.clear();
    }

    /// The interval ends with this many packets waiting, and the next begins. `waited` is the sum of all
    /// waiting times up to now in picoseconds.
    pub fn end(
        &mut self,
        now: Time,
        waiting: u32,
        waited: u128,
        histogram: &QueueHistogram,
    ) -> Extent {
        self.look(histogram);
        let (least, most) = self.found.take().unwrap_or((waiting, waiting));
        let lasted = (now - self.begun).as_picos() as f64;
        let mean = if lasted > 0.0 {
            (waited - self.waited) as f64 / lasted
        } else {
            f64::from(waiting)
        };
        self.waited = waited;
        self.begun = now;
        let least = f64::from(least.min(waiting));
        Extent {
            least: least.min(mean),
            mean,
            most: f64::from(most.max(waiting)).max(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_micros(micros)
    }

    #[test]
    fn a_course_is_weighted_by_time() {
        let mut course = Course::begin(at(10), 4.0);
        course.note(at(20), 10.0);
        course.note(at(25), 1.0);
        // 10 us of 4, 5 of 10, 5 of 1.
        let extent = course.end(at(30), 2.0);
        assert_eq!((extent.least, extent.mean, extent.most), (1.0, 4.75, 10.0));
        // The next interval begins with the value at the end of this one.
        let next = course.end(at(40), 2.0);
        assert_eq!(next, Extent::constant(2.0));
        assert_eq!(course.end(at(40), 7.0).mean, 7.0);
    }

    #[test]
    fn samples_are_counted_alike() {
        let mut samples = Samples::default();
        [3.0, 1.0, 5.0]
            .into_iter()
            .for_each(|value| samples.add(value));
        let extent = samples.take();
        assert_eq!((extent.least, extent.mean, extent.most), (1.0, 3.0, 5.0));
        assert!(samples.take().mean.is_nan());
    }

    #[test]
    fn a_queue_is_what_arrivals_find() {
        let mut histogram = QueueHistogram::new(100);
        let mut course = QueueCourse::default();
        [3, 9, 4].into_iter().for_each(|found| histogram.add(found));
        // 5 packets on average over 10 us; 2 wait at the end.
        let extent = course.end(at(10), 2, 50_000_000, &histogram);
        assert_eq!((extent.least, extent.mean, extent.most), (2.0, 5.0, 9.0));
        // What was found before does not count again, and clearing loses nothing.
        histogram.add(7);
        course.before_clearing(&histogram);
        histogram.clear();
        histogram.add(3);
        let extent = course.end(at(20), 4, 90_000_000, &histogram);
        assert_eq!((extent.least, extent.mean, extent.most), (3.0, 4.0, 7.0));
        let quiet = course.end(at(30), 0, 90_000_000, &histogram);
        assert_eq!(quiet, Extent::constant(0.0));
    }
}
