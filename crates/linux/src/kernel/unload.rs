//! Removing a controller, and everything of it.

use super::cgroup::{self, CgroupUse, cgroup_uses};
use super::defaults::{self, Defaults};
use super::libbpf::registered_map;
use super::pins::Claim;
use super::sockets::{self, Instead, Uses};
use super::unpinned::{LOOKS, still_held, unpinned, unseen};
use super::{available, pins, registered, requirements};
use crate::Failure;
use crate::own_command::own_command;
use crate::plural::count;
use libbpf_rs::{MapHandle, MapInfo};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// How long the kernel may take to let go of programs that nothing uses any more.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked: it has no event for it.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What becomes of sockets and defaults that use a controller which is unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users<'a> {
    /// They stay, and the controller with them.
    Stay,
    /// They get this control; without a name the default that their network namespace had when the controller was loaded. One
    /// that came later gets the first namespace's default. Where that is a controller of Pathweave, the default counts that the
    /// first namespace had when this one was loaded, and reno where that is one as well. (Where the first namespace may not be
    /// entered, the caller's takes its place.)
    Get(Option<&'a str>),
}

/// Unloads a controller.
///
/// # Errors
/// When sockets use it and are to stay; when what they are to get is not there; when it is not loaded, or that cannot be
/// seen.
pub fn unload(kernel_name: &str, users: Users<'_>) -> Result<(), Failure> {
    requirements::check_rights()?;
    // Nothing is begun where its end could not be seen.
    registered::names()?;
    // One process at a time: those that come meanwhile wait, and find nothing to unload.
    let claim = claim(kernel_name)?;
    let cgroups: Vec<CgroupUse> = cgroup_uses()?
        .into_iter()
        .filter(|one| one.kernel_name == kernel_name)
        .collect();
    let program = registered_map(kernel_name);
    match users {
        Users::Stay => refuse_if_used(kernel_name, &cgroups)?,
        Users::Get(instead) => {
            // What is refused leaves the control groups as they are.
            let instead = control_instead(kernel_name, instead)?;
            cgroups.iter().try_for_each(cgroup::remove)?;
            // First the defaults, then the name: nobody can choose it any more, and what is left only gets less.
            sockets::replace(kernel_name, &instead)?;
            pins::remove_link(kernel_name)?;
            move_all(kernel_name, &instead)?;
        }
    }
    pins::remove_link(kernel_name)?;
    let is_held = !is_unregistered_in_time(kernel_name)?;
    pins::remove(kernel_name)?;
    defaults::forget(kernel_name);
    drop(claim);
    match program {
        _ if is_held => Err(still_held(kernel_name)),
        Some(id) => wait_until_gone(kernel_name, id),
        None => Ok(()),
    }
}

/// Claims a controller that is loaded. Where its name is seen without a pin and a holder, its loader may have pinned it, and
/// ended, since the look for pins.
fn claim(kernel_name: &str) -> Result<Claim, Failure> {
    let mut looks = 1;
    loop {
        if let Some(claim) = pins::claim(kernel_name)? {
            return Ok(claim);
        }
        let failure = not_loaded(kernel_name);
        if looks == LOOKS || failure != unseen(kernel_name) {
            return Err(failure);
        }
        looks += 1;
    }
}

fn refuse_if_used(kernel_name: &str, cgroups: &[CgroupUse]) -> Result<(), Failure> {
    if let Some(one) = cgroups.first() {
        let place = one.place();
        return Err(
            Failure::refused(format!("{kernel_name} is in use: {place}")).hint(format!(
                "{}, or add --force to do that for all",
                own_command(&format!("kernel use --off --cgroup {place}"))
            )),
        );
    }
    let found = sockets::find(kernel_name)?;
    if found.closed > 0 {
        return Err(Failure::refused(format!(
            "whether {kernel_name} is in use cannot be seen: this process may not look into {}",
            count(found.closed, "other network namespace")
        ))
        .hint("that takes CAP_SYS_ADMIN; --force unloads it as far as sockets can be seen"));
    }
    if found.uses.is_empty() {
        Ok(())
    } else {
        Err(in_use(kernel_name, &found.uses))
    }
}

