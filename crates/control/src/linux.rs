//! A subflow as Linux's multipath modules keep it: whole packets, and Reno with a counter.
//!
//! The modules are those of the out-of-tree MPTCP (multipath-tcp/mptcp, net/mptcp, version 0.9x). All
//! numbers are unsigned integers. cwnd and ssthresh are the window and ssthresh in packets, without
//! their fractions; no ssthresh is the largest number. srtt is 8 times the smoothed RTT in
//! microseconds, without its fraction and at least 1. With `cnt` a counter of each subflow:
//!
//! - slow start, while cwnd < ssthresh: cwnd <- min(cwnd + packets, ssthresh), and what is left of
//!   the packets counts for nothing;
//! - congestion avoidance: if cnt >= n then cwnd <- cwnd + 1 and cnt <- 0, else cnt <- cnt + 1, so one
//!   packet more with every n + 1 acknowledgements. Reno has n = cwnd;
//! - loss: cnt <- 0, ssthresh <- max(cwnd >> 1, 2); cwnd is ssthresh after a fast retransmit and 1
//!   after a timeout.
//!
//! `cnt` counts acknowledgements, not the packets that they acknowledge: the modules took this over
//! from the Reno of their time and kept it when Linux's own Reno began to count packets. So delayed
//! acknowledgements make the windows of the modules grow at half the speed.

use crate::{Loss, Path, Paths, loss};

/// cwnd: the window in whole packets.
#[inline]
pub fn cwnd(path: &Path) -> u32 {
    path.window as u32
}

/// srtt: the smoothed RTT in eighths of a microsecond, at least 1.
#[inline]
pub fn srtt(path: &Path) -> u64 {
    (path.smoothed_rtt.as_picos() / 125_000).clamp(1, u64::from(u32::MAX))
}

/// Whether at most one subflow is active.
#[inline]
pub fn alone(paths: &Paths<'_>) -> bool {
    paths.active().nth(1).is_none()
}

/// In slow start adds `packets`, as far as the path's limit lets them count, up to ssthresh and returns true.
#[inline]
pub fn slow_start(path: &mut Path, packets: u32) -> bool {
    let (cwnd, ssthresh) = (cwnd(path), path.ssthresh as u32);
    let slow = cwnd < ssthresh;
    if slow {
        let packets = packets.min(path.slow_start_limit);
        path.window = f64::from(ssthresh.min(cwnd.saturating_add(packets)));
    }
    slow
}

/// Reno's ssthresh after a loss.
pub fn half(path: &Path) -> u32 {
    (cwnd(path) >> 1).max(2)
}

/// [`loss::cut_to`] in whole packets: a fraction in the minimum window counts as a packet.
pub fn cut_to(path: &mut Path, packets: u32) {
    loss::cut_within(path, f64::from(packets), libm::ceil(path.minimum_window));
}

/// The response to a loss that leaves `ssthresh` packets.
pub fn respond(path: &mut Path, loss: Loss, ssthresh: u32) {
    match loss {
        Loss::FastRetransmit => cut_to(path, ssthresh),
        Loss::Timeout | Loss::PersistentCongestion => {
            path.ssthresh = f64::from(ssthresh);
            path.window = libm::ceil(loss::first_window(path, loss));
        }
    }
}

/// `cnt` of one subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter(u32);

impl Counter {
    /// Nothing counted yet.
    pub const ZERO: Counter = Counter(0);

    /// Counts an acknowledgement in congestion avoidance and returns whether the window has grown.
    #[inline]
    pub fn count(&mut self, path: &mut Path, n: u32) -> bool {
        let grows = self.0 >= n;
        if grows {
            path.window = f64::from(cwnd(path)) + 1.0;
            self.0 = 0;
        } else {
            self.0 += 1;
        }
        grows
    }

