//! In fabrics that are larger than a processor's cache, what the next packets need is fetched together.
//!
//! A hop touches the port where a packet arrives, its queue, the next port and that one's queue, and at a host half a
//! dozen things of the transport. If none of them is in the cache, a processor that handles one packet after another
//! waits for each in turn. Here packets that arrive soon are followed as far as they can be seen, first
//! all to their ports, then all to their queues, and so on: a processor fetches things from memory at the same time
//! that do not depend on each other. Nothing is changed, so that results do not depend on it.

use super::Carried;
use super::outlet::Departures;
use pathweave_network::{DueInputs, Header, Inputs, Network, PortId, Ports};
use pathweave_transport::{Receiving, Segment, Sending};
use pathweave_units::Time;

/// Room for what will soon be needed.
#[derive(Debug, Default)]
pub(super) struct LookAhead {
    headers: Vec<Header>,
    segments: Vec<Segment>,
}

impl LookAhead {
    /// Fetches what the packets need that arrive soon from some of these ports or inlets.
    #[inline(never)]
    pub fn fetch<P: Ports>(
        &mut self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        before: Time,
        network: &Network<Carried, P>,
        (sending, receiving): (&Sending, &Receiving),
        departures: &Departures,
    ) {
        self.headers.clear();
        network.look_ahead(due, before, &mut self.headers);
        self.segments.clear();
        self.segments
            .extend(self.headers.iter().map(|&header| network.look_at(header).0));
        // How what they send in answer leaves.
        departures.look_ahead(&self.segments);
        sending.look_ahead(&self.segments);
        receiving.look_ahead(&self.segments);
    }
}
