//! A flow at regular times from one set of hosts to another.

use super::hosts::{HostsText, all};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use crate::text::TimeText;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::ManyToMany;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManyToManyTable {
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that receive. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Time from one start to the next.
    pub gap: TimeText,
}

impl ResolvePattern for ManyToManyTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let sources = group.hosts("sources", &self.sources);
        let destinations = group.hosts("destinations", &self.destinations);
        let pairs = group.pairs(sources.as_ref(), destinations.as_ref());
        let flows = ManyToMany {
            sources,
            destinations,
            count: self.count,
            gap: self.gap.0,
        };
        Some((Pattern::ManyToMany(flows), pairs))
    }
}
