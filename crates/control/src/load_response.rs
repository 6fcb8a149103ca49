//! How windows grow by what ports say of their load, as VCP and MLCP have in common.

use crate::Path;
use pathweave_units::Time;

/// t_rho, the interval over which ports measure their load: the sender's smallest RTT, and at least t_p.
pub fn interval(path: &Path, t_p: Time) -> Time {
    if path.minimum_rtt == Time::MAX {
        t_p
    } else {
        path.minimum_rtt.max(t_p)
    }
}

/// Grows the window by the share `xi` per t_rho, whatever the RTT: by (1 + xi)^(rtt/t_rho) - 1 for each
/// acknowledged packet, with rtt/t_rho at most 1.
pub fn multiply(path: &mut Path, packets: u32, xi: f64, t_rho: Time) {
    let intervals = f64::min(path.rtt_seconds() / t_rho.as_secs_f64(), 1.0);
    path.window += f64::from(packets) * (libm::pow(1.0 + xi, intervals) - 1.0);
}

/// Adds (rtt/t_d)^2 packets a round, so that flows of all RTTs speed up alike; at most a packet for each
/// acknowledged one.
pub fn add(path: &mut Path, packets: u32, t_d: Time) {
    let ratio = path.rtt_seconds() / t_d.as_secs_f64();
    path.window += f64::from(packets) * f64::min(ratio * ratio / path.window, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(window: f64, rtt: Time) -> Path {
        let mut path = Path::new(window, 2.0, f64::INFINITY);
        path.smoothed_rtt = rtt;
        path
    }

    #[test]
    fn the_interval_is_the_smallest_rtt_but_not_below_t_p() {
        let t_p = Time::from_micros(100);
        let mut path = path(10.0, Time::from_micros(300));
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
    fn a_long_rtt_grows_as_one_of_an_interval() {
        let mut path = path(16.0, Time::from_micros(400));
        multiply(&mut path, 16, 1.0 / 16.0, Time::from_micros(100));
        assert!((path.window - 17.0).abs() < 1e-12);
    }

    #[test]
    fn additive_increase_goes_with_the_square_of_the_rtt() {
        // (50/100)^2 = 1/4 packet a round of 10.
        let mut path = path(10.0, Time::from_micros(50));
        add(&mut path, 1, Time::from_micros(100));
        assert!((path.window - 10.025).abs() < 1e-12);
        // (1000/100)^2 = 100 packets a round of 10: ten for each acknowledged one, of which one is had.
        path.smoothed_rtt = Time::from_millis(1);
        path.window = 10.0;
        add(&mut path, 2, Time::from_micros(100));
        assert_eq!(path.window, 12.0);
    }
}
