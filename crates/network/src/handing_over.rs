//! Packets leave a region for others, and come from there.

use crate::crossing::{Crossing, Crossings};
use crate::network::Network;
use crate::packet::{Header, PacketContent};
use crate::places::{Places, PortId};
use crate::port::{HandOver, LinkEvents, Ports};
use pathweave_units::Time;
use std::ops::Range;

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// The packets that have been sent to other regions before `now`, those that were handed over earlier left out,
    /// are added to what leaves, by region. `of` names the ports that are meant: there everything before `now` has
    /// happened, and nothing from then on.
    pub fn hand_over(
        &mut self,
        now: Time,
        of: impl Fn(PortId) -> bool,
        leaving: &mut [Crossings<S, P::Label>],
    ) {
        let (ports, mut to) = self.ports_and_regions(leaving);
        ports.hand_over(now, of, &mut to);
        for leaving in leaving {
            leaving.take_contents(&mut self.contents);
        }
    }

    /// A node has had its turn, and everything before `now` has happened there: the headers of what these ports of it have sent
    /// to other regions leave now, while they are in the processor's cache. [`Network::hand_over`] lets what they carry follow.
    #[inline(never)]
    pub fn hand_over_in_turn(
        &mut self,
        ports: Range<u32>,
        now: Time,
        leaving: &mut [Crossings<S, P::Label>],
    ) {
        let (all, mut to) = self.ports_and_regions(leaving);
        all.hand_over_in_turn(ports, now, &mut to);
    }

    /// The ports, and where packets go that leave them for other regions.
    #[inline(always)]
    fn ports_and_regions<'a>(
        &'a mut self,
        leaving: &'a mut [Crossings<S, P::Label>],
    ) -> (&'a mut P, ToRegions<'a, S, P::Label>) {
        let to = ToRegions {
            places: &self.places,
            leaving,
            #[cfg(feature = "checks")]
            checks: &mut self.checks,
        };
        (&mut self.ports, to)
    }

    /// When the first packet will have been sent to another region of those that were not handed over; `Time::MAX`
    /// if there is none.
    pub fn next_to_leave(&self) -> Time {
        self.ports.next_to_leave()
    }

    /// Packets will arrive from another region. Those of a link come in their order.
    pub fn receive<E: LinkEvents>(&mut self, coming: &mut Crossings<S, P::Label>, events: &mut E) {
        coming.drain(
            self,
            |network, soon| {
                let inlets = soon.iter().map(|packet| packet.inlet);
                network.ports.prefetch_at(inlets);
                network.contents.prefetch_at_vacant(soon.len());
            },
            |network, packet, content, options| {
                let id = network.contents.insert_copy(content, options);
                let header = packet.header.with_id(id);
                let inlet = packet.inlet;
                network
                    .ports
                    .receive(inlet, packet.departure, header, packet.label, events);
            },
        );
    }

    /// A link from another region goes down: hands each packet that was to arrive to `lost`.
    pub fn lose_crossings<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        events: &mut E,
        mut lost: impl FnMut(S),
    ) {
        let inlet = self.places.inlet_of(link);
        for header in self.ports.fail(inlet, now, events).lost {
            lost(self.contents.remove(header.id()));
        }
    }
}

/// Where packets go that leave for other regions.
struct ToRegions<'a, S: PacketContent, L> {
    places: &'a Places,
    leaving: &'a mut [Crossings<S, L>],
    #[cfg(feature = "checks")]
    checks: &'a mut [crate::checks::LinkCheck],
}

impl<S: PacketContent, L> HandOver<L> for ToRegions<'_, S, L> {
    #[inline(always)]
    fn soon_of(&self, port: PortId) {
        std::hint::black_box(self.places.end(port));
    }

    #[inline(always)]
    fn sent(&mut self, port: PortId, departure: Time, header: Header, label: L) {
        let (region, inlet) = self.places.end(port);
        self.leaving[region as usize].push(Crossing {
            inlet,
            departure,
            header,
            label,
        });
    }

    #[cfg(feature = "checks")]
    fn arrived(&mut self, port: PortId, arrival: Time, header: Header) {
        self.checks[port.0 as usize].deliver(arrival, header.id());
    }
}
