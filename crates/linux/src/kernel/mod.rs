//! Loading the controllers into the kernel, and looking at them there.

mod instance;
mod object;
mod pins;
mod requirements;
mod settings;

pub use instance::{Loaded, Request, load};
pub use object::names;
pub use settings::{SUBFLOWS, Settings, entry};

use crate::Failure;
use clap::Subcommand;

/// `kernel load`, `unload`, `status` and `watch`.
#[derive(Subcommand)]
pub enum Command {
    /// Load a controller; it stays until it is unloaded.
    Load {
        /// Its name, for example xmp.
        name: String,
        /// A parameter's value, for example beta=4.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
    /// Remove a controller.
    Unload {
        /// Its name.
        name: String,
    },
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Load { name, .. } => {
                let entry = settings::entry(&name)?;
                let settings = Settings::of(entry, &entry.defaults(), 2)?;
                load(&Request::new(&name, settings))?.pin()?;
                Ok(())
            }
            Command::Unload { name } => pins::remove(&format!("pw_{name}")),
        }
    }
}

/// Keeps libbpf from writing to the terminal: what it says comes with errors.
fn quiet_libbpf() {
    if std::env::var_os("PATHWEAVE_LIBBPF").is_none() {
        libbpf_rs::set_print(None);
    }
}
