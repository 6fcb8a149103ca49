//! Packets on links from one region to another.

use crate::packet::Header;
use crate::places::PortId;
use pathweave_units::Time;

/// A packet on its way from one region to another.
///
/// The link's own region counts it until it arrives; what it carries is in the region at the link's end, which has it
/// in time.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<S, L> {
    /// Where it arrives there.
    pub(crate) inlet: PortId,
    /// When the port had sent it.
    pub(crate) departure: Time,
    pub(crate) header: Header,
    pub(crate) label: L,
    pub(crate) segment: S,
}
