//! Where the ends of flows and subflows stand.

use crate::regions::region::RegionId;
use pathweave_transport::{ReceivingId, ReceivingSubflow, SendingId, SendingSubflow};

/// The places of a flow's two halves, and their regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    pub source: RegionId,
    pub destination: RegionId,
    pub sending: SendingId,
    pub receiving: ReceivingId,
    /// The places of the first subflow's two halves; those of the others follow.
    pub first_sending: SendingSubflow,
    pub first_receiving: ReceivingSubflow,
}

/// A subflow: its flow's number, its own in the flow, and the places of its halves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowEnds {
    pub flow: u32,
    pub subflow: u32,
    pub source: RegionId,
    pub destination: RegionId,
    pub sending: SendingSubflow,
    pub receiving: ReceivingSubflow,
}

impl Halves {
    /// The ends of the `subflows` subflows of this flow.
    pub fn ends(self, flow: u32, subflows: u32) -> impl Iterator<Item = SubflowEnds> {
        (0..subflows).map(move |subflow| SubflowEnds {
            flow,
            subflow,
            source: self.source,
            destination: self.destination,
            sending: SendingSubflow(self.first_sending.0 + subflow),
            receiving: ReceivingSubflow(self.first_receiving.0 + subflow),
        })
    }
}
