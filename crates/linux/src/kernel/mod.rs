//! Loading the controllers into the kernel, and looking at them there.

mod available;
mod cgroup;
mod change;
mod defaults;
mod filter;
mod fingerprint;
mod given;
mod instance;
mod kernel_names;
mod layout;
mod libbpf;
mod link_update;
mod namespaces;
mod object;
mod operations;
mod pinned;
mod pins;
mod probes;
mod registered;
mod replace;
mod requirements;
mod rows;
mod settings;
mod sockets;
mod status;
mod totals;
mod unload;
mod unpinned;
mod utc;
mod watch;

pub(crate) use available::controls as available_controls;
pub use cgroup::{CgroupUse, cgroup_uses, leave_cgroup, use_in_cgroup};
pub use instance::{Loaded, Request, load};
pub use kernel_names::{PREFIX, entry, kernel_name};
pub use object::names;
pub use operations::Operations;
pub use pinned::Pinned;
pub use pins::{Claim, claim};
pub use replace::replace;
pub use requirements::{check, check_rights};
pub use rows::{Connection, Row};
pub use settings::{SUBFLOWS, Settings};
pub use sockets::{Found, Socket, Uses, find as find_sockets};
pub use totals::Totals;
pub use unload::{Users, unload};

use crate::Failure;
use clap::Subcommand;
use given::parse;
use kernel_names::full_name;
use pathweave_control::Entry;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `kernel load`, `set`, `unload`, `status`, `use` and `watch`.
#[derive(Subcommand)]
pub enum Command {
    /// Load a controller. It stays until it is unloaded or the machine restarts.
    ///
    /// Where it is loaded with the same settings there is nothing to do. Where it has other settings --replace is needed.
    ///
    /// Example: pathweave-linux kernel load xmp --set beta=4 --minimum-window 3 --connections 16384
    Load {
        /// Its name, for example xmp.
        name: String,
        /// A parameter's value, for example beta=4. An unknown key is refused with a list of those that there are.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// The smallest window in congestion avoidance, in packets.
        #[arg(long, value_name = "PACKETS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
        minimum_window: u32,
        /// Retransmission timeouts in a row without progress after which a subflow counts as failed: the others are no longer
        /// coupled to it until it acknowledges new data.
        #[arg(long, value_name = "N", default_value_t = Request::FAILED_AFTER, value_parser = clap::value_parser!(u32).range(1..=255))]
        failed_after: u32,
        /// Most connections at one time; subflows of further ones behave as Reno. 4096, or what a loaded one has room for.
        /// It cannot change while the controller is loaded.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
        connections: Option<u32>,
        /// Take the place of one that is loaded with other settings or by another version: new sockets and new subflows
        /// get this one, those that are open keep theirs, and a connection's subflows stay coupled.
        #[arg(long)]
        replace: bool,
    },
    /// Give a loaded controller other values of some settings, and keep the rest.
    ///
    /// New sockets, and subflows that open later, get them; those that are open keep what they have.
    ///
    /// Example: pathweave-linux kernel set xmp beta=6 minimum_window=3
    Set {
        /// Its name, for example xmp.
        name: String,
        /// A parameter's value, or that of minimum_window or failed_after. An unknown key is refused with a list of those that
        /// there are.
        #[arg(required = true, value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
    /// Remove a controller. Refused while sockets use it.
    ///
    /// Example: pathweave-linux kernel unload xmp --force --instead cubic
    Unload {
        /// Its name, for example xmp.
        name: String,
        /// Give sockets and namespaces that use it another control first.
        #[arg(long)]
        force: bool,
        /// The control that they get, for example cubic. Without it each network namespace gets the default that it had when
        /// the controller was loaded.
        #[arg(long, value_name = "CONTROL", requires = "force")]
        instead: Option<String>,
    },
    /// Try what this kernel has of what the controllers need: a line each, and what gets what is missing.
    ///
    /// Example: pathweave-linux kernel check
    Check,
    /// Show what is loaded, its rows, and which sockets use it. The exit status is 3 when that cannot be known: where the
    /// pins of what is registered are not to be seen, or may not be read.
    ///
    /// Example: pathweave-linux kernel status --json
    Status {
        /// Write it as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Give the sockets that a control group's processes open from now on a controller.
    ///
    /// It must be loaded. A socket whose program chooses a control itself keeps that one.
    ///
    /// Example: pathweave-linux kernel use xmp --cgroup /sys/fs/cgroup/system.slice/backup.service
    Use {
        /// Its name, for example xmp.
        #[arg(required_unless_present_any = ["off", "list"], conflicts_with_all = ["off", "list"], requires = "cgroup")]
        name: Option<String>,
        /// The folder of the control group, of version 2. Those below it are meant as well, unless they have a controller
        /// of their own.
        #[arg(long, value_name = "PATH", conflicts_with = "list")]
        cgroup: Option<PathBuf>,
        /// Take it away again. Sockets that are open keep what they have.
        #[arg(long, requires = "cgroup", conflicts_with = "list")]
        off: bool,
        /// List the control groups that use a controller.
        #[arg(long)]
        list: bool,
    },
    /// Show the window of each subflow, again and again.
    ///
    /// Example: pathweave-linux kernel watch --interval 0.5 --count 20 --filter controller=xmp --filter port=5201
    Watch {
        /// Seconds between two looks.
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
        interval: f64,
        /// End after this many looks.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        count: Option<u32>,
        /// Write each look as one JSON object on a line of its own.
        #[arg(long)]
        json: bool,
        /// Show only subflows of this controller, address (10.0.0.1 or 10.0.0.0/8), port or MPTCP token, for example port=5201.
        /// Several of one kind are alternatives; different kinds must all hold.
        #[arg(long = "filter", value_name = "KIND=VALUE")]
        filters: Vec<filter::Filter>,
    },
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        let operation = match &self {
            Command::Load { .. } | Command::Set { .. } => Some(operations::LOAD),
            Command::Unload { .. } => Some(operations::UNLOAD),
            _ => None,
        };
        let done = self.execute();
        if let Some(operation) = operation {
            operations::record(operation, done.is_ok());
        }
        done
    }

    fn execute(self) -> Result<(), Failure> {
        match self {
            Command::Load {
                name,
                sets,
                minimum_window,
                failed_after,
                connections,
                replace,
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
                    connections: connections.unwrap_or(Request::CONNECTIONS),
                    ..request
                };
                change::load_or_keep(request, connections, replace)
            }
            Command::Set { name, sets } => {
                let sets = sets.iter().map(|set| parse(set));
                change::set(entry(&name)?, &sets.collect::<Result<Vec<_>, _>>()?)
            }
            Command::Unload {
                name,
                force,
                instead,
            } => {
                let name = full_name(&name);
                let instead = instead.as_deref();
                let users = match force {
                    true => Users::Get(instead),
                    false => Users::Stay,
                };
                unload(&name, users)
            }
            Command::Use {
                name,
                cgroup,
                off,
                list,
            } => run_use(name.as_deref(), cgroup.as_deref(), off, list),
            Command::Check => probes::print(),
            Command::Status { json } => status::print(json),
            Command::Watch {
                interval,
                count,
                json,
                filters,
            } => watch::print(Duration::from_secs_f64(interval), count, &filters, json),
        }
    }
}

