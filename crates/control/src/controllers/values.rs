//! Types of parameters: numbers, switches, and one of a few words.

use crate::Value;
use alloc::string::ToString;
use alloc::vec::Vec;

/// A parameter's value as a type.
pub(super) trait Setting: Sized {
    /// The value as a scenario gives it; none leaves the parameter at its default.
    fn value(&self) -> Option<Value>;

    /// From what the registry has as the default.
    fn of(value: &Value) -> Option<Self>;
}

impl Setting for f64 {
    fn value(&self) -> Option<Value> {
        Some(Value::Number(*self))
    }
    fn of(value: &Value) -> Option<f64> {
        match value {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Setting for u64 {
    fn value(&self) -> Option<Value> {
        Some(Value::Number(*self as f64))
    }
    fn of(value: &Value) -> Option<u64> {
        f64::of(value).map(|number| number as u64)
    }
}

impl Setting for u32 {
    fn value(&self) -> Option<Value> {
        Some(Value::Number(f64::from(*self)))
    }
    fn of(value: &Value) -> Option<u32> {
        f64::of(value).map(|number| number as u32)
    }
}

impl Setting for bool {
    fn value(&self) -> Option<Value> {
        Some(Value::Text(if *self { "on" } else { "off" }.to_string()))
    }
    fn of(value: &Value) -> Option<bool> {
        match value {
            Value::Text(text) => Some(text == "on"),
            _ => None,
        }
    }
}

/// A number in the place of a rule: none is the rule, which is the default.
impl Setting for Option<f64> {
    fn value(&self) -> Option<Value> {
        self.map(Value::Number)
    }
    fn of(value: &Value) -> Option<Option<f64>> {
        Some(f64::of(value))
    }
}

impl Setting for Vec<f64> {
    fn value(&self) -> Option<Value> {
        Some(Value::Numbers(self.clone()))
    }
    fn of(value: &Value) -> Option<Vec<f64>> {
        match value {
            Value::Number(number) => Some([*number].into()),
            Value::Numbers(numbers) => Some(numbers.clone()),
            Value::Text(_) => None,
        }
    }
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $word:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $word),+ }

        impl Setting for $name {
            fn value(&self) -> Option<Value> {
                let text = match self { $($name::$word => $text),+ };
                Some(Value::Text(text.to_string()))
            }
            fn of(value: &Value) -> Option<$name> {
                match value {
                    $(Value::Text(text) if text == $text => Some($name::$word),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// How BOS and XMP count.
    BosVariant {
        /// Windows and cuts as real numbers.
        Paper = "paper",
        /// As integers, as the published kernel code.
        Kernel = "kernel",
    }
}

words! {
    /// How OLIA, Balia and wVegas compute.
    Arithmetic {
        /// Windows as real numbers.
        Paper = "paper",
        /// Windows in whole packets with the arithmetic of the Linux module.
        Linux = "linux",
    }
}

words! {
    /// How LIA computes.
    LiaVariant {
        /// Windows as real numbers.
        Rfc = "rfc",
        /// Windows in whole packets with the arithmetic of the Linux module.
        Linux = "linux",
    }
}

words! {
    /// What is largest on OLIA's best paths.
    BestPath {
        /// l / tau^2.
        Linux = "linux",
        /// l^2 / tau.
        LSquaredOverTau = "l2-over-tau",
    }
}

words! {
    /// EWTCP's slow start.
    SlowStart {
        /// That of a TCP.
        Tcp = "tcp",
        /// That of the WUTCP paper for the weight 1/m^2.
        Weighted = "weighted",
    }
}

words! {
    /// What EUTCP and WUTCP do at a timeout.
    Timeouts {
        /// Starts again from one packet.
        Common = "common",
        /// What another loss costs.
        AsLoss = "as-loss",
    }
}

words! {
    /// FCC's step size.
    Step {
        /// That of the paper.
        Fixed = "fixed",
        /// Searched for by Armijo's rule.
        Armijo = "armijo",
    }
}

words! {
    /// Which XCP.
    XcpVariant {
        /// As published.
        Paper = "paper",
        /// With what the reference code for ns-2 adds.
        Ns2 = "ns2",
    }
}

words! {
    /// When DECN's units leave, and what their differences are added to.
    Pace {
        /// Every t_p; to the mean rate that ports had measured.
        Mean = "mean",
        /// When the last change of rate has been measured; to the rate at that time.
        Stable = "stable",
        /// Every t_p; to the present rate.
        Paper = "paper",
    }
}

words! {
    /// A single-path controller with its default parameters.
    SinglePath {
        /// Reno.
        Reno = "reno",
        /// CUBIC.
        Cubic = "cubic",
        /// DCTCP.
        Dctcp = "dctcp",
        /// BOS.
        Bos = "bos",
    }
}

/// WUTCP's weight of a subflow, in packets that a round adds; m is the number of active subflows.
#[derive(Clone, Debug, PartialEq)]
pub enum Weight {
    /// 1/m.
    PerSubflow,
    /// 1/m^2.
    PerSubflowSquared,
    /// 1/sqrt(m).
    PerRootOfSubflows,
    /// The same for every m, from 0.00001 to 1.
    Fixed(f64),
    /// One for each subflow, of which the last is that of all others.
    Each(Vec<f64>),
}

impl Setting for Weight {
    fn value(&self) -> Option<Value> {
        let text = match self {
            Weight::PerSubflow => "1/m",
            Weight::PerSubflowSquared => "1/m^2",
            Weight::PerRootOfSubflows => "1/sqrt(m)",
            Weight::Fixed(weight) => return Some(Value::Number(*weight)),
            Weight::Each(weights) => return Some(Value::Numbers(weights.clone())),
        };
        Some(Value::Text(text.to_string()))
    }
    fn of(value: &Value) -> Option<Weight> {
        match value {
            Value::Number(weight) => Some(Weight::Fixed(*weight)),
            Value::Text(text) => match text.as_str() {
                "1/m" => Some(Weight::PerSubflow),
                "1/m^2" => Some(Weight::PerSubflowSquared),
                "1/sqrt(m)" => Some(Weight::PerRootOfSubflows),
                _ => None,
            },
            Value::Numbers(weights) => Some(Weight::Each(weights.clone())),
        }
    }
}
