//! The sending end of one subflow: loss recovery and its timer.

use super::account::Wait;
use super::bundles::Bundles;
use super::by_time::Measured;
use super::cut_round::{CutRound, Proportional};
use super::pace::Pace;
use super::repair::{Repair, Undo};
use super::scoreboard::Scoreboard;
use super::small_queue::SmallQueue;
use super::timeout::{RetransmissionTimeout, VarianceFloor};
use super::window_use::WindowUse;
use crate::output::{Timer, TimerKind};
use crate::segment::{SackBlock, Segment};
use crate::tick::Tick;
use crate::{Config, Recovery, Reduction, RttHistogram};
use pathweave_control::{Loss, Path, SubflowId};
use pathweave_units::Time;

/// Duplicate acknowledgements, or selectively acknowledged segments above, that make one lost.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// Where a subflow is between opening and closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not yet asked for.
    Unopened,
    /// SYN sent.
    Opening,
    /// SYN answered, but not yet the ACK for it, which [`Joins::DataAcknowledged`] waits for.
    ///
    /// [`Joins::DataAcknowledged`]: crate::Joins::DataAcknowledged
    Confirming,
    /// Carries data.
    Open,
    /// Its connection is done.
    Closed,
}

/// Whether and how a subflow is recovering from losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryState {
    /// It is not.
    None,
    /// Fast recovery: over when everything below the number has been acknowledged.
    Fast(u32),
    /// After a timeout: no fast recovery starts below the number if [`Config::recover_after_timeout`] is set.
    Timeout(u32),
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Segments newly acknowledged, each counted once.
    pub packets: u32,
    /// Nothing has gone astray and nothing else has come of it than packets acknowledged in order.
    pub clean: bool,
    /// The lowest unacknowledged number rose.
    pub advanced: bool,
    /// A new loss event began.
    pub loss: bool,
    /// It showed that more segments are lost.
    pub found_lost: bool,
    /// Fast recovery was under way when the acknowledgement came.
    pub in_recovery: bool,
    /// The lowest lost segment is to be sent again whatever the window says.
    pub send_first: bool,
}

/// A subflow's sender. What every acknowledgement needs stands in the first 192 bytes, the scoreboard's beginning
/// included.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Sender {
    pub connection: u32,
    pub number: SubflowId,
    /// The place of its receiving half.
    pub to: u32,
    /// Packets that it has sent, less those that have come or were lost on their way here.
    pub in_network: u32,
    pub phase: Phase,
    /// A probe is outstanding: ACKs in order need the full processing too.
    pub is_probing: bool,
    /// Whether the host's timers have a tick.
    pub has_tick: bool,
    /// What it waits for, once it is open.
    pub wait: Wait,
    duplicates: u32,
    pub recovery: RecoveryState,
    /// The round in which its window was cut, where the configuration makes a difference of it.
    pub cut_round: Option<CutRound>,
    pub marks: u64,
    pub timeout: RetransmissionTimeout,
    /// When the retransmission timer is due; `Time::MAX` when it is not.
    pub deadline: Time,
    /// When the timer will fire; `Time::MAX` when it is not set. It may fire early, and is then
    /// set again: cheaper than moving it with every acknowledgement.
    pub timer_at: Time,
    pub rtts: RttHistogram,
    pub board: Scoreboard,
    /// The flow's number.
    pub flow: u32,
    /// This many duplicate acknowledgements make a segment lost.
    pub duplicate_threshold: u32,
    /// The lowest number for which a timeout has been reported to the controller.
    timed_out: Option<u32>,
    /// The next new number at the last timeout.
    sent_at_timeout: u32,
    /// When the next packet may leave at the subflow's pace.
    pub(super) pace: Pace,
    /// When the timer for that will fire; `Time::MAX` when it is not set.
    pub pace_timer_at: Time,
    /// When its path opened.
    pub opened: Time,
    /// State of loss repair by time, if [`Config::loss_detection`] is RACK.
    pub repair: Option<Box<Repair>>,
    /// RTT variance, if [`Config::rto_floor`] applies to it.
    pub variance: VarianceFloor,
    /// Its packets in the host's port, if that holds packets back.
    pub small_queue: Option<Box<SmallQueue>>,
    /// Its bundles; none if [`Config::send_bundle`] comes to 1.
    pub bundles: Option<Box<Bundles>>,
    /// Tick of the host's timers.
    pub tick: Tick,
    /// How much of its window it uses, if [`Config::idle_restart`] or [`Config::window_validation`] is set.
    pub window_use: Option<Box<WindowUse>>,
    pub retransmits: u64,
    pub reinjected: u64,
    pub timeouts: u64,
}

