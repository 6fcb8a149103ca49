//! Which packets are acknowledged at once.

#[cfg(any(test, feature = "checks"))]
use crate::Config;

/// What of the configuration says when a packet is acknowledged at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtOnce {
    /// Data packets to one acknowledgement.
    pub every: u32,
    /// Whether one whose CE mark differs from the last one's is.
    pub at_mark_change: bool,
    /// Whether the connection's last segment is.
    pub at_last: bool,
}

impl AtOnce {
    #[cfg(any(test, feature = "checks"))]
    pub fn new(config: &Config) -> AtOnce {
        AtOnce {
            every: config.ack_every,
            at_mark_change: config.ack_at_mark_change && !config.ack_spans_marks,
            at_last: config.ack_last,
        }
    }
}
