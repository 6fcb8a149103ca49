//! Each host sends to a random host, and picks again when it is done.

use super::hosts::{HostsText, all};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomTable {
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that may be picked. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// A host that receives this many flows of the group is not picked. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_inbound: Option<u32>,
    /// Whether source and destination must stand in different racks.
    #[serde(default)]
    pub different_racks: bool,
    /// Flows that a source has under way at a time.
    #[serde(default = "one")]
    pub flows_per_host: u32,
}

impl ResolvePattern for RandomTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let sources = group.hosts("sources", &self.sources);
        let destinations = group.hosts("destinations", &self.destinations);
        let pairs = Pairs {
            different_racks: self.different_racks,
            ..group.pairs(sources.as_ref(), destinations.as_ref())
        };
        let random = Random {
            sources,
            destinations,
            max_inbound: self.max_inbound,
            different_racks: self.different_racks,
            flows_per_host: self.flows_per_host,
        };
        Some((Pattern::Random(random), pairs))
    }
}

fn one() -> u32 {
    1
}
