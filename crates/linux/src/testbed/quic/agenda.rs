//! When flows are to be called though nothing has come for them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The next moment of each flow that has one, in the order of time.
#[derive(Debug, Default)]
pub struct Agenda {
    by_time: BTreeSet<(Instant, u32)>,
    by_flow: BTreeMap<u32, Instant>,
}

impl Agenda {
    /// A flow is to be called at this moment, and not at the one before.
    pub fn set(&mut self, flow: u32, due: Option<Instant>) {
        let before = match due {
            Some(due) => self.by_flow.insert(flow, due),
            None => self.by_flow.remove(&flow),
        };
        if before == due {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, flow));
        }
        if let Some(due) = due {
            self.by_time.insert((due, flow));
        }
    }

    /// The first moment.
    pub fn first(&self) -> Option<Instant> {
        self.by_time.first().map(|&(due, _)| due)
    }

    /// A flow whose moment has come, once.
    pub fn take_due(&mut self, now: Instant) -> Option<u32> {
        let &(due, flow) = self.by_time.first()?;
        if due > now {
            return None;
        }
        self.set(flow, None);
        Some(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use std::time::{Duration, Instant};

    #[test]
    fn flows_are_called_in_the_order_of_time_and_once() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut agenda = Agenda::default();
        for (flow, millis) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            agenda.set(flow, Some(at(millis)));
        }
        assert_eq!(agenda.first(), Some(at(10)));
        assert_eq!(agenda.take_due(at(9)), None);
        let mut due = Vec::new();
        while let Some(flow) = agenda.take_due(at(20)) {
            due.push(flow);
        }
        assert_eq!(due, [2, 4, 3]);
        assert_eq!(agenda.first(), Some(at(30)));
    }

    #[test]
    fn only_the_latest_moment_of_a_flow_counts() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut agenda = Agenda::default();
        agenda.set(1, Some(at(10)));
        agenda.set(2, Some(at(20)));
        agenda.set(1, Some(at(30)));
        agenda.set(1, Some(at(30)));
        assert_eq!(agenda.first(), Some(at(20)));
        agenda.set(2, None);
        assert_eq!(agenda.first(), Some(at(30)));
        assert_eq!(agenda.take_due(at(40)), Some(1));
        assert_eq!((agenda.take_due(at(40)), agenda.first()), (None, None));
    }
}
