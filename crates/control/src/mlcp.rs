//! MLCP, the Multi-Level feedback Congestion control Protocol (Qazi, Znati, INFOCOM 2008): VCP with more
//! levels of load.
//!
//! Ports measure, over intervals t_rho, the load factor
//!
//! > rho = (arrived + queue_weight * steady queue) / (target * C * t_rho)
//!
//! in bytes, and raise a data packet's level to their own, one of 16. With w the window in packets and rtt
//! the sender's smallest RTT, for each acknowledged packet:
//!
//! - below 80 %: w <- w + (1 + xi)^(rtt/t_rho) - 1 with xi = kappa (1 - rho)/rho;
//! - from 80 to 100 %: w <- w + (rtt/t_d)^2 / w, so by (rtt/t_d)^2 packets a round;
//! - above: w <- m w, with m from 0.99 at the first level above, in equal steps, to 0.5 at the last.
//!
//! A flow begins with what the first level says: there is no slow start, after a timeout neither. Losses
//! are Reno's: half of the window, or one packet after a timeout.
//!
//! Rulings, as no code of it was found published:
//!
//! - Level k, from 0 to 15, is a load of k/10 up to (k + 1)/10, the last has no end. A sender takes it for its
//!   upper end. The class of the sender's RTT, one of 8 that double from t_p on, is carried and not read:
//!   a fabric's ports know the RTT.
//! - t_rho is max(base RTT, t_p), as for VCP: the sender takes its smallest RTT, ports the longest RTT of
//!   the fabric without queues. t_p = 0.1 ms is what the DECN paper gives it.
//! - t_d, the RTT at which a round adds a packet, is t_rho unless given.
//! - After a cut, levels above 100 % change nothing for t_rho and a smoothed RTT, until they can tell of the cut.
//!   Lower ones count at any time.
//! - Additive increase adds at most a packet for each acknowledged one.
//! - A cut goes no lower than the transport's minimum window.
//! - target = 0.95 and queue_weight = 0.75.
//!
//! The header takes 7 bits: data packets are a byte longer.

use crate::mlcp_coding::{HIGH, HIGHEST_LEVEL, OVERLOAD, load, rtt_class};
use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Loss, Parameter, ParameterKind, Parameters,
    Paths, PerSubflow, Scheme, SubflowId, load_response, loss,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// MLCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "mlcp",
    summary: "Grows and shrinks by how loaded switches say they are, in 16 levels.",
    source: "Qazi, Znati, On the Design of Load Factor Based Congestion Control Protocols, INFOCOM 2008",
    file: include_str!("mlcp.rs"),
    coupled: false,
    scatter: None,
    scheme: Some(Scheme::Mlcp),
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "kappa",
            kind: ParameterKind::Number {
                default: 0.35,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of the way to full load that windows grow by per measuring interval below 80 %.",
        },
        load_response::T_P,
        load_response::T_D,
        Parameter {
            name: "target",
            kind: ParameterKind::Number {
                default: 0.95,
                minimum: 0.01,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of a link's rate that ports take for full load.",
        },
        Parameter {
            name: "queue_weight",
            kind: ParameterKind::Number {
                default: 0.75,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of the steady queue that counts as load.",
        },
    ],
    build: |parameters| Box::new(Mlcp::new(parameters)),
};

/// What the first level above 100 % leaves of a window, and the last.
const LEFT: [f64; 2] = [0.99, 0.5];

/// m: what a level of overload leaves of the window, as a share.
fn left_by(level: u8) -> f64 {
    let part = f64::from(level - OVERLOAD) / f64::from(HIGHEST_LEVEL - OVERLOAD);
    LEFT[0] + part * (LEFT[1] - LEFT[0])
}

#[derive(Clone, Debug)]
struct Mlcp {
    kappa: f64,
    t_p: Time,
    t_d: Option<Time>,
    /// Until when overload changes nothing.
    hold: PerSubflow<Time>,
}

impl Mlcp {
    fn new(parameters: &Parameters) -> Mlcp {
        Mlcp {
            kappa: parameters.number("kappa"),
            t_p: load_response::shortest_interval(parameters),
            t_d: load_response::typical_rtt(parameters),
            hold: PerSubflow::new(Time::ZERO),
        }
    }
}

