//! How much a path carries between losses.

/// Marks in the count of a subflow's acknowledged packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    last: u64,
    last_but_one: u64,
}

impl Losses {
    /// None yet on a subflow that has `acked` packets acknowledged.
    pub const fn none(acked: u64) -> Losses {
        Losses {
            last: acked,
            last_but_one: acked,
        }
    }

    /// A loss event; one with nothing acknowledged since the last is the same as that.
    pub fn happen(&mut self, acked: u64) {
        if acked > self.last {
            self.last_but_one = self.last;
            self.last = acked;
        }
    }

    /// l: the larger of the packets acknowledged between the last two losses and those since the last.
    #[inline]
    pub fn l(&self, acked: u64) -> u64 {
        let between = self.last - self.last_but_one;
        acked.saturating_sub(self.last).max(between)
    }
}

#[cfg(test)]
mod tests {
    use super::Losses;

    #[test]
    fn l_is_the_larger_of_the_last_two_distances() {
        let mut losses = Losses::none(100);
        assert_eq!(losses.l(100), 0);
        assert_eq!(losses.l(130), 30);
        losses.happen(150);
        assert_eq!(losses.l(150), 50, "since the subflow opened");
        assert_eq!(losses.l(200), 50);
        assert_eq!(losses.l(201), 51);
        losses.happen(170);
        assert_eq!(losses.l(170), 20, "the first distance is forgotten");
        assert_eq!(losses.l(260), 90);
    }

    #[test]
    fn losses_without_progress_are_one() {
        let mut losses = Losses::none(0);
        losses.happen(50);
        losses.happen(50);
        assert_eq!(losses.l(60), 50);
    }

    #[test]
    fn a_subflow_that_counts_from_zero_again_has_carried_nothing() {
        assert_eq!(Losses::none(100).l(20), 0);
    }
}
