//! What no input may break: each function takes any bytes and panics where something is wrong.
//!
//! `make fuzz` searches for such bytes, guided by coverage; the tests play random ones and the kept corpora.

#![forbid(unsafe_code)]

mod codecs;
mod recordings;
mod scenario;

pub use codecs::codecs;
pub use pathweave_engine::fuzzing::schedule;
pub use pathweave_transport::fuzzing::{losses, subflow};
pub use recordings::recordings;
pub use scenario::scenario;

/// Takes any bytes.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("scenario", scenario),
    ("subflow", subflow),
    ("losses", losses),
    ("codecs", codecs),
    ("schedule", schedule),
    ("recordings", recordings),
];
