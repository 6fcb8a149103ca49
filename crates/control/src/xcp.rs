//! XCP, the Explicit Control Protocol (Katabi, Handley and Rohrs, SIGCOMM 2002): switches hand out changes
//! of windows. With w the window and s the packet in bytes, rtt the smoothed RTT in seconds:
//!
//! - Every data packet carries w, rtt, and an infinite change that ports lower to what they grant.
//! - Each acknowledgement brings the change for its packet: w <- max(w + change, s).
//! - In fast recovery, on duplicate acknowledgements and while the window is not used, only negative
//!   changes count, as windows do not grow then.
//! - A loss is answered as Reno does: fast retransmit halves the window, a timeout sets one packet.
//! - Packets leave as the window opens, without pacing.
//!
//! Every control interval T each port works out, with C its rate and y that at which bytes came (byte/s),
//! d the mean RTT of its flows, and Q the smallest queue of the interval (bytes):
//!
//!   d = sum(rtt^2 s/w) / sum(rtt s/w)         over the packets of the interval; the next T is d
//!   phi = 0.4 d (C - y) - 0.226 Q             what the flows together may send more, bytes
//!   h = max(0, 0.1 T y - |phi|)               what moves from flow to flow, bytes
//!   xi_p = (h + max(phi, 0)) / (d sum(rtt s/w))
//!   xi_n = (h + max(-phi, 0)) / (d sum(s))
//!
//! and a packet's change is at most xi_p rtt^2 s/w - xi_n rtt s. The first T is the fabric's base RTT;
//! nothing is rounded up to milliseconds. Acknowledgements and packets of other controllers are part of
//! y and nothing else. Before its first RTT sample a sender is granted no change. Nothing bounds what an
//! interval grants in sum: a window that multiplies within one, as the first of a lone flow on a fast link
//! does, gets more than phi, and may overflow a buffer smaller than C d once. No packet by itself is granted
//! a larger increase than all together are meant to get in the intervals since the packet before it of its
//! flow: max(1, (rtt s/w) / T) (h + max(phi, 0)). The paper does not say so: there a window that a timeout
//! has cut is raised by xi_p for the old window, and can grow with each timeout.
//!
//! variant = "ns2" adds what the reference code does:
//!
//! - the coefficients xi are 1.1 times as large;
//! - an interval's budgets, h + max(phi, 0) and h + max(-phi, 0), deplete as packets are granted their
//!   changes, and grant no more than is left; where another port grants less, the difference is charged
//!   to the negative budget. The first positive budget is half the queue's limit, and at most 0.4 T C;
//! - Q is the smallest queue of another interval, max(2 ms, (d - queue/C)/2);
//! - the first intervals are 50 ms, without their random spread;
//! - a new RTT has a share of 0.4 in the smoothed one, instead of 1/8.
//!
//! Left out: the reference sender asks for no increase when what remains of a transfer fits into the
//! window.
//!
//! The header takes 128 bits: data packets are 16 bytes longer.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Loss, Parameter, ParameterKind, Paths,
    PerSubflow, Scheme, SubflowId, loss,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// XCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "xcp",
    summary: "Changes its window by what the switches on the path grant each packet.",
    source: "Katabi, Handley, Rohrs, Congestion control for high bandwidth-delay product networks, 2002",
    file: include_str!("xcp.rs"),
    coupled: false,
    scatter: None,
    scheme: Some(Scheme::Xcp),
    ecn: |_| Ecn::Off,
    parameters: &[Parameter {
        name: "variant",
        kind: ParameterKind::Choice(&["paper", "ns2"]),
        help: "The algorithm as published, or with what the reference code for ns-2 adds.",
    }],
    build: |parameters| match parameters.choice("variant") {
        "ns2" => Box::new(Xcp {
            gain: Some(NS2_GAIN),
            rtts: PerSubflow::new(0.0),
        }),
        _ => Box::new(Xcp {
            gain: None,
            rtts: PerSubflow::new(0.0),
        }),
    },
};

/// Share of a new RTT in the smoothed one of the reference code.
const NS2_GAIN: f64 = 0.4;

#[derive(Clone, Debug)]
struct Xcp {
    /// Share of a new RTT in an estimate of its own; without, the transport's estimate is told.
    gain: Option<f64>,
    /// That estimate, in seconds; zero before the first sample.
    rtts: PerSubflow<f64>,
}

