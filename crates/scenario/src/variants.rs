//! Axes of named variants, which multiply.

use crate::diagnostics::Problem;
use crate::names::{self, LONGEST_FOLDER, LONGEST_NAME};
use crate::suggest;
use crate::tree::{Key, Node, Place, Table, Value};
use std::collections::HashMap;

/// Most variants of one scenario.
pub(crate) const MOST: usize = 10_000;
/// Most values that all variants have together: checking that many takes a minute.
const MOST_VALUES: u64 = 10_000_000;

/// One name on each axis, with its overrides.
#[derive(Clone, Debug)]
pub(crate) struct Combination<'a> {
    pub names: Vec<(String, String)>,
    pub overrides: Vec<&'a Table>,
    /// What each name is called beside those of other axes.
    words: Vec<String>,
}

impl Combination<'_> {
    /// What people read.
    pub fn label(&self) -> String {
        self.words.join(", ")
    }

    /// What folders are called.
    pub fn slug(&self) -> String {
        let parts: Vec<String> = self.words.iter().map(|word| slug(word)).collect();
        if parts.is_empty() {
            "base".to_owned()
        } else {
            parts.join("_")
        }
    }
}

/// A name in lower-case ASCII letters, digits, hyphens and dots.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '.' {
            c.to_ascii_lowercase()
        } else {
            '-'
        };
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug = slug.trim_matches(['-', '.']).to_owned();
    if slug.is_empty() {
        "variant".to_owned()
    } else {
        slug
    }
}

/// A choice `axis=name` of the command line and its place.
pub(crate) struct Only<'a> {
    pub text: &'a str,
    pub place: Place,
}

/// An axis and its variants, in the order of the file.
pub(crate) struct Axis<'a> {
    pub name: &'a str,
    /// Whether its names are values, which say little without the axis.
    pub swept: bool,
    pub variants: Vec<Choice<'a>>,
}

/// A variant of an axis.
pub(crate) struct Choice<'a> {
    pub name: &'a str,
    pub overrides: &'a Table,
}

impl Axis<'_> {
    /// What a name is called beside those of other axes.
    fn word(&self, name: &str) -> String {
        if self.swept {
            format!("{} = {name}", self.name)
        } else {
            name.to_owned()
        }
    }
}

/// All combinations, the first axis changing slowest, limited to what was chosen. `place` is where the axes stand, and
/// `common` how many values all variants have.
pub(crate) fn combinations<'a>(
    mut axes: Vec<Axis<'a>>,
    place: Place,
    common: u64,
    only: &[Only<'_>],
    problems: &mut Vec<Problem>,
) -> Vec<Combination<'a>> {
    choose(&mut axes, only, problems);
    let count = axes
        .iter()
        .try_fold(1usize, |count, axis| count.checked_mul(axis.variants.len()));
    if count.is_none_or(|count| count > MOST) {
        let lengths: Vec<String> = axes
            .iter()
            .map(|axis| format!("{} {}", axis.variants.len(), axis.name))
            .collect();
        problems.push(
            Problem::new(
                place,
                format!(
                    "there are more than {MOST} variants: {}",
                    lengths.join(" x ")
                ),
            )
            .help("axes multiply; give fewer or shorter ones"),
        );
        return Vec::new();
    }
    let values = values_of_all(&axes, common);
    if values > MOST_VALUES {
        problems.push(
            Problem::new(
                place,
                format!("all variants together have {values} values, more than {MOST_VALUES}"),
            )
            .help("give fewer variants, or put listed flows into a trace"),
        );
        return Vec::new();
    }
    let mut combinations = vec![Combination {
        names: Vec::new(),
        overrides: Vec::new(),
        words: Vec::new(),
    }];
    for axis in &axes {
        let longer = |combination: &Combination<'a>| {
            let extend = |choice: &Choice<'a>| {
                let mut longer = combination.clone();
                longer
                    .names
                    .push((axis.name.to_owned(), choice.name.to_owned()));
                longer.overrides.push(choice.overrides);
                longer.words.push(axis.word(choice.name));
                longer
            };
            axis.variants.iter().map(extend).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    // Names that are too long by themselves have been refused already.
    let longest = combinations
        .iter()
        .map(|combination| combination.slug().len())
        .max();
    if let Some(length) = longest.filter(|&length| length > LONGEST_FOLDER)
        && problems.is_empty()
    {
        problems.push(
            Problem::new(
                place,
                format!("the names of a variant on all axes together make a folder of {length} characters"),
            )
            .help(format!("give shorter names; at most {LONGEST_FOLDER} characters together")),
        );
    }
    combinations
}

/// How many values all combinations of these axes have, those of the scenario and those that they override.
fn values_of_all(axes: &[Axis<'_>], common: u64) -> u64 {
    let variants: u64 = axes.iter().map(|axis| axis.variants.len() as u64).product();
    let of_axis = |axis: &Axis<'_>| {
        let overrides = axis.variants.iter().map(|choice| choice.overrides.count());
        let others = variants.checked_div(axis.variants.len() as u64);
        overrides.sum::<u64>().saturating_mul(others.unwrap_or(0))
    };
    let overridden = axes.iter().map(of_axis).fold(0, u64::saturating_add);
    common.saturating_mul(variants).saturating_add(overridden)
}

