//! AMP's suppression and release: all but the first subflow stop sending while all are stuck at the
//! minimum window. The rulings are those of [`amp`](crate::amp).

use crate::{Ack, Change, Loss, Path, Paths, PerSubflow, Round, SubflowId};

/// The subflow that is never suppressed, and whose rounds are counted.
pub const FIRST: SubflowId = SubflowId(0);

/// Whether a connection's subflows are suppressed, and what decides it.
#[derive(Clone, Debug)]
pub struct Suppression {
    to_suppress: u32,
    to_release: u32,
    is_on: bool,
    /// Rounds in a row that have counted towards suppression, or while it is on towards release.
    rounds: u32,
    round: Round,
    /// Whether an acknowledgement of the round echoed a mark.
    marked: bool,
    /// What each subflow had in flight at its last timeout.
    timeouts: PerSubflow<Option<Round>>,
}

impl Suppression {
    /// Suppresses after `to_suppress` rounds in a row at the minimum window, and releases after
    /// `to_release` rounds in a row without a mark.
    pub const fn new(to_suppress: u32, to_release: u32) -> Suppression {
        Suppression {
            to_suppress,
            to_release,
            is_on: false,
            rounds: 0,
            round: Round::STARTING,
            marked: false,
            timeouts: PerSubflow::new(None),
        }
    }

    /// An acknowledgement arrived on the first subflow, and has had its effect on the window.
    #[inline]
    pub fn on_ack(&mut self, paths: &mut Paths<'_>, ack: &Ack) {
        self.marked |= ack.ce > 0;
        // A duplicate acknowledgement ends no round: when nothing is in flight it would end one.
        if ack.packets > 0 && self.round.advance(&paths[FIRST]) {
            self.end_round(paths);
            self.marked = false;
        }
    }

    /// Subflow `r` lost packets.
    pub fn on_loss(&mut self, path: &Path, r: SubflowId, loss: Loss) {
        // The path itself tells of a fast recovery.
        if loss.restarts() {
            *self.timeouts.get(r) = Some(Round::beginning(path));
        }
    }

    /// Subflow `r` came, went, failed or recovered.
    pub fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        match change {
            Change::Opened | Change::Migrated => {
                paths[r].may_send = r == FIRST || !self.is_on;
                self.timeouts.restart(r);
            }
            Change::Recovered => {}
            Change::Closed | Change::Failed | Change::StoodBy | Change::Abandoned => {
                if r == FIRST && self.is_on {
                    self.switch(paths, false);
                }
            }
        }
        if r == FIRST {
            self.rounds = 0;
            self.round = Round::STARTING;
            self.marked = false;
        }
    }

    fn end_round(&mut self, paths: &mut Paths<'_>) {
        let (counts, enough) = if self.is_on {
            (self.is_clear(paths), self.to_release)
        } else {
            (self.is_stuck(paths), self.to_suppress)
        };
        self.rounds = if counts { self.rounds + 1 } else { 0 };
        if self.rounds >= enough {
            self.switch(paths, !self.is_on);
        }
    }

    /// Whether all windows are at the minimum though nothing is being recovered.
    fn is_stuck(&self, paths: &Paths<'_>) -> bool {
        let mut active = 0;
        for (path, timeout) in paths.iter().zip(self.timeouts.iter()) {
            if path.is_active() {
                active += 1;
                // floor(w) is the minimum window.
                let at_minimum = path.minimum_window..path.minimum_window + 1.0;
                if !at_minimum.contains(&path.window) || is_in_recovery(path, timeout) {
                    return false;
                }
            }
        }
        active >= 2 && paths[FIRST].is_active()
    }

    /// Whether the first subflow's round was free of congestion.
    fn is_clear(&self, paths: &Paths<'_>) -> bool {
        let path = &paths[FIRST];
        let mut timeout = self.timeouts.iter().take(1);
        !self.marked
            && path.window >= path.minimum_window + 1.0
            && !timeout.any(|timeout| is_in_recovery(path, timeout))
    }

    /// Suppresses all subflows but the first, or releases them.
    fn switch(&mut self, paths: &mut Paths<'_>, on: bool) {
        self.is_on = on;
        self.rounds = 0;
        for r in (1..paths.len() as u32).map(SubflowId) {
            let path = &mut paths[r];
            if path.state.is_open() {
                path.may_send = !on;
                // A window of one packet after timeouts stays: slow start is to begin there.
                if !on && path.is_active() {
                    path.window = path.minimum_window;
                    path.ssthresh = path.minimum_window;
                }
            }
        }
    }
}

