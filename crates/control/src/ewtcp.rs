//! EWTCP (Honda et al., PFLDNeT 2009): each subflow is a TCP of weight 1/m^2, WUTCP(1/m^2).
//!
//! With w_r the window of subflow r in packets and m the number of active subflows:
//!
//! - slow start: +(3/2) (1 - 3^(-1/m^2)) for each acknowledged packet; congestion there:
//!   w_r <- (1 - 3^(1 - 1/m^2) / 2) w_r, at least the minimum window, and ssthresh = w_r;
//! - congestion avoidance: +1 / (m^2 w_r) for each acknowledged packet;
//! - loss: w_r is halved, with `ecn = "on"` once in a marked round too; a timeout starts again from one
//!   packet.
//!
//! With one active subflow EWTCP is Reno. m subflows through one queue together take what one TCP
//! takes if each packet is lost by itself with the same probability, which is how the weight was
//! chosen; they take about 1/m of it if congestion comes once a round: see `wutcp`.
//!
//! It is the code of `wutcp` with omega = 1/m^2, and follows the rulings given there, the slow start of
//! the WUTCP paper included.

use crate::wutcp::{Omega, weighted};
use crate::{Entry, ecn_choice};

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
    parameters: &[ecn_choice::PARAMETER],
    build: |parameters| weighted(Omega::PerSubflowsSquared, ecn_choice::is_on(parameters)),
};

#[cfg(test)]
mod tests {
    use crate::connection::{Connection, near, text};
    use crate::{Ecn, Loss, find};

    #[test]
    fn three_subflows_add_a_ninth_each() {
        let mut connection = Connection::new("ewtcp", &[], &[(10.0, 100), (20.0, 50), (30.0, 0)]);
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

    #[test]
    fn with_ecn_a_marked_round_is_halved() {
        let given = [text("ecn", "on")];
        let mut connection = Connection::new("ewtcp", &given, &[(16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (8.0, 8.0));
        let entry = find("ewtcp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let on = entry.parameters(&given).unwrap();
        assert_eq!((entry.ecn)(&on), Ecn::Count { limit: 255 });
    }
}
