//! EWTCP (Honda et al., PFLDNeT 2009): each of m subflows is a TCP of weight 1/m^2.
//!
//! With w_r the window of subflow r in packets and m the number of active subflows:
//!
//! - slow start: +1 for each acknowledged packet; congestion there halves w_r;
//! - congestion avoidance: +1 / (m^2 w_r) for each acknowledged packet; congestion there halves w_r;
//! - a loss is congestion, and with `ecn = "on"` a marked round too; a timeout starts again from one packet.
//!
//! With one active subflow EWTCP is Reno. The m subflows do not react to one another. Through one queue they
//! together take what one TCP takes if each packet is lost by itself with the same probability, which is how
//! the weight was chosen; they take about 1/m of it if congestion comes once a round: see `wutcp`.
//!
//! In congestion avoidance it is `wutcp` with omega = 1/m^2, and it follows the rulings given there.
//!
//! Ruling: slow start is TCP's. EWTCP says nothing about it, and the WUTCP paper (section IV-A) assumes that
//! the subflows of earlier multipath TCPs follow TCP in slow start. `slow_start = "weighted"` is WUTCP's, with
//! which EWTCP is WUTCP(1/m^2) in both phases: +(3/2) (1 - 3^(-1/m^2)) for each acknowledged packet, and congestion
//! leaves (1 - 3^(1 - 1/m^2) / 2) w_r, at least the minimum window.

use crate::wutcp::{Omega, SlowStart, weighted};
use crate::{Entry, Parameter, ParameterKind, ecn_choice};

/// EWTCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "ewtcp",
    summary: "Runs each of m subflows by itself as a TCP of weight 1/m^2.",
    source: "EWTCP, PFLDNeT 2009; WUTCP, IEEE 2022, table I",
    file: include_str!("ewtcp.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: ecn_choice::ecn,
    parameters: &[
        Parameter {
            name: "slow_start",
            kind: ParameterKind::Choice(&["tcp", "weighted"]),
            help: "Slow start of a TCP (tcp), or of the WUTCP paper for the weight 1/m^2 (weighted).",
        },
        ecn_choice::PARAMETER,
    ],
    build: |parameters| {
        let slow_start = match parameters.choice("slow_start") {
            "weighted" => SlowStart::Weighted,
            _ => SlowStart::Tcp,
        };
        let marks_count = ecn_choice::is_on(parameters);
        weighted(Omega::PerSubflowsSquared, slow_start, marks_count)
    },
};

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, text};
    use crate::{Change, Ecn, Loss, find};

    #[test]
    fn three_subflows_add_a_ninth_each() {
        let mut connection = GreedySender::new("ewtcp", &[], &[(10.0, 100), (20.0, 50), (30.0, 0)]);
        for r in 0..3 {
            let before = connection.window(r);
            connection.ack(r, 1, 1);
            let gained = connection.window(r) - before;
            assert!(near(gained, 1.0 / (9.0 * before), 1e-12));
        }
        connection.paths[2].window = 30.0;
        connection.loss(2, Loss::FastRetransmit);
        assert_eq!((connection.window(2), connection.ssthresh(2)), (15.0, 15.0));
    }

    /// Two subflows of 100 packets in slow start.
    fn in_slow_start(slow_start: &str) -> GreedySender {
        let given = [text("slow_start", slow_start)];
        let mut connection = GreedySender::new("ewtcp", &given, &[(100.0, 100), (100.0, 100)]);
        for path in &mut connection.paths {
            path.ssthresh = 200.0;
        }
        connection
    }

    #[test]
    fn slow_start_is_a_tcps() {
        let mut connection = in_slow_start("tcp");
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 103.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (51.5, 51.5));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 50.0));
        connection.ack(1, 2, 0);
        assert_eq!(connection.window(1), 3.0);
        let defaults = find("ewtcp").unwrap().defaults();
        assert_eq!(defaults.choice("slow_start"), "tcp");
    }

    #[test]
    fn weighted_slow_start_is_wutcps() {
        // (3/2) (1 - 3^-(1/4)); 3^(3/4) / 2 is more than the window.
        let mut connection = in_slow_start("weighted");
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0) - 100.0, 0.3602464715226, 1e-9));
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (2.0, 2.0));
    }

    #[test]
    fn a_failed_subflow_has_no_weight_until_it_recovers() {
        let mut connection = GreedySender::new("ewtcp", &[], &[(10.0, 100), (20.0, 50)]);
        // Weights of 1 and 1/4.
        connection.check_gains(0, 1, &[(Change::Failed, 0.1), (Change::Recovered, 0.025)]);
    }

    #[test]
    fn with_ecn_a_marked_round_is_halved() {
        let given = [text("ecn", "on")];
        let mut connection = GreedySender::new("ewtcp", &given, &[(16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (8.0, 8.0));
        let entry = find("ewtcp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let on = entry.parameters(&given).unwrap();
        assert_eq!((entry.ecn)(&on), Ecn::Count { limit: 255 });
    }
}
