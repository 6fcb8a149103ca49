//! Semicoupled, in its RTT-weighted form: EUTCP(1).
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds, and the sum over the
//! active subflows s:
//!
//! - slow start: +1 for each acknowledged packet;
//! - congestion avoidance: +1 / (tau_r sum_s(w_s / tau_s)) for each acknowledged packet;
//! - loss: w_r is halved, with `ecn = "on"` once in a marked round too; a timeout starts again from one
//!   packet.
//!
//! The EUTCP paper shows that this maximises U_tcp(sum_s x_s), the utility of one TCP for the whole
//! connection. With equal RTTs the increase is 1 / sum_s(w_s), as AMP's and XMP's, and the connection
//! settles where a round meets congestion with probability 1 / (1 + W / 2), W the sum of the windows.
//! With one active subflow Semicoupled is Reno.
//!
//! It is the code of `eutcp` with gamma = 1, and follows the rulings given there.

use crate::{Entry, ecn_choice, eutcp};

/// Semicoupled in the registry.
pub const ENTRY: Entry = Entry {
    name: "semicoupled",
    summary: "Grows all subflows together as one TCP, and halves each by itself.",
    source: "EUTCP, IEEE 2022, table I",
    file: include_str!("semicoupled.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: ecn_choice::ecn,
    parameters: &[ecn_choice::PARAMETER],
    build: |parameters| eutcp::semicoupled(ecn_choice::is_on(parameters)),
};

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, text};
    use crate::{Ecn, Loss, find};

    #[test]
    fn all_subflows_together_gain_a_packet_a_round_and_each_is_halved() {
        let mut connection = GreedySender::new("semicoupled", &[], &[(10.0, 100), (30.0, 100)]);
        connection.ack(0, 1, 1);
        assert!(near(connection.window(0), 10.0 + 1.0 / 40.0, 1e-12));
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (15.0, 15.0));
        connection.paths[1].ssthresh = 100.0;
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 16.0, "slow start adds a packet");
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 8.0));
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = GreedySender::new("semicoupled", &[], &[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 20.0, 1.0 / 30.0);
    }

    #[test]
    fn with_ecn_a_marked_round_is_halved() {
        let given = [text("ecn", "on")];
        let mut connection = GreedySender::new("semicoupled", &given, &[(16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (8.0, 8.0));
        let entry = find("semicoupled").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let on = entry.parameters(&given).unwrap();
        assert_eq!((entry.ecn)(&on), Ecn::Count { limit: 255 });
    }
}
