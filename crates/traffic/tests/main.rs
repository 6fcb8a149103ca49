//! Integration tests of traffic.

mod closed_loop;
mod collectives;
mod network;
mod open_loop;
mod permutation_parts;
mod recordings;
mod refusals;
mod sizes;
