//! The response to losses that all controllers have unless they say otherwise.

use crate::{Loss, Path};

/// Halves the window after duplicate acknowledgements; starts again from one packet after a
/// timeout.
#[inline]
pub fn respond(path: &mut Path, loss: Loss) {
    respond_from(path, loss, path.window);
}

/// [`respond`], halving `window` instead of the one that the path has now.
///
/// - fast retransmit: ssthresh = max(window / 2, minimum window), and the window is cut to it;
/// - timeout: ssthresh = max(window / 2, 2), and the window is 1 packet;
/// - persistent congestion: the same, and the window is the minimum window.
pub fn respond_from(path: &mut Path, loss: Loss, window: f64) {
    match loss {
        Loss::FastRetransmit => cut_to(path, window / 2.0),
        Loss::Timeout | Loss::PersistentCongestion => {
            path.ssthresh = f64::max(window / 2.0, 2.0);
            path.window = first_window(path, loss);
        }
    }
}

/// The window from which a subflow starts again: one packet after a timeout, else the minimum window.
pub fn first_window(path: &Path, loss: Loss) -> f64 {
    match loss {
        Loss::Timeout => 1.0,
        Loss::FastRetransmit | Loss::PersistentCongestion => path.minimum_window,
    }
}

/// Sets ssthresh to `window` packets, at least the minimum window, and lowers the window to it.
///
/// A window that is already smaller stays, but congestion avoidance, which a cut leads to, has no smaller
/// window than the minimum: a subflow that meets congestion at one packet, its first window or that after
/// a timeout, goes on with the minimum window.
pub fn cut_to(path: &mut Path, window: f64) {
    cut_within(path, window, path.minimum_window);
}

/// [`cut_to`] with another minimum window, `least`, in packets.
pub fn cut_within(path: &mut Path, window: f64, least: f64) {
    path.ssthresh = window.max(least);
    path.window = path.window.clamp(least, path.ssthresh);
}

#[cfg(test)]
mod tests {
    use super::{cut_to, respond, respond_from};
    use crate::{Loss, Path};

    fn after(loss: Loss, window: f64, minimum_window: f64) -> (f64, f64) {
        let mut path = Path::new(window, minimum_window, f64::INFINITY);
        respond(&mut path, loss);
        (path.window, path.ssthresh)
    }

    #[test]
    fn fast_retransmit_halves() {
        assert_eq!(after(Loss::FastRetransmit, 10.0, 2.0), (5.0, 5.0));
        assert_eq!(after(Loss::FastRetransmit, 15.0, 2.0), (7.5, 7.5));
    }

    #[test]
    fn fast_retransmit_stops_at_the_minimum_window() {
        assert_eq!(after(Loss::FastRetransmit, 3.0, 2.0), (2.0, 2.0));
        assert_eq!(after(Loss::FastRetransmit, 3.0, 1.0), (1.5, 1.5));
        assert_eq!(after(Loss::FastRetransmit, 1.5, 1.0), (1.0, 1.0));
    }

    #[test]
    fn a_cut_leaves_the_minimum_window_of_a_smaller_one() {
        assert_eq!(after(Loss::FastRetransmit, 1.0, 2.0), (2.0, 2.0));
        assert_eq!(after(Loss::FastRetransmit, 2.0, 5.0), (5.0, 5.0));
    }

    #[test]
    fn no_cut_raises_the_window_above_the_minimum() {
        let mut path = Path::new(3.0, 2.0, 1.0);
        cut_to(&mut path, 4.0);
        assert_eq!((path.window, path.ssthresh), (3.0, 4.0));
        let mut path = Path::new(1.0, 2.0, 1.0);
        cut_to(&mut path, 4.0);
        assert_eq!((path.window, path.ssthresh), (2.0, 4.0));
    }

    #[test]
    fn timeout_starts_again_from_one_packet() {
        assert_eq!(after(Loss::Timeout, 10.0, 2.0), (1.0, 5.0));
        assert_eq!(after(Loss::Timeout, 3.0, 1.0), (1.0, 2.0));
    }

    #[test]
    fn persistent_congestion_starts_again_from_the_minimum_window() {
        assert_eq!(after(Loss::PersistentCongestion, 10.0, 2.0), (2.0, 5.0));
        assert_eq!(after(Loss::PersistentCongestion, 3.0, 4.0), (4.0, 2.0));
    }

    #[test]
    fn another_window_can_be_halved() {
        let mut path = Path::new(8.0, 2.0, f64::INFINITY);
        respond_from(&mut path, Loss::FastRetransmit, 10.0);
        assert_eq!((path.window, path.ssthresh), (5.0, 5.0));
        respond_from(&mut path, Loss::FastRetransmit, 12.0);
        assert_eq!((path.window, path.ssthresh), (5.0, 6.0));
        respond_from(&mut path, Loss::Timeout, 12.0);
        assert_eq!((path.window, path.ssthresh), (1.0, 6.0));
    }

    #[test]
    fn cut_to_sets_both() {
        let mut path = Path::new(8.0, 2.0, f64::INFINITY);
        cut_to(&mut path, 6.5);
        assert_eq!((path.window, path.ssthresh), (6.5, 6.5));
        cut_to(&mut path, 0.5);
        assert_eq!((path.window, path.ssthresh), (2.0, 2.0));
    }
}
