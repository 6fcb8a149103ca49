//! What is loaded, and who uses it.

use super::cgroup::{CgroupUse, cgroup_uses};
use super::pins::Stillness;
use super::registered::{self, Holder};
use super::replace::Replacement;
use super::rows::{self, About, Connection};
use super::totals::Totals;
use super::{pins, requirements, sockets, unload};
use crate::own_command::{own_command, own_name};
use crate::{Failure, folders};
use libbpf_rs::{ErrorKind, MapCore, MapHandle};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;

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
            let control = unload::registered_map(kernel_name).ok_or_else(|| half(kernel_name))?;
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

/// How a controller stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Registered, with all its pins.
    Loaded,
    /// Another process is loading, replacing or unloading it.
    Changing,
    /// Registered by its pinned link, and other pins are missing.
    Incomplete,
    /// Not registered: pins of a loader that was killed.
    #[serde(rename = "left over")]
    LeftOver,
    /// Not registered, though its link is pinned.
    Detached,
    /// Registered by a process that holds its link, without a pin.
    Unpinned,
    /// It cannot be seen whether it is registered, or it is and its pins are not to be seen or read here.
    Unknown,
    /// Neither registered nor pinned any more: `status` says nothing of it.
    Gone,
}

/// How many looks are taken before a registered controller without a pin and a holder counts as unknown: its loader may pin
/// it, and end, between two steps of a look.
pub(super) const LOOKS: usize = 3;

/// All that `status` says.
#[derive(Serialize)]
struct Look {
    /// Whether what is loaded is known.
    known: bool,
    /// Why it is not.
    problems: Vec<String>,
    controllers: Vec<Controller>,
}

#[derive(Serialize)]
struct Controller {
    name: String,
    state: State,
    /// Whether sockets can choose it; none where that cannot be seen.
    registered: Option<bool>,
    /// Who holds it, of one without a pin.
    processes: Vec<Holder>,
    parameters: BTreeMap<String, String>,
    rows: Option<Rows>,
    subflows: usize,
    connections_without_row: usize,
    #[serde(flatten)]
    replacement: Replacement,
    control_groups: Vec<String>,
    /// Those that this process may not look into.
    closed_namespaces: usize,
    network_namespaces: Vec<InNamespace>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct Rows {
    used: usize,
    capacity: u32,
}

#[derive(Serialize)]
struct InNamespace {
    /// Null for this one.
    name: Option<String>,
    is_default: bool,
    sockets: Vec<Used>,
}

#[derive(Serialize)]
struct Used {
    local: SocketAddr,
    /// Null of one that listens.
    remote: Option<SocketAddr>,
    listens: bool,
    mptcp: bool,
    without_row: bool,
    #[serde(skip)]
    text: String,
}

/// Prints what the kernel has registered and what is pinned, with what parameters, and which sockets use it.
///
/// # Errors
/// When that cannot be known.
pub fn print(json: bool) -> Result<(), Failure> {
    let look = look();
    if json {
        println!(
            "{}",
            serde_json::to_string(&look).expect("numbers and texts")
        );
    } else {
        look.controllers.iter().for_each(print_controller);
        if look.controllers.is_empty() && look.known {
            println!(
                "no controller is loaded; {} loads one",
                own_command("kernel load xmp")
            );
        }
    }
    if look.known {
        Ok(())
    } else {
        Err(Failure::unknown(look.problems.join("\n")))
    }
}

fn look() -> Look {
    let mut look = Look {
        known: true,
        problems: Vec::new(),
        controllers: Vec::new(),
    };
    let registered = registered::names();
    let pinned = requirements::check_rights().and_then(|()| pins::loaded());
    let may_look = pinned.is_ok() && registered.is_ok();
    let failures = [registered.as_ref().err(), pinned.as_ref().err()];
    let problems = failures.into_iter().flatten().map(Failure::to_string);
    look.problems.extend(problems);
    let groups = match cgroup_uses() {
        Ok(groups) => groups,
        Err(failure) => {
            look.problems.push(failure.to_string());
            Vec::new()
        }
    };
    let is_registered = |name: &String| Some(registered.as_ref().ok()?.contains(name));
    let pinned = pinned.unwrap_or_default();
    let names: BTreeSet<&String> = registered.iter().flatten().chain(&pinned).collect();
    for name in names {
        let mut controller = Controller::new(name, is_registered(name));
        let described = match may_look {
            true => controller.describe(&groups),
            false => Ok(()),
        };
        if let Err(failure) = described {
            controller.state = State::Unknown;
            let said = failure.to_string();
            let verb = match controller.registered {
                Some(true) => "is registered",
                _ => "has pins",
            };
            look.problems.push(match said.starts_with(name.as_str()) {
                true => said,
                false => format!("{name} {verb}, but {said}"),
            });
        }
        if controller.state != State::Gone {
            look.controllers.push(controller);
        }
    }
    let registered = registered.unwrap_or_default();
    if !may_look && !registered.is_empty() {
        let verb = if registered.len() == 1 { "is" } else { "are" };
        look.problems
            .push(format!("{} {verb} registered", registered.join(", ")));
    }
    look.known = look.problems.is_empty();
    look
}

impl Controller {
    fn new(name: &str, registered: Option<bool>) -> Controller {
        Controller {
            name: name.to_owned(),
            state: State::Unknown,
            registered,
            processes: Vec::new(),
            parameters: BTreeMap::new(),
            rows: None,
            subflows: 0,
            connections_without_row: 0,
            replacement: Replacement::default(),
            control_groups: Vec::new(),
            closed_namespaces: 0,
            network_namespaces: Vec::new(),
            text: String::new(),
        }
    }