fn is_in_recovery(path: &Path, timeout: &Option<Round>) -> bool {
    path.in_recovery || timeout.is_some_and(|round| !round.is_over(path))
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Loss, Value, find};
    use alloc::string::String;
    use std::vec::Vec;

    /// Three subflows at the minimum window.
    fn stuck(given: &[(String, Value)]) -> GreedySender {
        GreedySender::new("amp", given, &[(2.0, 100), (2.0, 100), (2.0, 100)])
    }

    /// Rounds of the first subflow in which its window does not grow, each marked or not.
    fn rounds(connection: &mut GreedySender, count: u32, marked: bool) {
        for _ in 0..count {
            let (window, ssthresh) = (connection.window(0), connection.ssthresh(0));
            let packets = window as u32;
            // The first acknowledgement ends the round before: its mark is that round's.
            connection.ack_as(0, 1, u32::from(marked), false, false);
            for _ in 1..packets {
                connection.ack_as(0, 1, 0, false, false);
            }
            (connection.paths[0].window, connection.paths[0].ssthresh) = (window, ssthresh);
        }
    }

    fn sending(connection: &GreedySender) -> Vec<bool> {
        connection.paths.iter().map(|path| path.may_send).collect()
    }

    const ALL: [bool; 3] = [true; 3];
    const FIRST_ALONE: [bool; 3] = [true, false, false];

    /// Suppressed, and the first subflow's window above the minimum.
    fn suppressed(given: &[(String, Value)]) -> GreedySender {
        let mut connection = stuck(given);
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
        connection.paths[0].window = 3.0;
        connection
    }

    #[test]
    fn all_but_the_first_stop_after_gamma_rounds_at_the_minimum() {
        for gamma in 1..5 {
            let mut connection = stuck(&[number("gamma", f64::from(gamma))]);
            connection.paths[1].window = 2.999;
            rounds(&mut connection, gamma - 1, true);
            assert_eq!(sending(&connection), ALL, "after {}", gamma - 1);
            rounds(&mut connection, 1, false);
            assert_eq!(sending(&connection), FIRST_ALONE, "after {gamma}");
            assert_eq!(connection.window(1), 2.999);
        }
        assert_eq!(find("amp").unwrap().defaults().number("gamma"), 2.0);
    }

    #[test]
    fn a_minimum_window_of_one_is_as_good() {
        let mut connection = stuck(&[]);
        for path in &mut connection.paths {
            (path.minimum_window, path.window) = (1.0, 1.9);
        }
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn one_window_off_the_minimum_is_enough_to_go_on() {
        for r in 0..3 {
            for window in [3.0, 1.0] {
                let mut connection = stuck(&[]);
                connection.paths[r].window = window;
                rounds(&mut connection, 5, false);
                assert_eq!(sending(&connection), ALL);
            }
        }
    }

    #[test]
    fn a_round_is_looked_at_when_its_last_acknowledgement_has_had_its_effect() {
        // The mark cuts 3 to 2.25.
        let mut connection = stuck(&[]);
        connection.paths[0].window = 3.0;
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
        // 2.9 + 1/6.9 is above 3.
        let mut connection = stuck(&[number("gamma", 1.0)]);
        connection.paths[0].window = 2.9;
        connection.ack(0, 1, 0);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn rounds_at_the_minimum_have_to_be_in_a_row() {
        let mut connection = stuck(&[]);
        for _ in 0..3 {
            rounds(&mut connection, 1, true);
            connection.paths[2].window = 3.0;
            rounds(&mut connection, 1, true);
            connection.paths[2].window = 2.0;
            assert_eq!(sending(&connection), ALL);
        }
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn rounds_are_those_of_the_first_subflow() {
        let mut connection = stuck(&[]);
        for _ in 0..20 {
            connection.ack_as(1, 1, 0, false, false);
        }
        rounds(&mut connection, 1, false);
        for _ in 0..20 {
            connection.ack_as(2, 1, 0, false, false);
        }
        assert_eq!(sending(&connection), ALL);
        // A duplicate acknowledgement ends no round, though nothing is in flight.
        connection.paths[0].sent = connection.paths[0].acked;
        connection.paths[0].window = 0.0;
        connection.ack_as(0, 0, 1, false, false);
        connection.paths[0].window = 2.0;
        assert_eq!(sending(&connection), ALL);
        rounds(&mut connection, 1, false);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn fast_recovery_keeps_subflows_sending() {
        for r in 0..3 {
            let mut connection = stuck(&[]);
            if r == 0 {
                for _ in 0..20 {
                    connection.ack_as(0, 1, 0, true, false);
                }
            } else {
                connection.paths[r].in_recovery = true;
                rounds(&mut connection, 5, true);
            }
            assert_eq!(sending(&connection), ALL);
            connection.paths[r].in_recovery = false;
            rounds(&mut connection, 2, true);
            assert_eq!(sending(&connection), FIRST_ALONE);
        }
    }

    #[test]
    fn recovery_from_a_timeout_keeps_subflows_sending() {
        let mut connection = stuck(&[]);
        connection.loss(1, Loss::Timeout);
        connection.paths[1].window = 2.0;
        rounds(&mut connection, 5, true);
        assert_eq!(sending(&connection), ALL);
        // Packets 0 and 1 were in flight.
        connection.ack_as(1, 2, 0, false, false);
        rounds(&mut connection, 5, true);
        assert_eq!(sending(&connection), ALL);
        connection.ack_as(1, 1, 0, false, false);
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
        // A fast retransmit is told by the path alone.
        let mut connection = stuck(&[]);
        connection.loss(1, Loss::FastRetransmit);
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn one_active_subflow_is_never_suppressed() {
        let mut connection = stuck(&[]);
        connection.change(1, Change::Closed);
        connection.change(2, Change::Closed);
        rounds(&mut connection, 5, true);
        assert_eq!(sending(&connection), ALL);
        connection.change(2, Change::Opened);
        rounds(&mut connection, 2, true);
        assert_eq!(sending(&connection), [true, true, false]);
    }

    #[test]
    fn nothing_is_suppressed_without_the_first_subflow() {
        let mut connection = stuck(&[]);
        connection.change(0, Change::Closed);
        rounds(&mut connection, 5, true);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn suppression_can_be_off() {
        let mut connection = stuck(&[text("suppression", "off")]);
        rounds(&mut connection, 20, true);
        connection.change(0, Change::Closed);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn a_suppressed_subflow_neither_counts_nor_grows() {
        let mut connection = suppressed(&[]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 3.0 + 1.0 / 3.0, 1e-12));
        for ssthresh in [1.0, 100.0] {
            connection.paths[1].ssthresh = ssthresh;
            connection.ack(1, 1, 0);
            assert_eq!(connection.window(1), 2.0);
        }
    }

    #[test]
    fn all_send_again_after_tau_rounds_without_a_mark() {
        for tau in [1, 3, 8] {
            let mut connection = suppressed(&[number("tau", f64::from(tau))]);
            connection.paths[1].window = 2.7;
            connection.paths[1].ssthresh = 50.0;
            connection.paths[2].window = 1.0;
            rounds(&mut connection, tau - 1, false);
            assert_eq!(sending(&connection), FIRST_ALONE, "after {}", tau - 1);
            rounds(&mut connection, 1, false);
            assert_eq!(sending(&connection), ALL, "after {tau}");
            for r in 1..3 {
                assert_eq!((connection.window(r), connection.ssthresh(r)), (2.0, 2.0));
            }
            assert_eq!((connection.window(0), connection.ssthresh(0)), (3.0, 1.0));
        }
        assert_eq!(find("amp").unwrap().defaults().number("tau"), 8.0);
    }

    #[test]
    fn a_mark_restarts_the_count_towards_release() {
        let mut connection = suppressed(&[number("tau", 3.0)]);
        for _ in 0..4 {
            rounds(&mut connection, 2, false);
            rounds(&mut connection, 1, true);
            assert_eq!(sending(&connection), FIRST_ALONE);
        }
        rounds(&mut connection, 2, false);
        // One on a duplicate acknowledgement counts too, those of other subflows do not.
        connection.ack_as(0, 0, 1, false, false);
        connection.paths[0].window = 3.0;
        rounds(&mut connection, 3, false);
        assert_eq!(sending(&connection), FIRST_ALONE);
        connection.ack_as(1, 1, 1, false, false);
        rounds(&mut connection, 1, false);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn release_needs_a_window_above_the_minimum() {
        for (window, released) in [(2.999, false), (1.0, false), (3.0, true), (4.5, true)] {
            let mut connection = suppressed(&[number("tau", 2.0)]);
            connection.paths[0].window = window;
            rounds(&mut connection, 2, false);
            assert_eq!(sending(&connection) == ALL, released, "{window}");
        }
    }

    #[test]
    fn release_waits_for_the_end_of_recovery() {
        let mut connection = suppressed(&[number("tau", 2.0)]);
        for _ in 0..20 {
            connection.ack_as(0, 1, 0, true, false);
        }
        assert_eq!(sending(&connection), FIRST_ALONE);
        rounds(&mut connection, 2, false);
        assert_eq!(sending(&connection), ALL);

        // After a timeout with 7 packets in flight, two rounds of three do not get past it.
        let mut connection = suppressed(&[number("tau", 1.0)]);
        connection.paths[0].sent = connection.paths[0].acked + 7;
        connection.loss(0, Loss::Timeout);
        connection.paths[0].window = 3.0;
        rounds(&mut connection, 2, false);
        assert_eq!(sending(&connection), FIRST_ALONE);
        rounds(&mut connection, 2, false);
        assert_eq!(sending(&connection), ALL);
        // Others' recovery does not matter.
        let mut connection = suppressed(&[number("tau", 1.0)]);
        connection.paths[1].in_recovery = true;
        connection.loss(2, Loss::Timeout);
        rounds(&mut connection, 1, false);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn suppression_begins_again_after_a_release() {
        let mut connection = suppressed(&[number("tau", 1.0)]);
        rounds(&mut connection, 1, false);
        assert_eq!(sending(&connection), ALL);
        connection.paths[0].window = 2.0;
        rounds(&mut connection, 1, true);
        assert_eq!(sending(&connection), ALL);
        rounds(&mut connection, 1, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn a_subflow_that_opens_meanwhile_is_suppressed() {
        let mut connection = suppressed(&[number("tau", 1.0)]);
        connection.change(2, Change::Closed);
        connection.paths[2].may_send = true;
        connection.change(2, Change::Opened);
        assert_eq!(sending(&connection), FIRST_ALONE);
        // One that is closed is left alone, and sends when it opens again.
        connection.change(1, Change::Closed);
        connection.paths[1].window = 7.0;
        rounds(&mut connection, 1, false);
        assert_eq!(sending(&connection), [true, false, true]);
        assert_eq!(connection.window(1), 7.0);
        connection.change(1, Change::Opened);
        assert_eq!(sending(&connection), ALL);
    }

    #[test]
    fn rounds_count_on_when_another_subflow_closes_and_opens() {
        let mut connection = stuck(&[]);
        rounds(&mut connection, 1, true);
        connection.change(2, Change::Closed);
        connection.change(2, Change::Opened);
        assert_eq!(sending(&connection), ALL);
        rounds(&mut connection, 1, true);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }

    #[test]
    fn the_first_subflow_may_close_and_open() {
        let mut connection = suppressed(&[]);
        connection.paths[1].window = 2.7;
        connection.change(0, Change::Closed);
        assert_eq!(sending(&connection), ALL);
        assert_eq!(connection.window(1), 2.0);

        let mut connection = stuck(&[]);
        rounds(&mut connection, 1, true);
        connection.paths[1].window = 2.7;
        connection.change(0, Change::Closed);
        assert_eq!(connection.window(1), 2.7, "nothing was suppressed");
        connection.change(0, Change::Opened);
        // Its packets are counted again, and so are its rounds.
        (connection.paths[0].acked, connection.paths[0].sent) = (0, 0);
        rounds(&mut connection, 1, true);
        assert_eq!(sending(&connection), ALL);
        rounds(&mut connection, 1, true);
        assert_eq!(sending(&connection), FIRST_ALONE);

        // Closing another one changes nothing.
        connection.change(2, Change::Closed);
        assert_eq!(sending(&connection), FIRST_ALONE);
    }
}
