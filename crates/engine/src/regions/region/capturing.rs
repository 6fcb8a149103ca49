//! Captures of flows whose sources are here.

use super::Region;
use crate::measurement::capture::SentPacket;
use pathweave_control::Feedback;
use pathweave_network::{Header, Ports};
use pathweave_transport::{End, Segment, SendingSubflow};
use pathweave_units::Time;

impl<P: Ports> Region<P> {
    /// The source of a captured flow has handed a packet to its port.
    pub(super) fn capture_sent(&mut self, subflow: SendingSubflow, packet: SentPacket, now: Time) {
        let (flow, subflow) = self.sending.owner(subflow);
        if let Some(recording) = self.recorder.captures.get_mut(&flow) {
            recording.sent(now, subflow, packet);
        }
    }

    /// A packet has arrived at its host, which is a flow's source if it acknowledges something.
    pub(super) fn capture_arrival(
        &mut self,
        segment: &Segment,
        (header, feedback): (&Header, Feedback),
        now: Time,
    ) {
        let End::Sending(source) = segment.destination() else {
            return;
        };
        let (flow, subflow) = self.sending.owner(source);
        let blocks = if segment.has_sack_blocks() {
            segment.sack_blocks(self.network.options(*header))
        } else {
            &[]
        };
        if let Some(recording) = self.recorder.captures.get_mut(&flow) {
            recording.arrived(now, subflow, (segment, blocks), (header, feedback));
        }
    }
}
