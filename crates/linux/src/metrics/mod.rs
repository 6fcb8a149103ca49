//! `metrics`: what the loaded controllers do, for Prometheus.

mod address;
mod exposition;
mod privileges;
mod server;

use crate::Failure;
use crate::kernel::check_rights;
use address::{Address, DEFAULT, Group};
use clap::Args;
use std::io::Write;

/// The options of `metrics`.
#[derive(Args)]
pub struct Command {
    /// Answer HTTP requests here instead of printing once: a Unix socket, or a loopback address with its port, for
    /// example 127.0.0.1:9091. Without a value: unix:/run/pathweave/metrics.
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = DEFAULT
    )]
    listen: Option<Address>,
    /// Let this group connect to the Unix socket, which is its owner's alone without it: a name or a number.
    #[arg(long, requires = "listen")]
    group: Option<Group>,
}

impl Command {
    /// Prints them, or answers until it is ended.
    ///
    /// # Errors
    /// Without the right to look at what is loaded, or when the address cannot be had.
    pub fn run(self) -> Result<(), Failure> {
        check_rights()?;
        let text = exposition::text()?;
        let Some(address) = self.listen else {
            return std::io::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::new(format!("cannot write the metrics: {error}")));
        };
        let listener = address.listen(self.group.as_ref())?;
        let left = privileges::drop_privileges()
            .map_err(|error| Failure::new(format!("cannot drop privileges: {error}")))?;
        // Before the first request, which would only get status 500.
        exposition::text()?;
        eprintln!("answering on {address}; left: {left}");
        server::serve(listener, exposition::text)
    }
}
