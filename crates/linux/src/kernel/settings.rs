//! From a controller's parameters to the numbers that its eBPF program is loaded with.

use crate::Failure;
use pathweave_control::{Ecn, Entry, Parameters};

/// One, of a share: ONE in bpf/numbers.h.
const ONE: f64 = (1_u64 << 30) as f64;
/// One packet: PACKET in bpf/numbers.h.
const PACKET: f64 = (1_u64 << 24) as f64;
/// Rows of a connection: SUBFLOWS in bpf/connection.h.
pub const SUBFLOWS: usize = 16;

/// What a program is loaded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The members of its `struct parameters`, in their order.
    pub values: Vec<u64>,
    /// Whether the kernel negotiates ECN for it.
    pub needs_ecn: bool,
}

impl Settings {
    /// Of a controller of the registry.
    ///
    /// `minimum_window` is in packets.
    ///
    /// # Errors
    /// When the kernel's version has no counterpart of a parameter's value.
    pub fn of(
        entry: &Entry,
        parameters: &Parameters,
        minimum_window: u32,
    ) -> Result<Settings, Failure> {
        let number = |name: &str| parameters.number(name);
        let share = |name: &str| (number(name) * ONE).round() as u64;
        let is = |name: &str, choice: &str| u64::from(parameters.choice(name) == choice);
        let own: Vec<u64> = match entry.name {
            "xmp" => vec![number("beta") as u64, is("variant", "kernel")],
            other => {
                return Err(Failure::refused(format!(
                    "\"{other}\" is no controller for the kernel"
                )));
            }
        };
        Ok(Settings {
            values: std::iter::once(u64::from(minimum_window))
                .chain(own)
                .collect(),
            needs_ecn: (entry.ecn)(parameters) != Ecn::Off,
        })
    }
}
