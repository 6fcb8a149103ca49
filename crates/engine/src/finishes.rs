//! When a flow may finish at the earliest: until then nothing that hosts do concerns traffic.

use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

    /// No flow can finish before this time, or before `horizon`, whichever is earlier. `earliest` says it of one flow;
    /// `None` if it has finished or never will.
    pub fn earliest(
        &mut self,
        horizon: Time,
        mut earliest: impl FnMut(u32) -> Option<Time>,
    ) -> Time {
        let mut first = horizon;
        let mut soon = Vec::new();
        while let Some(&Reverse((at, flow))) = self.flows.peek()
            && at < horizon
        {
            self.flows.pop();
            if let Some(at) = earliest(flow) {
                first = first.min(at);
                soon.push(Reverse((at, flow)));
            }
        }
        self.flows.extend(soon);
        first
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
        let first = finishes.earliest(at(10), |flow| {
            asked.push(flow);
            [Some(at(3)), Some(at(20)), None, Some(at(100))][flow as usize]
        });
        assert_eq!((first, &asked[..]), (at(3), &[0, 1, 2, 3][..]));
        asked.clear();
        let first = finishes.earliest(at(15), |flow| {
            asked.push(flow);
            None
        });
        assert_eq!((first, &asked[..]), (at(15), &[0][..]));
        asked.clear();
        let first = finishes.earliest(at(50), |flow| {
            asked.push(flow);
            Some(at(40))
        });
        assert_eq!((first, &asked[..]), (at(40), &[1][..]));
    }
}
