//! The one timer of a subflow that finds losses by time: it waits for the timeout, for the tail loss probe (RFC 8985,
//! section 7), or until a segment is too late to be only late (section 6.2, step 5).

use super::Sending;
use super::by_time::Measured;
use super::connection::Connection;
use super::cut_round::{CutRound, Proportional};
use super::repair::{Awaits, Probe, Undo};
use super::scheduling::may_take;
use super::subflow::{Phase, RecoveryState, Sender};
use crate::Reduction;
use crate::output::Output;
use pathweave_control::{Loss, Path};
use pathweave_units::Time;

/// What is added to the wait of a probe and to that for late segments (TCP_TIMEOUT_MIN_US).
const LEAST_WAIT: Time = Time::from_millis(2);
/// The wait of a probe before the first RTT sample (TCP_TIMEOUT_INIT).
const WAIT_WITHOUT_RTT: Time = Time::from_secs(1);

impl Sender {
    /// An acknowledgement has come that leaves something outstanding. `wait` is how long to wait for what may only be late,
    /// and zero if there is nothing like that.
    pub fn set_loss_timer(
        &mut self,
        index: u32,
        connection: &Connection,
        (advanced, wait): (bool, Time),
        now: Time,
        out: &mut impl Output,
    ) {
        if wait > Time::ZERO {
            // Not later than the timeout would be.
            let timeout = self.timeout.current(connection.maximum_rto);
            let wait = (wait + LEAST_WAIT).min(timeout);
            self.await_(Awaits::Reordering, index, now, wait, out);
        } else if advanced {
            let timeout = self.timeout.current(connection.maximum_rto);
            if !self.await_probe(index, connection, timeout, now, out) {
                self.await_timeout(index, connection, now, out);
            }
        }
    }

    /// New data has been sent.
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

    /// The lowest segment has been sent again: the timeout begins anew, unless it is late segments that are waited for.
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

    /// How long it is until the timeout, which runs since the lowest segment was sent (tcp_rto_delta_us).
    fn until_timeout(&mut self, connection: &Connection, now: Time) -> Time {
        let timeout = self.timeout.current(connection.maximum_rto);
        let una = self.board.una();
        let sent = self.board.rack().map_or(now, |rack| rack.sent(una));
        (sent + timeout).saturating_sub(now)
    }

    /// Waits for the timeout: since the lowest segment was sent, if something else was waited for (tcp_rearm_rto).
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

    /// Waits for the time of a probe, if one may be sent: while nothing is known to be astray (tcp_schedule_loss_probe).
    fn await_probe(
        &mut self,
        index: u32,
        connection: &Connection,
        until_timeout: Time,
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        let config = &connection.config;
        let may = config.tail_loss_probe
            && self.recovery == RecoveryState::None
            && self.board.is_clean()
            && self.board.outstanding() > 0
            && !self.board.has_sent_again();
        if !may {
            return false;
        }
        let smoothed = connection.paths[self.number.0 as usize].smoothed_rtt;
        let wait = match (smoothed, self.board.outstanding()) {
            // The handshake that was not simulated has measured an RTT of nearly nothing.
            (Time::ZERO, 1) if connection.established => config.minimum_rto,
            (Time::ZERO, _) if connection.established => LEAST_WAIT,
            (Time::ZERO, _) => WAIT_WITHOUT_RTT,
            // Its acknowledgement may be delayed.
            (smoothed, 1) => smoothed * 2 + config.minimum_rto,
            (smoothed, _) => smoothed * 2 + LEAST_WAIT,
        };
        let wait = if until_timeout > Time::ZERO {
            wait.min(until_timeout)
        } else {
            wait
        };
        self.await_(Awaits::Probe, index, now, wait, out);
        true
    }

    /// The congestion window has been cut because of losses: the round of the cut begins.
    pub fn begin_cut_round(&mut self, connection: &Connection, flight: u32) {
        if connection.has_cut_rounds {
            let proportional = (connection.config.reduction == Reduction::Proportional)
                .then(|| Proportional::new(flight));
            self.cut_round = Some(CutRound::new(self.board.next(), proportional));
        }
    }
}

