//! The table of what switches kept and did for congestion control.

use super::labels::link_labels;
use crate::table::{Column, Table};
use pathweave_control::Scheme;
use pathweave_fabric::Fabric;
use pathweave_network::AgentStatistics;

/// What the agents of this scheme have kept and done at each link.
pub(super) fn agents(fabric: &Fabric, scheme: Scheme, all: &[AgentStatistics]) -> Table {
    let links = 0..all.len() as u32;
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
