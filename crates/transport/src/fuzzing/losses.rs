//! Loss detection by time, compared with a slow reference.
//!
//! The input selects events: segments are sent, arrive, are duplicated or lost; ACKs arrive late, out of order or never;
//! timers fire. The reference follows RFC 8985, section 6, with Linux's deviations, and searches all segments every time.

use crate::segment::{Flags, Kind, NO_BLOCKS, SACK_BLOCKS, SackBlock, SackBlocks, Segment};
use crate::sending::{Measured, RecoveryState, Sender};
use crate::{Config, LossDetection};
use pathweave_control::SubflowId;
use pathweave_units::Time;
use std::collections::BTreeSet;

/// Limit on the number of segments, because the reference searches all of them.
const MOST_SEGMENTS: u32 = 200;
/// The path's RTTs.
const MINIMUM_RTT: Time = Time::from_micros(100);
/// Below the minimum, so that the reordering window soon reaches this limit.
const SMOOTHED_RTT: Time = Time::from_micros(60);
/// Segments that arrive above a missing one before it is certainly lost (tcp_reordering).
const THRESHOLD: usize = 3;

/// Plays an input of any bytes.
///
/// # Panics
/// When the two do not agree.
pub fn losses(input: &[u8]) {
    let config = Config {
        loss_detection: LossDetection::Rack,
        ..Config::textbook()
    };
    let mut play = Play {
        sender: Sender::new(0, SubflowId(0), &config),
        config,
        reference: Reference::default(),
        now: MINIMUM_RTT,
        network: Vec::new(),
        arrived: BTreeSet::new(),
        acknowledgements: Vec::new(),
    };
    for pair in input.chunks_exact(2) {
        play.act(pair[0], usize::from(pair[1]));
        play.compare();
    }
}

/// An acknowledgement under way.
#[derive(Clone, Copy)]
struct Answer {
    next: u32,
    blocks: SackBlocks,
    count: u8,
    copy: Option<u32>,
    /// When the packet it answers was sent.
    sent: Time,
}

struct Play {
    config: Config,
    sender: Sender,
    reference: Reference,
    now: Time,
    /// Packets under way: number, and when they were sent.
    network: Vec<(u32, Time)>,
    arrived: BTreeSet<u32>,
    acknowledgements: Vec<Answer>,
}

impl Play {
    fn act(&mut self, action: u8, place: usize) {
        self.now += Time::from_micros(u64::from(action >> 3) * 5);
        match action % 8 {
            0 | 1 => {
                for _ in 0..=place % 8 {
                    self.send_new();
                }
            }
            2 if !self.network.is_empty() => {
                let packet = self.network.remove(place % self.network.len());
                self.arrive(packet);
            }
            // The network duplicates it.
            3 if !self.network.is_empty() => {
                let packet = self.network[place % self.network.len()];
                self.arrive(packet);
            }
            4 if !self.network.is_empty() => {
                self.network.remove(place % self.network.len());
            }
            5 if !self.acknowledgements.is_empty() => {
                let place = place % self.acknowledgements.len();
                let answer = self.acknowledgements.remove(place);
                self.acknowledge(&answer);
            }
            6 => self.send_again(),
            7 if place.is_multiple_of(4) => self.expire(),
            7 => self.find_late(),
            _ => {}
        }
    }

    fn send_new(&mut self) {
        let number = self.sender.board.next();
        if number < MOST_SEGMENTS {
            self.sender.board.push(number);
            if let Some(repair) = &mut self.sender.repair {
                repair
                    .rack
                    .note_sent(number, self.sender.board.una(), self.now);
            }
            self.reference.segments.push(Sent {
                at: self.now,
                times: 1,
                state: State::UnderWay,
            });
            self.network.push((number, self.now));
        }
    }

    fn send_again(&mut self) {
        let ours = self.sender.board.send_again().map(|(number, _)| number);
        assert_eq!(
            ours,
            self.reference.send_again(self.now),
            "what is sent again"
        );
        if let Some(number) = ours {
            if let Some(repair) = &mut self.sender.repair {
                repair.note_retransmitted(number, self.sender.board.una(), self.now);
            }
            self.network.push((number, self.now));
        }
    }

