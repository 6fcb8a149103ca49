//! The timer with loss detection by time. It waits for the timeout, for the tail loss probe (RFC 8985, section 7), or for the
//! end of the reordering window (section 6.2, step 5).

use super::Sending;
use super::by_time::Measured;
use super::connection::Connection;
use super::cut_round::CutRound;
use super::repair::{Awaits, Probe};
use super::scheduling::may_take;
use super::subflow::{Phase, RecoveryState, Sender};
use crate::output::Output;
use pathweave_control::Loss;
use pathweave_units::Time;

/// Added to the waits for a probe and for late segments (TCP_TIMEOUT_MIN_US).
const LEAST_WAIT: Time = Time::from_millis(2);
/// Wait for a probe before the first RTT sample (TCP_TIMEOUT_INIT).
const WAIT_WITHOUT_RTT: Time = Time::from_secs(1);

impl Sender {
    /// Sets the timer after an ACK that leaves segments outstanding. `wait` is the time until the last undecided segment
    /// counts as lost, or zero.
    pub fn set_loss_timer(
        &mut self,
        index: u32,
        connection: &Connection,
        (advanced, wait): (bool, Time),
        now: Time,
        out: &mut impl Output,
    ) {
        let timeout = self.timeout.current(connection.maximum_rto);
        if wait > Time::ZERO {
            let wait = (wait + LEAST_WAIT).min(timeout);
            self.await_(Awaits::Reordering, index, now, wait, out);
        } else if advanced && !self.await_probe(index, connection, timeout, now, out) {
            self.await_timeout(index, connection, now, out);
        }
    }

    /// Sets the timer after new data has been sent.
    #[inline(never)]
    pub fn set_loss_timer_after_new_data(
        &mut self,
        index: u32,
        connection: &Connection,
        now: Time,
        out: &mut impl Output,
    ) {
        let until_timeout = self.until_timeout(connection, now);
        if !self.await_probe(index, connection, until_timeout, now, out)
            && self.deadline == Time::MAX
        {
            self.await_timeout(index, connection, now, out);
        }
    }

    /// Restarts the timeout after the lowest segment was retransmitted, unless the timer waits for late segments.
    pub fn restart_timeout(
        &mut self,
        index: u32,
        connection: &Connection,
        now: Time,
        out: &mut impl Output,
    ) {
        if self.awaits() != Awaits::Reordering || self.deadline == Time::MAX {
            let wait = self.timeout.current(connection.maximum_rto);
            self.await_(Awaits::Timeout, index, now, wait, out);
        }
    }

    fn awaits(&self) -> Awaits {
        self.repair
            .as_ref()
            .map_or(Awaits::Timeout, |repair| repair.awaits)
    }

    fn await_(&mut self, what: Awaits, index: u32, now: Time, wait: Time, out: &mut impl Output) {
        if let Some(repair) = &mut self.repair {
            repair.awaits = what;
        }
        let at = self.tick.due(now, wait);
        self.set_timer(index, at, out);
    }

    /// Time until the timeout, counted from the transmission of the lowest segment (tcp_rto_delta_us).
    fn until_timeout(&self, connection: &Connection, now: Time) -> Time {
        let timeout = self.timeout.current(connection.maximum_rto);
        let una = self.board.una();
        let sent = self
            .repair
            .as_ref()
            .map_or(now, |repair| repair.rack.sent(una));
        (sent + timeout).saturating_sub(now)
    }

    /// Waits for the timeout (tcp_rearm_rto).
    pub fn await_timeout(
        &mut self,
        index: u32,
        connection: &Connection,
        now: Time,
        out: &mut impl Output,
    ) {
        let wait = if self.awaits() == Awaits::Timeout {
            self.timeout.current(connection.maximum_rto)
        } else {
            self.until_timeout(connection, now)
        };
        self.await_(Awaits::Timeout, index, now, wait, out);
    }

    /// Whether a probe may be scheduled: data is outstanding and nothing is missing.
    fn may_probe(&self, connection: &Connection) -> bool {
        let Some(repair) = &self.repair else {
            return false;
        };
        connection.config.tail_loss_probe
            && self.recovery == RecoveryState::None
            && self.board.is_clean()
            && self.board.outstanding() > 0
            && !self.board.has_retransmissions(&repair.rack)
    }

    /// Waits for the time of a probe if one may be scheduled (tcp_schedule_loss_probe). Returns whether it does.
    fn await_probe(
        &mut self,
        index: u32,
        connection: &Connection,
        until_timeout: Time,
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        if !self.may_probe(connection) {
            return false;
        }
        let smoothed = connection.paths[self.number.0 as usize].smoothed_rtt;
        let has_rtt = smoothed > Time::ZERO || connection.knows_rtt_from_start();
        let wait = match self.board.outstanding() {
            _ if !has_rtt => WAIT_WITHOUT_RTT,
            // The ACK for a single segment may be delayed.
            1 => smoothed * 2 + connection.minimum_rto,
            _ => smoothed * 2 + LEAST_WAIT,
        };
        let wait = if until_timeout > Time::ZERO {
            wait.min(until_timeout)
        } else {
            wait
        };
        self.await_(Awaits::Probe, index, now, wait, out);
        true
    }
}

