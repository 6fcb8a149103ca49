//! What a connection must keep to after every acknowledgement: the feature `checks`.

use super::Sending;
use super::scheduling::{is_its_time, may_take};
use super::subflow::{Phase, RecoveryState, Sender};
use crate::Recovery;
use pathweave_control::SubflowId;
use pathweave_units::Time;

impl Sending {
    /// No subflow of a connection may send lost data again, or take new data where there is some.
    ///
    /// # Panics
    /// When one may.
    pub(super) fn check_blocked(&self, place: u32, now: Time) {
        let connection = &self.connections[place as usize];
        let has_data = connection.has_data();
        for (number, path) in (0u32..).zip(&connection.paths) {
            let sender = &self.senders[connection.subflow(number) as usize];
            let may_send_again = sender.board.lost() > 0
                && sender.room(path) > 0
                && path.is_active()
                && is_its_time(path, sender, now)
                && sender.may_lost_join_port(connection, path, now);
            let may_send_new = has_data && may_take(connection, path, sender, now);
            assert!(
                !may_send_again && !may_send_new,
                "check: subflow {number} of connection {place} has room and was not looked at"
            );
        }
    }

    /// Windows and what is in flight agree with the scoreboards of the connection that a subflow belongs to.
    ///
    /// # Panics
    /// When they do not.
    pub(super) fn check_connection(&self, index: u32, now: Time) {
        let place = self.senders[index as usize].connection;
        let connection = &self.connections[place as usize];
        if self.senders[connection.first as usize].connection != place {
            return; // this connection has been released, and its place has another one
        }
        assert!(
            connection.data_acked <= connection.next_data
                && connection.next_data <= connection.total,
            "check: connection {place} has {} segments acknowledged and {} sent of {}",
            connection.data_acked,
            connection.next_data,
            connection.total
        );
        let first = connection.first as usize;
        let senders = &self.senders[first..first + connection.paths.len()];
        if let Err(wrong) = connection.check_account(senders) {
            panic!("check: connection {place}: {wrong}");
        }
        let selective = connection.config.recovery == Recovery::Sack;
        for number in 0..connection.count() {
            let sender = &self.senders[connection.subflow(number) as usize];
            let path = &connection.paths[number as usize];
            let what = || format!("check: subflow {number} of connection {place}");
            if let Err(wrong) = sender.board.check(selective) {
                panic!("{}: {wrong}", what());
            }
            assert!(
                path.window.is_finite() && path.window > 0.0 && !path.ssthresh.is_nan(),
                "{}: window {}, ssthresh {}",
                what(),
                path.window,
                path.ssthresh
            );
            let after_timeout = matches!(sender.recovery, RecoveryState::Timeout(_));
            let limit = connection.config.packets_in_slow_start(after_timeout);
            assert!(
                path.slow_start_limit == limit,
                "{}: slow start counts {} packets, not {limit}",
                what(),
                path.slow_start_limit
            );
            if sender.phase == Phase::Open {
                let counted = sender.in_flight(connection.duplicates_hold);
                assert!(
                    path.in_flight == counted,
                    "{}: {} in flight, {counted} by the scoreboard",
                    what(),
                    path.in_flight
                );
                assert!(
                    path.acked == u64::from(sender.board.una()),
                    "{}: {} acknowledged, {} on the scoreboard",
                    what(),
                    path.acked,
                    sender.board.una()
                );
            }
            if let Err(wrong) = sender.check_port(now) {
                panic!("{}: {wrong}", what());
            }
            if let Some(queues) = &connection.queues
                && let Err(wrong) = queues.of[number as usize].check(connection.next_data)
            {
                panic!("{}: {wrong}", what());
            }
        }
        self.check_goes_on(place);
    }

    /// A connection with data that it may send, or with data outstanding, waits for something: an acknowledgement that a
    /// timer watches over, or a time.
    fn check_goes_on(&self, place: u32) {
        let connection = &self.connections[place as usize];
        if connection.closed {
            return;
        }
        let subflows = (0u32..).zip(&connection.paths);
        let subflows = subflows.map(|(number, path)| {
            let sender = &self.senders[connection.subflow(number) as usize];
            (number, path, sender)
        });
        let mut wants_to_send = false;
        for (number, path, sender) in subflows {
            if sender.is_woken() {
                return;
            }
            assert!(
                sender.phase != Phase::Open || sender.board.outstanding() == 0,
                "check: no timer of subflow {number} of connection {place} watches over what is outstanding"
            );
            wants_to_send |= sender.phase == Phase::Open
                && path.is_active()
                && path.may_send
                && connection.has_data_for(SubflowId(number));
        }
        assert!(
            !wants_to_send,
            "check: connection {place} has data, and nothing wakes it"
        );
    }
}

impl Sender {
    /// Whether a timer will do something for it.
    fn is_woken(&self) -> bool {
        let opens = self.phase == Phase::Unopened && self.opened != Time::MAX;
        let has_time = self.deadline != Time::MAX || self.pace_timer_at != Time::MAX;
        opens || has_time || self.waits_for_port()
    }
}
