//! Regular beats.

use pathweave_units::Time;

/// A regular beat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    interval: Time,
    next: Time,
}

impl Beat {
    /// A beat from one interval after zero on; never, without an interval.
    pub fn every(interval: Option<Time>) -> Beat {
        let interval = interval.unwrap_or(Time::MAX);
        Beat {
            interval,
            next: interval,
        }
    }

    pub fn next(&self) -> Time {
        self.next
    }

    pub fn interval(&self) -> Time {
        self.interval
    }

    /// Whether a beat is due; if so, moves on to the next.
    pub fn is_due(&mut self, now: Time) -> bool {
        let due = now >= self.next;
        if due {
            self.next = self.next.saturating_add(self.interval);
        }
        due
    }
}