impl Sending {
    /// Sends a probe if none is outstanding, and waits for the timeout (tcp_send_loss_probe).
    pub(super) fn send_probe(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let is_first = sender
            .repair
            .as_ref()
            .is_some_and(|repair| repair.probe.is_none());
        // What is still in the host's port needs no probe.
        let has_left = !sender.is_in_port(now);
        let may_probe = is_first && has_left && sender.phase == Phase::Open;
        if may_probe && sender.board.outstanding() > 0 && !self.is_refused(index, now, out) {
            self.account_for_timer(index, now);
            let sender = &mut self.senders[index as usize];
            let connection = &mut self.connections[place as usize];
            let path = &connection.paths[sender.number.0 as usize];
            let fits = sender.board.outstanding() < connection.subflow_window
                || connection.fits_subflow_window(sender);
            let has_data = connection.has_data_for(sender.number);
            let takes_new = path.is_active() && path.may_send && fits && has_data;
            let new = takes_new.then(|| connection.take_data_for(sender.number));
            let new = new.flatten();
            match new {
                // One packet beyond the congestion window.
                Some(data) => self.send_new(index, data, now, out),
                None => {
                    let (number, data) = sender.board.repeat_last();
                    let una = sender.board.una();
                    sender.retransmits += 1;
                    if let Some(window_use) = &mut sender.window_use {
                        window_use.note_retransmitted(now);
                    }
                    if let Some(repair) = &mut sender.repair {
                        repair.rack.note_sent(number, una, now);
                    }
                    self.transmit(index, number, data, true, now, out);
                }
            }
            let sender = &mut self.senders[index as usize];
            sender.is_probing = true;
            let end = sender.board.next();
            if let Some(repair) = &mut sender.repair {
                repair.probes += 1;
                repair.probe = Some(Probe {
                    end,
                    is_retransmission: new.is_none(),
                });
                // The timeout starts from the probe.
                repair.awaits = Awaits::Timeout;
            }
        }
        let connection = &self.connections[place as usize];
        self.senders[index as usize].await_timeout(index, connection, now, out);
        if connection.next_data >= connection.joins_from {
            self.open_joins(place, now, out);
        }
    }

    /// The reordering window has ended: late segments are lost now (tcp_rack_reo_timeout).
    pub(super) fn find_late(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let number = sender.number;
        let path = &mut connection.paths[number.0 as usize];
        let flight = sender.board.in_flight();
        let late = sender.judge_late(Measured::of(path, now));
        path.in_flight = sender.in_flight(connection.duplicates_hold);
        if late.begins {
            sender.remember_for_undo(path);
            path.in_recovery = true;
            path.slow_start_limit = connection.config.packets_in_slow_start(false);
            let in_flight = path.in_flight;
            let outstanding = sender.board.outstanding();
            connection.lose(number, Loss::FastRetransmit, outstanding, now);
            if connection.has_cut_rounds {
                let ends_at = sender.board.next();
                sender.begin_cut_round(connection.config.reduction, ends_at, flight);
            }
            if let Some(CutRound {
                proportional: Some(reduction),
                ..
            }) = &mut sender.cut_round
            {
                // Linux counts one packet as delivered here, so that one may be sent.
                let window = connection.paths[number.0 as usize].window;
                reduction.on_ack(1, in_flight, window, false);
            }
            self.account_for_timer(index, now);
            self.send_lost(index, now, out);
        }
        if late.found {
            self.connections[place as usize].blocked = false;
            self.send_what_may_be_sent(place, now, out);
        }
        let sender = &mut self.senders[index as usize];
        if sender.awaits() != Awaits::Timeout && sender.board.outstanding() > 0 {
            sender.await_timeout(index, &self.connections[place as usize], now, out);
        }
    }

    /// F-RTO: sends new data before retransmissions. Without new data, retransmissions follow.
    pub(super) fn send_new_first(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let before = self.senders[index as usize].board.next();
        let place = self.senders[index as usize].connection;
        loop {
            let sender = &self.senders[index as usize];
            let connection = &mut self.connections[place as usize];
            let path = &connection.paths[sender.number.0 as usize];
            let has_data = connection.has_data_for(sender.number);
            let may = has_data && may_take(connection, path, sender, now);
            let number = sender.number;
            if !may || self.is_refused(index, now, out) {
                break;
            }
            let connection = &mut self.connections[place as usize];
            if let Some(data) = connection.take_data_for(number) {
                self.send_new(index, data, now, out);
            }
        }
        let sender = &mut self.senders[index as usize];
        if sender.board.next() == before
            && let Some(repair) = &mut sender.repair
        {
            repair.doubts_timeout = false;
        }
    }
}
