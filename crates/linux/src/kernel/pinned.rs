//! A loaded controller as its pins show it.

use super::libbpf::registered_map;
use super::pins::{self, Stillness};
use super::rows::{self, About, Connection};
use super::totals::Totals;
use crate::own_command::own_command;
use crate::{Failure, folders};
use libbpf_rs::{ErrorKind, MapCore, MapHandle};
use std::io;

/// A pinned controller.
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
        let open = |pin: &str| {
            let path = pins::folder(kernel_name).join(pin);
            MapHandle::from_pinned_path(&path).map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied => {
                    folders::cannot("read", &path, &io::ErrorKind::PermissionDenied.into())
                }
                _ => half(kernel_name),
            })
        };
        // First: where it may not be read, a link that does not open says less.
        let connections = open(pins::CONNECTIONS)?;
        let open_about = || {
            let control = registered_map(kernel_name).ok_or_else(|| half(kernel_name))?;
            About::read(&open(&pins::about(control))?)
        };
        // Where a program is replaced meanwhile, the one before may have lost its pin.
        let about = open_about().or_else(|_| open_about())?;
        Ok(Pinned {
            kernel_name: kernel_name.to_owned(),
            connections,
            about,
            totals: open(pins::TOTALS)?,
        })
    }

    /// All that are loaded, in the order of their names; a failure for one whose pins are not all there. One that another
    /// process is loading or unloading is left out.
    ///
    /// # Errors
    /// When pins may not be looked at.
    pub fn all() -> Result<Vec<Result<Pinned, Failure>>, Failure> {
        let mut all = Vec::new();
        for name in pins::loaded()? {
            let stillness = pins::keep_still(&name);
            let opened = Pinned::open(&name);
            let is_passing = matches!(stillness, Ok(Stillness::Changing | Stillness::NoPins));
            if opened.is_ok() || !is_passing {
                all.push(opened);
            }
        }
        Ok(all)
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

/// What is said of one whose pins are not all there.
pub(super) fn half(kernel_name: &str) -> Failure {
    Failure::new(format!("{kernel_name} is only half loaded"))
        .hint(format!("{} removes it", unloading(kernel_name)))
}

/// The command that removes it.
pub(super) fn unloading(kernel_name: &str) -> String {
    own_command(&format!("kernel unload {kernel_name}"))
}
