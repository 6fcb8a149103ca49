//! From a controller's parameters to the numbers that its eBPF program is loaded with.

use crate::Failure;
use pathweave_control::{Ecn, Entry, Parameters, Value};

/// One, of a share: ONE in bpf/numbers.h.
const ONE: f64 = (1_u64 << 30) as f64;
/// One packet of fine growth: FINE in bpf/growth.h.
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
            "lia" => {
                let [responds, left] = left_by_marks(number("ecn_cut"));
                vec![is("variant", "linux"), responds, left]
            }
            "olia" => vec![is("best", "l2-over-tau"), is("variant", "linux")],
            "balia" => vec![is("variant", "linux")],
            "wutcp" => {
                let as_loss = is("timeout", "as-loss");
                match parameters.value("omega") {
                    Some(Value::Numbers(omegas)) => {
                        fits("omega", omegas)?;
                        let of = |number: f64| omegas[(number as usize).min(omegas.len()) - 1];
                        weights([is("ecn", "on"), as_loss, 1], &weighted, of)
                    }
                    _ => weights([is("ecn", "on"), as_loss, 0], &weighted, |m| {
                        omega(parameters, m)
                    }),
                }
            }
            "ewtcp" => {
                let slow_start: &dyn Fn(f64) -> SlowStart = match parameters.choice("slow_start") {
                    "weighted" => &weighted,
                    _ => &|_| SlowStart::TCP,
                };
                weights([is("ecn", "on"), 0, 0], slow_start, |m| 1.0 / (m * m))
            }
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
                    "\"{other}\" is not a controller for the kernel"
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

/// What a subflow of bpf/weighted.h does in slow start.
struct SlowStart {
    /// Packets that an acknowledged one adds.
    step: f64,
    /// Share of the window that congestion costs.
    cut: f64,
}

impl SlowStart {
    const TCP: SlowStart = SlowStart {
        step: 1.0,
        cut: 0.5,
    };
}

/// WUTCP's slow start for a weight.
fn weighted(omega: f64) -> SlowStart {
    SlowStart {
        step: 1.5 * (1.0 - libm::pow(3.0, -omega)),
        // The cut of a small weight is more than the window.
        cut: f64::min(libm::pow(3.0, 1.0 - omega) / 2.0, 1.0),
    }
}

/// The switches of bpf/weighted.h (ECN, timeouts as losses, tables by the subflow's number), then its tables: omega, slow
/// start's step and its cut, by the number of subflows or by the subflow's number, both from 1.
fn weights(
    switches: [u64; 3],
    slow_start: &dyn Fn(f64) -> SlowStart,
    omega: impl Fn(f64) -> f64,
) -> Vec<u64> {
    let table = |of: &dyn Fn(f64) -> u64| -> Vec<u64> {
        (1..=SUBFLOWS).map(|m| of(omega(m as f64))).collect()
    };
    [
        switches.to_vec(),
        table(&|omega| (omega * ONE).round() as u64),
        table(&|omega| upwards(slow_start(omega).step * FINE)),
        table(&|omega| (slow_start(omega).cut * ONE).round() as u64),
    ]
    .concat()
}

/// Refuses more numbers than a table has room for.
fn fits(name: &str, numbers: &[f64]) -> Result<(), Failure> {
    if numbers.len() > SUBFLOWS {
        return Err(Failure::refused(format!(
            "{name} has {} numbers: a connection in the kernel has at most {SUBFLOWS} subflows",
            numbers.len()
        )));
    }
    Ok(())
}

