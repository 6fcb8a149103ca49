//! All ports together: packets enter at a host, hop from link to link, and come out at a host.

use crate::agent::{AgentSetup, AgentStatistics};
use crate::forwarding::{END, RouteId, Routes};
use crate::histogram::QueueHistogram;
use crate::packet::{Header, Packet, PacketId, Packets};
use crate::port::{LinkEvents, Port};
use crate::queue::QueueConfig;
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::sync::Arc;

/// What a link is when the run begins.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
    /// The queue of the port at its near end.
    pub queue: QueueConfig,
    /// The agent of that port, if it has one.
    pub agent: Option<Arc<AgentSetup>>,
}

/// What came of a packet's arrival at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It went on to another link.
    Forwarded,
    /// The link lost it silently, or the next port dropped it; [`Network::take`] gives it back.
    Dropped(PacketId),
    /// It is at its host; [`Network::take`] gives it out.
    AtHost(PacketId),
}

/// A link whose counters do not add up: a defect of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// The link.
    pub link: u32,
    /// Packets offered to it.
    pub offered: u64,
    /// Packets delivered, lost, or still held.
    pub accounted: u64,
}

/// The ports of a fabric, the packets in them, and the routes they follow.
///
/// Links are numbered by whoever sets the network up.
pub struct Network<S, P: Port> {
    ports: Vec<P>,
    packets: Packets<S, P::Label>,
    /// Routes in use.
    pub routes: Routes,
}

impl<S: Copy, P: Port> Network<S, P> {
    /// Ports for these links. `stream` gives each link's own randomness.
    pub fn new(links: &[LinkSetup], stream: impl Fn(u32) -> Stream) -> Network<S, P> {
        let ports = links
            .iter()
            .enumerate()
            .map(|(number, link)| P::new(link, stream(number as u32)))
            .collect();
        Network {
            ports,
            packets: Packets::new(),
            routes: Routes::default(),
        }
    }

    /// A host sends a packet on a route. Returns false if the host's own port dropped it.
    #[inline]
    pub fn send<E: LinkEvents>(
        &mut self,
        now: Time,
        route: RouteId,
        header: Header,
        label: P::Label,
        segment: S,
        events: &mut E,
    ) -> bool {
        let (position, link) = self.routes.first(route);
        let id = self.packets.insert(Packet {
            header: header.at(position),
            label,
            segment,
        });
        let (header, _) = self.packets.visible(id);
        let taken = self.ports[link as usize].enqueue(link, now, id, header, label, events);
        if !taken {
            self.packets.remove(id);
        }
        taken
    }

    /// The first packet on a link's wire reaches the far end.
    #[inline(always)]
    pub fn arrive<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Arrival {
        let port = &mut self.ports[link as usize];
        let (id, label) = port.deliver(link, now, events);
        let (header, kept) = self.packets.visible(id);
        *kept = label;
        port.count_delivered(header.size);
        let (position, next) = self.routes.next(header.position);
        if next == END {
            return if header.is_lost() {
                Arrival::Dropped(id)
            } else {
                Arrival::AtHost(id)
            };
        }
        header.position = position;
        if self.ports[next as usize].enqueue(next, now, id, header, label, events) {
            Arrival::Forwarded
        } else {
            Arrival::Dropped(id)
        }
    }

    /// Takes a packet out of the network.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet<S, P::Label> {
        self.packets.remove(id)
    }

    /// A link's packet in service has been sent.
    pub fn depart<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        self.ports[link as usize].depart(link, now, events);
    }

    /// Changes a link's rate.
    pub fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E) {
        self.ports[link as usize].set_rate(link, now, rate, events);
    }

    /// From now on a link loses packets with this probability, after it has sent them.
    pub fn set_loss(&mut self, link: u32, probability: f64) {
        self.ports[link as usize].set_loss(probability);
    }

    /// Takes a link down; hands each lost packet's transport part to `lost`.
    pub fn fail<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        events: &mut E,
        mut lost: impl FnMut(S),
    ) {
        if self.ports[link as usize].is_up() {
            for id in self.ports[link as usize].fail(link, now, events).0 {
                lost(self.packets.remove(id).segment);
            }
        }
    }

    /// Brings a link back.
    pub fn restore(&mut self, link: u32, now: Time) {
        if !self.ports[link as usize].is_up() {
            self.ports[link as usize].restore(now);
        }
    }

    /// Number of links.
    pub fn links(&self) -> u32 {
        self.ports.len() as u32
    }

    /// Whether a link is up.
    pub fn is_up(&self, link: u32) -> bool {
        self.ports[link as usize].is_up()
    }

    /// A link's present rate.
    pub fn rate(&self, link: u32) -> Rate {
        self.ports[link as usize].rate()
    }

    /// Packets waiting at a link's port.
    pub fn waiting(&self, link: u32, now: Time) -> u32 {
        self.ports[link as usize].waiting(now)
    }

    /// A link's counters.
    pub fn statistics(&self, link: u32, now: Time) -> LinkStatistics {
        self.ports[link as usize].statistics(now)
    }

    /// The queue lengths that packets arriving at a link's port found.
    pub fn histogram(&mut self, link: u32) -> &mut QueueHistogram {
        self.ports[link as usize].histogram()
    }

    /// What a link's agent has kept and done.
    pub fn agent_statistics(&self, link: u32) -> AgentStatistics {
        self.ports[link as usize].agent_statistics()
    }

    /// Number of packets in the network.
    pub fn in_network(&self) -> usize {
        self.packets.in_network()
    }

    /// Checks on every link that packets in = delivered + lost + held.
    pub fn check_conservation(&self, now: Time) -> Result<(), Conservation> {
        for (link, port) in self.ports.iter().enumerate() {
            let statistics = port.statistics(now);
            let accounted = statistics.delivered + statistics.lost() + u64::from(port.holds());
            if accounted != statistics.offered {
                let offered = statistics.offered;
                return Err(Conservation {
                    link: link as u32,
                    offered,
                    accounted,
                });
            }
        }
        Ok(())
    }
}
