//! Each host sends to one other host, and receives from one.

use super::hosts::{HostsText, all};
use super::permutation_pairs::{PairsTable, refuse_hosts};
use super::resolving::{InGroup, ResolvePattern};
use crate::resolve::Pairs;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Permutation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermutationTable {
    /// The hosts that take part. Default all.
    #[serde(default = "all")]
    pub hosts: HostsText,
    /// Number of permutations one after another. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The pairs of every round: part of a permutation that groups share. In place of `hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsTable>,
}

impl ResolvePattern for PermutationTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let permutation = Permutation {
            hosts: group.hosts("hosts", &self.hosts),
            rounds: self.rounds,
            pairs: self.pairs.as_ref().map(|pairs| pairs.resolve(group)),
        };
        if self.pairs.is_some() {
            refuse_hosts(group, "hosts", &self.hosts);
        }
        let hosts = permutation.hosts().as_ref();
        let pairs = group.pairs(hosts, hosts);
        Some((Pattern::Permutation(permutation), pairs))
    }
}
