//! The share of marked packets in the last round, or in the last few packets when rounds are short.

use crate::{Ack, Path, Round};

/// Counts acknowledged packets and marks of one subflow, a few operations for each acknowledgement.
///
/// A round is as many packets as the window had when it began: the packets of one window are those
/// of the round that ends. Rounds shorter than `at_least` packets would give rough shares: then the
/// last `at_least` packets count, over as many rounds as they took.
#[derive(Clone, Copy, Debug)]
pub struct MarkedRounds {
    at_least: u32,
    round: Round,
    packets: u32,
    marks: u32,
    /// One bit for each of the last 64 acknowledged packets, the latest lowest: whether marked.
    latest: u64,
    /// Marks that were echoed before the packets that they count for.
    early: u32,
}

impl MarkedRounds {
    /// Nothing has been acknowledged yet. `at_least` is in packets, from 1 to [`MarkedRounds::MOST`].
    pub const fn new(at_least: u32) -> MarkedRounds {
        MarkedRounds {
            at_least,
            round: Round::STARTING,
            packets: 0,
            marks: 0,
            latest: 0,
            early: 0,
        }
    }

    /// Most packets that short rounds are filled up to.
    pub const MOST: u32 = u64::BITS;

    /// Counts an acknowledgement. If it ends a round, returns the marked share of the last
    /// max(`at_least`, round) packets; packets that were never sent count as unmarked.
    #[inline]
    pub fn on_ack(&mut self, path: &Path, ack: &Ack) -> Option<f64> {
        let marks = (self.early + ack.ce).min(ack.packets);
        self.early = self.early + ack.ce - marks;
        self.packets += ack.packets;
        self.marks += marks;
        self.latest = self.latest.checked_shl(ack.packets).unwrap_or(0) | ones(marks);
        // A duplicate acknowledgement ends no round: when nothing is in flight it would end one.
        if ack.packets == 0 || !self.round.advance(path) {
            return None;
        }
        let share = if self.packets >= self.at_least {
            f64::from(self.marks) / f64::from(self.packets)
        } else {
            let marks = (self.latest & ones(self.at_least)).count_ones();
            f64::from(marks) / f64::from(self.at_least)
        };
        self.packets = 0;
        self.marks = 0;
        Some(share)
    }
}

/// The lowest `count` bits.
#[inline]
fn ones(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests {
    use super::{MarkedRounds, ones};
    use crate::{Ack, Path};
    use pathweave_units::Time;

    /// Acknowledges `packets` with `ce` marks, `in_flight` packets being in flight afterwards.
    fn acknowledge(
        rounds: &mut MarkedRounds,
        path: &mut Path,
        packets: u32,
        ce: u32,
        in_flight: u64,
    ) -> Option<f64> {
        path.acked += u64::from(packets);
        path.sent = path.acked + in_flight;
        let ack = Ack {
            now: Time::ZERO,
            packets,
            ce,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: crate::Feedback::None,
        };
        rounds.on_ack(path, &ack)
    }

    fn path() -> Path {
        Path::new(20.0, 2.0, 1.0)
    }

    #[test]
    fn long_rounds_count_by_themselves() {
        let (mut rounds, mut path) = (MarkedRounds::new(10), path());
        acknowledge(&mut rounds, &mut path, 1, 0, 19); // ends the starting round
        for marks in [20, 5, 0] {
            for packet in 1..20 {
                let ce = u32::from(packet <= marks);
                assert_eq!(acknowledge(&mut rounds, &mut path, 1, ce, 19), None);
            }
            let ce = u32::from(marks == 20);
            let share = acknowledge(&mut rounds, &mut path, 1, ce, 19);
            assert_eq!(share, Some(f64::from(marks) / 20.0));
        }
    }

    #[test]
    fn short_rounds_are_filled_up_with_the_packets_before() {
        let (mut rounds, mut path) = (MarkedRounds::new(4), path());
        // Rounds of one packet: nothing is in flight when it is acknowledged.
        let marked = [1, 0, 1, 1, 0, 0, 0, 0];
        let of_the_last_four = [1.0, 1.0, 2.0, 3.0, 2.0, 2.0, 1.0, 0.0];
        for (ce, marks) in marked.into_iter().zip(of_the_last_four) {
            let share = acknowledge(&mut rounds, &mut path, 1, ce, 0);
            assert_eq!(share, Some(marks / 4.0));
        }
    }

    #[test]
    fn a_round_of_just_enough_packets_is_long() {
        let (mut rounds, mut path) = (MarkedRounds::new(4), path());
        assert_eq!(acknowledge(&mut rounds, &mut path, 4, 1, 0), Some(0.25));
        // The marks of an acknowledgement are those of its latest packets: the one before still counts.
        assert_eq!(acknowledge(&mut rounds, &mut path, 3, 1, 0), Some(0.5));
        assert_eq!(acknowledge(&mut rounds, &mut path, 3, 0, 0), Some(0.25));
        assert_eq!(acknowledge(&mut rounds, &mut path, 5, 0, 0), Some(0.0));
    }

    #[test]
    fn marks_wait_for_their_packets() {
        let (mut rounds, mut path) = (MarkedRounds::new(1), path());
        assert_eq!(acknowledge(&mut rounds, &mut path, 0, 3, 0), None);
        assert_eq!(acknowledge(&mut rounds, &mut path, 2, 0, 0), Some(1.0));
        assert_eq!(acknowledge(&mut rounds, &mut path, 2, 0, 0), Some(0.5));
        assert_eq!(acknowledge(&mut rounds, &mut path, 2, 1, 0), Some(0.5));
        assert_eq!(acknowledge(&mut rounds, &mut path, 2, 0, 0), Some(0.0));
    }

    #[test]
    fn an_acknowledgement_may_be_longer_than_the_memory() {
        for packets in [63, 64, 65, 1000] {
            let (mut rounds, mut path) = (MarkedRounds::new(MarkedRounds::MOST), path());
            let share = acknowledge(&mut rounds, &mut path, 1, 1, 0);
            assert_eq!(share, Some(1.0 / 64.0));
            // A mark 63 packets ago is still known, one of 64 packets ago is not.
            let expected = if packets == 63 { 1.0 / 64.0 } else { 0.0 };
            let share = acknowledge(&mut rounds, &mut path, packets, 0, 0);
            assert_eq!(share, Some(expected));
            let share = acknowledge(&mut rounds, &mut path, 1, 0, 0);
            assert_eq!(share, Some(0.0), "after {packets}");
        }
    }

    #[test]
    fn masks() {
        assert_eq!((ones(0), ones(1), ones(10)), (0, 1, 0x3ff));
        assert_eq!(
            (ones(63), ones(64), ones(65)),
            (u64::MAX >> 1, u64::MAX, u64::MAX)
        );
    }
}
