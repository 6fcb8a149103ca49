//! What packets carry, and to which region.

use pathweave_network::PacketContent;
use pathweave_transport::{SackBlocks, Segment};

/// A region's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RegionId(pub u8);

/// What a packet carries: the transport's part, in which the region of the half that it goes to is written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried(pub Segment);

impl PacketContent for Carried {
    type Options = SackBlocks;

    #[inline(always)]
    fn has_options(&self) -> bool {
        self.0.has_sack_blocks()
    }
}

impl Carried {
    /// The region of the half that it goes to.
    pub fn region(&self) -> RegionId {
        RegionId(self.0.region)
    }
}