impl Controller for Xcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if let (Some(gain), Some(sample)) = (self.gain, ack.rtt) {
            let rtt = self.rtts.get(r);
            let share = if *rtt > 0.0 { gain } else { 1.0 };
            *rtt += share * (sample.as_secs_f64() - *rtt);
        }
        if let Feedback::Xcp { change, .. } = ack.feedback
            && change.is_finite()
            && (change < 0.0 || ack.lets_window_grow())
        {
            let path = &mut paths[r];
            let packets = f64::from(change) / path.packet.get() as f64;
            path.window = (path.window + packets).max(1.0);
            path.ssthresh = path.window;
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        loss::respond(&mut paths[r], loss);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.rtts.restart(r);
        }
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, _now: Time) -> Feedback {
        let path = &paths[r];
        let own = *self.rtts.get(r);
        let rtt = if own > 0.0 { own } else { path.rtt_seconds() };
        Feedback::Xcp {
            window: (path.window * path.packet.get() as f64) as f32,
            rtt: rtt as f32,
            change: f32::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathState;
    use crate::greedy_sender::text;
    use crate::{Path, find};
    use proptest::prelude::*;

    const R: SubflowId = SubflowId(0);

    fn path() -> Path {
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_micros(100);
        path.state = PathState::Active;
        path
    }

    /// An acknowledgement that brings a change in bytes.
    fn ack(change: f32) -> Ack {
        Ack {
            now: Time::from_millis(1),
            packets: 1,
            ce: 0,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: Feedback::Xcp {
                window: 15000.0,
                rtt: 1e-4,
                change,
            },
        }
    }

    fn controller(variant: &str) -> Box<dyn Controller> {
        let entry = find("xcp").expect("in the registry");
        let parameters = entry.parameters(&[text("variant", variant)]);
        (entry.build)(&parameters.expect("a variant"))
    }

    fn rtt_told(controller: &mut dyn Controller, paths: &Paths<'_>) -> f32 {
        match controller.on_send(paths, R, Time::ZERO) {
            Feedback::Xcp { rtt, .. } => rtt,
            _ => f32::NAN,
        }
    }

    #[test]
    fn the_window_changes_by_the_bytes_that_came_back() {
        let (mut controller, mut list) = (controller("paper"), [path()]);
        let mut paths = Paths::new(&mut list);
        controller.on_ack(&mut paths, R, &ack(3000.0));
        assert_eq!(paths[R].window, 12.0);
        controller.on_ack(&mut paths, R, &ack(-750.0));
        assert_eq!(paths[R].window, 11.5);
        controller.on_ack(&mut paths, R, &ack(-1e9));
        assert_eq!(paths[R].window, 1.0);
        assert_eq!(paths[R].pacing_rate, None);
    }

    #[test]
    fn a_field_that_no_port_has_changed_changes_nothing() {
        let (mut controller, mut list) = (controller("paper"), [path()]);
        let mut paths = Paths::new(&mut list);
        controller.on_ack(&mut paths, R, &ack(f32::INFINITY));
        assert_eq!(paths[R].window, 10.0);
    }

    #[test]
    fn windows_shrink_but_do_not_grow_in_recovery_or_unused() {
        for (recovery, window_limited) in [(true, true), (false, false)] {
            let (mut controller, mut list) = (controller("paper"), [path()]);
            let mut paths = Paths::new(&mut list);
            let brings = |change| Ack {
                recovery,
                window_limited,
                ..ack(change)
            };
            controller.on_ack(&mut paths, R, &brings(1500.0));
            assert_eq!(paths[R].window, 10.0);
            controller.on_ack(&mut paths, R, &brings(-1500.0));
            assert_eq!(paths[R].window, 9.0);
        }
    }

    #[test]
    fn losses_are_answered_as_reno_does() {
        let (mut controller, mut list) = (controller("paper"), [path()]);
        let mut paths = Paths::new(&mut list);
        controller.on_loss(&mut paths, R, Loss::FastRetransmit, Time::ZERO);
        assert_eq!(paths[R].window, 5.0);
        controller.on_loss(&mut paths, R, Loss::Timeout, Time::ZERO);
        assert_eq!(paths[R].window, 1.0);
    }

    #[test]
    fn packets_tell_the_window_in_bytes_and_the_rtt_and_ask_for_all() {
        let (mut controller, mut list) = (controller("paper"), [path()]);
        let paths = Paths::new(&mut list);
        let told = controller.on_send(&paths, R, Time::ZERO);
        let expected = Feedback::Xcp {
            window: 15000.0,
            rtt: 1e-4,
            change: f32::INFINITY,
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn the_reference_code_smooths_rtts_by_two_fifths() {
        let (mut controller, mut list) = (controller("ns2"), [path()]);
        let mut paths = Paths::new(&mut list);
        assert_eq!(rtt_told(&mut *controller, &paths), 1e-4);
        // 200 us at first, then 0.6 x 200 us + 0.4 x 300 us.
        for (sample, expected) in [(200, 200e-6), (300, 240e-6)] {
            let sampled = Ack {
                rtt: Some(Time::from_micros(sample)),
                ..ack(0.0)
            };
            controller.on_ack(&mut paths, R, &sampled);
            let told = rtt_told(&mut *controller, &paths);
            assert!((told - expected).abs() < 1e-9, "{told}");
        }
        controller.on_subflow(&mut paths, R, Change::Opened);
        assert_eq!(rtt_told(&mut *controller, &paths), 1e-4);
    }

    proptest! {
        #[test]
        fn windows_stay_finite_and_at_least_one_packet(
            changes in prop::collection::vec(
                prop_oneof![-1e7_f32..1e7, Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(f32::NAN)],
                1..200,
            ),
            losses in prop::collection::vec(0..4_u8, 200),
        ) {
            for variant in ["paper", "ns2"] {
                let (mut controller, mut list) = (controller(variant), [path()]);
                let mut paths = Paths::new(&mut list);
                for (&change, loss) in changes.iter().zip(&losses) {
                    controller.on_ack(&mut paths, R, &ack(change));
                    match loss {
                        0 => controller.on_loss(&mut paths, R, Loss::FastRetransmit, Time::ZERO),
                        1 => controller.on_loss(&mut paths, R, Loss::Timeout, Time::ZERO),
                        _ => {}
                    }
                    prop_assert!(paths[R].window.is_finite() && paths[R].window >= 1.0);
                }
            }
        }
    }
}
