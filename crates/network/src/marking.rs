//! The admission decision at a port: take, mark or drop.

use crate::averaging::AverageQueue;
use crate::packet::Header;
use crate::queue::{Limit, Marking, MarkingRule, QueueConfig, Threshold, Verdict, Waiting};
use pathweave_random::Stream;

/// A queue's rules.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    limit: Limit,
    marking: Marking,
    /// Where marks go by an average.
    average: Option<Box<AverageQueue>>,
    drop_ecn_blind: bool,
    stream: Stream,
    /// Probability that the link loses a packet that is taken.
    loss: f64,
    /// With fewer packets than this waiting, a packet is taken unmarked by a link that loses none: for packets that
    /// cannot be marked, and for those that can.
    taken_by_lossless: [u16; 2],
    /// The same of the link as it is.
    taken_below: [u16; 2],
}

impl Admission {
    pub fn new(config: &QueueConfig, stream: Stream) -> Admission {
        let full_from = match config.limit {
            Limit::None => u32::MAX,
            Limit::Packets(packets) => packets,
            Limit::Bytes(_) => 0,
        };
        let marks_from = match config.marking {
            Marking::None => u32::MAX,
            Marking::Step {
                threshold: Threshold::Packets(k),
                rule: MarkingRule::Above,
            } => (k as u32).saturating_add(1),
            Marking::Step {
                threshold: Threshold::Packets(k),
                rule: MarkingRule::AtOrAbove,
            } => {
                // "At or above 0" would mark on an empty queue; the code bases that use the rule
                // ask for more than one waiting packet.
                (k.ceil() as u32).max(1)
            }
            Marking::Step {
                threshold: Threshold::Bytes(_),
                ..
            } => 0,
            Marking::Linear { from, .. } => from as u32,
            Marking::Red { .. } => 0,
        };
        let average = match config.marking {
            Marking::Red { weight, .. } => Some(Box::new(AverageQueue::new(weight))),
            _ => None,
        };
        let saturated = |packets: u32| u16::try_from(packets).unwrap_or(u16::MAX);
        let taken_below = [
            if config.drop_ecn_blind {
                full_from.min(marks_from)
            } else {
                full_from
            },
            full_from.min(marks_from),
        ]
        .map(|packets| {
            if average.is_some() {
                0
            } else {
                saturated(packets)
            }
        }); // an average has to see every packet
        Admission {
            limit: config.limit,
            marking: config.marking,
            average,
            drop_ecn_blind: config.drop_ecn_blind,
            stream,
            loss: 0.0,
            taken_by_lossless: taken_below,
            taken_below,
        }
    }

    /// From now on packets that are taken get lost with this probability.
    pub fn set_loss(&mut self, probability: f64) {
        self.loss = probability;
        self.taken_below = if probability > 0.0 {
            [0; 2]
        } else {
            self.taken_by_lossless
        };
    }

    /// Whether every packet that is taken gets lost.
    pub fn loses_all(&self) -> bool {
        self.loss >= 1.0
    }

    /// Whether the rules ask for the bytes that wait.
    pub fn counts_bytes(&self) -> bool {
        let marks_by_bytes = matches!(
            self.marking,
            Marking::Step {
                threshold: Threshold::Bytes(_),
                ..
            }
        );
        matches!(self.limit, Limit::Bytes(_)) || marks_by_bytes
    }

    /// Whether marks go by an average of the queue.
    pub fn averages(&self) -> bool {
        self.average.is_some()
    }

    /// The average of the queue, where marks go by one: it has to be told of idle times.
    pub fn average(&mut self) -> Option<&mut AverageQueue> {
        self.average.as_deref_mut()
    }

    /// What waits, as a share of the limit; zero without a limit.
    pub fn occupancy(&self, waiting: Waiting) -> f64 {
        self.limit.share(waiting)
    }

    /// The limit of the queue.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// With fewer packets than this waiting, a packet is taken unmarked, and nothing has to be decided: for packets
    /// that cannot be marked, and for those that can.
    pub fn taken_below(&self) -> [u16; 2] {
        self.taken_below
    }

    /// A packet that can be marked, finds fewer packets than this waiting, and is not simply taken, is taken and marked.
    /// It is zero where more has to be decided, or where the threshold does not fit into [`Admission::taken_below`].
    pub fn marked_below(&self) -> u32 {
        if self.loss > 0.0 || self.step_packets() > u32::from(u16::MAX) {
            return 0;
        }
        match self.limit {
            Limit::None => u32::MAX,
            Limit::Packets(packets) => packets,
            Limit::Bytes(_) => 0,
        }
    }