const _: () = assert!(std::mem::offset_of!(Sender, board) == 160);

impl Sender {
    /// Its timer of a kind; `place` is its own.
    pub fn timer(&self, kind: TimerKind, place: u32) -> Timer {
        Timer {
            flow: self.flow,
            subflow: self.number.0 as u16,
            kind,
            place,
        }
    }

    pub fn new(connection: u32, number: SubflowId, config: &Config) -> Sender {
        Sender {
            connection,
            number,
            flow: 0,
            to: 0,
            phase: Phase::Unopened,
            is_probing: false,
            has_tick: false,
            recovery: RecoveryState::None,
            board: Scoreboard::new(),
            repair: config.finds_losses_by_time().then(Box::default),
            variance: VarianceFloor::default(),
            small_queue: config.holds_back().then(Box::default),
            bundles: None,
            tick: Tick::default(),
            window_use: config.tracks_window_use().then(Box::default),
            cut_round: None,
            wait: Wait::Handshake,
            duplicates: 0,
            duplicate_threshold: DUPLICATE_THRESHOLD,
            timed_out: None,
            sent_at_timeout: 0,
            timeout: RetransmissionTimeout::new(config),
            deadline: Time::MAX,
            timer_at: Time::MAX,
            pace: Pace::default(),
            pace_timer_at: Time::MAX,
            in_network: 0,
            opened: Time::ZERO,
            retransmits: 0,
            reinjected: 0,
            timeouts: 0,
            marks: 0,
            rtts: RttHistogram::default(),
        }
    }

    /// Makes it a new one, keeping its memory.
    pub fn reset(&mut self, connection: u32, number: SubflowId, config: &Config) {
        self.board.reset();
        self.repair = self.repair.take().filter(|_| config.finds_losses_by_time());
        match &mut self.repair {
            Some(repair) => repair.reset(),
            None => self.repair = config.finds_losses_by_time().then(Box::default),
        }
        self.variance = VarianceFloor::default();
        self.small_queue = self.small_queue.take().filter(|_| config.holds_back());
        match &mut self.small_queue {
            Some(queue) => queue.reset(),
            None => self.small_queue = config.holds_back().then(Box::default),
        }
        // It begins when the path opens.
        if config.tracks_window_use() {
            self.window_use.get_or_insert_default();
        } else {
            self.window_use = None;
        }
        self.is_probing = false;
        self.rtts.clear();
        self.connection = connection;
        self.number = number;
        self.phase = Phase::Unopened;
        self.recovery = RecoveryState::None;
        self.cut_round = None;
        self.wait = Wait::Handshake;
        self.duplicates = 0;
        self.duplicate_threshold = DUPLICATE_THRESHOLD;
        self.timed_out = None;
        self.sent_at_timeout = 0;
        self.timeout = RetransmissionTimeout::new(config);
        self.deadline = Time::MAX;
        self.timer_at = Time::MAX;
        self.pace = Pace::default();
        self.pace_timer_at = Time::MAX;
        self.in_network = 0;
        self.opened = Time::ZERO;
        self.retransmits = 0;
        self.reinjected = 0;
        self.timeouts = 0;
        self.marks = 0;
    }

    /// Data packets that it has sent, retransmissions included.
    pub fn sent_packets(&self) -> u64 {
        u64::from(self.board.next()) + self.retransmits
    }

    /// Whether an acknowledgement only says that the next segments have come, when nothing has gone astray.
    #[inline(always)]
    pub fn expects(&self, ack: &Segment) -> bool {
        !ack.has_sack_blocks()
            && ack.number > self.board.una()
            && self.recovery == RecoveryState::None
            && self.board.is_clean()
            && !self.is_probing
    }