/// The axes of `[variants]`.
pub(crate) fn axes<'a>(variants: Option<&'a Node>, problems: &mut Vec<Problem>) -> Vec<Axis<'a>> {
    const SHAPE: &str = "variants are written [variants.<axis>.\"<name>\"], for example [variants.scheme.\"DCTCP\"]";
    let Some(node) = variants else {
        return Vec::new();
    };
    let mut axes = Vec::new();
    let not_a_table = |key: &str, node: &Node| {
        Problem::new(node.place, format!("{key} cannot be {}", node.describe())).help(SHAPE)
    };
    let Value::Table(table) = &node.value else {
        problems.push(not_a_table("variants", node));
        return axes;
    };
    let check = |what: &str, key: &Key, problems: &mut Vec<Problem>| {
        if let Some(text) = names::problem(what, &key.name, LONGEST_NAME) {
            problems.push(Problem::with_remedy(key.place, &text));
        }
    };
    for (axis_key, axis_node) in &table.entries {
        check("the name of the axis", axis_key, problems);
        let Value::Table(axis_table) = &axis_node.value else {
            problems.push(not_a_table(&axis_key.name, axis_node));
            continue;
        };
        let mut slugs: HashMap<String, &str> = HashMap::new();
        let mut named = Vec::new();
        for (key, node) in &axis_table.entries {
            check("the name of the variant", key, problems);
            let Value::Table(overrides) = &node.value else {
                problems.push(not_a_table(&key.name, node));
                continue;
            };
            check_overrides(overrides, problems);
            if let Some(other) = slugs.insert(slug(&key.name), &key.name) {
                problems.push(
                    Problem::new(
                        key.place,
                        format!(
                            "variants \"{other}\" and \"{}\" would have the same folder, \"{}\"",
                            key.name,
                            slug(&key.name)
                        ),
                    )
                    .help("names must differ in more than case and punctuation"),
                );
            }
            named.push(Choice {
                name: &key.name,
                overrides,
            });
        }
        if named.is_empty() && axis_table.entries.is_empty() {
            problems.push(
                Problem::new(
                    axis_key.place,
                    format!("axis \"{}\" has no variants", axis_key.name),
                )
                .help(SHAPE),
            );
        }
        axes.push(Axis {
            name: &axis_key.name,
            swept: false,
            variants: named,
        });
    }
    axes
}

/// What all variants share cannot be overridden in one.
fn check_overrides(overrides: &Table, problems: &mut Vec<Problem>) {
    for (key, _) in &overrides.entries {
        let first = key.name.split('.').next().unwrap_or("").trim();
        if matches!(
            first,
            "title" | "seed" | "seeds" | "variants" | "sweep" | "sizes"
        ) {
            problems.push(
                Problem::new(key.place, format!("a variant cannot override \"{first}\""))
                    .help("all variants share title, seed, seeds, variants, sweep and sizes"),
            );
        }
    }
}

/// Keeps what the command line chose: several names of one axis add up, axes restrict each other.
fn choose(axes: &mut [Axis<'_>], only: &[Only<'_>], problems: &mut Vec<Problem>) {
    let mut kept: HashMap<String, Vec<String>> = HashMap::new();
    for Only { text, place } in only {
        let Some((axis_name, name)) = text.split_once('=') else {
            problems.push(
                Problem::new(*place, format!("\"{text}\" does not choose a variant"))
                    .help("write axis=name, for example scheme=DCTCP"),
            );
            continue;
        };
        let (axis_name, name) = (axis_name.trim(), name.trim());
        let names: Vec<&str> = axes.iter().map(|axis| axis.name).collect();
        let Some(axis) = axes.iter().find(|axis| axis.name == axis_name) else {
            problems.push(
                Problem::new(*place, format!("there is no axis \"{axis_name}\""))
                    .help(suggest::accepted(axis_name, &names)),
            );
            continue;
        };
        let found = axis
            .variants
            .iter()
            .find(|choice| choice.name == name)
            .or_else(|| {
                axis.variants
                    .iter()
                    .find(|choice| slug(choice.name) == slug(name))
            });
        match found {
            Some(choice) => {
                kept.entry(axis_name.to_owned())
                    .or_default()
                    .push(choice.name.to_owned());
            }
            None => {
                let names: Vec<&str> = axis.variants.iter().map(|choice| choice.name).collect();
                problems.push(
                    Problem::new(
                        *place,
                        format!("axis \"{axis_name}\" has no variant \"{name}\""),
                    )
                    .help(suggest::accepted(name, &names)),
                );
            }
        }
    }
    for axis in axes {
        if let Some(kept) = kept.get(axis.name) {
            axis.variants
                .retain(|choice| kept.iter().any(|name| name == choice.name));
        }
    }
}
