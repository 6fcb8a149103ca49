//! An acknowledgement where losses are found by time: which segments it shows to be lost, whether a probe or a
//! retransmission was needless, and where the state of recovery goes from there (tcp_fastretrans_alert of Linux).

use super::repair::Repair;
use super::subflow::{Progress, RecoveryState, Sender};
use crate::Config;
use crate::segment::{SackBlock, Segment};
use pathweave_units::Time;

/// What is measured when an acknowledgement comes, before it is taken.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub now: Time,
    pub minimum_rtt: Time,
    pub smoothed_rtt: Time,
}

impl Sender {
    pub fn by_time(
        &mut self,
        (ack, blocks): (&Segment, &[SackBlock]),
        measured: Measured,
        config: &Config,
        progress: &mut Progress,
    ) {
        let recovery_point = match self.recovery {
            RecoveryState::Fast(point) | RecoveryState::Timeout(point) => point,
            RecoveryState::None => 0,
        };
        let (copy, blocks) = match (ack.reports_copy(), blocks) {
            (true, [copy, rest @ ..]) => (Some(copy.start), rest),
            _ => (None, blocks),
        };
        let highest = self.board.highest();
        if let Some(rack) = self.board.rack() {
            rack.begin(measured.now, measured.minimum_rtt, highest, recovery_point);
        }
        // Linux takes what has arrived selectively first.
        let fresh = self.board.acknowledge_blocks(blocks);
        progress.packets = fresh;
        if progress.advanced {
            let tick = self.tick;
            if let Some(rack) = self.board.rack() {
                rack.begin_in_order(ack.first_sent, tick);
            }
            progress.packets += self.board.acknowledge(ack.number);
        }
        let next = self.board.next();
        let original = self.board.rack().is_some_and(|rack| rack.end());
        if let Some(copy) = copy {
            self.note_copy(copy);
        }
        if let Some(rack) = self.board.rack() {
            rack.adapt(ack.number, next);
        }
        self.judge_probe(ack, copy, fresh, progress);
        let waits_for_copies =
            self.move_on((ack, original, fresh), copy.is_some(), config, progress);
        if self.recovery == RecoveryState::None
            && !self.board.has_sent_again()
            && let Some(repair) = self.repair.as_deref_mut()
        {
            repair.first_sent_again = None;
        }
        if !waits_for_copies {
            self.judge_by_time(measured, progress);
        }
    }

    /// A copy has arrived of a segment that had arrived before.
    fn note_copy(&mut self, copy: u32) {
        let Some(repair) = self.repair.as_deref_mut() else {
            return;
        };
        if let Some(undo) = &mut repair.undo {
            undo.note_copy(copy);
        }
        let of_probe = repair.probe.is_some_and(|probe| probe.end == copy + 1);
        if let Some(rack) = self.board.rack()
            && !of_probe
        {
            rack.note_copy();
        }
    }

    /// What an acknowledgement says of the probe that is under way (RFC 8985, section 7.4; tcp_process_tlp_ack).
    fn judge_probe(&mut self, ack: &Segment, copy: Option<u32>, fresh: u32, progress: &Progress) {
        let Some(repair) = self.repair.as_deref_mut() else {
            return;
        };
        let Some(probe) = repair.probe.filter(|probe| ack.number >= probe.end) else {
            return;
        };
        let both_arrived =
            copy.is_some_and(|copy| copy + 1 == probe.end) || (!progress.advanced && fresh == 0);
        if !probe.again || both_arrived {
            repair.probe = None;
        } else if ack.number > probe.end {
            // Something above is acknowledged, and no copy has arrived: the first one was lost.
            repair.probe = None;
            repair.outcome.repaired = true;
        }
        self.is_probing = repair.probe.is_some();
    }

