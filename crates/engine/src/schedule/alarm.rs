//! What timers wake.

use pathweave_transport::{SendingId, SendingSubflow, Timer, TimerKind};

/// A timer of the transport or of the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// One of a subflow's.
    Transport(Timer),
    /// A connection starts whose first subflow is this one.
    Start(SendingId, SendingSubflow),
    /// A feedback period of the switch with this number is over.
    Feedback(u32),
}

impl Alarm {
    /// Whether it is a retransmission timer: no other can make a subflow fail.
    #[inline(always)]
    pub fn is_retransmission(self) -> bool {
        matches!(self, Alarm::Transport(timer) if timer.kind == TimerKind::Retransmission)
    }

    /// What names it: its kind, its flow or switch, and its subflow.
    pub fn name(self) -> (u64, u32, u16) {
        match self {
            Alarm::Transport(timer) => {
                let kind = match timer.kind {
                    TimerKind::Retransmission => 0,
                    TimerKind::DelayedAck => 1,
                    TimerKind::Open => 2,
                    TimerKind::Pace => 3,
                    TimerKind::Port => 5,
                    TimerKind::Reinjection => 6,
                    TimerKind::Gathering => 7,
                    TimerKind::Write => 8,
                };
                (kind, timer.flow, timer.subflow)
            }
            Alarm::Feedback(switch) => (4, switch, 0),
            Alarm::Start(..) => unreachable!("starts are not ranked as timers are"),
        }
    }
}
