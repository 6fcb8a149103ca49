//! What is to happen to traffic, in an order that follows from the scenario alone.
//!
//! Traffic acts at a distance: a flow that ends here starts another there, without a packet between them.
//! So that nothing depends on the order in which a run handles what happens at different nodes, all of it
//! stands here: entries are carried out in the order of time, group, kind and flow. What concerns the whole run
//! comes before all that happens to packets at the same time, and what concerns a group after it. What hosts do
//! is heard of after a reaction time ([`crate::regions::reactions`]), never at once.
//!
//! Where nothing follows from the ends of flows, nobody has to wait for them. Ends are noted, and traffic hears of them
//! before the next entry that comes later in this order. Starts can be taken out ahead, as long as they are next.

use pathweave_transport::Stopped;
use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Whose an entry is: what concerns the whole run comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Run,
    Group(u32),
}

impl Whose {
    /// The group.
    ///
    /// # Panics
    /// When it is not a group's.
    pub fn group(self) -> u32 {
        match self {
            Whose::Group(group) => group,
            Whose::Run => unreachable!("this is a group's"),
        }
    }
}

/// What is to happen; at one time, to one group, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The plan's last start has come.
    Close,
    /// The plan's end has come.
    End,
    /// The run may have come to its end: a subflow has failed.
    Look,
    /// The group begins.
    Begin,
    /// The group ends.
    Stop,
    /// A flow has ended.
    Finished(u32),
    /// A flow's destination hears that its source has stopped.
    HearStop(u32, Stopped),
    /// The group asked to be woken.
    Wake,
    /// A flow starts.
    StartFlow(u32),
    /// A flow stops sending.
    StopFlow(u32),
    /// A path of a flow opens.
    OpenPath(u32),
}

/// Something that is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub at: Time,
    pub whose: Whose,
    pub act: Act,
}

/// All that is to happen.
#[derive(Clone, Debug)]
pub(crate) struct TrafficAgenda {
    /// The next entry, if it came when there was none here; otherwise [`Key::NONE`]. Much of what is added is due
    /// before all else.
    first: Key,
    /// All others, none of which is earlier.
    others: BinaryHeap<Reverse<Key>>,
    /// What destinations are to hear, by flow: a source stops once.
    stopped: BTreeMap<u32, Stopped>,
    /// Ends of flows that traffic has not heard of, from which nothing follows.
    noted: Vec<Key>,
    /// The last entry that was taken out when it was due, and the last one that was taken out ahead.
    taken: Key,
    ahead: Key,
}

/// An entry in one word, whose order is that of entries: time, group, kind and flow, from the highest bits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

/// Bits of the flow's number and of the kind.
const FLOW_BITS: u32 = 32;
const KIND_BITS: u32 = 4;
const WAKE: u64 = 7;
const START_FLOW: u64 = 8;

impl Key {
    /// After all entries: it belongs to none.
    const NONE: Key = Key(u128::MAX);
    /// No entry comes before it. It stands for none that was taken out yet.
    const FIRST: Key = Key(0);

    fn new(at: Time, whose: Whose, act: Act) -> Key {
        let group = match whose {
            Whose::Run => 0,
            Whose::Group(group) => u64::from(group) + 1,
        };
        let (kind, flow) = match act {
            Act::Close => (0, 0),
            Act::End => (1, 0),
            Act::Look => (2, 0),
            Act::Begin => (3, 0),
            Act::Stop => (4, 0),
            Act::Finished(flow) => (5, flow),
            Act::HearStop(flow, _) => (6, flow),
            Act::Wake => (WAKE, 0),
            Act::StartFlow(flow) => (START_FLOW, flow),
            Act::StopFlow(flow) => (9, flow),
            Act::OpenPath(flow) => (10, flow),
        };
        let place = (group << KIND_BITS | kind) << FLOW_BITS | u64::from(flow);
        Key(u128::from(at.as_picos()) << u64::BITS | u128::from(place))
    }

