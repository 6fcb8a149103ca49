//! What can be seen of a network from outside.

use crate::agent::AgentStatistics;
use crate::histogram::QueueHistogram;
use crate::network::Network;
use crate::packet::PacketContent;
use crate::places::PortId;
use crate::port::Ports;
use crate::shared_buffer::SharedBuffer;
use crate::statistics::LinkStatistics;
use pathweave_units::{Rate, Time};

/// Counters that do not add up: a defect of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conservation {
    /// Those of a link.
    Link {
        /// The link.
        link: u32,
        /// Packets offered to it.
        offered: u64,
        /// Packets delivered, lost, or still held.
        accounted: u64,
    },
    /// Those of the whole network.
    Network {
        /// Packets that were sent and have neither arrived nor been lost.
        under_way: u64,
        /// Packets that the ports hold.
        held: u64,
    },
}

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// Number of links.
    pub fn links(&self) -> u32 {
        self.places.count()
    }

    /// Whether a link is up.
    pub fn is_up(&self, link: u32) -> bool {
        self.ports.is_up(self.places.port_of(link))
    }

    /// Whether a link is up and does not lose everything.
    pub fn carries(&self, link: u32) -> bool {
        let port = self.places.port_of(link);
        self.ports.is_up(port) && !self.ports.loses_all(port)
    }

    /// A link's present rate.
    pub fn rate(&self, link: u32) -> Rate {
        self.ports.rate(self.places.port_of(link))
    }

    /// Packets waiting at a link's port.
    pub fn waiting(&self, link: u32, now: Time) -> u32 {
        self.ports.waiting(self.places.port_of(link), now)
    }

    /// A link's counters.
    pub fn statistics(&self, link: u32, now: Time) -> LinkStatistics {
        let carried = self.ports.statistics(self.places.port_of(link), now);
        self.with_implied_feedback(link, now, carried)
    }

    /// Bits that a link has sent, those of the packet in service up to now included, times picoseconds a second.
    pub fn sent(&self, link: u32, now: Time) -> u128 {
        let sent = self.ports.sent(self.places.port_of(link), now);
        sent + self.sent_of_implied_feedback(link, now)
    }

    /// The queue lengths that packets arriving at a link's port found: all of them, or a sample.
    pub fn histogram(&mut self, link: u32) -> QueueHistogram {
        self.count_observed(link);
        self.ports.histogram(self.places.port_of(link))
    }

    /// The queue lengths that all packets arriving at a link's port found.
    ///
    /// # Panics
    /// Where only a sample is counted.
    pub fn complete_histogram(&mut self, link: u32) -> QueueHistogram {
        self.count_observed(link);
        let all = self.ports.complete_histogram(self.places.port_of(link));
        all.expect("all arrivals are counted")
    }

    /// The queue lengths at all ports are counted from zero on.
    pub fn clear_histograms(&mut self) {
        for port in 0..self.places.count() {
            self.count_observed(self.places.link_of(PortId(port)));
            self.ports.clear_histogram(PortId(port));
        }
    }

    /// What a link's agent has kept and done when everything before `now` has happened.
    pub fn agent_statistics(&mut self, link: u32, now: Time) -> AgentStatistics {
        let port = self.places.port_of(link);
        self.ports.agent_statistics(port, now)
    }

    /// The memory that the ports of a node share, if they do.
    pub fn shared_buffer(&self, node: u32) -> Option<&SharedBuffer> {
        self.ports.shared_buffer(node)
    }

    /// Number of packets in the network.
    pub fn in_network(&self) -> usize {
        self.contents.count()
    }

    /// Checks on every link that packets in = delivered + lost + held, and that the ports hold all packets.
    pub fn check_conservation(&self, now: Time) -> Result<(), Conservation> {
        let mut held = 0;
        for &link in self.places.links() {
            let port = self.places.port_of(link);
            let statistics = self.ports.statistics(port, now);
            let holds = u64::from(self.ports.holds(port));
            let accounted = statistics.delivered + statistics.lost() + holds;
            let offered = statistics.offered;
            if accounted != offered {
                return Err(Conservation::Link {
                    link,
                    offered,
                    accounted,
                });
            }
            held += holds;
        }
        // Those that are in another region, and those that come from one.
        held -= self.ports.handed_over();
        for inlet in 0..self.places.inlets().len() as u32 {
            held += u64::from(self.ports.holds(PortId(self.places.count() + inlet)));
        }
        let under_way = self.in_network() as u64;
        if held != under_way {
            return Err(Conservation::Network { under_way, held });
        }
        Ok(())
    }
}
