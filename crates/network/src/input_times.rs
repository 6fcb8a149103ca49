//! When packets arrive at the ends of links.

use pathweave_units::Time;

/// Inputs of a group, which share one look at whether anything is due.
const GROUP: usize = 16;
/// Groups that are looked through at a time.
const GROUPS_OF_PAGE: usize = 4;

/// The time of the first arrival at each input of [`Inputs`](crate::Inputs), as far ahead as it may be.
///
/// Setting a time is one store. What is due in a window is found by looking at all inputs, which costs less than keeping
/// them in order as long as many links are busy; groups of inputs at which nothing is due are passed over.
#[derive(Clone, Debug)]
pub struct InputTimes {
    /// By input; `Time::MAX` where nothing is to arrive.
    times: Box<[Time]>,
    /// No input of a group is due before.
    bounds: Box<[Time]>,
}

/// Inputs of a page that are due: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueInputs {
    bits: u64,
}

impl DueInputs {
    /// The place of the first one in the page, if there is any.
    #[inline(always)]
    pub fn first(self) -> Option<usize> {
        (self.bits != 0).then(|| self.bits.trailing_zeros() as usize)
    }

    /// Those after the first one.
    #[inline(always)]
    pub fn rest(self) -> DueInputs {
        DueInputs {
            bits: self.bits & self.bits.wrapping_sub(1),
        }
    }

    /// Those before a place of the page, and those from there on.
    #[inline(always)]
    pub fn split(self, place: usize) -> (DueInputs, DueInputs) {
        let before = match 1u64.checked_shl(place as u32) {
            Some(bit) => bit - 1,
            None => u64::MAX,
        };
        let of = |bits| DueInputs { bits };
        (of(self.bits & before), of(self.bits & !before))
    }

    /// Adds the input at a place of the page.
    pub fn add(&mut self, place: usize) {
        self.bits |= 1 << place;
    }

    /// Their places in the page, in their order.
    pub fn places(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let first = self.first();
            self = self.rest();
            first
        })
    }
}

impl InputTimes {
    /// Inputs of a page.
    pub const PAGE: usize = GROUP * GROUPS_OF_PAGE;

    /// For this many inputs, at which nothing is to arrive.
    pub fn new(inputs: usize) -> InputTimes {
        let groups = inputs.div_ceil(InputTimes::PAGE) * GROUPS_OF_PAGE;
        InputTimes {
            times: vec![Time::MAX; groups * GROUP].into(),
            bounds: vec![Time::MAX; groups].into(),
        }
    }

    /// Pages of inputs.
    pub fn pages(&self) -> usize {
        self.bounds.len() / GROUPS_OF_PAGE
    }

    /// When something arrives at an input; `Time::MAX` if nothing does.
    #[inline(always)]
    pub fn at(&self, input: usize) -> Time {
        self.times[input]
    }

    /// Sets the time of an input; `Time::MAX` if nothing is to arrive.
    #[inline(always)]
    pub fn set(&mut self, input: usize, at: Time) {
        self.times[input] = at;
        let bound = &mut self.bounds[input / GROUP];
        *bound = at.min(*bound);
    }

    /// Sets the time of an input that is not earlier than the end of the window in which [`InputTimes::list_due`] has
    /// listed it.
    #[inline(always)]
    pub fn set_listed(&mut self, input: usize, at: Time) {
        self.times[input] = at;
    }

    /// Nothing is to arrive at an input any more.
    pub fn clear(&mut self, input: usize) {
        self.times[input] = Time::MAX;
        self.bounds[input / GROUP] = self.earliest_of(input / GROUP);
    }

    /// Nothing is due before this time; `Time::MAX` if nothing is due at all.
    pub fn bound(&self) -> Time {
        self.bounds.iter().copied().fold(Time::MAX, Time::min)
    }

    /// The earliest time of all; `Time::MAX` if nothing is due.
    pub fn earliest(&self) -> Time {
        let mut earliest = Time::MAX;
        for (group, &bound) in self.bounds.iter().enumerate() {
            if bound < earliest {
                earliest = earliest.min(self.earliest_of(group));
            }
        }
        earliest
    }

    #[inline(always)]
    fn of_group(&self, group: usize) -> &[Time] {
        &self.times[group * GROUP..(group + 1) * GROUP]
    }

    fn earliest_of(&self, group: usize) -> Time {
        self.of_group(group)
            .iter()
            .copied()
            .fold(Time::MAX, Time::min)
    }

