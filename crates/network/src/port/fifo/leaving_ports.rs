//! Which ports of links to other regions hold packets.

use crate::places::{Places, PortId};
use pathweave_units::Time;

/// Ports of links to other regions, and how far what they have sent has been handed over.
#[derive(Debug)]
pub(super) struct LeavingPorts {
    /// Those that hold packets. Until the step's end there may be others, which held none after their node's turn.
    pub listed: Vec<PortId>,
    /// By port. Empty where there is no other region.
    pub handed_over: Box<[HandedOver]>,
    /// Room for those whose packets are handed over.
    pub room: Vec<PortId>,
}

/// What has been handed over of a port's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandedOver {
    /// The first entry of its ring that was not handed over to the region at the link's end.
    pub next: u32,
    /// Whether the port held packets then.
    pub holds_more: bool,
    /// All that had been sent before this time was handed over.
    pub at: Time,
}

impl HandedOver {
    /// Nothing from this entry on.
    pub fn nothing_from(first: u32) -> HandedOver {
        HandedOver {
            next: first,
            holds_more: true,
            at: Time::ZERO,
        }
    }
}

impl LeavingPorts {
    /// Of a region with these places. No port holds packets.
    pub fn new(places: &Places) -> LeavingPorts {
        let lead_out = (0..places.count()).any(|port| places.leads_out(PortId(port)));
        let ports = if lead_out { places.count() } else { 0 };
        LeavingPorts {
            listed: Vec::new(),
            handed_over: vec![HandedOver::nothing_from(0); ports as usize].into(),
            room: Vec::new(),
        }
    }

    /// A port that held none has a packet, at this place of its ring. It is a function of its own because most runs have one
    /// region.
    #[cold]
    #[inline(never)]
    pub fn add(&mut self, port: PortId, first: u32) {
        self.listed.push(port);
        self.handed_over[port.0 as usize] = HandedOver::nothing_from(first);
    }

    /// A port loses its packets. Returns the first entry of its ring that was not handed over, if it held packets.
    pub fn remove(&mut self, port: PortId) -> Option<u32> {
        let place = self.listed.iter().position(|&other| other == port)?;
        self.listed.swap_remove(place);
        Some(self.next_of(port))
    }

    pub fn next_of(&self, port: PortId) -> u32 {
        self.handed_over[port.0 as usize].next
    }
}
