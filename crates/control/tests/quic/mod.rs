//! The crate as a QUIC stack drives it: see [`stack`].

mod losses;
mod paths;
mod stack;
mod windows;

use pathweave_control::controllers::Settings;
use pathweave_control::{Connection, PathId, Start};
use pathweave_units::Time;
use stack::Stack;

const MS: Time = Time::from_millis(1);
const ZERO: PathId = PathId(0);

fn times(count: u64) -> Time {
    MS.saturating_mul(count)
}

/// A connection with one path of 10 ms.
fn one_path(settings: &impl Settings) -> Stack {
    let connection = Connection::of(settings, Start::default()).expect("in range");
    let mut stack = Stack::new(connection);
    stack.open(0, times(10));
    stack
}

/// One in congestion avoidance, its window `packets`.
fn after_slow_start(settings: &impl Settings, rounds: u32) -> Stack {
    let mut stack = one_path(settings);
    for _ in 0..rounds {
        stack.round(0);
    }
    lose_one(&mut stack);
    stack
}

/// Loses one packet of a window and brings all of it to an end.
fn lose_one(stack: &mut Stack) {
    stack.fill(0, |_| true);
    stack.drain(0);
    let lost = stack.send(0, false);
    stack.fill(0, |number| number != lost);
    stack.drain(0);
}
