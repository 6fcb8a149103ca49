//! Processing an ACK with loss detection by time: which segments it shows to be lost, whether a probe or a retransmission was
//! unnecessary, and how the recovery state changes (tcp_fastretrans_alert in Linux).

use super::repair::Repair;
use super::subflow::{Progress, RecoveryState, Sender};
use crate::Config;
use crate::segment::{SackBlock, Segment};
use pathweave_control::Path;
use pathweave_units::Time;

/// The time, and the path's RTTs before the ACK is processed.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub now: Time,
    pub minimum_rtt: Time,
    pub smoothed_rtt: Time,
}

impl Measured {
    #[inline(always)]
    pub fn of(path: &Path, now: Time) -> Measured {
        Measured {
            now,
            minimum_rtt: path.minimum_rtt,
            smoothed_rtt: path.smoothed_rtt,
        }
    }
}

/// What an ACK shows about losses.
#[derive(Clone, Copy)]
struct Shown {
    /// Segments newly covered by SACK blocks.
    fresh: u32,
    /// The number of a segment reported by a D-SACK.
    duplicate: Option<u32>,
    /// It covers a segment that was sent once, before the recovery began.
    original: bool,
}

/// Result of the reordering timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Late {
    /// Segments were found lost.
    pub found: bool,
    /// A recovery begins.
    pub begins: bool,
}

impl Sender {
    pub fn by_time(
        &mut self,
        (ack, blocks): (&Segment, &[SackBlock]),
        measured: Measured,
        config: &Config,
        progress: &mut Progress,
    ) {
        let Some(mut repair) = self.repair.take() else {
            return;
        };
        let recovery_point = match self.recovery {
            RecoveryState::Fast(point) | RecoveryState::Timeout(point) => point,
            RecoveryState::None => 0,
        };
        let (duplicate, blocks) = match (ack.has_dsack(), blocks) {
            (true, [dsack, rest @ ..]) => (Some(dsack.start), rest),
            _ => (None, blocks),
        };
        let rack = &mut repair.rack;
        let highest = self.board.highest();
        rack.begin(measured.now, measured.minimum_rtt, highest, recovery_point);
        // Linux processes SACK blocks first.
        let fresh = self
            .board
            .acknowledge_blocks(blocks, |number, again| rack.arrive(number, again));
        progress.packets = fresh;
        if progress.advanced {
            rack.begin_cumulative(ack.first_sent, self.tick);
            progress.packets += self
                .board
                .acknowledge(ack.number, |number, again| rack.arrive(number, again));
        }
        let shown = Shown {
            fresh,
            duplicate,
            original: rack.end(),
        };
        if let Some(number) = duplicate {
            if let Some(undo) = &mut repair.undo {
                undo.note_dsack(number);
            }
            if repair.probe.is_none_or(|probe| probe.end != number + 1) {
                repair.rack.note_dsack();
            }
        }
        repair.rack.adapt(ack.number, self.board.next());
        self.judge_probe(&mut repair, ack, shown, progress);
        let judges = self.change_recovery(&mut repair, ack, shown, config, progress);
        if self.recovery == RecoveryState::None && !self.board.has_retransmissions(&repair.rack) {
            repair.first_retransmission = None;
        }
        if judges {
            self.judge_losses(&mut repair, measured, progress);
        }
        self.repair = Some(repair);
    }

    /// Decides what an ACK says about the outstanding probe (RFC 8985, section 7.4; tcp_process_tlp_ack).
    fn judge_probe(
        &mut self,
        repair: &mut Repair,
        ack: &Segment,
        shown: Shown,
        progress: &Progress,
    ) {
        let Some(probe) = repair.probe.filter(|probe| ack.number >= probe.end) else {
            return;
        };
        let both_arrived = shown
            .duplicate
            .is_some_and(|number| number + 1 == probe.end)
            || (!progress.advanced && shown.fresh == 0);
        if !probe.is_retransmission || both_arrived {
            repair.probe = None;
        } else if ack.number > probe.end {
            // Later data is acknowledged and there was no D-SACK: the original was lost.
            repair.probe = None;
            repair.outcome.repaired = true;
        }
        self.is_probing = repair.probe.is_some();
    }

