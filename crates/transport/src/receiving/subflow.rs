//! The receiving end of one subflow: what has arrived, and when to acknowledge it.

use super::at_once::AtOnce;
use super::gathering::Gathering;
use crate::Config;
use crate::segment::{SackBlock, SackBlocks};
use pathweave_units::Time;

/// What an acknowledgement says, but for its blocks: [`Receiver::sack_blocks`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Acknowledgement {
    pub next: u32,
    pub ce_echo: u8,
    /// When the packet that it answers was sent, the last that it covers.
    pub sent: Time,
    /// When the first packet that it covers was sent.
    pub first_sent: Time,
}

/// A data packet as the receiver sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub number: u32,
    pub sent: Time,
    pub congestion_experienced: bool,
    /// Its congestion field says something of its own.
    pub has_feedback: bool,
    /// The connection's last segment.
    pub last: bool,
}

/// What to do about a packet that has been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// It had not been received before.
    pub new: bool,
    /// It is acknowledged at once; otherwise at the latest after the policy's timeout.
    pub at_once: bool,
}

/// A subflow's receiver. What a packet in its order needs stands in the first 64 bytes.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Receiver {
    /// The place of its connection's receiving half.
    pub connection: u32,
    /// The place of its sending half.
    pub to: u32,
    /// Packets that it has sent, less those that have come or were lost on their way here.
    pub in_network: u32,
    /// Everything below this number has arrived.
    pub next: u32,
    /// Data packets not yet acknowledged.
    unacknowledged: u32,
    /// Marks not yet echoed.
    ce_pending: u32,
    /// Data packets that are still acknowledged at once, as the subflow is young.
    at_first: u32,
    last_ce: bool,
    /// Whether `at_first` is restored after a gap and after a duplicate.
    pub quick_acks_return: bool,
    /// Something has arrived beyond `next`, or a duplicate has to be reported.
    has_blocks: bool,
    /// Whether the timer is set for `timer_at`.
    pub timer_is_set: bool,
    /// When the first and the last packet that are not yet acknowledged were sent.
    first_sent: Time,
    last_sent: Time,
    /// When a delayed acknowledgement is due; `Time::MAX` when none is.
    pub ack_deadline: Time,
    /// Payload bytes that arrived, each counted once.
    pub received_bytes: u64,
    /// When the timer will fire, if it is set.
    pub timer_at: Time,
    /// Those of `received_bytes` whose data had come on another subflow before.
    pub duplicate_bytes: u64,
    /// The flow's number, and its own in the flow.
    pub flow: u32,
    pub number: u16,
    /// Whether duplicate segments are reported (D-SACK, RFC 2883).
    sends_dsacks: bool,
    /// The duplicate segment to report.
    duplicate: Option<u32>,
    /// Arrival time of the last packet, if `quick_acks_return`.
    last_arrival: Time,
    /// Initial value of `at_first`.
    quick_acks: u32,
    /// The bundle that is being gathered.
    pub gathering: Gathering,
    /// What arrived beyond `next`, the block that changed last first (RFC 2018, section 4).
    blocks: Vec<SackBlock>,
}

const _: () = assert!(std::mem::offset_of!(Receiver, received_bytes) == 56);

impl Receiver {
    /// Makes it as new, keeping its memory.
    pub fn reset(&mut self, config: &Config) {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        *self = Receiver {
            blocks,
            at_first: config.ack_at_first,
            quick_acks: config.ack_at_first,
            sends_dsacks: config.finds_losses_by_time(),
            quick_acks_return: config.ack_at_first_again,
            ack_deadline: Time::MAX,
            ..Receiver::default()
        };
    }

    /// A packet with this mark comes. Returns whether it differs from the last one's. If it does, what has not been
    /// acknowledged must be now, unless an acknowledgement may span a change (RFC 8257, section 3.2).
    #[inline(always)]
    pub fn changes_mark(&mut self, congestion_experienced: bool) -> bool {
        let changes = congestion_experienced != self.last_ce;
        self.last_ce = congestion_experienced;
        changes
    }

