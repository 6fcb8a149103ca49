//! From a controller's parameters to the numbers that its eBPF program is loaded with.

use crate::Failure;
use pathweave_control::{Ecn, Entry, Parameters, Value, find};

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
            "dctcp" | "dcm" => vec![share("g"), share("alpha")],
            "amp" => vec![
                (ONE / number("beta")).round() as u64,
                is("suppression", "on"),
                number("gamma") as u64,
                number("tau") as u64,
            ],
            "fcc" => {
                if parameters.choice("step") != "fixed" {
                    return Err(Failure::refused(
                        "the kernel's fcc has the paper's step size only: use step = \"fixed\"",
                    ));
                }
                vec![
                    alpha_total(parameters),
                    share("eta"),
                    number("w_min") as u64,
                ]
            }
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

/// FCC's alpha_total in 2^-34 / s, and 0 for 1 / base RTT: STEP in controllers/fcc/fcc.bpf.c.
fn alpha_total(parameters: &Parameters) -> u64 {
    const STEP: f64 = (1_u64 << 34) as f64;
    match parameters.value("alpha_total") {
        Some(&Value::Number(per_second)) => (per_second * STEP).round() as u64,
        _ => 0,
    }
}

/// The controller of this name.
///
/// # Errors
/// When there is none.
pub fn entry(name: &str) -> Result<&'static Entry, Failure> {
    find(name).ok_or_else(|| Failure::refused(format!("there is no controller \"{name}\"")))
}
