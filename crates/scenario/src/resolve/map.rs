//! The intervals of a map of the fabric, where the scenario leaves them open.

use crate::plan::LinkChange;
use pathweave_units::Time;

/// Intervals over a run.
const OVER_A_RUN: u64 = 200;
/// Intervals between two changes of links at least: what happens in a failure shall be seen.
const BETWEEN_CHANGES: u64 = 20;
/// Intervals over a run at most, however close changes are to each other.
const MOST: u64 = 2000;
/// The interval where the end of the run is open.
const WITHOUT_END: Time = Time::from_millis(1);

/// The interval for a run that ends at `end` at the latest; `None` where that is open.
pub(super) fn interval(end: Option<Time>, events: &[LinkChange]) -> Time {
    let mut times: Vec<Time> = events.iter().map(|event| event.at).collect();
    times.extend(end);
    times.sort_unstable();
    times.dedup();
    let last = times.last().copied().unwrap_or(Time::ZERO);
    let gaps = times.iter().zip(times.iter().skip(1));
    let shortest = gaps.map(|(&from, &to)| to - from).min();
    let usual = end.map_or(WITHOUT_END, |end| part(end, OVER_A_RUN));
    let wanted = shortest.map_or(usual, |gap| part(gap, BETWEEN_CHANGES).min(usual));
    wanted.max(part(last, MOST))
}

fn part(time: Time, parts: u64) -> Time {
    Time::from_picos(time.as_picos() / parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Change;
    use pathweave_fabric::LinkId;

    fn events(millis: &[u64]) -> Vec<LinkChange> {
        let event = |&at| LinkChange {
            at: Time::from_millis(at),
            link: LinkId(0),
            change: Change::Down,
        };
        millis.iter().map(event).collect()
    }

    #[test]
    fn a_run_has_200_intervals_and_each_failure_20() {
        let end = Some(Time::from_millis(1000));
        assert_eq!(interval(end, &[]), Time::from_millis(5));
        // From 500 ms to the end there are a hundred.
        assert_eq!(interval(end, &events(&[500])), Time::from_millis(5));
        assert_eq!(interval(end, &events(&[500, 540])), Time::from_millis(2));
        // Both directions of a cable fail at once.
        assert_eq!(
            interval(end, &events(&[500, 500, 540, 540])),
            Time::from_millis(2)
        );
    }

    #[test]
    fn close_changes_do_not_make_a_map_without_end() {
        let end = Some(Time::from_millis(1000));
        assert_eq!(interval(end, &events(&[500, 501])), Time::from_micros(500));
        assert_eq!(interval(None, &[]), Time::from_millis(1));
        assert_eq!(interval(None, &events(&[10, 12])), Time::from_micros(100));
    }
}