impl Controller for Mlcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let Feedback::Mlcp { load: level, .. } = ack.feedback else {
            return;
        };
        if ack.recovery {
            return;
        }
        let path = &mut paths[r];
        let t_rho = load_response::interval(path, self.t_p);
        if level >= OVERLOAD {
            let hold = self.hold.get(r);
            if ack.now >= *hold {
                loss::cut_to(path, left_by(level.min(HIGHEST_LEVEL)) * path.window);
                *hold = ack.now + t_rho + path.smoothed_rtt;
            }
        } else if !ack.window_limited {
            // A window that is not used does not grow.
        } else if level >= HIGH {
            load_response::add(path, ack.packets, self.t_d.unwrap_or(t_rho));
        } else {
            let rho = load(level);
            let xi = self.kappa * (1.0 - rho) / rho;
            load_response::multiply(path, ack.packets, xi, t_rho);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        loss::respond(&mut paths[r], loss);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.hold.restart(r);
        }
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, _now: Time) -> Feedback {
        Feedback::Mlcp {
            load: 0,
            rtt: rtt_class(paths[r].smoothed_rtt, self.t_p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::loaded_flow::LoadedFlow;

    const R: SubflowId = SubflowId(0);

    type Flow = LoadedFlow<u8>;

    /// A flow of 20 packets.
    fn flow(given: &[(alloc::string::String, Value)]) -> Flow {
        LoadedFlow::new("mlcp", 20.0, |load| Feedback::Mlcp { load, rtt: 0 }, given)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn low_load_grows_by_what_is_free() {
        // Level 4 stands for 0.5: xi = 0.35.
        assert!(near(flow(&[]).after(4, 20, 1000), 27.0));
        // Level 7 stands for 0.8: xi = 0.35/4.
        assert!(near(flow(&[]).after(7, 20, 1000), 21.75));
        // Level 0 stands for 0.1: xi = 0.35 times 9.
        assert!(near(flow(&[]).after(0, 20, 1000), 83.0));
    }

    #[test]
    fn high_load_adds_a_packet_a_round() {
        for level in [8, 9] {
            assert!(near(flow(&[]).after(level, 20, 1000), 21.0));
        }
    }

    #[test]
    fn the_typical_rtt_can_be_given() {
        // (200/100)^2 = 4 packets a round of 20.
        let mut flow = flow(&[("t_d".into(), Value::Number(0.1))]);
        assert!(near(flow.after(9, 20, 1000), 24.0));
    }

    #[test]
    fn overload_cuts_the_deeper_the_higher() {
        for (level, expected) in [
            (10, 19.8),
            (11, 17.84),
            (14, 11.96),
            (15, 10.0),
            (255, 10.0),
        ] {
            let window = flow(&[]).after(level, 1, 1000);
            assert!(near(window, expected), "{level}: {window}");
        }
    }

    #[test]
    fn a_cut_is_not_repeated_before_it_can_be_seen() {
        let mut flow = flow(&[]);
        assert_eq!(flow.after(15, 1, 1000), 10.0);
        assert_eq!(flow.after(15, 1, 1399), 10.0);
        assert!(near(flow.after(9, 10, 1399), 11.0), "lower levels count");
        assert!(near(flow.after(15, 1, 1400), 5.5));
    }

    #[test]
    fn recovery_and_unused_windows_neither_grow_nor_miss_a_cut() {
        let mut flow = flow(&[]);
        for level in [0, 8, 15] {
            assert_eq!(flow.after_ack(level, 1, 1000, true, true), 20.0);
        }
        for level in [0, 8] {
            assert_eq!(flow.after_ack(level, 1, 1000, false, false), 20.0);
        }
        assert_eq!(flow.after_ack(15, 1, 1000, false, false), 10.0);
    }

    #[test]
    fn losses_are_reno_s_but_no_slow_start_follows() {
        let mut flow = flow(&[]);
        let lose = |flow: &mut Flow, loss| {
            let mut paths = Paths::new(&mut flow.paths);
            flow.controller.on_loss(&mut paths, R, loss, Time::ZERO);
            flow.paths[0].window
        };
        assert_eq!(lose(&mut flow, Loss::FastRetransmit), 10.0);
        assert_eq!(lose(&mut flow, Loss::Timeout), 1.0);
        assert!(near(flow.after(4, 1, 1000), 1.35));
    }

    #[test]
    fn a_subflow_that_opens_again_may_cut() {
        let mut flow = flow(&[]);
        flow.after(15, 1, 1000);
        let mut paths = Paths::new(&mut flow.paths);
        flow.controller.on_subflow(&mut paths, R, Change::Opened);
        assert_eq!(flow.after(15, 1, 1001), 5.0);
    }

    #[test]
    fn packets_leave_with_the_lowest_level_and_tell_the_rtt() {
        let mut flow = flow(&[]);
        let paths = Paths::new(&mut flow.paths);
        let field = flow.controller.on_send(&paths, R, Time::ZERO);
        assert_eq!(field, Feedback::Mlcp { load: 0, rtt: 2 });
    }
}
