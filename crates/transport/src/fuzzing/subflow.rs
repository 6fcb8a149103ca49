//! A subflow's two ends under any order of packets.
//!
//! The input says what happens next: segments leave, a packet or an acknowledgement arrives (in any order),
//! is lost or arrives twice, the timer expires. The receiver is held against a set of numbers, the
//! scoreboard against its own segments; in the end everything has to get through.

use crate::receiving::{Acknowledgement, Arrival, AtOnce, Receiver, Taken};
use crate::segment::{Flags, Kind, NO_BLOCKS, SackBlock, SackBlocks, Segment};
use crate::sending::{Measured, RecoveryState, Sender};
use crate::{Config, LossDetection, Recovery};
use pathweave_control::SubflowId;
use pathweave_units::Time;
use std::collections::BTreeSet;

/// Segments of a connection: its numbers stay small.
const MOST_SEGMENTS: u32 = 4096;
/// The minimum RTT of the path, used as the smoothed RTT too.
const RTT: Time = Time::from_micros(100);
/// Marks that one acknowledgement echoes.
const ECHO_LIMIT: u8 = 3;

/// Plays an input of any bytes.
///
/// # Panics
/// When an end does what it must not.
pub fn subflow(input: &[u8]) {
    let Some((&[kind, policy], actions)) = input.split_first_chunk() else {
        return;
    };
    let mut ends = Ends::new(kind, policy);
    for pair in actions.chunks_exact(2) {
        ends.act(pair[0], usize::from(pair[1]));
        ends.check();
    }
    ends.get_everything_through();
}

/// An acknowledgement under way, with its blocks and how many of them are in use.
#[derive(Clone, Copy)]
struct Answer {
    says: Acknowledgement,
    blocks: SackBlocks,
    count: u8,
    /// Whether the first block is a D-SACK.
    has_dsack: bool,
}

/// A data packet under way.
#[derive(Clone, Copy)]
struct Packet {
    number: u32,
    marked: bool,
    sent: Time,
}

struct Ends {
    config: Config,
    sender: Sender,
    receiver: Receiver,
    now: Time,
    data: Vec<Packet>,
    acknowledgements: Vec<Answer>,
    /// What has arrived.
    arrived: BTreeSet<u32>,
    marked: u64,
    echoed: u64,
}

impl Ends {
    fn new(kind: u8, policy: u8) -> Ends {
        let recovery = [Recovery::Sack, Recovery::NewReno, Recovery::Reno][usize::from(kind % 3)];
        let by_time = recovery == Recovery::Sack && kind & 0x40 != 0;
        let config = Config {
            loss_detection: if by_time {
                LossDetection::Rack
            } else {
                LossDetection::DupAcks
            },
            frto: by_time && kind & 0x20 != 0,
            undo: by_time && kind & 0x10 != 0,
            ack_every: u32::from(policy % 4) + 1,
            ack_at_first: u32::from(policy >> 4),
            ack_at_mark_change: policy & 4 != 0,
            recovery,
            recover_after_timeout: policy & 8 == 0,
            limited_transmit: kind & 0x80 != 0,
            ..Config::textbook()
        };
        let mut receiver = Receiver::default();
        receiver.reset(&config);
        Ends {
            sender: Sender::new(0, SubflowId(0), &config),
            receiver,
            config,
            now: RTT,
            data: Vec::new(),
            acknowledgements: Vec::new(),
            arrived: BTreeSet::new(),
            marked: 0,
            echoed: 0,
        }
    }

    fn act(&mut self, action: u8, place: usize) {
        let marked = action & 0x80 != 0;
        // Each action takes between zero and three RTTs.
        self.now += Time::from_micros(u64::from(action >> 3 & 15) * 20);
        match action % 8 {
            0 => {
                for _ in 0..=place % 16 {
                    self.send_new(marked);
                }
            }
            1 if !self.data.is_empty() => {
                let packet = self.data.remove(place % self.data.len());
                self.deliver(packet);
            }
            2 if !self.data.is_empty() => {
                self.data.remove(place % self.data.len());
            }
            3 if !self.data.is_empty() => {
                let packet = self.data[place % self.data.len()];
                self.deliver(packet);
            }
            4 if !self.acknowledgements.is_empty() => {
                let acknowledgement = self
                    .acknowledgements
                    .remove(place % self.acknowledgements.len());
                self.acknowledge(&acknowledgement);
            }
            5 if !self.acknowledgements.is_empty() => {
                self.acknowledgements
                    .remove(place % self.acknowledgements.len());
            }
            6 if place % 2 == 1 && self.sender.repair.is_some() => self.find_late(),
            6 => self.expire(),
            7 => {
                self.answer();
            }
            _ => {}
        }
    }

    fn send_new(&mut self, marked: bool) {
        let number = self.sender.board.next();
        if number < MOST_SEGMENTS {
            self.sender.board.push(number);
            if let Some(repair) = &mut self.sender.repair {
                repair
                    .rack
                    .note_sent(number, self.sender.board.una(), self.now);
            }
            self.data.push(Packet {
                number,
                marked,
                sent: self.now,
            });
        }
    }

    fn deliver(&mut self, packet: Packet) {
        let Packet {
            number,
            marked,
            sent,
        } = packet;
        self.marked += u64::from(marked);
        let arrival = Arrival {
            number,
            sent,
            congestion_experienced: marked,
            has_feedback: false,
            last: number + 1 == MOST_SEGMENTS,
        };
        let mark_changed = self.receiver.changes_mark(marked);
        if mark_changed && self.receiver.owes_acknowledgement() {
            self.answer();
        }
        let at_once = AtOnce::new(&self.config);
        let Taken { new, at_once } = self.receiver.take(arrival, mark_changed, at_once);
        assert_eq!(new, self.arrived.insert(number), "packet {number}");
        if at_once {
            self.answer();
        }
    }

