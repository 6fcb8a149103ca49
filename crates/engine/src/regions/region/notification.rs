//! What a region has to tell the run.

use super::Carried;
use pathweave_transport::ReceivingSubflow;
use pathweave_units::{Bytes, Time};

/// What has happened in a region and concerns the whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notification {
    /// A packet to another region was lost here.
    Lost(Carried),
    /// A data packet may have begun to arrive before an interval ended.
    Straddled(Straddler),
    /// A flow's destination has all of its data.
    Finished {
        flow: u32,
        delivered: Bytes,
        ended: Time,
        /// When traffic hears of it.
        heard: Time,
    },
    /// A subflow has failed, or timed out again since.
    Failed {
        /// When the run hears of it.
        heard: Time,
    },
    /// Nothing more is to come from a flow's source.
    Closed { flow: u32 },
}

/// A data packet that may have begun to arrive before an interval ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Straddler {
    pub at: Time,
    /// The link that brought it to its host.
    pub link: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// The flow, the subflow's number in it, and the place of its receiving half.
    pub flow: u32,
    pub subflow: u32,
    pub receiving: ReceivingSubflow,
    /// What of its payload arrived for the first time.
    pub payload: u64,
}
