//! `metrics`: what the loaded controllers do, for Prometheus.

mod exposition;
mod listener;

use crate::Failure;
use clap::Args;
use listener::Address;
use std::io::Write;

/// The options of `metrics`.
#[derive(Args)]
pub struct Command {
    /// Answer HTTP requests here instead of printing once: a Unix socket, for example unix:/run/pathweave/metrics, or
    /// a loopback address with its port, for example 127.0.0.1:9091.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Address>,
}

impl Command {
    /// Prints them, or answers until it is ended.
    ///
    /// # Errors
    /// Without the right to look at what is loaded, or when the address cannot be had.
    pub fn run(self) -> Result<(), Failure> {
        let text = exposition::text()?;
        match self.listen {
            Some(address) => listener::answer(&address, exposition::text),
            None => std::io::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::new(format!("cannot write the metrics: {error}"))),
        }
    }
}
