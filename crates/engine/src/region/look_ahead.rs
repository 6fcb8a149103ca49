//! In fabrics that are larger than a processor's cache, what the next packets need is fetched ahead.
//!
//! A hop touches the port where a packet arrives, its queue, the next port and that one's queue, and at a host half a
//! dozen things of the transport. If none of them is in the cache, a processor that handles one packet after another
//! waits for each in turn. Here the packets of some pages of inputs ahead are followed as far as they can be seen. Where
//! something is found depends on what was fetched before, so that there are steps: each page is one step further than
//! the page behind it. Nothing is changed, so that results do not depend on it.

use super::Carried;
use super::outlet::Departures;
use pathweave_network::{Ahead, DueInputs, Header, InputTimes, Inputs, Network, PortId, Ports};
use pathweave_transport::{End, Receiving, Sending};

/// Pages between the first step and the turns of the nodes.
pub(super) const AHEAD: usize = 5;
/// Pages that are under way: one for each step.
const PAGES: usize = AHEAD + 1;

/// Where a region's packets and ends of connections are.
pub(super) struct Memory<'a, P: Ports> {
    pub inputs: &'a Inputs,
    pub network: &'a Network<Carried, P>,
    pub sending: &'a Sending,
    pub receiving: &'a Receiving,
    pub departures: &'a Departures,
}

/// What is known of the packets that arrive at a page of inputs.
#[derive(Debug, Default)]
struct Page {
    due: DueInputs,
    ports: Vec<PortId>,
    /// Ports that they go on to.
    nexts: Vec<PortId>,
    /// Packets that come to their hosts.
    headers: Vec<Header>,
    /// Where these go.
    ends: Vec<End>,
}

/// The pages that are under way.
#[derive(Debug, Default)]
pub(super) struct LookAhead {
    pages: [Page; PAGES],
}

impl LookAhead {
    /// The inputs of a page that was begun at most [`AHEAD`] pages before.
    pub fn due(&self, page: usize) -> DueInputs {
        self.pages[page % PAGES].due
    }

    /// These are the inputs of a page at which something happens: their ports are fetched.
    #[inline(never)]
    pub fn begin<P: Ports>(&mut self, page: usize, due: DueInputs, memory: &Memory<'_, P>) {
        let own = &mut self.pages[page % PAGES];
        own.due = due;
        own.ports.clear();
        own.nexts.clear();
        own.headers.clear();
        own.ends.clear();
        for place in due.places() {
            let port = memory.inputs.port(page * InputTimes::PAGE + place);
            memory.network.ports().prefetch_port(port);
            own.ports.push(port);
        }
    }

    /// All pages before a page that have begun, and not had their turn, take a step.
    #[inline(never)]
    pub fn step<P: Ports>(&mut self, page: usize, memory: &Memory<'_, P>) {
        let steps = [
            Page::fetch_packets,
            Page::follow_packets,
            Page::fetch_ends,
            Page::fetch_connections,
            Page::fetch_paths,
        ];
        for (behind, step) in (1..).zip(steps) {
            if let Some(page) = page.checked_sub(behind) {
                step(&mut self.pages[page % PAGES], memory);
            }
        }
    }
}

impl Page {
    /// The packets' headers are fetched.
    #[inline(always)]
    fn fetch_packets<P: Ports>(&mut self, memory: &Memory<'_, P>) {
        for &port in &self.ports {
            memory.network.ports().prefetch_first(port);
        }
    }

    /// The ports that they go on to are fetched, or what they carry.
    #[inline(always)]
    fn follow_packets<P: Ports>(&mut self, memory: &Memory<'_, P>) {
        let ports = memory.network.ports();
        for &port in &self.ports {
            let next = match ports.look_at_first(port) {
                Ahead::Port(next) => next,
                Ahead::Host(header, answers) => {
                    memory.network.prefetch(header);
                    self.headers.push(header);
                    answers
                }
                Ahead::Unknown => continue,
            };
            ports.prefetch_port(next);
            self.nexts.push(next);
        }
    }

    /// The queues of these ports are fetched, and the subflows.
    #[inline(always)]
    fn fetch_ends<P: Ports>(&mut self, memory: &Memory<'_, P>) {
        for &next in &self.nexts {
            memory.network.ports().prefetch_queue(next);
        }
        for &header in &self.headers {
            let end = memory.network.look_at(header).0.destination();
            match end {
                End::Sending(subflow) => memory.sending.prefetch_subflow(subflow),
                End::Receiving(subflow) => memory.receiving.prefetch_subflow(subflow),
            }
            memory.departures.prefetch(end);
            self.ends.push(end);
        }
    }

    /// The subflows' connections are fetched.
    #[inline(always)]
    fn fetch_connections<P: Ports>(&mut self, memory: &Memory<'_, P>) {
        for &end in &self.ends {
            match end {
                End::Sending(subflow) => memory.sending.prefetch_connection(subflow),
                End::Receiving(subflow) => memory.receiving.prefetch_connection(subflow),
            }
        }
    }

    /// What the connections keep of paths and data is fetched.
    #[inline(always)]
    fn fetch_paths<P: Ports>(&mut self, memory: &Memory<'_, P>) {
        for &end in &self.ends {
            match end {
                End::Sending(subflow) => memory.sending.prefetch_path(subflow),
                End::Receiving(subflow) => memory.receiving.prefetch_data(subflow),
            }
        }
    }
}
