//! The table of what switches kept and did for congestion control.

use super::labels::link_labels;
use crate::simulation::Simulation;
use crate::table::{Column, Table};
use pathweave_control::Scheme;
use pathweave_network::{AgentStatistics, Port};

pub(super) fn agents<P: Port>(run: &Simulation<'_, P>, scheme: Scheme) -> Table {
    let links = 0..run.network.links();
    let all: Vec<AgentStatistics> = links
        .clone()
        .map(|link| run.network.agent_statistics(link))
        .collect();
    let integers =
        |of: &dyn Fn(&AgentStatistics) -> u64| Column::Integers(all.iter().map(of).collect());
    let columns = vec![
        ("link", link_labels(&run.plan.fabric, links)),
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
