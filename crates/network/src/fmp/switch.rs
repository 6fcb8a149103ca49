//! A switch under FMP, but for its prices.

use pathweave_fabric::NodeId;

/// Stands for "no switch" and "no flow".
pub(super) const NONE: u32 = u32::MAX;

/// A switch's FMP counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FmpStatistics {
    /// Entries of its price table.
    pub prices: u64,
    /// Peak number of entries in its routing table.
    pub routes: u64,
    /// Feedback packets sent.
    pub feedback_packets: u64,
    /// Bytes in them.
    pub feedback_bytes: u64,
    /// Path-failure notices sent.
    pub notices: u64,
    /// Neighbours that it took for dead because of their silence.
    pub silences: u64,
    /// Subflows that it rerouted because their port was dead.
    pub reroutes: u64,
    /// Packets lost because no port led to their destination.
    pub unroutable: u64,
}

/// A switch's state except its prices.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub node: NodeId,
    /// Links to other switches.
    pub ports: Vec<u32>,
    /// Entries in its routing table now.
    pub routes: u64,
    pub statistics: FmpStatistics,
}

/// The other direction of a cable.
pub(super) fn reverse(link: u32) -> u32 {
    link ^ 1
}
