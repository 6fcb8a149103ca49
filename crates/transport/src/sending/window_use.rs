//! How much of its window a subflow uses. Linux lets a window grow only if it was filled, and reduces it after an idle time
//! (tcp_cwnd_validate, tcp_is_cwnd_limited and tcp_cwnd_restart).

use pathweave_control::Path;
use pathweave_units::Time;

/// Counts of a subflow, in packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUse {
    /// When it last sent data (lsndtime).
    last_sent: Time,
    /// Most packets outstanding in the last window of data (max_packets_out).
    most_outstanding: u32,
    /// That window of data ends below this number (cwnd_usage_seq).
    ends_at: u32,
    /// The congestion window was full in that window of data (is_cwnd_limited).
    was_full: bool,
}

/// Timeout, and the smallest window that idle time leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub timeout: Time,
    pub initial_window: f64,
}

impl WindowUse {
    /// Starts when the path opens.
    pub fn begin(&mut self, now: Time) {
        *self = WindowUse {
            last_sent: now,
            ..WindowUse::default()
        };
    }

    /// A retransmission is sent.
    pub fn note_retransmitted(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// New packets are sent. Afterwards those from `una` to `next` are outstanding, and the congestion window is full or not.
    pub(super) fn note_sent(&mut self, (una, next): (u32, u32), is_full: bool, now: Time) {
        self.last_sent = now;
        let outstanding = next - una;
        let is_more = !self.was_full && outstanding > self.most_outstanding;
        if una >= self.ends_at || is_full || is_more {
            self.was_full = is_full;
            self.most_outstanding = outstanding;
            self.ends_at = next;
        }
    }

    /// The congestion window is full although nothing was sent, with packets from `una` to `next` outstanding.
    pub fn note_full(&mut self, una: u32, next: u32) {
        let last_sent = self.last_sent;
        self.note_sent((una, next), true, last_sent);
    }

    /// Whether the window may grow: it was full within the last window of data, or it is in slow start and less than twice
    /// what was outstanding.
    pub fn lets_grow(&self, path: &Path) -> bool {
        let half = path.window / 2.0;
        self.was_full || (path.in_slow_start() && half < f64::from(self.most_outstanding))
    }

    /// New data is sent with nothing outstanding: after more than a timeout, the window is halved per timeout.
    pub(super) fn restart(&mut self, path: &mut Path, limits: Limits, now: Time) {
        let mut idle = now.saturating_sub(self.last_sent);
        if idle <= limits.timeout {
            return;
        }
        raise_ssthresh(path);
        let least = path.window.min(limits.initial_window);
        while idle > limits.timeout && path.window > least {
            idle -= limits.timeout;
            path.window /= 2.0;
        }
        path.window = path.window.max(least);
    }
}

/// ssthresh becomes at least 3/4 of the window (tcp_current_ssthresh).
fn raise_ssthresh(path: &mut Path) {
    path.ssthresh = path.ssthresh.max(0.75 * path.window);
}
