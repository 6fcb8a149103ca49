//! Loss repair by time: RACK, the purpose of the one timer, the outstanding probe, and how to undo the last cut.

use super::rack::Rack;
use crate::segment::Segment;
use crate::tick::Tick;
use pathweave_units::Time;

/// What the timer is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// The retransmission timeout (RFC 6298).
    #[default]
    Timeout,
    /// The tail loss probe (RFC 8985, section 7).
    Probe,
    /// The end of the reordering window (RFC 8985, section 6.2, step 5).
    Reordering,
}

/// An outstanding tail loss probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// The next number to be sent after it (TLP.end_seq).
    pub end: u32,
    /// Whether it repeats the last segment instead of carrying new data.
    pub is_retransmission: bool,
}

/// State from before a cut, to restore if the retransmissions were not needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The lowest unacknowledged number at the time of the cut (undo_marker).
    from: u32,
    /// Retransmissions without a D-SACK so far (undo_retrans); `None` before the first retransmission.
    without_dsack: Option<u32>,
    pub window: f64,
    pub ssthresh: f64,
}

impl Undo {
    pub fn new(from: u32, window: f64, ssthresh: f64) -> Undo {
        Undo {
            from,
            without_dsack: None,
            window,
            // As tcp_current_ssthresh has it.
            ssthresh: ssthresh.max(window * 0.75),
        }
    }

    /// A D-SACK arrives for a segment.
    pub fn note_dsack(&mut self, number: u32) {
        if number >= self.from
            && let Some(count) = &mut self.without_dsack
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether D-SACKs have arrived for all retransmissions, so that nothing had been lost (RFC 3708).
    pub fn has_all_dsacks(&self) -> bool {
        self.without_dsack == Some(0)
    }
}

/// Results of processing an ACK that the caller has to act on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Send new data before retransmissions, to find out whether the timeout was spurious.
    pub new_first: bool,
    /// A probe repaired a loss that nothing else has shown.
    pub repaired: bool,
    /// The cut to undo.
    pub undone: Option<Undo>,
    /// Time until the last undecided segment counts as lost; zero if none is undecided.
    pub wait: Time,
}

/// A subflow's state of loss repair by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    pub rack: Rack,
    pub awaits: Awaits,
    pub probe: Option<Probe>,
    pub undo: Option<Undo>,
    /// Time of the first retransmission since all earlier ones were acknowledged (retrans_stamp).
    pub first_retransmission: Option<Time>,
    /// The last timeout may have been spurious; the next ACKs will tell (F-RTO, RFC 5682).
    pub doubts_timeout: bool,
    /// Probes sent.
    pub probes: u64,
    pub outcome: Outcome,
}

impl Repair {
    /// Resets it for a new subflow; keeps its memory.
    pub fn reset(&mut self) {
        let mut rack = std::mem::take(&mut self.rack);
        rack.reset();
        *self = Repair {
            rack,
            ..Repair::default()
        };
    }

    /// A lost segment is retransmitted; the lowest outstanding one is `una`.
    pub fn note_retransmitted(&mut self, number: u32, una: u32, now: Time) {
        self.rack.note_retransmitted(number, una, now);
        self.first_retransmission.get_or_insert(now);
        if let Some(undo) = &mut self.undo {
            undo.without_dsack = Some(undo.without_dsack.unwrap_or(0) + 1);
        }
    }

    /// Whether an ACK answers a packet sent before the first retransmission. Time stamps have a resolution of 1 ms
    /// (RFC 3522).
    pub fn answers_original(&self, ack: &Segment, tick: &Tick) -> bool {
        self.first_retransmission
            .is_some_and(|first| tick.milliseconds(ack.first_sent) < tick.milliseconds(first))
    }

    /// Takes the outcome of the current ACK, except `new_first`.
    pub fn take_outcome(&mut self) -> Outcome {
        let new_first = self.outcome.new_first;
        let outcome = std::mem::take(&mut self.outcome);
        self.outcome.new_first = new_first;
        outcome
    }

    /// Takes [`Outcome::new_first`].
    pub fn takes_new_first(&mut self) -> bool {
        std::mem::take(&mut self.outcome.new_first)
    }
}
