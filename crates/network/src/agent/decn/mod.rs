//! DECN's port: each flow's difference from a fair share (Jiang et al., Sections III-B and III-C).
//!
//! For a flow of which A bytes arrived in a period of t_p, and of which never fewer than B bytes waited
//! in it, with C the port's rate and n the flows of which a packet has arrived in the port's own period of t_p:
//!
//!   CR = (A + B) / t_p,   TR = C / n,   DR = TR - CR
//!
//! When a unit's first packet arrives, DR is latched, rounded down to whole units; the unit's three
//! packets are lowered to it four bits at a time.
//!
//! - A flow's period ends with its first packet t_p or later after it began, and CR takes the time
//!   that it lasted. Periods of exactly t_p would hold a packet more or less from one to the next: at
//!   120 Mbps and 1500 bytes, none or one.
//! - Only packets with DECN's field are flows of n. Acknowledgements and others take their part of C;
//!   what they take shows as bytes that wait.
//! - Before a flow's first period is over A and B are zero: it is told its whole share.
//! - A flow that finds the table full is not managed: its packets leave as part of no unit, the sender
//!   drops the unit and keeps its rate. So does what is left of a unit that lacks a packet or came out of order.

mod counted_flows;
mod measurement;

use super::{Agent, AgentStatistics, Backlog, Label};
use crate::setup::LinkSetup;
use counted_flows::Flows;
use pathweave_control::Feedback;
use pathweave_control::decn::{Difference, ENTRY, Passing, REMEMBERED};
use pathweave_units::{Rate, Time};

/// Bytes that a port keeps beside its flows: C, t_p, the unit, the flows' table, and a counter. A constant, as results
/// should not depend on what the simulator remembers to be faster.
const STATE_BYTES: u64 = 144;

/// DECN at one port.
#[derive(Clone, Debug)]
pub struct Decn {
    /// C, bit/s.
    capacity: f64,
    /// t_p.
    period: Time,
    /// Unit of differences, bit/s.
    unit: f64,
    flows: Flows,
    /// When the period that n is counted in is over.
    counted_until: Time,
    /// Fields changed.
    changed: u64,
}

impl Decn {
    /// Counts the flows of the period that is over.
    #[inline(never)]
    fn end_period(&mut self, now: Time) {
        let since = (now - self.counted_until).as_picos();
        let ended = now - Time::from_picos(since % self.period.as_picos());
        self.flows.end_period(ended, self.period);
        self.counted_until = ended + self.period;
    }
}

/// DR of a flow that sends at `current`, where this many flows share a port of rate `capacity`, both in bit/s.
fn difference(capacity: f64, flows: usize, unit: f64, current: f64) -> Difference {
    let target = capacity / flows.max(1) as f64;
    Difference::new((target - current) / unit)
}

impl Agent for Decn {
    type Label = Label;

    fn new(setup: &LinkSetup) -> Decn {
        let defaults = ENTRY.defaults();
        let parameters = setup
            .agent
            .as_ref()
            .map_or(&defaults, |agent| &agent.parameters);
        let period = Time::from_secs_f64(1e-3 * parameters.number("t_p"));
        Decn {
            capacity: setup.rate.as_bps() as f64,
            period,
            unit: 1e6 * parameters.number("unit"),
            flows: Flows::new(parameters.number("table") as usize, period.max(REMEMBERED)),
            counted_until: Time::ZERO,
            changed: 0,
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        let number = label.flow;
        let Feedback::Decn {
            nibble,
            first,
            in_unit,
        } = &mut label.feedback
        else {
            return;
        };
        if label.is_echo {
            return;
        }
        if now >= self.counted_until {
            self.end_period(now);
        }
        let own = self.flows.see(number, now).and_then(|(flow, flows)| {
            flow.arrive(now, bytes, backlog.bytes, self.period);
            if !*in_unit {
                flow.unit = None;
            } else if *first {
                let own = difference(self.capacity, flows, self.unit, flow.rate());
                flow.unit = Some(Passing::new(own));
            }
            let passing = flow.unit.as_mut()?;
            let own = passing.pass(*nibble);
            if passing.is_over() {
                flow.unit = None;
            }
            Some(own)
        });
        if !*in_unit {
            return;
        }
        match own {
            Some(own) => {
                self.changed += u64::from(own != *nibble);
                *nibble = own;
            }
            None => {
                // It goes on as part of no unit.
                self.changed += 1;
                (*nibble, *first, *in_unit) = (0, false, false);
            }
        }
    }

    #[inline(always)]
    fn on_service(&mut self, _now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        if let (Feedback::Decn { .. }, false) = (label.feedback, label.is_echo)
            && let Some(flow) = self.flows.get(label.flow)
        {
            flow.serve(bytes, backlog.bytes);
        }
    }

    fn set_rate(&mut self, _now: Time, rate: Rate) {
        self.capacity = rate.as_bps() as f64;
    }

    fn statistics(&self) -> AgentStatistics {
        AgentStatistics {
            state_bytes: STATE_BYTES + self.flows.most_bytes(),
            feedback: self.changed,
            unmanaged: self.flows.turned_away(),
        }
    }
}

#[cfg(test)]
mod tests;
