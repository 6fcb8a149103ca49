//! How windows grow by what ports say of their load, as VCP and MLCP have in common.

use crate::{Parameter, ParameterKind, Parameters, Path, Value};
use pathweave_units::Time;

/// t_p.
pub const T_P: Parameter = Parameter {
    name: "t_p",
    kind: ParameterKind::Number {
        default: 0.1,
        minimum: 0.001,
        maximum: 1000.0,
        integer: false,
    },
    help: "Shortest measuring interval, in milliseconds.",
};

/// t_d.
pub const T_D: Parameter = Parameter {
    name: "t_d",
    kind: ParameterKind::ChoiceOrNumber {
        choices: &["t_rho"],
        minimum: 0.001,
        maximum: 1000.0,
    },
    help: "RTT at which a round adds one packet at high load: the measuring interval, or milliseconds.",
};

/// The parameter t_p.
pub fn shortest_interval(parameters: &Parameters) -> Time {
    Time::from_secs_f64(parameters.number(T_P.name) / 1e3)
}

/// The RTT that growth goes by, the sender's smallest; zero before the first sample.
///
/// The smoothed one would have a queue make windows grow faster, and so itself longer.
fn rtt(path: &Path) -> Time {
    if path.minimum_rtt == Time::MAX {
        Time::ZERO
    } else {
        path.minimum_rtt
    }
}

/// t_rho, the interval over which ports measure their load: the sender's smallest RTT, and at least t_p.
pub fn interval(path: &Path, t_p: Time) -> Time {
    rtt(path).max(t_p)
}

/// The parameter t_d, the RTT at which a round adds a packet; none where it is t_rho.
pub fn typical_rtt(parameters: &Parameters) -> Option<Time> {
    match parameters.value(T_D.name) {
        Some(Value::Number(millis)) => Some(Time::from_secs_f64(millis / 1e3)),
        _ => None,
    }
}

/// Grows the window by the share `xi` per t_rho, whatever the RTT: by (1 + xi)^(rtt/t_rho) - 1 for each
/// acknowledged packet.
pub fn multiply(path: &mut Path, packets: u32, xi: f64, t_rho: Time) {
    let intervals = rtt(path).as_secs_f64() / t_rho.as_secs_f64();
    path.window += f64::from(packets) * (libm::pow(1.0 + xi, intervals) - 1.0);
}

/// Adds (rtt/t_d)^2 packets a round, so that flows of all RTTs speed up alike; at most a packet for each
/// acknowledged one.
pub fn add(path: &mut Path, packets: u32, t_d: Time) {
    let ratio = rtt(path).as_secs_f64() / t_d.as_secs_f64();
    path.window += f64::from(packets) * f64::min(ratio * ratio / path.window, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(window: f64, rtt: Time) -> Path {
        let mut path = Path::new(window, 2.0, f64::INFINITY);
        path.minimum_rtt = rtt;
        path
    }

    #[test]
    fn the_interval_is_the_smallest_rtt_but_not_below_t_p() {
        let t_p = Time::from_micros(100);
        let mut path = path(10.0, Time::MAX);
        assert_eq!(interval(&path, t_p), t_p, "no sample yet");
        path.minimum_rtt = Time::from_micros(250);
        assert_eq!(interval(&path, t_p), Time::from_micros(250));
        path.minimum_rtt = Time::from_micros(30);
        assert_eq!(interval(&path, t_p), t_p);
    }

    #[test]
    fn an_rtt_of_half_an_interval_grows_by_the_root() {
        // A round of 10 packets at RTT t_rho/2: 10 (sqrt(1.21) - 1) = 1.
        let mut path = path(10.0, Time::from_micros(50));
        multiply(&mut path, 10, 0.21, Time::from_micros(100));
        assert!((path.window - 11.0).abs() < 1e-12);
    }

    #[test]
    fn a_queue_does_not_speed_growth_up() {
        let t_rho = Time::from_micros(100);
        let mut path = path(16.0, t_rho);
        path.smoothed_rtt = Time::from_millis(2);
        multiply(&mut path, 16, 1.0 / 16.0, t_rho);
        assert!((path.window - 17.0).abs() < 1e-12);
        add(&mut path, 17, t_rho);
        assert!((path.window - 18.0).abs() < 1e-12);
    }

    #[test]
    fn additive_increase_goes_with_the_square_of_the_rtt() {
        // (50/100)^2 = 1/4 packet a round of 10.
        let mut path = path(10.0, Time::from_micros(50));
        add(&mut path, 1, Time::from_micros(100));
        assert!((path.window - 10.025).abs() < 1e-12);
        // (1000/100)^2 = 100 packets a round of 10: ten for each acknowledged one, of which one is had.
        path.minimum_rtt = Time::from_millis(1);
        path.window = 10.0;
        add(&mut path, 2, Time::from_micros(100));
        assert_eq!(path.window, 12.0);
    }
}
