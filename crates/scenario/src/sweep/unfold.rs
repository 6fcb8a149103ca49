//! Keys with dots in a sweep as tables within tables, whichever way they were written.

use crate::diagnostics::Problem;
use crate::tree::{Key, Node, Place, Table, Value};

/// Most parts of a key: no key of a scenario has as many.
const LONGEST_PATH: usize = 20;

/// What is wrong with the parts of a key at `place`.
pub(super) fn check(steps: &[String], place: Place) -> Option<Problem> {
    if steps.iter().any(String::is_empty) {
        let problem = Problem::new(place, "a name is missing beside a dot");
        return Some(problem.help("write a path such as \"traffic.large.subflows\""));
    }
    (steps.len() > LONGEST_PATH).then(|| {
        Problem::new(place, format!("the key has {} parts", steps.len()))
            .help(format!("no key has more than {LONGEST_PATH}"))
    })
}

/// Turns `"a.b" = x`, `a.b = x` and `[sweep.a] b = x` into the same, so that sizes and the command line reach all of
/// them by the same key.
pub(super) fn unfold(table: Table, problems: &mut Vec<Problem>) -> Table {
    let mut unfolded = Table {
        entries: Vec::new(),
        dotted: table.dotted,
    };
    for (key, node) in table.entries {
        let steps: Vec<String> = key.name.split('.').map(|s| s.trim().to_owned()).collect();
        if let Some(problem) = check(&steps, key.place) {
            problems.push(problem);
            continue;
        }
        let value = match node.value {
            Value::Table(table) => Value::Table(unfold(table, problems)),
            other => other,
        };
        insert(
            &mut unfolded,
            &key,
            &steps,
            Node { value, ..node },
            problems,
        );
    }
    unfolded
}

fn insert(table: &mut Table, key: &Key, steps: &[String], node: Node, problems: &mut Vec<Problem>) {
    let Some((step, rest)) = steps.split_first() else {
        return;
    };
    let known = table.entries.iter_mut().find(|(key, _)| key.name == *step);
    let here = Key {
        name: step.clone(),
        place: key.place,
    };
    match (known, rest.is_empty()) {
        (None, true) => table.entries.push((here, node)),
        (None, false) => {
            let mut below = Table {
                entries: Vec::new(),
                dotted: true,
            };
            insert(&mut below, key, rest, node, problems);
            let place = key.place;
            let value = Value::Table(below);
            table.entries.push((here, Node { place, value }));
        }
        (Some((_, known)), _) => match (&mut known.value, node.value) {
            (Value::Table(known), value) if !rest.is_empty() => {
                let place = node.place;
                insert(known, key, rest, Node { place, value }, problems);
            }
            (Value::Table(known), Value::Table(more)) => {
                for (key, node) in more.entries {
                    let steps = [key.name.clone()];
                    insert(known, &key, &steps, node, problems);
                }
            }
            _ => problems.push(
                Problem::new(key.place, format!("\"{}\" is swept twice", key.name))
                    .help("write each key once, with a list or a range"),
            ),
        },
    }
}
