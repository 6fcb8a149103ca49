//! The controllers of a plan in the kernel: its own, and ours for as long as the run lasts.

use super::quic::QuicGroups;
use crate::Failure;
use crate::kernel::{self, Loaded, Request};
use pathweave_control::{Algorithm, Parameters};
use pathweave_scenario::{GroupPlan, Plan};
use std::collections::BTreeMap;

/// Congestion control by the kernel's names, for all flows of a plan.
pub struct Controllers {
    /// By the group's name, for all of its flows.
    overrides: BTreeMap<String, String>,
    known: Vec<Known>,
}

/// A controller of the scenario, and what plays it.
struct Known {
    controller: String,
    parameters: Parameters,
    kernel_name: String,
    /// Ours is unloaded when this goes.
    _loaded: Option<Loaded>,
}

impl Controllers {
    /// Finds what the kernel has for the controllers of a plan's flows over TCP, and loads the others. `overrides` are of the form
    /// `group=name`, with a name that the kernel knows.
    ///
    /// # Errors
    /// When there is none for the kernel.
    pub fn of(
        plan: &Plan,
        overrides: &[String],
        quic: &QuicGroups,
    ) -> Result<Controllers, Failure> {
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
            if quic.plays(group) {
                return Err(Failure::refused(format!(
                    "group \"{group}\" is played over QUIC, where the kernel's congestion controls do not run"
                ))
                .hint("leave out --controller or --transport for it"));
            }
            found
                .overrides
                .insert(group.to_owned(), known_to_kernel(name)?);
        }
        for group in &plan.groups {
            if found.overrides.contains_key(&group.name) || quic.plays(&group.name) {
                continue;
            }
            for (entry, parameters) in group.controllers() {
                if found.find(entry, parameters).is_none() {
                    found.known.push(Known::new(entry, parameters, group)?);
                }
            }
        }
        Ok(found)
    }

    fn find(&self, algorithm: &Algorithm, parameters: &Parameters) -> Option<&str> {
        let mut known = self.known.iter();
        known
            .find(|known| known.controller == algorithm.name() && known.parameters == *parameters)
            .map(|known| known.kernel_name.as_str())
    }

    /// The kernel's name for the controller of a group's flow.
    pub fn name(&self, group: &str, algorithm: &Algorithm, parameters: &Parameters) -> &str {
        let own = self.overrides.get(group).map(String::as_str);
        own.or_else(|| self.find(algorithm, parameters))
            .expect("all controllers of the plan were found at the start")
    }

    /// The scenario's names and the kernel's.
    pub fn pairs(&self) -> BTreeMap<String, String> {
        let own = self
            .known
            .iter()
            .map(|known| (known.controller.clone(), known.kernel_name.clone()));
        let overridden = self.overrides.iter();
        let overridden =
            overridden.map(|(group, kernel)| (format!("group {group}"), kernel.clone()));
        own.chain(overridden).collect()
    }
}

impl Known {
    fn new(
        algorithm: &Algorithm,
        parameters: &Parameters,
        group: &GroupPlan,
    ) -> Result<Known, Failure> {
        let played = |(kernel_name, loaded): (String, Option<Loaded>)| Known {
            controller: algorithm.name().to_owned(),
            parameters: parameters.clone(),
            kernel_name,
            _loaded: loaded,
        };
        let own = match algorithm.name() {
            _ if algorithm.registered().is_none() => {
                return Err(Failure::refused(format!(
                    "controller \"{}\" comes from a file, and the testbed runs what the kernel has",
                    algorithm.name()
                ))
                .hint("simulate it: pathweave run"));
            }
            "uncoupled" => parameters.choice("of"),
            // BOS is XMP on one path; on several XMP would couple it.
            "bos" if group.subflows == 1 => "xmp",
            name => name,
        };
        if ["reno", "cubic"].contains(&own) {
            return Ok(played((known_to_kernel(own)?, None)));
        }
        let Ok(ours) = kernel::entry(own) else {
            return Err(Failure::refused(format!(
                "controller \"{}\" is not in the kernel",
                algorithm.name()
            ))
            .hint(format!(
                "the testbed has reno, cubic, {}",
                kernel::names().collect::<Vec<_>>().join(", ")
            )));
        };
        let defaults = ours.defaults();
        let parameters = match algorithm.name() {
            "uncoupled" => &defaults,
            _ => parameters,
        };
        let window = group.transport.minimum_window.ceil() as u32;
        let request = Request::new(ours, parameters, window)?;
        let loaded = load_under_a_free_name(Request {
            failed_after: group.transport.failed_after,
            growth_by_marked_acks: group.transport.growth_by_marked_acks,
            ..request
        })?;
        Ok(played((loaded.kernel_name().to_owned(), Some(loaded))))
    }
}

/// Loads a controller beside others of its kind: those with other parameters, and one that is there for good.
fn load_under_a_free_name(request: Request) -> Result<Loaded, Failure> {
    let taken = kernel::available_controls()?;
    let numbered = (1..).map(|number| format!("{}.{number}", request.kernel_name));
    let names = std::iter::once(request.kernel_name.clone()).chain(numbered);
    let mut free = names.filter(|name| !taken.contains(name));
    let kernel_name = free.next().unwrap_or_default();
    kernel::load(&Request {
        kernel_name,
        ..request
    })
}

/// A name, if the kernel has a congestion control of it.
fn known_to_kernel(name: &str) -> Result<String, Failure> {
    let names = kernel::available_controls()?;
    if names.iter().any(|known| known == name) {
        Ok(name.to_owned())
    } else {
        Err(
            Failure::refused(format!("the kernel has no congestion control \"{name}\""))
                .hint(format!("it has {}", names.join(", "))),
        )
    }
}
