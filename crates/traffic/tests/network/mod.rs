//! A virtual network in which every flow takes a given time.

use pathweave_traffic::{Event, FlowStart, Hosts, Pattern, Program, Size};
use pathweave_units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `count` hosts, `per_rack` in a rack.
pub fn hosts(count: u32, per_rack: u32) -> Hosts {
    Hosts {
        count,
        rack: (0..count).map(|host| host / per_rack).collect(),
        pod: vec![0; count as usize],
    }
}

pub const KB: Bytes = Bytes::new(1_000);

pub const MS: Time = Time::from_millis(1);

pub fn program(pattern: Pattern, hosts: &Hosts) -> Program {
    Program::new(pattern, Size::Fixed(KB), hosts, 1, 0, None).unwrap()
}

/// Runs a program until the time is up or nothing happens any more; `lasts` says how long a flow
/// takes. Gives every flow with its end.
pub fn run(
    program: &mut Program,
    until: Time,
    mut lasts: impl FnMut(&FlowStart) -> Time,
) -> Vec<(FlowStart, Option<Time>)> {
    let mut flows: Vec<(FlowStart, Option<Time>)> = Vec::new();
    let mut ends = BinaryHeap::new();
    let mut starts = Vec::new();
    program.on(Event::Begin, Time::ZERO, &mut starts);
    let mut now = Time::ZERO;
    let mut total = None;
    loop {
        for start in starts.drain(..) {
            assert!(start.at >= now, "a start lies in the past");
            assert_eq!(start.tag, flows.len() as u64, "tags count up");
            assert_ne!(start.source, start.destination);
            if start.size.is_some() {
                ends.push(Reverse((start.at + lasts(&start), start.tag)));
            }
            flows.push((start, None));
        }
        if let Some(left) = program.to_come() {
            let all = flows.len() as u64 + left;
            assert_eq!(*total.get_or_insert(all), all, "flows to come");
        }
        let end = ends.peek().map(|&Reverse((time, _))| time);
        let wake = program.next_wake();
        now = match (end, wake) {
            (None, None) => break,
            (Some(end), None) => end,
            (None, Some(wake)) => wake,
            (Some(end), Some(wake)) => end.min(wake),
        };
        if now > until {
            break;
        }
        if wake == Some(now) {
            program.on(Event::Wake, now, &mut starts);
        } else {
            let Reverse((_, tag)) = ends.pop().unwrap();
            flows[tag as usize].1 = Some(now);
            program.on(Event::Finished { tag, at: now }, now, &mut starts);
        }
    }
    flows
}
