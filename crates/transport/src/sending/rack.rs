//! Which segments are lost, by when they were sent (RACK: RFC 8985, section 6, as Linux has it in tcp_recovery.c).
//!
//! A segment is lost when one that was sent later has arrived and long enough has passed since: an RTT and a window for
//! reordering.

use crate::tick::Tick;
use pathweave_units::Time;
use std::collections::VecDeque;

/// Recoveries for which a wider window for reordering stays (TCP_RACK_RECOVERY_THRESH).
const RECOVERIES_TO_KEEP: u32 = 16;
/// The most quarters of the minimum RTT that the window has.
const MOST_STEPS: u32 = 255;

/// What a subflow's sender knows of when its segments were sent and which have arrived.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// When each outstanding segment was last sent, in a ring as the scoreboard's.
    times: Box<[Time]>,
    /// Segments that were sent again, in that order, and when. Some may have been sent once more since, or have arrived.
    again: VecDeque<(u32, Time)>,
    /// RTT of the segment that arrived last (RACK.rtt).
    rtt: Time,
    /// When the segment was sent that was sent last of those that have arrived, and the number after its own (RACK.xmit_ts
    /// and RACK.end_seq).
    latest: (Time, u32),
    /// Whether something has arrived since losses were last judged.
    advanced: bool,
    /// Whether segments have been seen to arrive out of order.
    reordering_seen: bool,
    /// Quarters of the minimum RTT to wait for what may only be late.
    steps: u32,
    /// Recoveries until `steps` is 1 again.
    keep: u32,
    /// A copy has arrived of a segment that was sent again: it may have been late only.
    copy_seen: bool,
    /// The window has been widened, and is not again until this number is acknowledged.
    widened_until: u32,
    arriving: Arriving,
}

/// What is known while the segments of one acknowledgement are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Arriving {
    now: Time,
    minimum_rtt: Time,
    /// One past the highest number that had arrived before.
    highest: u32,
    /// One past the highest number that had been sent when the state of recovery began.
    recovery_point: u32,
    /// A segment that was sent once arrived below one that had arrived.
    reordered: bool,
    /// A segment that was sent once, before the recovery began, arrived.
    original: bool,
    /// The highest number so far whose RTT counts.
    latest_number: u32,
    /// What is acknowledged in order: the time stamp of the packet that is answered, and the host's tick.
    answered: Option<(u64, Tick)>,
}

impl Arriving {
    /// Whether a segment that was sent more than once, last at `sent`, is acknowledged because an earlier copy arrived: its
    /// RTT would be shorter than there is, or the answer is to an older packet (tcp_rack_advance, tcp_skb_spurious_retrans).
    fn is_of_first_copy(&self, sent: Time, rtt: Time) -> bool {
        let is_too_short = rtt < self.minimum_rtt && self.minimum_rtt < Time::MAX;
        is_too_short
            || self
                .answered
                .is_some_and(|(stamp, tick)| stamp < tick.milliseconds(sent))
    }
}

/// How the segments that may be lost were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Segments found lost.
    pub lost: u32,
    /// Those of them that had been sent again.
    pub lost_again: u32,
    /// How long to wait until the last of those that may only be late is lost; zero if there is none.
    pub wait: Time,
}

impl Rack {
    pub fn new(capacity: usize) -> Rack {
        Rack {
            times: vec![Time::ZERO; capacity].into_boxed_slice(),
            again: VecDeque::new(),
            rtt: Time::ZERO,
            latest: (Time::ZERO, 0),
            advanced: false,
            reordering_seen: false,
            steps: 1,
            keep: 0,
            copy_seen: false,
            widened_until: 0,
            arriving: Arriving::default(),
        }
    }

    /// Makes it as new, keeping its memory.
    pub fn reset(&mut self, capacity: usize) {
        let mut times = std::mem::take(&mut self.times);
        if times.len() != capacity {
            times = vec![Time::ZERO; capacity].into_boxed_slice();
        }
        let mut again = std::mem::take(&mut self.again);
        again.clear();
        *self = Rack {
            times,
            again,
            ..Rack::new(0)
        };
    }

    /// The scoreboard's ring has become larger; these are outstanding.
    pub fn grow(&mut self, outstanding: std::ops::Range<u32>, capacity: usize) {
        let mut larger = vec![Time::ZERO; capacity].into_boxed_slice();
        for number in outstanding {
            larger[number as usize & (capacity - 1)] = self.sent(number);
        }
        self.times = larger;
    }

    /// When an outstanding segment was last sent.
    #[inline(always)]
    pub fn sent(&self, number: u32) -> Time {
        self.times[number as usize & (self.times.len() - 1)]
    }

