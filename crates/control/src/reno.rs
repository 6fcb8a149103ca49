//! Reno: the standard TCP congestion control (RFC 5681, with the byte counting of RFC 3465).
//!
//! With w the congestion window in packets:
//!
//! - slow start: +1 for each acknowledged packet until w reaches ssthresh;
//! - congestion avoidance: +1/w for each acknowledged packet, so about one packet a round;
//! - fast retransmit: ssthresh = w = max(w/2, minimum window);
//! - timeout: ssthresh = max(w/2, 2), w = 1.
//!
//! An acknowledgement for n packets adds n/w with the w that it found. Its packets are not
//! ECN-capable. On several subflows it runs on each by itself.

use crate::{Ack, Change, Controller, Ecn, Entry, Loss, Path, Paths, SubflowId, loss, slow_start};
use alloc::boxed::Box;
use pathweave_units::Time;

/// Reno in the registry.
pub const ENTRY: Entry = Entry {
    name: "reno",
    summary: "Adds a packet a round and halves on loss.",
    source: "RFC 5681",
    file: include_str!("reno.rs"),
    coupled: false,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[],
    build: |_| Box::new(Reno),
};

#[derive(Clone, Debug)]
struct Reno;

/// Slow start, then one packet a round.
#[inline]
pub fn grow(path: &mut Path, packets: u32) {
    let packets = slow_start::grow(path, packets);
    if packets > 0 {
        path.window += f64::from(packets) / path.window;
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if ack.lets_window_grow() {
            grow(&mut paths[r], ack.packets);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        loss::respond(&mut paths[r], loss);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, _r: SubflowId, _change: Change) {}

    fn restart(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::GreedySender;
    use crate::{Ecn, Loss, find};

    fn reno(window: f64) -> GreedySender {
        GreedySender::new("reno", &[], &[(window, 100)])
    }

    #[test]
    fn congestion_avoidance_adds_one_over_the_window_for_each_packet() {
        let mut connection = reno(10.0);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
        let mut connection = reno(10.0);
        connection.ack(0, 2, 0);
        assert_eq!(connection.window(0), 10.2);
    }

    #[test]
    fn a_round_adds_a_packet() {
        let mut connection = reno(10.0);
        for round in 1..=20 {
            connection.round(0, false);
            let gained = connection.window(0) - 10.0;
            assert!(gained > 0.9 * f64::from(round) && gained <= f64::from(round));
        }
    }

    #[test]
    fn an_acknowledgement_that_ends_slow_start_goes_on_in_congestion_avoidance() {
        let mut connection = reno(10.0);
        connection.paths[0].ssthresh = 12.0;
        connection.ack(0, 5, 0);
        assert_eq!(connection.window(0), 12.0 + 3.0 / 12.0);
    }

    #[test]
    fn a_window_that_is_unused_or_recovering_does_not_grow() {
        for ssthresh in [1.0, 100.0] {
            for (recovery, limited) in [(true, true), (false, false), (true, false)] {
                let mut connection = reno(10.0);
                connection.paths[0].ssthresh = ssthresh;
                connection.ack_as(0, 1, 0, recovery, limited);
                assert_eq!(connection.window(0), 10.0);
            }
        }
    }

    #[test]
    fn there_is_no_slow_start_after_a_loss() {
        let mut connection = reno(10.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (5.0, 5.0));
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 5.2);
    }

    #[test]
    fn slow_start_up_to_half_the_window_follows_a_timeout() {
        let mut connection = reno(10.0);
        connection.loss(0, Loss::Timeout);
        let mut windows = [0.0; 6];
        for window in &mut windows {
            connection.ack(0, 1, 0);
            *window = connection.window(0);
        }
        assert_eq!(windows, [2.0, 3.0, 4.0, 5.0, 5.2, 5.2 + 1.0 / 5.2]);
    }

    #[test]
    fn marks_mean_nothing() {
        let mut connection = reno(10.0);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.1);
        let entry = find("reno").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
    }
}
