//! Transport settings as data: their keys, the values they take, and how to read and write them.
//!
//! `config.rs` declares them. The scenario reader, the JSON Schema, the tables in the documentation and the generator of
//! random scenarios all use that declaration.

use crate::setting_values::{ReceiveWindow, SendBundle, TickPhase};
use pathweave_units::{Bytes, Time};
use std::fmt;

/// The value of a setting, as written in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// One of the setting's words.
    Word(&'static str),
    /// A whole number.
    Count(u32),
    /// A number of packets.
    Packets(f64),
    /// The size of a packet or of a part of it.
    Size(Bytes),
    /// An amount of data.
    Volume(Bytes),
    /// An amount of data for each subflow.
    VolumePerSubflow(Bytes),
    /// A duration.
    Time(Time),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Word(word) => word.fmt(f),
            Value::Count(count) => count.fmt(f),
            Value::Packets(packets) => packets.fmt(f),
            // Sizes of packets read better as "1500 B" than as "1.5 KB".
            Value::Size(bytes) => write!(f, "{} B", bytes.get()),
            Value::Volume(bytes) => bytes.fmt(f),
            Value::VolumePerSubflow(bytes) => write!(f, "{bytes} per subflow"),
            Value::Time(time) => time.fmt(f),
        }
    }
}

/// A kind of value that a setting accepts, and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Yes or no.
    Flag,
    /// A word and its meaning, which is empty if the setting's description explains it.
    Word(&'static str, &'static str),
    /// A whole number.
    Count {
        /// The smallest.
        least: u32,
    },
    /// A number of packets.
    Packets {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// The size of a packet or of a part of it: 1 to [`u16::MAX`] bytes.
    Size,
    /// An amount of data.
    Volume,
    /// An amount of data for each subflow.
    VolumePerSubflow,
    /// A duration.
    Time {
        /// The shortest.
        least: Time,
    },
}

impl Form {
    /// Whether a value is of this form and within its range; `None` when it is of another form.
    pub(crate) fn accepts(&self, value: Value) -> Option<bool> {
        Some(match (*self, value) {
            (Form::Flag, Value::Flag(_))
            | (Form::Volume, Value::Volume(_))
            | (Form::VolumePerSubflow, Value::VolumePerSubflow(_)) => true,
            (Form::Word(word, _), Value::Word(given)) => {
                if word != given {
                    return None;
                }
                true
            }
            (Form::Count { least }, Value::Count(count)) => count >= least,
            (Form::Packets { least, most }, Value::Packets(packets)) => {
                (least..=most).contains(&packets)
            }
            (Form::Packets { least, most }, Value::Count(packets)) => {
                (least..=most).contains(&f64::from(packets))
            }
            (Form::Size, Value::Size(size)) => (1..=u64::from(u16::MAX)).contains(&size.get()),
            (Form::Time { least }, Value::Time(time)) => time >= least,
            _ => return None,
        })
    }
}

/// The accepted values, for a message that begins with "expected".
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Flag => f.write_str("true or false"),
            Form::Word(word, _) => write!(f, "\"{word}\""),
            Form::Count { least: 0 } => f.write_str("a whole number"),
            Form::Count { least } => write!(f, "a whole number from {least} on"),
            Form::Packets { least, most } if most.is_infinite() => {
                write!(f, "{least} packets or more")
            }
            Form::Packets { least, most } => write!(f, "{least} to {most} packets"),
            Form::Size => write!(f, "1 B to {} B", u16::MAX),
            Form::Volume => f.write_str("a size such as \"4 MB\""),
            Form::VolumePerSubflow => f.write_str("\"65535 B per subflow\""),
            Form::Time { least } if *least > Time::ZERO => f.write_str("a time above zero"),
            Form::Time { .. } => f.write_str("a time such as \"10 us\""),
        }
    }
}

/// All values that these forms accept, for a message that begins with "expected".
pub fn expected(forms: &[Form]) -> String {
    let texts: Vec<String> = forms.iter().map(Form::to_string).collect();
    match &texts[..] {
        [] => String::new(),
        [only] => only.clone(),
        [start @ .., last] => format!("{}, or {last}", start.join(", ")),
    }
}

/// Converts a field from and to a [`Value`].
pub(crate) trait Codec<T> {
    /// The words it accepts, if it accepts nothing else.
    const WORDS: &'static [&'static str] = &[];
    fn forms(&self) -> Vec<Form>;
    fn value(&self, field: &T) -> Value;
    /// Returns `None` if the value has none of the forms. `maximum_segment` is the size of packets, which is read first.
    fn read(&self, value: Value, maximum_segment: u16) -> Option<T>;
}

/// An enumeration whose alternatives are words.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// The words.
    const WORDS: &'static [&'static str];
    /// Each alternative, its word and its meaning.
    const ALL: &'static [(Self, &'static str, &'static str)];
}

/// One of an enumeration's words.
pub(crate) struct OneOf;