    fn kind(self) -> u64 {
        self.0 as u64 >> FLOW_BITS & ((1 << KIND_BITS) - 1)
    }

    fn at(self) -> Time {
        Time::from_picos((self.0 >> u64::BITS) as u64)
    }

    /// Up to when everything has to have happened to packets when it is carried out: what concerns the whole run
    /// comes before what happens to packets at that time.
    fn limit(self) -> Time {
        match self.whose() {
            Whose::Run => self.at(),
            Whose::Group(_) => self.at().saturating_add(Time::from_picos(1)),
        }
    }

    fn whose(self) -> Whose {
        let group = (self.0 as u64 >> (FLOW_BITS + KIND_BITS)) as u32;
        group.checked_sub(1).map_or(Whose::Run, Whose::Group)
    }
}

impl Default for TrafficAgenda {
    fn default() -> TrafficAgenda {
        TrafficAgenda {
            first: Key::NONE,
            others: BinaryHeap::new(),
            stopped: BTreeMap::new(),
            noted: Vec::new(),
            taken: Key::FIRST,
            ahead: Key::FIRST,
        }
    }
}

impl TrafficAgenda {
    /// Adds an entry.
    pub fn add(&mut self, at: Time, whose: Whose, act: Act) {
        if let Act::HearStop(flow, stopped) = act {
            self.stopped.insert(flow, stopped);
        }
        self.add_key(Key::new(at, whose, act));
    }

    /// Traffic will hear at a time that a flow of a group has ended, and nothing follows from it.
    pub fn note_end(&mut self, heard: Time, group: u32, flow: u32) {
        let key = Key::new(heard, Whose::Group(group), Act::Finished(flow));
        self.noted.push(key);
    }

    /// The flows whose ends traffic hears of before a time, and when it does, in no order.
    pub fn noted_before(&mut self, at: Time) -> impl Iterator<Item = (u32, Time)> {
        self.noted_before_key(Key::new(at, Whose::Run, Act::Close))
    }

    /// The same, before an entry is carried out.
    pub fn noted_before_entry(&mut self, entry: &Entry) -> impl Iterator<Item = (u32, Time)> {
        self.noted_before_key(Key::new(entry.at, entry.whose, entry.act))
    }

    fn noted_before_key(&mut self, limit: Key) -> impl Iterator<Item = (u32, Time)> {
        let heard = self.noted.extract_if(.., move |key| *key < limit);
        heard.map(|key| (key.0 as u32, key.at()))
    }

    /// Something may follow from the ends that have been noted.
    pub fn heed_noted(&mut self) {
        for key in std::mem::take(&mut self.noted) {
            self.add_key(key);
        }
    }

    fn add_key(&mut self, key: Key) {
        if self.next_key() < key {
            self.others.push(Reverse(key));
            return;
        }
        let before = std::mem::replace(&mut self.first, key);
        if before != Key::NONE {
            self.others.push(Reverse(before));
        }
    }

    /// That of the next entry, or [`Key::NONE`].
    #[inline(always)]
    fn next_key(&self) -> Key {
        if self.first != Key::NONE {
            return self.first;
        }
        self.others.peek().map_or(Key::NONE, |Reverse(key)| *key)
    }

    /// When the next entry is due; `Time::MAX` if there is none.
    pub fn next(&self) -> Time {
        self.next_key().at()
    }

    /// Up to when everything has to have happened to packets, and nothing from then on, when the next entry is
    /// carried out; `Time::MAX` if there is none.
    #[inline]
    pub fn limit(&self) -> Time {
        self.next_key().limit()
    }

    /// The next entry, if it is due by now.
    pub fn take_due(&mut self, now: Time) -> Option<Entry> {
        self.take_due_within(now, Time::MAX)
    }

