//! How long flows take to recover from failures.

use pathweave_fabric::LinkId;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

/// Links that went down at one time.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub at: Time,
    pub links: Vec<LinkId>,
}

/// A flow that a failure hit: some of its subflows used a link that went down, or were sent onto it when they began, before
/// switches had noticed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// A place among the failures.
    pub failure: u32,
    pub flow: u32,
    /// Its subflows that used such a link, on the way there or back.
    pub subflows: u32,
    /// It has recovered when this much has been delivered in order: all that had been sent when the
    /// failure came, and at least one more byte.
    pub target: Bytes,
    pub recovered: Option<Time>,
}

/// All failures of a run, and whom they hit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recoveries {
    pub failures: Vec<Failure>,
    pub hits: Vec<Hit>,
    /// Hits that have not recovered, by the flow's number.
    pending: BTreeMap<u32, Vec<usize>>,
}

impl Recoveries {
    /// The last failure that took a link down.
    pub fn failure_of(&self, link: LinkId) -> Option<u32> {
        let place = self
            .failures
            .iter()
            .rposition(|failure| failure.links.contains(&link))?;
        Some(place as u32)
    }

    /// How failures hit a flow that begins now: of each subflow the links that are down and on its way.
    pub fn hits_at_start<I: Iterator<Item = LinkId>>(
        &self,
        flow: u32,
        dead: impl Iterator<Item = I>,
    ) -> Vec<Hit> {
        let mut subflows: BTreeMap<u32, u32> = BTreeMap::new();
        for links in dead {
            let latest = links.filter_map(|link| self.failure_of(link)).max();
            if let Some(failure) = latest {
                *subflows.entry(failure).or_default() += 1;
            }
        }
        let hit = |(failure, subflows)| Hit {
            failure,
            flow,
            subflows,
            target: Bytes::new(1),
            recovered: None,
        };
        subflows.into_iter().map(hit).collect()
    }

    pub fn add(&mut self, hit: Hit) {
        let place = self.hits.len();
        self.pending.entry(hit.flow).or_default().push(place);
        self.hits.push(hit);
    }

    /// Whether some flow has yet to recover.
    pub fn any_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A flow has got so far.
    pub fn on_delivered(&mut self, flow: u32, delivered: Bytes, now: Time) {
        let Some(pending) = self.pending.get_mut(&flow) else {
            return;
        };
        pending.retain(|&place| {
            let hit = &mut self.hits[place];
            let waits = delivered < hit.target;
            if !waits {
                hit.recovered = Some(now);
            }
            waits
        });
        if pending.is_empty() {
            self.pending.remove(&flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_recovers_from_each_failure_by_itself() {
        let mut recoveries = Recoveries::default();
        let hit = |failure, flow, target| Hit {
            failure,
            flow,
            subflows: 1,
            target: Bytes::new(target),
            recovered: None,
        };
        recoveries.add(hit(0, 7, 1000));
        recoveries.add(hit(1, 7, 3000));
        recoveries.add(hit(1, 8, 10));
        let at = Time::from_millis;
        recoveries.on_delivered(7, Bytes::new(999), at(1));
        recoveries.on_delivered(7, Bytes::new(1000), at(2));
        recoveries.on_delivered(7, Bytes::new(2500), at(3));
        recoveries.on_delivered(9, Bytes::new(5000), at(3));
        let found = |recoveries: &Recoveries| -> Vec<Option<Time>> {
            recoveries.hits.iter().map(|hit| hit.recovered).collect()
        };
        assert_eq!(found(&recoveries), [Some(at(2)), None, None]);
        assert!(recoveries.any_pending());
        recoveries.on_delivered(8, Bytes::new(10), at(4));
        recoveries.on_delivered(7, Bytes::new(9000), at(5));
        assert_eq!(found(&recoveries), [Some(at(2)), Some(at(5)), Some(at(4))]);
        assert!(!recoveries.any_pending());
    }
}
