//! VCP, the Variable-structure congestion Control Protocol (Xia, Subramanian, Stoica, Kalyanaraman,
//! SIGCOMM 2005): switches say in two bits how loaded they are, and senders increase multiplicatively,
//! additively, or decrease.
//!
//! Ports measure, over intervals t_rho, the load factor
//!
//! > rho = (arrived + queue_weight * steady queue) / (target * C * t_rho)
//!
//! in bytes, and raise a data packet's code to their own: low below 80 %, high below 100 %, overload above.
//! With w the window in packets and rtt the sender's smallest RTT, for each acknowledged packet:
//!
//! - low: w <- w + (1 + xi)^(rtt/t_rho) - 1, so by the share xi per t_rho;
//! - high: w <- w + (rtt/t_d)^2 / w, so by (rtt/t_d)^2 packets a round;
//! - overload: w <- beta w, once. Then w holds for t_rho, in which the cut reaches the ports' count; then it
//!   grows as when high, for one smoothed RTT, even if the code still says overload; after that a further overload
//!   cuts again. The other codes count at any time.
//!
//! A flow begins with what the first code says: there is no slow start, after a timeout neither. Losses
//! are Reno's: half of the window, or one packet after a timeout.
//!
//! Rulings:
//!
//! - t_rho is 200 ms in the original, for the Internet. Here it is max(base RTT, t_p): the sender takes its
//!   smallest RTT, ports the longest RTT of the fabric without queues.
//! - t_d, the RTT at which a round adds a packet, is t_rho unless given.
//! - The original goes by the smoothed RTT, which hardly has queues in it over long paths. Here a queue may
//!   be longer than the path, and growth by the square of its delay would keep it full.
//! - Additive increase adds at most a packet for each acknowledged one.
//! - A cut goes no lower than the transport's minimum window; the original's is one packet.
//! - As a cut is followed by an RTT of growth, windows below 1/(1 - beta) = 8 packets do not shrink under a
//!   lasting overload: more flows than the path and a short queue have room for keep a queue. This is VCP's own.
//! - Packets are not paced; the author's code paces small windows over long RTTs.
//!
//! The two bits are those of ECN: packets are no longer, and ports do not mark them.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Load, Loss, Parameter, ParameterKind,
    Parameters, Paths, PerSubflow, Scheme, SubflowId, load_response, loss,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// VCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "vcp",
    summary: "Grows by a share, by a packet, or shrinks, as switches say how loaded they are.",
    source: "Xia et al., One More Bit Is Enough, SIGCOMM 2005",
    file: include_str!("vcp.rs"),
    coupled: false,
    scatter: None,
    scheme: Some(Scheme::Vcp),
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "xi",
            kind: ParameterKind::Number {
                default: 1.0 / 16.0,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share that windows grow by per measuring interval at low load.",
        },
        Parameter {
            name: "beta",
            kind: ParameterKind::Number {
                default: 0.875,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of the window that an overload leaves.",
        },
        load_response::T_P,
        load_response::T_D,
        Parameter {
            name: "target",
            kind: ParameterKind::Number {
                default: 0.98,
                minimum: 0.01,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of a link's rate that ports take for full load.",
        },
        Parameter {
            name: "queue_weight",
            kind: ParameterKind::Number {
                default: 0.5,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of the steady queue that counts as load.",
        },
    ],
    build: |parameters| Box::new(Vcp::new(parameters)),
};

/// What follows a subflow's last cut.
#[derive(Clone, Copy, Debug)]
struct AfterCut {
    /// Until then the window holds.
    hold: Time,
    /// From then on until then it grows additively, and cuts again later.
    grow: Time,
}

#[derive(Clone, Debug)]
struct Vcp {
    xi: f64,
    beta: f64,
    t_p: Time,
    t_d: Option<Time>,
    after_cut: PerSubflow<AfterCut>,
}

impl Vcp {
    fn new(parameters: &Parameters) -> Vcp {
        Vcp {
            xi: parameters.number("xi"),
            beta: parameters.number("beta"),
            t_p: load_response::shortest_interval(parameters),
            t_d: load_response::typical_rtt(parameters),
            after_cut: PerSubflow::new(AfterCut {
                hold: Time::ZERO,
                grow: Time::ZERO,
            }),
        }
    }
}

impl Controller for Vcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let Feedback::Vcp(load) = ack.feedback else {
            return;
        };
        if ack.recovery {
            return;
        }
        let path = &mut paths[r];
        let t_rho = load_response::interval(path, self.t_p);
        let after_cut = self.after_cut.get(r);
        if load == Load::Overload && ack.now >= after_cut.grow {
            loss::cut_to(path, self.beta * path.window);
            after_cut.hold = ack.now + t_rho;
            after_cut.grow = after_cut.hold + path.smoothed_rtt;
            return;
        }
        let holds = load == Load::Overload && ack.now < after_cut.hold;
        if holds || !ack.window_limited {
            return;
        }
        match load {
            Load::Low => load_response::multiply(path, ack.packets, self.xi, t_rho),
            Load::High | Load::Overload => {
                load_response::add(path, ack.packets, self.t_d.unwrap_or(t_rho));
            }
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        loss::respond(&mut paths[r], loss);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.after_cut.restart(r);
        }
    }

    fn on_send(&mut self, _paths: &Paths<'_>, _r: SubflowId, _now: Time) -> Feedback {
        Feedback::Vcp(Load::Low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::loaded_flow::LoadedFlow;

    const R: SubflowId = SubflowId(0);

    type Flow = LoadedFlow<Load>;

    /// A flow of 16 packets.
    fn flow(given: &[(alloc::string::String, Value)]) -> Flow {
        LoadedFlow::new("vcp", 16.0, Feedback::Vcp, given)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn low_load_grows_by_a_sixteenth_an_interval() {
        let mut flow = flow(&[]);
        assert!(near(flow.after(Load::Low, 16, 1000), 17.0));
        // There is no slow start, although ssthresh is infinite.
        assert!(near(flow.after(Load::Low, 1, 1000), 17.0625));
    }

    #[test]
    fn a_short_rtt_grows_by_its_part_of_the_interval() {
        // RTT 50 us, t_rho = t_p = 100 us: (17/16)^(1/2) - 1 a packet.
        let mut flow = flow(&[]);
        flow.paths[0].smoothed_rtt = Time::from_micros(50);
        flow.paths[0].minimum_rtt = Time::from_micros(50);
        let window = flow.after(Load::Low, 16, 1000);
        assert!(near(window, 16.0 * libm::sqrt(1.0625)), "{window}");
    }

    #[test]
    fn high_load_adds_a_packet_a_round() {
        let mut flow = flow(&[]);
        assert!(near(flow.after(Load::High, 1, 1000), 16.0625));
    }

    #[test]
    fn the_typical_rtt_can_be_given() {
        // (200/400)^2 = 1/4 packet a round of 16.
        let mut flow = flow(&[("t_d".into(), Value::Number(0.4))]);
        assert!(near(flow.after(Load::High, 16, 1000), 16.25));
    }

    #[test]
    fn overload_cuts_once_holds_grows_and_cuts_again() {
        let mut flow = flow(&[]);
        assert_eq!(flow.after(Load::Overload, 1, 1000), 14.0);
        assert_eq!(flow.paths[0].ssthresh, 14.0);
        // t_rho: the window holds.
        assert_eq!(flow.after(Load::Overload, 1, 1001), 14.0);
        assert_eq!(flow.after(Load::Overload, 1, 1199), 14.0);
        // One RTT: it grows.
        assert!(near(flow.after(Load::Overload, 14, 1200), 15.0));
        assert!(near(flow.after(Load::Overload, 15, 1399), 16.0));
        assert!(near(flow.after(Load::Overload, 1, 1400), 14.0));
    }

    #[test]
    fn other_codes_count_after_a_cut_at_once() {
        let mut flow = flow(&[]);
        flow.after(Load::Overload, 1, 1000);
        assert!(near(flow.after(Load::High, 14, 1100), 15.0));
        assert!(near(flow.after(Load::Low, 16, 1150), 16.0));
        assert!(near(flow.after(Load::Overload, 1, 1199), 16.0));
    }

    #[test]
    fn a_cut_leaves_the_minimum_window() {
        let mut flow = flow(&[]);
        flow.paths[0].window = 2.1;
        assert_eq!(flow.after(Load::Overload, 1, 1000), 2.0);
    }

    #[test]
    fn recovery_and_unused_windows_neither_grow_nor_miss_a_cut() {
        let mut flow = flow(&[]);
        for load in [Load::Low, Load::High, Load::Overload] {
            assert_eq!(flow.after_ack(load, 1, 1000, true, true), 16.0);
        }
        for load in [Load::Low, Load::High] {
            assert_eq!(flow.after_ack(load, 1, 1000, false, false), 16.0);
        }
        assert_eq!(flow.after_ack(Load::Overload, 1, 1000, false, false), 14.0);
    }

    #[test]
    fn losses_are_reno_s_but_no_slow_start_follows() {
        let mut flow = flow(&[]);
        let lose = |flow: &mut Flow, loss| {
            let mut paths = Paths::new(&mut flow.paths);
            flow.controller.on_loss(&mut paths, R, loss, Time::ZERO);
            flow.paths[0].window
        };
        assert_eq!(lose(&mut flow, Loss::FastRetransmit), 8.0);
        assert_eq!(lose(&mut flow, Loss::Timeout), 1.0);
        assert!(near(flow.after(Load::Low, 1, 1000), 1.0625));
    }

    #[test]
    fn a_subflow_that_opens_again_may_cut() {
        let mut flow = flow(&[]);
        flow.after(Load::Overload, 1, 1000);
        let mut paths = Paths::new(&mut flow.paths);
        flow.controller.on_subflow(&mut paths, R, Change::Closed);
        assert_eq!(flow.after(Load::Overload, 1, 1001), 14.0);
        let mut paths = Paths::new(&mut flow.paths);
        flow.controller.on_subflow(&mut paths, R, Change::Opened);
        assert_eq!(flow.after(Load::Overload, 1, 1001), 12.25);
    }

    #[test]
    fn packets_leave_with_the_lowest_code() {
        let mut flow = flow(&[]);
        let paths = Paths::new(&mut flow.paths);
        let field = flow.controller.on_send(&paths, R, Time::ZERO);
        assert_eq!(field, Feedback::Vcp(Load::Low));
    }
}