    /// Takes the state of recovery on: it ends, or what led to it is taken back. Returns whether nothing is judged lost by
    /// this acknowledgement: a hole was filled by a packet that was late only, and others have been sent again.
    fn move_on(
        &mut self,
        (ack, original, fresh): (&Segment, bool, u32),
        reports_copy: bool,
        config: &Config,
        progress: &Progress,
    ) -> bool {
        let tick = self.tick;
        let sent_again = self.board.has_sent_again_under_way();
        let Some(repair) = self.repair.as_deref_mut() else {
            return false;
        };
        let undo = repair.undo.filter(|_| config.undo);
        let has_all_copies = undo.is_some_and(|undo| undo.has_all_copies());
        let may_undo = has_all_copies || undo.is_some() && repair.is_answer_to_first(ack, &tick);
        match self.recovery {
            RecoveryState::Fast(point) if ack.number >= point => {
                self.recovery = RecoveryState::None;
                if may_undo {
                    self.take_back();
                } else if let Some(rack) = self.board.rack() {
                    rack.end_recovery();
                }
            }
            RecoveryState::Fast(_) if progress.advanced && may_undo && !has_all_copies => {
                // The hole was filled by a packet that was late only (tcp_try_undo_partial).
                if let Some(rack) = self.board.rack() {
                    rack.note_reordering();
                }
                if sent_again {
                    return true;
                }
                self.board.forget_losses();
                self.take_back();
            }
            RecoveryState::Fast(_) if has_all_copies => {
                if let Some(rack) = self.board.rack() {
                    rack.note_undo();
                }
                self.take_back();
            }
            RecoveryState::Fast(_) => {}
            RecoveryState::None if has_all_copies => {
                if let Some(rack) = self.board.rack() {
                    rack.note_undo();
                }
                self.take_back();
            }
            RecoveryState::None => {}
            RecoveryState::Timeout(point) => {
                let is_over = ack.number >= point;
                if progress.advanced && may_undo
                    || repair.doubts_timeout && original && repair.undo.is_some()
                {
                    self.board.forget_losses();
                    self.take_back();
                    return false;
                }
                if repair.doubts_timeout {
                    if self.board.next() > point {
                        // New data has been sent since. A hole or a duplicate that reports no copy says that the loss was
                        // real (RFC 5682, section 3.1, step 3).
                        let is_duplicate = !progress.advanced && !reports_copy;
                        repair.doubts_timeout &= fresh == 0 && !is_duplicate;
                    } else if progress.advanced && !is_over {
                        self.recovery = RecoveryState::Timeout(self.board.next());
                        repair.outcome.new_first = true;
                    }
                }
                if is_over {
                    self.recovery = RecoveryState::None;
                    if let Some(rack) = self.board.rack() {
                        rack.end_recovery();
                    }
                }
            }
        }
        false
    }

    /// The window is cut: nothing more is learnt from a probe (tcp_init_cwnd_reduction).
    pub(super) fn forget_probe(&mut self) {
        self.is_probing = false;
        if let Some(repair) = self.repair.as_deref_mut() {
            repair.probe = None;
        }
    }

    /// The cut was made for nothing.
    fn take_back(&mut self) {
        let Some(Repair { undo, outcome, .. }) = self.repair.as_deref_mut() else {
            return;
        };
        outcome.undone = undo.take();
        self.recovery = RecoveryState::None;
        self.cut_round = None;
    }

    /// Judges which segments are lost, if something has arrived. Recovery begins with the first.
    fn judge_by_time(&mut self, measured: Measured, progress: &mut Progress) {
        let hurries =
            self.recovery != RecoveryState::None || self.board.sacked() >= self.duplicate_threshold;
        let Some(rack) = self.board.rack() else {
            return;
        };
        if rack.has_advanced() {
            let window = rack.window(hurries, measured.minimum_rtt, measured.smoothed_rtt);
            let judged = self.board.judge_by_time(measured.now, window);
            progress.found_lost = judged.lost > 0;
            if let Some(repair) = self.repair.as_deref_mut() {
                repair.outcome.wait = judged.wait;
            }
            if judged.lost_again > 0 && matches!(self.recovery, RecoveryState::Timeout(_)) {
                // tcp_fastretrans_alert: what was sent again after the timeout is lost, too.
                self.recovery = RecoveryState::None;
            }
        }
        if self.recovery == RecoveryState::None && self.board.lost() > 0 {
            self.recovery = RecoveryState::Fast(self.board.next());
            self.forget_probe();
            progress.loss = true;
            progress.send_first = true;
        }
    }

    /// The timer for what may only be late has expired. Returns whether something is lost; a recovery begins then if none
    /// is under way, and `begins` says so.
    pub fn judge_late(&mut self, measured: Measured) -> Late {
        let hurries =
            self.recovery != RecoveryState::None || self.board.sacked() >= self.duplicate_threshold;
        let Some(rack) = self.board.rack() else {
            return Late::default();
        };
        let window = rack.window(hurries, measured.minimum_rtt, measured.smoothed_rtt);
        let found = self.board.judge_by_time(measured.now, window).lost > 0;
        let begins = found && !matches!(self.recovery, RecoveryState::Fast(_));
        if begins {
            self.recovery = RecoveryState::Fast(self.board.next());
            self.forget_probe();
        }
        Late { found, begins }
    }
}

/// What comes of the timer for what may only be late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Late {
    /// Something is lost.
    pub found: bool,
    /// Recovery begins.
    pub begins: bool,
}
