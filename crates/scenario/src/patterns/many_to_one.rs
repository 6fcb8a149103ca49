//! Several hosts that send to one.

use super::hosts::{HostsText, all};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use crate::text::TimeText;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::ManyToOne;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManyToOneTable {
    /// The host that receives.
    pub destination: String,
    /// The hosts that send. Default: all but the destination.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// Flows under way at a time.
    pub concurrency: u32,
    /// Time from the end of a flow to the start of the next.
    #[serde(default)]
    pub gap: TimeText,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl ResolvePattern for ManyToOneTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let sources = group.hosts("sources", &self.sources);
        let destination = group.host("destination", &self.destination)?;
        let pairs = group.pairs(sources.as_ref(), Some(&vec![destination]));
        let flows = ManyToOne {
            destination,
            sources,
            concurrency: self.concurrency,
            gap: self.gap.0,
            count: self.count,
        };
        Some((Pattern::ManyToOne(flows), pairs))
    }
}
