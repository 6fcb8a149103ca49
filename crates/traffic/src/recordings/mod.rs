//! What was recorded elsewhere: lists of flows, and GOAL schedules.

pub mod flow_list;
pub mod goal;

/// What is wrong with a recording, and where: the text names line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, from 1; 0 for the recording as a whole.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.problem),
            line => write!(f, "line {line}: {}", self.problem),
        }
    }
}

impl std::error::Error for Unreadable {}
