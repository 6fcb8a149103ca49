//! Which parts of the schema scenarios have reached: every key, every alternative, every named value.

use serde_json::Value;
use std::collections::BTreeMap;

/// How often each part of the schema was reached, by its place: `SizeTable/pareto/beyond`.
pub struct Coverage {
    schema: Value,
    reached: BTreeMap<String, u64>,
}

impl Coverage {
    pub fn new(schema: Value) -> Coverage {
        let mut coverage = Coverage {
            schema: schema.clone(),
            reached: BTreeMap::new(),
        };
        coverage.parts(&schema, "");
        let definitions = schema["$defs"].as_object();
        for (name, definition) in definitions.into_iter().flatten() {
            coverage.parts(definition, name);
        }
        for entry in pathweave_control::registry() {
            coverage.part(format!("controller {}", entry.name));
            for parameter in entry.parameters {
                coverage.part(format!("controller {}, {}", entry.name, parameter.name));
            }
        }
        for preset in pathweave_scenario::presets() {
            coverage.part(format!("preset {}", preset.name));
        }
        coverage
    }

    /// What no scenario has reached.
    pub fn missing(&self) -> Vec<&str> {
        let unreached = self.reached.iter().filter(|(_, count)| **count == 0);
        unreached.map(|(part, _)| part.as_str()).collect()
    }

    /// Number of parts.
    pub fn parts_in_all(&self) -> usize {
        self.reached.len()
    }

    /// Counts what a scenario reaches.
    ///
    /// # Panics
    /// When the schema does not allow the scenario, though its reader did.
    pub fn count(&mut self, tree: &Value) {
        let mut reached = Vec::new();
        let fits = self.walk(&self.schema, "", tree, &mut reached);
        assert!(
            fits,
            "the schema refuses a scenario that was accepted:\n{tree:#}"
        );
        for part in reached {
            *self
                .reached
                .get_mut(&part)
                .expect("parts are those of the schema") += 1;
        }
    }

    fn part(&mut self, part: String) {
        self.reached.insert(part, 0);
    }

