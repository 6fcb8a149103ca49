//! What a run asks of whoever plays the hosts.

use pathweave_fabric::LinkId;
use pathweave_scenario::GroupPlan;
use pathweave_units::{Bytes, Time};

/// A flow that starts.
pub struct FlowOrder<'a> {
    /// Its number in the run.
    pub flow: u32,
    /// Its group.
    pub group: &'a GroupPlan,
    /// Its place in the group's list, if it is a listed one.
    pub listed: Option<u32>,
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// How much it sends; `None` until it is stopped.
    pub size: Option<Bytes>,
    /// When each of its subflows may open at the earliest, one each.
    pub opens: Vec<Time>,
}

/// What has become of a flow so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowView {
    /// Payload delivered in order.
    pub delivered: Bytes,
    /// Payload handed to the network at least once.
    pub sent: Bytes,
    /// Of each subflow, in order.
    pub subflows: Vec<SubflowView>,
}

/// What has become of a subflow so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubflowView {
    /// When it was seen to be open.
    pub opened: Option<Time>,
    /// Payload that has arrived.
    pub received: u64,
    /// Data packets sent, repetitions included.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Data packets whose data was given to other subflows.
    pub reinjected: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that were acknowledged as marked.
    pub marks: u64,
    /// Congestion window, in packets.
    pub window: f64,
    /// Slow start threshold, in packets; infinite for none.
    pub ssthresh: f64,
    /// Smoothed RTT; `None` before the first sample.
    pub smoothed_rtt: Option<Time>,
    /// What its sender was limited by; `None` if the hosts do not tell.
    pub limits: Option<SenderLimits>,
}

/// How long a sender had something to do, and what else than its congestion window held data back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderLimits {
    /// Data was under way or waiting to be sent.
    pub busy: Time,
    /// Of that: the receive window was full.
    pub receive_window: Time,
    /// Of that: the send buffer was full.
    pub send_buffer: Time,
}

/// Plays the hosts of a run.
pub trait Hosts {
    /// A subflow's packets take these links from now on, and its acknowledgements those. Comes before the
    /// flow's start for each of its subflows.
    fn lay(&mut self, flow: u32, subflow: u32, forward: &[LinkId], back: &[LinkId]);
    /// A flow starts.
    fn start(&mut self, order: &FlowOrder<'_>);
    /// A flow sends nothing new; it has ended once what it has sent is delivered.
    fn stop(&mut self, flow: u32);
    /// A flow's counters; the sums of what closed subflows counted stay in them.
    fn look(&mut self, flow: u32) -> FlowView;
    /// A finished flow's counters have been taken: nothing will be asked about it any more.
    fn close(&mut self, flow: u32);
}
