//! The receiving end of one subflow: what has arrived, and when to acknowledge it.

use crate::Config;
use crate::segment::{SACK_BLOCKS, SackBlock};
use pathweave_control::Feedback;
use pathweave_units::Time;

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Acknowledgement {
    pub next: u32,
    pub ce_echo: u8,
    pub sack_count: u8,
    pub sack: [SackBlock; SACK_BLOCKS],
    /// When the packet that it answers was sent, the last that it covers.
    pub sent: Time,
    /// When the first packet that it covers was sent.
    pub first_sent: Time,
    /// Whether these give fair RTT samples: not when the timer sent the acknowledgement.
    pub rtt_sample: bool,
    /// The congestion field of the packet that it answers.
    pub feedback: Feedback,
}

/// A data packet as the receiver sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub number: u32,
    pub sent: Time,
    pub congestion_experienced: bool,
    pub feedback: Feedback,
    /// The connection's last segment.
    pub last: bool,
}

/// What to do about an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reaction {
    /// The packet had not been received before.
    pub new: bool,
    /// Send this first: it covers what arrived before a change of the CE mark.
    pub before: Option<Acknowledgement>,
    /// Send this.
    pub now: Option<Acknowledgement>,
    /// Otherwise, an acknowledgement is due at the latest after the policy's timeout.
    pub delayed: bool,
}

/// A subflow's receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// The place of its connection's receiving half.
    pub connection: u32,
    /// The flow's number, and its own in the flow.
    pub flow: u32,
    pub number: u16,
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
    last_ce: bool,
    /// Data packets that are still acknowledged at once, as the subflow is young.
    at_first: u32,
    /// When the first and the last packet that are not yet acknowledged were sent.
    first_sent: Time,
    last_sent: Time,
    /// The latest packet's.
    feedback: Feedback,
    /// What arrived beyond `next`, the block that changed last first (RFC 2018, section 4).
    blocks: Vec<SackBlock>,
    /// When a delayed acknowledgement is due; `Time::MAX` when none is.
    pub ack_deadline: Time,
    /// When the timer will fire; `Time::MAX` when it is not set.
    pub timer_at: Time,
    /// Payload bytes that arrived, each counted once.
    pub received_bytes: u64,
    /// Those of them whose data had come on another subflow before.
    pub duplicate_bytes: u64,
}

impl Receiver {
    /// Makes it as new, keeping its memory.
    pub fn reset(&mut self, config: &Config) {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        *self = Receiver {
            blocks,
            at_first: config.ack.at_first,
            ack_deadline: Time::MAX,
            timer_at: Time::MAX,
            ..Receiver::default()
        };
    }

    #[inline(always)]
    pub fn on_data(&mut self, arrival: Arrival, echo_limit: u8, config: &Config) -> Reaction {
        let mut reaction = Reaction::default();
        let ce_changed = arrival.congestion_experienced != self.last_ce;
        if ce_changed {
            // RFC 8257, section 3.2: an acknowledgement never spans a change.
            self.last_ce = arrival.congestion_experienced;
            if self.unacknowledged > 0 {
                reaction.before = Some(self.acknowledge(echo_limit, config));
            }
        }
        if self.unacknowledged == 0 {
            self.first_sent = arrival.sent;
        }
        self.last_sent = arrival.sent;
        self.feedback = arrival.feedback;
        self.ce_pending += u32::from(arrival.congestion_experienced);
        self.unacknowledged += 1;
        let in_order = arrival.number == self.next && self.blocks.is_empty();
        if in_order {
            self.next += 1;
            reaction.new = true;
        } else {
            reaction.new = self.place(arrival.number);
        }
        let young = self.at_first > 0;
        self.at_first = self.at_first.saturating_sub(1);
        if !in_order
            || young
            || (ce_changed && config.ack.at_mark_change)
            || arrival.last
            || self.unacknowledged >= config.ack.every
            // Each packet's field says something of its own.
            || arrival.feedback != Feedback::None
        {
            reaction.now = Some(self.acknowledge(echo_limit, config));
        } else {
            reaction.delayed = true;
        }
        reaction
    }

    /// Acknowledges everything so far.
    #[inline]
    pub fn acknowledge(&mut self, echo_limit: u8, config: &Config) -> Acknowledgement {
        let echoed = self.ce_pending.min(u32::from(echo_limit));
        self.ce_pending -= echoed;
        self.unacknowledged = 0;
        self.ack_deadline = Time::MAX;
        let mut acknowledgement = Acknowledgement {
            next: self.next,
            ce_echo: echoed as u8,
            sack_count: 0,
            sack: [SackBlock::default(); SACK_BLOCKS],
            sent: self.last_sent,
            first_sent: self.first_sent,
            rtt_sample: true,
            feedback: std::mem::take(&mut self.feedback),
        };
        if !self.blocks.is_empty() && config.recovery == crate::Recovery::Sack {
            let count = self.blocks.len().min(SACK_BLOCKS);
            acknowledgement.sack[..count].copy_from_slice(&self.blocks[..count]);
            acknowledgement.sack_count = count as u8;
        }
        acknowledgement
    }

    /// Places a packet that did not simply come next. Returns whether it was new.
    #[cold]
    #[inline(never)]
    fn place(&mut self, number: u32) -> bool {
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
    use crate::{AckPolicy, Recovery};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn data(number: u32, ce: bool) -> Arrival {
        Arrival {
            number,
            sent: Time::from_micros(u64::from(number)),
            congestion_experienced: ce,
            feedback: Feedback::None,
            last: false,
        }
    }

    fn config() -> Config {
        let ack = AckPolicy {
            at_first: 0,
            ..Config::default().ack
        };
        Config {
            ack,
            ..Config::default()
        }
    }

    #[test]
    fn a_young_subflow_is_acknowledged_at_once() {
        let ack = AckPolicy {
            at_first: 2,
            ..config().ack
        };
        let config = Config { ack, ..config() };
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
        let ack = AckPolicy {
            at_mark_change: false,
            ..config().ack
        };
        let config = Config { ack, ..config() };
        let mut receiver = receiver();
        receiver.on_data(data(0, false), 255, &config);
        let change = receiver.on_data(data(1, true), 255, &config);
        let before = change.before.expect("what came before the change");
        assert_eq!((before.next, before.ce_echo), (1, 0));
        assert!(change.now.is_none() && change.delayed);
        let next = receiver.on_data(data(2, true), 255, &config);
        assert_eq!(next.now.map(|ack| (ack.next, ack.ce_echo)), Some((3, 2)));
    }

    #[test]
    fn marks_beyond_what_one_acknowledgement_echoes_wait_for_the_next() {
        let ack = AckPolicy {
            every: 8,
            ..config().ack
        };
        let config = Config { ack, ..config() };
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
