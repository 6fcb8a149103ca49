//! What a connection must keep to after every acknowledgement: the feature `checks`.

use super::Sending;
use super::subflow::Phase;
use crate::Recovery;

impl Sending {
    /// Windows and what is in flight agree with the scoreboards of the connection that a subflow belongs to.
    ///
    /// # Panics
    /// When they do not.
    pub(super) fn check_connection(&self, index: u32) {
        let place = self.senders[index as usize].connection;
        let connection = &self.connections[place as usize];
        assert!(
            connection.data_acked <= connection.next_data
                && connection.next_data <= connection.total,
            "check: connection {place} has {} segments acknowledged and {} sent of {}",
            connection.data_acked,
            connection.next_data,
            connection.total
        );
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
            if sender.phase == Phase::Open {
                let counted = sender.in_flight(&connection.config);
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
        }
    }
}
