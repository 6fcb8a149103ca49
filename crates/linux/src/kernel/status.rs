//! What is loaded, and who uses it.

use super::cgroup::{CgroupUse, cgroup_uses};
use super::pinned::{Pinned, half, unloading};
use super::pins::Stillness;
use super::registered::{self, Holder};
use super::replace::Replacement;
use super::unpinned::{LOOKS, held, unseen};
use super::{pins, requirements, sockets};
use crate::own_command::own_command;
use crate::plural::count;
use crate::{Failure, folders};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

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
                self.text = pinned.about().text.clone();
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
