//! Recorded rates: what arrived on each subflow in each interval.

use pathweave_units::Time;
use std::collections::VecDeque;

/// What arrived on a subflow in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateRow {
    /// The interval's end.
    pub at: Time,
    pub flow: u32,
    pub subflow: u32,
    /// Payload.
    pub bytes: f64,
}

/// The rows of all intervals, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    rows: Vec<RateRow>,
    /// Intervals that ended recently: when, and their first row among those in order of flow and subflow.
    recent: VecDeque<(Time, usize)>,
    /// What flows that have ended received in the interval under way.
    remainders: Vec<RateRow>,
}

impl Rates {
    /// A flow has ended, with this much on a subflow since the last interval ended.
    pub fn add_remainder(&mut self, flow: u32, subflow: u32, bytes: f64) {
        if bytes > 0.0 {
            self.remainders.push(RateRow {
                at: Time::MAX,
                flow,
                subflow,
                bytes,
            });
        }
    }

    /// An interval ends; its rows follow, in order of flow and subflow. Nothing that arrived before `forget` will be
    /// moved any more.
    pub fn begin_rows(&mut self, at: Time, forget: Time) {
        let remainders = self.remainders.drain(..);
        self.rows
            .extend(remainders.map(|row| RateRow { at, ..row }));
        while self.recent.front().is_some_and(|&(end, _)| end < forget) {
            self.recent.pop_front();
        }
        self.recent.push_back((at, self.rows.len()));
    }

    /// A row of the interval that has just ended.
    pub fn add(&mut self, flow: u32, subflow: u32, bytes: f64) {
        let at = self.recent.back().map_or(Time::MAX, |&(at, _)| at);
        self.rows.push(RateRow {
            at,
            flow,
            subflow,
            bytes,
        });
    }

    /// A packet has arrived of which these parts had come before these boundaries: gives them to the intervals in
    /// which they came. Returns what of the packet came before the interval under way.
    pub fn move_back(&mut self, flow: u32, subflow: u32, parts: &[(Time, f64)]) -> f64 {
        let mut moved = 0.0;
        for &(boundary, part) in parts {
            let found = self.recent.iter().position(|&(end, _)| end == boundary);
            if let Some(interval) = found {
                self.add_to_row(interval, flow, subflow, part - moved);
                moved = part;
            }
        }
        moved
    }

    fn add_to_row(&mut self, interval: usize, flow: u32, subflow: u32, bytes: f64) {
        let (at, first) = self.recent[interval];
        let next = self.recent.get(interval + 1);
        // The next interval's remainders are in no order, and of a later time.
        let end = next.map_or(self.rows.len(), |&(_, next)| next);
        let of_interval = self.rows[first..end].partition_point(|row| row.at == at);
        let rows = &self.rows[first..first + of_interval];
        match rows.binary_search_by_key(&(flow, subflow), |row| (row.flow, row.subflow)) {
            Ok(place) => self.rows[first + place].bytes += bytes,
            Err(place) => {
                let row = RateRow {
                    at,
                    flow,
                    subflow,
                    bytes,
                };
                self.rows.insert(first + place, row);
                for (_, later) in self.recent.iter_mut().skip(interval + 1) {
                    *later += 1;
                }
            }
        }
    }

    /// Puts the rows in the order of time, flow and subflow. Nothing is moved any more.
    pub fn put_in_order(&mut self) {
        self.recent.clear();
        self.rows.sort_by_key(|row| (row.at, row.flow, row.subflow));
    }

    /// All rows.
    pub fn rows(&self) -> &[RateRow] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_micros(micros)
    }

    #[test]
    fn what_came_before_a_boundary_goes_to_the_interval_in_which_it_came() {
        let mut rates = Rates::default();
        rates.begin_rows(at(10), Time::ZERO);
        rates.add(1, 0, 100.0);
        rates.add(3, 0, 100.0);
        rates.add_remainder(2, 0, 50.0);
        rates.begin_rows(at(20), Time::ZERO);
        rates.add(1, 0, 100.0);
        // 40 bytes before 10 us, 90 before 20 us, and a boundary at 15 us that is nobody's here.
        let parts = [(at(10), 40.0), (at(15), 60.0), (at(20), 90.0)];
        assert_eq!(rates.move_back(1, 0, &parts), 90.0);
        // A subflow that had no row.
        assert_eq!(rates.move_back(2, 1, &parts[..1]), 40.0);
        assert_eq!(rates.move_back(3, 0, &[(at(15), 7.0)]), 0.0);
        let rows = rates.rows();
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.at, row.flow, row.subflow, row.bytes))
            .collect();
        let expected = [
            (at(10), 1, 0, 140.0),
            (at(10), 2, 1, 40.0),
            (at(10), 3, 0, 100.0),
            (at(20), 2, 0, 50.0),
            (at(20), 1, 0, 150.0),
        ];
        assert_eq!(found, expected);
    }
}
