//! What happens to one flow at its source, for whoever debugs a controller.

use pathweave_control::PathState;
use pathweave_transport::SendingView;
use pathweave_units::Time;
use std::fmt;

/// A change at the source of a flow that is watched: a packet has arrived there, or a timer has expired.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEvent {
    /// When.
    pub at: Time,
    /// The subflow's number in its flow.
    pub subflow: u32,
    /// How the subflow was before.
    before: SubflowNow,
    /// How it is since.
    now: SubflowNow,
}

/// What an event can change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SubflowNow {
    window: f64,
    ssthresh: f64,
    latest_rtt: Time,
    state: PathState,
    suspended: bool,
    in_recovery: bool,
    in_flight: u32,
    sent: u64,
    acked: u64,
    retransmits: u64,
    timeouts: u64,
    probes: u64,
    marks: u64,
    rtt_samples: u64,
}

impl SubflowNow {
    pub fn of(view: &SendingView<'_>) -> SubflowNow {
        SubflowNow {
            window: view.path.window,
            ssthresh: view.path.ssthresh,
            latest_rtt: view.path.latest_rtt,
            state: view.path.state,
            suspended: view.path.state.is_open() && !view.path.may_send,
            in_recovery: view.path.in_recovery,
            in_flight: view.path.in_flight,
            sent: view.path.sent,
            acked: view.path.acked,
            retransmits: view.retransmits,
            timeouts: view.timeouts,
            probes: view.probes,
            marks: view.marks,
            rtt_samples: view.rtts.samples(),
        }
    }
}

impl FlowEvent {
    pub(crate) fn new(at: Time, subflow: u32, before: SubflowNow, now: SubflowNow) -> FlowEvent {
        FlowEvent {
            at,
            subflow,
            before,
            now,
        }
    }

    /// The congestion window since, in packets.
    pub fn window(&self) -> f64 {
        self.now.window
    }

    /// What has changed, in the field's words.
    fn changes(&self) -> Vec<String> {
        let (before, now) = (&self.before, &self.now);
        let mut found = Vec::new();
        if now.state != before.state {
            found.push(format!("{:?}", now.state).to_lowercase());
        }
        for (word, before, now) in [
            ("acked", before.acked, now.acked),
            ("marks", before.marks, now.marks),
            ("timeout", before.timeouts, now.timeouts),
            ("probe", before.probes, now.probes),
            ("retransmitted", before.retransmits, now.retransmits),
            ("sent", before.sent, now.sent),
        ] {
            if now > before {
                found.push(format!("{word} {}", now - before));
            }
        }
        for (begun, over, before, now) in [
            ("recovery", "recovered", before.in_recovery, now.in_recovery),
            ("suspended", "resumed", before.suspended, now.suspended),
        ] {
            if now != before {
                found.push(if now { begun } else { over }.to_owned());
            }
        }
        if now.rtt_samples > before.rtt_samples || now.latest_rtt != before.latest_rtt {
            found.push(format!("rtt {:.3} us", now.latest_rtt.as_secs_f64() * 1e6));
        }
        found
    }
}

impl fmt::Display for FlowEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SubflowNow {
            window,
            ssthresh,
            in_flight,
            ..
        } = self.now;
        write!(
            f,
            "{:.9} s  subflow {}  window {window:.3}  ssthresh {ssthresh:.3}  in flight {in_flight}  {}",
            self.at.as_secs_f64(),
            self.subflow,
            self.changes().join(", ")
        )
    }
}
