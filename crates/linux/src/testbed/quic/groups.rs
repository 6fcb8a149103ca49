//! Which traffic groups QUIC plays, and under which controllers.

use crate::Failure;
use crate::testbed::group::most_subflows_of;
use pathweave_control::{Algorithm, Parameters, Start, Value};
use pathweave_noq::Coupled;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of the headers around a UDP payload (IPv4, without options).
pub const HEADERS: u16 = 28;
/// The smallest largest UDP payload of a path (RFC 9000, section 14).
const SMALLEST_PAYLOAD: u16 = 1200;
/// Whose QUIC it is.
const IMPLEMENTATION: &str = "noq 1.4";

/// The traffic groups of a plan that QUIC plays.
#[derive(Clone, Debug, Default)]
pub struct QuicGroups {
    names: BTreeSet<String>,
    /// The controllers of each, in the scenario's words.
    controllers: BTreeMap<String, String>,
}

impl QuicGroups {
    /// What the user chose: `quic` is for all groups whose flows have several subflows, `GROUP=quic` for one group of any
    /// kind, and `tcp` and `GROUP=tcp` take that back.
    ///
    /// # Errors
    /// For what is neither, for a group that the plan does not have, and for groups that QUIC cannot play.
    pub fn of(plan: &Plan, choices: &[String]) -> Result<QuicGroups, Failure> {
        let mut found = QuicGroups::default();
        // What is said of one group counts more than what is said of all, in whatever order.
        let (of_one, of_all): (Vec<_>, Vec<_>) =
            choices.iter().partition(|choice| choice.contains('='));
        for choice in of_all {
            let is_multipath = |group: &&GroupPlan| most_subflows_of(group) > 1;
            match choice.as_str() {
                "quic" => {
                    let groups = plan.groups.iter().filter(is_multipath);
                    found.names.extend(groups.map(|group| group.name.clone()));
                    if found.names.is_empty() {
                        return Err(Failure::refused(
                            "no traffic group of this scenario has flows of several subflows",
                        )
                        .hint(
                            "--transport GROUP=quic plays a group of single-path flows over QUIC",
                        ));
                    }
                }
                "tcp" => found.names.clear(),
                other => return Err(unknown(other)),
            }
        }
        for choice in of_one {
            let (group, transport) = choice.split_once('=').unwrap_or_default();
            if plan.groups.iter().all(|known| known.name != group) {
                let names = plan.groups.iter().map(|known| known.name.as_str());
                return Err(
                    Failure::refused(format!("there is no traffic group \"{group}\"")).hint(
                        format!("the scenario has {}", names.collect::<Vec<_>>().join(", ")),
                    ),
                );
            }
            match transport {
                "quic" => found.names.insert(group.to_owned()),
                "tcp" => found.names.remove(group),
                other => return Err(unknown(other)),
            };
        }
        for group in &plan.groups {
            if found.plays(&group.name) {
                found.controllers.insert(group.name.clone(), check(group)?);
            }
        }
        Ok(found)
    }

    /// Whether QUIC plays the group of this name.
    pub fn plays(&self, group: &str) -> bool {
        self.names.contains(group)
    }

    /// Whether it plays any.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What plays each group, for the results.
    pub fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        self.controllers.iter().map(|(group, names)| {
            (
                format!("group {group}"),
                format!("{names} over QUIC ({IMPLEMENTATION})"),
            )
        })
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

fn unknown(transport: &str) -> Failure {
    Failure::refused(format!("\"{transport}\" is not a transport of the testbed"))
        .hint("write quic, tcp, GROUP=quic or GROUP=tcp")
}

/// Whether QUIC can play a group; gives the names of its controllers.
fn check(group: &GroupPlan) -> Result<String, Failure> {
    let smallest = SMALLEST_PAYLOAD + HEADERS;
    let size = group.transport.data_packet;
    if size < smallest {
        return Err(Failure::refused(format!(
            "group \"{}\" has packets of {size} bytes, and QUIC needs at least {smallest}",
            group.name
        ))
        .hint("set transport.data_packet, for example to 1500"));
    }
    let mut names = BTreeSet::new();
    for (algorithm, parameters) in group.controllers() {
        coupled(group, algorithm, parameters)?;
        names.insert(algorithm.name().to_owned());
    }
    Ok(names.into_iter().collect::<Vec<_>>().join(", "))
}

/// The controller of a group's flow for noq. Paths start as the group's transport says.
///
/// # Errors
/// When it cannot run there.
pub fn coupled(
    group: &GroupPlan,
    algorithm: &Algorithm,
    parameters: &Parameters,
) -> Result<Coupled, Failure> {
    if algorithm.registered().is_none() {
        return Err(Failure::refused(format!(
            "controller \"{}\" comes from a file, and the testbed runs what is built in",
            algorithm.name()
        ))
        .hint("simulate it: pathweave run"));
    }
    let config = &group.transport;
    let payload = u64::from(config.data_packet - HEADERS);
    let window = config.initial_window_of(group.subflows);
    let start = Start {
        packets: window,
        bytes: Bytes::new((window.ceil() as u64).saturating_mul(payload)),
        minimum_packets: config.minimum_window.max(1.0),
        after_idle: false, // as the kernel's hosts are set up
    };
    let given: Vec<(String, Value)> = parameters
        .iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    Coupled::of_values(algorithm.name(), &given, start).map_err(|error| {
        Failure::refused(format!(
            "group \"{}\" cannot run over QUIC: {error}",
            group.name
        ))
        .hint("simulate it: pathweave run")
    })
}
