//! In fabrics that are larger than a processor's cache, the next packets are fetched together, and what they need at hosts.
//!
//! A hop touches the port where a packet arrives, its queue, the next port and that one's queue, and at a host half a
//! dozen things of the transport. If none of them is in the cache, a processor that handles one packet after another
//! waits for each in turn. Here the packets that arrive next are read together, and at hosts what the transport needs for
//! all that arrive in the step, first all subflows, then all connections, and so on: a processor fetches things from memory
//! at the same time that do not depend on each other. Nothing is changed, so that results do not depend on it.

use super::Carried;
use super::departures::Departures;
use pathweave_network::{DueInputs, Header, Inputs, Network, PortId, Ports};
use pathweave_transport::{Receiving, Segment, Sending};
use pathweave_units::Time;

/// Room for what will soon be needed.
#[derive(Debug, Default)]
pub(super) struct Prefetch {
    headers: Vec<Header>,
    segments: Vec<Segment>,
}

impl Prefetch {
    /// Fetches the packets that arrive soon from some of these ports or inlets, and what they need at those that lead to
    /// hosts.
    #[inline(never)]
    pub fn fetch<P: Ports>(
        &mut self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        hosts: DueInputs,
        before: Time,
        network: &Network<Carried, P>,
        (sending, receiving): (&Sending, &Receiving),
        departures: &Departures,
    ) {
        self.headers.clear();
        network.prefetch(due, hosts, before, &mut self.headers);
        if self.headers.is_empty() {
            return;
        }
        self.segments.clear();
        self.segments
            .extend(self.headers.iter().map(|&header| network.look_at(header).0));
        // How what they send in answer leaves.
        departures.prefetch(&self.segments);
        sending.prefetch(&self.segments);
        receiving.prefetch(&self.segments);
    }
}
