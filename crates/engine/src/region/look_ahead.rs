//! In fabrics that are larger than a processor's cache, what the next packets need is fetched together.
//!
//! A hop touches the port where a packet arrives, its queue, the next port and that one's queue, and at a host half a
//! dozen things of the transport. If none of them is in the cache, a processor that handles one packet after another
//! waits for each in turn. Here all packets of the wheel's next page are followed as far as they can be seen, first
//! all to their ports, then all to their queues, and so on: a processor fetches things from memory at the same time
//! that do not depend on each other. Nothing is changed, so that results do not depend on it.

use super::Carried;
use crate::scheduler::Scheduler;
use pathweave_network::{Header, Network, PortId, Ports};
use pathweave_transport::{Receiving, Segment, Sending};

/// Fabrics with more links do not fit into a cache of a few megabytes, at about 600 bytes a port.
const MOST_LINKS_IN_CACHE: usize = 4096;

/// Room for what will soon be needed, and whether anything has to be fetched.
#[derive(Debug)]
pub(crate) struct LookAhead {
    is_worth_it: bool,
    ports: Vec<PortId>,
    headers: Vec<Header>,
    segments: Vec<Segment>,
}

impl LookAhead {
    /// For a fabric with this many links, in all regions together: they share a cache.
    pub fn new(links: usize) -> LookAhead {
        LookAhead {
            is_worth_it: links > MOST_LINKS_IN_CACHE,
            ports: Vec::new(),
            headers: Vec::new(),
            segments: Vec::new(),
        }
    }

    #[inline(always)]
    pub fn is_worth_it(&self) -> bool {
        self.is_worth_it
    }

    /// Fetches what the packets of the page need to which the schedule has just turned.
    #[inline(never)]
    pub fn fetch<P: Ports>(
        &mut self,
        scheduler: &Scheduler,
        network: &Network<Carried, P>,
        sending: &Sending,
        receiving: &Receiving,
    ) {
        self.ports.clear();
        scheduler.list_ports(&mut self.ports);
        self.headers.clear();
        network.look_ahead(&mut self.ports, &mut self.headers);
        self.segments.clear();
        self.segments.extend(
            self.headers
                .iter()
                .map(|&header| network.look_at(header).segment),
        );
        sending.look_ahead(&self.segments);
        receiving.look_ahead(&self.segments);
    }
}