    /// Whether there is no place for a packet of this many bytes.
    pub fn is_full(&self, waiting: Waiting, size: u16) -> bool {
        match self.limit {
            Limit::None => false,
            Limit::Packets(packets) => waiting.packets >= packets,
            Limit::Bytes(bytes) => u64::from(waiting.bytes) + u64::from(size) > bytes.get(),
        }
    }

    /// Decides for one packet. The bytes that wait need to be known where [`Admission::counts_bytes`].
    #[inline]
    pub fn decide(&mut self, waiting: Waiting, header: &Header) -> Verdict {
        let taken_below = self.taken_below[usize::from(header.ecn_capable())];
        let verdict = if waiting.packets < u32::from(taken_below) {
            Verdict::Take // without a draw, which would be one from the stream of those that follow
        } else {
            self.verdict(waiting, header)
        };
        #[cfg(feature = "checks")]
        self.check(verdict, waiting, header);
        verdict
    }

    /// Ends the run if the rules do not allow a verdict.
    #[cfg(feature = "checks")]
    pub fn check(&self, verdict: Verdict, waiting: Waiting, header: &Header) {
        let rules = crate::checks::QueueRules {
            limit: self.limit,
            marking: self.marking,
            drop_ecn_blind: self.drop_ecn_blind,
            loses: self.loss > 0.0,
        };
        rules.allow(verdict, waiting, header);
    }

    #[inline(never)]
    fn verdict(&mut self, waiting: Waiting, header: &Header) -> Verdict {
        if header.is_protected() {
            return Verdict::Take;
        }
        if header.is_feedback() {
            let loses = self.loss > 0.0 && self.stream.uniform() < self.loss;
            return if loses { Verdict::Lose } else { Verdict::Take };
        }
        if let Marking::Red { .. } = self.marking {
            return self.verdict_by_average(waiting, header);
        }
        if self.is_full(waiting, header.size()) {
            return Verdict::Drop;
        }
        let congested = match self.marking {
            Marking::None => false,
            Marking::Step {
                threshold: Threshold::Packets(_),
                ..
            } => {
                // A limit in bytes makes `taken_below` zero, so K has to be compared again.
                waiting.packets >= self.step_packets()
            }
            Marking::Step {
                threshold: Threshold::Bytes(k),
                rule,
            } => match rule {
                MarkingRule::Above => u64::from(waiting.bytes) > k.get(),
                MarkingRule::AtOrAbove => u64::from(waiting.bytes) >= k.get(),
            },
            Marking::Linear {
                from,
                to,
                probability,
            } => {
                let queue = f64::from(waiting.packets);
                queue > to
                    || (queue > from
                        && self.stream.uniform() < probability * (queue - from) / (to - from))
            }
            Marking::Red { .. } => unreachable!("decided by the average"),
        };
        self.verdict_on(congested, header)
    }

    /// What becomes of a packet for which there is a place.
    #[inline(always)]
    fn verdict_on(&mut self, congested: bool, header: &Header) -> Verdict {
        if (!congested || header.ecn_capable() || !self.drop_ecn_blind)
            && self.loss > 0.0
            && self.stream.uniform() < self.loss
        {
            return Verdict::Lose;
        }
        match (congested, header.ecn_capable()) {
            (false, _) => Verdict::Take,
            (true, true) => Verdict::TakeAndMark,
            (true, false) if self.drop_ecn_blind => Verdict::Drop,
            (true, false) => Verdict::Take,
        }
    }

    /// [`Admission::verdict`] by an average, which also sees packets that find no place. It is a function of its own so that
    /// other rules do not pay for it.
    #[cold]
    #[inline(never)]
    fn verdict_by_average(&mut self, waiting: Waiting, header: &Header) -> Verdict {
        let is_full = self.is_full(waiting, header.size());
        let (
            Marking::Red {
                from,
                to,
                probability,
                ..
            },
            Some(queue),
        ) = (self.marking, self.average.as_deref_mut())
        else {
            unreachable!("RED has an average")
        };
        let average = queue.on_arrival(waiting.packets);
        if is_full {
            return Verdict::Drop;
        }
        let congested = average > to
            || (average > from && {
                let probability = probability * (average - from) / (to - from);
                self.stream.uniform() < queue.mark_probability(probability)
            });
        if congested || average <= from {
            queue.restart_count();
        }
        self.verdict_on(congested, header)
    }

