//! Bounds that both variants have.

/// Rounds with this many samples or fewer say nothing about queues.
pub(super) const TOO_FEW_SAMPLES: u32 = 2;
/// Smallest share of the total of packets in queues that a subflow is given.
pub(super) const SMALLEST_ALPHA: f64 = 2.0;
