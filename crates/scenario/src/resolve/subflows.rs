//! How many subflows a connection may have.

use super::Problems;

/// Most subflows of a connection.
pub(super) const MOST_SUBFLOWS: u32 = 256;

/// Refuses a number of subflows that no connection can have.
pub(super) fn subflows(subflows: u32, steps: &[&str], problems: &mut Problems<'_>) {
    if subflows == 0 || subflows > MOST_SUBFLOWS {
        problems.wrong(
            steps,
            format!("a connection cannot have {subflows} subflows; expected 1 to {MOST_SUBFLOWS}"),
        );
    }
}
