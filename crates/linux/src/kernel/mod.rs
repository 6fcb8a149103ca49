//! Loading the controllers into the kernel, and looking at them there.

mod instance;
mod namespaces;
mod object;
mod pins;
mod requirements;
mod rows;
mod settings;
mod sockets;
mod status;
mod unload;
mod watch;

pub use instance::{Loaded, PREFIX, Request, kernel_name, load};
pub use object::names;
pub use requirements::check;
pub use rows::{Connection, Row};
pub use settings::{SUBFLOWS, Settings};
pub use sockets::{Found, Socket, Uses, find as find_sockets};
pub use unload::unload;

use crate::Failure;
use clap::Subcommand;
use pathweave_control::{Entry, Value, find};
use std::time::Duration;

/// `kernel load`, `unload`, `status` and `watch`.
#[derive(Subcommand)]
pub enum Command {
    /// Load a controller. It stays until it is unloaded or the machine restarts.
    ///
    /// Example: pathweave kernel load xmp --set beta=4
    Load {
        /// Its name, for example xmp.
        name: String,
        /// A parameter's value, for example beta=4; `pathweave explain NAME` lists them.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// The smallest window in congestion avoidance, in packets.
        #[arg(long, value_name = "PACKETS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
        minimum_window: u32,
        /// Retransmission timeouts in a row without progress after which a subflow counts as failed: the others are no longer
        /// coupled to it until it acknowledges new data.
        #[arg(long, value_name = "N", default_value_t = Request::FAILED_AFTER, value_parser = clap::value_parser!(u32).range(1..=255))]
        failed_after: u32,
        /// Most connections at one time; subflows of further ones behave as Reno.
        #[arg(long, value_name = "N", default_value_t = Request::CONNECTIONS, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
        connections: u32,
    },
    /// Remove a controller. Refused while sockets use it.
    ///
    /// Example: pathweave kernel unload xmp --force
    Unload {
        /// Its name, for example xmp.
        name: String,
        /// Give sockets that use it reno first.
        #[arg(long)]
        force: bool,
    },
    /// Show what is loaded and which sockets use it.
    Status,
    /// Show the window of each subflow, again and again.
    ///
    /// Example: pathweave kernel watch --interval 0.5
    Watch {
        /// Seconds between two looks.
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
        interval: f64,
        /// End after so many looks.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        count: Option<u32>,
    },
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Load {
                name,
                sets,
                minimum_window,
                failed_after,
                connections,
            } => {
                let entry = entry(&name)?;
                let given = sets
                    .iter()
                    .map(|set| parse(set))
                    .collect::<Result<Vec<_>, _>>()?;
                let parameters = entry
                    .parameters(&given)
                    .map_err(|error| Failure::refused(error.message))?;
                let request = Request::new(entry, &parameters, minimum_window)?;
                let request = Request {
                    failed_after,
                    connections,
                    ..request
                };
                if pins::loaded().contains(&request.kernel_name) {
                    return Err(pins::already_loaded(&request.kernel_name));
                }
                load(&request)?.pin()?;
                println!("{} is loaded: {}", request.kernel_name, request.text());
                Ok(())
            }
            Command::Unload { name, force } => unload(&full_name(&name), force),
            Command::Status => status::print(),
            Command::Watch { interval, count } => {
                watch::print(Duration::from_secs_f64(interval), count)
            }
        }
    }
}

/// The controller of this name, with the kernel's prefix or without.
///
/// # Errors
/// When the kernel has no counterpart of it.
pub fn entry(name: &str) -> Result<&'static Entry, Failure> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let there = names().any(|known| known == name);
    find(name).filter(|_| there).ok_or_else(|| {
        Failure::refused(format!("there is no controller \"{name}\" for the kernel")).hint(format!(
            "there are {}",
            names().collect::<Vec<_>>().join(", ")
        ))
    })
}

fn full_name(name: &str) -> String {
    if name.starts_with(PREFIX) {
        name.to_owned()
    } else {
        kernel_name(name)
    }
}

/// `beta=4`, `gamma=1.05,1.1` or `suppression=off`.
fn parse(set: &str) -> Result<(String, Value), Failure> {
    let (name, text) = set.split_once('=').ok_or_else(|| {
        Failure::refused(format!("\"{set}\" is no parameter's value"))
            .hint("for example --set beta=4")
    })?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = if let Some(number) = number(text) {
        Value::Number(number)
    } else if let Some(numbers) = text.split(',').map(number).collect::<Option<Vec<f64>>>() {
        Value::Numbers(numbers)
    } else {
        Value::Text(text.to_owned())
    };
    Ok((name.to_owned(), value))
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("from 0.05 to 3600 seconds".to_owned()),
    }
}

/// Keeps libbpf from writing to the terminal: what it says comes with errors. `PATHWEAVE_LIBBPF` lets it.
fn quiet_libbpf() {
    if std::env::var_os("PATHWEAVE_LIBBPF").is_none() {
        libbpf_rs::set_print(None);
    }
}
