//! Replacing a loaded controller by one with other settings, or by that of another version, while connections are open.
//!
//! The link that keeps the name registered gets the new program in one step, and what says what a program was loaded
//! with is pinned under the program's number before. So a command that is killed leaves the old program or the new
//! one, each whole. The old one's pin goes last: as long as there are two, what hands the program to new sockets may
//! still have the old one, and the next command ends that.

use super::instance::{Inheritance, held, layout_of, object_of, verified};
use super::libbpf::{map_of, registered_map};
use super::link_update::{self, Control};
use super::pinned::Pinned;
use super::pins::Claim;
use super::sockets::{self, Found};
use super::{Request, cgroup, pins, requirements, utc};
use crate::Failure;
use crate::own_command::own_command;
use crate::plural::count;
use libbpf_rs::{Link, MapHandle, MapInfo};
use serde::Serialize;
use std::fs;
use std::os::fd::AsFd;

/// Puts what is asked for in place of what is loaded under its name, with the same rows and counts. Sockets that are
/// open keep their program. Gives the number of network namespaces that cannot be looked into: where the
/// controller is their default, new sockets get the old program there.
///
/// # Errors
/// When its pins are not all there, its rows cannot be taken over, or the kernel refuses.
pub fn replace(request: &Request, _claim: &Claim) -> Result<usize, Failure> {
    requirements::check()?;
    let name = &request.kernel_name;
    let pinned = Pinned::open(name)?;
    let folder = pins::folder(name);
    let cannot = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(format!("{name} cannot be replaced: {what}: {error}"))
    };
    let link = Link::open(folder.join(pins::LINK))
        .map_err(|error| cannot("its link cannot be opened", &error))?;
    let old = map_of(&link)
        .ok_or_else(|| cannot("its link", &"the kernel does not tell what it registers"))?;
    let old = MapHandle::from_map_id(old).map_err(|error| {
        cannot("what is registered cannot be held", &error).hint("that takes CAP_SYS_ADMIN")
    })?;
    let maps = [pins::CONNECTIONS, pins::TOTALS].map(|pin| {
        MapHandle::from_pinned_path(folder.join(pin))
            .map_err(|error| cannot("its maps cannot be opened", &error))
    });
    let [connections, totals] = maps;
    let (connections, totals) = (connections?, totals?);
    let bytes = object_of(request)?;
    refuse_other_layout(request, &pinned, bytes)?;
    let inheritance = Inheritance {
        connections: &connections,
        totals: &totals,
        generation: pinned.generation() + 1,
    };
    let (object, flags) = verified(bytes, request, Some(&inheritance))?;
    let new = held(&object, "control")?;
    let mut about = held(&object, ".rodata.about")?;
    let number = MapInfo::new(new.as_fd())
        .map_err(|error| cannot("its map is not known", &error))?
        .info
        .id;
    let pin = folder.join(pins::about(number));
    about
        .pin(&pin)
        .map_err(|error| cannot("it cannot be pinned", &error))?;
    let control = Control {
        object: &object,
        name,
        flags,
    };
    if let Err(error) = link_update::update(&link, &new, &old, &control) {
        let _ = fs::remove_file(&pin);
        return Err(cannot("the kernel refuses", &error));
    }
    hand_out(name, request.settings.needs_ecn)
}

/// Ends a replacement that was interrupted, if there is one.
///
/// # Errors
/// When sockets or control groups cannot be reached; to try again is right.
pub fn finish(kernel_name: &str, needs_ecn: bool, _claim: &Claim) -> Result<(), Failure> {
    if is_unfinished(kernel_name) {
        hand_out(kernel_name, needs_ecn)?;
    }
    Ok(())
}

/// Whether new sockets may still get a program that was replaced.
fn is_unfinished(kernel_name: &str) -> bool {
    pins::abouts(kernel_name).len() > 1
}

/// Hands out what the link has, and removes the pins of other programs.
fn hand_out(kernel_name: &str, needs_ecn: bool) -> Result<usize, Failure> {
    let unfinished = |failure: Failure| {
        Failure::new(format!(
            "{kernel_name} is replaced, but new sockets may still get the old program: {failure}"
        ))
        .hint("the same command again ends it")
    };
    let found = sockets::renew(kernel_name).map_err(unfinished)?;
    cgroup::renew(kernel_name, needs_ecn).map_err(unfinished)?;
    let current = registered_map(kernel_name);
    for number in pins::abouts(kernel_name) {
        if Some(number) != current {
            let _ = fs::remove_file(pins::folder(kernel_name).join(pins::about(number)));
        }
    }
    Ok(found.closed)
}

/// That the program of `bytes` can go on with the rows of what is loaded.
fn refuse_other_layout(request: &Request, pinned: &Pinned, bytes: &[u8]) -> Result<(), Failure> {
    let name = &request.kernel_name;
    let short = name.trim_start_matches(super::PREFIX);
    if request.connections != pinned.capacity() {
        return Err(Failure::refused(format!(
            "{name} has room for {} connections: a map cannot grow or shrink, and rows that are copied while connections write them would be lost",
            pinned.capacity()
        ))
        .hint(format!(
            "{} and {}; what is open goes on with cubic",
            own_command(&format!("kernel unload {short} --force --instead cubic")),
            own_command(&format!("kernel load {short} --connections {}", request.connections))
        )));
    }
    if layout_of(bytes)? != pinned.about().layout {
        return Err(Failure::refused(format!(
            "the row map of the loaded {name} has another layout than that of this version, which cannot use it"
        ))
        .hint(format!(
            "{}, then load it again; what is open goes on with cubic",
            own_command(&format!("kernel unload {short} --force --instead cubic"))
        )));
    }
    Ok(())
}

/// What `status` says of replacements.
#[derive(Default, Serialize)]
pub struct Replacement {
    generation: Option<u32>,
    /// When the program was loaded that new sockets get.
    since: Option<String>,
    sockets_with_older_program: usize,
    replacement_unfinished: bool,
}

impl Replacement {
    /// Of what is loaded and those who use it.
    pub fn of(pinned: &Pinned, found: &Found) -> Replacement {
        let generation = pinned.generation();
        let sockets = found.uses.iter().flat_map(|uses| &uses.sockets);
        let is_older = |socket: &&sockets::Socket| ![0, generation].contains(&socket.generation);
        let since = pinned.about().since;
        Replacement {
            generation: Some(generation),
            since: Some(utc::rfc_3339(since)),
            sockets_with_older_program: sockets.filter(is_older).count(),
            replacement_unfinished: is_unfinished(&pinned.kernel_name),
        }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let (Some(2..), Some(since)) = (self.generation, &self.since) {
            let older = match self.sockets_with_older_program {
                0 => "no socket has".to_owned(),
                1 => "1 socket keeps".to_owned(),
                several => format!("{} keep", count(several, "socket")),
            };
            lines.push(format!(
                "replaced {since}; {older} the program and settings from before"
            ));
        }
        if self.replacement_unfinished {
            lines.push(format!(
                "a replacement has not ended: new sockets may get the program from before; {} with these settings ends it",
                own_command("kernel load")
            ));
        }
        lines
    }
}
