//! MMPTCP (Kheirkhah et al., INFOCOM 2016): scattered packets first, then MPTCP.
//!
//! A connection begins with one subflow under Reno whose packets are scattered over all equal-cost
//! paths, so that a short flow uses them all. When it has sent `volume` bytes, the other subflows open,
//! each on its own path, under LIA; from the moment that the first of them has opened, the scattered subflow takes
//! no new data and only brings to an end what it has in flight.
//!
//! `subflows` in a scenario is the number m of these other subflows: the connection has m + 1, and number 0 is
//! the scattered one. It counts in no sum of LIA's once it takes no new data.
//!
//! Scattered packets overtake one another. A packet of that subflow counts as lost after 3 duplicate
//! acknowledgements, plus, for hosts in different racks, the number of equal-cost paths between
//! them: in a fat-tree the aggregation switches of a pod, or the core switches.
//!
//! Ruling: the switch is by volume, 100,000 bytes, as in the published code, and acknowledgements of scattered packets
//! are scattered as well.

use crate::lia::Lia;
use crate::{Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Paths, SubflowId};
use alloc::boxed::Box;
use pathweave_units::{Bytes, Time};

/// MMPTCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "mmptcp",
    summary: "Scatters a flow's first packets over all paths, then is LIA on subflows with paths of their own.",
    source: "MMPTCP, INFOCOM 2016",
    file: include_str!("mmptcp.rs"),
    coupled: true,
    scatter: Some(|parameters| Bytes::new(parameters.number("volume") as u64)),
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[Parameter {
        name: "volume",
        kind: ParameterKind::Number {
            default: 100_000.0,
            minimum: 1.0,
            maximum: 1e15,
            integer: true,
        },
        help: "Bytes that are scattered before the other subflows open.",
    }],
    build: |_| Box::new(Mmptcp { lia: Lia::new(0.0) }),
};

/// The subflow whose packets are scattered.
const SCATTERED: SubflowId = SubflowId(0);

struct Mmptcp {
    lia: Lia,
}

impl Controller for Mmptcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &crate::Ack) {
        if paths[r].may_send {
            self.lia.on_ack(paths, r, ack);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        self.lia.on_loss(paths, r, loss, now);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if r != SCATTERED && change == Change::Opened {
            paths[SCATTERED].may_send = false;
        }
        self.lia.on_subflow(paths, r, change);
    }
}

#[cfg(test)]
mod tests {
    use crate::connection::{Connection, near};
    use crate::{Change, Loss, find};
    use pathweave_units::Bytes;

    #[test]
    fn scattering_ends_when_another_subflow_opens() {
        let mut connection = Connection::new("mmptcp", &[], &[(10.0, 100)]);
        assert!(connection.paths[0].may_send);
        connection.change(0, Change::Opened);
        assert!(connection.paths[0].may_send, "it opens itself");
        let mut connection = Connection::new("mmptcp", &[], &[(10.0, 100), (4.0, 100)]);
        assert!(!connection.paths[0].may_send && connection.paths[1].may_send);
        connection.change(1, Change::Closed);
        assert!(!connection.paths[0].may_send);
    }

    #[test]
    fn alone_the_scattered_subflow_is_reno() {
        let mut connection = Connection::new("mmptcp", &[], &[(10.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.05);
    }

    #[test]
    fn the_others_are_lia_without_it() {
        let mut connection =
            Connection::new("mmptcp", &[], &[(50.0, 100), (10.0, 100), (10.0, 100)]);
        connection.ack(1, 1, 0);
        // a / w_total = max(w) / (sum of w)^2 at equal RTTs.
        assert!(near(connection.window(1), 10.0 + 10.0 / 400.0, 1e-12));
    }

    #[test]
    fn the_scattered_subflow_does_not_grow_while_it_drains() {
        let mut connection = Connection::new("mmptcp", &[], &[(10.0, 100), (4.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.0);
    }

    #[test]
    fn the_volume_is_a_parameter() {
        let entry = find("mmptcp").unwrap();
        let scatter = entry.scatter.unwrap();
        assert_eq!(scatter(&entry.defaults()), Bytes::new(100_000));
        let given = [crate::connection::number("volume", 5.0)];
        assert_eq!(scatter(&entry.parameters(&given).unwrap()), Bytes::new(5));
    }
}
