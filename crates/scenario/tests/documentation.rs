//! The reference of the scenario file names everything that the schema has, and its example is sound.

use pathweave_control::registry;
use pathweave_network::MarkingRule;
use pathweave_scenario::Preset;
use pathweave_transport::{Form, Setting};
use pathweave_units::{Rate, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const REFERENCE: &str = include_str!("../../../docs/scenario.md");

/// Collects the names of all properties and the values of all enumerations.
fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        names.extend(properties.keys().cloned());
                        properties
                            .values()
                            .for_each(|schema| collect(schema, names));
                    }
                    ("const", Value::String(word)) => {
                        names.insert(word.clone());
                    }
                    ("enum", Value::Array(words)) => {
                        names.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    // `pathweave list controllers` has those.
                    ("default" | "examples" | "Controller", _) => {}
                    _ => collect(value, names),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|schema| collect(schema, names)),
        _ => {}
    }
}

/// Whether the reference has the name in code: `name`, `"name"`, or as the key of an example.
fn is_named(name: &str) -> bool {
    let code = REFERENCE.split('`').skip(1).step_by(2);
    code.into_iter().any(|code| {
        let is_between = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
        code == name || code.split(is_between).any(|word| word == name)
    })
}

#[test]
fn every_key_and_kind_of_the_schema_is_documented() {
    let schema: Value = serde_json::from_str(&pathweave_scenario::schema()).expect("JSON");
    let mut names = BTreeSet::new();
    collect(&schema, &mut names);
    assert!(names.len() > 100, "{}", names.len());
    let missing: Vec<&String> = names.iter().filter(|name| !is_named(name)).collect();
    assert!(
        missing.is_empty(),
        "docs/scenario.md does not name {missing:?}"
    );
}

#[test]
fn every_preset_and_distribution_is_documented() {
    for preset in pathweave_scenario::presets() {
        assert!(is_named(preset.name), "{}", preset.name);
    }
    for (name, _, _) in pathweave_traffic::CDFS {
        assert!(is_named(name), "{name}");
    }
}

#[test]
fn the_example_is_sound() {
    let example = REFERENCE
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let scenario = pathweave_scenario::check(example.expect("an example"))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.variants().len(), 2);
}

/// The values that a setting accepts.
fn values_of(setting: &Setting) -> String {
    let text = |form: &Form| match form {
        Form::Flag => "`true`, `false`".to_owned(),
        Form::Word(word, _) => format!("`\"{word}\"`"),
        Form::Count { least } => format!("a number from {least} on"),
        Form::Packets { .. } => "packets".to_owned(),
        Form::Size | Form::Volume => "size".to_owned(),
        Form::VolumePerSubflow => "size and `per subflow`".to_owned(),
        Form::Time { least } if *least > Time::ZERO => "time above zero".to_owned(),
        Form::Time { .. } => "time".to_owned(),
    };
    let forms = setting.forms();
    forms.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The table of settings. Words in quotes become code.
fn settings_table() -> String {
    let mut table = "| key | meaning | unit or values |\n|---|---|---|\n\
        | `preset` | where all other values come from | a name from the next table; default `\"linux\"` |\n"
        .to_owned();
    for setting in Setting::all() {
        let mut inside = false;
        let quoted = |c: char| {
            if c != '"' {
                return c.to_string();
            }
            inside = !inside;
            if inside { "`\"" } else { "\"`" }.to_owned()
        };
        let help: String = setting.help().chars().map(quoted).collect();
        let help = help.trim_end_matches('.');
        table += &format!("| `{}` | {help} | {} |\n", setting.key, values_of(setting));
    }
    table
}

/// The value of a setting in a preset, which may depend on the controller and on the slowest link.
fn value_in(preset: &Preset, setting: &Setting) -> String {
    let of = |controller: &str, gigabits| {
        let config = preset.config(controller, Rate::from_gbps(gigabits));
        match setting.value(&config) {
            pathweave_transport::Value::Packets(packets) => {
                format!("{}", (packets * 10.0).round() / 10.0)
            }
            pathweave_transport::Value::Time(Time::ZERO) => "0 s".to_owned(),
            value => value.to_string(),
        }
    };
    let names: Vec<&str> = registry().iter().map(|entry| entry.name).collect();
    let (slow, fast) = (of("reno", 1), of("reno", 10));
    if slow != fast {
        return format!("{fast} when all links have 10 Gbps or more, else {slow}");
    }
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(of(name, 1)).or_default().push(name);
    }
    let most = groups.values().map(Vec::len).max().unwrap_or(0);
    let (usual, others): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|(_, names)| names.len() == most);
    let usual = &usual[0].0;
    let others: Vec<String> = others
        .iter()
        .map(|(value, names)| format!("{value} for {}", names.join(", ")))
        .collect();
    if others.is_empty() {
        return usual.clone();
    }
    format!("{}, else {usual}", others.join(", "))
}

fn presets_table() -> String {
    let presets = pathweave_scenario::presets();
    let names: Vec<String> = presets
        .iter()
        .map(|one| format!("`{}`", one.name))
        .collect();
    let mut table = format!(
        "| | {} |\n|---{}|\n",
        names.join(" | "),
        "|---".repeat(names.len())
    );
    let mut alike = Vec::new();
    for setting in Setting::all() {
        let values: Vec<String> = presets.iter().map(|one| value_in(one, setting)).collect();
        if values.iter().all(|value| *value == values[0]) {
            alike.push(format!("`{} = {}`", setting.key, values[0]));
        } else {
            table += &format!("| `{}` | {} |\n", setting.key, values.join(" | "));
        }
    }
    let rules = presets.iter().map(|one| match one.rule {
        MarkingRule::Above => "above",
        MarkingRule::AtOrAbove => "at-or-above",
    });
    let rules: Vec<&str> = rules.collect();
    table += &format!("| `rule` of marking by `step` | {} |\n", rules.join(" | "));
    let blind = presets.iter().map(|one| one.drop_ecn_blind.to_string());
    let blind: Vec<String> = blind.collect();
    table += &format!("| `drop_ecn_blind` of queues | {} |\n", blind.join(" | "));
    format!("{table}\nIn all of them: {}.\n", alike.join(", "))
}

/// `PATHWEAVE_RECORD=yes` writes the tables.
#[test]
fn the_tables_of_the_transport_are_as_the_settings_are_declared() {
    let mut written = REFERENCE.to_owned();
    for (name, table) in [("settings", settings_table()), ("presets", presets_table())] {
        let (begin, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->"),
        );
        let (before, rest) = written.split_once(&begin).expect("the table's beginning");
        let (_, after) = rest.split_once(&end).expect("the table's end");
        written = format!("{before}{begin}{table}{end}{after}");
    }
    if std::env::var_os("PATHWEAVE_RECORD").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
        std::fs::write(path, &written).expect("docs/scenario.md can be written");
    } else {
        assert!(
            written == REFERENCE,
            "docs/scenario.md is out of date; update it: PATHWEAVE_RECORD=yes cargo test --package pathweave-scenario tables_of"
        );
    }
}
