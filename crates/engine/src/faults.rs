//! What controllers that are not Pathweave's own report when they cannot go on.

use pathweave_control::{Fault, Faults};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Of all that the controllers of a run report, what happened first in simulated time.
#[derive(Debug, Default)]
pub(crate) struct FirstFault {
    first: Mutex<Option<Fault>>,
    any: AtomicBool,
}

impl FirstFault {
    /// What has been reported, if anything has.
    pub fn get(&self) -> Option<Fault> {
        if !self.any() {
            return None;
        }
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.clone()
    }
}

impl Faults for FirstFault {
    fn report(&self, fault: Fault) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = |known: &Fault| (fault.at, fault.flow) < (known.at, known.flow);
        if first.as_ref().is_none_or(is_first) {
            *first = Some(fault);
        }
        self.any.store(true, Relaxed);
    }

    fn any(&self) -> bool {
        self.any.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::FirstFault;
    use pathweave_control::{Fault, Faults};
    use pathweave_units::Time;

    #[test]
    fn the_first_in_simulated_time_is_kept() {
        let faults = FirstFault::default();
        assert!(!faults.any() && faults.get().is_none());
        let fault = |micros, flow| Fault {
            flow,
            at: Time::from_micros(micros),
            message: format!("{flow} at {micros}"),
        };
        for (micros, flow) in [(30, 1), (20, 5), (20, 4), (25, 0)] {
            faults.report(fault(micros, flow));
            assert!(faults.any());
        }
        assert_eq!(faults.get(), Some(fault(20, 4)));
    }
}
