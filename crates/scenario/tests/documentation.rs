//! The reference of the scenario file names everything that the schema has, and its example is sound.

use serde_json::Value;
use std::collections::BTreeSet;

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
        code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .any(|word| word == name)
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
