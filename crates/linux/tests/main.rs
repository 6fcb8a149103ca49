//! Integration tests of the controllers in the kernel and of the testbed.

mod conformance;
mod metrics_server;
mod product;
mod settings;
mod this_machine;