/// What is measured of a path.
fn measured(path: &Path, now: Time) -> Measured {
    Measured {
        now,
        minimum_rtt: path.minimum_rtt,
        smoothed_rtt: path.smoothed_rtt,
    }
}

impl Sending {
    /// The time of a probe has come (tcp_send_loss_probe).
    pub(super) fn send_probe(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection as usize;
        let connection = &mut self.connections[place];
        let is_first = sender
            .repair
            .as_ref()
            .is_some_and(|repair| repair.probe.is_none());
        if is_first && sender.phase == Phase::Open && sender.board.outstanding() > 0 {
            let path = &connection.paths[sender.number.0 as usize];
            let fits = sender.board.outstanding() < connection.subflow_window
                || connection.fits_subflow_window(&sender.board);
            let takes_new = path.is_active() && path.may_send && fits && connection.has_data();
            let new = if takes_new {
                connection.take_data()
            } else {
                None
            };
            if let Some(repair) = &mut sender.repair {
                repair.probes += 1;
                // The timeout runs from now on.
                repair.awaits = Awaits::Timeout;
            }
            sender.is_probing = true;
            match new {
                // One packet beyond the window.
                Some(data) => self.send_new(index, data, now, out),
                None => {
                    let (number, data) = sender.board.send_newest_again(now);
                    sender.retransmits += 1;
                    self.transmit(index, number, data, true, now, out);
                }
            }
            let sender = &mut self.senders[index as usize];
            let end = sender.board.next();
            if let Some(repair) = &mut sender.repair {
                repair.awaits = Awaits::Timeout;
                repair.probe = Some(Probe {
                    end,
                    again: new.is_none(),
                });
            }
        }
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[place];
        sender.await_timeout(index, connection, now, out);
        if self.connections[place].next_data >= self.connections[place].joins_from {
            self.open_joins(place as u32, now, out);
        }
    }

    /// A segment that might have been late only is lost by now (tcp_rack_reo_timeout).
    pub(super) fn find_late(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let number = sender.number;
        let path = &connection.paths[number.0 as usize];
        let before = (path.window, path.ssthresh);
        let flight = sender.board.in_flight();
        let late = sender.judge_late(measured(path, now));
        if late.found {
            connection.blocked = false;
            connection.paths[number.0 as usize].in_flight =
                sender.in_flight(connection.duplicates_hold);
            if late.begins {
                let una = sender.board.una();
                if let Some(repair) = &mut sender.repair {
                    repair.undo = Some(Undo::new(una, before.0, before.1));
                }
                let outstanding = sender.board.outstanding();
                connection.paths[number.0 as usize].in_recovery = true;
                connection.paths[number.0 as usize].slow_start_limit =
                    connection.config.packets_in_slow_start(false);
                connection.lose(number, Loss::FastRetransmit, outstanding, now);
                sender.begin_cut_round(connection, flight);
                // One packet may go (tcp_rack_reo_timeout).
                let path = &connection.paths[number.0 as usize];
                if let Some(CutRound {
                    proportional: Some(reduction),
                    ..
                }) = &mut sender.cut_round
                {
                    reduction.on_ack(1, path.in_flight, path.window, false);
                }
                self.send_lost(index, now, out);
            }
            self.send_what_may_be_sent(place, now, out);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[place as usize];
        if sender.awaits() != Awaits::Timeout && sender.board.outstanding() > 0 {
            sender.await_timeout(index, connection, now, out);
        }
    }

    /// Sends new data on a subflow whose timeout may have come for nothing. Where there is none, what is lost follows.
    pub(super) fn send_new_first(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let before = self.senders[index as usize].board.next();
        loop {
            let sender = &self.senders[index as usize];
            let connection = &mut self.connections[sender.connection as usize];
            let path = &connection.paths[sender.number.0 as usize];
            if !connection.has_data() || !may_take(connection, path, sender, now) {
                break;
            }
            if let Some(data) = connection.take_data() {
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
