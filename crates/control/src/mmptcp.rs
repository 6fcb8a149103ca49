//! MMPTCP (Kheirkhah et al., INFOCOM 2016): scattered packets first, then MPTCP.
//!
//! A connection begins with one subflow under Reno whose packets are scattered over all equal-cost
//! paths, so that a short flow uses them all. When it has sent `volume` bytes, the other subflows open,
//! each on its own path, under LIA; from the moment that the first of them has opened, the scattered subflow takes
//! no new data and only brings to an end what it has in flight. Its window does not grow in congestion avoidance
//! then. It grows in slow start, so that what a timeout has left to send again does not go out packet by packet.
//!
//! `subflows` in a scenario is the number m of these other subflows: the connection has m + 1, and number 0 is
//! the scattered one. It counts in no sum of LIA's once it takes no new data.
//!
//! Scattered packets overtake one another. A packet of that subflow counts as lost after 3 duplicate
//! acknowledgements, plus, for hosts in different racks, the number of equal-cost paths between
//! them: in a fat-tree the aggregation switches of a pod, or the core switches.
//!
//! Ruling: while none of the other subflows is active because all of them have failed, the scattered one takes new data
//! again: its packets find the paths that are left.
//!
//! Ruling: the switch is by volume, 100,000 bytes, as in the published code, and acknowledgements of scattered packets
//! are scattered as well.

use crate::lia::Lia;
use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Path, Paths, SubflowId,
    slow_start,
};
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

#[derive(Clone, Debug)]
struct Mmptcp {
    lia: Lia,
}

impl Controller for Mmptcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if paths[r].may_send {
            self.lia.on_ack(paths, r, ack);
        } else if ack.lets_window_grow() {
            // What is left is congestion avoidance's, and a subflow that drains has none.
            let _ = slow_start::grow(&mut paths[r], ack.packets);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        self.lia.on_loss(paths, r, loss, now);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if r != SCATTERED {
            let mut others = paths.iter().skip(1);
            let active = others.clone().any(Path::is_active);
            paths[SCATTERED].may_send = !active && others.any(|path| path.state.is_open());
        }
        self.lia.on_subflow(paths, r, change);
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.lia.on_packet_size(r, factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near};
    use crate::{Change, Loss, find};
    use pathweave_units::Bytes;

    #[test]
    fn scattering_ends_when_another_subflow_opens() {
        let mut connection = GreedySender::new("mmptcp", &[], &[(10.0, 100)]);
        assert!(connection.paths[0].may_send);
        connection.change(0, Change::Opened);
        assert!(connection.paths[0].may_send, "it opens itself");
        let mut connection = GreedySender::new("mmptcp", &[], &[(10.0, 100), (4.0, 100)]);
        assert!(!connection.paths[0].may_send && connection.paths[1].may_send);
        connection.change(1, Change::Closed);
        assert!(!connection.paths[0].may_send);
    }

    #[test]
    fn alone_the_scattered_subflow_is_reno() {
        let mut connection = GreedySender::new("mmptcp", &[], &[(10.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.05);
    }

    #[test]
    fn the_others_are_lia_without_it() {
        let mut connection =
            GreedySender::new("mmptcp", &[], &[(50.0, 100), (10.0, 100), (10.0, 100)]);
        connection.ack(1, 1, 0);
        // a / w_total = max(w) / (sum of w)^2 at equal RTTs.
        assert!(near(connection.window(1), 10.0 + 10.0 / 400.0, 1e-12));
    }

    #[test]
    fn the_scattered_subflow_does_not_grow_while_it_drains() {
        let mut connection = GreedySender::new("mmptcp", &[], &[(10.0, 100), (4.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.0);
    }

    #[test]
    fn slow_start_follows_a_timeout_while_it_drains() {
        let mut connection = GreedySender::new("mmptcp", &[], &[(40.0, 100), (4.0, 100)]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 20.0));
        for (packets, window) in [
            (1, 2.0),
            (2, 4.0),
            (4, 8.0),
            (8, 16.0),
            (16, 20.0),
            (9, 20.0),
        ] {
            connection.ack(0, packets, 0);
            assert_eq!(
                connection.window(0),
                window,
                "up to ssthresh and no further"
            );
        }
        for (recovery, limited) in [(true, true), (false, false)] {
            connection.paths[0].window = 4.0;
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 4.0);
        }
    }

    #[test]
    fn the_scattered_subflow_takes_over_while_all_others_have_failed() {
        let subflows = [(50.0, 100), (10.0, 100), (10.0, 100)];
        let mut connection = GreedySender::new("mmptcp", &[], &subflows);
        for (r, change, scattered) in [
            (1, Change::Failed, false),
            (2, Change::Failed, true),
            (1, Change::Recovered, false),
            (1, Change::Failed, true),
            (2, Change::StoodBy, true),
            (2, Change::Recovered, false),
        ] {
            connection.change(r, change);
            assert_eq!(connection.paths[0].may_send, scattered, "{r} {change:?}");
        }
        connection.change(2, Change::Failed);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 50.0 + 1.0 / 50.0, "it is Reno alone");
    }

    #[test]
    fn failed_subflows_are_in_no_sum_of_the_others() {
        let subflows = [(50.0, 100), (10.0, 100), (10.0, 100)];
        let mut connection = GreedySender::new("mmptcp", &[], &subflows);
        connection.check_gains(1, 2, &[(Change::Failed, 0.1), (Change::Recovered, 0.025)]);
        // The scattered one was in no sum.
        connection.check_gains(1, 0, &[(Change::Failed, 0.025)]);
    }

    #[test]
    fn the_volume_is_a_parameter() {
        let entry = find("mmptcp").unwrap();
        let scatter = entry.scatter.unwrap();
        assert_eq!(scatter(&entry.defaults()), Bytes::new(100_000));
        let given = [crate::greedy_sender::number("volume", 5.0)];
        assert_eq!(scatter(&entry.parameters(&given).unwrap()), Bytes::new(5));
    }
}