    /// Takes an acknowledgement of that kind.
    #[inline(always)]
    pub fn take_expected(&mut self, ack: &Segment) -> Progress {
        let packets = ack.number - self.board.una();
        self.board.acknowledge_clean(ack.number);
        self.duplicates = 0;
        Progress {
            packets,
            clean: true,
            advanced: true,
            ..Progress::default()
        }
    }

    /// Takes any other acknowledgement, with its blocks.
    pub fn take_unusual(
        &mut self,
        ack: &Segment,
        blocks: &[SackBlock],
        measured: Measured,
        config: &Config,
    ) -> Progress {
        let in_recovery = matches!(self.recovery, RecoveryState::Fast(_));
        let mut progress = Progress {
            in_recovery,
            ..Progress::default()
        };
        let una = self.board.una();
        if ack.number < una {
            return progress; // overtaken by a later acknowledgement
        }
        progress.advanced = ack.number > una;
        match config.recovery {
            Recovery::Sack if self.repair.is_some() => {
                self.by_time((ack, blocks), measured, config, &mut progress);
            }
            Recovery::Sack => self.selective(ack, blocks, &mut progress),
            Recovery::NewReno | Recovery::Reno => self.cumulative(ack, config, &mut progress),
        }
        progress
    }

    /// RFC 6675.
    fn selective(&mut self, ack: &Segment, blocks: &[SackBlock], progress: &mut Progress) {
        if progress.advanced {
            progress.packets = self.board.acknowledge(ack.number, |_, _| ());
            self.leave_recovery(ack.number);
        }
        let fresh = self.board.acknowledge_blocks(blocks, |_, _| ());
        progress.packets += fresh;
        // Only what has come newly makes more of what is below it lost.
        let found = fresh > 0 && self.board.judge_by_blocks(self.duplicate_threshold);
        progress.found_lost = found;
        if found && self.recovery == RecoveryState::None {
            self.recovery = RecoveryState::Fast(self.board.next());
            progress.loss = true;
            progress.send_first = true;
        }
    }

    /// RFC 6582 or RFC 5681, with the segments that duplicate acknowledgements stand for taken out of the
    /// flight instead of added to the window: the same packets leave at the same times.
    fn cumulative(&mut self, ack: &Segment, config: &Config, progress: &mut Progress) {
        if progress.advanced {
            let before = self.board.una();
            progress.packets = self.board.acknowledge(ack.number, |_, _| ());
            self.duplicates = 0;
            self.leave_recovery(ack.number);
            match self.recovery {
                RecoveryState::Fast(_) if config.recovery == Recovery::Reno => {
                    self.recovery = RecoveryState::None;
                    self.board.forget_duplicates();
                }
                RecoveryState::Fast(_) => {
                    self.board.deflate(ack.number - before);
                    self.board.judge_first();
                    progress.found_lost = true;
                    progress.send_first = true;
                }
                RecoveryState::None | RecoveryState::Timeout(_) => self.board.forget_duplicates(),
            }
        } else if self.board.outstanding() > 0 {
            self.duplicates += 1;
            match self.recovery {
                RecoveryState::Fast(_) => self.board.count_duplicate(1),
                RecoveryState::None | RecoveryState::Timeout(_)
                    if self.duplicates == self.duplicate_threshold
                        && self.may_start_recovery(config) =>
                {
                    let counted = if config.limited_transmit {
                        1
                    } else {
                        self.duplicate_threshold
                    };
                    self.board.count_duplicate(counted);
                    self.board.judge_first();
                    self.recovery = RecoveryState::Fast(self.board.next());
                    progress.found_lost = true;
                    progress.loss = true;
                    progress.send_first = true;
                }
                RecoveryState::None if config.limited_transmit => self.board.count_duplicate(1),
                RecoveryState::None | RecoveryState::Timeout(_) => {}
            }
        }
    }

    /// Whether enough duplicate acknowledgements mean a loss: not while what a timeout has sent again can cause them.
    fn may_start_recovery(&self, config: &Config) -> bool {
        self.recovery == RecoveryState::None || !config.recover_after_timeout
    }

    /// Whether an acknowledgement of everything below `number` leaves the timeout backed off (Karn's algorithm), because
    /// nothing that was sent for the first time after the last timeout is below it.
    pub fn keeps_backoff(&self, number: u32) -> bool {
        self.timeout.is_backed_off() && number <= self.sent_at_timeout
    }

