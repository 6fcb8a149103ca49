//! RCP, the Rate Control Protocol (Dukkipati, PhD thesis, Stanford 2008): switches hand out one rate for
//! all flows of a port, and senders follow the smallest on their path.
//!
//! - Every data packet carries an infinite rate and the sender's RTT; each port lowers the rate to its
//!   own R (the equation stands with the ports).
//! - The sender paces its packets at the rate that the latest acknowledgement brought. The window is
//!   what the rate fills in two smoothed RTTs, so that the pace limits, and at least the minimum.
//! - Before the first acknowledgement it paces the initial window over the RTT of the handshake, where
//!   there was one.
//! - A loss changes nothing: the ports' queues are in the equation. A timeout sets one packet, until the
//!   next acknowledgement.
//!
//! The header takes 96 bits: data packets are 12 bytes longer.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Loss, Path, Paths, Scheme, SubflowId, loss,
};
use alloc::boxed::Box;
use pathweave_units::{Rate, Time};

/// RCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "rcp",
    summary: "Paces at the smallest rate that the switches on the path offer.",
    source: "Dukkipati, Rate Control Protocol, 2008",
    file: include_str!("rcp.rs"),
    coupled: false,
    scatter: None,
    scheme: Some(Scheme::Rcp),
    ecn: |_| Ecn::Off,
    parameters: &[],
    build: |_| Box::new(Rcp),
};

#[derive(Clone, Debug)]
struct Rcp;

/// RTTs that the window lets the rate go on for without acknowledgements.
const WINDOW_RTTS: f64 = 2.0;

fn follow(path: &mut Path, bits_per_second: f64) {
    path.pacing_rate = Some(Rate::from_bps(bits_per_second.max(1.0) as u64));
    let packet_bits = 8.0 * path.packet.get() as f64;
    let packets = WINDOW_RTTS * bits_per_second * path.rtt_seconds() / packet_bits;
    path.window = packets.max(path.minimum_window);
    path.ssthresh = path.window;
}

impl Controller for Rcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if let Feedback::Rcp { rate, .. } = ack.feedback
            && rate.is_finite()
        {
            follow(&mut paths[r], f64::from(rate));
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        if loss.restarts() {
            paths[r].window = loss::first_window(&paths[r], loss);
        }
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        let path = &mut paths[r];
        if change.begins() && path.has_rtt() {
            let bits = 8.0 * path.window * path.packet.get() as f64;
            path.pacing_rate = Some(Rate::from_bps((bits / path.rtt_seconds()) as u64));
        }
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, _now: Time) -> Feedback {
        Feedback::Rcp {
            rate: f32::INFINITY,
            rtt: paths[r].rtt_seconds() as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathState, find};

    fn path() -> Path {
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_micros(120);
        path.state = PathState::Active;
        path
    }

    fn ack(rate: f32) -> Ack {
        Ack {
            now: Time::from_millis(1),
            packets: 1,
            ce: 0,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: Feedback::Rcp { rate, rtt: 0.0 },
        }
    }

    fn controller() -> Box<dyn Controller> {
        let entry = find("rcp").expect("in the registry");
        (entry.build)(&entry.defaults())
    }

    #[test]
    fn the_pace_is_the_rate_that_came_back() {
        let (mut controller, mut list) = (controller(), [path()]);
        let mut paths = Paths::new(&mut list);
        controller.on_ack(&mut paths, SubflowId(0), &ack(1e9));
        assert_eq!(paths[SubflowId(0)].pacing_rate, Some(Rate::from_gbps(1)));
        // 1 Gbps fills 10 packets of 1500 bytes in 120 us.
        assert!((paths[SubflowId(0)].window - 20.0).abs() < 1e-9);
        controller.on_ack(&mut paths, SubflowId(0), &ack(1e6));
        assert_eq!(paths[SubflowId(0)].window, 2.0);
    }

    #[test]
    fn only_a_timeout_closes_the_window() {
        let (mut controller, mut list) = (controller(), [path()]);
        let mut paths = Paths::new(&mut list);
        let r = SubflowId(0);
        controller.on_loss(&mut paths, r, Loss::FastRetransmit, Time::ZERO);
        assert_eq!(paths[r].window, 10.0);
        controller.on_loss(&mut paths, r, Loss::Timeout, Time::ZERO);
        assert_eq!(paths[r].window, 1.0);
    }

    #[test]
    fn packets_ask_for_all_and_tell_the_rtt() {
        let (mut controller, mut list) = (controller(), [path()]);
        let paths = Paths::new(&mut list);
        let Feedback::Rcp { rate, rtt } = controller.on_send(&paths, SubflowId(0), Time::ZERO)
        else {
            panic!("another scheme's field");
        };
        assert_eq!((rate, rtt), (f32::INFINITY, 120e-6));
    }

    #[test]
    fn the_initial_window_is_paced_over_the_handshake_s_rtt() {
        let (mut controller, mut list) = (controller(), [path()]);
        let mut paths = Paths::new(&mut list);
        controller.on_subflow(&mut paths, SubflowId(0), Change::Opened);
        assert_eq!(paths[SubflowId(0)].pacing_rate, Some(Rate::from_gbps(1)));
    }

    #[test]
    fn without_an_rtt_there_is_no_pace() {
        let (mut controller, mut list) = (controller(), [Path::new(10.0, 2.0, f64::INFINITY)]);
        let mut paths = Paths::new(&mut list);
        controller.on_subflow(&mut paths, SubflowId(0), Change::Opened);
        assert_eq!(paths[SubflowId(0)].pacing_rate, None);
        list = [path()];
        let mut paths = Paths::new(&mut list);
        controller.on_subflow(&mut paths, SubflowId(0), Change::Closed);
        assert_eq!(paths[SubflowId(0)].pacing_rate, None);
    }
}