    /// Whether data has come that has not been acknowledged.
    #[inline(always)]
    pub fn owes_acknowledgement(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Takes a packet in whose mark has been asked about by [`Receiver::changes_mark`].
    #[inline(always)]
    pub fn take(&mut self, arrival: Arrival, mark_changed: bool, at_once: AtOnce) -> Taken {
        if self.unacknowledged == 0 {
            self.first_sent = arrival.sent;
        }
        self.last_sent = arrival.sent;
        self.ce_pending += u32::from(arrival.congestion_experienced);
        self.unacknowledged += 1;
        let in_order = arrival.number == self.next && !self.has_blocks;
        let new = if in_order {
            self.next += 1;
            true
        } else {
            self.place(arrival.number)
        };
        let young = self.at_first > 0;
        if young {
            self.at_first -= 1;
        }
        let at_once = !in_order
            || young
            || (mark_changed && at_once.at_mark_change)
            || (arrival.last && at_once.at_last)
            || self.unacknowledged >= at_once.every
            // Each packet's field says something of its own.
            || arrival.has_feedback;
        Taken { new, at_once }
    }

    /// Acknowledges everything so far.
    #[inline(always)]
    pub fn acknowledge(&mut self, echo_limit: u8) -> Acknowledgement {
        let echoed = self.ce_pending.min(u32::from(echo_limit));
        self.ce_pending -= echoed;
        self.unacknowledged = 0;
        self.ack_deadline = Time::MAX;
        Acknowledgement {
            next: self.next,
            ce_echo: echoed as u8,
            sent: self.last_sent,
            first_sent: self.first_sent,
        }
    }

    /// Whether an acknowledgement cannot echo more marks than there are to echo.
    pub fn has_full_echo(&self, echo_limit: u8) -> bool {
        self.ce_pending >= u32::from(echo_limit)
    }

    /// Whether an acknowledgement has blocks to report, if it may.
    #[inline(always)]
    pub fn has_sack_blocks(&self) -> bool {
        self.has_blocks
    }

    /// A packet arrives. Restores quick ACKs if the last one arrived more than `gap` ago.
    pub fn note_arrival(&mut self, gap: Time, now: Time) {
        if now.saturating_sub(self.last_arrival) > gap {
            self.at_first = self.quick_acks;
        }
        self.last_arrival = now;
    }

    /// The blocks that an acknowledgement reports now, and their number. A pending D-SACK comes first (RFC 2883, section 4)
    /// and is reported once; the flag says whether there was one.
    pub fn take_sack_blocks(&mut self) -> (SackBlocks, u8, bool) {
        self.has_blocks = !self.blocks.is_empty();
        let mut blocks = SackBlocks::default();
        let mut count = 0;
        let duplicate = self.duplicate.take();
        if let Some(start) = duplicate {
            let end = start + 1;
            blocks[0] = SackBlock { start, end };
            count = 1;
        }
        for (place, block) in blocks[count..].iter_mut().zip(&self.blocks) {
            *place = *block;
            count += 1;
        }
        (blocks, count as u8, duplicate.is_some())
    }

    /// Places a packet that did not simply come next. Returns whether it was new.
    #[cold]
    #[inline(never)]
    fn place(&mut self, number: u32) -> bool {
        let new = self.place_among_blocks(number);
        self.duplicate = Some(number).filter(|_| !new && self.sends_dsacks);
        if !new && self.quick_acks_return {
            self.at_first = self.quick_acks;
        }
        self.has_blocks = !self.blocks.is_empty() || self.duplicate.is_some();
        new
    }

    fn place_among_blocks(&mut self, number: u32) -> bool {
        if number < self.next {
            return false;
        }
        if number == self.next {
            self.next += 1;
            if let Some(filled) = self
                .blocks
                .iter()
                .position(|block| block.start == self.next)
            {
                self.next = self.blocks.remove(filled).end;
            }
            return true;
        }
        if let Some(first) = self.blocks.first()
            && first.end == number
            && self.blocks.iter().all(|block| block.start != number + 1)
        {
            self.blocks[0].end += 1; // it changed last already
            return true;
        }
        if let Some(held) = self
            .blocks
            .iter()
            .position(|block| block.start <= number && number < block.end)
        {
            self.blocks[..=held].rotate_right(1);
            return false;
        }
        let mut block = SackBlock {
            start: number,
            end: number + 1,
        };
        self.blocks.retain(|other| {
            if other.end == block.start {
                block.start = other.start;
                false
            } else if other.start == block.end {
                block.end = other.end;
                false
            } else {
                true
            }
        });
        self.blocks.insert(0, block);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn data(number: u32, ce: bool) -> Arrival {
        Arrival {
            number,
            sent: Time::from_micros(u64::from(number)),
            congestion_experienced: ce,
            has_feedback: false,
            last: false,
        }
    }

    /// An acknowledgement with its blocks.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Whole {
        next: u32,
        ce_echo: u8,
        sack_count: u8,
        sack: SackBlocks,
        sent: Time,
        first_sent: Time,
    }

    /// What comes of an arrival.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Reaction {
        new: bool,
        before: Option<Whole>,
        now: Option<Whole>,
        delayed: bool,
    }

