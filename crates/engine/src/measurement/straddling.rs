//! Packets that are still arriving at their host when an interval ends.
//!
//! The payload of an interval is what arrives in it for the first time, spread evenly over the packet's
//! transmission on its last link. Counters take a packet's payload when the whole packet is there. So a packet that
//! comes soon after a boundary has part of its payload before it, and that part is moved: the boundary itself
//! costs nothing, and only packets that arrive within one transmission time after it are looked at.

use crate::build;
use pathweave_scenario::{Change, Plan};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// Recent boundaries, and what the last links carried since.
pub(crate) struct Straddling<'p> {
    plan: &'p Plan,
    /// The rates that links into hosts take, and when, by the link's number.
    changes: BTreeMap<u32, Vec<(Time, Rate)>>,
    /// No packet takes longer on its last link.
    longest: Time,
    /// In order of time.
    boundaries: VecDeque<Time>,
    /// Of the packet that was last asked for.
    parts: Vec<(Time, f64)>,
}

impl<'p> Straddling<'p> {
    /// With no boundary so far.
    pub fn new(plan: &'p Plan) -> Straddling<'p> {
        let fabric = &plan.fabric;
        let into_host = |link: usize| fabric.node(fabric.links[link].to).host_index().is_some();
        let mut changes: BTreeMap<u32, Vec<(Time, Rate)>> = BTreeMap::new();
        for event in &plan.events {
            if let Change::Rate(rate) = event.change
                && into_host(event.link.0 as usize)
            {
                let of_link = changes.entry(event.link.0).or_default();
                of_link.push((event.at, rate));
            }
        }
        let first = (0..fabric.links.len())
            .filter(|&link| into_host(link))
            .map(|link| fabric.links[link].rate);
        let later = changes.values().flatten().map(|&(_, rate)| rate);
        let slowest = first.chain(later).min();
        let header = build::explicit(plan).map_or(0, |(scheme, _)| scheme.header_bytes());
        let packet = Bytes::new(build::full_packet(plan).get() + u64::from(header));
        Straddling {
            plan,
            changes,
            longest: slowest.map_or(Time::ZERO, |rate| rate.time_for(packet)),
            boundaries: VecDeque::new(),
            parts: Vec::new(),
        }
    }

    /// An interval ends now, and another begins. Returns since when boundaries matter to packets to come.
    pub fn add_boundary(&mut self, now: Time) -> Time {
        let since = now.saturating_sub(self.longest);
        while self.boundaries.front().is_some_and(|&first| first < since) {
            self.boundaries.pop_front();
        }
        if self.boundaries.back() != Some(&now) {
            self.boundaries.push_back(now);
        }
        since
    }

    /// Packets that arrive up to this time may have begun to arrive before a boundary; `None` without one.
    pub fn until(&self) -> Option<Time> {
        let last = self.boundaries.back();
        last.map(|&last| last.saturating_add(self.longest))
    }

    /// What of a packet's payload came before each boundary, the earliest first. The packet has `size` bytes on the
    /// wire and has come over `link`.
    pub fn parts(&mut self, link: u32, size: u16, payload: u64, now: Time) -> &[(Time, f64)] {
        let mut parts = std::mem::take(&mut self.parts);
        let bits = f64::from(size) * 8.0;
        parts.clear();
        parts.extend(self.boundaries.iter().filter_map(|&boundary| {
            let before = bits - self.bits(link, boundary, now);
            (before > 0.0).then(|| (boundary, before / bits * payload as f64))
        }));
        self.parts = parts;
        &self.parts
    }

    /// Bits that a busy link brings to its far end from one time to another.
    fn bits(&self, link: u32, from: Time, to: Time) -> f64 {
        let about = &self.plan.fabric.links[link as usize];
        // What arrives now was sent the link's delay ago.
        let mut from = from.saturating_sub(about.delay);
        let to = to.saturating_sub(about.delay);
        let mut rate = about.rate;
        let mut sum = 0.0;
        let mut add = |until: Time, rate: Rate| {
            sum += until.saturating_sub(from).as_secs_f64() * rate.as_bps() as f64;
            from = from.max(until);
        };
        for &(at, next) in self.changes.get(&link).map_or(&[][..], Vec::as_slice) {
            add(at.min(to), rate);
            rate = next;
        }
        add(to, rate);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan whose links into hosts have 12 Mbps, 1500 bytes in 1 ms, and a delay of 10 ms.
    fn plan(events: &str) -> Plan {
        let text = format!(
            r#"
            [fabric]
            kind = "dumbbell"
            left = 1
            bottleneck_rate = "24 Mbps"
            bottleneck_delay = "1 ms"
            host_rate = "12 Mbps"
            host_delay = "10 ms"
            queue = {{ limit = 4 }}
            [[traffic]]
            name = "flow"
            pattern = "flows"
            controller = "reno"
            size = "1 MB"
            flows = [{{ from = "S1", to = "D1" }}]
            {events}
            "#
        );
        let scenario = pathweave_scenario::check(&text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        scenario.variants()[0].plan(1)
    }

    fn last_link(plan: &Plan) -> u32 {
        let ends = |link: &pathweave_fabric::Link| plan.fabric.node(link.to).name == "D1";
        let place = plan.fabric.links.iter().position(ends);
        place.expect("a link into D1") as u32
    }

    fn close(found: &[(Time, f64)], expected: &[(Time, f64)]) -> bool {
        let near = |((at, part), (of, want)): (&(Time, f64), &(Time, f64))| {
            at == of && (part - want).abs() < 1e-6
        };
        found.len() == expected.len() && found.iter().zip(expected).all(near)
    }

    #[test]
    fn payload_is_spread_over_the_transmission() {
        let plan = plan("");
        let mut straddling = Straddling::new(&plan);
        let link = last_link(&plan);
        let at = |micros: u64| Time::from_micros(100_000 + micros);
        for boundary in [0, 400, 900, 1000] {
            straddling.add_boundary(at(boundary));
        }
        // It began to arrive at 0.2 ms.
        let found = straddling.parts(link, 1500, 1000, at(1200));
        let expected = [(at(400), 200.0), (at(900), 700.0), (at(1000), 800.0)];
        assert!(close(found, &expected), "{found:?}");
        // One that is all there when an interval ends is of that interval.
        let found = straddling.parts(link, 150, 100, at(1000));
        assert!(close(found, &[(at(1000), 100.0)]), "{found:?}");
        assert_eq!(straddling.until(), Some(at(2000)));
        assert_eq!(straddling.add_boundary(at(1500)), at(500));
        assert_eq!(straddling.boundaries, [at(900), at(1000), at(1500)]);
    }

    /// The rate of a packet is that of its link when it was sent, 10 ms before it arrived.
    #[test]
    fn a_change_of_the_rate_counts_when_what_was_sent_then_arrives() {
        let events = "[[events]]\nat = \"100 ms\"\nlink = \"B-D1\"\nrate = \"6 Mbps\"";
        let plan = plan(events);
        let mut straddling = Straddling::new(&plan);
        let link = last_link(&plan);
        let at = |micros: u64| Time::from_micros(100_000 + micros);
        for boundary in [9_800, 10_000, 10_500] {
            straddling.add_boundary(at(boundary));
        }
        // Half of it was sent at 12 Mbps from 99.5 ms on, half at 6 Mbps until 101 ms.
        let found = straddling.parts(link, 1500, 1000, at(11_000));
        let expected = [(at(9_800), 300.0), (at(10_000), 500.0), (at(10_500), 750.0)];
        assert!(close(found, &expected), "{found:?}");
    }
}
