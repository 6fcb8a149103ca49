//! Values that a scenario writes as texts: quantities with units, ranges, names.

use pathweave_fabric::topology::Delay;
use pathweave_units::{Bytes, Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Reads a value from a text only; a bare number is told what it lacks.
struct FromText<T> {
    expected: &'static str,
    example: &'static str,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, for example \"{}\"", self.expected, self.example)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom(format!(
            "{number} has no unit; write {} in quotes, for example \"{}\"",
            self.expected, self.example
        )))
    }
}

macro_rules! quantity {
    ($name:ident, $inner:ty, $read:expr, $write:expr, $expected:literal, $example:literal, $pattern:literal, $help:literal) => {
        #[doc = $help]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<$name, D::Error> {
                reader.deserialize_str(FromText {
                    expected: $expected,
                    example: $example,
                    parse: |text| {
                        let read: fn(&str) -> Result<$inner, String> = $read;
                        read(text).map($name)
                    },
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                let write: fn($inner) -> String = $write;
                writer.serialize_str(&write(self.0))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($inner).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $help,
                    "pattern": $pattern,
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(
    RateText,
    Rate,
    rate,
    |rate| rate.to_string(),
    "a rate with its unit",
    "1 Gbps",
    r"^\s*\+?[0-9][0-9_]*(\.[0-9_]+)?\s*[TGMKk]?bps\s*$",
    "A rate: a number and bps, Kbps, Mbps, Gbps or Tbps."
);
quantity!(
    TimeText,
    Time,
    time,
    |time| time.to_string(),
    "a time with its unit",
    "20 us",
    r"^\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))\s*$",
    "A time: a number and ps, ns, us, ms or s."
);
quantity!(
    BytesText,
    Bytes,
    |text| Bytes::from_str(text).map_err(|error| error.to_string()),
    bytes_text,
    "a size with its unit",
    "64 KB",
    r"^\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*([TGMK]?B|[GMK]iB))\s*$",
    "A size: a number and B, KB, MB, GB, TB (powers of ten), KiB, MiB or GiB."
);

/// Below this the time that a byte takes does not fit a port's arithmetic.
const SLOWEST: Rate = Rate::from_bps(10_000);

/// Above this even a full packet takes less than the smallest step of time, and sums of rates might
/// not fit their type.
const FASTEST: Rate = Rate::from_gbps(1_000_000);

/// Sums of a few such times fit their type.
const LONGEST: Time = Time::from_secs(1_000_000);

/// Any instant or duration.
pub(crate) fn time(text: &str) -> Result<Time, String> {
    match Time::from_str(text) {
        Ok(time) if time > LONGEST => Err(format!(
            "\"{text}\" is too long; times go up to \"{LONGEST}\""
        )),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// All rates are those of links.
fn rate(text: &str) -> Result<Rate, String> {
    match Rate::from_str(text) {
        Ok(Rate::ZERO) => Err(format!(
            "\"{text}\" is not a rate for a link; give a rate above zero, for example \"1 Gbps\" (an event takes a link down with down = true)"
        )),
        Ok(rate) if rate < SLOWEST => Err(format!(
            "\"{text}\" is too slow for a link; give at least \"{SLOWEST}\""
        )),
        Ok(rate) if rate > FASTEST => Err(format!(
            "\"{text}\" is too fast for a link; give at most \"{FASTEST}\""
        )),
        Ok(rate) => Ok(rate),
        Err(error) => Err(error.to_string()),
    }
}

/// Packet sizes read better as "1500 B" than as "1.5 KB".
pub(crate) fn bytes_text(bytes: Bytes) -> String {
    match bytes.get() {
        small if small < 100_000 && small % 1_000 != 0 => format!("{small} B"),
        _ => bytes.to_string(),
    }
}

/// A delay, or a range from which each cable's delay is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayText(pub Delay);

impl FromStr for DelayText {
    type Err = String;
    fn from_str(text: &str) -> Result<DelayText, String> {
        let time = |text: &str| Time::from_str(text).map_err(|error| error.to_string());
        Ok(DelayText(match text.split_once("..") {
            None => Delay::Fixed(time(text)?),
            Some((min, max)) => {
                let (min, max) = (time(min)?, time(max)?);
                if min > max {
                    return Err(format!(
                        "\"{text}\" runs backwards; write the shorter delay first"
                    ));
                }
                Delay::Uniform { min, max }
            }
        }))
    }
}

impl<'de> Deserialize<'de> for DelayText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<DelayText, D::Error> {
        reader.deserialize_str(FromText {
            expected: "a time or a range of times with their units",
            example: "20 us",
            parse: DelayText::from_str,
        })
    }
}

impl Serialize for DelayText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Delay::Fixed(time) => writer.collect_str(&time),
            Delay::Uniform { min, max } => writer.collect_str(&format_args!("{min}..{max}")),
        }
    }
}

impl JsonSchema for DelayText {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A one-way delay, or a range from which each cable's delay is drawn.",
            "pattern": r"^\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))\s*(\.\.\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))\s*)?$",
            "examples": ["20 us", "20 us..40 us"],
        })
    }
}