    /// The next entry, if it is due by now and packets need not have come further than this.
    #[inline(always)]
    pub fn take_due_within(&mut self, now: Time, limit: Time) -> Option<Entry> {
        let key = self.next_key();
        if key == Key::NONE || key.at() > now || key.limit() > limit {
            return None;
        }
        self.taken = key;
        self.take_next()
    }

    /// The next entry, if it is due before a time and a flow starts, or a group is woken that may start some.
    pub fn take_start_before(&mut self, limit: Time) -> Option<Entry> {
        let key = self.next_key();
        if key == Key::NONE || key.at() >= limit || !matches!(key.kind(), WAKE | START_FLOW) {
            return None;
        }
        self.ahead = key;
        self.take_next()
    }

    /// The time of the last entry that was taken out ahead.
    pub fn ahead(&self) -> Time {
        self.ahead.at()
    }

    /// Whether an entry was taken out ahead that comes after what happens now.
    pub fn is_ahead_of(&self, now: Time) -> bool {
        self.ahead.at() > now || (self.ahead.at() == now && self.taken < self.ahead)
    }

    /// The next entry.
    #[inline(always)]
    fn take_next(&mut self) -> Option<Entry> {
        let key = self.next_key();
        if self.first == Key::NONE {
            self.others.pop();
        } else {
            self.first = Key::NONE;
        }
        let flow = key.0 as u32;
        let act = match key.kind() {
            0 => Act::Close,
            1 => Act::End,
            2 => Act::Look,
            3 => Act::Begin,
            4 => Act::Stop,
            5 => Act::Finished(flow),
            6 => Act::HearStop(flow, self.stopped.remove(&flow)?),
            WAKE => Act::Wake,
            START_FLOW => Act::StartFlow(flow),
            9 => Act::StopFlow(flow),
            _ => Act::OpenPath(flow),
        };
        Some(Entry {
            at: key.at(),
            whose: key.whose(),
            act,
        })
    }

    /// Whether the next entry is due by now and concerns the whole run.
    pub fn concerns_run(&self, now: Time) -> bool {
        let next = self.next_key();
        next != Key::NONE && next.at() <= now && next.whose() == Whose::Run
    }

