//! What flows that have ended leave behind for the tables: rows of subflows, and sums over each flow's.

use pathweave_units::Time;

/// A subflow's row in the tables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SubflowRow {
    pub flow: u32,
    pub subflow: u32,
    pub opened: Option<Time>,
    pub received: u64,
    /// Of this, what had not come on another subflow before.
    pub first: u64,
    pub sent_packets: u64,
    pub retransmits: u64,
    pub reinjected: u64,
    pub timeouts: u64,
    pub marks: u64,
    /// Packets for which the host's own port had no place.
    pub held: u64,
    pub rtts: Rtts,
    /// The links of its path: a place in the run's list.
    pub path: u32,
}

/// Round-trip times; none without samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rtts {
    pub mean: Option<Time>,
    pub p99: Option<Time>,
}

/// Sums over a flow's subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowTotals {
    pub retransmits: u64,
    pub reinjected: u64,
    pub timeouts: u64,
    pub marks: u64,
    /// Over the samples of all.
    pub rtts: Rtts,
}

impl FlowTotals {
    /// Those of a flow with these subflows, whose RTTs together are these.
    pub fn new(rows: &[SubflowRow], rtts: Rtts) -> FlowTotals {
        let mut totals = FlowTotals {
            rtts,
            ..FlowTotals::default()
        };
        rows.iter().for_each(|row| totals.add(row));
        totals
    }

    /// Another subflow, but for its RTTs.
    #[inline(always)]
    pub fn add(&mut self, row: &SubflowRow) {
        self.retransmits += row.retransmits;
        self.reinjected += row.reinjected;
        self.timeouts += row.timeouts;
        self.marks += row.marks;
    }
}

/// Rows of subflows, column by column. Times are in seconds, and not a number where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubflowColumns {
    pub flow: Vec<u64>,
    pub subflow: Vec<u64>,
    pub path: Vec<u32>,
    pub opened: Vec<f64>,
    pub received: Vec<u64>,
    pub sent_packets: Vec<u64>,
    pub retransmits: Vec<u64>,
    pub reinjected: Vec<u64>,
    pub timeouts: Vec<u64>,
    pub marks: Vec<u64>,
    pub held: Vec<u64>,
    pub rtt_mean: Vec<f64>,
    pub rtt_p99: Vec<f64>,
}

impl SubflowColumns {
    /// With room for this many rows.
    pub fn with_capacity(rows: usize) -> SubflowColumns {
        SubflowColumns {
            flow: Vec::with_capacity(rows),
            subflow: Vec::with_capacity(rows),
            path: Vec::with_capacity(rows),
            opened: Vec::with_capacity(rows),
            received: Vec::with_capacity(rows),
            sent_packets: Vec::with_capacity(rows),
            retransmits: Vec::with_capacity(rows),
            reinjected: Vec::with_capacity(rows),
            timeouts: Vec::with_capacity(rows),
            marks: Vec::with_capacity(rows),
            held: Vec::with_capacity(rows),
            rtt_mean: Vec::with_capacity(rows),
            rtt_p99: Vec::with_capacity(rows),
        }
    }

    /// These rows, put in the order of flow and subflow.
    pub fn sorted(mut rows: Vec<SubflowRow>) -> SubflowColumns {
        rows.sort_by_key(|row| (row.flow, row.subflow));
        let mut columns = SubflowColumns::with_capacity(rows.len());
        columns.extend(&rows);
        columns
    }

    /// Adds these rows: many at a time, for one column after another.
    pub fn extend(&mut self, rows: &[SubflowRow]) {
        let rows = rows.iter();
        self.flow
            .extend(rows.clone().map(|row| u64::from(row.flow)));
        self.subflow
            .extend(rows.clone().map(|row| u64::from(row.subflow)));
        self.path.extend(rows.clone().map(|row| row.path));
        self.opened
            .extend(rows.clone().map(|row| seconds(row.opened)));
        self.received.extend(rows.clone().map(|row| row.received));
        self.sent_packets
            .extend(rows.clone().map(|row| row.sent_packets));
        self.retransmits
            .extend(rows.clone().map(|row| row.retransmits));
        self.reinjected
            .extend(rows.clone().map(|row| row.reinjected));
        self.timeouts.extend(rows.clone().map(|row| row.timeouts));
        self.marks.extend(rows.clone().map(|row| row.marks));
        self.held.extend(rows.clone().map(|row| row.held));
        self.rtt_mean
            .extend(rows.clone().map(|row| seconds(row.rtts.mean)));
        self.rtt_p99
            .extend(rows.clone().map(|row| seconds(row.rtts.p99)));
    }
}

