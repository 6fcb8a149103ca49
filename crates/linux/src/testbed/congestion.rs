//! The kernel's names for controllers.

use crate::Failure;
use pathweave_control::{Entry, Parameters};
use pathweave_scenario::Plan;
use std::collections::BTreeMap;

/// Congestion control by the kernel's names, for all flows of a plan.
pub struct Controllers {
    /// By the group's name, for all of its flows.
    overrides: BTreeMap<String, String>,
    /// By the scenario's name and parameters.
    known: Vec<(&'static str, Parameters, String)>,
}

impl Controllers {
    /// Finds the kernel's names for the controllers of a plan's flows. `overrides` are of the form
    /// `group=name`, with a name that the kernel knows.
    ///
    /// # Errors
    /// When the kernel has no such controller.
    pub fn of(plan: &Plan, overrides: &[String]) -> Result<Controllers, Failure> {
        let mut found = Controllers {
            overrides: BTreeMap::new(),
            known: Vec::new(),
        };
        for text in overrides {
            let Some((group, name)) = text.split_once('=') else {
                return Err(Failure::refused(format!("\"{text}\" names no controller"))
                    .hint("write group=name, for example large=bbr"));
            };
            if plan.groups.iter().all(|known| known.name != group) {
                return Err(Failure::refused(format!(
                    "there is no traffic group \"{group}\""
                )));
            }
            found
                .overrides
                .insert(group.to_owned(), known_to_kernel(name)?);
        }
        for group in &plan.groups {
            if found.overrides.contains_key(&group.name) {
                continue;
            }
            for (entry, parameters) in group.controllers() {
                if found.find(entry, parameters).is_none() {
                    let name = kernel_name(entry, parameters)?;
                    found.known.push((entry.name, parameters.clone(), name));
                }
            }
        }
        Ok(found)
    }

    fn find(&self, entry: &Entry, parameters: &Parameters) -> Option<&str> {
        let mut known = self.known.iter();
        known
            .find(|(name, own, _)| *name == entry.name && own == parameters)
            .map(|(.., name)| name.as_str())
    }

    /// The kernel's name for the controller of a group's flow.
    pub fn name(&self, group: &str, entry: &Entry, parameters: &Parameters) -> &str {
        let own = self.overrides.get(group).map(String::as_str);
        own.or_else(|| self.find(entry, parameters))
            .expect("all controllers of the plan were found at the start")
    }

    /// The scenario's names and the kernel's.
    pub fn pairs(&self) -> BTreeMap<String, String> {
        let own = self
            .known
            .iter()
            .map(|(name, _, kernel)| ((*name).to_owned(), kernel.clone()));
        let overridden = self.overrides.iter();
        let overridden =
            overridden.map(|(group, kernel)| (format!("group {group}"), kernel.clone()));
        own.chain(overridden).collect()
    }
}

/// The kernel's name for a controller.
///
/// # Errors
/// When it has none.
fn kernel_name(entry: &Entry, parameters: &Parameters) -> Result<String, Failure> {
    let own = match entry.name {
        "uncoupled" => parameters.choice("of"),
        name => name,
    };
    match own {
        "reno" | "cubic" => known_to_kernel(own),
        name => Err(
            Failure::refused(format!("controller \"{name}\" is not in the kernel"))
                .hint("the testbed has reno and cubic"),
        ),
    }
}

/// A name, if the kernel has a congestion control of it.
fn known_to_kernel(name: &str) -> Result<String, Failure> {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = std::fs::read_to_string(list)
        .map_err(|error| Failure::refused(format!("cannot read {list}: {error}")))?;
    if available.split_whitespace().any(|known| known == name) {
        Ok(name.to_owned())
    } else {
        Err(
            Failure::refused(format!("the kernel has no congestion control \"{name}\""))
                .hint(format!("it has {}", available.trim())),
        )
    }
}
