//! How runs are carried out. No result depends on it.

/// Into which regions a fabric is to be divided. No result depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Into this many of about the same size, or as many as there can be.
    Into(u8),
    /// The region of each node, by its number; cables without a delay are not cut.
    At(Vec<u8>),
}

impl Cut {
    /// Everything is one region.
    pub const NOWHERE: Cut = Cut::Into(1);
}

/// In which order events are handled. No result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// As is faster for the fabric.
    AsSuits,
    /// Always the first event of all nodes.
    ByTime,
    /// In windows one node after another, where that is possible; hosts may go first.
    ByNode,
}

/// Whether what packets need is fetched from memory before they come. No result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetching {
    /// If the fabric exceeds a processor's cache.
    AsSuits,
    /// Wherever nodes have their turns, and at hosts that go first.
    Always,
    /// Nowhere.
    Never,
}

/// How a plan is carried out. No result depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The regions.
    pub cut: Cut,
    /// The order of events in a region.
    pub turns: Turns,
    /// Reading ahead.
    pub prefetching: Prefetching,
    /// Threads that share the regions.
    pub threads: usize,
}

impl Execution {
    /// One thread with one region.
    pub const PLAIN: Execution = Execution {
        cut: Cut::NOWHERE,
        turns: Turns::AsSuits,
        prefetching: Prefetching::AsSuits,
        threads: 1,
    };
}
