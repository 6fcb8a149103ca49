//! All ports together: packets enter at a host, hop from link to link, and come out at a host.

use crate::agent::{AgentSetup, AgentStatistics, PacketLabel};
use crate::fmp::{Fmp, Message, Next};
use crate::forwarding::{END, RouteId, Routes};
use crate::histogram::QueueHistogram;
use crate::packet::{Header, Packet, PacketId, Packets};
use crate::port::{LinkEvents, Port};
use crate::queue::QueueConfig;
use crate::shared_buffer::SharedBuffer;
use crate::statistics::LinkStatistics;
use pathweave_control::Feedback;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::rc::Rc;
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
    /// The memory that it shares with the other ports of its switch, if it does.
    pub buffer: Option<Rc<SharedBuffer>>,
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
    /// It was feedback for the switch there.
    Consumed,
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
    routes: Routes,
    /// Where switches choose routes while packets come.
    fmp: Option<Box<Fmp>>,
    /// Of each link.
    #[cfg(feature = "checks")]
    checks: Vec<crate::checks::LinkCheck>,
}

impl<S: Copy + Default, P: Port> Network<S, P> {
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
            fmp: None,
            #[cfg(feature = "checks")]
            checks: (0..)
                .zip(links)
                .map(|(link, setup)| crate::checks::LinkCheck::new(link, setup))
                .collect(),
        }
    }

    /// From now on switches can choose routes while packets come: [`Network::add_fmp_route`]. Links are
    /// numbered as in the fabric.
    pub fn set_fmp(&mut self, fmp: Fmp) {
        self.fmp = Some(Box::new(fmp));
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
        let taken = self.enqueue(link, now, id, events);
        if !taken {
            self.packets.remove(id);
        }
        taken
    }

    /// Offers a packet to a link's port. Returns whether it was taken.
    #[inline(always)]
    fn enqueue<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        id: PacketId,
        events: &mut E,
    ) -> bool {
        let (header, label) = self.packets.visible(id);
        let taken = self.ports[link as usize].enqueue(link, now, id, header, *label, events);
        #[cfg(feature = "checks")]
        if taken {
            self.checks[link as usize].take(now, id, header.size);
        }
        taken
    }

    /// The first packet on a link's wire reaches the far end.
    #[inline(always)]
    pub fn arrive<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Arrival {
        let port = &mut self.ports[link as usize];
        let (id, label) = port.deliver(link, now, events);
        #[cfg(feature = "checks")]
        self.checks[link as usize].deliver(now, id);
        let (header, kept) = self.packets.visible(id);
        *kept = label;
        port.count_delivered(header.size);
        let (position, next) = self.routes.next(header.position);
        if next == END {
            return if header.is_lost() || self.fmp.is_some() {
                self.arrive_at_end(link, now, id, events)
            } else {
                Arrival::AtHost(id)
            };
        }
        header.position = position;
        // Not by `enqueue`, which would look the packet up once more: this is done for each packet and hop.
        let taken = self.ports[next as usize].enqueue(next, now, id, header, label, events);
        #[cfg(feature = "checks")]
        if taken {
            self.checks[next as usize].take(now, id, header.size);
        }
        if taken {
            Arrival::Forwarded
        } else {
            Arrival::Dropped(id)
        }
    }

    /// A packet has come to the end of its list of links: it is lost, at its host, or where a switch has to
    /// look further.
    #[cold]
    #[inline(never)]
    fn arrive_at_end<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        id: PacketId,
        events: &mut E,
    ) -> Arrival {
        let (header, _) = self.packets.visible(id);
        let Some(fmp) = &mut self.fmp else {
            return Arrival::Dropped(id);
        };
        let is_feedback = header.is_feedback();
        if header.is_lost() {
            fmp.on_lost(link, is_feedback);
            if !is_feedback {
                return Arrival::Dropped(id);
            }
        } else if is_feedback {
            let mut cut_off = Vec::new();
            let queue = self.ports[link as usize ^ 1].occupancy(now);
            fmp.on_message(link, now, queue, &mut cut_off);
            self.send_notices(&cut_off, now, events);
        } else {
            let next = match fmp.next(link, header.position, now) {
                Next::Host => return Arrival::AtHost(id),
                Next::None => return Arrival::Dropped(id),
                Next::Link(next) => next,
            };
            return if self.enqueue(next, now, id, events) {
                Arrival::Forwarded
            } else {
                Arrival::Dropped(id)
            };
        }
        self.packets.remove(id);
        Arrival::Consumed
    }

    /// A feedback period of this switch of FMP is over: it looks who is silent, and tells its neighbours.
    pub fn send_feedback<E: LinkEvents>(&mut self, switch: u32, now: Time, events: &mut E) {
        let Some(mut fmp) = self.fmp.take() else {
            return;
        };
        let mut cut_off = Vec::new();
        let ports = &self.ports;
        let sent = |link: u32| {
            (
                ports[link as usize].delivered(),
                ports[link as usize].rate(),
            )
        };
        fmp.find_silent(switch, now, sent, &mut cut_off);
        fmp.notify(&cut_off, |fmp, link, message| {
            self.tell(fmp, link, message, now, events);
        });
        fmp.tell_all(switch, |fmp, link, message| {
            self.tell(fmp, link, message, now, events);
        });
        self.fmp = Some(fmp);
    }

    /// Hosts with several ports hear what switches elsewhere know, and leave ports that lead nowhere. It comes
    /// from afar: whoever drives the network says when, once a feedback period.
    pub fn change_host_ports(&mut self) {
        if let Some(fmp) = &mut self.fmp {
            fmp.change_host_ports(|position, port| self.routes.set_first(position, port));
        }
    }

    fn send_notices<E: LinkEvents>(&mut self, rows: &[u32], now: Time, events: &mut E) {
        if rows.is_empty() {
            return;
        }
        if let Some(mut fmp) = self.fmp.take() {
            fmp.notify(rows, |fmp, link, message| {
                self.tell(fmp, link, message, now, events);
            });
            self.fmp = Some(fmp);
        }
    }

    fn tell<E: LinkEvents>(
        &mut self,
        fmp: &mut Fmp,
        link: u32,
        message: Message,
        now: Time,
        events: &mut E,
    ) {
        let label = P::Label::new(Feedback::None, u32::MAX, true);
        let id = self.packets.insert(Packet {
            header: Header::feedback(message.size()),
            label,
            segment: S::default(),
        });
        if self.enqueue(link, now, id, events) {
            fmp.on_sent(link, message);
        } else {
            self.packets.remove(id);
        }
    }

    /// Adds a route over these links.
    pub fn add_route(&mut self, links: impl ExactSizeIterator<Item = u32>) -> RouteId {
        self.routes.add(links)
    }

    /// Adds a route between two hosts whose links the switches choose, for a subflow of the connection with
    /// this token.
    ///
    /// # Panics
    /// Without [`Network::set_fmp`], and when no path joins the two in the intact fabric.
    pub fn add_fmp_route(&mut self, hosts: (u32, u32), token: u64, subflow: u32) -> RouteId {
        let fmp = self.fmp.as_mut().expect("switches that choose routes");
        let port = fmp.host_port(hosts.0, hosts.1, token, subflow);
        let route = self.routes.add([port].into_iter());
        fmp.open(self.routes.position(route), hosts, token, subflow, port);
        route
    }

    /// Gives a route back. No packet may be on it any more.
    pub fn remove_route(&mut self, route: RouteId) {
        if let Some(fmp) = &mut self.fmp {
            fmp.close(self.routes.position(route));
        }
        self.routes.remove(route);
    }

    /// The links of a route; where switches choose them, as far as they have.
    pub fn links_of(&self, route: RouteId) -> Vec<u32> {
        let chosen = self
            .fmp
            .as_ref()
            .map(|fmp| fmp.links(self.routes.position(route)));
        match chosen {
            Some(links) if !links.is_empty() => links,
            _ => self.routes.links(route).collect(),
        }
    }

    /// Whether packets on a route can reach their host over links that carry something.
    pub fn has_live_path(&self, route: RouteId) -> bool {
        let position = self.routes.position(route);
        match &self.fmp {
            Some(fmp) if fmp.routes(position) => {
                fmp.has_live_path(position, |link| self.carries(link))
            }
            _ => self.routes.links(route).all(|link| self.carries(link)),
        }
    }

    /// The switches that choose routes, if they do.
    pub fn fmp(&self) -> Option<&Fmp> {
        self.fmp.as_deref()
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
        #[cfg(feature = "checks")]
        self.checks[link as usize].set_rate(rate);
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
        if !self.ports[link as usize].is_up() {
            return;
        }
        let purged = self.ports[link as usize].fail(link, now, events);
        #[cfg(feature = "checks")]
        self.checks[link as usize].fail(&purged.0);
        for id in purged.0 {
            let packet = self.packets.remove(id);
            if !packet.header.is_feedback() {
                lost(packet.segment);
            }
        }
        let mut cut_off = Vec::new();
        if let Some(fmp) = &mut self.fmp {
            fmp.on_down(link, &mut cut_off);
            fmp.change_host_ports(|position, port| self.routes.set_first(position, port));
        }
        self.send_notices(&cut_off, now, events);
    }

    /// Brings a link back.
    pub fn restore(&mut self, link: u32, now: Time) {
        if !self.ports[link as usize].is_up() {
            self.ports[link as usize].restore(now);
            if let Some(fmp) = &mut self.fmp {
                fmp.on_up(link, now);
            }
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

    /// Whether a link is up and does not lose everything.
    pub fn carries(&self, link: u32) -> bool {
        let port = &self.ports[link as usize];
        port.is_up() && !port.loses_all()
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

    /// Bits that a link has sent, those of the packet in service up to now included, times picoseconds a second.
    pub fn sent(&self, link: u32, now: Time) -> u128 {
        self.ports[link as usize].sent(now)
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
