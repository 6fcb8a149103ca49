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
        for row in rows {
            totals.retransmits += row.retransmits;
            totals.reinjected += row.reinjected;
            totals.timeouts += row.timeouts;
            totals.marks += row.marks;
        }
        totals
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
    pub rtt_mean: Vec<f64>,
    pub rtt_p99: Vec<f64>,
}

impl SubflowColumns {
    /// With room for so many rows.
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
            rtt_mean: Vec::with_capacity(rows),
            rtt_p99: Vec::with_capacity(rows),
        }
    }

    /// These rows, put in the order of flow and subflow.
    pub fn sorted(mut rows: Vec<SubflowRow>) -> SubflowColumns {
        rows.sort_by_key(|row| (row.flow, row.subflow));
        let mut columns = SubflowColumns::with_capacity(rows.len());
        rows.iter().for_each(|row| columns.push(row));
        columns
    }

    pub fn push(&mut self, row: &SubflowRow) {
        self.flow.push(u64::from(row.flow));
        self.subflow.push(u64::from(row.subflow));
        self.path.push(row.path);
        self.opened.push(seconds(row.opened));
        self.received.push(row.received);
        self.sent_packets.push(row.sent_packets);
        self.retransmits.push(row.retransmits);
        self.reinjected.push(row.reinjected);
        self.timeouts.push(row.timeouts);
        self.marks.push(row.marks);
        self.rtt_mean.push(seconds(row.rtts.mean));
        self.rtt_p99.push(seconds(row.rtts.p99));
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
    /// With room for so many flows.
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

    /// Those of so many flows; of flows beyond the given ones nothing is known.
    pub fn of(totals: &[FlowTotals], flows: usize) -> TotalsColumns {
        let mut columns = TotalsColumns::with_capacity(flows);
        let unknown = std::iter::repeat(FlowTotals::default());
        let all = totals.iter().copied().chain(unknown).take(flows);
        all.for_each(|totals| columns.push(&totals));
        columns
    }

    /// Those of the next flow.
    pub fn push(&mut self, totals: &FlowTotals) {
        self.retransmits.push(totals.retransmits);
        self.reinjected.push(totals.reinjected);
        self.timeouts.push(totals.timeouts);
        self.marks.push(totals.marks);
        self.rtt_mean.push(seconds(totals.rtts.mean));
        self.rtt_p99.push(seconds(totals.rtts.p99));
    }
}

/// A time in seconds; not a number where there is none.
pub(crate) fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs_f64)
}
