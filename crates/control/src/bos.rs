//! BOS, buffer occupancy suppression: the single-path half of XMP (section 2.1 of its paper).
//!
//! With w the congestion window in packets, on each subflow by itself, and delta = 1 packet:
//!
//! - once a round, in state NORMAL and congestion avoidance: adder += delta; the whole packets of adder
//!   move to w;
//! - slow start, in state NORMAL: +1 for each packet that an acknowledgement without marks
//!   acknowledges;
//! - a mark in state NORMAL: the state becomes REDUCED until the packets in flight have been
//!   acknowledged; in congestion avoidance w <- w - max(w / beta, 1); then in either case
//!   w <- max(w, minimum window), ssthresh = w - 1, so a mark ends slow start without costing window;
//! - fast retransmit: w is halved and the state becomes REDUCED; timeout: as Reno, and the state
//!   becomes NORMAL.
//!
//! The mark comes first when an acknowledgement both carries a mark and ends REDUCED: that mark was
//! caused before the cut. A loss while REDUCED by a mark halves the window from before that
//! mark's cut: one cut a round is enough.
//!
//! `variant = "paper"` has w and w / beta as real numbers, cut as written. `variant = "kernel"` has
//! integers, as the published kernel code: w / beta and w / 2 lose their fractions.
//!
//! At w = ssthresh the paper has slow start, and this crate congestion avoidance: see
//! [`Path::in_slow_start`]. Only a loss leads there.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Parameters, Path, Paths,
    PerSubflow, Round, SubflowId, loss, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// BOS in the registry.
pub const ENTRY: Entry = Entry {
    name: "bos",
    summary: "Adds a packet a round and cuts by a constant share on a marked round.",
    source: "XMP, CoNEXT 2013, section 2.1",
    file: include_str!("bos.rs"),
    coupled: false,
    scatter: None,
    scheme: None,
    ecn: |_| ECN,
    parameters: PARAMETERS,
    build: |parameters| {
        Box::new(Bos {
            rules: Rules::new(parameters),
            subflows: PerSubflow::new(Subflow::FRESH),
        })
    },
};

/// Two header bits carry the number of marks.
pub const ECN: Ecn = Ecn::Count { limit: 3 };

/// What BOS and XMP let a scenario set.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "beta",
        kind: ParameterKind::Number {
            default: 4.0,
            minimum: 2.0,
            maximum: 1024.0,
            integer: true,
        },
        help: "A marked round costs 1/beta of the window.",
    },
    Parameter {
        name: "variant",
        kind: ParameterKind::Choice(&["paper", "kernel"]),
        help: "Windows and cuts as real numbers (paper) or as integers (kernel).",
    },
];

/// How windows are cut.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    beta: f64,
    integers: bool,
}

impl Rules {
    /// From the values of [`PARAMETERS`].
    pub fn new(parameters: &Parameters) -> Rules {
        Rules {
            beta: parameters.number("beta"),
            integers: parameters.choice("variant") == "kernel",
        }
    }