    /// The response to a loss that leaves `ssthresh`.
    pub fn on_loss(&mut self, path: &mut Path, loss: Loss, ssthresh: u32) {
        self.0 = 0;
        respond(path, loss, ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::{Counter, alone, cut_to, cwnd, half, slow_start, srtt};
    use crate::{Loss, Path, PathState, Paths};
    use pathweave_units::Time;

    fn path(window: f64, ssthresh: f64) -> Path {
        Path::new(window, 2.0, ssthresh)
    }

    #[test]
    fn fractions_are_dropped() {
        assert_eq!(cwnd(&path(10.9, 1.0)), 10);
        for (picos, eighths) in [
            (100_000_000, 800),
            (100_124_999, 800),
            (100_125_000, 801),
            (1, 1),
            (u64::MAX, u64::from(u32::MAX)),
        ] {
            let mut path = path(10.0, 1.0);
            path.smoothed_rtt = Time::from_picos(picos);
            assert_eq!(srtt(&path), eighths);
        }
    }

    #[test]
    fn one_active_subflow_is_alone() {
        let mut list = [path(10.0, 1.0), path(10.0, 1.0), path(10.0, 1.0)];
        assert!(alone(&Paths::new(&mut list)));
        list[2].state = PathState::Active;
        assert!(alone(&Paths::new(&mut list)));
        list[0].state = PathState::Active;
        assert!(!alone(&Paths::new(&mut list)));
    }

    #[test]
    fn slow_start_stops_at_ssthresh() {
        for (ssthresh, packets, window) in [
            (f64::INFINITY, 3, 13.0),
            (14.0, 3, 13.0),
            (12.0, 3, 12.0),
            (12.9, 3, 12.0),
        ] {
            let mut path = path(10.0, ssthresh);
            assert!(slow_start(&mut path, packets));
            assert_eq!(path.window, window);
        }
        let mut limited = path(10.0, 100.0);
        limited.slow_start_limit = 2;
        assert!(slow_start(&mut limited, 3));
        assert_eq!(limited.window, 12.0);
        for ssthresh in [1.0, 10.0, 10.9] {
            let mut path = path(10.0, ssthresh);
            assert!(!slow_start(&mut path, 3));
            assert_eq!(path.window, 10.0);
        }
    }

    #[test]
    fn a_packet_more_takes_one_acknowledgement_more_than_the_window() {
        let (mut path, mut counter) = (path(3.0, 1.0), Counter::ZERO);
        let mut windows = [0.0; 11];
        for window in &mut windows {
            let n = cwnd(&path);
            let before = path.window;
            assert_eq!(counter.count(&mut path, n), path.window > before);
            *window = path.window;
        }
        assert_eq!(
            windows,
            [3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 5.0, 5.0, 5.0]
        );
    }

    #[test]
    fn growth_is_to_a_whole_packet() {
        let (mut path, mut counter) = (path(3.5, 1.0), Counter::ZERO);
        assert!(counter.count(&mut path, 0));
        assert_eq!(path.window, 4.0);
    }

    #[test]
    fn a_loss_restarts_the_count() {
        for loss in [Loss::FastRetransmit, Loss::Timeout] {
            let (mut path, mut counter) = (path(10.0, 1.0), Counter::ZERO);
            assert!(!counter.count(&mut path, 1));
            counter.on_loss(&mut path, loss, 5);
            assert!(!counter.count(&mut path, 1));
            assert!(counter.count(&mut path, 1));
        }
    }

    #[test]
    fn losses_leave_whole_packets() {
        for (window, halved) in [(15.0, 7), (10.0, 5), (5.0, 2), (3.0, 2), (1.0, 2)] {
            assert_eq!(half(&path(window, 1.0)), halved);
        }
        let (mut lost, mut counter) = (path(15.0, 1.0), Counter::ZERO);
        counter.on_loss(&mut lost, Loss::FastRetransmit, 7);
        assert_eq!((lost.window, lost.ssthresh), (7.0, 7.0));
        counter.on_loss(&mut lost, Loss::Timeout, 3);
        assert_eq!((lost.window, lost.ssthresh), (1.0, 3.0));
    }

    #[test]
    fn cuts_stop_at_the_minimum_window() {
        for (minimum, window, cut, left) in [
            (1.0, 8.0, 1, (1.0, 1.0)),
            (2.0, 8.0, 1, (2.0, 2.0)),
            (2.5, 8.0, 1, (3.0, 3.0)),
            (2.5, 8.0, 4, (4.0, 4.0)),
            (2.0, 1.0, 1, (2.0, 2.0)),
            (2.5, 1.0, 1, (3.0, 3.0)),
            (2.0, 4.0, 6, (4.0, 6.0)),
        ] {
            let mut path = Path::new(window, minimum, f64::INFINITY);
            cut_to(&mut path, cut);
            assert_eq!((path.window, path.ssthresh), left);
        }
    }
}
