//! The schedule, a timing wheel and a heap, against a sorted map, with the feature `checks`.

use crate::schedule::alarm::Alarm;
use crate::schedule::link_schedule::LinkSchedule;
use crate::schedule::ranks::Ranks;
use crate::schedule::scheduler::{Event, Scheduler};
use crate::schedule::wheel::Wheel;
use pathweave_network::{LinkEvent, LinkEvents, LinkSetup, Places, PortId};
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

const LINKS: u32 = 16;
const SEED: u64 = 7;

/// The ports of a ring of links.
fn places() -> Places {
    let links: Vec<LinkSetup> = (0..LINKS)
        .map(|link| {
            LinkSetup::plain(
                (link * 5 % LINKS, (link * 5 + 1) % LINKS),
                Rate::from_gbps(1),
                Time::ZERO,
            )
        })
        .collect();
    Places::new(&links)
}

/// Plays an input of any bytes: events are set, taken back and come out.
///
/// # Panics
/// When they come out in another order than that of the rule.
pub fn schedule(input: &[u8]) {
    let Some((&[longest, spacing], actions)) = input.split_first_chunk() else {
        return;
    };
    let longest = Time::from_picos(1 << (longest % 40));
    let spacing = Time::from_picos(1 << (spacing % 24));
    let places = places();
    let ranks = Ranks::new(SEED, places.links().into(), places.all_links());
    let wheel = Wheel::new(LINKS, longest * 2, spacing, ranks.clone());
    let mut scheduler = Scheduler::new(LINKS as usize, LinkSchedule::Wheel(wheel));
    // By time, rank and the order in which they were set.
    let mut expected: BTreeMap<(Time, (u64, u32), u32), Event> = BTreeMap::new();
    let mut serial = 0;
    for action in actions.chunks_exact(3) {
        // From a picosecond to far beyond the wheel.
        let delay = Time::from_picos((u64::from(action[1]) << (action[2] % 40)) >> 4);
        let at = scheduler.now() + delay;
        let link = u32::from(action[0] >> 3) % LINKS;
        let port = PortId(link);
        let event = if action[0] & 1 == 0 {
            LinkEvent::Arrival
        } else {
            LinkEvent::Departure
        };
        let set = expected
            .iter()
            .find(|&(_, &other)| other == Event::Link(port, event))
            .map(|(&key, _)| key);
        match action[0] & 6 {
            0 if set.is_some() => {
                if let Some(key) = set {
                    scheduler.cancel(port, event, key.0);
                    expected.remove(&key);
                }
            }
            0 | 2 if set.is_none() => {
                scheduler.schedule(port, event, at);
                let key = (at, ranks.of(at, port, event), 0);
                expected.insert(key, Event::Link(port, event));
            }
            4 => {
                // The number of this kind of timer in the rule.
                const FEEDBACK: u64 = 4;
                scheduler.wake(Alarm::Feedback(link), at);
                serial += 1;
                let key = (at, ranks.of_timer(at, FEEDBACK, link, 0), serial);
                expected.insert(key, Event::Timer(Alarm::Feedback(link)));
            }
            _ => {
                let first = expected
                    .first_key_value()
                    .filter(|((time, ..), _)| *time < at)
                    .map(|((time, ..), event)| (*time, *event));
                if first.is_some() {
                    expected.pop_first();
                }
                assert_eq!(scheduler.pop_before(at), first);
            }
        }
    }
    while let Some(((at, ..), event)) = expected.pop_first() {
        assert_eq!(scheduler.pop_before(Time::MAX), Some((at, event)));
    }
    assert_eq!(scheduler.pop_before(Time::MAX), None);
}