    /// A packet arrives, and the receiver sends an ACK.
    fn arrive(&mut self, (number, sent): (u32, Time)) {
        let is_new = self.arrived.insert(number);
        let next = (0..).find(|number| !self.arrived.contains(number));
        let next = next.expect("the set is finite");
        let mut all: Vec<SackBlock> = Vec::new();
        for &number in self.arrived.range(next..) {
            match all.last_mut() {
                Some(block) if block.end == number => block.end += 1,
                _ => all.push(SackBlock {
                    start: number,
                    end: number + 1,
                }),
            }
        }
        // The block that has changed comes first (RFC 2018, section 4).
        all.sort_by_key(|block| !(block.start <= number && number < block.end));
        let copy = (!is_new).then_some(number);
        if let Some(copy) = copy {
            let block = SackBlock {
                start: copy,
                end: copy + 1,
            };
            all.insert(0, block);
        }
        let mut blocks = *NO_BLOCKS;
        let count = all.len().min(SACK_BLOCKS);
        blocks[..count].copy_from_slice(&all[..count]);
        self.acknowledgements.push(Answer {
            next,
            blocks,
            count: count as u8,
            copy,
            sent,
        });
    }

    fn acknowledge(&mut self, answer: &Answer) {
        let mut flags = Flags::new(true, answer.count);
        if answer.copy.is_some() {
            flags = flags.with_dsack();
        }
        let ack = Segment {
            kind: Kind::Ack,
            number: answer.next,
            flags,
            sent: answer.sent,
            first_sent: answer.sent,
            ..Segment::default()
        };
        // No ACK arrives sooner than the minimum RTT.
        self.now = self.now.max(answer.sent + MINIMUM_RTT);
        let blocks = ack.sack_blocks(&answer.blocks);
        let begins = self.reference.acknowledge(answer, blocks, self.now);
        let progress = self
            .sender
            .take_unusual(&ack, blocks, self.measured(), &self.config);
        assert_eq!(progress.loss, begins, "whether a recovery begins");
        let wait = self
            .sender
            .repair
            .as_mut()
            .map(|repair| repair.take_outcome().wait);
        assert_eq!(
            wait,
            Some(self.reference.wait),
            "how long to wait for late segments"
        );
    }

    fn measured(&self) -> Measured {
        Measured {
            now: self.now,
            minimum_rtt: MINIMUM_RTT,
            smoothed_rtt: SMOOTHED_RTT,
        }
    }

    fn find_late(&mut self) {
        let late = self.sender.judge_late(self.measured());
        assert_eq!(late.begins, self.reference.find_late(self.now));
    }

    fn expire(&mut self) {
        if self.sender.board.outstanding() > 0 {
            self.sender.on_timeout(&self.config, self.now);
            self.reference.expire(self.now);
        }
    }

    fn compare(&mut self) {
        if let Err(wrong) = self.sender.board.check(true) {
            panic!("{wrong}");
        }
        let reference = &self.reference;
        assert_eq!(self.sender.board.una(), reference.una, "una");
        let outstanding = reference.una..reference.segments.len() as u32;
        let count = |state| {
            let states = outstanding.clone().map(|number| reference.state(number));
            states.filter(|&one| one == state).count() as u32
        };
        let ours = (self.sender.board.lost(), self.sender.board.sacked());
        assert_eq!(
            ours,
            (count(State::Lost), count(State::Arrived)),
            "lost and arrived"
        );
        assert_eq!(
            self.sender.recovery, reference.recovery,
            "the state of recovery"
        );
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Transmissions so far.
    times: u32,
    state: State,
}

/// The reference.
struct Reference {
    segments: Vec<Sent>,
    una: u32,
    /// RACK.rtt, RACK.xmit_ts and RACK.end_seq.
    rtt: Time,
    latest: (Time, u32),
    reordering_seen: bool,
    dsack_seen: bool,
    steps: u64,
    keep: u32,
    widened_until: u32,
    recovery: RecoveryState,
    wait: Time,
}

impl Default for Reference {
    fn default() -> Reference {
        Reference {
            segments: Vec::new(),
            una: 0,
            rtt: Time::ZERO,
            latest: (Time::ZERO, 0),
            reordering_seen: false,
            dsack_seen: false,
            steps: 1,
            keep: 0,
            widened_until: 0,
            recovery: RecoveryState::None,
            wait: Time::ZERO,
        }
    }
}

impl Reference {
    fn state(&self, number: u32) -> State {
        self.segments[number as usize].state
    }

    fn next(&self) -> u32 {
        self.segments.len() as u32
    }

    fn send_again(&mut self, now: Time) -> Option<u32> {
        let number = (self.una..self.next()).find(|&number| self.state(number) == State::Lost)?;
        let sent = &mut self.segments[number as usize];
        sent.state = State::UnderWay;
        sent.times += 1;
        sent.at = now;
        Some(number)
    }

