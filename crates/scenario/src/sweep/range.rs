//! The values of a range: `{ from, to, step }`, `{ from, to, count }`, `{ from, to, factor }`.

use super::ends::{Ends, FORMS};
use super::quantity::Quantity;
use crate::diagnostics::Problem;
use crate::suggest;
use crate::tree::{Key, Node, Table, Value};

const KEYS: &[&str] = &["from", "to", "step", "count", "factor", "scale"];

/// Values of a range, in its order.
pub(super) struct Values {
    pub values: Vec<Quantity>,
    pub logarithmic: bool,
}

/// Whether a table is a range, and not the beginning of a key with dots: values stand in it.
pub(super) fn is_range(table: &Table) -> bool {
    table.entries.iter().any(|(key, node)| {
        let scalar = !matches!(node.value, Value::Table(_) | Value::List(_));
        scalar && KEYS.contains(&key.name.as_str())
    })
}

/// The values of the range that stands in `node`.
pub(super) fn values(table: &Table, node: &Node) -> Result<Values, Problem> {
    for (key, _) in &table.entries {
        if !KEYS.contains(&key.name.as_str()) {
            return Err(
                Problem::new(key.place, format!("unknown key \"{}\"", key.name))
                    .help(suggest::accepted(&key.name, KEYS)),
            );
        }
    }
    let range = Ends::read(table, node)?;
    let rules: Vec<&(Key, Node)> = table
        .entries
        .iter()
        .filter(|(key, _)| matches!(key.name.as_str(), "step" | "count" | "factor"))
        .collect();
    let (key, rule) = match rules.as_slice() {
        [] => {
            return Err(
                Problem::new(node.place, "the range has no step, count or factor").help(FORMS),
            );
        }
        [(key, rule)] => (key, rule),
        [(first, _), (second, _), ..] => {
            let message = format!("a range has {} or {}, not both", first.name, second.name);
            return Err(Problem::new(second.place, message).help(FORMS));
        }
    };
    let scale = table.entry("scale");
    if let Some((scale, _)) = scale
        && key.name != "count"
    {
        return Err(Problem::new(
            scale.place,
            format!("a range with {} has no scale", key.name),
        )
        .help("scale goes with count; a step is linear, a factor is logarithmic"));
    }
    let logarithmic = match scale.map(|(_, node)| (node, node.as_text())) {
        None | Some((_, Some("linear"))) => key.name == "factor",
        Some((_, Some("log"))) => true,
        Some((node, _)) => {
            return Err(
                Problem::new(node.place, format!("scale cannot be {}", node.describe()))
                    .help("accepted: linear, log"),
            );
        }
    };
    if logarithmic {
        range.check_positive(table)?;
    }
    let values = match key.name.as_str() {
        "step" => range.by_step(rule)?,
        "factor" => range.by_factor(rule)?,
        _ if logarithmic => range.by_count(rule, Ends::evenly_in_logarithms)?,
        _ => range.by_count(rule, Ends::evenly)?,
    };
    if values.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Problem::new(
            rule.place,
            format!(
                "there are not this many whole numbers from {} to {}",
                range.from.text(),
                range.to.text()
            ),
        )
        .help(format!(
            "give a smaller count, or write from = {}.0 for values between whole numbers",
            range.from.text()
        )));
    }
    Ok(Values {
        values,
        logarithmic,
    })
}
