//! The transport table. Its keys, types and descriptions come from the declaration of the settings in the transport crate.

use crate::text::{BytesText, TimeText, bytes_text, time};
use pathweave_transport::{Config, Form, Reinject, Setting, Value, expected};
use pathweave_units::{Bytes, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// A transport: a preset and what differs from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransportTable {
    /// Where all other values come from.
    pub preset: Option<String>,
    /// What differs from it.
    given: Vec<(&'static Setting, Value)>,
}

const PRESET: &str = "preset";
const PRESET_HELP: &str =
    "Where all other values come from: a name from the table of presets. Default \"linux\".";

/// Settings that only have an effect with reinjection = "timeouts".
const OF_TIMEOUTS: [&str; 2] = ["failed_after", "reinject_after"];

/// All keys of the table.
static KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let settings = Setting::all().iter().map(|setting| setting.key);
    std::iter::once(PRESET).chain(settings).collect()
});

impl TransportTable {
    /// Applies the table to a configuration, in the order in which settings are declared. Errors give the key and the reason.
    pub fn apply(&self, config: &mut Config) -> Result<(), (&'static str, String)> {
        for setting in Setting::all() {
            let given = self.given.iter().find(|(one, _)| one.key == setting.key);
            if let Some(&(_, value)) = given {
                let refused = |text| (setting.key, format!("{} {text}", setting.key));
                setting.set(config, value).map_err(refused)?;
            }
        }
        let refused = |(key, text)| (key, format!("{key} {text}"));
        config.check().map_err(refused)
    }

    /// With reinjection = "timer", settings of timeouts have no effect: none may be given.
    pub fn check_timer(&self) -> Result<(), (&'static str, String)> {
        for key in OF_TIMEOUTS {
            if self.given.iter().any(|(setting, _)| setting.key == key) {
                let text = format!(
                    "{key} has no effect with reinjection = \"timer\"; remove it, or write reinjection = \"timeouts\""
                );
                return Err((key, text));
            }
        }
        Ok(())
    }
}

impl TransportTable {
    /// Whether it gives every setting that all resolved scenarios do.
    pub fn is_complete(&self) -> bool {
        let is_given = |setting: &Setting| self.given.iter().any(|(one, _)| one.key == setting.key);
        let is_always = |setting: &&Setting| !setting.added && !OF_TIMEOUTS.contains(&setting.key);
        self.preset.is_none() && Setting::all().iter().filter(is_always).all(is_given)
    }
}

impl From<&Config> for TransportTable {
    /// Every value that has an effect written out.
    fn from(config: &Config) -> TransportTable {
        let has_timer = config.reinjection == Reinject::Timer;
        let written = |setting: &'static Setting| {
            if has_timer && OF_TIMEOUTS.contains(&setting.key) {
                return None;
            }
            Some((setting, setting.written(config)?))
        };
        TransportTable {
            preset: None,
            given: Setting::all().iter().filter_map(written).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for TransportTable {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<TransportTable, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = TransportTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TransportTable, A::Error> {
                let mut table = TransportTable::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == PRESET {
                        table.preset = Some(map.next_value()?);
                        continue;
                    }
                    let setting =
                        Setting::find(&key).ok_or_else(|| A::Error::unknown_field(&key, &KEYS))?;
                    let value = map.next_value_seed(OfSetting(setting))?;
                    table.given.push((setting, value));
                }
                Ok(table)
            }
        }
        reader.deserialize_struct("TransportTable", &KEYS, Entries)
    }
}

/// Reads a value of a setting.
struct OfSetting(&'static Setting);

impl<'de> DeserializeSeed<'de> for OfSetting {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        if let Some(words) = self.0.words() {
            return reader.deserialize_any(OneOf(words)).map(Value::Word);
        }
        let forms = self.0.forms();
        // Quantities with a unit have messages of their own.
        match forms[..] {
            [Form::Time { .. }] => {
                TimeText::deserialize(reader).map(|TimeText(time)| Value::Time(time))
            }
            [Form::Size] => {
                BytesText::deserialize(reader).map(|BytesText(bytes)| Value::Size(bytes))
            }
            _ => reader.deserialize_any(OfForms(&forms)),
        }
    }
}

/// Reads one of these words.
struct OneOf(&'static [&'static str]);

impl Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of: {}", self.0.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        let found = self.0.iter().find(|&&word| word == text);
        found
            .copied()
            .ok_or_else(|| E::unknown_variant(text, self.0))
    }
}

/// Reads a value of one of these forms.
struct OfForms<'a>(&'a [Form]);

impl OfForms<'_> {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|form| match form {
            Form::Word(word, _) => Some(*word),
            _ => None,
        })
    }

    fn takes(&self, wanted: impl Fn(&Form) -> bool) -> bool {
        self.0.iter().any(wanted)
    }
}