impl<T: Words> Codec<T> for OneOf {
    const WORDS: &'static [&'static str] = T::WORDS;
    fn forms(&self) -> Vec<Form> {
        let form = |&(_, word, help): &(T, &'static str, &'static str)| Form::Word(word, help);
        T::ALL.iter().map(form).collect()
    }
    fn value(&self, field: &T) -> Value {
        let entry = T::ALL.iter().find(|(alternative, ..)| alternative == field);
        Value::Word(entry.map_or("", |(_, word, _)| word))
    }
    fn read(&self, value: Value, _: u16) -> Option<T> {
        let entry = T::ALL
            .iter()
            .find(|(_, word, _)| value == Value::Word(word))?;
        Some(entry.0)
    }
}

/// Yes or no.
pub(crate) struct Flag;

impl Codec<bool> for Flag {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Flag]
    }
    fn value(&self, field: &bool) -> Value {
        Value::Flag(*field)
    }
    fn read(&self, value: Value, _: u16) -> Option<bool> {
        match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}

/// A whole number from this on.
pub(crate) struct Count(pub u32);

impl Codec<u32> for Count {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Count { least: self.0 }]
    }
    fn value(&self, field: &u32) -> Value {
        Value::Count(*field)
    }
    fn read(&self, value: Value, _: u16) -> Option<u32> {
        match value {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }
}

/// A whole number from 1 on, or a word.
pub(crate) struct CountOr(pub &'static str);

impl Codec<Option<u32>> for CountOr {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Count { least: 1 }, Form::Word(self.0, "")]
    }
    fn value(&self, field: &Option<u32>) -> Value {
        field.map_or(Value::Word(self.0), Value::Count)
    }
    fn read(&self, value: Value, _: u16) -> Option<Option<u32>> {
        match value {
            Value::Count(count) => Some(Some(count)),
            Value::Word(word) if word == self.0 => Some(None),
            _ => None,
        }
    }
}

/// A window in packets.
pub(crate) struct Packets;

impl Codec<f64> for Packets {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Packets {
            least: 1.0,
            most: 1e6,
        }]
    }
    fn value(&self, field: &f64) -> Value {
        Value::Packets(*field)
    }
    fn read(&self, value: Value, _: u16) -> Option<f64> {
        match value {
            Value::Packets(packets) => Some(packets),
            _ => None,
        }
    }
}

/// Packets, an amount of data in packets of the largest payload, or "none" for infinity.
pub(crate) struct PacketsOrNone;

impl Codec<f64> for PacketsOrNone {
    fn forms(&self) -> Vec<Form> {
        let packets = Form::Packets {
            least: 1.0,
            most: f64::INFINITY,
        };
        vec![Form::Word("none", ""), packets, Form::Volume]
    }
    fn value(&self, field: &f64) -> Value {
        // A whole number is written as one.
        match *field {
            packets if packets.is_infinite() => Value::Word("none"),
            packets if f64::from(packets as u32) == packets => Value::Count(packets as u32),
            packets => Value::Packets(packets),
        }
    }
    fn read(&self, value: Value, maximum_segment: u16) -> Option<f64> {
        let packets = match value {
            Value::Packets(packets) => packets,
            Value::Count(packets) => f64::from(packets),
            Value::Volume(bytes) => bytes.get() as f64 / f64::from(maximum_segment.max(1)),
            Value::Word("none") => f64::INFINITY,
            _ => return None,
        };
        (packets >= 1.0).then_some(packets)
    }
}

/// The size of a packet.
pub(crate) struct Size;

impl Codec<u16> for Size {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Size]
    }
    fn value(&self, field: &u16) -> Value {
        Value::Size(Bytes::new(u64::from(*field)))
    }
    fn read(&self, value: Value, _: u16) -> Option<u16> {
        match value {
            Value::Size(size) => u16::try_from(size.get()).ok(),
            _ => None,
        }
    }
}

/// An amount of data.
pub(crate) struct Volume;

impl Codec<Bytes> for Volume {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Volume]
    }
    fn value(&self, field: &Bytes) -> Value {
        Value::Volume(*field)
    }
    fn read(&self, value: Value, _: u16) -> Option<Bytes> {
        match value {
            Value::Volume(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// A duration of at least this.
pub(crate) struct Duration(pub Time);

/// A duration above zero.
pub(crate) const ABOVE_ZERO: Duration = Duration(Time::from_picos(1));

impl Codec<Time> for Duration {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Time { least: self.0 }]
    }
    fn value(&self, field: &Time) -> Value {
        Value::Time(*field)
    }
    fn read(&self, value: Value, _: u16) -> Option<Time> {
        match value {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }
}

/// The phase of a host's ticks.
pub(crate) struct Phase;

impl Codec<TickPhase> for Phase {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Word("by-host", ""), Form::Time { least: Time::ZERO }]
    }
    fn value(&self, field: &TickPhase) -> Value {
        match *field {
            TickPhase::ByHost => Value::Word("by-host"),
            TickPhase::Shared(phase) => Value::Time(phase),
        }
    }
    fn read(&self, value: Value, _: u16) -> Option<TickPhase> {
        match value {
            Value::Word("by-host") => Some(TickPhase::ByHost),
            Value::Time(phase) => Some(TickPhase::Shared(phase)),
            _ => None,
        }
    }
}

