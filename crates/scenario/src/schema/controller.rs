//! Controllers of traffic: one of the registry by its name, or one from a file, with parameters.

use crate::controller_file::{ControllerForm, LoadedFile, parts};
use pathweave_control::Value as ParameterValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A controller and its parameters.
#[derive(Clone, Debug)]
pub(crate) struct ControllerTable {
    pub origin: ControllerOrigin,
    pub parameters: Vec<(String, ParameterValue)>,
}

impl ControllerTable {
    /// The file that it has been loaded from, by the scenario's name for it, and its content.
    pub fn file(&self) -> Option<(String, Arc<[u8]>)> {
        match &self.origin {
            ControllerOrigin::Registry(_) => None,
            ControllerOrigin::File(file) => {
                let content = Arc::clone(&file.loaded.as_ref()?.content);
                Some((parts(&file.text).0.to_owned(), content))
            }
        }
    }
}

/// Where a controller comes from.
#[derive(Clone, Debug)]
pub(crate) enum ControllerOrigin {
    /// The registry has it by this name.
    Registry(String),
    /// It is in a file.
    File(ControllerFileTable),
}

/// A file with a controller.
#[derive(Clone, Debug)]
pub(crate) struct ControllerFileTable {
    pub form: ControllerForm,
    /// Where it is and what it is called there: "mine.py:MyController".
    pub text: String,
    /// The file's hash, in hexadecimal.
    pub sha256: Option<String>,
    /// What has been loaded from it.
    pub loaded: Option<LoadedFile>,
}

/// The key of a file's hash.
const SHA256: &str = "sha256";

impl<'de> Deserialize<'de> for ControllerTable {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<ControllerTable, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = ControllerTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a controller's name, or a table with its name and parameters")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ControllerTable, E> {
                Ok(ControllerTable {
                    origin: ControllerOrigin::Registry(name.to_owned()),
                    parameters: Vec::new(),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ControllerTable, A::Error> {
                let mut parts = Parts::default();
                while let Some(key) = map.next_key::<String>()? {
                    let form = ControllerForm::of_key(&key);
                    if key == "name" {
                        parts.name = Some(map.next_value()?);
                    } else if let Some(form) = form {
                        parts.files.push((form, map.next_value()?));
                    } else if key == SHA256 {
                        parts.sha256 = Some(map.next_value()?);
                    } else {
                        let value = map.next_value::<Parameter>()?.0;
                        parts.parameters.push((key, value));
                    }
                }
                parts.table().map_err(|problem| match problem {
                    Some(text) => A::Error::custom(text),
                    None => A::Error::missing_field("name"),
                })
            }
        }
        reader.deserialize_any(Shape)
    }
}

/// What a table of a controller has.
#[derive(Default)]
struct Parts {
    name: Option<String>,
    files: Vec<(ControllerForm, String)>,
    sha256: Option<String>,
    parameters: Vec<(String, ParameterValue)>,
}

impl Parts {
    /// The table; an error without a text when nothing says which controller it is.
    fn table(mut self) -> Result<ControllerTable, Option<&'static str>> {
        let origin = match (self.name, self.files.pop()) {
            (Some(_), Some(_)) => {
                return Err(Some(
                    "a controller has one of name, python and library; remove the others",
                ));
            }
            (None, None) => return Err(None),
            (Some(_), None) if self.sha256.is_some() => {
                return Err(Some(
                    "sha256 is of a controller's file; remove it, or give python or library",
                ));
            }
            (Some(name), None) => ControllerOrigin::Registry(name),
            (None, Some(_)) if !self.files.is_empty() => {
                return Err(Some(
                    "a controller has one of python and library; remove one",
                ));
            }
            (None, Some((form, text))) => ControllerOrigin::File(ControllerFileTable {
                form,
                text,
                sha256: self.sha256,
                loaded: None,
            }),
        };
        Ok(ControllerTable {
            origin,
            parameters: self.parameters,
        })
    }
}

struct Parameter(ParameterValue);

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Parameter, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Parameter;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, or a list of numbers")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Number(number as f64)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Number(number)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Text(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parameter, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element()? {
                    numbers.push(number);
                }
                Ok(Parameter(ParameterValue::Numbers(numbers)))
            }
        }
        reader.deserialize_any(Shape)
    }
}

impl Serialize for ControllerTable {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let mut map = writer.serialize_map(None)?;
        match &self.origin {
            ControllerOrigin::Registry(name) => map.serialize_entry("name", name)?,
            ControllerOrigin::File(file) => {
                map.serialize_entry(file.form.key(), &file.text)?;
                if let Some(hash) = &file.sha256 {
                    map.serialize_entry(SHA256, hash)?;
                }
            }
        }
        for (name, value) in &self.parameters {
            match value {
                ParameterValue::Number(number) => map.serialize_entry(name, number)?,
                ParameterValue::Text(text) => map.serialize_entry(name, text)?,
                ParameterValue::Numbers(numbers) => map.serialize_entry(name, numbers)?,
            }
        }
        map.end()
    }
}

