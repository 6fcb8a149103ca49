//! How switches that choose routes tell each other about their paths: in packets, or without them.

use crate::agent::PacketLabel;
use crate::fmp::{Fmp, Implied, LinkToImply, Message};
use crate::network::{Arrival, Network};
use crate::packet::{Header, PacketContent};
use crate::places::PortId;
use crate::port::{BIT, LinkEvents, Ports, sent_in_service};
use crate::statistics::LinkStatistics;
use pathweave_control::Feedback;
use pathweave_units::Time;

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// From now on switches can choose routes as packets arrive ([`Network::add_fmp_route`]). Links are numbered as in
    /// the fabric. Feedback travels without packets where that gives the same results.
    pub fn set_fmp(&mut self, mut fmp: Fmp) {
        let (ports, places) = (&self.ports, &self.places);
        let time = |link, bytes| ports.rate(places.port_of(link)).time_for(bytes);
        let mut links = places.links().iter();
        // Idle times count for an average, and feedback ends them.
        let needs_packets = links.any(|&link| {
            let port = places.port_of(link);
            ports.shares_memory(port) || ports.averages(port)
        });
        if P::KNOW_ARRIVALS && !P::HAVE_AGENTS && !needs_packets && fmp.is_regular(time) {
            fmp.imply(|link, size| {
                let port = places.port_of(link);
                LinkToImply {
                    port,
                    limit: ports.limit(port),
                    transmission: ports.transmission(port, size),
                }
            });
        }
        self.fmp = Some(Box::new(fmp));
    }

    /// FMP's switches tell their neighbours at `first[switch]` and once a period from then on. Returns whether
    /// [`Network::send_feedback`] has to be called at all these times; if not, feedback needs no packets for now.
    pub fn begin_feedback(&mut self, first: &[Time]) -> bool {
        let fmp = self.fmp.as_mut();
        fmp.is_some_and(|fmp| !fmp.begin(first))
    }

    /// Whether [`Network::carry_feedback`] has to be called within a period, because a link has many messages under way.
    pub fn is_crowded_with_feedback(&self) -> bool {
        self.implied().is_some_and(|implied| implied.is_crowded)
    }

    fn implied(&self) -> Option<&Implied> {
        self.fmp.as_ref().and_then(|fmp| fmp.implied.as_deref())
    }

    /// A feedback period of an FMP switch is over: the switch looks for silent neighbours and tells its neighbours its
    /// prices.
    pub fn send_feedback<E: LinkEvents>(&mut self, switch: u32, now: Time, events: &mut E) {
        let Some(mut fmp) = self.fmp.take() else {
            return;
        };
        if fmp.implied.is_some() {
            self.fmp = Some(fmp);
            return;
        }
        let mut cut_off = Vec::new();
        let (ports, places) = (&self.ports, &self.places);
        let sent = |link: u32| {
            let port = places.port_of(link);
            (ports.delivered(port), ports.rate(port))
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

    pub(crate) fn send_notices<E: LinkEvents>(&mut self, rows: &[u32], now: Time, events: &mut E) {
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
        let (header, label) = self.feedback_packet(message.size());
        if self.enqueue(self.places.port_of(link), now, header, label, events) {
            fmp.on_sent(link, message);
        } else {
            self.contents.remove(header.id());
        }
    }

    fn feedback_packet(&mut self, size: u16) -> (Header, P::Label) {
        let label = P::Label::new(Feedback::None, u32::MAX, true);
        let id = self.contents.insert(S::default(), &S::Options::default());
        (Header::feedback(size).with_id(id), label)
    }

    /// A feedback packet has reached the end of a link.
    pub(crate) fn hear_feedback<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        let fmp = self.fmp.as_mut();
        let fmp = fmp.expect("only FMP's switches send feedback");
        if fmp.implied.is_some() {
            // Prices are recalled when they are needed, so the contents do not matter.
            fmp.a_packet_has_arrived();
            return;
        }
        let mut cut_off = Vec::new();
        let port = self.places.port_of(link ^ 1);
        let own = fmp.own_price(link ^ 1, now, || self.ports.occupancy(port, now));
        fmp.on_message(link, now, own, &mut cut_off);
        self.send_notices(&cut_off, now, events);
    }

    /// A packet has reached the end of a link. Feedback that was due earlier at busy ports is sent first. Nothing has
    /// joined those ports since: every packet that reaches a switch comes through here.
    #[inline(always)]
    pub(crate) fn come_over<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        if let Some(fmp) = &mut self.fmp
            && let Some(implied) = &mut fmp.implied
        {
            implied.on_packet(link, now);
            if implied.is_behind(now) {
                self.tell_until(now, Some(link), events);
            }
        }
    }

    /// Sends the feedback that was due before `now`, because results are about to be read or links to be changed.
    /// Everything before `now` has happened.
    pub fn come_to<E: LinkEvents>(&mut self, now: Time, events: &mut E) {
        if self.implied().is_some() {
            self.tell_until(now, None, events);
            if let Some(fmp) = &mut self.fmp
                && let Some(implied) = &mut fmp.implied
            {
                implied.observed = now;
            }
        }
    }

    /// Sends the feedback that was due before `now` at busy ports. `arrived` is the link that has just delivered a
    /// packet, if any.
    #[inline(never)]
    fn tell_until<E: LinkEvents>(&mut self, now: Time, arrived: Option<u32>, events: &mut E) {
        let Some(mut fmp) = self.fmp.take() else {
            return;
        };
        while let Some(implied) = &mut fmp.implied
            && let Some((link, told)) = implied.take_armed(now)
        {
            self.tell_by_packet(&mut fmp, (link, arrived == Some(link)), told, events);
        }
        self.fmp = Some(fmp);
    }

    /// Sends, as a packet, the feedback that was due at `told`, when the port was busy. `has_arrived` says that the
    /// link has just delivered a packet, which was still on its way at `told`.
    fn tell_by_packet<E: LinkEvents>(
        &mut self,
        fmp: &mut Fmp,
        (link, has_arrived): (u32, bool),
        told: Time,
        events: &mut E,
    ) {
        fmp.look_at_crowd(link, told);
        let Some(implied) = &mut fmp.implied else {
            return;
        };
        self.count_passing(implied, link, told);
        implied.is_counted(link);
        let port = self.places.port_of(link);
        let size = implied.wires[link as usize].size;
        let (header, label) = self.feedback_packet(size);
        let start = self.ports.free_at(port);
        let arrived = has_arrived.then(|| self.ports.take_back(port));
        let taken = self.enqueue(port, told, header, label, events);
        debug_assert!(taken, "no full queue drops feedback");
        if let Some(was_last) = arrived {
            self.ports.take_again(port, was_last, events);
        }
        let end = self.ports.free_at(port);
        let arrival = implied.arrival(link, end);
        implied.send_packet(link, told, arrival);
        implied.told(link, told, (start, end));
        fmp.packets_are_sent(1);
    }

    /// Turns the feedback that a link's port is sending into a packet.
    #[cold]
    #[inline(never)]
    fn make_packet_of_feedback<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        let Some(fmp) = &mut self.fmp else {
            return;
        };
        fmp.packets_are_sent(1);
        let Some(implied) = &mut fmp.implied else {
            return;
        };
        let since = implied.make_packet(link, now);
        let size = implied.wires[link as usize].size;
        let port = self.places.port_of(link);
        let (header, label) = self.feedback_packet(size);
        self.ports.hold_passing(port, since, header, label, events);
        #[cfg(feature = "checks")]
        self.checks[port.0 as usize].take(since, header.id(), header.size());
    }

    /// Forwards a packet to the port of a link that may carry feedback without packets.
    #[inline(always)]
    pub(crate) fn forward_beside_feedback<E: LinkEvents>(
        &mut self,
        (link, port): (u32, PortId),
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> Arrival<P::Label> {
        let start = self.ports.free_at(port);
        let transmission = self.ports.transmission(port, header.size());
        if let Some(implied) = self.implied_mut()
            && !implied.is_out_of_the_way(link, start, (now, transmission))
        {
            return self.forward_among_feedback((link, port), now, header, label, events);
        }
        self.forward(port, now, header, label, events)
    }

    /// Like [`Network::forward_beside_feedback`], where the packet may meet feedback.
    #[inline(never)]
    fn forward_among_feedback<E: LinkEvents>(
        &mut self,
        (link, port): (u32, PortId),
        now: Time,
        header: Header,
        label: P::Label,
        events: &mut E,
    ) -> Arrival<P::Label> {
        let mut start = self.ports.free_at(port);
        if start <= now
            && let Some(implied) = self.implied_mut()
            && implied.is_sending(link, start, now)
        {
            self.make_packet_of_feedback(link, now, events);
            start = self.ports.free_at(port);
        }
        if !self.enqueue(port, now, header, label, events) {
            return Arrival::Dropped(header);
        }
        let end = self.ports.free_at(port);
        if let Some(implied) = self.implied_mut() {
            implied.joined(link, now, (start, end), header.size());
        }
        Arrival::Forwarded
    }

    #[inline(always)]
    fn implied_mut(&mut self) -> Option<&mut Implied> {
        self.fmp.as_mut().and_then(|fmp| fmp.implied.as_deref_mut())
    }

    /// Turns the feedback under way into packets, and sends all later feedback as packets. Nothing may have happened at
    /// `now` yet. Returns when each switch next tells its neighbours: [`Network::send_feedback`] has to be called then
    /// and once a period from then on. Returns `None` if packets carried feedback already.
    pub fn carry_feedback<E: LinkEvents>(
        &mut self,
        now: Time,
        events: &mut E,
    ) -> Option<Vec<Time>> {
        self.make_packets_of_feedback(now, false, events)
    }

    /// The run is over: adds the feedback without packets to all counters.
    pub fn end_feedback<E: LinkEvents>(&mut self, now: Time, events: &mut E) {
        self.make_packets_of_feedback(now, true, events);
    }

    #[cold]
    fn make_packets_of_feedback<E: LinkEvents>(
        &mut self,
        now: Time,
        is_over: bool,
        events: &mut E,
    ) -> Option<Vec<Time>> {
        self.implied()?;
        self.come_to(now, events);
        let mut fmp = self.fmp.take()?;
        let mut implied = fmp.end_implying(now, is_over)?;
        for link in 0..implied.wires.len() as u32 {
            self.count_passing(&mut implied, link, now);
            let (port, size) = (
                implied.wires[link as usize].port,
                implied.wires[link as usize].size,
            );
            let mut under_way = 0;
            for message in implied.under_way(link, now) {
                let (header, label) = self.feedback_packet(size);
                let times = (message.departure, now);
                self.ports.slip_in(port, times, header, label, events);
                #[cfg(feature = "checks")]
                self.checks[port.0 as usize].slip_in(message.told, header.id(), size);
                under_way += 1;
            }
            fmp.packets_are_sent(under_way);
            let arrived = implied.sent(link, now) - under_way as u64;
            let bytes = arrived * u64::from(size);
            self.ports.count_carried(port, arrived, bytes);
            if size > 0 {
                let delivered = self.ports.delivered(port);
                fmp.hear_by_packets(&implied, link, now, delivered);
            }
        }
        let switches = 0..fmp.switches();
        self.fmp = Some(fmp);
        Some(
            switches
                .map(|switch| implied.next_telling(switch, now))
                .collect(),
        )
    }

    /// Adds the feedback without packets that arrived at a link's port before `before` to the port's histogram.
    fn count_passing(&mut self, implied: &mut Implied, link: u32, before: Time) {
        let port = implied.wires[link as usize].port;
        if let Some((first, count)) = implied.take_uncounted(link, before) {
            self.ports
                .count_passing(port, (first, implied.period()), count);
        }
    }

    /// Like [`Network::count_passing`], up to the time of the last [`Network::come_to`].
    pub(crate) fn count_observed(&mut self, link: u32) {
        if self.implied().is_some()
            && let Some(mut fmp) = self.fmp.take()
        {
            if let Some(implied) = &mut fmp.implied {
                let before = implied.observed;
                self.count_passing(implied, link, before);
            }
            self.fmp = Some(fmp);
        }
    }

    /// A link's counters: `carried`, which counts packets, plus the feedback without packets.
    pub(crate) fn with_implied_feedback(
        &self,
        link: u32,
        now: Time,
        carried: LinkStatistics,
    ) -> LinkStatistics {
        let Some(implied) = self.implied() else {
            return carried;
        };
        let sent = implied.sent(link, now);
        let arrived = sent - implied.under_way(link, now).count() as u64;
        let size = u64::from(implied.wires[link as usize].size);
        LinkStatistics {
            offered: carried.offered + sent,
            delivered: carried.delivered + arrived,
            delivered_bytes: carried.delivered_bytes + arrived * size,
            ..carried
        }
    }

    /// The feedback that a link has sent without packets, in the unit of [`Ports::sent`].
    pub(crate) fn sent_of_implied_feedback(&self, link: u32, now: Time) -> u128 {
        let Some(implied) = self.implied() else {
            return 0;
        };
        let wire = &implied.wires[link as usize];
        let message = u128::from(wire.size) * 8 * BIT;
        // What has not been sent yet, which is part of the last message at most.
        let left = implied.under_way(link, now).map(|under_way| {
            let remaining = under_way.departure.saturating_sub(now);
            let rate = self.ports.rate(wire.port);
            message - sent_in_service(wire.size, remaining, rate)
        });
        u128::from(implied.sent(link, now)) * message - left.sum::<u128>()
    }
}
