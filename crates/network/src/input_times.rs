//! When packets arrive at the ends of links.

use crate::inputs::Inputs;
use pathweave_units::Time;
use std::num::NonZeroU64;

/// Inputs of a group, which share one look at whether anything is due.
const GROUP: usize = 16;
const GROUPS_OF_PAGE: usize = Inputs::PAGE / GROUP;

/// The time of the first arrival at each input of [`Inputs`](crate::Inputs), as far ahead as it may be.
///
/// Setting a time is one store. What is due in a window is found by looking at all inputs, which costs less than keeping
/// them in order as long as many links are busy; groups of inputs at which nothing is due are passed over.
#[derive(Clone, Debug)]
pub struct InputTimes {
    /// By page and input; `Time::MAX` where nothing is to arrive.
    times: Box<[[Time; Inputs::PAGE]]>,
    /// No input of a group is due before.
    bounds: Box<[[Time; GROUPS_OF_PAGE]]>,
}

/// Some of the inputs.
#[derive(Clone, Debug)]
pub struct InputSet {
    /// By page: a bit for each input.
    pages: Box<[u64]>,
}

const _: () = assert!(GROUP == u16::BITS as usize && Inputs::PAGE == u64::BITS as usize);

impl InputSet {
    /// All inputs, of which there are `inputs`.
    pub fn all(inputs: usize) -> InputSet {
        let pages = inputs.div_ceil(Inputs::PAGE);
        InputSet {
            pages: vec![u64::MAX; pages].into(),
        }
    }

    /// Whether an input is one of them.
    #[inline(always)]
    pub fn contains(&self, input: usize) -> bool {
        self.pages[input / Inputs::PAGE] >> (input % Inputs::PAGE) & 1 != 0
    }

    /// Some inputs, of `inputs` in all.
    pub fn of(inputs: usize, some: impl Iterator<Item = usize>) -> InputSet {
        let mut set = InputSet::all(inputs);
        set.pages.fill(0);
        for input in some {
            set.pages[input / Inputs::PAGE] |= 1 << (input % Inputs::PAGE);
        }
        set
    }

    /// The pages that have some of these inputs.
    fn pages(&self) -> impl Iterator<Item = usize> {
        let pages = self.pages.iter().enumerate();
        pages.filter(|(_, bits)| **bits != 0).map(|(page, _)| page)
    }

    /// The bits of a group of a page.
    fn of_group(&self, page: usize, group: usize) -> u16 {
        (self.pages[page] >> (group * GROUP)) as u16
    }

    /// Which of some inputs of a page are in the set.
    #[inline(always)]
    pub fn among(&self, page: usize, due: DueInputs) -> DueInputs {
        DueInputs {
            bits: self.pages[page] & due.bits,
        }
    }
}

/// Inputs of a page that are due: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueInputs {
    bits: u64,
}

impl DueInputs {
    /// The first `count` places of a page.
    pub fn first_ones(count: usize) -> DueInputs {
        let (bits, _) = DueInputs { bits: u64::MAX }.split(count);
        bits
    }

