//! Pairs of a permutation that groups share.

use super::hosts::HostsText;
use super::resolving::InGroup;
use crate::text::Either;
use pathweave_traffic::patterns::PermutationPart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pairs of one random permutation, in which every host sends to one other host and receives from one. All groups that
/// name the same hosts share the permutation.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairsTable {
    /// The hosts of the permutation.
    pub permutation: HostsText,
    /// The first of the pairs, counted from 0 in random order, and the one after the last.
    pub part: (u32, u32),
}

impl PairsTable {
    /// The part of a permutation that it names.
    pub fn resolve(&self, group: &mut InGroup<'_, '_>) -> PermutationPart {
        let at = [group.steps, &["pairs", "permutation"]].concat();
        let names = group.scene.names;
        let (first, after) = self.part;
        PermutationPart {
            hosts: names.select(&self.permutation, &at, group.problems),
            part: first..after,
        }
    }
}

/// Refuses a choice of hosts next to `pairs`, which makes one already.
pub(super) fn refuse_hosts(group: &mut InGroup<'_, '_>, key: &str, hosts: &HostsText) {
    if !matches!(hosts, Either::One(name) if name == "all") {
        let text = format!("pairs says who sends to whom; remove {key}");
        group.wrong_key(key, text);
    }
}
