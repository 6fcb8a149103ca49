//! Slow start, as nearly all controllers have it.

use crate::Path;

/// Adds one packet for each of `packets` acknowledged ones until the window reaches ssthresh, and
/// returns how many are left for congestion avoidance.
///
/// An acknowledgement for many packets thereby does what as many acknowledgements for one packet
/// would do: the window ends less than one packet above ssthresh. Where the path has a
/// [`slow_start_limit`](Path::slow_start_limit), an acknowledgement that finds the window in slow start counts for at
/// most that many packets. The rest do not count.
#[inline]
pub fn grow(path: &mut Path, packets: u32) -> u32 {
    grow_by(path, packets, 1.0)
}

/// [`grow`], adding `step` packets (more than 0) for each acknowledged one.
#[inline]
pub fn grow_by(path: &mut Path, packets: u32, step: f64) -> u32 {
    if !path.in_slow_start() {
        return packets;
    }
    let packets = packets.min(path.slow_start_limit);
    let steps = libm::ceil((path.ssthresh - path.window) / step);
    if steps >= f64::from(packets) {
        path.window += step * f64::from(packets);
        0
    } else {
        path.window += step * steps;
        packets - steps as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{grow, grow_by};
    use crate::Path;

    fn path(window: f64, ssthresh: f64) -> Path {
        Path::new(window, 2.0, ssthresh)
    }

    #[test]
    fn adds_a_packet_for_each_acknowledged_one() {
        let mut path = path(10.0, f64::INFINITY);
        assert_eq!(grow(&mut path, 3), 0);
        assert_eq!(path.window, 13.0);
        assert_eq!(grow(&mut path, 0), 0);
        assert_eq!(path.window, 13.0);
    }

    #[test]
    fn leaves_the_rest_of_an_acknowledgement_to_congestion_avoidance() {
        // 10 -> 11 -> 12 -> 13 > 12.5: three packets are used.
        let mut below = path(10.0, 12.5);
        assert_eq!(grow(&mut below, 10), 7);
        assert_eq!(below.window, 13.0);
        let mut exact = path(10.0, 12.0);
        assert_eq!(grow(&mut exact, 2), 0);
        assert_eq!(exact.window, 12.0);
        let mut exact = path(10.0, 12.0);
        assert_eq!(grow(&mut exact, 3), 1);
        assert_eq!(exact.window, 12.0);
    }

    #[test]
    fn does_what_single_packets_would_do() {
        for packets in 0..20 {
            let (mut together, mut singly) = (path(3.25, 9.0), path(3.25, 9.0));
            let rest = grow(&mut together, packets);
            let single_rest: u32 = (0..packets).map(|_| grow(&mut singly, 1)).sum();
            assert_eq!((together.window, rest), (singly.window, single_rest));
        }
    }

    #[test]
    fn counts_no_more_packets_of_an_acknowledgement_than_its_limit() {
        for (limit, window, rest) in [(1, 11.0, 0), (2, 12.0, 0), (3, 12.0, 1), (57, 12.0, 55)] {
            let mut path = path(10.0, 12.0);
            path.slow_start_limit = limit;
            assert_eq!(grow(&mut path, 57), rest, "{limit}");
            assert_eq!(path.window, window, "{limit}");
        }
        // Congestion avoidance counts them all.
        let mut path = path(12.0, 12.0);
        path.slow_start_limit = 1;
        assert_eq!(grow(&mut path, 57), 57);
    }

    #[test]
    fn is_over_at_ssthresh() {
        for window in [12.0, 12.5] {
            let mut path = path(window, 12.0);
            assert_eq!(grow(&mut path, 5), 5);
            assert_eq!(path.window, window);
        }
    }

    #[test]
    fn the_step_can_be_larger_or_smaller() {
        // 10 -> 11.5 -> 13: two packets are used.
        let mut larger = path(10.0, 12.0);
        assert_eq!(grow_by(&mut larger, 5, 1.5), 3);
        assert_eq!(larger.window, 13.0);
        // 10 -> 10.25 -> 10.5 -> 10.75 -> 11.
        let mut smaller = path(10.0, 11.0);
        assert_eq!(grow_by(&mut smaller, 3, 0.25), 0);
        assert_eq!(smaller.window, 10.75);
        assert_eq!(grow_by(&mut smaller, 3, 0.25), 2);
        assert_eq!(smaller.window, 11.0);
    }
}
