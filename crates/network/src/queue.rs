//! What a queue is limited to and when it marks, as a scenario says it.

use pathweave_units::Bytes;

/// How much may wait at a port; the packet in service does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Everything that comes.
    None,
    /// This many packets, whatever their size.
    Packets(u32),
    /// This many bytes.
    Bytes(Bytes),
}

/// What waits at a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub packets: u32,
    pub bytes: u32,
}

/// What a port does with an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Take,
    TakeAndMark,
    /// Taken, and lost on the way.
    Lose,
    Drop,
}

impl Limit {
    /// `waiting` as a share of the limit; zero without a limit.
    pub(crate) fn share(&self, waiting: Waiting) -> f64 {
        match *self {
            Limit::None => 0.0,
            Limit::Packets(packets) => f64::from(waiting.packets) / f64::from(packets),
            Limit::Bytes(bytes) => f64::from(waiting.bytes) / bytes.get() as f64,
        }
    }
}

/// A queue length to compare with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Waiting packets; a fraction is possible for marking that grows with the queue.
    Packets(f64),
    /// Waiting bytes.
    Bytes(Bytes),
}

/// Whether a queue exactly at the threshold marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkingRule {
    /// Marks when more than the threshold waits.
    #[default]
    Above,
    /// Marks when the threshold or more waits, as some published code does.
    AtOrAbove,
}

/// Which arriving packets get a congestion mark. What waits is counted before the packet joins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// None.
    None,
    /// All that find more than the threshold waiting.
    Step {
        /// K.
        threshold: Threshold,
        /// What happens at exactly K.
        rule: MarkingRule,
    },
    /// None up to `from` waiting packets, then with a probability that grows linearly to
    /// `probability` at `to`, and all above it: RED on the instantaneous queue. FCC's proportional
    /// rule (FMPTCP paper) is `from` 0, `to` 0.8 of the limit, `probability` 0.8.
    Linear {
        /// Waiting packets below which none is marked.
        from: f64,
        /// Waiting packets above which all are marked.
        to: f64,
        /// Probability at `to`.
        probability: f64,
    },
    /// The same by an average of the queue, with marks spread evenly: RED (Floyd and Jacobson 1993). With weight 1 and both
    /// thresholds at K it is the step above K.
    Red {
        /// Average up to which none is marked, in packets.
        from: f64,
        /// Average above which all are marked, in packets.
        to: f64,
        /// Probability at `to`.
        probability: f64,
        /// The part of the difference to the queue by which each packet that arrives moves the average.
        weight: f64,
    },
}

/// A port's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// When it is full.
    pub limit: Limit,
    /// When it marks.
    pub marking: Marking,
    /// Whether packets that cannot be marked are dropped where others would be marked.
    pub drop_ecn_blind: bool,
}

impl Default for QueueConfig {
    /// 100 packets, drop-tail.
    fn default() -> QueueConfig {
        QueueConfig {
            limit: Limit::Packets(100),
            marking: Marking::None,
            drop_ecn_blind: false,
        }
    }
}
