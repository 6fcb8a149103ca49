//! What is loaded, and who uses it.

use super::rows::{self, About, Connection};
use super::totals::Totals;
use super::{pins, replace, requirements, sockets, unload};
use crate::Failure;
use libbpf_rs::{MapCore, MapHandle};

/// A pinned controller, as its pins show it.
pub struct Pinned {
    /// The kernel's name for it.
    pub kernel_name: String,
    connections: MapHandle,
    about: About,
    totals: MapHandle,
}

impl Pinned {
    /// The one of this name.
    ///
    /// # Errors
    /// When its pins are not all there.
    pub fn open(kernel_name: &str) -> Result<Pinned, Failure> {
        let half = || {
            Failure::new(format!("{kernel_name} is loaded by half only")).hint(format!(
                "`pathweave kernel unload {kernel_name}` removes it"
            ))
        };
        let open = |pin: &str| {
            MapHandle::from_pinned_path(pins::folder(kernel_name).join(pin)).map_err(|_| half())
        };
        let open_about = || {
            let control = unload::registered_map(kernel_name).ok_or_else(half)?;
            About::read(&open(&pins::about(control))?)
        };
        // Where a program is replaced meanwhile, the one before may have lost its pin.
        let about = open_about().or_else(|_| open_about())?;
        Ok(Pinned {
            kernel_name: kernel_name.to_owned(),
            connections: open(pins::CONNECTIONS)?,
            about,
            totals: open(pins::TOTALS)?,
        })
    }

    /// All that are loaded, in the order of their names; a failure for one whose pins are not all there.
    pub fn all() -> Vec<Result<Pinned, Failure>> {
        let names = pins::loaded();
        names.iter().map(|name| Pinned::open(name)).collect()
    }

    /// The connections that have rows now.
    pub fn connections(&self) -> Vec<Connection> {
        rows::connections(&self.connections, &self.about)
    }

    /// What it was loaded with, for people.
    pub fn text(&self) -> &str {
        &self.about.text
    }

    /// Of the program that new sockets get: 1, and one more with each that has replaced another.
    pub fn generation(&self) -> u32 {
        self.about.generation
    }

    /// Its program and its settings.
    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// How many connections can have rows at one time.
    pub fn capacity(&self) -> u32 {
        self.connections.max_entries()
    }

    /// What it has done since it was loaded.
    ///
    /// # Errors
    /// When the kernel does not show it.
    pub fn totals(&self) -> Result<Totals, Failure> {
        Totals::read(&self.totals)
    }
}

/// Prints what is loaded, with what parameters, and which sockets use it.
///
/// # Errors
/// When the machine does not let it be seen.
pub fn print() -> Result<(), Failure> {
    requirements::check_rights()?;
    let all = Pinned::all();
    if all.is_empty() {
        println!("no controller is loaded; `pathweave kernel load xmp` loads one");
    }
    for pinned in all {
        let pinned = match pinned {
            Ok(pinned) => pinned,
            Err(failure) => {
                println!("{failure}");
                continue;
            }
        };
        let name = &pinned.kernel_name;
        println!("{name}  {}", pinned.about.text);
        let connections = pinned.connections();
        let subflows: usize = connections.iter().map(|c| c.subflows.len()).sum();
        println!(
            "  {}, {}",
            count(connections.len(), "connection"),
            count(subflows, "subflow")
        );
        let found = sockets::find(name, None)?;
        for line in replace::lines(&pinned, &found) {
            println!("  {line}");
        }
        if found.closed > 0 {
            println!(
                "  {} that only CAP_SYS_ADMIN can look into",
                count(found.closed, "network namespace")
            );
        }
        for one in super::cgroup_uses() {
            if one.kernel_name == *name {
                println!("  control group: {}", one.place());
            }
        }
        for uses in found.uses {
            let place = uses.namespace.as_deref().unwrap_or("this one");
            println!("  network namespace: {place}");
            if uses.is_default {
                println!("    default of new sockets");
            }
            for socket in &uses.sockets {
                println!(
                    "    {socket}{}",
                    if socket.is_mptcp { "  MPTCP" } else { "" }
                );
            }
        }
    }
    Ok(())
}

/// "1 subflow", "2 subflows".
pub fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}