    /// Whether nothing is to happen.
    pub fn is_empty(&self) -> bool {
        self.next_key() == Key::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = (u64, Whose, Act)> {
        let whose = prop_oneof![Just(Whose::Run), (0u32..3).prop_map(Whose::Group)];
        let act = prop_oneof![
            Just(Act::Look),
            Just(Act::Wake),
            (0u32..5).prop_map(Act::Finished),
            (0u32..5).prop_map(Act::StartFlow),
            (0u32..5).prop_map(Act::StopFlow),
        ];
        (0u64..4, whose, act)
    }

    #[test]
    fn ends_that_are_noted_are_heard_of_in_the_order_of_the_rule() {
        let at = Time::from_picos;
        let mut agenda = TrafficAgenda::default();
        for (heard, group, flow) in [(5, 1, 2), (3, 0, 9), (5, 0, 4), (8, 0, 7)] {
            agenda.note_end(at(heard), group, flow);
        }
        assert!(agenda.is_empty());
        let before = |agenda: &mut TrafficAgenda, time| -> Vec<_> {
            agenda.noted_before(at(time)).collect()
        };
        assert_eq!(before(&mut agenda, 3), []);
        assert_eq!(before(&mut agenda, 5), [(9, at(3))]);
        let stop = Entry {
            at: at(5),
            whose: Whose::Group(1),
            act: Act::Stop,
        };
        // The group's own end comes after its stop.
        let heard: Vec<_> = agenda.noted_before_entry(&stop).collect();
        assert_eq!(heard, [(4, at(5))]);
        agenda.heed_noted();
        assert_eq!(before(&mut agenda, 99), []);
        assert_eq!(agenda.next(), at(5));
        assert_eq!(
            agenda.take_due(at(5)).map(|entry| entry.act),
            Some(Act::Finished(2))
        );
        assert_eq!(
            agenda.take_due(at(8)).map(|entry| entry.act),
            Some(Act::Finished(7))
        );
    }

    #[test]
    fn starts_are_taken_ahead_until_something_else_is_next() {
        let (run, group) = (Whose::Run, Whose::Group(1));
        let at = Time::from_picos;
        let mut agenda = TrafficAgenda::default();
        assert!(!agenda.is_ahead_of(at(0)));
        for (time, whose, act) in [
            (3, group, Act::StartFlow(7)),
            (3, group, Act::StopFlow(2)),
            (1, group, Act::Wake),
            (4, group, Act::StartFlow(8)),
            (3, group, Act::Finished(1)),
        ] {
            agenda.add(at(time), whose, act);
        }
        let ahead = |agenda: &mut TrafficAgenda, limit| {
            let entry = agenda.take_start_before(at(limit))?;
            Some((entry.at, entry.act))
        };
        assert_eq!(ahead(&mut agenda, 1), None);
        assert_eq!(ahead(&mut agenda, 9), Some((at(1), Act::Wake)));
        assert_eq!(agenda.ahead(), at(1));
        // It may have woken a program that wants a flow started at once, and what comes first at that time is taken first.
        agenda.add(at(1), group, Act::StartFlow(9));
        assert_eq!(ahead(&mut agenda, 9), Some((at(1), Act::StartFlow(9))));
        assert_eq!(ahead(&mut agenda, 9), None);
        assert!(agenda.is_ahead_of(at(0)) && agenda.is_ahead_of(at(1)));
        assert!(!agenda.is_ahead_of(at(2)));
        agenda.add(at(1), group, Act::StopFlow(4));
        agenda.take_due(at(1)).expect("it is due");
        assert!(!agenda.is_ahead_of(at(1)));
        assert_eq!(
            agenda.take_due(at(3)).map(|entry| entry.act),
            Some(Act::Finished(1))
        );
        assert_eq!(ahead(&mut agenda, 9), Some((at(3), Act::StartFlow(7))));
        agenda.add(at(3), run, Act::Look);
        assert_eq!(
            agenda.take_due(at(3)).map(|entry| entry.act),
            Some(Act::Look)
        );
        assert!(agenda.is_ahead_of(at(3)));
    }

    proptest! {
        /// The order in which entries are added does not matter, and time comes before group, group before kind
        /// and kind before flow.
        #[test]
        fn entries_come_in_the_order_of_the_rule(
            (mut added, shuffled) in prop::collection::vec(entry(), 0..40)
                .prop_flat_map(|added| (Just(added.clone()), Just(added).prop_shuffle())),
        ) {
            let mut agenda = TrafficAgenda::default();
            for &(at, whose, act) in &shuffled {
                agenda.add(Time::from_picos(at), whose, act);
            }
            let key = |&(at, whose, act): &(u64, Whose, Act)| {
                let group = match whose {
                    Whose::Run => 0,
                    Whose::Group(group) => group + 1,
                };
                let (kind, flow) = match act {
                    Act::Look => (0, 0),
                    Act::Finished(flow) => (1, flow),
                    Act::Wake => (2, 0),
                    Act::StartFlow(flow) => (3, flow),
                    _ => match act {
                        Act::StopFlow(flow) => (4, flow),
                        _ => unreachable!("no other is drawn"),
                    },
                };
                (at, group, kind, flow)
            };
            added.sort_by_key(key);
            for now in 0..4 {
                while let Some(entry) = agenda.take_due(Time::from_picos(now)) {
                    let expected = added.remove(0);
                    prop_assert_eq!((entry.at, entry.whose, entry.act),
                        (Time::from_picos(expected.0), expected.1, expected.2));
                }
                prop_assert!(added.iter().all(|entry| entry.0 > now));
            }
            prop_assert!(agenda.is_empty() && agenda.next() == Time::MAX);
        }
    }
}
