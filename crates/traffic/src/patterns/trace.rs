//! Recorded flows.

use super::Running;
use crate::tasks::playing::{Manner, Playing, Work};
use crate::tasks::{Action, Graph};
use crate::{Hosts, TrafficError};
use std::sync::Arc;

/// Flows as a list has them: each starts at its time, or when those that it waits for have finished, if that is later.
/// All flows are one job. The group's size is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The flows; ranks are hosts.
    pub graph: Arc<Graph>,
}

impl Trace {
    /// The hosts that send, and those that receive.
    pub fn hosts(&self) -> (Vec<u32>, Vec<u32>) {
        let mut ends = (Vec::new(), Vec::new());
        for action in self.graph.actions() {
            if let Action::Send { from, to, .. } = *action {
                ends.0.push(from);
                ends.1.push(to);
            }
        }
        for hosts in [&mut ends.0, &mut ends.1] {
            hosts.sort_unstable();
            hosts.dedup();
        }
        ends
    }

    pub(super) fn start(self, hosts: &Hosts) -> Result<Box<dyn Running>, TrafficError> {
        if let Some(last) = self.graph.ranks().checked_sub(1) {
            hosts.check("the trace", last)?;
        }
        let work = Work {
            graph: self.graph,
            hosts: (0..hosts.count).collect(),
            iterations: 1,
            computing: None,
        };
        let manner = Manner {
            keep_connections: false,
            whole_iterations: false,
            put_off: false,
        };
        Ok(Box::new(Playing::new(vec![work], manner)))
    }
}