/// Sums over the subflows of each flow, column by column. Times are in seconds, and not a number where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct TotalsColumns {
    pub retransmits: Vec<u64>,
    pub reinjected: Vec<u64>,
    pub timeouts: Vec<u64>,
    pub marks: Vec<u64>,
    pub rtt_mean: Vec<f64>,
    pub rtt_p99: Vec<f64>,
}

impl TotalsColumns {
    /// With room for this many flows.
    pub fn with_capacity(flows: usize) -> TotalsColumns {
        TotalsColumns {
            retransmits: Vec::with_capacity(flows),
            reinjected: Vec::with_capacity(flows),
            timeouts: Vec::with_capacity(flows),
            marks: Vec::with_capacity(flows),
            rtt_mean: Vec::with_capacity(flows),
            rtt_p99: Vec::with_capacity(flows),
        }
    }

    /// The totals of `flows` flows; nothing is known of flows beyond the given ones.
    pub fn of(totals: &[FlowTotals], flows: usize) -> TotalsColumns {
        let mut columns = TotalsColumns::with_capacity(flows);
        let known = totals.len().min(flows);
        columns.extend(&totals[..known]);
        columns.extend(&vec![FlowTotals::default(); flows - known]);
        columns
    }

    /// Those of the next flows: many at a time, for one column after another.
    pub fn extend(&mut self, totals: &[FlowTotals]) {
        let flows = totals.iter();
        self.retransmits
            .extend(flows.clone().map(|flow| flow.retransmits));
        self.reinjected
            .extend(flows.clone().map(|flow| flow.reinjected));
        self.timeouts
            .extend(flows.clone().map(|flow| flow.timeouts));
        self.marks.extend(flows.clone().map(|flow| flow.marks));
        self.rtt_mean
            .extend(flows.clone().map(|flow| seconds(flow.rtts.mean)));
        self.rtt_p99
            .extend(flows.clone().map(|flow| seconds(flow.rtts.p99)));
    }
}

/// What flows have waited for, and how long: by flow, and of each flow in the order of [`Wait::ALL`].
///
/// [`Wait::ALL`]: pathweave_transport::Wait::ALL
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitColumns {
    pub flow: Vec<u64>,
    /// A place in [`Wait::ALL`].
    ///
    /// [`Wait::ALL`]: pathweave_transport::Wait::ALL
    pub wait: Vec<u32>,
    /// In seconds.
    pub time: Vec<f64>,
}

impl WaitColumns {
    #[inline]
    pub fn push(&mut self, flow: u32, wait: u32, time: Time) {
        self.flow.push(u64::from(flow));
        self.wait.push(wait);
        self.time.push(time.as_secs_f64());
    }
}

/// What senders on real hosts were limited by, a row for each subflow. Times are in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderLimitColumns {
    pub flow: Vec<u64>,
    pub subflow: Vec<u64>,
    pub busy: Vec<f64>,
    pub receive_window: Vec<f64>,
    pub send_buffer: Vec<f64>,
}

impl SenderLimitColumns {
    pub fn push(&mut self, flow: u32, subflow: u32, busy: Time, window: Time, buffer: Time) {
        self.flow.push(u64::from(flow));
        self.subflow.push(u64::from(subflow));
        self.busy.push(busy.as_secs_f64());
        self.receive_window.push(window.as_secs_f64());
        self.send_buffer.push(buffer.as_secs_f64());
    }
}

/// A time in seconds; not a number where there is none.
pub(crate) fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs_f64)
}
