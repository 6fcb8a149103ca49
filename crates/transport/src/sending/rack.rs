//! RACK: finds lost segments by the time they were sent (RFC 8985, section 6, as implemented in Linux's tcp_recovery.c).
//!
//! A segment is lost when a segment sent later has arrived and enough time has passed since: one RTT and a reordering window.

use crate::tick::Tick;
use pathweave_units::Time;
use std::collections::VecDeque;

/// Recoveries for which a widened reordering window stays (TCP_RACK_RECOVERY_THRESH).
const RECOVERIES_TO_KEEP: u32 = 16;
/// Largest reordering window, in quarters of the minimum RTT.
const MOST_STEPS: u32 = 255;
/// Initial size of the ring of send times; a power of two.
const SMALLEST_RING: usize = 16;

/// When a subflow's segments were sent, and what their arrivals have shown.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Time of the last transmission of each outstanding segment, in a ring indexed by number.
    times: Box<[Time]>,
    /// Retransmissions in the order they were sent. Entries may be outdated: the segment has arrived or was sent again.
    retransmitted: VecDeque<(u32, Time)>,
    /// RTT of the segment that arrived last (RACK.rtt).
    rtt: Time,
    /// Of all arrived segments, the one sent last: when it was sent, and the number after it (RACK.xmit_ts, RACK.end_seq).
    latest: (Time, u32),
    /// Whether anything has arrived since losses were last judged.
    advanced: bool,
    /// Whether segments have arrived out of order.
    reordering_seen: bool,
    /// The reordering window, in quarters of the minimum RTT.
    steps: u32,
    /// Recoveries left until `steps` returns to 1.
    keep: u32,
    /// A D-SACK has shown that a retransmission was not needed.
    dsack_seen: bool,
    /// The window is not widened again until this number is acknowledged.
    widened_until: u32,
    arriving: Arriving,
}

/// State while the segments of one ACK are processed.
#[derive(Clone, Copy, Debug, Default)]
struct Arriving {
    now: Time,
    minimum_rtt: Time,
    /// One past the highest number that had arrived before this ACK.
    highest: u32,
    /// The next number to be sent when the current recovery began.
    recovery_point: u32,
    /// A segment that was sent once arrived below one that had already arrived.
    reordered: bool,
    /// A segment that was sent once, before the recovery began, arrived.
    original: bool,
    /// Highest number whose RTT has been taken.
    latest_number: u32,
    /// While a cumulative ACK is processed: the time stamp it echoes, and the host's clock.
    echo: Option<(u64, Tick)>,
}

impl Arriving {
    /// Whether a retransmitted segment, last sent at `sent`, is acknowledged because an earlier copy arrived: the RTT is
    /// impossibly short (tcp_rack_advance), or the ACK echoes an earlier time stamp (tcp_skb_spurious_retrans).
    fn acknowledges_earlier_copy(&self, sent: Time, rtt: Time) -> bool {
        let is_too_short = rtt < self.minimum_rtt && self.minimum_rtt < Time::MAX;
        let echoes_earlier = self
            .echo
            .is_some_and(|(stamp, tick)| stamp < tick.milliseconds(sent));
        is_too_short || echoes_earlier
    }
}

/// Result of judging the outstanding segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Segments found lost.
    pub lost: u32,
    /// Those among them that were retransmissions.
    pub lost_retransmissions: u32,
    /// Time until the last undecided segment counts as lost; zero if none is undecided.
    pub wait: Time,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack::with(
            vec![Time::ZERO; SMALLEST_RING].into_boxed_slice(),
            VecDeque::new(),
        )
    }
}

impl Rack {
    fn with(times: Box<[Time]>, retransmitted: VecDeque<(u32, Time)>) -> Rack {
        Rack {
            times,
            retransmitted,
            rtt: Time::ZERO,
            latest: (Time::ZERO, 0),
            advanced: false,
            reordering_seen: false,
            steps: 1,
            keep: 0,
            dsack_seen: false,
            widened_until: 0,
            arriving: Arriving::default(),
        }
    }

    /// Resets it for a new subflow; keeps its memory.
    pub fn reset(&mut self) {
        let times = std::mem::take(&mut self.times);
        let mut retransmitted = std::mem::take(&mut self.retransmitted);
        retransmitted.clear();
        *self = Rack::with(times, retransmitted);
    }

    /// When an outstanding segment was last sent.
    #[inline(always)]
    pub fn sent(&self, number: u32) -> Time {
        self.times[number as usize & (self.times.len() - 1)]
    }

    /// A segment is sent; the lowest outstanding one is `una`.
    #[inline(always)]
    pub fn note_sent(&mut self, number: u32, una: u32, now: Time) {
        if (number - una) as usize >= self.times.len() {
            self.grow(una..number);
        }
        let place = number as usize & (self.times.len() - 1);
        self.times[place] = now;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, outstanding: std::ops::Range<u32>) {
        let mut larger = vec![Time::ZERO; self.times.len() * 2].into_boxed_slice();
        let mask = larger.len() - 1;
        for number in outstanding {
            larger[number as usize & mask] = self.sent(number);
        }
        self.times = larger;
    }

