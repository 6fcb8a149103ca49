//! Packets on links from one region to another.

use crate::packet::Header;
use pathweave_units::Time;
use std::collections::VecDeque;

/// A packet on its way from one region to another.
///
/// The link's own region keeps the packet, and all that counts it, until the packet arrives; this is a copy for the
/// region at the link's end, which has it in time.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<S, L> {
    /// The link.
    pub link: u32,
    /// When it arrives.
    pub arrival: Time,
    pub(crate) header: Header,
    pub(crate) label: L,
    pub(crate) segment: S,
}

/// Where packets come in that arrive from another region over one link, in their order.
pub(crate) type Inlet<S, L> = VecDeque<Crossing<S, L>>;