/// A time, or a range from which one is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeRangeText(pub (Time, Time));

impl FromStr for TimeRangeText {
    type Err = String;
    fn from_str(text: &str) -> Result<TimeRangeText, String> {
        Ok(TimeRangeText(match text.split_once("..") {
            None => {
                let only = time(text)?;
                (only, only)
            }
            Some((least, most)) => {
                let (least, most) = (time(least)?, time(most)?);
                if least > most {
                    return Err(format!(
                        "\"{text}\" runs backwards; write the shorter time first"
                    ));
                }
                (least, most)
            }
        }))
    }
}

impl<'de> Deserialize<'de> for TimeRangeText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<TimeRangeText, D::Error> {
        reader.deserialize_str(FromText {
            expected: "a time or a range of times with their units",
            example: "1 ms",
            parse: TimeRangeText::from_str,
        })
    }
}

impl Serialize for TimeRangeText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            (least, most) if least == most => writer.collect_str(&least),
            (least, most) => writer.collect_str(&format_args!("{least}..{most}")),
        }
    }
}

impl JsonSchema for TimeRangeText {
    fn schema_name() -> Cow<'static, str> {
        "TimeRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A time, or a range from which one is drawn.",
            "pattern": r"^\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))\s*(\.\.\s*(\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))\s*)?$",
            "examples": ["1 ms", "1 ms..2 ms"],
        })
    }
}

/// How a series is sampled: an interval, or "on-change".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SamplingText {
    Every(Time),
    OnChange,
}

impl<'de> Deserialize<'de> for SamplingText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<SamplingText, D::Error> {
        reader.deserialize_str(FromText {
            expected: "an interval with its unit, or \"on-change\"",
            example: "100 us",
            parse: |text| match text {
                "on-change" => Ok(SamplingText::OnChange),
                _ => Time::from_str(text)
                    .map(SamplingText::Every)
                    .map_err(|error| {
                        format!("{error}; or write \"on-change\"").replacen("; write", ": write", 1)
                    }),
            },
        })
    }
}

impl Serialize for SamplingText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            SamplingText::Every(interval) => writer.collect_str(interval),
            SamplingText::OnChange => writer.serialize_str("on-change"),
        }
    }
}

impl JsonSchema for SamplingText {
    fn schema_name() -> Cow<'static, str> {
        "Sampling".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An interval such as \"100 us\", or \"on-change\".",
            "pattern": r"^\s*((\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))|on-change)\s*$",
            "examples": ["100 us", "on-change"],
        })
    }
}

/// An interval, or "auto".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MapText {
    Every(Time),
    Auto,
}

impl<'de> Deserialize<'de> for MapText {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<MapText, D::Error> {
        reader.deserialize_str(FromText {
            expected: "an interval with its unit, or \"auto\"",
            example: "1 ms",
            parse: |text| match text {
                "auto" => Ok(MapText::Auto),
                _ => Time::from_str(text).map(MapText::Every).map_err(|error| {
                    format!("{error}; or write \"auto\"").replacen("; write", ": write", 1)
                }),
            },
        })
    }
}

impl Serialize for MapText {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            MapText::Every(interval) => writer.collect_str(interval),
            MapText::Auto => writer.serialize_str("auto"),
        }
    }
}

impl JsonSchema for MapText {
    fn schema_name() -> Cow<'static, str> {
        "MapInterval".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An interval such as \"1 ms\", or \"auto\".",
            "pattern": r"^\s*((\+?0+(\.0+)?|\+?[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|ms|s))|auto)\s*$",
            "examples": ["1 ms", "auto"],
        })
    }
}

/// A number of packets, or a size with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PacketsOrBytes {
    Packets(f64),
    Bytes(Bytes),
}