    /// A segment is sent, for the first time or, being the newest, as a probe.
    #[inline(always)]
    pub fn note_sent(&mut self, number: u32, now: Time) {
        let place = number as usize & (self.times.len() - 1);
        self.times[place] = now;
    }

    /// A lost segment is sent again.
    pub fn note_sent_again(&mut self, number: u32, now: Time) {
        self.note_sent(number, now);
        self.again.push_back((number, now));
    }

    /// Everything below `next` has arrived in order, the last of it `rtt` after it was sent, when nothing was astray.
    #[inline(always)]
    pub fn arrive_in_order(&mut self, next: u32, sent: Time, rtt: Time) {
        self.rtt = rtt;
        self.latest = (sent, next);
    }

    /// An acknowledgement comes whose segments are taken one by one. `highest` is one past the highest number known to
    /// have arrived, `recovery_point` what was next to be sent when the state of recovery began.
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

    /// From now on segments arrive because everything below a number has, in the order of their numbers. The acknowledgement
    /// answers a packet that was sent at `answered`, as time stamps of a millisecond show.
    pub fn begin_in_order(&mut self, answered: Time, tick: Tick) {
        self.arriving.latest_number = 0;
        self.arriving.answered = Some((tick.milliseconds(answered), tick));
    }

    /// A segment is newly known to have arrived. `again` says whether it had been sent more than once.
    pub fn arrive(&mut self, number: u32, again: bool) {
        let sent = self.sent(number);
        let arriving = &mut self.arriving;
        let rtt = arriving.now.saturating_sub(sent);
        if !again {
            arriving.reordered |= number < arriving.highest;
            arriving.original |= number < arriving.recovery_point;
        } else if arriving.is_of_first_copy(sent, rtt) {
            return;
        }
        // Blocks come in the order in which they changed; Linux takes their segments in the order of the numbers.
        if number >= arriving.latest_number {
            arriving.latest_number = number;
            self.rtt = rtt;
        }
        self.latest = self.latest.max((sent, number + 1));
        self.advanced = true;
    }

    /// All segments of the acknowledgement have been taken. Returns whether one of them was sent once, and before the
    /// recovery began.
    pub fn end(&mut self) -> bool {
        self.reordering_seen |= self.arriving.reordered;
        self.arriving.original
    }

    /// A segment was only late.
    pub fn note_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A copy has arrived of a segment that had arrived before, and not of a probe.
    pub fn note_copy(&mut self) {
        self.copy_seen |= self.reordering_seen;
    }

    /// Widens the window when a copy has been seen, at most once a round (section 6.2, step 4).
    pub fn adapt(&mut self, acknowledged: u32, next: u32) {
        if acknowledged < self.widened_until {
            self.copy_seen = false;
        }
        if self.copy_seen {
            self.copy_seen = false;
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.keep = RECOVERIES_TO_KEEP;
            self.widened_until = next;
        } else if self.keep == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended.
    pub fn end_recovery(&mut self) {
        self.keep = self.keep.saturating_sub(1);
    }

    /// A recovery has been taken back because copies of all that was sent again have arrived.
    pub fn note_undo(&mut self) {
        self.keep = (self.keep + 1).min(RECOVERIES_TO_KEEP);
        self.advanced = true;
    }

    /// How long a segment may be late. `hurries` says that a recovery is under way, or that as many segments have arrived
    /// above as make one begin.
    pub fn window(&self, hurries: bool, minimum_rtt: Time, smoothed_rtt: Time) -> Time {
        if !self.reordering_seen && hurries {
            return Time::ZERO;
        }
        let quarters = (minimum_rtt / 4).saturating_mul(u64::from(self.steps));
        quarters.min(smoothed_rtt)
    }

    /// Whether something has arrived since losses were last judged.
    pub fn has_advanced(&self) -> bool {
        self.advanced
    }

    /// Whether a segment that was sent at this time was so before one that has arrived.
    pub fn is_earlier(&self, number: u32, sent: Time) -> bool {
        (sent, number + 1) < self.latest
    }

    /// How much longer a segment that was sent at this time may be late; zero when it is lost.
    pub fn rest(&self, sent: Time, now: Time, window: Time) -> Time {
        (self.rtt + window).saturating_sub(now.saturating_sub(sent))
    }

    /// Segments that were sent again, the first to have been so first, to be judged one by one.
    pub fn take_again(&mut self) -> VecDeque<(u32, Time)> {
        std::mem::take(&mut self.again)
    }

    /// Segments that were sent again, and when.
    pub fn sent_again(&self) -> impl Iterator<Item = (u32, Time)> {
        self.again.iter().copied()
    }

    /// Those of them that are still under way.
    pub fn put_again(&mut self, again: VecDeque<(u32, Time)>) {
        self.again = again;
    }
}