    fn describe(&mut self, groups: &[CgroupUse]) -> Result<(), Failure> {
        let name = self.name.clone();
        let found = sockets::find(&name)?;
        let mut opened = self.stand()?;
        for _ in 1..LOOKS {
            if self.state != State::Unknown {
                break;
            }
            opened = self.stand()?;
        }
        if self.state == State::Unknown {
            return Err(unseen(&name));
        }
        match opened {
            Some(Ok(pinned)) => {
                let connections = pinned.connections();
                self.rows = Some(Rows {
                    used: connections.len(),
                    capacity: pinned.capacity(),
                });
                self.subflows = connections.iter().map(|c| c.subflows.len()).sum();
                self.replacement = Replacement::of(&pinned, &found);
                self.text = pinned.about.text.clone();
                let words = self
                    .text
                    .split_whitespace()
                    .filter_map(|word| word.split_once('='));
                self.parameters = words
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .collect();
            }
            Some(Err(failure)) if self.state != State::Changing && failure != half(&name) => {
                return Err(failure);
            }
            _ => {}
        }
        let of_it = groups.iter().filter(|one| one.kernel_name == name);
        self.control_groups = of_it.map(CgroupUse::place).collect();
        self.closed_namespaces = found.closed;
        let all = found.uses.iter().flat_map(|uses| &uses.sockets);
        let without: BTreeSet<u64> = all.filter_map(|socket| socket.without_row).collect();
        self.connections_without_row = without.len();
        self.network_namespaces = found.uses.into_iter().map(InNamespace::from).collect();
        Ok(())
    }