    fn leave_recovery(&mut self, acknowledged: u32) {
        match self.recovery {
            RecoveryState::Fast(point) | RecoveryState::Timeout(point) if acknowledged >= point => {
                self.recovery = RecoveryState::None;
            }
            _ => {}
        }
    }

    /// Sets the timeout from an RTT sample, with the floor on the variance.
    #[inline(never)]
    pub fn set_timeout_by_variance(&mut self, path: &Path, rtt: Time, floor: Time) {
        let numbers = (self.board.una(), self.board.next());
        let timeout = self.variance.sample(rtt, path.smoothed_rtt, floor, numbers);
        self.timeout.set(timeout);
    }

    /// A cut begins a round, which ends when everything below `ends_at` is acknowledged; `flight` packets were in flight. A
    /// proportional reduction in progress continues.
    pub fn begin_cut_round(&mut self, reduction: Reduction, ends_at: u32, flight: u32) {
        let in_progress = self.cut_round.and_then(|round| round.proportional);
        let proportional = (reduction == Reduction::Proportional)
            .then(|| in_progress.unwrap_or_else(|| Proportional::new(flight)));
        self.cut_round = Some(CutRound::new(ends_at, proportional));
    }

    /// Remembers the window and ssthresh before a cut.
    pub fn remember_for_undo(&mut self, path: &Path) {
        let una = self.board.una();
        if let Some(repair) = &mut self.repair {
            repair.undo = Some(Undo::new(una, path.window, path.ssthresh));
        }
    }

    /// Notices that what was in flight at the last cut has been acknowledged.
    #[inline(always)]
    pub fn end_cut_round_if_over(&mut self) {
        if let Some(round) = &self.cut_round
            && self.recovery == RecoveryState::None
            && (round.is_over(self.board.una()) || self.board.outstanding() == 0)
        {
            self.cut_round = None;
        }
    }

    /// Packets in the network as far as the sender counts them. Where duplicate acknowledgements before recovery
    /// release nothing ([`Connection::duplicates_hold`]) what they report still counts.
    ///
    /// [`Connection::duplicates_hold`]: super::connection::Connection::duplicates_hold
    #[inline(always)]
    pub fn in_flight(&self, duplicates_hold: bool) -> u32 {
        let in_flight = self.board.in_flight();
        if duplicates_hold && self.recovery == RecoveryState::None {
            in_flight + self.board.sacked()
        } else {
            in_flight
        }
    }

    /// Packets that may be sent beside those in flight: what the window lets go, or during proportional rate
    /// reduction what that allows.
    #[inline(always)]
    pub fn room(&self, path: &Path) -> u32 {
        self.allowed_in_flight(path).saturating_sub(path.in_flight)
    }

    /// Packets that may be in flight: the window, or during proportional rate reduction what that allows.
    #[inline(always)]
    pub fn allowed_in_flight(&self, path: &Path) -> u32 {
        match &self.cut_round {
            Some(CutRound {
                proportional: Some(reduction),
                ..
            }) => reduction.window,
            // Whole packets; `as` takes what is not a number for zero.
            _ => path.window as u32,
        }
    }

    /// The retransmission timer expired on outstanding data. Returns the loss to report, if it is a
    /// new one: repeated expiries for the same data are not.
    pub fn on_timeout(&mut self, config: &Config, now: Time) -> Option<Loss> {
        let una = self.board.una();
        let repeated =
            matches!(self.recovery, RecoveryState::Timeout(_)) && self.timed_out == Some(una);
        self.timed_out = Some(una);
        if let Some(repair) = self.repair.as_deref_mut() {
            repair.doubts_timeout =
                config.frto && (self.timeout.in_row() > 0 || self.recovery == RecoveryState::None);
            repair.probe = None;
            self.is_probing = false;
            self.board.judge_old(&repair.rack, now);
        } else {
            self.board.judge_all(config.recovery == Recovery::Sack);
        }
        self.recovery = RecoveryState::Timeout(self.board.next());
        self.sent_at_timeout = self.board.next();
        self.cut_round = None;
        self.duplicates = 0;
        self.timeouts += 1;
        self.timeout.back_off();
        (!repeated).then_some(Loss::Timeout)
    }
}