/// The size of bundles.
pub(crate) struct Bundle;

impl Codec<SendBundle> for Bundle {
    fn forms(&self) -> Vec<Form> {
        vec![Form::Count { least: 1 }, Form::Word("by-port-rate", "")]
    }
    fn value(&self, field: &SendBundle) -> Value {
        match *field {
            SendBundle::Packets(packets) => Value::Count(packets),
            SendBundle::ByPortRate => Value::Word("by-port-rate"),
        }
    }
    fn read(&self, value: Value, _: u16) -> Option<SendBundle> {
        match value {
            Value::Count(packets) => Some(SendBundle::Packets(packets)),
            Value::Word("by-port-rate") => Some(SendBundle::ByPortRate),
            _ => None,
        }
    }
}

/// A receive window.
pub(crate) struct ReceiveWindowForms;

impl Codec<ReceiveWindow> for ReceiveWindowForms {
    fn forms(&self) -> Vec<Form> {
        vec![
            Form::Word("unlimited", ""),
            Form::Word("auto", ""),
            Form::Volume,
            Form::VolumePerSubflow,
        ]
    }
    fn value(&self, field: &ReceiveWindow) -> Value {
        match *field {
            ReceiveWindow::Unlimited => Value::Word("unlimited"),
            ReceiveWindow::Auto => Value::Word("auto"),
            ReceiveWindow::Connection(bytes) => Value::Volume(bytes),
            ReceiveWindow::Subflow(bytes) => Value::VolumePerSubflow(bytes),
        }
    }
    fn read(&self, value: Value, _: u16) -> Option<ReceiveWindow> {
        Some(match value {
            Value::Word("unlimited") => ReceiveWindow::Unlimited,
            Value::Word("auto") => ReceiveWindow::Auto,
            Value::Volume(bytes) => ReceiveWindow::Connection(bytes),
            Value::VolumePerSubflow(bytes) => ReceiveWindow::Subflow(bytes),
            _ => return None,
        })
    }
}

/// Declares an enumeration and the words for its alternatives.
macro_rules! words {
    (
        $(#[doc = $documentation:literal])+
        $name:ident {
            $( $(#[doc = $help:literal])+ $alternative:ident = $word:literal, )+
        }
    ) => {
        $(#[doc = $documentation])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $help])+ $alternative, )+
        }

        impl $crate::settings::Words for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [($name, &'static str, &'static str)] = &[
                $( ($name::$alternative, $word, concat!($($help),+)), )+
            ];
        }
    };
}

/// Declares the configuration: settings, each with its codec and its value in [`Config::textbook`], and other fields after
/// `beside:`. `(added)` sets [`Setting::added`].
macro_rules! settings {
    (
        $(
            $(#[doc = $documentation:literal])+
            $field:ident $(($added:ident))? : $type:ty, $codec:expr, $value:expr;
        )+
        beside:
        $(
            $(#[doc = $beside_documentation:literal])+
            $beside:ident : $beside_type:ty, $beside_value:expr;
        )+
    ) => {
        /// A transport's settings.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $( $(#[doc = $documentation])+ pub $field: $type, )+
            $( $(#[doc = $beside_documentation])+ pub $beside: $beside_type, )+
        }

        impl Config {
            /// A host that follows the RFCs: SACK (RFC 6675), a retransmission timeout (RFC 6298) of at least 200 ms,
            /// delayed ACKs, an initial window of ten (RFC 6928), and no behaviour specific to an operating system. Presets
            /// list their differences from it.
            pub fn textbook() -> Config {
                Config {
                    $( $field: $value, )+
                    $( $beside: $beside_value, )+
                }
            }
        }

        pub(crate) const SETTINGS: &[Setting] = &[
            $( Setting {
                key: stringify!($field),
                added: [$(stringify!($added),)? ""].len() > 1,
                documentation: &[$($documentation),+],
                forms: || $crate::settings::Codec::<$type>::forms(&$codec),
                words: $crate::settings::words_of::<$type, _>(&$codec),
                get: |config| $crate::settings::Codec::<$type>::value(&$codec, &config.$field),
                set: |config, value| {
                    match $crate::settings::Codec::<$type>::read(&$codec, value, config.maximum_segment) {
                        Some(field) => {
                            config.$field = field;
                            true
                        }
                        None => false,
                    }
                },
            }, )+
        ];
    };
}

/// The words of a codec, which is named by a value of it.
pub(crate) const fn words_of<T, C: Codec<T>>(_: &C) -> &'static [&'static str] {
    C::WORDS
}

pub(crate) use {settings, words};