    impl Receiver {
        fn acknowledge_all(&mut self, echo_limit: u8, config: &Config) -> Whole {
            let Acknowledgement {
                next,
                ce_echo,
                sent,
                first_sent,
            } = self.acknowledge(echo_limit);
            let has_blocks = self.has_sack_blocks();
            let (sack, sack_count, _) = self.take_sack_blocks();
            assert_eq!(has_blocks, sack_count > 0);
            let (sack, sack_count) = if config.recovery == Recovery::Sack {
                (sack, sack_count)
            } else {
                Default::default()
            };
            Whole {
                next,
                ce_echo,
                sack_count,
                sack,
                sent,
                first_sent,
            }
        }

        fn on_data(&mut self, arrival: Arrival, echo_limit: u8, config: &Config) -> Reaction {
            let changed = self.changes_mark(arrival.congestion_experienced);
            let owes = changed && !config.ack_spans_marks && self.owes_acknowledgement();
            let before = owes.then(|| self.acknowledge_all(echo_limit, config));
            let Taken { new, at_once } = self.take(arrival, changed, AtOnce::new(config));
            Reaction {
                new,
                before,
                now: at_once.then(|| self.acknowledge_all(echo_limit, config)),
                delayed: !at_once,
            }
        }
    }

    fn config() -> Config {
        Config {
            ack_at_first: 0,
            ..Config::textbook()
        }
    }

    #[test]
    fn a_young_subflow_is_acknowledged_at_once() {
        let config = Config {
            ack_at_first: 2,
            ..config()
        };
        let mut receiver = Receiver::default();
        receiver.reset(&config);
        let at_once: Vec<bool> = (0..6)
            .map(|number| {
                receiver
                    .on_data(data(number, false), 255, &config)
                    .now
                    .is_some()
            })
            .collect();
        assert_eq!(at_once, [true, true, false, true, false, true]);
    }

    fn receiver() -> Receiver {
        let mut receiver = Receiver::default();
        receiver.reset(&config());
        receiver
    }

    #[test]
    fn every_second_packet_is_acknowledged() {
        let config = config();
        let mut receiver = receiver();
        let first = receiver.on_data(data(0, false), 255, &config);
        assert!(first.delayed && first.now.is_none());
        let second = receiver.on_data(data(1, false), 255, &config);
        assert_eq!(second.now.map(|ack| ack.next), Some(2));
        assert!(!second.delayed);
    }

    #[test]
    fn the_last_segment_is_acknowledged_at_once() {
        let config = config();
        let mut receiver = receiver();
        let reaction = receiver.on_data(
            Arrival {
                last: true,
                ..data(0, false)
            },
            255,
            &config,
        );
        assert_eq!(reaction.now.map(|ack| ack.next), Some(1));
    }

    #[test]
    fn a_change_of_the_mark_is_acknowledged_at_once_and_apart() {
        let config = config();
        let mut receiver = receiver();
        receiver.on_data(data(0, false), 255, &config);
        let change = receiver.on_data(data(1, true), 255, &config);
        let before = change.before.expect("what came before the change");
        assert_eq!((before.next, before.ce_echo), (1, 0));
        let now = change.now.expect("the change");
        assert_eq!((now.next, now.ce_echo), (2, 1));
        // Back to unmarked: nothing is pending, so there is nothing to say first.
        let back = receiver.on_data(data(2, false), 255, &config);
        assert_eq!(back.before, None);
        assert_eq!(back.now.map(|ack| (ack.next, ack.ce_echo)), Some((3, 0)));
    }