    /// Takes up the parts of a schema, what it refers to left out.
    fn parts(&mut self, schema: &Value, place: &str) {
        for (key, of_key) in properties(schema) {
            let place = format!("{place}/{key}");
            self.part(place.clone());
            self.parts(of_key, &place);
        }
        for (alternative, place) in alternatives(schema, place) {
            self.part(place.clone());
            self.parts(alternative, &place);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                self.parts(&schema[inner], place);
            }
        }
        for value in list(&schema["enum"]) {
            self.part(format!("{place}={value}"));
        }
        for example in list(&schema["examples"]) {
            self.part(format!("{place} as {}", shape(example)));
        }
        if types(schema).any(|one| one == "boolean") {
            self.part(format!("{place}=true"));
            self.part(format!("{place}=false"));
        }
    }

    /// Whether a value is what a schema allows, and what it reaches then.
    fn walk(&self, schema: &Value, place: &str, value: &Value, reached: &mut Vec<String>) -> bool {
        let mut here = Vec::new();
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or("");
            let definition = &self.schema["$defs"][name];
            if !self.walk(definition, name, value, &mut here) {
                return false;
            }
            match name {
                "Controller" => controller(value, &mut here),
                "TransportTable" if value["preset"].is_string() => {
                    here.push(format!("preset {}", value["preset"].as_str().unwrap_or("")));
                }
                _ => {}
            }
        }
        let fits_type = types(schema).any(|one| is_of_type(value, one));
        if types(schema).next().is_some() && !fits_type {
            return false;
        }
        if schema
            .get("const")
            .is_some_and(|constant| constant != value)
        {
            return false;
        }
        if schema["enum"].is_array() {
            if !list(&schema["enum"]).any(|one| one == value) {
                return false;
            }
            here.push(format!("{place}={value}"));
        }
        if list(&schema["examples"]).any(|example| shape(example) == shape(value)) {
            here.push(format!("{place} as {}", shape(value)));
        }
        if value.is_boolean() && types(schema).any(|one| one == "boolean") {
            here.push(format!("{place}={value}"));
        }
        for key in list(&schema["required"]) {
            if value.get(key.as_str().unwrap_or("")).is_none() {
                return false;
            }
        }
        for (key, value) in value.as_object().into_iter().flatten() {
            let of_key = &schema["properties"][key];
            let other = &schema["additionalProperties"];
            if of_key.is_object() {
                let place = format!("{place}/{key}");
                here.push(place.clone());
                if !self.walk(of_key, &place, value, &mut here) {
                    return false;
                }
            } else if other == false
                || other.is_object() && !self.walk(other, place, value, &mut here)
            {
                // What a table's alternatives have is known to them alone.
                let of_alternatives = alternatives(schema, place)
                    .any(|(one, _)| properties(one).any(|(name, _)| name == key));
                if !of_alternatives {
                    return false;
                }
            }
        }
        if schema["items"].is_object() {
            for value in list(value) {
                if !self.walk(&schema["items"], place, value, &mut here) {
                    return false;
                }
            }
        }
        if schema["anyOf"].is_array() || schema["oneOf"].is_array() {
            let found = alternatives(schema, place).any(|(alternative, place)| {
                let mut inside = vec![place.clone()];
                let fits = self.walk_beside(schema, alternative, &place, value, &mut inside);
                if fits {
                    here.append(&mut inside);
                }
                fits
            });
            if !found {
                return false;
            }
        }
        reached.append(&mut here);
        true
    }

    /// Whether an alternative allows a value, whose other keys the schema beside it has.
    fn walk_beside(
        &self,
        schema: &Value,
        alternative: &Value,
        place: &str,
        value: &Value,
        reached: &mut Vec<String>,
    ) -> bool {
        let mut value = value.clone();
        if let Some(table) = value.as_object_mut() {
            table.retain(|key, _| schema["properties"].get(key).is_none());
        }
        self.walk(alternative, place, &value, reached)
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The types that a schema names, none for any.
fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let one = schema["type"].as_str();
    one.into_iter()
        .chain(list(&schema["type"]).filter_map(Value::as_str))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => value.is_null(),
    }
}

/// The alternatives of a schema and their places. "None" is no alternative: a key left out is not there.
fn alternatives<'a>(
    schema: &'a Value,
    place: &'a str,
) -> impl Iterator<Item = (&'a Value, String)> {
    let all = list(&schema["anyOf"]).chain(list(&schema["oneOf"]));
    let named = all.filter(|one| one["type"] != "null");
    named.map(move |one| (one, format!("{place}/{}", name(one))))
}

/// What an alternative is called: by the word that it stands for, or by what it is.
fn name(alternative: &Value) -> String {
    let words = [
        &alternative["const"],
        &alternative["properties"]["kind"]["const"],
        &alternative["properties"]["pattern"]["const"],
    ];
    let mut words = words.into_iter().filter_map(Value::as_str);
    if let Some(word) = words.next() {
        return word.to_owned();
    }
    if let Some(reference) = alternative["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or("").to_owned();
    }
    types(alternative).next().unwrap_or("one").to_owned()
}

/// A text with its numbers and units blotted out: "# per subflow".
fn shape(value: &Value) -> String {
    let text = value.as_str().unwrap_or("").replace("..", " .. ");
    let units = [
        "ps", "ns", "us", "ms", "s", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "bps", "Kbps",
        "Mbps", "Gbps", "Tbps",
    ];
    let words = text.split_whitespace().filter(|word| !units.contains(word));
    let blotted = words.map(|word| {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        if is_number { "#" } else { word }
    });
    blotted.collect::<Vec<_>>().join(" ")
}

/// The controller and its parameters.
fn controller(value: &Value, reached: &mut Vec<String>) {
    let name = value.as_str().or_else(|| value["name"].as_str());
    let name = name.unwrap_or("");
    reached.push(format!("controller {name}"));
    for (parameter, _) in value.as_object().into_iter().flatten() {
        if parameter != "name" {
            reached.push(format!("controller {name}, {parameter}"));
        }
    }
}
