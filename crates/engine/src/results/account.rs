//! What the tables of flows, subflows, links, jobs and phases are made from, whichever backend ran.

use crate::flows::{Flow, FlowTotals, SubflowRow};
use crate::windows::Window;
use crate::workload::Workload;
use pathweave_fabric::LinkId;
use pathweave_scenario::Plan;

pub(crate) struct Account<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload<'a>,
    /// By flow and subflow.
    pub subflow_rows: &'a [SubflowRow],
    /// What the subflows of each flow come to, by the flow's number; where it ends, nothing.
    pub totals: &'a [FlowTotals],
    /// The paths that the rows refer to.
    pub path_list: &'a [Vec<LinkId>],
    /// The main one and the phases.
    pub windows: &'a [Window],
}

impl Account<'_> {
    /// The window that the main tables cover, if the run came to it.
    pub fn main_window(&self) -> Option<&Window> {
        self.windows
            .first()
            .filter(|window| window.closed.is_some())
    }

    /// What tables and notes call a flow: its own name, or that of its group and its number in it.
    pub fn flow_name(&self, flow: &Flow) -> String {
        let group = &self.plan.groups[flow.group as usize];
        match flow.listed {
            Some(entry) if !group.listed[entry as usize].name.is_empty() => {
                group.listed[entry as usize].name.clone()
            }
            _ => format!("{}/{}", group.name, flow.tag),
        }
    }
}
