//! What `load` and `set` do where a controller of the name is loaded already.

use super::instance::object_of;
use super::pinned::Pinned;
use super::pins::{Claim, Stillness};
use super::replace::{finish, replace};
use super::{PREFIX, Request, fingerprint, load, pins, registered, unload};
use crate::Failure;
use crate::own_command::own_command;
use crate::plural::count;
use pathweave_control::{Entry, Value};
use std::thread;
use std::time::{Duration, Instant};

/// How long a controller may stay that is there in part and that nobody has claimed: a command registers it before it
/// claims its pins.
const PATIENCE: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Loads it, or says that it is loaded. With `or_replace` it takes the place of one with other settings. Without
/// `connections` the room of one that is loaded is right.
///
/// # Errors
/// When another one is loaded and may not or cannot be replaced, and what [`load`] refuses.
pub fn load_or_keep(
    request: Request,
    connections: Option<u32>,
    or_replace: bool,
) -> Result<(), Failure> {
    let name = request.kernel_name.clone();
    registered::names()?; // Where it is hidden, so are the namespaces' defaults, which a replacement has to renew.
    let mut has_failed = false;
    let claim = loop {
        let mut refused = None;
        if !pins::loaded()?.contains(&name) {
            match load(&request).and_then(super::Loaded::pin) {
                Ok(_) => {
                    println!("{name} is loaded: {}", request.text());
                    return Ok(());
                }
                Err(failure) if !is_there(&name)? => {
                    // Another command may have had the name then, and its controller is unloaded by now.
                    if has_failed {
                        return Err(failure);
                    }
                    has_failed = true;
                    continue;
                }
                // Another command was quicker, or the name is that of a testbed.
                Err(failure) => refused = Some(failure),
            }
        }
        match wait_for(&name) {
            // Without a claim it was unloaded meanwhile.
            Ok(Some(_)) => {
                if let Some(claim) = pins::claim(&name)? {
                    break claim;
                }
            }
            // Unloaded meanwhile, so it is loaded now, unless somebody else is quicker once more.
            Ok(None) => {}
            Err(failure) => return Err(refused.unwrap_or(failure)),
        }
    };
    let pinned = Pinned::open(&name)?;
    let request = Request {
        connections: connections.unwrap_or(pinned.capacity()),
        ..request
    };
    keep_or_replace(&request, &pinned, or_replace, &claim)
}

/// Puts it in place of what is loaded, or says that it is the same.
fn keep_or_replace(
    request: &Request,
    pinned: &Pinned,
    or_replace: bool,
    claim: &Claim,
) -> Result<(), Failure> {
    let name = &request.kernel_name;
    let differences = differences(request, pinned)?;
    if differences.is_empty() {
        finish(name, request.settings.needs_ecn, claim)?;
        println!(
            "{name} is loaded already with these settings: {}",
            request.text()
        );
        return Ok(());
    }
    if !or_replace {
        return Err(refusal(request, &differences));
    }
    tell(request, replace(request, claim)?);
    Ok(())
}

/// Gives a loaded controller other values of some settings.
///
/// # Errors
/// When it is not loaded, a value is not one that it takes, or the kernel refuses.
pub fn set(entry: &Entry, sets: &[(String, Value)]) -> Result<(), Failure> {
    super::check_rights()?;
    registered::names()?; // As in `load_or_keep`.
    let name = super::kernel_name(entry.name);
    if !pins::loaded()?.contains(&name) {
        return Err(unload::not_loaded(&name));
    }
    if wait_for(&name)?.is_none() {
        return Err(unload::not_loaded(&name));
    }
    // The other settings are those of now, and stay so until the new ones hold.
    let claim = pins::claim(&name)?.ok_or_else(|| unload::not_loaded(&name))?;
    let pinned = Pinned::open(&name)?;
    let request = Request {
        connections: pinned.capacity(),
        ..Request::of_text(entry, pinned.text(), sets)?
    };
    let differences = differences(&request, &pinned)?;
    if differences.iter().any(|one| one.key == PROGRAM) {
        return Err(Failure::refused(format!(
            "the loaded {name} is the program of another build of pathweave-linux"
        ))
        .hint(format!(
            "{} with all its settings replaces it: {}",
            own_command(&format!("kernel load {} --replace", entry.name)),
            pinned.text()
        )));
    }
    keep_or_replace(&request, &pinned, true, &claim)
}

