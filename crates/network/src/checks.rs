//! What every link must keep to, watched from outside its port: the feature `checks`.
//!
//! A list beside each port says which packets are in it, in which order and since when. Whatever comes out
//! must be the next of the list, and no earlier than its transmission allows.

use crate::packet::{Header, PacketId};
use crate::queue::Verdict;
use crate::queue::{Limit, Marking, MarkingRule, Threshold, Waiting};
use crate::setup::LinkSetup;
use pathweave_units::{Rate, Time};
use std::collections::VecDeque;

/// Times are rounded to the picosecond twice for each packet in the queue when a link changes its rate.
const ROUNDING: Time = Time::from_picos(4);

/// The packets of one link.
#[derive(Clone, Debug)]
pub(crate) struct LinkCheck {
    link: u32,
    delay: Time,
    rate: Rate,
    /// The highest rate since the link was last empty.
    fastest: Rate,
    held: VecDeque<Held>,
    /// When the last packet reached the far end.
    delivered: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    packet: PacketId,
    size: u16,
    since: Time,
}

impl LinkCheck {
    pub fn new(link: u32, setup: &LinkSetup) -> LinkCheck {
        LinkCheck {
            link,
            delay: setup.delay,
            rate: setup.rate,
            fastest: setup.rate,
            held: VecDeque::new(),
            delivered: None,
        }
    }

    /// The port took a packet.
    pub fn take(&mut self, now: Time, packet: PacketId, size: u16) {
        if self.held.is_empty() {
            self.fastest = self.rate;
        }
        self.held.push_back(Held {
            packet,
            size,
            since: now,
        });
    }

    /// Adds a packet that the port took without this check, in its place by time of arrival.
    pub fn slip_in(&mut self, since: Time, packet: PacketId, size: u16) {
        let place = self.held.partition_point(|held| held.since < since);
        self.held.insert(
            place,
            Held {
                packet,
                size,
                since,
            },
        );
    }

    /// The port hands a packet to the far end.
    pub fn deliver(&mut self, now: Time, packet: PacketId) {
        let link = self.link;
        let Some(first) = self.held.pop_front() else {
            panic!("check: link {link} delivers a packet at {now} that it does not hold");
        };
        assert!(
            first.packet == packet,
            "check: link {link} delivers {packet:?} at {now} before {:?}, which came at {}",
            first.packet,
            first.since
        );
        let transmission = self
            .fastest
            .time_for(pathweave_units::Bytes::new(u64::from(first.size)));
        let earliest = first.since + transmission + self.delay;
        assert!(
            now + ROUNDING >= earliest,
            "check: link {link} delivers a packet at {now} that cannot be there before {earliest}"
        );
        if let Some(previous) = self.delivered {
            assert!(
                now + ROUNDING >= previous + transmission,
                "check: link {link} delivers packets at {previous} and {now}, faster than {}",
                self.fastest
            );
        }
        self.delivered = Some(now);
    }

    /// The link goes down and loses these packets: all that it holds, and nothing else.
    pub fn fail(&mut self, lost: impl Iterator<Item = PacketId>) {
        let held: Vec<PacketId> = self.held.drain(..).map(|held| held.packet).collect();
        let lost: Vec<PacketId> = lost.collect();
        assert!(
            held == lost,
            "check: link {} lost {lost:?} of {held:?}",
            self.link
        );
        self.delivered = None;
    }

    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.fastest = self.fastest.max(rate);
    }
}

/// The rules of a queue as they were given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueRules {
    pub limit: Limit,
    pub marking: Marking,
    pub drop_ecn_blind: bool,
    pub loses: bool,
}

impl QueueRules {
    /// A decision that the rules do not allow ends the run.
    pub fn allow(&self, verdict: Verdict, waiting: Waiting, header: &Header) {
        assert!(
            self.allowed(waiting, header).contains(&Some(verdict)),
            "check: {verdict:?} with {waiting:?} is against {self:?} for {header:?}"
        );
    }

    /// The decisions that can be right.
    fn allowed(&self, waiting: Waiting, header: &Header) -> [Option<Verdict>; 3] {
        if header.is_protected() {
            return [Some(Verdict::Take), None, None];
        }
        let lost = self.loses.then_some(Verdict::Lose);
        if header.is_feedback() {
            return [Some(Verdict::Take), lost, None];
        }
        let is_full = match self.limit {
            Limit::None => false,
            Limit::Packets(limit) => waiting.packets + 1 > limit,
            Limit::Bytes(limit) => {
                u64::from(waiting.bytes) + u64::from(header.size()) > limit.get()
            }
        };
        if is_full {
            return [Some(Verdict::Drop), None, None];
        }
        let marks = self.marks(waiting);
        let marked = match (header.ecn_capable(), self.drop_ecn_blind) {
            (true, _) => Verdict::TakeAndMark,
            (false, true) => Verdict::Drop,
            (false, false) => Verdict::Take,
        };
        let lost = lost.filter(|_| marks != Some(true) || marked != Verdict::Drop);
        match marks {
            Some(true) => [Some(marked), lost, None],
            Some(false) => [Some(Verdict::Take), lost, None],
            None => [Some(marked), Some(Verdict::Take), lost],
        }
    }

    /// Whether a queue is congested; `None` where chance decides.
    fn marks(&self, waiting: Waiting) -> Option<bool> {
        let packets = f64::from(waiting.packets);
        match self.marking {
            Marking::None => Some(false),
            Marking::Step { threshold, rule } => {
                let (queue, k) = match threshold {
                    Threshold::Packets(k) => (packets, k),
                    Threshold::Bytes(k) => (f64::from(waiting.bytes), k.get() as f64),
                };
                Some(match rule {
                    MarkingRule::Above => queue > k,
                    // "At or above 0" packets marks from one on; of bytes, always.
                    MarkingRule::AtOrAbove if matches!(threshold, Threshold::Packets(_)) => {
                        queue >= k.max(1.0)
                    }
                    MarkingRule::AtOrAbove => queue >= k,
                })
            }
            Marking::Linear { from, to, .. } if packets > from && packets <= to => None,
            Marking::Linear { to, .. } => Some(packets > to),
            Marking::Red { .. } => None, // it depends on what came before
        }
    }
}
