//! Rounds: from sending a given packet until it is acknowledged.

use crate::Path;

/// Tells when a round ends, from the sent and acked counters of a [`Path`].
///
/// A round begins when the packet numbered `sent` is about to be sent and ends with the
/// acknowledgement that covers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The round is over when everything below this number has been acknowledged.
    end: u64,
}

impl Round {
    /// The round of a subflow that has not sent anything yet.
    pub const STARTING: Round = Round { end: 0 };

    /// A round that begins now.
    pub fn beginning(path: &Path) -> Round {
        Round { end: path.sent }
    }

    /// Whether the packets in flight when the round began have all been acknowledged.
    #[inline]
    pub fn is_over(&self, path: &Path) -> bool {
        path.acked > self.end || (path.acked == self.end && path.acked == path.sent)
    }

    /// If the round is over, begins the next one and returns true.
    #[inline]
    pub fn advance(&mut self, path: &Path) -> bool {
        let over = self.is_over(path);
        if over {
            self.end = path.sent;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::Round;
    use crate::Path;

    fn path(acked: u64, sent: u64) -> Path {
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        (path.acked, path.sent) = (acked, sent);
        path
    }

    #[test]
    fn ends_with_the_acknowledgement_of_the_next_packet() {
        let round = Round::beginning(&path(0, 10));
        assert!(!round.is_over(&path(9, 19)));
        assert!(
            !round.is_over(&path(10, 20)),
            "packet 10 is not acknowledged yet"
        );
        assert!(round.is_over(&path(11, 20)));
    }

    #[test]
    fn ends_when_nothing_is_in_flight() {
        let round = Round::beginning(&path(0, 10));
        assert!(!round.is_over(&path(9, 10)));
        assert!(round.is_over(&path(10, 10)));
    }

    #[test]
    fn the_first_acknowledgement_ends_the_starting_round() {
        assert_eq!(Round::STARTING, Round::default());
        assert!(!Round::STARTING.is_over(&path(0, 10)));
        assert!(Round::STARTING.is_over(&path(1, 10)));
    }

    #[test]
    fn the_next_round_begins_where_the_last_ends() {
        let mut round = Round::beginning(&path(0, 10));
        assert!(!round.advance(&path(10, 20)));
        assert!(round.advance(&path(11, 21)));
        assert!(!round.advance(&path(21, 30)));
        assert!(round.advance(&path(22, 31)));
    }
}
