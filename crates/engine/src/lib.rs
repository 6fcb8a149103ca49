//! The packet-level simulator: runs a [`Plan`](pathweave_scenario::Plan) and returns tables.
//!
//! A run is deterministic: the same plan gives the same bits anywhere, whatever the number of threads.

#![forbid(unsafe_code)]

mod agenda;
mod alarm;
mod arrival_times;
mod base_rtt;
mod beat;
mod build;
mod capacity;
mod capture;
mod division;
mod due_link;
mod ended;
mod execution;
mod extent;
mod faults;
mod finishes;
mod flow;
mod flow_events;
mod flow_list;
mod flow_rates;
mod flow_set;
mod flow_table;
mod fluid;
#[cfg(feature = "checks")]
pub mod fuzzing;
mod ideal;
mod into_host;
mod link_schedule;
mod listed;
pub mod live;
mod map;
mod measurement_windows;
mod memory;
mod outcome;
mod paths;
mod progress;
mod ranks;
mod rates;
mod reactions;
mod record;
mod recorder;
mod recovery;
mod region;
mod regions;
mod results;
mod results_hash;
mod routing;
mod rows;
mod run;
mod scheduler;
mod series;
mod simulation;
mod steps;
mod straddling;
mod table;
mod text_list;
mod timers_by_period;
mod traffic_agenda;
mod used_places;
mod waiting_timers;
mod warnings;
mod wheel;
mod workload;

pub use capture::Capture;
pub use division::most_threads;
pub use execution::{Cut, Execution, Prefetching, Turns};
pub use flow_events::FlowEvent;
pub use fluid::{
    Allocation, Allocator, Answer, FluidFlow, FluidPath, Life, Optimum, Problem, candidates,
    optimum_in_hindsight,
};
pub use memory::peak_rss_mb;
pub use outcome::{RunError, Verdict};
pub use progress::Progress;
pub use results::{Counters, Output};
pub use results_hash::results_hash;
pub use run::{flow, run, run_as, run_on_threads, run_with_departure_ports};
pub use table::{Column, Table};
pub use text_list::TextList;
pub use warnings::{Warning, warnings};
