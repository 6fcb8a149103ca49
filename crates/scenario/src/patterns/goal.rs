//! Jobs that carry out GOAL schedules.

use super::hosts::{HostsText, all};
use super::placement::{PlacementName, packed, pairs_of, placement};
use super::recording::{SIZES_OF_ITS_OWN, located, recording};
use super::resolving::{InGroup, OwnSize, ResolvePattern};
use crate::resolve::Pairs;
use crate::text::Either;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Goal;
use pathweave_traffic::recordings::goal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoalTable {
    /// A file with a GOAL schedule as text, relative to the scenario's folder. Give this, or the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The schedule itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The hosts that jobs get. Default all.
    #[serde(default = "all")]
    pub hosts: HostsText,
    /// Jobs at the same time, each with as many hosts as the schedule has ranks.
    #[serde(default = "one")]
    pub jobs: u32,
    /// Which hosts a job gets: the next ones of the list, random ones, or for each job those listed for it.
    #[serde(default = "packed")]
    pub placement: Either<PlacementName, Vec<HostsText>>,
    /// How often a job carries the schedule out, one time after the other.
    #[serde(default = "once")]
    pub iterations: u64,
}

impl ResolvePattern for GoalTable {
    /// The schedule's text is written into the table.
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let (file, content) = (self.file.as_deref(), self.content.as_deref());
        let found = recording(file, content, group);
        let placement = placement(&self.placement, &self.hosts, group);
        let found = found?;
        match goal::parse(&found.text) {
            Ok(goal) => {
                (self.file, self.content) = (None, Some(found.text));
                let goal = Goal {
                    graph: Arc::new(goal.graph),
                    ranks: goal.ranks,
                    placement: placement?,
                    jobs: Some(self.jobs),
                    iterations: self.iterations,
                };
                let pairs = pairs_of(group, &goal.placement, || Some(goal.graph.pairs()));
                Some((Pattern::Goal(goal), pairs))
            }
            Err(error) => {
                group.wrong_value(found.key, located(&found.called, &error));
                None
            }
        }
    }

    fn own_size(&self) -> Option<OwnSize> {
        Some(OwnSize {
            size: None,
            why_no_other: SIZES_OF_ITS_OWN,
        })
    }
}

fn one() -> u32 {
    1
}

fn once() -> u64 {
    1
}