impl Visitor<'_> for OfForms<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&expected(self.0))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        if self.takes(|form| matches!(form, Form::Flag)) {
            return Ok(Value::Flag(flag));
        }
        Err(E::invalid_type(Unexpected::Bool(flag), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        if self.takes(|form| matches!(form, Form::Count { .. }))
            && let Ok(count) = u32::try_from(number)
        {
            return Ok(Value::Count(count));
        }
        if self.takes(|form| matches!(form, Form::Packets { .. })) {
            return Ok(Value::Packets(number as f64));
        }
        Err(E::invalid_type(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        if self.takes(|form| matches!(form, Form::Packets { .. })) {
            return Ok(Value::Packets(number));
        }
        Err(E::invalid_type(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        if let Some(word) = self.words().find(|&word| word == text) {
            return Ok(Value::Word(word));
        }
        let volume = |text: &str| Bytes::from_str(text).map_err(E::custom);
        if self.takes(|form| matches!(form, Form::VolumePerSubflow))
            && let Some(size) = text.strip_suffix("per subflow")
        {
            return volume(size).map(Value::VolumePerSubflow);
        }
        if self.takes(|form| matches!(form, Form::Volume)) {
            return volume(text).map(Value::Volume);
        }
        if self.takes(|form| matches!(form, Form::Time { .. })) {
            if self.words().count() > 0 && Time::from_str(text).is_err() {
                return Err(E::invalid_type(Unexpected::Str(text), &self));
            }
            return time(text).map(Value::Time).map_err(E::custom);
        }
        Err(E::invalid_type(Unexpected::Str(text), &self))
    }
}

impl Serialize for TransportTable {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let mut map = writer.serialize_map(Some(self.given.len()))?;
        for (setting, value) in &self.given {
            match *value {
                Value::Flag(flag) => map.serialize_entry(setting.key, &flag)?,
                Value::Count(count) => map.serialize_entry(setting.key, &count)?,
                Value::Packets(packets) => map.serialize_entry(setting.key, &packets)?,
                // Sizes of packets read better as "1500 B" than as "1.5 KB".
                Value::Size(bytes) => map.serialize_entry(setting.key, &bytes_text(bytes))?,
                Value::Word(_) | Value::Volume(_) | Value::VolumePerSubflow(_) | Value::Time(_) => {
                    map.serialize_entry(setting.key, &value.to_string())?
                }
            }
        }
        map.end()
    }
}

impl JsonSchema for TransportTable {
    fn schema_name() -> Cow<'static, str> {
        "TransportTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        let preset = serde_json::json!({ "type": "string", "description": PRESET_HELP });
        properties.insert(PRESET.to_owned(), preset);
        for setting in Setting::all() {
            let forms = setting.forms();
            // The schema of sizes "per subflow" accepts plain sizes too.
            let twice =
                |form: &&Form| **form == Form::Volume && forms.contains(&Form::VolumePerSubflow);
            let mut branches: Vec<serde_json::Value> = forms
                .iter()
                .filter(|form| !twice(form))
                .map(|form| schema_of(form, generator).to_value())
                .collect();
            let mut property = match branches.len() {
                1 => branches.remove(0),
                _ if setting.words().is_some() => serde_json::json!({ "oneOf": branches }),
                _ => serde_json::json!({ "anyOf": branches }),
            };
            property["description"] = setting.help().into();
            properties.insert(setting.key.to_owned(), property);
        }
        json_schema!({
            "type": "object",
            "description": "A transport: a preset and what differs from it. Defaults are the preset's.",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

fn schema_of(form: &Form, generator: &mut SchemaGenerator) -> Schema {
    match form {
        Form::Flag => json_schema!({ "type": "boolean" }),
        Form::Word(word, "") => json_schema!({ "type": "string", "const": word }),
        Form::Word(word, help) => {
            json_schema!({ "type": "string", "const": word, "description": help.trim() })
        }
        Form::Count { least } => json_schema!({ "type": "integer", "minimum": least }),
        Form::Packets { least, most } if most.is_infinite() => {
            json_schema!({ "type": "number", "minimum": least })
        }
        Form::Packets { least, most } => {
            json_schema!({ "type": "number", "minimum": least, "maximum": most })
        }
        Form::Size | Form::Volume => generator.subschema_for::<BytesText>(),
        Form::VolumePerSubflow => json_schema!({
            "type": "string",
            "pattern": r"^\s*\+?[0-9][0-9_]*(\.[0-9_]+)?\s*([TGMK]?B|[GMK]iB)\s*(per subflow)?$",
            "examples": ["4 MB", "65535 B per subflow"],
        }),
        Form::Time { .. } => generator.subschema_for::<TimeText>(),
    }
}
