//! Names of nodes: ranges, lookup, subsets of the hosts.

use super::Problems;
use crate::patterns::HostsText;
use crate::suggest;
use crate::text::Either;
use pathweave_fabric::{Fabric, NodeId};
use std::collections::HashMap;

/// Most names that one range may stand for.
const MOST: u64 = 1_000_000;

/// A name, or the names of a range such as "h0..h15", both ends included.
pub(super) fn expand(text: &str) -> Result<Vec<String>, String> {
    let Some((first, last)) = text.split_once("..") else {
        return Ok(vec![text.to_owned()]);
    };
    let refuse = |problem: &str| {
        Err(format!(
            "\"{text}\" is not a range of names: {problem}; write for example \"h0..h15\", both ends included"
        ))
    };
    let split = |name: &str| -> Option<(String, u64)> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(name.len() - digits);
        Some((stem.to_owned(), number.parse().ok()?))
    };
    let (Some((stem, from)), Some((last_stem, to))) = (split(first.trim()), split(last.trim()))
    else {
        return refuse("both ends must end with a number");
    };
    if stem != last_stem {
        return refuse("both ends must be alike but for their number");
    }
    if from > to {
        return refuse("it runs backwards");
    }
    if to - from >= MOST {
        return refuse("it is too long");
    }
    Ok((from..=to)
        .map(|number| format!("{stem}{number}"))
        .collect())
}

/// The nodes of a fabric by name.
pub(crate) struct Names<'a> {
    pub fabric: &'a Fabric,
    nodes: HashMap<&'a str, NodeId>,
}

/// Names that are shown in full, or searched for the one that was meant.
const FEW: usize = 12;
const SEARCHED: usize = 64;

impl<'a> Names<'a> {
    pub fn new(fabric: &'a Fabric) -> Names<'a> {
        let names = fabric.nodes.iter().map(|node| node.name.as_str());
        Names {
            fabric,
            nodes: names.zip((0..).map(NodeId)).collect(),
        }
    }

    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.get(name).copied()
    }

    /// The index of a host, or why there is none of this name.
    pub fn host(&self, name: &str) -> Result<u32, String> {
        let hosts = || {
            self.fabric
                .hosts
                .iter()
                .map(|&host| self.fabric.node(host).name.as_str())
        };
        match self.node(name) {
            None => Err(format!(
                "no host is called \"{name}\"; {}",
                meant(name, hosts())
            )),
            Some(node) => self
                .fabric
                .node(node)
                .host_index()
                .ok_or_else(|| format!("\"{name}\" is a switch; hosts are {}", sample(hosts()))),
        }
    }

    /// Says that no node has this name, and which there are.
    pub fn unknown_node(&self, name: &str) -> String {
        let all = self.fabric.nodes.iter().map(|node| node.name.as_str());
        format!("no node is called \"{name}\"; {}", meant(name, all))
    }

    /// The hosts of a subset by index; `None` for all.
    pub fn select(
        &self,
        hosts: &HostsText,
        steps: &[&str],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<u32>> {
        if let Either::One(text) = hosts
            && text == "all"
        {
            return None;
        }
        let mut indexes = Vec::new();
        let single = matches!(hosts, Either::One(_));
        for (position, text) in hosts.as_slice().iter().enumerate() {
            let position = position.to_string();
            let steps = if single {
                steps.to_vec()
            } else {
                [steps, &[&position]].concat()
            };
            match expand(text) {
                Ok(names) => {
                    for name in names {
                        match self.host(&name) {
                            Ok(index) => indexes.push(index),
                            Err(text) => {
                                problems.wrong(&steps, text);
                                break;
                            }
                        }
                    }
                }
                Err(text) => problems.wrong(&steps, text),
            }
        }
        Some(indexes)
    }
}

fn meant<'a>(
    name: &str,
    names: impl ExactSizeIterator<Item = &'a str> + DoubleEndedIterator + Clone,
) -> String {
    let known = sample(names.clone());
    // Among many names that differ by a digit only, the nearest is no better than its neighbours.
    let few = names.len() <= SEARCHED;
    match few.then(|| suggest::nearest(name, names)).flatten() {
        Some(meant) => format!("did you mean \"{meant}\"? There are {known}"),
        None => format!("there are {known}"),
    }
}

/// The names, or the first few and the last. Many names take no longer than few: a list may have many wrong ones.
fn sample<'a>(mut names: impl ExactSizeIterator<Item = &'a str> + DoubleEndedIterator) -> String {
    if names.len() <= FEW {
        return names.collect::<Vec<_>>().join(", ");
    }
    let last = names.next_back().unwrap_or_default();
    let first: Vec<&str> = names.take(3).collect();
    format!("{}, ..., {last}", first.join(", "))
}
