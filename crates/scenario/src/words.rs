//! Transport values that are a quantity or a word.

use crate::text::PacketsOrBytes;
use pathweave_transport::ReceiveWindow;
use pathweave_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// An initial ssthresh: packets, a size, or "none".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SsthreshText(pub Option<PacketsOrBytes>);

impl<'de> Deserialize<'de> for SsthreshText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<SsthreshText, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = SsthreshText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets, a size such as \"65535 B\", or \"none\"")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<SsthreshText, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<SsthreshText, E> {
                Ok(SsthreshText(Some(PacketsOrBytes::Packets(number))))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<SsthreshText, E> {
                if text == "none" {
                    return Ok(SsthreshText(None));
                }
                let bytes = Bytes::from_str(text).map_err(E::custom)?;
                Ok(SsthreshText(Some(PacketsOrBytes::Bytes(bytes))))
            }
        }
        reader.deserialize_any(Shape)
    }
}

impl Serialize for SsthreshText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => writer.serialize_str("none"),
            Some(value) => value.serialize(writer),
        }
    }
}

impl JsonSchema for SsthreshText {
    fn schema_name() -> Cow<'static, str> {
        "Ssthresh".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<PacketsOrBytes>();
        json_schema!({
            "description": "Packets, a size, or \"none\".",
            "anyOf": [{ "const": "none" }, value],
        })
    }
}

/// A receiver's window: "unlimited", a size, or a size "per subflow".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowText(pub ReceiveWindow);

impl<'de> Deserialize<'de> for WindowText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<WindowText, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = WindowText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"unlimited\", a size such as \"4 MB\", or \"65535 B per subflow\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WindowText, E> {
                if text == "unlimited" {
                    return Ok(WindowText(ReceiveWindow::Unlimited));
                }
                Ok(WindowText(match text.strip_suffix("per subflow") {
                    Some(size) => ReceiveWindow::Subflow(Bytes::from_str(size).map_err(E::custom)?),
                    None => ReceiveWindow::Connection(Bytes::from_str(text).map_err(E::custom)?),
                }))
            }
        }
        reader.deserialize_str(Shape)
    }
}

impl Serialize for WindowText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ReceiveWindow::Unlimited => writer.serialize_str("unlimited"),
            ReceiveWindow::Connection(bytes) => writer.collect_str(&bytes),
            ReceiveWindow::Subflow(bytes) => {
                writer.collect_str(&format_args!("{bytes} per subflow"))
            }
        }
    }
}

impl JsonSchema for WindowText {
    fn schema_name() -> Cow<'static, str> {
        "ReceiveWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "\"unlimited\", a size for the whole connection, or a size per subflow.",
            "examples": ["unlimited", "4 MB", "65535 B per subflow"],
        })
    }
}

/// A count from 1 on, or the word that stands for none.
macro_rules! count_or_word {
    ($(#[$documentation:meta])* $name:ident, $word:literal) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $name(pub Option<u32>);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<$name, D::Error> {
                struct Shape;
                impl Visitor<'_> for Shape {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a whole number from 1 on, or \"", $word, "\""))
                    }
                    fn visit_i64<E: Error>(self, number: i64) -> Result<$name, E> {
                        match u32::try_from(number) {
                            Ok(count) => Ok($name(Some(count))),
                            Err(_) => Err(E::invalid_value(
                                serde::de::Unexpected::Signed(number),
                                &self,
                            )),
                        }
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        match text {
                            $word => Ok($name(None)),
                            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                        }
                    }
                }
                reader.deserialize_any(Shape)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    None => writer.serialize_str($word),
                    Some(count) => writer.serialize_u32(count),
                }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": $word }] })
            }
        }
    };
}

count_or_word! {
    /// A count, or "never".
    CountOrNever, "never"
}

count_or_word! {
    /// A count, or "none".
    CountOrNone, "none"
}