    /// Ends the recovery or undoes the cut if this ACK allows it. Returns whether losses are to be judged.
    fn change_recovery(
        &mut self,
        repair: &mut Repair,
        ack: &Segment,
        shown: Shown,
        config: &Config,
        progress: &Progress,
    ) -> bool {
        let undo = repair.undo.filter(|_| config.undo);
        let has_all_dsacks = undo.is_some_and(|undo| undo.has_all_dsacks());
        let answers_original = undo.is_some() && repair.answers_original(ack, &self.tick);
        let may_undo = has_all_dsacks || answers_original;
        match self.recovery {
            RecoveryState::Fast(point) if ack.number >= point => {
                self.recovery = RecoveryState::None;
                if may_undo {
                    self.undo(repair);
                } else {
                    repair.rack.end_recovery();
                }
            }
            RecoveryState::Fast(_) | RecoveryState::None if has_all_dsacks => {
                repair.rack.note_undo();
                self.undo(repair);
            }
            RecoveryState::Fast(_) if progress.advanced && may_undo => {
                // A late packet filled the hole (tcp_try_undo_partial).
                repair.rack.note_reordering();
                if self.board.retransmissions_outstanding(&repair.rack) {
                    return false;
                }
                self.board.forget_losses();
                self.undo(repair);
            }
            RecoveryState::Fast(_) | RecoveryState::None => {}
            RecoveryState::Timeout(point) => {
                let is_spurious = repair.doubts_timeout && shown.original && repair.undo.is_some();
                if progress.advanced && may_undo || is_spurious {
                    self.board.forget_losses();
                    self.undo(repair);
                } else {
                    self.leave_timeout(repair, ack.number >= point, shown, progress);
                }
            }
        }
        true
    }

    /// After a timeout: F-RTO's next step (RFC 5682, section 3.1), and the end of the recovery.
    fn leave_timeout(
        &mut self,
        repair: &mut Repair,
        is_over: bool,
        shown: Shown,
        progress: &Progress,
    ) {
        let RecoveryState::Timeout(point) = self.recovery else {
            return;
        };
        if repair.doubts_timeout {
            if self.board.next() > point {
                // New data was sent. A new SACK or a duplicate ACK without a D-SACK shows that the loss was real (step 3).
                let is_duplicate = !progress.advanced && shown.duplicate.is_none();
                repair.doubts_timeout = shown.fresh == 0 && !is_duplicate;
            } else if progress.advanced && !is_over {
                self.recovery = RecoveryState::Timeout(self.board.next());
                repair.outcome.new_first = true;
            }
        }
        if is_over {
            self.recovery = RecoveryState::None;
            repair.rack.end_recovery();
        }
    }

    /// Undoes the last cut.
    fn undo(&mut self, repair: &mut Repair) {
        repair.outcome.undone = repair.undo.take();
        self.recovery = RecoveryState::None;
        self.cut_round = None;
    }

    /// Whether a missing segment needs no reordering window: a recovery is in progress, or enough segments have arrived above
    /// it.
    fn is_certain(&self) -> bool {
        self.recovery != RecoveryState::None || self.board.sacked() >= self.duplicate_threshold
    }

    /// Finds lost segments, and starts a recovery with the first.
    fn judge_losses(&mut self, repair: &mut Repair, measured: Measured, progress: &mut Progress) {
        if repair.rack.has_advanced() {
            let Measured {
                now,
                minimum_rtt,
                smoothed_rtt,
            } = measured;
            let window = repair
                .rack
                .window(self.is_certain(), minimum_rtt, smoothed_rtt);
            let judged = self.board.judge_by_time(&mut repair.rack, now, window);
            progress.found_lost = judged.lost > 0;
            repair.outcome.wait = judged.wait;
            if judged.lost_retransmissions > 0 && matches!(self.recovery, RecoveryState::Timeout(_))
            {
                // A retransmission after the timeout is lost too: this is a new loss (tcp_fastretrans_alert).
                self.recovery = RecoveryState::None;
            }
        }
        if self.recovery == RecoveryState::None && self.board.lost() > 0 {
            self.recovery = RecoveryState::Fast(self.board.next());
            repair.probe = None;
            self.is_probing = false;
            progress.loss = true;
            progress.send_first = true;
        }
    }

    /// The reordering timer has fired: undecided segments may be lost now.
    pub fn judge_late(&mut self, measured: Measured) -> Late {
        let is_certain = self.is_certain();
        let Some(repair) = self.repair.as_deref_mut() else {
            return Late::default();
        };
        let Measured {
            now,
            minimum_rtt,
            smoothed_rtt,
        } = measured;
        let window = repair.rack.window(is_certain, minimum_rtt, smoothed_rtt);
        let found = self.board.judge_by_time(&mut repair.rack, now, window).lost > 0;
        let begins = found && !matches!(self.recovery, RecoveryState::Fast(_));
        if begins {
            self.recovery = RecoveryState::Fast(self.board.next());
            self.forget_probe();
        }
        Late { found, begins }
    }

    /// A cut makes the outstanding probe irrelevant (tcp_init_cwnd_reduction).
    pub(super) fn forget_probe(&mut self) {
        self.is_probing = false;
        if let Some(repair) = self.repair.as_deref_mut() {
            repair.probe = None;
        }
    }
}