    /// A lost segment is retransmitted.
    pub fn note_retransmitted(&mut self, number: u32, una: u32, now: Time) {
        self.note_sent(number, una, now);
        self.retransmitted.push_back((number, now));
    }

    /// An ACK arrives while nothing is missing: it covers everything below `next`, and its last segment was sent at `sent`.
    #[inline(always)]
    pub fn arrive_in_order(&mut self, next: u32, sent: Time, rtt: Time) {
        self.rtt = rtt;
        self.latest = (sent, next);
    }

    /// Starts processing an ACK. `highest` is one past the highest number that had arrived, `recovery_point` the next
    /// number to be sent when the current recovery began.
    pub fn begin(&mut self, now: Time, minimum_rtt: Time, highest: u32, recovery_point: u32) {
        self.advanced = false;
        self.arriving = Arriving {
            now,
            minimum_rtt,
            highest,
            recovery_point,
            ..Arriving::default()
        };
    }

    /// Goes on to the segments that the ACK covers cumulatively. It echoes the time stamp of a packet sent at `echo`.
    pub fn begin_cumulative(&mut self, echo: Time, tick: Tick) {
        self.arriving.latest_number = 0;
        self.arriving.echo = Some((tick.milliseconds(echo), tick));
    }

    /// The ACK covers a segment that no earlier one did.
    pub fn arrive(&mut self, number: u32, was_retransmitted: bool) {
        let sent = self.sent(number);
        let arriving = &mut self.arriving;
        let rtt = arriving.now.saturating_sub(sent);
        if !was_retransmitted {
            arriving.reordered |= number < arriving.highest;
            arriving.original |= number < arriving.recovery_point;
        } else if arriving.acknowledges_earlier_copy(sent, rtt) {
            return;
        }
        // SACK blocks are ordered by the time they changed. Linux processes them by number, so the highest number decides.
        if number >= arriving.latest_number {
            arriving.latest_number = number;
            self.rtt = rtt;
        }
        self.latest = self.latest.max((sent, number + 1));
        self.advanced = true;
    }

    /// Ends processing an ACK. Returns whether it covers a segment that was sent once, before the recovery began.
    pub fn end(&mut self) -> bool {
        self.reordering_seen |= self.arriving.reordered;
        self.arriving.original
    }

    /// A segment that looked lost was only late.
    pub fn note_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A D-SACK arrives that does not belong to a probe.
    pub fn note_dsack(&mut self) {
        self.dsack_seen |= self.reordering_seen;
    }

    /// Widens the reordering window after a D-SACK, at most once per round trip (section 6.2, step 4).
    pub fn adapt(&mut self, acknowledged: u32, next: u32) {
        if acknowledged < self.widened_until {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.keep = RECOVERIES_TO_KEEP;
            self.widened_until = next;
        } else if self.keep == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ends without an undo.
    pub fn end_recovery(&mut self) {
        self.keep = self.keep.saturating_sub(1);
    }

    /// A recovery is undone because D-SACKs have arrived for all its retransmissions.
    pub fn note_undo(&mut self) {
        self.keep = (self.keep + 1).min(RECOVERIES_TO_KEEP);
        self.advanced = true;
    }

    /// The reordering window. `is_certain` means that a recovery is in progress, or that enough segments have arrived above
    /// the missing one to start it.
    pub fn window(&self, is_certain: bool, minimum_rtt: Time, smoothed_rtt: Time) -> Time {
        if !self.reordering_seen && is_certain {
            return Time::ZERO;
        }
        let quarters = (minimum_rtt / 4).saturating_mul(u64::from(self.steps));
        quarters.min(smoothed_rtt)
    }

    /// Whether anything has arrived since losses were last judged.
    pub fn has_advanced(&self) -> bool {
        self.advanced
    }

    /// Whether a segment was sent before one that has arrived.
    pub fn is_earlier(&self, number: u32, sent: Time) -> bool {
        (sent, number + 1) < self.latest
    }

    /// Time until a segment sent at `sent` counts as lost; zero if it does.
    pub fn rest(&self, sent: Time, now: Time, window: Time) -> Time {
        (self.rtt + window).saturating_sub(now.saturating_sub(sent))
    }

    /// Retransmissions in the order they were sent, some of them outdated.
    pub fn retransmitted(&self) -> impl Iterator<Item = (u32, Time)> {
        self.retransmitted.iter().copied()
    }

    /// Keeps the retransmissions for which `keep` returns true.
    pub fn retain_retransmitted(&mut self, mut keep: impl FnMut(&Rack, u32, Time) -> bool) {
        let mut retransmitted = std::mem::take(&mut self.retransmitted);
        retransmitted.retain(|&(number, sent)| keep(self, number, sent));
        self.retransmitted = retransmitted;
    }
}
