//! Controllers in this machine's kernel: loading, carrying, unloading, and what is left behind.

mod allowed;
mod at_one_time;
mod control_group;
mod costs;
mod defaults;
mod duplicates;
mod failures;
mod folders;
mod full_map;
mod hooks;
mod hosts;
mod information;
mod inventory;
mod lifecycle;
mod marks;
mod metrics;
mod off_switch;
mod one_connection;
mod peer;
mod precedence;
mod program;
mod replacement;
mod status;
mod traffic;
mod unsent;
mod who_gets_it;
