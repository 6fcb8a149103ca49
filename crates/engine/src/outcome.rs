//! How runs end.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A condition of the scenario's `[stop]` held, or nothing is left of the group that it counts.
    Stopped,
    /// All flows have finished and none would have come.
    Finished,
    /// The flows that are left have no live path, and no link will come back.
    Stalled,
}

impl Verdict {
    /// The word that manifests carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Stopped => "stopped",
            Verdict::Finished => "finished",
            Verdict::Stalled => "stalled",
        }
    }
}

/// Why a run gave no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It was asked to end.
    Cancelled,
    /// The plan cannot be run.
    Plan(String),
    /// A controller that is not Pathweave's own could not go on.
    Controller(String),
    /// A self-check failed: a defect of the simulator.
    Check(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Cancelled => f.write_str("the run was cancelled"),
            RunError::Plan(reason) | RunError::Controller(reason) => f.write_str(reason),
            RunError::Check(what) => write!(f, "a self-check failed: {what}"),
        }
    }
}

impl std::error::Error for RunError {}
