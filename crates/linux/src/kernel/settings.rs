//! From a controller's parameters to the numbers that its eBPF program is loaded with.

use crate::Failure;
use pathweave_control::{Ecn, Entry, Parameters, Value};

/// One, of a share: ONE in bpf/numbers.h.
const ONE: f64 = (1_u64 << 30) as f64;
/// One packet of fine growth: FINE in bpf/fine_growth.h.
const FINE: f64 = (1_u64 << 40) as f64;
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
            "lia" => left_by_marks(number("ecn_cut")).into(),
            "olia" => vec![is("best", "l2-over-tau")],
            "balia" => Vec::new(),
            "wutcp" => weights(is("ecn", "on"), |m| omega(parameters, m)),
            "ewtcp" => weights(is("ecn", "on"), |m| 1.0 / (m * m)),
            "eutcp" => gammas(
                is("ecn", "on"),
                is("timeout", "as-loss"),
                parameters.per_subflow("gamma"),
            )?,
            "semicoupled" => gammas(is("ecn", "on"), 0, &[1.0])?,
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

/// LIA's answer to marks: whether there is one, and what it leaves of the window, in 2^-39.
fn left_by_marks(cut: f64) -> [u64; 2] {
    const WHOLE: f64 = (1_u64 << 39) as f64;
    [u64::from(cut > 0.0), upwards((1.0 - cut) * WHOLE)]
}

/// WUTCP's weight of each of m subflows.
fn omega(parameters: &Parameters, m: f64) -> f64 {
    match parameters.value("omega") {
        Some(&Value::Number(omega)) => omega,
        _ => match parameters.choice("omega") {
            "1/m^2" => 1.0 / (m * m),
            "1/sqrt(m)" => 1.0 / libm::sqrt(m),
            _ => 1.0 / m,
        },
    }
}

/// The tables of bpf/weighted.h: omega, slow start's step and its cut, by the number of subflows.
fn weights(ecn: u64, omega: impl Fn(f64) -> f64) -> Vec<u64> {
    let table = |of: &dyn Fn(f64) -> u64| -> Vec<u64> {
        (1..=SUBFLOWS).map(|m| of(omega(m as f64))).collect()
    };
    let step = |omega: f64| 1.5 * (1.0 - libm::pow(3.0, -omega));
    // The cut of a small weight is more than the window.
    let cut = |omega: f64| f64::min(libm::pow(3.0, 1.0 - omega) / 2.0, 1.0);
    [
        vec![ecn],
        table(&|omega| (omega * ONE).round() as u64),
        table(&|omega| upwards(step(omega) * FINE)),
        table(&|omega| (cut(omega) * ONE).round() as u64),
    ]
    .concat()
}

/// The tables of bpf/pooled.h: slow start's step and the share that congestion costs, by the subflow's number.
///
/// # Errors
/// When there are more than the table has room for.
fn gammas(ecn: u64, timeout_is_a_loss: u64, gammas: &[f64]) -> Result<Vec<u64>, Failure> {
    if gammas.len() > SUBFLOWS {
        return Err(Failure::refused(format!(
            "gamma has {} numbers: a connection in the kernel has at most {SUBFLOWS} subflows",
            gammas.len()
        )));
    }
    let table = |of: &dyn Fn(f64) -> u64| -> Vec<u64> {
        let last = gammas.len() - 1;
        (0..SUBFLOWS).map(|r| of(gammas[r.min(last)])).collect()
    };
    Ok([
        vec![ecn, timeout_is_a_loss],
        table(&|gamma| upwards(gamma * FINE)),
        table(&|gamma| (gamma / 2.0 * ONE).round() as u64),
    ]
    .concat())
}

/// Rounded up, so that as many steps reach a whole number of packets as with real numbers; what is above an
/// integer by no more than a calculation's last bits is that.
fn upwards(number: f64) -> u64 {
    (number - 1e-3).ceil() as u64
}

/// FCC's alpha_total in 2^-34 / s, and 0 for 1 / base RTT: STEP in controllers/fcc/fcc.bpf.c.
fn alpha_total(parameters: &Parameters) -> u64 {
    const STEP: f64 = (1_u64 << 34) as f64;
    match parameters.value("alpha_total") {
        Some(&Value::Number(per_second)) => (per_second * STEP).round() as u64,
        _ => 0,
    }
}
