//! The table of what switches kept and did for congestion control.

use super::labels::link_labels;
use crate::regions::Regions;
use crate::table::{Column, Table};
use pathweave_control::Scheme;
use pathweave_fabric::Fabric;
use pathweave_network::{AgentStatistics, Ports};
use pathweave_units::Time;

/// What the agents of this scheme have kept and done when everything before `now` has happened.
pub(super) fn agents<P: Ports>(
    fabric: &Fabric,
    regions: &mut Regions<P>,
    scheme: Scheme,
    now: Time,
) -> Table {
    let links = 0..regions.links();
    let all: Vec<AgentStatistics> = links
        .clone()
        .map(|link| {
            let region = regions.of_link_mut(link);
            region.network.agent_statistics(link, now)
        })
        .collect();
    let integers =
        |of: &dyn Fn(&AgentStatistics) -> u64| Column::Integers(all.iter().map(of).collect());
    let columns = vec![
        ("link", link_labels(fabric, links)),
        (
            "header_bits",
            integers(&|_| u64::from(scheme.header_bits())),
        ),
        ("state_bytes", integers(&|agent| agent.state_bytes)),
        ("feedback", integers(&|agent| agent.feedback)),
        ("unmanaged", integers(&|agent| agent.unmanaged)),
    ];
    Table {
        name: "agents",
        columns,
    }
}