    fn step_packets(&self) -> u32 {
        match self.marking {
            Marking::Step {
                threshold: Threshold::Packets(k),
                rule,
            } => match rule {
                MarkingRule::Above => (k as u32).saturating_add(1),
                MarkingRule::AtOrAbove => (k.ceil() as u32).max(1),
            },
            _ => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::Bytes;

    fn admission(limit: Limit, marking: Marking, drop_ecn_blind: bool) -> Admission {
        Admission::new(
            &QueueConfig {
                limit,
                marking,
                drop_ecn_blind,
            },
            Stream::new(1, "marking test", 0),
        )
    }

    fn decide(admission: &mut Admission, packets: u32, bytes: u32, ecn: bool) -> Verdict {
        admission.decide(Waiting { packets, bytes }, &Header::new(1500, ecn))
    }

    fn step(k: f64, rule: MarkingRule) -> Marking {
        Marking::Step {
            threshold: Threshold::Packets(k),
            rule,
        }
    }

    #[test]
    fn what_is_marked_without_a_look_at_the_rules_is_what_they_mark() {
        let steps = [0.0, 0.5, 3.0, 10.1, 40.0].map(Threshold::Packets);
        let bytes = [Threshold::Bytes(Bytes::new(9000))];
        let mut cases: Vec<(u32, Threshold)> =
            steps.into_iter().chain(bytes).map(|k| (20, k)).collect();
        // 16 bits cannot count these queues.
        cases.extend([60_000.0, 65_535.0, 70_000.0].map(|k| (80_000, Threshold::Packets(k))));
        for (limit, threshold) in cases {
            for rule in [MarkingRule::Above, MarkingRule::AtOrAbove] {
                let marking = Marking::Step { threshold, rule };
                let mut admission = admission(Limit::Packets(limit), marking, false);
                let [_, taken_below] = admission.taken_below();
                for packets in u32::from(taken_below)..admission.marked_below() {
                    assert_eq!(
                        decide(&mut admission, packets, 0, true),
                        Verdict::TakeAndMark
                    );
                }
                let knows = match (threshold, rule) {
                    (Threshold::Packets(k), MarkingRule::Above) => k < 65_535.0,
                    (Threshold::Packets(k), MarkingRule::AtOrAbove) => k <= 65_535.0,
                    (Threshold::Bytes(_), _) => false,
                };
                assert_eq!(admission.marked_below(), if knows { limit } else { 0 });
                admission.set_loss(0.1);
                assert_eq!(admission.marked_below(), 0);
            }
        }
    }

    #[test]
    fn a_queue_below_a_fractional_k_is_not_at_it() {
        for (k, marked_from) in [(10.0, 10), (10.1, 11), (10.9, 11)] {
            let mut at = admission(Limit::Packets(100), step(k, MarkingRule::AtOrAbove), false);
            assert_eq!(decide(&mut at, marked_from - 1, 0, true), Verdict::Take);
            assert_eq!(decide(&mut at, marked_from, 0, true), Verdict::TakeAndMark);
        }
    }

    #[test]
    fn a_step_marks_above_k_or_at_k_as_the_rule_says() {
        let mut above = admission(Limit::Packets(100), step(10.0, MarkingRule::Above), false);
        assert_eq!(decide(&mut above, 10, 0, true), Verdict::Take);
        assert_eq!(decide(&mut above, 11, 0, true), Verdict::TakeAndMark);
        assert_eq!(decide(&mut above, 11, 0, false), Verdict::Take);
        let mut at = admission(
            Limit::Packets(100),
            step(10.0, MarkingRule::AtOrAbove),
            false,
        );
        assert_eq!(decide(&mut at, 9, 0, true), Verdict::Take);
        assert_eq!(decide(&mut at, 10, 0, true), Verdict::TakeAndMark);
    }

    #[test]
    fn the_limit_counts_waiting_packets_or_bytes() {
        let mut packets = admission(Limit::Packets(2), Marking::None, false);
        assert_eq!(decide(&mut packets, 1, 0, false), Verdict::Take);
        assert_eq!(decide(&mut packets, 2, 0, false), Verdict::Drop);
        let mut bytes = admission(Limit::Bytes(Bytes::new(3000)), Marking::None, false);
        assert_eq!(decide(&mut bytes, 1, 1500, false), Verdict::Take);
        assert_eq!(decide(&mut bytes, 2, 1501, false), Verdict::Drop);
    }

    #[test]
    fn a_byte_limit_does_not_change_when_a_packet_step_marks() {
        let limit = Limit::Bytes(Bytes::new(1_000_000));
        let mut queue = admission(limit, step(10.0, MarkingRule::Above), false);
        assert_eq!(decide(&mut queue, 10, 15_000, true), Verdict::Take);
        assert_eq!(decide(&mut queue, 11, 16_500, true), Verdict::TakeAndMark);
    }

    #[test]
    fn a_step_in_bytes_marks_by_bytes() {
        let k = Threshold::Bytes(Bytes::new(15_000));
        let marking = Marking::Step {
            threshold: k,
            rule: MarkingRule::Above,
        };
        let mut queue = admission(Limit::Packets(100), marking, false);
        assert_eq!(decide(&mut queue, 20, 15_000, true), Verdict::Take);
        assert_eq!(decide(&mut queue, 5, 15_001, true), Verdict::TakeAndMark);
    }

    #[test]
    fn ecn_blind_packets_are_dropped_at_k_only_when_asked() {
        let mut queue = admission(Limit::Packets(100), step(10.0, MarkingRule::Above), true);
        assert_eq!(decide(&mut queue, 10, 0, false), Verdict::Take);
        assert_eq!(decide(&mut queue, 11, 0, false), Verdict::Drop);
        assert_eq!(decide(&mut queue, 11, 0, true), Verdict::TakeAndMark);
    }

    #[test]
    fn protected_packets_are_neither_dropped_nor_marked() {
        let mut queue = admission(Limit::Packets(2), step(0.0, MarkingRule::Above), true);
        let header = Header::new(40, true).protected();
        let waiting = Waiting {
            packets: 50,
            bytes: 0,
        };
        assert_eq!(queue.decide(waiting, &header), Verdict::Take);
    }

    #[test]
    fn red_with_weight_1_and_equal_thresholds_is_the_step() {
        let red = Marking::Red {
            from: 10.0,
            to: 10.0,
            probability: 1.0,
            weight: 1.0,
        };
        for limit in [Limit::Packets(20), Limit::Bytes(Bytes::new(30_000))] {
            for drop_ecn_blind in [false, true] {
                let mut red = admission(limit, red, drop_ecn_blind);
                let mut step = admission(limit, step(10.0, MarkingRule::Above), drop_ecn_blind);
                for arrival in 0..1000_u32 {
                    let (packets, ecn) = (arrival * 7919 % 25, arrival % 3 > 0);
                    let bytes = packets * 1500;
                    assert_eq!(
                        decide(&mut red, packets, bytes, ecn),
                        decide(&mut step, packets, bytes, ecn),
                    );
                }
            }
        }
    }

    #[test]
    fn red_marks_by_the_average_and_as_often_as_stated() {
        let red = Marking::Red {
            from: 5.0,
            to: 15.0,
            probability: 0.1,
            weight: 0.002,
        };
        let mut queue = admission(Limit::Packets(100), red, false);
        // A burst of 90 packets: the average stays below 5 for as long as 1 - 0.998^n is below 5/90, for 28 packets.
        let burst: Vec<Verdict> = (0..28).map(|_| decide(&mut queue, 90, 0, true)).collect();
        assert!(burst.iter().all(|verdict| *verdict == Verdict::Take));
        // With an average of 10 the chance is 0.05, spread evenly over 1 to 20 packets: a mark in every 10.5.
        for _ in 0..10_000 {
            decide(&mut queue, 10, 0, true);
        }
        let marked: Vec<usize> = (0..105_000)
            .filter(|_| decide(&mut queue, 10, 0, true) == Verdict::TakeAndMark)
            .collect();
        let longest = marked.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest <= Some(20));
        // Distances have a variance of (20^2 - 1)/12 = 33: four standard deviations of 10,000.
        assert!(
            (marked.len() as f64 - 10_000.0).abs() < 4.0 * 55.0,
            "{}",
            marked.len()
        );
    }

    #[test]
    fn linear_marking_has_the_stated_probability() {
        // FCC's rule on a queue of 100: occupancy 0.4 marks with probability 0.4, above 0.8 always.
        let marking = Marking::Linear {
            from: 0.0,
            to: 80.0,
            probability: 0.8,
        };
        let mut queue = admission(Limit::Packets(100), marking, false);
        let marks = (0..100_000)
            .filter(|_| decide(&mut queue, 40, 0, true) == Verdict::TakeAndMark)
            .count();
        // Four standard deviations of a binomial with n = 1e5, p = 0.4.
        assert!((marks as f64 - 40_000.0).abs() < 4.0 * 155.0, "{marks}");
        assert!((0..1000).all(|_| decide(&mut queue, 81, 0, true) == Verdict::TakeAndMark));
        assert!((0..1000).all(|_| decide(&mut queue, 0, 0, true) == Verdict::Take));
    }
}
