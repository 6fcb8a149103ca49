//! Timers that are due in a step, by host.

use crate::regions::steps::Sides;
use crate::schedule::waiting_timers::DueTimer;
use pathweave_network::{DueInputs, Inputs};
use std::ops::Range;

/// Stands for no timer.
const NONE: u32 = u32::MAX;

/// Timers that are not on the schedule any more, until their hosts have their turns. Hosts may be on both sides; timers
/// of the other side wait for its step.
#[derive(Debug)]
pub(super) struct ListedTimers {
    /// By input, if it is the last one of a host: the host's timer that was listed last.
    last: Box<[u32]>,
    /// By page: the first inputs of the hosts that have some.
    hosts: Box<[DueInputs]>,
    /// By side.
    timers: [Vec<Listed>; Sides::MOST],
}

#[derive(Debug)]
struct Listed {
    timer: DueTimer,
    /// The same host's timer that was listed before.
    before: u32,
}

impl ListedTimers {
    /// For hosts among this many inputs.
    pub fn new(inputs: usize) -> ListedTimers {
        ListedTimers {
            last: vec![NONE; inputs].into(),
            hosts: vec![DueInputs::default(); inputs.div_ceil(Inputs::PAGE)].into(),
            timers: Default::default(),
        }
    }

    /// Lists a timer of a host that is on this side and has these inputs.
    #[inline(always)]
    pub fn list(&mut self, timer: DueTimer, side: usize, inputs: Range<usize>) {
        let timers = &mut self.timers[side];
        let last = &mut self.last[inputs.end - 1];
        let before = std::mem::replace(last, timers.len() as u32);
        timers.push(Listed { timer, before });
        self.hosts[inputs.start / Inputs::PAGE].add(inputs.start % Inputs::PAGE);
    }

    /// The first inputs of hosts with timers in a page, which has its turn.
    #[inline(always)]
    pub fn take_hosts(&mut self, page: usize) -> DueInputs {
        std::mem::take(&mut self.hosts[page])
    }

    /// The timers of the host on this side whose inputs end there, which has its turn. Those that were listed last come first.
    #[inline(always)]
    pub fn take(&mut self, side: usize, inputs_end: usize) -> impl Iterator<Item = DueTimer> {
        let mut next = std::mem::replace(&mut self.last[inputs_end - 1], NONE);
        let timers = &self.timers[side];
        std::iter::from_fn(move || {
            let listed = timers.get(next as usize)?;
            next = listed.before;
            Some(listed.timer)
        })
    }

    /// All hosts of a side have had their turns.
    pub fn end_step(&mut self, side: usize) {
        self.timers[side].clear();
    }

    /// All timers that are listed, and after a step of one side those of the other one.
    pub fn all(&self) -> impl Iterator<Item = &DueTimer> {
        self.timers.iter().flatten().map(|listed| &listed.timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::alarm::Alarm;
    use pathweave_units::Time;

    /// A host has three inputs, which begin in one page and end in the next one.
    #[test]
    fn each_host_gets_its_own_timers_in_the_step_of_its_side() {
        let timer = |number: u32| DueTimer {
            at: Time::from_micros(1),
            alarm: Alarm::Feedback(number),
        };
        let hosts = [(0, 5..6), (0, 62..65), (1, 128..129), (1, 130..131)];
        let mut timers = ListedTimers::new(3 * Inputs::PAGE);
        let list = |timers: &mut ListedTimers, number: u32, host: usize| {
            let (side, inputs) = hosts[host].clone();
            timers.list(timer(number), side, inputs);
        };
        for step in 0..3 {
            for (number, host) in [(0, 1), (1, 0), (2, 2), (3, 1), (4, 1)] {
                list(&mut timers, number + 10 * step, host);
            }
            let with_timers = |timers: &mut ListedTimers, page| -> Vec<usize> {
                timers.take_hosts(page).places().collect()
            };
            assert_eq!(with_timers(&mut timers, 0), [5, 62]);
            assert!(with_timers(&mut timers, 1).is_empty());
            let take = |timers: &mut ListedTimers, host: usize| -> Vec<u32> {
                let (side, inputs) = hosts[host].clone();
                let own = timers.take(side, inputs.end);
                own.map(|timer| match timer.alarm {
                    Alarm::Feedback(number) => number - 10 * step,
                    other => panic!("{other:?}"),
                })
                .collect()
            };
            assert_eq!(take(&mut timers, 0), [1]);
            assert_eq!(take(&mut timers, 1), [4, 3, 0]);
            timers.end_step(0);
            assert_eq!(timers.all().count(), 1, "that of the other side");
            list(&mut timers, 5 + 10 * step, 3);
            assert_eq!(with_timers(&mut timers, 2), [0, 2]);
            assert_eq!(take(&mut timers, 2), [2]);
            assert_eq!(take(&mut timers, 3), [5]);
            timers.end_step(1);
            assert_eq!(timers.all().count(), 0);
        }
    }
}