    fn quotient(&self, window: f64, divisor: f64) -> f64 {
        if self.integers {
            libm::floor(window / divisor)
        } else {
            window / divisor
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Normal,
    /// Until the acknowledgement reaches `cwr_seq`; `window_before` is what a loss would halve.
    Reduced {
        cwr_seq: u64,
        window_before: f64,
    },
}

/// What BOS remembers of a subflow. XMP differs only in delta.
#[derive(Clone, Copy, Debug)]
pub struct Subflow {
    round: Round,
    adder: f64,
    state: State,
}

impl Subflow {
    /// A subflow that has just opened.
    pub const FRESH: Subflow = Subflow {
        round: Round::STARTING,
        adder: 0.0,
        state: State::Normal,
    };

    // The following are the parts of the paper's Algorithm 1, in its order. Both BOS and XMP play them at each
    // acknowledgement: `at_marks` first, then, if `round_is_over`, `per_round`, then `per_ack`.

    /// "ack > beg_seq": whether the acknowledgement ends a round.
    #[inline]
    pub fn round_is_over(&self, path: &Path) -> bool {
        self.round.is_over(path)
    }

    /// The operations of each round: congestion avoidance adds `delta` packets, and the next round begins.
    #[inline]
    pub fn per_round(&mut self, path: &mut Path, ack: &Ack, delta: f64) {
        if matches!(self.state, State::Normal) && !path.in_slow_start() && ack.lets_window_grow() {
            self.adder += delta;
            let whole = libm::floor(self.adder);
            path.window += whole;
            self.adder -= whole;
        }
        self.round = Round::beginning(path);
    }

    /// The operations of each acknowledgement: slow start, and the way back to NORMAL.
    #[inline]
    pub fn per_ack(&mut self, path: &mut Path, ack: &Ack) {
        match self.state {
            State::Normal if ack.lets_window_grow() => {
                // What is left is congestion avoidance's, and that waits for the end of a round.
                let _ = slow_start::grow(path, ack.packets);
            }
            State::Normal => {}
            State::Reduced { cwr_seq, .. } => {
                if path.acked >= cwr_seq {
                    self.state = State::Normal;
                }
            }
        }
    }

    /// The operations at marks: REDUCED, a cut in congestion avoidance, and no slow start after it.
    #[inline]
    pub fn at_marks(&mut self, path: &mut Path, ack: &Ack, rules: &Rules) {
        if ack.ce == 0 || !matches!(self.state, State::Normal) {
            return;
        }
        self.state = State::Reduced {
            cwr_seq: path.sent,
            window_before: path.window,
        };
        if !path.in_slow_start() {
            let cut = rules.quotient(path.window, rules.beta).max(1.0);
            path.window -= cut;
        }
        // A window of one packet, a subflow's first or that after a timeout, ends slow start larger.
        path.window = path.window.max(path.minimum_window);
        path.ssthresh = (path.window - 1.0).max(1.0);
    }

    /// Packets have another size: the window before a cut is `factor` times as many.
    pub fn rescale(&mut self, factor: f64) {
        if let State::Reduced { window_before, .. } = &mut self.state {
            *window_before *= factor;
        }
    }

    /// The common response to a loss.
    pub fn on_loss(&mut self, path: &mut Path, loss: Loss, rules: &Rules) {
        let window = match self.state {
            State::Normal => path.window,
            State::Reduced { window_before, .. } => {
                path.window.max(window_before.min(path.loss_limit))
            }
        };
        loss::respond_from(path, loss, window);
        if rules.integers {
            path.window = libm::floor(path.window);
            path.ssthresh = libm::floor(path.ssthresh);
        }
        self.state = match loss {
            Loss::FastRetransmit => State::Reduced {
                cwr_seq: path.sent,
                window_before: path.window,
            },
            // In state REDUCED there would be no slow start.
            Loss::Timeout | Loss::PersistentCongestion => State::Normal,
        };
    }
}

#[derive(Clone, Debug)]
struct Bos {
    rules: Rules,
    subflows: PerSubflow<Subflow>,
}

impl Controller for Bos {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        let subflow = self.subflows.get(r);
        subflow.at_marks(path, ack, &self.rules);
        if subflow.round_is_over(path) {
            subflow.per_round(path, ack, 1.0);
        }
        subflow.per_ack(path, ack);
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let subflow = self.subflows.get(r);
        subflow.on_loss(&mut paths[r], loss, &self.rules);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.subflows.get(r).rescale(factor);
    }

    fn restart(&mut self) -> bool {
        self.subflows.forget();
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Ecn, Loss, find};

    fn bos(window: f64) -> GreedySender {
        GreedySender::new("bos", &[], &[(window, 100)])
    }

    fn kernel(window: f64) -> GreedySender {
        GreedySender::new("bos", &[text("variant", "kernel")], &[(window, 100)])
    }

    #[test]
    fn a_round_adds_a_packet_at_its_end() {
        let mut connection = bos(10.0);
        connection.ack(0, 1, 0); // ends the round in which nothing was sent
        assert_eq!(connection.window(0), 11.0);
        for window in [11.0, 12.0, 13.0] {
            // One packet less was in flight when the round began: it ends with the packet after.
            for _ in 0..window as u32 - 2 {
                connection.ack(0, 1, 0);
                assert_eq!(connection.window(0), window);
            }
            connection.ack(0, 1, 0);
            assert_eq!(connection.window(0), window + 1.0);
        }
    }

    #[test]
    fn slow_start_adds_a_packet_for_each_clean_one() {
        let mut connection = bos(10.0);
        connection.paths[0].ssthresh = 14.5;
        connection.ack(0, 2, 0);
        assert_eq!(connection.window(0), 12.0);
        connection.ack(0, 9, 0);
        assert_eq!(
            connection.window(0),
            15.0,
            "congestion avoidance waits for the round's end"
        );
    }

    #[test]
    fn a_mark_ends_slow_start_without_a_cut() {
        let mut connection = bos(10.0);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 9.0));
        for _ in 0..8 {
            connection.ack(0, 1, 1);
            assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 9.0));
        }
    }

    #[test]
    fn a_mark_that_ends_slow_start_at_one_packet_leaves_the_minimum_window() {
        let mut connection = bos(1.0);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (2.0, 1.0));
        let mut connection = bos(20.0);
        connection.loss(0, Loss::Timeout);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (2.0, 1.0));
    }

    #[test]
    fn a_mark_in_congestion_avoidance_cuts_by_one_over_beta() {
        for (window, beta, reduced) in [
            (20.0, 4.0, 15.0),
            (21.0, 4.0, 15.75),
            (20.0, 2.0, 10.0),
            (3.5, 4.0, 2.5), // at least one packet
            (2.5, 4.0, 2.0), // but not below the minimum window
            (2.0, 4.0, 2.0),
            (1.0, 4.0, 2.0),
        ] {
            let mut connection =
                GreedySender::new("bos", &[number("beta", beta)], &[(window, 100)]);
            connection.ack(0, 1, 1);
            assert_eq!(connection.window(0), reduced);
            assert_eq!(connection.ssthresh(0), (reduced - 1.0).max(1.0));
        }
    }

    #[test]
    fn the_kernel_has_integers() {
        let mut connection = kernel(23.0);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (18.0, 17.0));
        let mut connection = kernel(7.0);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 6.0);
        let mut connection = kernel(15.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (7.0, 7.0));
        let mut connection = kernel(15.0);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 7.0));
        let mut connection = bos(15.0);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 7.5));
    }

    #[test]
    fn marks_and_growth_wait_while_reduced() {
        let mut connection = bos(20.0);
        connection.ack(0, 1, 1); // packet 0; packets up to 19 are in flight
        assert_eq!(connection.window(0), 15.0);
        for _ in 0..19 {
            // Packet 19 takes the state back to NORMAL, after its own mark was ignored.
            connection.ack(0, 1, 1);
            assert_eq!((connection.window(0), connection.ssthresh(0)), (15.0, 14.0));
        }
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 11.25);
    }

    #[test]
    fn growth_goes_on_after_a_reduced_round() {
        let mut connection = bos(20.0);
        connection.ack(0, 1, 1);
        for _ in 0..19 {
            connection.ack(0, 1, 0);
        }
        assert_eq!(connection.window(0), 15.0);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 16.0);
    }

    #[test]
    fn no_growth_when_recovering_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            for ssthresh in [1.0, 100.0] {
                let mut connection = bos(10.0);
                connection.paths[0].ssthresh = ssthresh;
                connection.ack_as(0, 1, 0, recovery, limited);
                assert_eq!(connection.window(0), 10.0);
            }
        }
    }

    #[test]
    fn a_loss_halves_and_reduces() {
        let mut connection = bos(20.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 10.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.0, "the round has been cut");
    }

    #[test]
    fn a_loss_deepens_the_cut_of_a_mark() {
        let mut connection = bos(20.0);
        connection.ack(0, 1, 1);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(
            connection.window(0),
            5.0,
            "a second loss is halved by itself"
        );
    }

    #[test]
    fn slow_start_follows_a_timeout_at_once() {
        let mut connection = bos(20.0);
        connection.ack(0, 1, 1);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 10.0));
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 2.0);
    }

    #[test]
    fn a_subflow_that_opens_again_starts_afresh() {
        let mut connection = bos(20.0);
        connection.ack(0, 1, 1);
        connection.change(0, Change::Closed);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 15.0, "the round has been cut");
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 11.25);
    }

    /// The mean window when a share `p` of the rounds is marked, at random.
    fn mean_window(beta: f64, p: f64) -> f64 {
        let mut connection = GreedySender::new("bos", &[number("beta", beta)], &[(20.0, 100)]);
        let (mut random, mut sum, mut rounds) = (1_u64, 0.0, 0.0);
        for round in 0..40_000 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let marked = ((random >> 33) as f64) < p * (1_u64 << 31) as f64;
            connection.round(0, marked);
            if round >= 1000 {
                sum += connection.window(0);
                rounds += 1.0;
            }
        }
        sum / rounds
    }

    /// What a round changes the window by on average, where a share `p` of the rounds is marked.
    fn mean_change(beta: f64, window: f64, p: f64) -> f64 {
        let after = |marked| {
            let mut connection =
                GreedySender::new("bos", &[number("beta", beta)], &[(window, 100)]);
            connection.round(0, false); // of the packets that were in flight at first
            connection.paths[0].window = window;
            connection.round(0, marked);
            connection.window(0)
        };
        (1.0 - p) * after(false) + p * after(true) - window
    }

    /// Equation 2 of the XMP paper, times the round: (1 - p) delta - p w / beta, away from equilibrium as well.
    #[test]
    fn a_round_changes_the_window_as_in_the_fluid_model() {
        for beta in [4.0, 5.0, 6.0] {
            for window in [12.0, 30.0, 60.0] {
                for p in [0.0, 0.05, 0.3, 1.0] {
                    let expected = (1.0 - p) - p * window / beta;
                    let change = mean_change(beta, window, p);
                    assert!(
                        (change - expected).abs() < 1e-9,
                        "{beta} {window} {p}: {change}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_equilibrium_is_where_growth_and_cuts_balance() {
        // p = 1 / (1 + w / (delta beta)) with delta = 1.
        for (beta, p) in [(4.0, 0.1), (4.0, 0.05), (6.0, 0.2)] {
            let window = mean_window(beta, p);
            let expected = 1.0 / (1.0 + window / beta);
            assert!(
                near(p, expected, 0.04),
                "beta {beta}: window {window}, {expected} != {p}"
            );
        }
    }

    #[test]
    fn two_header_bits_carry_the_marks() {
        let entry = find("bos").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Count { limit: 3 });
    }
}
