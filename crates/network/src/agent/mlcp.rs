//! MLCP's port: says in 16 levels how loaded it is (Qazi, Znati, INFOCOM 2008).
//!
//! A packet's level is raised to that of the last interval's load factor when its transmission begins. An
//! interval t_rho lasts for the fabric's base RTT, and at least for t_p; the class of the sender's RTT is
//! not read. For the levels see [`mlcp_coding`].

use super::load_meter::LoadMeter;
use super::{Agent, AgentStatistics, Backlog, Label};
use crate::setup::LinkSetup;
use pathweave_control::{Feedback, mlcp_coding};
use pathweave_units::{Rate, Time};

/// MLCP at one port.
#[derive(Clone, Debug)]
pub struct Mlcp {
    meter: LoadMeter,
    statistics: AgentStatistics,
}

impl Agent for Mlcp {
    type Label = Label;

    fn new(setup: &LinkSetup) -> Mlcp {
        Mlcp {
            meter: LoadMeter::of(setup),
            statistics: AgentStatistics {
                state_bytes: LoadMeter::STATE_BYTES,
                ..AgentStatistics::default()
            },
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Time, bytes: u16, _label: &mut Label, backlog: Backlog) {
        self.meter.on_arrival(now, bytes, backlog.bytes);
    }

    #[inline(always)]
    fn on_service(&mut self, now: Time, _bytes: u16, label: &mut Label, backlog: Backlog) {
        self.meter.on_service(now, backlog.bytes);
        if let (Feedback::Mlcp { load, .. }, false) = (&mut label.feedback, label.is_echo) {
            let own = mlcp_coding::level(self.meter.load());
            if *load < own {
                *load = own;
                self.statistics.feedback += 1;
            }
        }
    }

    #[inline(always)]
    fn is_behind(&self, now: Time) -> bool {
        self.meter.is_behind(now)
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.meter.set_rate(now, rate);
    }

    fn statistics(&self) -> AgentStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::super::loaded::{after_packets, setup};
    use super::*;
    use pathweave_control::Scheme;

    /// A port of 1 Gbps, t_rho 200 us, to which this many packets of 1000 bytes came in the first interval.
    fn agent(packets: u32) -> Mlcp {
        after_packets(
            Mlcp::new(&setup(Scheme::Mlcp, Time::from_micros(200))),
            packets,
        )
    }

    fn coded(agent: &mut Mlcp, load: u8, is_echo: bool) -> Feedback {
        let mut label = Label {
            feedback: Feedback::Mlcp { load, rtt: 3 },
            is_echo,
            ..Label::default()
        };
        agent.on_service(Time::from_micros(201), 1000, &mut label, Backlog::default());
        label.feedback
    }

    #[test]
    fn the_load_is_coded_in_tenths() {
        // 95 % of 25 000 bytes are 23 750: 12 packets are 51 %, 23 are 97 %, 24 are 101 %.
        for (packets, load) in [
            (0, 0),
            (12, 5),
            (18, 7),
            (19, 8),
            (23, 9),
            (24, 10),
            (60, 15),
        ] {
            let expected = Feedback::Mlcp { load, rtt: 3 };
            assert_eq!(coded(&mut agent(packets), 0, false), expected, "{packets}");
        }
    }

    #[test]
    fn a_level_is_raised_and_never_lowered_along_the_path() {
        for load in 0..16 {
            let mut agent = agent(12);
            let expected = Feedback::Mlcp {
                load: load.max(5),
                rtt: 3,
            };
            assert_eq!(coded(&mut agent, load, false), expected);
            assert_eq!(agent.statistics().feedback, u64::from(load < 5));
        }
    }

    #[test]
    fn echoes_are_left_alone() {
        let mut agent = agent(60);
        let expected = Feedback::Mlcp { load: 0, rtt: 3 };
        assert_eq!(coded(&mut agent, 0, true), expected);
        assert_eq!(agent.statistics().feedback, 0);
    }
}
