//! Which hosts jobs get.

use super::hosts::HostsText;
use super::resolving::InGroup;
use crate::resolve::Pairs;
use crate::text::Either;
use pathweave_traffic::Placement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How jobs are placed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlacementName {
    /// Each job gets the next hosts of the list.
    Packed,
    /// Each job gets hosts at random.
    Random,
}

pub(super) fn packed() -> Either<PlacementName, Vec<HostsText>> {
    Either::One(PlacementName::Packed)
}

/// Where jobs are.
pub(super) fn placement(
    placement: &Either<PlacementName, Vec<HostsText>>,
    hosts: &HostsText,
    group: &mut InGroup<'_, '_>,
) -> Option<Placement> {
    let hosts = group.hosts("hosts", hosts);
    let placement = match placement {
        Either::One(PlacementName::Packed) => Placement::Packed(hosts),
        Either::One(PlacementName::Random) => Placement::Random(hosts),
        Either::Many(lists) => {
            if hosts.is_some() {
                group.wrong_key(
                    "hosts",
                    "placement lists the hosts of each job; remove hosts",
                );
            }
            let mut found = Vec::new();
            for (index, list) in lists.iter().enumerate() {
                let index = index.to_string();
                let steps = [group.steps, &["placement", &index]].concat();
                let names = group.scene.names;
                let list = names.select(list, &steps, group.problems);
                found.push(list.unwrap_or_else(|| group.all_hosts()));
            }
            if found.is_empty() {
                group.wrong_value(
                    "placement",
                    "placement lists no job; list the hosts of each, or write \"packed\" or \"random\"",
                );
            }
            Placement::Listed(found)
        }
    };
    (!group.has_problems()).then_some(placement)
}

/// The pairs of hosts between which jobs with such a placement send. `ranks` gives the pairs of ranks, where they are
/// known.
pub(super) fn pairs_of(
    group: &InGroup<'_, '_>,
    placement: &Placement,
    ranks: impl FnOnce() -> Option<Vec<(u32, u32)>>,
) -> Pairs {
    let hosts = placement.hosts();
    let mut pairs = group.pairs(hosts.as_ref(), hosts.as_ref());
    if let Placement::Listed(teams) = placement
        && !group.scene.reach.is_complete()
    {
        pairs.only = ranks().map(|ranks| on_hosts(&ranks, teams));
    }
    pairs
}

/// The pairs of hosts that these pairs of ranks are, in each team.
fn on_hosts(ranks: &[(u32, u32)], teams: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let host = |team: &[u32], rank: u32| team.get(rank as usize).copied();
    let of_team = |team: &[u32]| {
        let pairs = ranks.iter();
        pairs
            .filter_map(|&(from, to)| Some((host(team, from)?, host(team, to)?)))
            .collect::<Vec<_>>()
    };
    teams.iter().flat_map(|team| of_team(team)).collect()
}