/// What users of a controller get in its place.
fn control_instead(kernel_name: &str, wanted: Option<&str>) -> Result<Instead, Failure> {
    let mut available = available::controls()?;
    available.retain(|name| name != kernel_name);
    let is_there = |wanted: &str| available.iter().any(|name| name == wanted);
    match wanted {
        Some(wanted) if is_there(wanted) => Ok(Instead {
            known: Defaults::default(),
            otherwise: wanted.to_owned(),
        }),
        Some(wanted) => Err(Failure::refused(format!(
            "{wanted} cannot take the place of {kernel_name}: the kernel has no such control"
        ))
        .hint(format!("it has {}", available.join(", ")))),
        None => {
            let known = Defaults::recorded(kernel_name).only(is_there);
            let otherwise = known.of_those_not_recorded(is_there);
            Ok(Instead { known, otherwise })
        }
    }
}

/// Moves sockets until none is left. The other pins stay until then, so that `unload` can be tried again.
fn move_all(kernel_name: &str, instead: &Instead) -> Result<(), Failure> {
    let begin = Instant::now();
    loop {
        sockets::replace(kernel_name, instead)?;
        let left = sockets::find(kernel_name)?.uses;
        if left.is_empty() {
            return Ok(());
        }
        if begin.elapsed() > PATIENCE {
            return Err(Failure::new(format!(
                "nobody can choose {kernel_name} any more, but some sockets do not let go of it: {}",
                list(&left)
            )));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Waits until the kernel has taken the name back: it does so some time after the link has gone, and not at all where
/// another process holds the link. Those that wait for the claim are to find nothing then.
fn is_unregistered_in_time(kernel_name: &str) -> Result<bool, Failure> {
    let begin = Instant::now();
    while registered::has(kernel_name)? {
        if begin.elapsed() > PATIENCE {
            return Ok(false);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(true)
}

fn wait_until_gone(kernel_name: &str, map: u32) -> Result<(), Failure> {
    let begin = Instant::now();
    while is_there(map) {
        if begin.elapsed() > PATIENCE {
            return Err(Failure::new(format!(
                "{kernel_name} takes no new sockets, but something still holds its program: a socket that is not connected yet, or one that is closing"
            ))
            .hint("it goes when that does"));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

/// Whether the kernel still has a map. (Without CAP_SYS_ADMIN it does not say, and nobody can wait for it.)
fn is_there(map: u32) -> bool {
    MapHandle::from_map_id(map).is_ok_and(|map| MapInfo::new(map.as_fd()).is_ok())
}

pub(super) fn not_loaded(kernel_name: &str) -> Failure {
    let failure = Failure::refused(format!("{kernel_name} is not loaded"));
    match registered::has(kernel_name) {
        Ok(false) => {}
        Ok(true) => return unpinned(kernel_name),
        Err(unseen) => return unseen,
    }
    let loaded = pins::loaded().unwrap_or_default();
    if loaded.is_empty() {
        failure
    } else {
        failure.hint(format!("loaded are: {}", loaded.join(", ")))
    }
}

fn in_use(kernel_name: &str, users: &[Uses]) -> Failure {
    Failure::refused(format!("{kernel_name} is in use: {}", list(users)))
        .hint("close them, or add --force to give them another control first")
}

/// The uses for people; the first sockets of many.
fn list(users: &[Uses]) -> String {
    const SHOWN: usize = 4;
    let mut texts = Vec::new();
    let mut sockets = 0;
    for uses in users {
        let place = uses
            .namespace
            .as_ref()
            .map_or(String::new(), |name| format!(" in namespace {name}"));
        if uses.is_default {
            texts.push(format!("default of new sockets{place}"));
        }
        for socket in &uses.sockets {
            sockets += 1;
            if sockets <= SHOWN {
                texts.push(format!("{socket}{place}"));
            }
        }
    }
    if sockets > SHOWN {
        texts.push(format!("{} sockets more", sockets - SHOWN));
    }
    texts.join("; ")
}