    /// The place of the first one in the page, if there is any.
    #[inline(always)]
    pub fn first(self) -> Option<usize> {
        NonZeroU64::new(self.bits).map(|bits| bits.trailing_zeros() as usize)
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

    /// Whether the input at a place of the page is one of them.
    #[inline(always)]
    pub fn contains(self, place: usize) -> bool {
        self.bits >> place & 1 != 0
    }

    /// The inputs of both.
    #[inline(always)]
    #[must_use]
    pub fn or(self, those: DueInputs) -> DueInputs {
        DueInputs {
            bits: self.bits | those.bits,
        }
    }

    /// Adds the input at a place of the page.
    #[inline(always)]
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
    /// For this many inputs, at which nothing is to arrive.
    pub fn new(inputs: usize) -> InputTimes {
        let pages = inputs.div_ceil(Inputs::PAGE);
        InputTimes {
            times: vec![[Time::MAX; Inputs::PAGE]; pages].into(),
            bounds: vec![[Time::MAX; GROUPS_OF_PAGE]; pages].into(),
        }
    }

    /// Pages of inputs.
    pub fn pages(&self) -> usize {
        self.bounds.len()
    }

    /// The times of a page. Those that are due in a window for which [`InputTimes::list_due`] has listed them may be
    /// set to times that are no earlier than its end.
    #[inline(always)]
    pub(crate) fn of_page(&mut self, page: usize) -> &mut [Time; Inputs::PAGE] {
        &mut self.times[page]
    }

    /// When something arrives at an input; `Time::MAX` if nothing does.
    #[inline(always)]
    pub fn at(&self, input: usize) -> Time {
        self.times.as_flattened()[input]
    }

    /// Sets the time of an input; `Time::MAX` if nothing is to arrive.
    #[inline(always)]
    pub fn set(&mut self, input: usize, at: Time) {
        self.times.as_flattened_mut()[input] = at;
        let bound = &mut self.bounds.as_flattened_mut()[input / GROUP];
        *bound = at.min(*bound);
    }

    /// Sets the time of an input that is not earlier than the end of the window in which [`InputTimes::list_due`] has
    /// listed it.
    #[inline(always)]
    pub fn set_listed(&mut self, input: usize, at: Time) {
        self.times.as_flattened_mut()[input] = at;
    }

    /// Nothing is to arrive at an input any more.
    pub fn clear(&mut self, input: usize) {
        self.times.as_flattened_mut()[input] = Time::MAX;
        let (groups, _) = self.times.as_flattened().as_chunks::<GROUP>();
        self.bounds.as_flattened_mut()[input / GROUP] = earliest(&groups[input / GROUP]);
    }

    /// Nothing is due before this time; `Time::MAX` if nothing is due at all.
    pub fn bound(&self) -> Time {
        let bounds = self.bounds.as_flattened().iter().copied();
        bounds.fold(Time::MAX, Time::min)
    }

    /// The earliest time of some inputs; `Time::MAX` if nothing is due there.
    pub fn earliest(&self, of: &InputSet) -> Time {
        let mut earliest = Time::MAX;
        for page in of.pages() {
            for group in 0..GROUPS_OF_PAGE {
                let own = of.of_group(page, group);
                if own != 0 && self.bounds[page][group] < earliest {
                    let own = self.of_group(page, group, own);
                    earliest = own.map(|(_, at)| at).fold(earliest, Time::min);
                }
            }
        }
        earliest
    }

    /// Bounds that are earlier than `end` become exact in all groups that have one of these inputs. If these are all inputs,
    /// [`InputTimes::bound`] is the earliest time of all afterwards, unless it is no earlier than `end`.
    pub fn look_again(&mut self, end: Time, of: &InputSet) {
        for page in of.pages() {
            for group in 0..GROUPS_OF_PAGE {
                if of.of_group(page, group) != 0 && self.bounds[page][group] < end {
                    let (groups, _) = self.times[page].as_chunks::<GROUP>();
                    self.bounds[page][group] = earliest(&groups[group]);
                }
            }
        }
    }

    /// Some inputs of a group, which have a bit in `own`, with their times.
    fn of_group(&self, page: usize, group: usize, own: u16) -> impl Iterator<Item = (u32, Time)> {
        let (groups, _) = self.times[page].as_chunks::<GROUP>();
        let first = (page * Inputs::PAGE + group * GROUP) as u32;
        let inputs = (0..).zip(&groups[group]);
        let inputs = inputs.filter(move |&(place, _)| own >> place & 1 != 0);
        inputs.map(move |(place, &at)| (first + place, at))
    }

    /// Those of some inputs that are due before a time, in their order, with their times.
    pub fn due_before<'a>(
        &'a mut self,
        end: Time,
        of: &'a InputSet,
    ) -> impl Iterator<Item = (u32, Time)> + 'a {
        self.look_again(end, of);
        let times = &*self;
        let groups = of
            .pages()
            .flat_map(|page| (0..GROUPS_OF_PAGE).map(move |group| (page, group)));
        let due = groups.flat_map(move |(page, group)| {
            let is_due = times.bounds[page][group] < end;
            let own = if is_due { of.of_group(page, group) } else { 0 };
            times.of_group(page, group, own)
        });
        due.filter(move |&(_, at)| at < end)
    }

    /// The inputs of a page that are due before the end of a window. The packets that arrive there are to be gathered
    /// before the next window.
    #[inline(always)]
    pub fn list_due(&mut self, page: usize, end: Time) -> DueInputs {
        let (groups, _) = self.times[page].as_chunks();
        let mut bits = 0;
        for (place, (group, bound)) in groups.iter().zip(&mut self.bounds[page]).enumerate() {
            if *bound < end {
                bits |= list_group(group, bound, end) << (place * GROUP);
            }
        }
        DueInputs { bits }
    }
}

fn earliest(times: &[Time]) -> Time {
    times.iter().copied().fold(Time::MAX, Time::min)
}

/// The inputs of a group that are due before a time, and the group's bound.
#[inline(always)]
fn list_group(times: &[Time; GROUP], bound: &mut Time, end: Time) -> u64 {
    // Without jumps, which the processor could not foresee.
    let bits = times
        .iter()
        .rev()
        .fold(0, |bits, at| bits + bits + u64::from(*at < end));
    *bound = if bits != 0 { end } else { earliest(times) };
    bits
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
            let sets = [InputSet::all(150), InputSet::of(150, (0..150).filter(|input| input % 7 < 2))];
            let is_in = |set: usize, input: u32| set == 0 || input % 7 < 2;
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
                        prop_assert!(times.bound() <= times.earliest(&sets[0]));
                        for (number, set) in sets.iter().enumerate() {
                            let own = expected.iter().filter(|&(&input, _)| is_in(number, input));
                            let earliest = own.map(|(_, &at)| at).min().unwrap_or(Time::MAX);
                            prop_assert_eq!(times.earliest(set), earliest);
                            let wanted = wanted.iter().filter(|&&(input, _)| is_in(number, input));
                            let wanted: Vec<_> = wanted.copied().collect();
                            prop_assert_eq!(times.due_before(end, set).collect::<Vec<_>>(), wanted);
                        }
                        let mut listed = Vec::new();
                        for page in 0..times.pages() {
                            for place in times.list_due(page, end).places() {
                                let input = page * Inputs::PAGE + place;
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
