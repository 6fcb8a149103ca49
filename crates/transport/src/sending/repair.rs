//! What a subflow that finds losses by time knows besides: what its one timer is for, the probe that is under way, and
//! what a cut is taken back to that was made for nothing.

use crate::segment::Segment;
use crate::tick::Tick;
use pathweave_units::Time;

/// What the one timer is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// The retransmission timeout (RFC 6298).
    #[default]
    Timeout,
    /// The tail loss probe (RFC 8985, section 7).
    Probe,
    /// A segment that may only be late is lost then (RFC 8985, section 6.2, step 5).
    Reordering,
}

/// A probe that has been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// What was next to be sent after it (TLP.end_seq).
    pub end: u32,
    /// Whether it was the newest segment once more, and not a new one.
    pub again: bool,
}

/// What a cut is taken back to if all that was sent again turns out to have arrived before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// What was unacknowledged first when it was made.
    from: u32,
    /// Segments sent again since of which no copy has arrived; `None` until one is sent again.
    copies_to_come: Option<u32>,
    /// The window before the cut.
    pub window: f64,
    /// ssthresh before the cut.
    pub ssthresh: f64,
}

impl Undo {
    /// A cut is made of this window and ssthresh.
    pub fn new(from: u32, window: f64, ssthresh: f64) -> Undo {
        Undo {
            from,
            copies_to_come: None,
            window,
            // tcp_current_ssthresh: what had been reached counts.
            ssthresh: ssthresh.max(window * 0.75),
        }
    }

    /// A copy of a segment has arrived.
    pub fn note_copy(&mut self, number: u32) {
        if number >= self.from
            && let Some(copies) = &mut self.copies_to_come
        {
            *copies = copies.saturating_sub(1);
        }
    }

    /// Whether copies of all that was sent again have arrived: the first ones were not lost (RFC 2883, RFC 3708).
    pub fn has_all_copies(&self) -> bool {
        self.copies_to_come == Some(0)
    }
}

/// What has come of an acknowledgement besides its progress, until it is acted upon.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// New data is to be sent before what is lost: it will tell whether the timeout came for nothing.
    pub new_first: bool,
    /// A probe repaired a loss that nothing else would have shown.
    pub repaired: bool,
    /// The cut to be taken back.
    pub undone: Option<Undo>,
    /// How long to wait until the last of the segments that may only be late is lost; zero if there is none.
    pub wait: Time,
}

/// The state of a subflow's repairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    pub awaits: Awaits,
    pub probe: Option<Probe>,
    pub undo: Option<Undo>,
    /// When the first segment was sent again of those that are not all acknowledged since (retrans_stamp).
    pub first_sent_again: Option<Time>,
    /// A timeout may have come for nothing: what is acknowledged next tells (F-RTO, RFC 5682).
    pub doubts_timeout: bool,
    /// Probes sent.
    pub probes: u64,
    pub outcome: Outcome,
}

impl Repair {
    /// A lost segment is sent again.
    pub fn note_sent_again(&mut self, now: Time) {
        self.first_sent_again.get_or_insert(now);
        if let Some(undo) = &mut self.undo {
            undo.copies_to_come = Some(undo.copies_to_come.unwrap_or(0) + 1);
        }
    }

    /// Whether an acknowledgement answers a packet that was sent before anything was sent again, as time stamps of a
    /// millisecond show it (RFC 3522).
    pub fn is_answer_to_first(&self, ack: &Segment, tick: &Tick) -> bool {
        self.first_sent_again
            .is_some_and(|again| tick.milliseconds(ack.first_sent) < tick.milliseconds(again))
    }

    /// What has come of the acknowledgement at hand, but for what is sent first.
    pub fn take_outcome(&mut self) -> Outcome {
        let new_first = self.outcome.new_first;
        let outcome = std::mem::take(&mut self.outcome);
        self.outcome.new_first = new_first;
        outcome
    }

    /// Whether new data is to be sent before what is lost.
    pub fn takes_new_first(&mut self) -> bool {
        std::mem::take(&mut self.outcome.new_first)
    }
}