    /// Has the receiver acknowledge what has arrived.
    fn acknowledge_arrived(&mut self) -> Answer {
        let (blocks, count, has_dsack) = if self.config.recovery == Recovery::Sack {
            self.receiver.take_sack_blocks()
        } else {
            (*NO_BLOCKS, 0, false)
        };
        assert!(!has_dsack || self.arrived.contains(&blocks[0].start));
        let says = self.receiver.acknowledge(ECHO_LIMIT);
        Answer {
            says,
            blocks,
            count,
            has_dsack,
        }
    }

    /// What an acknowledgement says is what has arrived.
    fn answer(&mut self) {
        let answer = self.acknowledge_arrived();
        let acknowledgement = answer.says;
        self.echoed += u64::from(acknowledgement.ce_echo);
        assert!(self.echoed <= self.marked, "marks that nobody set");
        assert!(acknowledgement.ce_echo <= ECHO_LIMIT);
        // The one that comes before a change of the mark does not cover the packet that brought it.
        let next = acknowledgement.next;
        assert!((0..next).all(|number| self.arrived.contains(&number)));
        let first = usize::from(answer.has_dsack);
        let blocks = &answer.blocks[first..usize::from(answer.count)];
        for SackBlock { start, end } in blocks {
            assert!(
                next < *start && start < end,
                "a block {start} to {end} above {next}"
            );
            let all = (*start..*end).all(|number| self.arrived.contains(&number));
            assert!(all, "a block {start} to {end} with gaps");
        }
        self.acknowledgements.push(answer);
    }

    fn acknowledge(&mut self, answer: &Answer) {
        let acknowledgement = &answer.says;
        let mut flags = Flags::new(true, answer.count);
        if answer.has_dsack {
            flags = flags.with_dsack();
        }
        let ack = Segment {
            kind: Kind::Ack,
            number: acknowledgement.next,
            flags,
            sent: acknowledgement.sent,
            first_sent: acknowledgement.first_sent,
            ..Segment::default()
        };
        // No acknowledgement arrives sooner than one RTT after its packet was sent.
        self.now = self.now.max(acknowledgement.sent + RTT);
        let (una, outstanding) = (self.sender.board.una(), self.sender.board.outstanding());
        let progress = if self.sender.expects(&ack) {
            let progress = self.sender.take_expected(&ack);
            if let Some(repair) = &mut self.sender.repair {
                let rtt = self.now - ack.sent;
                repair.rack.arrive_in_order(ack.number, ack.sent, rtt);
            }
            progress
        } else {
            let blocks = ack.sack_blocks(&answer.blocks);
            let measured = self.measured();
            self.sender
                .take_unusual(&ack, blocks, measured, &self.config)
        };
        assert!(self.sender.board.una() == una.max(acknowledgement.next));
        assert_eq!(progress.advanced, acknowledgement.next > una);
        assert!(
            progress.packets <= outstanding,
            "more acknowledged than sent"
        );
        if progress.send_first {
            self.send_again();
        }
    }

    fn measured(&self) -> Measured {
        Measured {
            now: self.now,
            minimum_rtt: RTT,
            smoothed_rtt: RTT,
        }
    }

    /// The reordering timer fires.
    fn find_late(&mut self) {
        let before = self.sender.board.lost();
        let measured = self.measured();
        let late = self.sender.judge_late(measured);
        assert_eq!(late.found, self.sender.board.lost() > before);
        if late.found {
            self.send_again();
        }
    }

    fn send_again(&mut self) {
        if let Some((number, data)) = self.sender.board.send_again() {
            if let Some(repair) = &mut self.sender.repair {
                repair.note_retransmitted(number, self.sender.board.una(), self.now);
            }
            assert_eq!(number, data);
            assert!(number >= self.sender.board.una() && number < self.sender.board.next());
            self.data.push(Packet {
                number,
                marked: false,
                sent: self.now,
            });
        }
    }

    fn expire(&mut self) {
        if self.sender.board.outstanding() > 0 {
            self.sender.on_timeout(&self.config, self.now);
            self.send_again();
        }
    }

    fn check(&self) {
        let expected = (0..).find(|number| !self.arrived.contains(number));
        assert_eq!(Some(self.receiver.next), expected);
        let selective = self.config.recovery == Recovery::Sack;
        if let Err(wrong) = self.sender.board.check(selective) {
            panic!("{wrong}");
        }
        if let RecoveryState::Fast(point) | RecoveryState::Timeout(point) = self.sender.recovery {
            assert!(point <= self.sender.board.next());
        }
    }

    /// From here on nothing is lost, and the timer expires whenever nothing is left under way.
    fn get_everything_through(&mut self) {
        let most = 4 * self.sender.board.outstanding() + 4;
        for _ in 0..most {
            while !self.data.is_empty() || !self.acknowledgements.is_empty() {
                for packet in std::mem::take(&mut self.data) {
                    self.deliver(packet);
                }
                for acknowledgement in std::mem::take(&mut self.acknowledgements) {
                    self.acknowledge(&acknowledgement);
                }
                self.check();
            }
            if self.sender.board.outstanding() == 0 {
                return;
            }
            let acknowledgement = self.acknowledge_arrived();
            self.acknowledge(&acknowledgement);
            self.expire();
        }
        panic!(
            "{} segments do not get through",
            self.sender.board.outstanding()
        );
    }
}
