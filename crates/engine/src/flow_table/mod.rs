//! The flows of a simulation between their start and the end of all that is left of them: where their two halves
//! stand, and which routes and paths they have.

mod halves;
mod leaving;
mod opening;
mod rerouting;
mod routes;

pub(crate) use halves::{Halves, SubflowEnds};

use crate::flows::ideal::Ways;
use crate::flows::paths::{PathList, SubflowPaths};
use crate::flows::routing::Routing;
use pathweave_control::{Controller, Faults};
use pathweave_fabric::{FabricError, LinkId};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_transport::{Config, RttHistogram};
use pathweave_units::{Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// All flows that have started and of which something is left.
pub(crate) struct FlowTable<'p> {
    plan: &'p Plan,
    routing: Routing,
    /// By traffic group.
    configs: Vec<Arc<Config>>,
    /// Of listed flows, by traffic group.
    listed_configs: Vec<Vec<Arc<Config>>>,
    /// [`Plan::hosts_that_hold_packets`].
    limited_hosts: Vec<bool>,
    /// [`Plan::host_rates`].
    host_rates: Vec<Rate>,
    /// Controllers of flows that are over, by traffic group: they are as new.
    controllers: Vec<Vec<Box<dyn Controller>>>,
    /// Where controllers say that they cannot go on.
    faults: Arc<dyn Faults>,
    /// By the flow's number; `None` for flows that have not started, and for those of which nothing is left.
    halves: Vec<Option<Halves>>,
    /// Subflows of the flows that have started.
    subflows_started: u32,
    /// Flows whose sending halves are closed, and of which something may be left.
    leaving: VecDeque<u32>,
    path_list: PathList,
    room: Room,
}

/// Memory that is used again for one flow after another.
#[derive(Default)]
struct Room {
    /// The paths of a subflow.
    paths: SubflowPaths,
    /// All that a flow's packets may take.
    ways: Ways,
    /// The RTTs of a flow that has ended.
    rtts: RttHistogram,
}

impl<'p> FlowTable<'p> {
    /// Without any flow.
    ///
    /// # Errors
    /// When the plan's routing cannot be set up.
    pub fn new(plan: &'p Plan, faults: Arc<dyn Faults>) -> Result<FlowTable<'p>, FabricError> {
        let config_of = |group: &GroupPlan, listed| Arc::new(group.transport_of(listed));
        let of_listed = |group: &GroupPlan| {
            let all = 0..group.listed.len() as u32;
            all.map(|entry| config_of(group, Some(entry))).collect()
        };
        Ok(FlowTable {
            plan,
            routing: Routing::new(plan)?,
            configs: plan
                .groups
                .iter()
                .map(|group| config_of(group, None))
                .collect(),
            listed_configs: plan.groups.iter().map(of_listed).collect(),
            limited_hosts: plan.hosts_that_hold_packets(),
            host_rates: plan.host_rates(),
            controllers: plan.groups.iter().map(|_| Vec::new()).collect(),
            faults,
            halves: Vec::new(),
            subflows_started: 0,
            leaving: VecDeque::new(),
            path_list: PathList::default(),
            room: Room::default(),
        })
    }

    /// The routing of the run.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// A link went down or came back: switches may notice.
    pub fn on_change(&mut self, link: LinkId, now: Time) {
        self.routing.on_change(link, now);
    }

    /// Where a flow's two halves stand, while they do.
    pub fn halves(&self, flow: u32) -> Option<Halves> {
        self.halves.get(flow as usize).copied().flatten()
    }

    /// The run is over: the paths that subflows refer to by these places, which are changed to those in the list.
    pub fn take_paths(&mut self, places: &mut [u32]) -> PathList {
        std::mem::take(&mut self.path_list).renumbered(places)
    }
}