    #[test]
    fn a_change_of_the_mark_may_wait_for_the_next_packet() {
        let config = Config {
            ack_at_mark_change: false,
            ..config()
        };
        let mut receiver = receiver();
        receiver.on_data(data(0, false), 255, &config);
        let change = receiver.on_data(data(1, true), 255, &config);
        let before = change.before.expect("what came before the change");
        assert_eq!((before.next, before.ce_echo), (1, 0));
        assert!(change.now.is_none() && change.delayed);
        let next = receiver.on_data(data(2, true), 255, &config);
        assert_eq!(next.now.map(|ack| (ack.next, ack.ce_echo)), Some((3, 2)));
    }

    /// XMP paper, section 2.1, footnote 3.
    #[test]
    fn an_acknowledgement_may_span_a_change_of_the_mark() {
        let config = Config {
            ack_spans_marks: true,
            ..config()
        };
        for marks in [[false, true], [true, false]] {
            let mut receiver = receiver();
            let first = receiver.on_data(data(0, marks[0]), 3, &config);
            assert!(first.now.is_none() && first.delayed);
            let second = receiver.on_data(data(1, marks[1]), 3, &config);
            assert_eq!(second.before, None);
            assert_eq!(second.now.map(|ack| (ack.next, ack.ce_echo)), Some((2, 1)));
        }
    }

    #[test]
    fn marks_beyond_what_one_acknowledgement_echoes_wait_for_the_next() {
        let config = Config {
            ack_every: 8,
            ..config()
        };
        let mut receiver = receiver();
        receiver.on_data(data(0, true), 3, &config);
        let echoes: Vec<u8> = (1..=17)
            .filter_map(|number| receiver.on_data(data(number, true), 3, &config).now)
            .map(|ack| ack.ce_echo)
            .collect();
        assert_eq!(echoes, [3, 3]);
        assert_eq!(receiver.ce_pending, 17 - 6);
    }

    #[test]
    fn gaps_are_reported_latest_block_first() {
        let config = config();
        let mut receiver = receiver();
        receiver.on_data(data(0, false), 255, &config);
        receiver.on_data(data(2, false), 255, &config);
        receiver.on_data(data(4, false), 255, &config);
        receiver.on_data(data(6, false), 255, &config);
        let ack = receiver
            .on_data(data(8, false), 255, &config)
            .now
            .expect("out of order");
        assert_eq!(ack.next, 1);
        assert_eq!(ack.sack_count, 3);
        assert_eq!(ack.sack.map(|block| block.start), [8, 6, 4]);
        let ack = receiver
            .on_data(data(3, false), 255, &config)
            .now
            .expect("out of order");
        assert_eq!(ack.sack[0], SackBlock { start: 2, end: 5 });
        let ack = receiver
            .on_data(data(1, false), 255, &config)
            .now
            .expect("fills a gap");
        assert_eq!(ack.next, 5);
    }

    #[test]
    fn without_sack_no_blocks_are_sent() {
        let config = Config {
            recovery: Recovery::NewReno,
            ..config()
        };
        let mut receiver = receiver();
        let ack = receiver
            .on_data(data(3, false), 255, &config)
            .now
            .expect("out of order");
        assert_eq!((ack.next, ack.sack_count), (0, 0));
    }

    proptest! {
        /// Against a set: whatever the order and the duplicates, the cumulative number, the
        /// newness of each packet and every block are right.
        #[test]
        fn agrees_with_a_set(numbers in prop::collection::vec(0u32..40, 0..120)) {
            let config = config();
            let mut receiver = receiver();
            let mut held = BTreeSet::new();
            for number in numbers {
                let reaction = receiver.on_data(data(number, false), 255, &config);
                prop_assert_eq!(reaction.new, held.insert(number));
                let next = (0..).find(|n| !held.contains(n)).expect("the set is finite");
                prop_assert_eq!(receiver.next, next);
                if let Some(ack) = reaction.now {
                    for block in &ack.sack[..ack.sack_count as usize] {
                        prop_assert!(block.start > next && block.start < block.end);
                        prop_assert!((block.start..block.end).all(|n| held.contains(&n)));
                        prop_assert!(!held.contains(&(block.start - 1)));
                        prop_assert!(!held.contains(&block.end));
                    }
                    if ack.sack_count > 0 && number > next {
                        let first = ack.sack[0];
                        prop_assert!(first.start <= number && number < first.end);
                    }
                }
            }
        }
    }
}