    /// All inputs that are due before a time, in their order, with their times.
    pub fn due_before(&mut self, end: Time) -> impl Iterator<Item = (u32, Time)> {
        for group in 0..self.bounds.len() {
            if self.bounds[group] < end {
                self.bounds[group] = self.earliest_of(group);
            }
        }
        let groups = (0..).zip(self.times.chunks(GROUP)).zip(&self.bounds);
        let due = groups.filter(move |&(_, &bound)| bound < end);
        let inputs = due.flat_map(|((group, times), _)| {
            let first = group * GROUP as u32;
            (first..).zip(times.iter().copied())
        });
        inputs.filter(move |&(_, at)| at < end)
    }

    /// The inputs of a page that are due before the end of a window. The packets that arrive there are to be gathered
    /// before the next window.
    #[inline(always)]
    pub fn list_due(&mut self, page: usize, end: Time) -> DueInputs {
        let mut bits = 0;
        for place in 0..GROUPS_OF_PAGE {
            let group = page * GROUPS_OF_PAGE + place;
            if self.bounds[group] < end {
                bits |= self.list_group(group, end) << (place * GROUP);
            }
        }
        DueInputs { bits }
    }

    #[inline(always)]
    fn list_group(&mut self, group: usize, end: Time) -> u64 {
        // Without jumps, which the processor could not foresee.
        let times = self.of_group(group).iter().rev();
        let bits = times.fold(0, |bits, at| bits + bits + u64::from(*at < end));
        self.bounds[group] = if bits != 0 {
            end
        } else {
            self.earliest_of(group)
        };
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Step {
        Set(usize, u64),
        Clear(usize),
        Window(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0usize..150, 0u64..200).prop_map(|(input, ahead)| Step::Set(input, ahead)),
            1 => (0usize..150).prop_map(Step::Clear),
            2 => (1u64..100).prop_map(Step::Window),
        ]
    }

    proptest! {
        /// Against a map: what is due in a window is listed page by page, and nothing else.
        #[test]
        fn what_is_due_is_listed(steps in prop::collection::vec(step(), 1..200)) {
            let picos = Time::from_picos;
            let mut times = InputTimes::new(150);
            let mut expected = BTreeMap::new();
            let mut now = 0;
            for step in steps {
                match step {
                    Step::Set(input, ahead) => {
                        times.set(input, picos(now + ahead));
                        expected.insert(input as u32, picos(now + ahead));
                    }
                    Step::Clear(input) => {
                        times.clear(input);
                        expected.remove(&(input as u32));
                    }
                    Step::Window(length) => {
                        let end = picos(now + length);
                        let before = |(_, at): &(&u32, &Time)| **at < end;
                        let wanted: Vec<_> = expected.iter().filter(before).map(|(&i, &at)| (i, at)).collect();
                        prop_assert!(times.bound() <= times.earliest());
                        let earliest = expected.values().copied().min().unwrap_or(Time::MAX);
                        prop_assert_eq!(times.earliest(), earliest);
                        prop_assert_eq!(times.due_before(end).collect::<Vec<_>>(), wanted.clone());
                        let mut listed = Vec::new();
                        for page in 0..times.pages() {
                            for place in times.list_due(page, end).places() {
                                let input = page * InputTimes::PAGE + place;
                                listed.push(input as u32);
                                // Every third has another packet in the next window.
                                let next = if input.is_multiple_of(3) { end } else { Time::MAX };
                                times.set_listed(input, next);
                            }
                        }
                        let inputs: Vec<u32> = wanted.iter().map(|&(input, _)| input).collect();
                        prop_assert_eq!(&listed, &inputs);
                        expected.retain(|_, at| *at >= end);
                        expected.extend(inputs.iter().filter(|input| input.is_multiple_of(3)).map(|&input| (input, end)));
                        now += length;
                    }
                }
            }
        }
    }

    #[test]
    fn inputs_are_added_and_divided() {
        let mut times = InputTimes::new(64);
        for input in [3, 9, 60] {
            times.set(input, Time::from_micros(1));
        }
        let mut due = times.list_due(0, Time::from_micros(2));
        for place in [9, 0, 63, 10, 0] {
            due.add(place);
        }
        let places = |due: DueInputs| due.places().collect::<Vec<_>>();
        assert_eq!(places(due), [0, 3, 9, 10, 60, 63]);
        for (place, count) in [(0, 0), (10, 3), (63, 5), (64, 6)] {
            let (before, from) = due.split(place);
            assert_eq!(places(before), places(due)[..count]);
            assert_eq!(places(from), places(due)[count..]);
        }
    }
}
