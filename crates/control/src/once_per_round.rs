//! One cut a round, however many marks and losses the round has.

use crate::{Loss, Path, Round, loss};

/// Remembers a subflow's last cut.
///
/// Marks are ignored until the packets that were in flight at the cut have been acknowledged: they
/// were sent with the larger window. A loss in a round that a mark has cut deepens that cut to half
/// of the window before it, rather than cutting a second time.
#[derive(Clone, Copy, Debug, Default)]
pub struct OncePerRound {
    last: Option<Round>,
    window_before: f64,
}

impl OncePerRound {
    /// Nothing has been cut yet.
    pub const fn new() -> OncePerRound {
        OncePerRound {
            last: None,
            window_before: 0.0,
        }
    }

    /// Whether a mark may cut: the last cut's round is over.
    #[inline]
    pub fn may_cut(&self, path: &Path) -> bool {
        self.last.is_none_or(|round| round.is_over(path))
    }

    /// If the round has not been cut yet, takes `share` off the window, sets ssthresh to what is left,
    /// which also ends slow start, and returns true.
    #[inline]
    pub fn on_mark(&mut self, path: &mut Path, share: f64) -> bool {
        let cut = self.may_cut(path);
        if cut {
            self.last = Some(Round::beginning(path));
            self.window_before = path.window;
            loss::cut_to(path, path.window * (1.0 - share));
        }
        cut
    }

    /// Packets have another size: the window before the cut is `factor` times as many.
    pub fn rescale(&mut self, factor: f64) {
        self.window_before *= factor;
    }

    /// The common response to a loss.
    pub fn on_loss(&mut self, path: &mut Path, loss: Loss) {
        self.on_loss_of(path, loss, 0.5);
    }

    /// [`OncePerRound::on_loss`], where the loss of packets costs `share` of the window; a timeout is
    /// the common one.
    pub fn on_loss_of(&mut self, path: &mut Path, loss: Loss, share: f64) {
        let cut_by_mark = !self.may_cut(path);
        let window = if cut_by_mark {
            // What is in flight may be less than the window before the mark.
            path.window.max(self.window_before.min(path.loss_limit))
        } else {
            path.window
        };
        match loss {
            // Where the mark has cut deeper, its cut stands.
            Loss::FastRetransmit => {
                loss::cut_to(path, f64::min(window * (1.0 - share), path.window));
            }
            Loss::Timeout | Loss::PersistentCongestion => loss::respond_from(path, loss, window),
        }
        self.last = Some(Round::beginning(path));
        self.window_before = path.window;
    }
}

#[cfg(test)]
mod tests {
    use super::OncePerRound;
    use crate::{Loss, Path};

    /// 16 packets in flight: 84 to 99.
    fn path() -> Path {
        let mut path = Path::new(16.0, 2.0, f64::INFINITY);
        path.sent = 100;
        path.acked = 84;
        path
    }

    #[test]
    fn the_first_mark_of_a_round_cuts() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        assert!(cuts.may_cut(&path));
        assert!(cuts.on_mark(&mut path, 0.25));
        assert_eq!((path.window, path.ssthresh), (12.0, 12.0));
        path.sent = 112;
        for acked in [84, 90, 100] {
            path.acked = acked;
            assert!(
                !cuts.on_mark(&mut path, 0.25),
                "packets up to 99 were sent before the cut"
            );
            assert_eq!((path.window, path.ssthresh), (12.0, 12.0));
        }
        path.acked = 101;
        assert!(cuts.on_mark(&mut path, 0.25));
        assert_eq!((path.window, path.ssthresh), (9.0, 9.0));
    }

    #[test]
    fn marks_do_not_cut_below_the_minimum_window() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        assert!(cuts.on_mark(&mut path, 1.0));
        assert_eq!((path.window, path.ssthresh), (2.0, 2.0));
    }

    #[test]
    fn a_mark_at_one_packet_leaves_the_minimum_window() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        path.window = 1.0;
        assert!(cuts.on_mark(&mut path, 0.25));
        assert_eq!((path.window, path.ssthresh), (2.0, 2.0));
        let (mut path, mut cuts) = (self::path(), OncePerRound::new());
        cuts.on_loss(&mut path, Loss::Timeout);
        (path.acked, path.sent) = (101, 102);
        assert!(cuts.on_mark(&mut path, 0.25));
        assert_eq!((path.window, path.ssthresh), (2.0, 2.0));
    }

    #[test]
    fn a_loss_at_one_packet_leaves_the_minimum_window() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        path.window = 1.0;
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!((path.window, path.ssthresh), (2.0, 2.0));
        cuts.on_loss(&mut path, Loss::Timeout);
        assert_eq!((path.window, path.ssthresh), (1.0, 2.0));
    }

    #[test]
    fn a_loss_deepens_the_cut_of_a_mark() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.25);
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!(
            (path.window, path.ssthresh),
            (8.0, 8.0),
            "half of 16, not of 12"
        );
    }

    #[test]
    fn a_loss_in_a_marked_round_takes_its_share_of_the_flight_where_the_transport_says_so() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.25);
        path.loss_limit = 14.0;
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!((path.window, path.ssthresh), (7.0, 7.0), "half of 14");
    }

    #[test]
    fn a_deep_cut_by_a_mark_stands() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.75);
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!(
            (path.window, path.ssthresh),
            (4.0, 4.0),
            "and slow start stays over"
        );
    }

    #[test]
    fn a_loss_can_cost_another_share() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_loss_of(&mut path, Loss::FastRetransmit, 0.25);
        assert_eq!((path.window, path.ssthresh), (12.0, 12.0));
        cuts.on_loss_of(&mut path, Loss::Timeout, 0.25);
        assert_eq!((path.window, path.ssthresh), (1.0, 6.0));
    }

    #[test]
    fn a_loss_of_the_share_of_the_mark_costs_nothing_more() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.625);
        path.window += 0.5;
        cuts.on_loss_of(&mut path, Loss::FastRetransmit, 0.625);
        assert_eq!((path.window, path.ssthresh), (6.0, 6.0));
    }

    #[test]
    fn a_window_that_has_grown_since_the_mark_is_halved_itself() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.25);
        path.window = 20.0;
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!(path.window, 10.0);
    }

    #[test]
    fn a_loss_in_a_later_round_halves() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_mark(&mut path, 0.25);
        (path.acked, path.sent) = (101, 112);
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!(path.window, 6.0);
    }

    #[test]
    fn marks_after_a_loss_wait_for_the_next_round() {
        for loss in [Loss::FastRetransmit, Loss::Timeout] {
            let (mut path, mut cuts) = (path(), OncePerRound::new());
            cuts.on_loss(&mut path, loss);
            let window = path.window;
            assert!(!cuts.on_mark(&mut path, 0.25));
            assert_eq!(path.window, window);
            (path.acked, path.sent) = (101, 112);
            assert!(cuts.on_mark(&mut path, 0.25));
        }
    }

    #[test]
    fn every_loss_event_cuts() {
        let (mut path, mut cuts) = (path(), OncePerRound::new());
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        cuts.on_loss(&mut path, Loss::FastRetransmit);
        assert_eq!(path.window, 4.0);
    }
}
