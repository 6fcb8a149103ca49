//! Flows that arrive by a Poisson process.

use super::arriving::{at_load, check_beside_load};
use super::hosts::{HostsText, all};
use super::load_counts::LoadCounts;
use super::permutation_pairs::{PairsTable, refuse_hosts};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use pathweave_traffic::patterns::{Arrivals, Poisson};
use pathweave_traffic::{Pattern, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoissonTable {
    /// Flows per second from all sources together. Give this, or one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows_per_second: Option<f64>,
    /// Flows per second from each source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows_per_second_per_source: Option<f64>,
    /// Mean utilisation that the flows offer to the links of `layer` that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The layer that `load` is a share of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// What `load` counts.
    #[serde(default, skip_serializing_if = "LoadCounts::is_payload")]
    pub load_counts: LoadCounts,
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that receive. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// Whether source and destination must stand in different racks.
    #[serde(default)]
    pub different_racks: bool,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Each flow is between one of these pairs: part of a permutation that groups share. In place of `sources`,
    /// `destinations` and `different_racks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsTable>,
}

impl ResolvePattern for PoissonTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let sources = group.hosts("sources", &self.sources);
        let destinations = group.hosts("destinations", &self.destinations);
        let shared = self.pairs.as_ref().map(|pairs| pairs.resolve(group));
        let pairs = match &shared {
            Some(part) => {
                refuse_hosts(group, "sources", &self.sources);
                refuse_hosts(group, "destinations", &self.destinations);
                if self.different_racks {
                    group.wrong_key(
                        "different_racks",
                        "pairs are those of a permutation, also within racks; remove different_racks",
                    );
                }
                group.pairs(part.hosts.as_ref(), part.hosts.as_ref())
            }
            None => Pairs {
                different_racks: self.different_racks,
                ..group.pairs(sources.as_ref(), destinations.as_ref())
            },
        };
        if group.has_problems() {
            return None;
        }
        let rates = (self.flows_per_second, self.flows_per_second_per_source);
        let arrivals = match (rates, self.load) {
            ((Some(rate), None), None) => Arrivals::PerSecond(rate),
            ((None, Some(rate)), None) => Arrivals::PerSourcePerSecond(rate),
            ((None, None), Some(share)) => at_load(group, share, self.layer.as_deref(), &pairs)?,
            _ => {
                group.wrong("the rate of arrivals must be given in one way; give one of flows_per_second, flows_per_second_per_source, and load with layer");
                return None;
            }
        };
        group.check_rate("flows_per_second", self.flows_per_second);
        group.check_rate(
            "flows_per_second_per_source",
            self.flows_per_second_per_source,
        );
        check_beside_load(group, self.load, self.layer.is_some(), self.load_counts);
        if self.load.is_some() && matches!(group.size, Some(Size::Unlimited)) {
            group.wrong_value(
                "load",
                "flows of unlimited size offer no definite load; give the flows a size, or flows_per_second",
            );
        }
        let poisson = Poisson {
            arrivals,
            sources,
            destinations,
            different_racks: self.different_racks,
            count: self.count,
            pairs: shared,
        };
        Some((Pattern::Poisson(poisson), pairs))
    }

    fn load_counts(&self) -> LoadCounts {
        self.load_counts
    }
}