    /// Returns whether a recovery begins.
    fn acknowledge(&mut self, answer: &Answer, blocks: &[SackBlock], now: Time) -> bool {
        self.wait = Time::ZERO;
        if answer.next < self.una {
            return false; // overtaken by a later ACK
        }
        let arrived_above = (self.una..self.next()).filter(|&n| self.state(n) == State::Arrived);
        let highest = arrived_above.max().map_or(self.una, |number| number + 1);
        // Steps 1 to 3: segments newly covered, first by SACK blocks, then cumulatively, each by number.
        let skip = usize::from(answer.copy.is_some());
        let mut selectively: Vec<u32> = blocks[skip..]
            .iter()
            .flat_map(|block| block.start..block.end)
            .filter(|&number| number >= self.una && number < self.next())
            .filter(|&number| self.state(number) != State::Arrived)
            .collect();
        selectively.sort_unstable();
        selectively.dedup();
        let in_order = (self.una..answer.next).filter(|&number| {
            self.state(number) != State::Arrived && !selectively.contains(&number)
        });
        let new: Vec<u32> = selectively.iter().copied().chain(in_order).collect();
        let mut advanced = false;
        for &number in &new {
            let sent = &mut self.segments[number as usize];
            sent.state = State::Arrived;
            let rtt = now - sent.at;
            // An earlier copy arrived: the RTT is too short, or a cumulative ACK echoes an older time stamp.
            let millisecond = |time: Time| time.as_picos() / Time::from_millis(1).as_picos();
            let is_older =
                !selectively.contains(&number) && millisecond(answer.sent) < millisecond(sent.at);
            if sent.times > 1 && (rtt < MINIMUM_RTT || is_older) {
                continue;
            }
            self.reordering_seen |= sent.times == 1 && number < highest;
            self.rtt = rtt;
            self.latest = self.latest.max((sent.at, number + 1));
            advanced = true;
        }
        self.una = answer.next;
        // Step 4: the reordering window.
        self.dsack_seen |= answer.copy.is_some() && self.reordering_seen;
        if answer.next < self.widened_until {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.steps = (self.steps + 1).min(255);
            self.keep = 16;
            self.widened_until = self.next();
        } else if self.keep == 0 {
            self.steps = 1;
        }
        match self.recovery {
            RecoveryState::Fast(point) if self.una >= point => {
                self.recovery = RecoveryState::None;
                self.keep = self.keep.saturating_sub(1);
            }
            RecoveryState::Timeout(point) if self.una >= point => {
                self.recovery = RecoveryState::None;
                self.keep = self.keep.saturating_sub(1);
            }
            _ => {}
        }
        // Step 5.
        if advanced {
            let (_, lost_again) = self.detect(now);
            if lost_again && matches!(self.recovery, RecoveryState::Timeout(_)) {
                self.recovery = RecoveryState::None;
            }
        }
        let any_lost = (self.una..self.next()).any(|number| self.state(number) == State::Lost);
        let begins = self.recovery == RecoveryState::None && any_lost;
        if begins {
            self.recovery = RecoveryState::Fast(self.next());
        }
        begins
    }

    /// RACK_detect_loss. Returns whether segments were found lost, and whether retransmissions were.
    fn detect(&mut self, now: Time) -> (bool, bool) {
        let arrived = (self.una..self.next()).filter(|&n| self.state(n) == State::Arrived);
        let is_certain = self.recovery != RecoveryState::None || arrived.count() >= THRESHOLD;
        let window = if !self.reordering_seen && is_certain {
            Time::ZERO
        } else {
            (MINIMUM_RTT / 4 * self.steps).min(SMOOTHED_RTT)
        };
        let (mut found, mut again) = (false, false);
        self.wait = Time::ZERO;
        for number in self.una..self.next() {
            let sent = self.segments[number as usize];
            if sent.state != State::UnderWay || (sent.at, number + 1) >= self.latest {
                continue;
            }
            let lost_at = sent.at + self.rtt + window;
            if lost_at <= now {
                self.segments[number as usize].state = State::Lost;
                found = true;
                again |= sent.times > 1;
            } else {
                self.wait = self.wait.max(lost_at - now);
            }
        }
        (found, again)
    }

    /// Returns whether a recovery begins.
    fn find_late(&mut self, now: Time) -> bool {
        let (found, _) = self.detect(now);
        let begins = found && !matches!(self.recovery, RecoveryState::Fast(_));
        if begins {
            self.recovery = RecoveryState::Fast(self.next());
        }
        begins
    }

    fn expire(&mut self, now: Time) {
        for number in self.una..self.next() {
            let sent = self.segments[number as usize];
            let is_old = number == self.una || sent.at + self.rtt <= now;
            if sent.state == State::UnderWay && is_old {
                self.segments[number as usize].state = State::Lost;
            }
        }
        self.recovery = RecoveryState::Timeout(self.next());
    }
}