impl<'de> Deserialize<'de> for PacketsOrBytes {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<PacketsOrBytes, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = PacketsOrBytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets, or a size with its unit, for example \"150 KB\"")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<PacketsOrBytes, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<PacketsOrBytes, E> {
                if number.is_finite() && number >= 0.0 {
                    Ok(PacketsOrBytes::Packets(number))
                } else {
                    Err(E::custom(format!(
                        "{number} is not a number of packets; expected a number from 0 on, or a \
                         size with its unit, for example \"150 KB\""
                    )))
                }
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<PacketsOrBytes, E> {
                match Bytes::from_str(text) {
                    Ok(bytes) => Ok(PacketsOrBytes::Bytes(bytes)),
                    Err(error) => Err(E::custom(format!("{error}; packets are a bare number"))),
                }
            }
        }
        reader.deserialize_any(Either)
    }
}

impl Serialize for PacketsOrBytes {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            PacketsOrBytes::Packets(packets) if *packets as u32 as f64 == *packets => {
                writer.serialize_u32(*packets as u32)
            }
            PacketsOrBytes::Packets(packets) => writer.serialize_f64(*packets),
            PacketsOrBytes::Bytes(bytes) => writer.collect_str(bytes),
        }
    }
}

impl JsonSchema for PacketsOrBytes {
    fn schema_name() -> Cow<'static, str> {
        "PacketsOrBytes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bytes = generator.subschema_for::<BytesText>();
        json_schema!({
            "description": "A number of packets, or a size with its unit.",
            "anyOf": [{ "type": "number", "minimum": 0 }, bytes],
        })
    }
}

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueueLimit {
    None,
    Of(PacketsOrBytes),
}

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<QueueLimit, D::Error> {
        use serde::de::IntoDeserializer;
        struct Limit;
        impl Visitor<'_> for Limit {
            type Value = QueueLimit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number of packets, a size with its unit, for example \"150 KB\", or \"none\"",
                )
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<QueueLimit, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<QueueLimit, E> {
                PacketsOrBytes::deserialize(number.into_deserializer()).map(QueueLimit::Of)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<QueueLimit, E> {
                match text.trim() {
                    "none" => Ok(QueueLimit::None),
                    text => match Bytes::from_str(text) {
                        Ok(bytes) => Ok(QueueLimit::Of(PacketsOrBytes::Bytes(bytes))),
                        Err(error) => Err(E::custom(format!(
                            "{error}; packets are a bare number, and \"none\" is no limit"
                        ))),
                    },
                }
            }
        }
        reader.deserialize_any(Limit)
    }
}

impl Serialize for QueueLimit {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            QueueLimit::None => writer.serialize_str("none"),
            QueueLimit::Of(limit) => limit.serialize(writer),
        }
    }
}

impl JsonSchema for QueueLimit {
    fn schema_name() -> Cow<'static, str> {
        "QueueLimit".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bytes = generator.subschema_for::<BytesText>();
        json_schema!({
            "description": "A number of packets, a size with its unit, or \"none\".",
            "anyOf": [{ "type": "number", "minimum": 0 }, { "const": "none" }, bytes],
        })
    }
}

/// A single value, or a table or list in its place.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Either<A, B> {
    One(A),
    Many(B),
}

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Deserialize<'de> for Either<A, B> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Either<A, B>, D::Error> {
        use serde::de::IntoDeserializer;
        struct Shape<A, B>(PhantomData<(A, B)>);
        impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Visitor<'de> for Shape<A, B> {
            type Value = Either<A, B>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, a list or a table")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Either<A, B>, E> {
                A::deserialize(text.into_deserializer()).map(Either::One)
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Either<A, B>, E> {
                A::deserialize(truth.into_deserializer()).map(Either::One)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Either<A, B>, E> {
                A::deserialize(number.into_deserializer()).map(Either::One)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Either<A, B>, E> {
                A::deserialize(number.into_deserializer()).map(Either::One)
            }
            fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Either<A, B>, S::Error> {
                B::deserialize(SeqAccessDeserializer::new(list)).map(Either::Many)
            }
            fn visit_map<M: MapAccess<'de>>(self, table: M) -> Result<Either<A, B>, M::Error> {
                B::deserialize(MapAccessDeserializer::new(table)).map(Either::Many)
            }
        }
        reader.deserialize_any(Shape(PhantomData))
    }
}

impl<A> Either<A, Vec<A>> {
    /// The value, or all of the list.
    pub fn as_slice(&self) -> &[A] {
        match self {
            Either::One(value) => std::slice::from_ref(value),
            Either::Many(list) => list,
        }
    }
}