    /// Finds its state. What is registered and pinned is looked at together, while nobody changes it: else what is seen
    /// half-way would be taken for what a killed loader has left. Gives its pins, if it has any.
    fn stand(&mut self) -> Result<Option<Result<Pinned, Failure>>, Failure> {
        let name = &self.name;
        let stillness = pins::keep_still(name)?;
        let is_registered = registered::has(name)?;
        self.registered = Some(is_registered);
        let link = pins::folder(name).join(pins::LINK);
        let has_link = link
            .try_exists()
            .map_err(|error| folders::cannot("look at", &link, &error))?;
        let has_pins = !matches!(stillness, Stillness::NoPins);
        let opened = has_pins.then(|| Pinned::open(name));
        self.state = match (&opened, has_link, is_registered) {
            _ if matches!(stillness, Stillness::Changing) => State::Changing,
            (None, _, false) => State::Gone,
            (_, false, true) => {
                self.processes = registered::holders(name);
                match self.processes.is_empty() {
                    true => State::Unknown,
                    false => State::Unpinned,
                }
            }
            (_, false, false) => State::LeftOver,
            (_, true, false) => State::Detached,
            (Some(Ok(_)), true, true) => State::Loaded,
            _ => State::Incomplete,
        };
        Ok(opened)
    }
}

impl From<sockets::Uses> for InNamespace {
    fn from(uses: sockets::Uses) -> InNamespace {
        InNamespace {
            name: uses.namespace,
            is_default: uses.is_default,
            sockets: uses
                .sockets
                .iter()
                .map(|socket| Used {
                    local: socket.local,
                    remote: (!socket.listens).then_some(socket.remote),
                    listens: socket.listens,
                    mptcp: socket.is_mptcp,
                    without_row: socket.without_row.is_some(),
                    text: socket.to_string(),
                })
                .collect(),
        }
    }
}

fn print_controller(one: &Controller) {
    let name = &one.name;
    match one.state {
        State::Loaded => println!("{name}  {}", one.text),
        State::Changing => {
            println!("{name} is being loaded, replaced or unloaded by another process")
        }
        State::Incomplete => println!("{}", half(name)),
        State::LeftOver => println!(
            "{name} is not loaded: a loader that was killed has left pins; {} removes them",
            unloading(name)
        ),
        State::Detached => println!(
            "{name} is not loaded: its link is pinned, but was detached; {} removes it",
            unloading(name)
        ),
        State::Unpinned => println!("{}", held(name, &one.processes)),
        State::Unknown | State::Gone => return,
    }
    if let Some(rows) = &one.rows {
        println!(
            "  rows used: {} of {}, by {}",
            rows.used,
            rows.capacity,
            count(one.subflows, "subflow")
        );
        let advice = match one.connections_without_row {
            0 => "",
            _ => ", which behave as Reno: load it with more --connections",
        };
        println!(
            "  connections without a row: {}{advice}",
            one.connections_without_row
        );
    }
    for line in one.replacement.lines() {
        println!("  {line}");
    }
    if one.closed_namespaces > 0 {
        println!(
            "  {} that only CAP_SYS_ADMIN can look into",
            count(one.closed_namespaces, "network namespace")
        );
    }
    for place in &one.control_groups {
        println!("  control group: {place}");
    }
    for namespace in &one.network_namespaces {
        println!(
            "  network namespace: {}",
            namespace.name.as_deref().unwrap_or("this one")
        );
        if namespace.is_default {
            println!("    default of new sockets");
        }
        for socket in &namespace.sockets {
            let mptcp = if socket.mptcp { "  MPTCP" } else { "" };
            let row = if socket.without_row {
                "  without a row"
            } else {
                ""
            };
            println!("    {}{mptcp}{row}", socket.text);
        }
    }
}

/// What a command says of a controller that is registered and has no link pinned here.
pub fn unpinned(kernel_name: &str) -> Failure {
    let holders = registered::holders(kernel_name);
    if holders.is_empty() {
        unseen(kernel_name)
    } else {
        Failure::refused(held(kernel_name, &holders))
    }
}

/// What `unload` says when its pins are gone and it is still registered.
pub fn still_held(kernel_name: &str) -> Failure {
    let holders = registered::holders(kernel_name);
    if holders.is_empty() {
        return Failure::new(format!(
            "{kernel_name} has no pins any more and is still registered: a process or a pin that cannot be seen here holds its link"
        ))
        .hint("it goes when that does");
    }
    let processes: Vec<String> = holders.iter().map(|one| one.pid.to_string()).collect();
    Failure::new(held(kernel_name, &holders))
        .hint(format!("end what holds it: kill {}", processes.join(" ")))
}

fn held(kernel_name: &str, holders: &[Holder]) -> String {
    let holders: Vec<String> = holders
        .iter()
        .map(|holder| format!("process {} ({})", holder.pid, holder.command))
        .collect();
    format!(
        "{kernel_name} is registered without a pin by {}, and goes when that ends",
        holders.join(" and ")
    )
}

/// What a command says where it sees no pin and no holder of a registered controller.
pub(super) fn unseen(kernel_name: &str) -> Failure {
    let why = if pins::has_file_system() {
        "its link is not pinned in the BPF file system that is at /sys/fs/bpf here, and no process that can be seen holds it"
    } else {
        "there is no BPF file system at /sys/fs/bpf in this mount namespace"
    };
    Failure::unknown(format!("{kernel_name} is registered, but {why}")).hint(format!(
        "look where it was loaded: as root, outside of containers and `ip netns exec`, for example `nsenter --mount=/proc/1/ns/mnt {} kernel status`",
        own_name()
    ))
}

fn half(kernel_name: &str) -> Failure {
    Failure::new(format!("{kernel_name} is only half loaded"))
        .hint(format!("{} removes it", unloading(kernel_name)))
}

fn unloading(kernel_name: &str) -> String {
    own_command(&format!("kernel unload {kernel_name}"))
}

/// "1 subflow", "2 subflows".
pub fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}
