//! What the tables of flows, subflows, links, jobs and phases are made from, whichever backend ran.

use crate::flows::Flow;
use crate::paths::PathList;
use crate::texts::Texts;
use crate::windows::Window;
use crate::workload::Workload;
use pathweave_scenario::Plan;

pub(crate) struct Account<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload<'a>,
    /// The paths that the rows of subflows refer to.
    pub path_list: &'a PathList,
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

    /// Adds what tables and notes call a flow: its own name, or that of its group and its number in it.
    pub fn push_flow_name(&self, flow: &Flow, names: &mut Texts) {
        let group = &self.plan.groups[flow.group as usize];
        match flow.listed.map(|entry| &group.listed[entry as usize].name) {
            Some(name) if !name.is_empty() => names.push(name),
            _ => names.push_numbered([&group.name, "/"], flow.tag),
        }
    }
}
