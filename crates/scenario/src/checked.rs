//! A variant that is known to be sound: what its plans have in common.

use crate::plan::{GroupPlan, LinkChange, Measure, Plan, Record, Stop};
use crate::resolve::PortQueues;
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::topology::Topology;
use pathweave_network::SharedBufferConfig;
use std::collections::BTreeSet;

/// All values of a variant. Links are made when it is planned: a scenario may have thousands of variants.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub title: String,
    pub topology: Topology,
    /// Links that are down for the whole run.
    pub down: BTreeSet<LinkId>,
    pub queues: PortQueues,
    pub shared_buffer: Option<SharedBufferConfig>,
    pub routing: RoutingKind,
    pub groups: Vec<GroupPlan>,
    pub events: Vec<LinkChange>,
    pub stop: Stop,
    pub measure: Measure,
    pub record: Record,
    pub jitter: bool,
}

impl Checked {
    /// What a backend runs. The seed draws the delays of links that have a range of them, and what is drawn during the run.
    ///
    /// # Panics
    /// Never: the topology has been built once, with another seed.
    pub fn plan(&self, seed: u64) -> Plan {
        let fabric = self.topology.build(seed);
        let mut fabric = fabric.expect("a seed changes delays alone");
        fabric.down.clone_from(&self.down);
        Plan {
            title: self.title.clone(),
            seed,
            queues: self.queues.of_links(&fabric),
            shared_buffer: self.shared_buffer,
            fabric,
            routing: self.routing.clone(),
            groups: self.groups.clone(),
            events: self.events.clone(),
            stop: self.stop.clone(),
            measure: self.measure.clone(),
            record: self.record.clone(),
            jitter: self.jitter,
            timeouts_are_chosen: true,
            matched_bursts: Vec::new(),
        }
    }
}
