//! What can be wrong with a traffic group.

use std::fmt;

/// Why a traffic group cannot run. The text names the option and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficError(pub String);

impl fmt::Display for TrafficError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TrafficError {}
