//! What axes are called, and that no two of them set the same.

use super::keys::{Found, Leaf};
use crate::diagnostics::Problem;
use crate::names::{self, LONGEST_NAME};
use crate::overrides;
use crate::tree::Place;
use crate::variants::{Axis, Choice};
use std::collections::HashMap;

/// An axis: its name, where it stands, and its keys.
pub(super) type Named<'a> = (String, Place, Vec<Leaf<'a>>);

/// Gives each axis its name: that of the group, the last part of the key, or the whole key where that is not clear.
pub(super) fn named<'a>(
    found: Vec<Found<'a>>,
    others: &[Axis<'_>],
    problems: &mut Vec<Problem>,
) -> Vec<Named<'a>> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (group, leaves) in &found {
        let name = group.map_or_else(|| last(&leaves[0].key.name), |group| group.name.clone());
        *taken.entry(name).or_default() += 1;
    }
    for other in others {
        *taken.entry(other.name.to_owned()).or_default() += 1;
    }
    let mut named: Vec<Named<'a>> = Vec::new();
    for (group, leaves) in found {
        let key = &leaves[0].key;
        let (name, place) = match group {
            Some(group) => (group.name.clone(), group.place),
            None => {
                let short = last(&key.name);
                let clear = taken[&short] == 1 && short.parse::<usize>().is_err();
                (if clear { short } else { key.name.clone() }, key.place)
            }
        };
        if let Some(text) = names::problem("the name of the axis", &name, LONGEST_NAME) {
            problems.push(Problem::with_remedy(place, &text));
        }
        let same = |other: &str| other == name;
        if others.iter().any(|axis| same(axis.name)) || named.iter().any(|(name, ..)| same(name)) {
            problems.push(
                Problem::new(place, format!("there are two axes \"{name}\""))
                    .help("give the group or the axis of variants another name"),
            );
        }
        named.push((name, place, leaves));
    }
    named
}

/// What two axes set, the later one would set alone.
pub(super) fn check_paths(named: &[Named<'_>], others: &[Axis<'_>], problems: &mut Vec<Problem>) {
    let steps = |key: &str| key.split('.').map(str::to_owned).collect::<Vec<String>>();
    let leaves: Vec<&Leaf<'_>> = named.iter().flat_map(|(.., leaves)| leaves).collect();
    for (place, leaf) in leaves.iter().enumerate() {
        let own = steps(&leaf.key.name);
        let touches = |other: &[String]| own.iter().zip(other).all(|(own, other)| own == other);
        if let Some(other) = leaves[..place]
            .iter()
            .find(|other| touches(&steps(&other.key.name)))
        {
            let message = if other.key.name == leaf.key.name {
                format!("\"{}\" is swept twice", leaf.key.name)
            } else {
                format!(
                    "\"{}\" and \"{}\" set the same",
                    other.key.name, leaf.key.name
                )
            };
            problems.push(
                Problem::new(leaf.key.place, message).help("each value is set by one axis alone"),
            );
        }
        for axis in others {
            let sets = |choice: &&Choice<'_>| {
                let paths = overrides::paths(choice.overrides);
                paths.iter().any(|path| path.starts_with(&own))
            };
            if let Some(choice) = axis.variants.iter().find(sets) {
                let message = format!(
                    "\"{}\" is set by variant \"{}\" of axis \"{}\", too",
                    leaf.key.name, choice.name, axis.name
                );
                problems.push(
                    Problem::new(leaf.key.place, message)
                        .help("the sweep would win silently; leave the key out of one of them"),
                );
            }
        }
    }
}
