//! Runs a plan and gives its results.

use crate::execution::{Cut, Execution};
use crate::fluid::{self, Allocator};
use crate::outcome::RunError;
use crate::progress::Progress;
use crate::regions::division;
use crate::results::{Output, output};
use crate::simulation::{simulate, simulate_with_departure_ports};
use pathweave_scenario::Plan;
use std::num::NonZero;

/// Simulates every packet of a plan.
///
/// # Errors
/// When the plan cannot be run, a check fails or the run is cancelled.
pub fn run(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    run_as(plan, progress, &Execution::PLAIN)
}

/// The same on up to this many threads: no more than are worth it in this fabric, or than there are cores, because
/// threads wait for each other many times in a millisecond of simulated time. The results are the same.
///
/// # Errors
/// As [`run`].
pub fn run_on_threads(
    plan: &Plan,
    progress: &Progress,
    threads: usize,
) -> Result<Output, RunError> {
    let cores = std::thread::available_parallelism().map_or(usize::MAX, NonZero::get);
    let threads = threads.min(cores).min(division::most_threads(plan));
    let execution = Execution {
        cut: Cut::Into(threads as u8),
        threads,
        ..Execution::PLAIN
    };
    run_as(plan, progress, &execution)
}

/// The same, carried out in this way. The results are the same.
///
/// # Errors
/// As [`run`].
pub fn run_as(plan: &Plan, progress: &Progress, execution: &Execution) -> Result<Output, RunError> {
    simulate(plan, progress, execution).map(output)
}

/// The same in one region with an event at every departure: slower, for comparison.
///
/// # Errors
/// As [`run`].
pub fn run_with_departure_ports(plan: &Plan, progress: &Progress) -> Result<Output, RunError> {
    simulate_with_departure_ports(plan, progress).map(output)
}

/// Runs a plan with the allocator's rates in place of packets.
///
/// # Errors
/// As [`run`], and when the allocator has no rates.
pub fn flow(plan: &Plan, allocator: &mut dyn Allocator) -> Result<Output, RunError> {
    fluid::flow(plan, allocator).map(output)
}
