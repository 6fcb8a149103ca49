//! What is known of a run when it is over, whichever backend ran: its results are made from this alone.

use crate::flows::flow::Flow;
use crate::flows::list::FlowList;
use crate::flows::paths::PathList;
use crate::flows::rows::{SenderLimitColumns, SubflowColumns, TotalsColumns, WaitColumns};
use crate::measurement::capture::Capture;
use crate::measurement::measurement_windows::MeasurementWindow;
use crate::measurement::recovery::Recoveries;
use crate::measurement::series::Series;
use crate::outcome::Verdict;
use crate::text_list::TextList;
use pathweave_control::Scheme;
use pathweave_fabric::NodeId;
use pathweave_network::{AgentStatistics, FmpStatistics, LinkStatistics, SharedBuffer};
use pathweave_scenario::Plan;
use pathweave_traffic::{Iteration, Job};
use pathweave_units::{Bytes, Time};

/// A run that is over.
pub(crate) struct Record<'p> {
    pub plan: &'p Plan,
    pub verdict: Verdict,
    /// When it ended.
    pub ended: Time,
    pub traffic: Traffic,
    /// The rows of all subflows, by flow and subflow.
    pub subflows: SubflowColumns,
    /// What the subflows of each flow come to, by the flow's number.
    pub totals: TotalsColumns,
    /// What flows have waited for, if the transport keeps an account of it.
    pub waits: Option<WaitColumns>,
    /// What senders on real hosts were limited by, if these tell.
    pub sender_limits: Option<SenderLimitColumns>,
    /// The paths that the rows of subflows refer to.
    pub paths: PathList,
    /// The main one and the phases.
    pub windows: Vec<MeasurementWindow>,
    /// What was recorded over time; `None` if the backend records nothing.
    pub series: Option<Series>,
    pub recoveries: Recoveries,
    /// Packets that reached the far end of a link.
    pub packet_hops: u64,
    /// What each link did over the whole run, by its number; empty if there were no packets.
    pub links: Vec<LinkStatistics>,
    pub switches: Switches,
    /// In the plan's order.
    pub captures: Vec<Capture>,
    /// What of the captures was unusual.
    pub capture_notes: Vec<String>,
}

/// What traffic asked for, and what became of it.
pub(crate) struct Traffic {
    pub flows: FlowList,
    /// By traffic group.
    pub jobs: Vec<Vec<Job>>,
    /// By traffic group: of each job, where jobs repeat; else empty.
    pub iterations: Vec<Vec<Iteration>>,
    /// Flows that were asked for, that finished, and that were stopped before.
    pub started: u64,
    pub finished: u64,
    pub stopped: u64,
}

/// What switches kept and did, beyond forwarding packets.
#[derive(Default)]
pub(crate) struct Switches {
    /// Of a scheme that switches take part in, at each link.
    pub agents: Option<(Scheme, Vec<AgentStatistics>)>,
    /// Of switches whose ports share memory.
    pub buffers: Option<Vec<Buffer>>,
    /// Of switches that choose routes.
    pub fmp: Option<Vec<(NodeId, FmpStatistics)>>,
}

/// What became of a switch's shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// The switch's number.
    pub node: u32,
    /// The most that was in use.
    pub most: Bytes,
    /// Packets that found no room.
    pub refused: u64,
}

impl Buffer {
    /// That of a switch with this memory.
    pub fn of(node: u32, memory: &SharedBuffer) -> Buffer {
        Buffer {
            node,
            most: memory.most(),
            refused: memory.refused(),
        }
    }
}

impl Record<'_> {
    /// The window that the main tables cover, if the run came to it.
    pub fn main_window(&self) -> Option<&MeasurementWindow> {
        self.windows
            .first()
            .filter(|window| window.closed.is_some())
    }

    /// Adds what tables and notes call these flows: their own names, or that of their group and their number in it.
    pub fn push_flow_names<'a>(
        &self,
        flows: impl IntoIterator<Item = &'a Flow>,
        names: &mut TextList,
    ) {
        let groups = &self.plan.groups[..];
        let numbered: Vec<String> = groups
            .iter()
            .map(|group| format!("{}/", group.name))
            .collect();
        for flow in flows {
            let group = flow.group as usize;
            match flow
                .listed
                .map(|entry| &groups[group].listed[entry as usize].name)
            {
                Some(name) if !name.is_empty() => names.push(name),
                _ => names.push_numbered(&numbered[group], flow.tag),
            }
        }
    }
}
