//! When a flow may finish at the earliest: until then nothing that hosts do concerns traffic.

use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Flows that may finish, and the times before which they cannot, as far as has been found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finishes {
    flows: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Finishes {
    /// This flow may finish at any time, as far as is known.
    pub fn watch(&mut self, flow: u32) {
        self.flows.push(Reverse((Time::ZERO, flow)));
    }

    /// No flow can finish before this time, or before `horizon`, whichever is earlier. `earliest` says it of one flow,
    /// and nothing earlier than now; `None` if it has finished or never will.
    pub fn earliest(
        &mut self,
        now: Time,
        horizon: Time,
        mut earliest: impl FnMut(u32) -> Option<Time>,
    ) -> Time {
        while let Some(mut first) = self.flows.peek_mut() {
            let Reverse((known, flow)) = *first;
            if known >= horizon {
                return horizon;
            }
            match earliest(flow) {
                None => {
                    PeekMut::pop(first);
                }
                // The others' times are no earlier than this one's was.
                Some(at) => {
                    *first = Reverse((at, flow));
                    // None of the others is earlier than this one was known to be, or than now.
                    if at <= known.max(now) {
                        return at;
                    }
                }
            }
        }
        horizon
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flows_that_may_finish_soon_are_asked_again() {
        let mut finishes = Finishes::default();
        (0..4).for_each(|flow| finishes.watch(flow));
        let at = Time::from_micros;
        let mut asked = Vec::new();
        let first = finishes.earliest(at(0), at(10), |flow| {
            asked.push(flow);
            [Some(at(3)), Some(at(20)), None, Some(at(100))][flow as usize]
        });
        assert_eq!((first, &asked[..]), (at(3), &[0, 1, 2, 3, 0][..]));
        asked.clear();
        let first = finishes.earliest(at(0), at(15), |flow| {
            asked.push(flow);
            None
        });
        assert_eq!((first, &asked[..]), (at(15), &[0][..]));
        asked.clear();
        let first = finishes.earliest(at(0), at(50), |flow| {
            asked.push(flow);
            Some(at(40))
        });
        assert_eq!((first, &asked[..]), (at(40), &[1, 1][..]));
    }

    #[test]
    fn one_that_may_finish_now_is_enough() {
        let mut finishes = Finishes::default();
        (0..100).for_each(|flow| finishes.watch(flow));
        let now = Time::from_micros(7);
        let mut asked = 0;
        let first = finishes.earliest(now, Time::from_micros(10), |_| {
            asked += 1;
            Some(now)
        });
        assert_eq!((first, asked), (now, 1));
    }
}
