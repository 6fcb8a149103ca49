//! What a connection keeps of a path beside what the controller sees.

use pathweave_units::{Bytes, Time};

/// A path's id, as the transport has it. It may rise for ever: memory goes by how many paths are alive at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u64);

/// One path's record, or a free place.
#[derive(Clone, Debug)]
pub(super) struct PathRecord {
    /// The path's id; none where the place is free.
    pub id: Option<PathId>,
    /// Packets that were sent before this are of another network path.
    pub began: Time,
    pub bytes_in_flight: Bytes,
    /// When the latest packet was sent.
    pub last_sent: Option<Time>,
    /// RTTVAR of RFC 9002.
    pub rtt_variation: Time,
    /// Packets acknowledged since the controller was told last.
    pub acknowledged: Batch,
    /// When the window was cut last for a loss: packets sent until then are of that congestion.
    pub cut: Option<Time>,
    /// What an undo of the latest loss needs.
    pub before_loss: Option<BeforeLoss>,
    /// Packets numbered below this were sent when the window was full, or before that.
    pub filled: u64,
    /// Whether the path passes marks on, as far as is known.
    pub ecn_works: bool,
}

/// Packets that an acknowledgement acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    pub packets: u32,
    pub bytes: u64,
    /// When the latest of them was sent.
    pub sent: Time,
}

/// Window, ssthresh and last cut before a loss, and the ssthresh that it left: every later cut changes that.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeLoss {
    pub window: f64,
    pub ssthresh: f64,
    pub cut: Option<Time>,
    pub left: f64,
}

impl PathRecord {
    /// Of a path that begins now.
    pub fn new(id: PathId, began: Time) -> PathRecord {
        PathRecord {
            id: Some(id),
            began,
            bytes_in_flight: Bytes::ZERO,
            last_sent: None,
            rtt_variation: Time::ZERO,
            acknowledged: Batch::default(),
            cut: None,
            before_loss: None,
            filled: 0,
            ecn_works: true,
        }
    }
}