impl JsonSchema for ControllerTable {
    fn schema_name() -> Cow<'static, str> {
        "Controller".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = pathweave_control::registry()
            .iter()
            .map(|entry| entry.name)
            .collect();
        json_schema!({
            "description": "A controller's name, or a table with its name and parameters.",
            "anyOf": [
                { "enum": names },
                {
                    "type": "object",
                    "properties": { "name": { "enum": names } },
                    "required": ["name"],
                    "additionalProperties": {
                        "type": ["number", "string", "array"],
                        "items": { "type": "number" },
                    },
                },
                {
                    "type": "object",
                    "properties": {
                        "python": { "type": "string" },
                        "library": { "type": "string" },
                        "sha256": { "type": "string" },
                        "name": false,
                    },
                    "oneOf": [{ "required": ["python"] }, { "required": ["library"] }],
                    "additionalProperties": {
                        "type": ["number", "string", "array"],
                        "items": { "type": "number" },
                    },
                },
            ],
        })
    }
}

/// A controller's name, or a table with its name and its own parameters, for editors.
pub(super) fn controller_schema() -> serde_json::Value {
    let registry = pathweave_control::registry();
    let names: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
    let summaries: Vec<&str> = registry.iter().map(|entry| entry.summary).collect();
    let name = json!({ "type": "string", "enum": names, "enumDescriptions": summaries });
    let parameters: Vec<serde_json::Value> = registry
        .iter()
        .map(|entry| {
            let described = entry
                .parameters
                .iter()
                .map(|parameter| (parameter.name.to_owned(), parameter_schema(parameter)));
            let properties: serde_json::Map<_, _> = described.collect();
            let keys: Vec<&str> = properties
                .keys()
                .map(String::as_str)
                .chain(["name"])
                .collect();
            json!({
                "if": { "properties": { "name": { "const": entry.name } }, "required": ["name"] },
                "then": { "propertyNames": { "enum": keys }, "properties": properties },
            })
        })
        .collect();
    json!({
        "description": "A controller's name, or a table with its name and parameters.",
        "type": ["string", "object"],
        "examples": ["dctcp", { "name": "xmp", "beta": 4 }, { "python": "mine.py:MyController" }],
        "allOf": [
            { "if": { "type": "string" }, "then": name },
            {
                "if": { "type": "object", "properties": { "python": false, "library": false } },
                "then": {
                    "properties": { "name": name },
                    "required": ["name"],
                    "allOf": parameters,
                },
            },
            {
                "if": { "type": "object", "required": ["python"] },
                "then": file_schema(
                    "python",
                    "A Python file, relative to the scenario's folder, and the class in it: \"mine.py:MyController\".",
                ),
            },
            {
                "if": { "type": "object", "required": ["library"] },
                "then": file_schema(
                    "library",
                    "A shared library, relative to the scenario's folder, and the controller in it if there are several: \"mine.so\" or \"mine.so:lia\".",
                ),
            },
        ],
    })
}

/// A controller in a file, given by this key: its parameters are declared there.
fn file_schema(key: &str, description: &str) -> serde_json::Value {
    let other = if key == "python" { "library" } else { "python" };
    json!({
        "properties": {
            key: { "type": "string", "description": description },
            other: false,
            "name": false,
            "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "The file's SHA-256, if it must be this one.",
            },
        },
        "additionalProperties": {
            "type": ["number", "string", "array"],
            "items": { "type": "number" },
        },
    })
}

/// What a controller's parameter accepts.
fn parameter_schema(parameter: &pathweave_control::Parameter) -> serde_json::Value {
    use pathweave_control::ParameterKind;
    let number = |minimum: f64, maximum: f64| {
        let mut schema = json!({ "type": "number" });
        for (key, bound) in [("minimum", minimum), ("maximum", maximum)] {
            if bound.is_finite() {
                schema[key] = json!(bound);
            }
        }
        schema
    };
    let mut schema = match parameter.kind {
        ParameterKind::Number {
            minimum,
            maximum,
            integer,
            ..
        } => {
            let mut schema = number(minimum, maximum);
            if integer {
                schema["type"] = json!("integer");
            }
            schema
        }
        ParameterKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        ParameterKind::PerSubflow {
            minimum, maximum, ..
        } => {
            let one = number(minimum, maximum);
            json!({
                "type": ["number", "array"],
                "allOf": [
                    { "if": { "type": "number" }, "then": one },
                    { "if": { "type": "array" }, "then": { "items": one, "minItems": 1 } },
                ],
            })
        }
        ParameterKind::ChoiceOrNumber {
            choices,
            minimum,
            maximum,
        } => json!({
            "type": ["string", "number"],
            "allOf": [
                { "if": { "type": "string" }, "then": { "enum": choices } },
                { "if": { "type": "number" }, "then": number(minimum, maximum) },
            ],
        }),
        ParameterKind::ChoiceOrPerSubflow {
            choices,
            minimum,
            maximum,
        } => {
            let one = number(minimum, maximum);
            json!({
                "type": ["string", "number", "array"],
                "allOf": [
                    { "if": { "type": "string" }, "then": { "enum": choices } },
                    { "if": { "type": "number" }, "then": one },
                    { "if": { "type": "array" }, "then": { "items": one, "minItems": 1 } },
                ],
            })
        }
    };
    schema["description"] = json!(parameter.help);
    schema
}