/// The tables of bpf/pooled.h: slow start's step and the share that congestion costs, by the subflow's number.
///
/// # Errors
/// When there are more than the table has room for.
fn gammas(ecn: u64, timeout_is_a_loss: u64, gammas: &[f64]) -> Result<Vec<u64>, Failure> {
    fits("gamma", gammas)?;
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

#[cfg(test)]
mod tests {
    use super::{SUBFLOWS, Settings};
    use crate::Failure;
    use pathweave_control::{Value, find};

    fn settings(name: &str, given: &[(&str, Value)]) -> Result<Settings, Failure> {
        let entry = find(name).unwrap();
        let given: Vec<_> = given
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect();
        Settings::of(entry, &entry.parameters(&given).unwrap(), 3)
    }

    fn text(choice: &str) -> Value {
        Value::Text(choice.to_string())
    }

    #[test]
    fn weights_follow_the_number_of_subflows() {
        let wutcp = settings("wutcp", &[("ecn", text("on"))]).unwrap();
        assert!(wutcp.needs_ecn);
        assert_eq!(wutcp.values.len(), 4 + 3 * SUBFLOWS);
        assert_eq!(wutcp.values[..6], [3, 1, 0, 0, 1 << 30, 1 << 29]);
        assert_eq!(wutcp.values[4 + 15], 1 << 26);
        let (step, cut) = (4 + SUBFLOWS, 4 + 2 * SUBFLOWS);
        // A TCP adds a packet and halves.
        assert_eq!((wutcp.values[step], wutcp.values[cut]), (1 << 40, 1 << 29));
        // (3/2) (1 - 3^-1/2) and 3^(1/2) / 2.
        let near = |value: u64, one: f64, expected: f64| {
            assert!((value as f64 / one - expected).abs() < 1e-9, "{value}");
        };
        near(
            wutcp.values[step + 1],
            (1_u64 << 40) as f64,
            0.6339745962156,
        );
        near(wutcp.values[cut + 1], (1_u64 << 30) as f64, 0.8660254037844);
        // 3^(3/4) / 2 is more than the window.
        let ewtcp = settings("ewtcp", &[("slow_start", text("weighted"))]).unwrap();
        assert_eq!(ewtcp.values[4..6], [1 << 30, 1 << 28]);
        assert_eq!(ewtcp.values[cut + 1], 1 << 30);
        let squares = settings("wutcp", &[("omega", text("1/m^2"))]).unwrap();
        assert_eq!(ewtcp, squares);
        // By default its slow start is a TCP's, whatever the number of subflows.
        let ewtcp = settings("ewtcp", &[]).unwrap();
        assert_eq!(ewtcp.values[..step], squares.values[..step]);
        assert_eq!(ewtcp.values[step..cut], [1 << 40; SUBFLOWS]);
        assert_eq!(ewtcp.values[cut..], [1 << 29; SUBFLOWS]);
        let roots = settings("wutcp", &[("omega", text("1/sqrt(m)"))]).unwrap();
        assert_eq!(roots.values[4 + 3], 1 << 29);
        let fixed = settings("wutcp", &[("omega", Value::Number(0.25))]).unwrap();
        assert_eq!(fixed.values[4..4 + SUBFLOWS], [1 << 28; SUBFLOWS]);
    }

    #[test]
    fn each_subflow_has_its_omega_and_the_last_repeats() {
        let list = Value::Numbers(vec![1.0, 0.5, 0.25]);
        let given = [("omega", list), ("timeout", text("as-loss"))];
        let wutcp = settings("wutcp", &given).unwrap();
        assert_eq!(wutcp.values[..4], [3, 0, 1, 1]);
        assert_eq!(wutcp.values[4..7], [1 << 30, 1 << 29, 1 << 28]);
        assert_eq!(wutcp.values[7..4 + SUBFLOWS], [1 << 28; 13]);
        let omegas = |count| settings("wutcp", &[("omega", Value::Numbers(vec![0.5; count]))]);
        assert!(omegas(SUBFLOWS).is_ok());
        let refused = omegas(SUBFLOWS + 1).unwrap_err().to_string();
        assert!(refused.contains("omega has 17 numbers"), "{refused}");
    }

    #[test]
    fn each_subflow_has_its_gamma_and_the_last_repeats() {
        let list = Value::Numbers(vec![1.0, 1.5, 1.25]);
        let eutcp = settings("eutcp", &[("gamma", list), ("timeout", text("as-loss"))]).unwrap();
        assert_eq!(eutcp.values[..3], [3, 0, 1]);
        assert_eq!(eutcp.values[3..6], [4 << 38, 6 << 38, 5 << 38]);
        assert_eq!(eutcp.values[6..3 + SUBFLOWS], [5 << 38; 13]);
        assert_eq!(
            eutcp.values[3 + SUBFLOWS..][..4],
            [4 << 27, 6 << 27, 5 << 27, 5 << 27]
        );
        let one = settings("eutcp", &[("gamma", Value::Number(1.0))]).unwrap();
        assert_eq!(one, settings("semicoupled", &[]).unwrap());
        let gammas = |count| settings("eutcp", &[("gamma", Value::Numbers(vec![1.1; count]))]);
        assert!(gammas(SUBFLOWS).is_ok());
        let refused = gammas(SUBFLOWS + 1).unwrap_err().to_string();
        assert!(refused.contains("17 numbers"), "{refused}");
    }

    #[test]
    fn what_marks_leave_to_lia_is_no_whole_packet_short() {
        let lia = |cut| {
            settings("lia", &[("ecn_cut", Value::Number(cut))])
                .unwrap()
                .values
        };
        assert_eq!(lia(0.0), [3, 0, 0, 1 << 39]);
        assert_eq!(lia(1.0), [3, 0, 1, 0]);
        assert_eq!(lia(0.25), [3, 0, 1, 3 << 37]);
        for (cut, window, left) in [
            (0.1, 10, 9),
            (0.3, 10, 7),
            (0.9, 10, 1),
            (0.2, 40_000, 32_000),
        ] {
            assert_eq!((window * lia(cut)[3]) >> 39, left);
        }
    }
}
