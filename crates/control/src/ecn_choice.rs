//! Whether a controller that was designed for losses takes marks for congestion too.

use crate::{Ecn, Parameter, ParameterKind, Parameters};

/// The parameter `ecn`: off unless a scenario turns it on.
pub const PARAMETER: Parameter = Parameter {
    name: "ecn",
    kind: ParameterKind::Choice(&["off", "on"]),
    help: "Whether packets are ECN-capable, and a marked round costs what a loss costs (on).",
};

/// Whether it is on.
pub fn is_on(parameters: &Parameters) -> bool {
    parameters.choice(PARAMETER.name) == "on"
}

/// What the controller then does with marks.
pub fn ecn(parameters: &Parameters) -> Ecn {
    if is_on(parameters) {
        Ecn::Count { limit: 255 }
    } else {
        Ecn::Off
    }
}