/// Says what has come of it.
fn tell(request: &Request, closed: usize) {
    let name = &request.kernel_name;
    println!("{name} is replaced: {}", request.text());
    println!("  new sockets and new subflows get it; those that are open keep what they have");
    if closed > 0 {
        println!(
            "  {} cannot be looked into: where {name} is the default there, new sockets get the program from before",
            count(closed, "network namespace")
        );
    }
}

/// The one that is loaded, once all of it is there, or none. The time does not count while another process changes it.
fn wait_for(name: &str) -> Result<Option<Pinned>, Failure> {
    let mut begin = Instant::now();
    loop {
        let pinned = Pinned::open(name);
        if pinned.is_ok() || begin.elapsed() > PATIENCE {
            return pinned.map(Some);
        }
        if !is_there(name)? {
            return Ok(None);
        }
        if matches!(pins::keep_still(name)?, Stillness::Changing) {
            drop(pins::claim(name)?);
            begin = Instant::now();
        } else {
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Whether something of it is there: its name, or pins.
fn is_there(name: &str) -> Result<bool, Failure> {
    Ok(registered::has(name)? || pins::loaded()?.iter().any(|pinned| pinned == name))
}

const PROGRAM: &str = "program";
const CONNECTIONS: &str = "connections";

struct Difference {
    key: String,
    loaded: String,
    wanted: String,
}

/// In what a request differs from what is loaded.
fn differences(request: &Request, pinned: &Pinned) -> Result<Vec<Difference>, Failure> {
    let (loaded, wanted) = (pinned.text().to_owned(), request.text());
    let value = |text: &str, key: &str| {
        let mut pairs = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == key)
            .map_or("unset".to_owned(), |(_, value)| value.to_owned())
    };
    let mut all: Vec<Difference> = Vec::new();
    let mut compare = |key: &str, loaded: String, wanted: String| {
        if loaded != wanted && all.iter().all(|one| one.key != key) {
            all.push(Difference {
                key: key.to_owned(),
                loaded,
                wanted,
            });
        }
    };
    let pairs = wanted.split_whitespace().chain(loaded.split_whitespace());
    for (key, _) in pairs.filter_map(|pair| pair.split_once('=')) {
        compare(key, value(&loaded, key), value(&wanted, key));
    }
    compare(
        CONNECTIONS,
        pinned.capacity().to_string(),
        request.connections.to_string(),
    );
    let program = |number: u64| format!("{number:016x}");
    compare(
        PROGRAM,
        program(pinned.about().program),
        program(fingerprint::of(object_of(request)?)),
    );
    Ok(all)
}

fn refusal(request: &Request, differences: &[Difference]) -> Failure {
    let name = &request.kernel_name;
    let short = name.trim_start_matches(PREFIX);
    let has = |key: &str| differences.iter().any(|one| one.key == key);
    let texts: Vec<String> = differences
        .iter()
        .map(|one| format!("{}={} instead of {}", one.key, one.loaded, one.wanted))
        .collect();
    let failure = Failure::refused(format!(
        "{name} is loaded already, with {}",
        texts.join(", ")
    ));
    if has(CONNECTIONS) {
        failure.hint(format!(
            "room cannot change while it is loaded: {}, then load it again",
            own_command(&format!("kernel unload {short} --force --instead cubic"))
        ))
    } else if has(PROGRAM) {
        failure.hint("add --replace: new sockets and new subflows get the new one, those that are open keep the old one")
    } else {
        let sets: Vec<String> = differences
            .iter()
            .map(|one| format!("{}={}", one.key, one.wanted))
            .collect();
        failure.hint(format!(
            "add --replace, or {}: new sockets and new subflows get it, those that are open keep what they have",
            own_command(&format!("kernel set {short} {}", sets.join(" ")))
        ))
    }
}
