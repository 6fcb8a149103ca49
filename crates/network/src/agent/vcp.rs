//! VCP's port: says in two bits how loaded it is (Xia et al., SIGCOMM 2005).
//!
//! The load factor of the last interval is low below 80 %, high below 100 %, and an overload above. A
//! packet's code is raised to it when its transmission begins. An interval t_rho lasts for the fabric's base
//! RTT, and at least for t_p.

use super::load_meter::LoadMeter;
use super::{Agent, AgentStatistics, Backlog, Label};
use crate::setup::LinkSetup;
use pathweave_control::{Feedback, Load};
use pathweave_units::{Rate, Time};

/// Load factors from which the load is high, and an overload.
const HIGH: f64 = 0.8;
const OVERLOAD: f64 = 1.0;

/// VCP at one port.
#[derive(Clone, Debug)]
pub struct Vcp {
    meter: LoadMeter,
    statistics: AgentStatistics,
}

fn code(load: f64) -> Load {
    if load < HIGH {
        Load::Low
    } else if load < OVERLOAD {
        Load::High
    } else {
        Load::Overload
    }
}

impl Agent for Vcp {
    type Label = Label;

    fn new(setup: &LinkSetup) -> Vcp {
        Vcp {
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
        if let (Feedback::Vcp(load), false) = (&mut label.feedback, label.is_echo) {
            let own = code(self.meter.load());
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
    fn agent(packets: u32) -> Vcp {
        after_packets(
            Vcp::new(&setup(Scheme::Vcp, Time::from_micros(200))),
            packets,
        )
    }

    fn coded(agent: &mut Vcp, load: Load, is_echo: bool) -> Load {
        let mut label = Label {
            feedback: Feedback::Vcp(load),
            is_echo,
            ..Label::default()
        };
        agent.on_service(Time::from_micros(201), 1000, &mut label, Backlog::default());
        match label.feedback {
            Feedback::Vcp(load) => load,
            _ => panic!("another scheme's field"),
        }
    }

    #[test]
    fn the_load_is_coded_at_80_and_100_percent() {
        // 98 % of 25 000 bytes are 24 500: 19 packets are 78 %, 20 are 82 %, 24 are 98 %, 25 are 102 %.
        for (packets, expected) in [
            (0, Load::Low),
            (19, Load::Low),
            (20, Load::High),
            (24, Load::High),
            (25, Load::Overload),
        ] {
            let mut agent = agent(packets);
            assert_eq!(coded(&mut agent, Load::Low, false), expected, "{packets}");
        }
        assert_eq!([code(0.8), code(1.0)], [Load::High, Load::Overload]);
    }

    #[test]
    fn a_code_is_raised_and_never_lowered_along_the_path() {
        let codes = [Load::Low, Load::High, Load::Overload];
        for (packets, own) in [0, 22, 30].into_iter().zip(codes) {
            for load in codes {
                let mut agent = agent(packets);
                assert_eq!(coded(&mut agent, load, false), load.max(own));
                assert_eq!(agent.statistics().feedback, u64::from(own > load));
            }
        }
    }

    #[test]
    fn echoes_are_left_alone() {
        let mut agent = agent(30);
        assert_eq!(coded(&mut agent, Load::Low, true), Load::Low);
        assert_eq!(agent.statistics().feedback, 0);
    }

    #[test]
    fn intervals_are_not_shorter_than_t_p() {
        // Base RTT 10 us, t_p 100 us: 12 250 bytes are full load.
        let mut agent = Vcp::new(&setup(Scheme::Vcp, Time::from_micros(10)));
        agent = after_packets(agent, 13);
        let mut label = Label {
            feedback: Feedback::Vcp(Load::Low),
            ..Label::default()
        };
        agent.on_service(Time::from_micros(99), 1000, &mut label, Backlog::default());
        assert_eq!(label.feedback, Feedback::Vcp(Load::Low));
        agent.on_service(Time::from_micros(100), 1000, &mut label, Backlog::default());
        assert_eq!(label.feedback, Feedback::Vcp(Load::Overload));
    }
}
