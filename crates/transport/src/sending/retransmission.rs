//! The retransmission timer, and subflows that are given up.

use super::Sending;
use super::repair::Awaits;
use super::small_queue::try_again;
use super::subflow::{Phase, RecoveryState, Sender};
use crate::Config;
use crate::ends::SendingId;
use crate::output::{Output, TimerKind};
use pathweave_control::Change;
use pathweave_units::Time;

impl Sending {
    pub(super) fn start_retransmission_timer(
        &mut self,
        index: u32,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        sender.start_retransmission_timer(index, now, connection.maximum_rto, out);
    }

    pub(super) fn on_retransmission_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        if sender.timer_at != now {
            return; // set again for an earlier time
        }
        sender.timer_at = Time::MAX;
        if sender.deadline == Time::MAX {
            return;
        }
        if sender.deadline > now {
            sender.timer_at = sender.deadline;
            out.wake(
                sender.timer(TimerKind::Retransmission, index),
                sender.timer_at,
            );
            return;
        }
        if matches!(sender.phase, Phase::Opening | Phase::Confirming) {
            sender.timeouts += 1;
            sender.timeout.back_off();
            self.send_syn(index, now, out);
            self.start_syn_timer(index, now, out);
            self.give_up_if_hopeless(index, now, out);
            return;
        }
        if sender.board.outstanding() == 0 {
            // The host's port had no place for what was to be sent first.
            sender.deadline = Time::MAX;
            let place = sender.connection;
            try_again(sender, &mut self.connections[place as usize]);
            return self.send_what_may_be_sent(place, now, out);
        }
        try_again(sender, &mut self.connections[sender.connection as usize]);
        match sender.repair.as_ref().map(|repair| repair.awaits) {
            Some(Awaits::Probe) => return self.send_probe(index, now, out),
            Some(Awaits::Reordering) => return self.find_late(index, now, out),
            Some(Awaits::Timeout) | None => {}
        }
        if self.is_refused(index, now, out) {
            // A retransmission that finds no place in the port is tried again soon (TCP_RESOURCE_PROBE_INTERVAL).
            return self.retry_soon(index, now, out);
        }
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let path = &connection.paths[sender.number.0 as usize];
        let ssthresh = path.ssthresh;
        // Linux cuts ssthresh once per round (tcp_enter_loss).
        let was_cut = sender.repair.is_some()
            && (matches!(sender.recovery, RecoveryState::Fast(_)) || sender.cut_round.is_some());
        self.account_for_timer(index, now);
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[place as usize];
        let loss = sender.on_timeout(&connection.config, now);
        let path = &mut connection.paths[sender.number.0 as usize];
        path.in_flight = sender.in_flight(connection.duplicates_hold);
        path.in_recovery = false;
        path.slow_start_limit = connection.config.packets_in_slow_start(true);
        let number = sender.number;
        if let Some(loss) = loss {
            if !was_cut {
                sender.remember_for_undo(path);
            }
            connection.lose(number, loss, sender.board.outstanding(), now);
            if sender.repair.is_some() {
                let path = &mut connection.paths[number.0 as usize];
                if was_cut {
                    path.ssthresh = ssthresh;
                }
                // Packets sent within the last RTT are still in flight.
                path.window = path.window.max(f64::from(path.in_flight + 1));
            }
        }
        self.start_retransmission_timer(index, now, out);
        self.send_lost(index, now, out);
        self.give_up_if_hopeless(index, now, out);
        self.send_what_may_be_sent(place, now, out);
    }

    /// Starts the timer for the SYN-ACK.
    pub(super) fn start_syn_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let config = &self.connections[sender.connection as usize].config;
        let wait = sender
            .timeout
            .of_syn(config.maximum_rto, config.syn_linear_timeouts);
        sender.set_timer(index, sender.tick.due(now, wait), out);
    }

    /// After timeouts in a row the subflow fails, and what it had in flight goes to its siblings.
    fn give_up_if_hopeless(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        if has_failed(sender, &connection.config) {
            if connection.paths[sender.number.0 as usize].is_active() {
                connection.change(sender.number, Change::Failed);
            }
            // Said again at every further timeout: meanwhile its siblings may have run out of data.
            out.failed(SendingId(place));
        }
        if connection.config.timeouts_to_reinject() == Some(sender.timeout.in_row())
            && connection.paths.len() > 1
        {
            connection.reinject_all_of(sender);
            self.send_what_may_be_sent(place, now, out);
        }
    }
}

impl Sender {
    /// The retransmission timer runs from now on, for `maximum` at most. `place` is the sender's own.
    #[inline(always)]
    pub fn start_retransmission_timer(
        &mut self,
        place: u32,
        now: Time,
        maximum: Time,
        out: &mut impl Output,
    ) {
        let wait = self.timeout.current(maximum);
        self.deadline = if self.has_tick {
            self.tick.due(now, wait)
        } else {
            now + wait
        };
        if self.timer_at > self.deadline {
            // It is not set, or the timeout has shrunk: after a first sample, or when a backoff ends.
            self.wake_at_deadline(place, &mut out.lend());
        }
    }

    /// Sets the timer to fire at this time.
    #[inline]
    pub fn set_timer(&mut self, place: u32, at: Time, out: &mut impl Output) {
        self.deadline = at;
        if self.timer_at > at {
            self.wake_at_deadline(place, &mut out.lend());
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_at_deadline(&mut self, place: u32, out: &mut impl Output) {
        self.timer_at = self.deadline;
        out.wake(self.timer(TimerKind::Retransmission, place), self.timer_at);
    }
}

/// Whether a subflow, opening ones included, has timed out often enough to count as failed.
pub(super) fn has_failed(sender: &Sender, config: &Config) -> bool {
    sender.timeout.in_row() >= config.timeouts_to_fail()
}

/// Whether what a subflow holds may still go to its siblings.
pub(super) fn awaits_reinjection(sender: &Sender, config: &Config) -> bool {
    let to_come = config
        .timeouts_to_reinject()
        .is_some_and(|after| sender.timeout.in_row() < after);
    to_come && sender.board.outstanding() > 0
}
