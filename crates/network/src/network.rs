//! All ports together: packets enter at a host, hop from link to link, and come out at a host.

use crate::fmp::{Fmp, Next};
use crate::forwarding::{RouteId, RouteStart, RouteTable, Routes};
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::packed_route::{Special, Step};
use crate::packet::{Contents, Header, PacketContent};
use crate::places::{Places, PortId};
use crate::port::{Delivered, LinkEvents, Ports};
use crate::setup::{LinkSetup, QueuesCounted};
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// What came of a packet's arrival at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival<L> {
    /// It went on to another link.
    Forwarded,
    /// The link lost it silently, or the next port dropped it; [`Network::take`] gives back what it carried.
    Dropped(Header),
    /// It is at its host; [`Network::take`] gives out what it carries.
    AtHost(Header, L),
    /// It was feedback for the switch there.
    Consumed,
}

/// The ports of a region, the packets in them, and the routes they follow.
///
/// Links are numbered by whoever sets the network up. Only events name ports. A region may be the whole fabric; if it
/// is not, whoever runs it takes [`Network::hand_over`] to other regions' [`Network::receive`].
pub struct Network<S: PacketContent, P: Ports> {
    pub(crate) ports: P,
    pub(crate) places: Places,
    pub(crate) contents: Contents<S>,
    routes: Routes,
    /// Present if switches choose routes as packets arrive.
    pub(crate) fmp: Option<Box<Fmp>>,
    /// Of each port.
    #[cfg(feature = "checks")]
    pub(crate) checks: Vec<crate::checks::LinkCheck>,
}

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// Ports for these links. `stream` gives each link's own randomness.
    pub fn new(
        links: &[LinkSetup],
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> Network<S, P> {
        let places = Places::new(links);
        Network::in_region(links, places, RouteTable::default(), counted, stream)
    }

    /// Ports for those of all links that begin in a region. The regions of a fabric share a table of routes.
    pub fn in_region(
        links: &[LinkSetup],
        places: Places,
        table: RouteTable,
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> Network<S, P> {
        Network {
            ports: P::new(links, &places, counted, stream),
            contents: Contents::new(),
            routes: Routes::new(table),
            fmp: None,
            #[cfg(feature = "checks")]
            checks: places
                .links()
                .iter()
                .map(|&link| crate::checks::LinkCheck::new(link, &links[link as usize]))
                .collect(),
            places,
        }
    }

    /// Where the ports of the links are kept.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Where packets of a route set out, and how they go on from now on.
    pub fn start(&self, route: RouteId) -> RouteStart {
        self.routes.start(route)
    }

    /// When a host's port will have sent all that it holds now, on a route that begins so.
    #[inline(always)]
    pub fn free_at(&self, start: RouteStart) -> Time {
        self.ports.free_at(start.first)
    }

    /// Whether a host's port has no place for a packet of this many bytes, on a route that begins so.
    pub fn is_full(&mut self, start: RouteStart, now: Time, size: u16) -> bool {
        self.ports.is_full(start.first, now, size)
    }

    /// A host sends a packet on a route that begins so; the options are those of a packet that has some. Returns what it carries if the
    /// host's own port dropped it.
    #[inline(always)]
    pub fn send<E: LinkEvents>(
        &mut self,
        now: Time,
        RouteStart { path, first }: RouteStart,
        (header, label): (Header, P::Label),
        (content, options): (S, &S::Options),
        events: &mut E,
    ) -> Option<S> {
        let id = self.contents.insert(content, options);
        let header = header.on(path).with_id(id);
        if self.enqueue(first, now, header, label, events) {
            return None;
        }
        Some(self.contents.remove(id))
    }

    /// Offers a packet to a port. Returns whether it was taken.
    #[inline(always)]
    pub(crate) fn enqueue<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> bool {
        let taken = self.ports.enqueue(port, now, header, label, events);
        #[cfg(feature = "checks")]
        if taken {
            self.checks[port.0 as usize].take(now, header.id(), header.size());
        }
        taken
    }

    /// The first packet on a port's wire, or of those that come to an inlet, reaches the far end.
    #[inline(always)]
    pub fn arrive<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        events: &mut E,
    ) -> Arrival<P::Label> {
        let delivered = self.ports.deliver(port, now, events);
        // The region where the link begins watches it.
        #[cfg(feature = "checks")]
        if let Some(check) = self.checks.get_mut(port.0 as usize) {
            check.deliver(now, delivered.header.id());
        }
        self.follow_path(port, delivered, now, events)
    }

    /// The first packet on a port's wire, or of those that come to an inlet, reaches the far end in a node's turn, and
    /// everything has happened at the port before `elsewhere`: that packet, and when the next one arrives; `Time::MAX` if there is none.
    #[inline(always)]
    pub fn take_in_turn(
        &mut self,
        port: PortId,
        _now: Time,
        elsewhere: Time,
    ) -> (Delivered<P::Label>, Time) {
        let (delivered, next) = self.ports.take_first(port, elsewhere);
        #[cfg(feature = "checks")]
        if let Some(check) = self.checks.get_mut(port.0 as usize) {
            check.deliver(_now, delivered.header.id());
        }
        (delivered, next)
    }

    /// A packet has come to the end of a port's link: what came of it.
    #[inline(always)]
    pub fn follow_path<E: LinkEvents>(
        &mut self,
        port: PortId,
        delivered: Delivered<P::Label>,
        now: Time,
        events: &mut E,
    ) -> Arrival<P::Label> {
        let Delivered { header, label, far } = delivered;
        let (step, rest) = header.path.step();
        match step {
            Step::Port(next) => {
                self.forward(PortId(far.0 + next), now, header.on(rest), label, events)
            }
            Step::End => Arrival::AtHost(header, label),
            Step::Special => self.arrive_specially(port, now, header, label, events),
        }
    }

    #[inline(always)]
    pub(crate) fn forward<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> Arrival<P::Label> {
        if self.enqueue(port, now, header, label, events) {
            Arrival::Forwarded
        } else {
            Arrival::Dropped(header)
        }
    }

    /// Forwards a packet whose next step is in the route table.
    #[inline(never)]
    fn follow_table<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> Arrival<P::Label> {
        match self.routes.look_up(header.path) {
            Some((step, rest)) => {
                let next = PortId(self.places.far(port).0 + step);
                let onto = (self.places.link_of(next), next);
                self.forward_beside_feedback(onto, now, header.on(rest), label, events)
            }
            None => Arrival::AtHost(header, label),
        }
    }

    /// A packet arrives whose path does not say by itself where it goes: it is lost, or feedback, or has to be
    /// looked up, or a switch decides.
    #[cold]
    #[inline(never)]
    pub(crate) fn arrive_specially<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> Arrival<P::Label> {
        let link = self.places.link_of(port);
        self.come_over(link, now, events);
        match header.path.special() {
            Special::InTable(_) => self.follow_table(port, now, header, label, events),
            Special::Undecided(route) => {
                let fmp = self.fmp.as_mut().expect("switches that choose routes");
                match fmp.next(link, route, now) {
                    Next::Host => Arrival::AtHost(header, label),
                    Next::None => Arrival::Dropped(header),
                    Next::Link(next) => {
                        let onto = (next, self.places.port_of(next));
                        self.forward_beside_feedback(onto, now, header, label, events)
                    }
                }
            }
            Special::Lost => {
                let is_feedback = header.is_feedback();
                if let Some(fmp) = &mut self.fmp {
                    fmp.on_lost(link, is_feedback);
                }
                if !is_feedback {
                    return Arrival::Dropped(header);
                }
                self.contents.remove(header.id());
                Arrival::Consumed
            }
            Special::Feedback => {
                self.hear_feedback(link, now, events);
                self.contents.remove(header.id());
                Arrival::Consumed
            }
        }
    }

    /// Hosts with several ports hear what switches elsewhere know, and leave ports that lead nowhere. Whoever
    /// drives the network says when, once a feedback period. When a link fails they look again at once: the
    /// cable may be their own.
    pub fn change_host_ports(&mut self) {
        if let Some(fmp) = &mut self.fmp {
            fmp.change_host_ports(|route, link| self.routes.set_first(route, link, &self.places));
        }
    }

    /// Adds a route over these links, of which there is at least one, each from where the one before ends.
    pub fn add_route(&mut self, links: impl Iterator<Item = u32> + Clone) -> RouteId {
        if self.fmp.is_some() {
            // Routes in the table go through [`Network::forward_beside_feedback`], which checks a port for feedback
            // first.
            return self.routes.add_to_table(links, &self.places);
        }
        self.routes.add(links, &self.places)
    }

    /// Adds a route between two hosts whose links the switches choose, for a subflow of the connection with
    /// this token.
    ///
    /// # Panics
    /// Without [`Network::set_fmp`], and when no path joins the two in the intact fabric.
    pub fn add_fmp_route(&mut self, hosts: (u32, u32), token: u64, subflow: u32) -> RouteId {
        let fmp = self.fmp.as_mut().expect("switches that choose routes");
        let first = fmp.host_port(hosts.0, hosts.1, token, subflow);
        let route = self.routes.add_undecided(first, &self.places);
        fmp.open(self.routes.number(route), hosts, token, subflow, first);
        route
    }

    /// Gives a route back. No packet may be on it any more.
    pub fn remove_route(&mut self, route: RouteId) {
        if let Some(fmp) = &mut self.fmp {
            fmp.close(self.routes.number(route));
        }
        self.routes.remove(route);
    }

    /// The links of a route; where switches choose them, as far as they have.
    pub fn links_of(&self, route: RouteId) -> Vec<u32> {
        let chosen = self
            .fmp
            .as_ref()
            .map(|fmp| fmp.links(self.routes.number(route)));
        match chosen {
            Some(links) if !links.is_empty() => links,
            _ => self.routes.links(route, &self.places),
        }
    }

    /// Whether packets on a route can reach their host over links of which this says that they carry something.
    pub fn has_live_path(&self, route: RouteId, carries: impl Fn(u32) -> bool + Copy) -> bool {
        let number = self.routes.number(route);
        match &self.fmp {
            Some(fmp) if fmp.routes(number) => fmp.has_live_path(number, carries),
            _ => {
                let mut links = self.routes.links(route, &self.places).into_iter();
                links.all(carries)
            }
        }
    }

    /// The switches that choose routes, if they do.
    pub fn fmp(&self) -> Option<&Fmp> {
        self.fmp.as_deref()
    }

    /// Takes a packet out of the network: what it carries.
    #[inline(always)]
    pub fn take(&mut self, header: Header) -> S {
        self.contents.remove(header.id())
    }

    /// Fetches from memory the packet that arrives next at each of these inputs of a page, if there is any. At those of them
    /// that belong to `hosts`, adds the headers of all packets that arrive before a time: hosts do not forward.
    pub fn prefetch(
        &self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        hosts: DueInputs,
        before: Time,
        at_hosts: &mut Vec<Header>,
    ) {
        self.ports.prefetch(due, hosts, before, at_hosts);
    }

    /// What a packet in the network carries.
    #[inline(always)]
    pub fn look_at(&self, header: Header) -> S {
        self.contents.get(header.id())
    }

    /// The options of a packet that has some, until the next one is sent after it has been taken out.
    pub fn options(&self, header: Header) -> &S::Options {
        self.contents.options(header.id())
    }

    /// A port's packet in service has been sent.
    pub fn depart<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) {
        self.ports.depart(port, now, events);
    }

    /// Changes a link's rate.
    pub fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E) {
        let port = self.places.port_of(link);
        self.ports.set_rate(port, now, rate, events);
        #[cfg(feature = "checks")]
        self.checks[port.0 as usize].set_rate(rate);
    }

    /// From now on a link loses packets with this probability, after it has sent them.
    pub fn set_loss(&mut self, link: u32, probability: f64) {
        self.ports.set_loss(self.places.port_of(link), probability);
    }

    /// Takes a link down; hands each lost packet's transport part to `lost`, except those that other regions have
    /// ([`Network::lose_crossings`]).
    pub fn fail<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        events: &mut E,
        mut lost: impl FnMut(S),
    ) {
        let port = self.places.port_of(link);
        if !self.ports.is_up(port) {
            return;
        }
        let purged = self.ports.fail(port, now, events);
        #[cfg(feature = "checks")]
        self.checks[port.0 as usize].fail(purged.all().map(|header| header.id()));
        for header in purged.lost {
            let content = self.contents.remove(header.id());
            if !header.is_feedback() {
                lost(content);
            }
        }
        let mut cut_off = Vec::new();
        if let Some(fmp) = &mut self.fmp {
            fmp.on_down(link, &mut cut_off);
            fmp.change_host_ports(|route, link| self.routes.set_first(route, link, &self.places));
        }
        self.send_notices(&cut_off, now, events);
    }

    /// Brings a link back.
    pub fn restore(&mut self, link: u32, now: Time) {
        let port = self.places.port_of(link);
        if !self.ports.is_up(port) {
            self.ports.restore(port, now);
            if let Some(fmp) = &mut self.fmp {
                fmp.on_up(link, now);
            }
        }
    }
}
