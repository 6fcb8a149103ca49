//! Periodic bursts of flows towards one host.

use super::hosts::{HostsText, all};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use crate::text::TimeText;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Bursts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstsTable {
    /// The host that receives.
    pub destination: String,
    /// The hosts that send, in turn. Default: all but the destination.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// Flows in a burst.
    pub flows: u32,
    /// Time from one start to the next within a burst.
    #[serde(default)]
    pub spacing: TimeText,
    /// Time from one burst to the next.
    pub period: TimeText,
    /// Number of bursts. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
}

impl ResolvePattern for BurstsTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let sources = group.hosts("sources", &self.sources);
        let destination = group.host("destination", &self.destination)?;
        let pairs = group.pairs(sources.as_ref(), Some(&vec![destination]));
        let bursts = Bursts {
            destination,
            sources,
            flows: self.flows,
            spacing: self.spacing.0,
            period: self.period.0,
            bursts: self.bursts,
        };
        Some((Pattern::Bursts(bursts), pairs))
    }
}