fn run_use(
    name: Option<&str>,
    cgroup: Option<&Path>,
    off: bool,
    list: bool,
) -> Result<(), Failure> {
    match (name, cgroup) {
        _ if list => {
            check_rights()?;
            for one in cgroup_uses()? {
                let is_loaded = pins::loaded()?.contains(&one.kernel_name);
                let note = if is_loaded { "" } else { "  (not loaded)" };
                println!("{}  {}{note}", one.kernel_name, one.place());
            }
        }
        (None, Some(cgroup)) if off => {
            for one in leave_cgroup(cgroup)? {
                println!("{} no longer uses {}", cgroup.display(), one.kernel_name);
            }
        }
        (Some(name), Some(cgroup)) => {
            let entry = entry(name)?;
            let name = kernel_name(entry.name);
            // Neither unloaded nor replaced before the control group has it.
            let claim = pins::claim(&name)?;
            let needs_ecn = claim.is_some() && needs_ecn(entry, &name)?;
            use_in_cgroup(&name, needs_ecn, cgroup)?;
            drop(claim);
            println!("new sockets in {} use {name}", cgroup.display());
        }
        _ => {
            return Err(Failure::refused(
                "a controller's name and --cgroup are needed",
            ));
        }
    }
    Ok(())
}

/// Whether a loaded controller asks for ECN, by what it was loaded with.
fn needs_ecn(entry: &Entry, kernel_name: &str) -> Result<bool, Failure> {
    let text = Pinned::open(kernel_name)?.text().to_owned();
    let is_parameter = |name: &str| entry.parameters.iter().any(|known| known.name == name);
    let given = text
        .split_whitespace()
        .map(parse)
        .filter(|set| set.as_ref().is_ok_and(|(name, _)| is_parameter(name)))
        .collect::<Result<Vec<_>, _>>()?;
    let parameters = entry
        .parameters(&given)
        .map_err(|error| Failure::new(error.message))?;
    Ok(Settings::of(entry, &parameters, 2)?.needs_ecn)
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("from 0.05 to 3600 seconds".to_owned()),
    }
}
