//! The packet-level simulator: runs a [`Plan`](pathweave_scenario::Plan) and returns tables.
//!
//! A run is deterministic: the same plan gives the same bits anywhere, whatever the number of threads.

#![forbid(unsafe_code)]

mod agenda;
mod base_rtt;
mod build;
mod execution;
mod faults;
mod flow_table;
mod flows;
mod fluid;
#[cfg(feature = "checks")]
pub mod fuzzing;
mod listed;
pub mod live;
mod measurement;
mod memory;
mod outcome;
mod progress;
mod record;
mod recorder;
mod regions;
mod results;
mod run;
mod schedule;
mod simulation;
mod table;
mod text_list;
mod warnings;
mod workload;

pub use execution::{Cut, Execution, Prefetching, Turns};
pub use flows::events::FlowEvent;
pub use fluid::{
    Allocation, Allocator, Answer, FluidFlow, FluidPath, Life, Optimum, Problem, candidates,
    optimum_in_hindsight,
};
pub use measurement::capture::Capture;
pub use memory::peak_rss_mb;
pub use outcome::{RunError, Verdict};
pub use progress::Progress;
pub use regions::division::most_threads;
pub use results::hash::results_hash;
pub use results::{Counters, Output};
pub use run::{flow, run, run_as, run_on_threads, run_with_departure_ports};
pub use table::{Column, Table};
pub use text_list::TextList;
pub use warnings::{Warning, warnings};
