//! How many subflows a connection may have.

use super::Report;

/// Most subflows of a connection.
pub(super) const MOST_SUBFLOWS: u32 = 256;

/// Refuses a number of subflows that no connection can have.
pub(super) fn subflows(subflows: u32, steps: &[&str], report: &mut Report<'_>) {
    if subflows == 0 || subflows > MOST_SUBFLOWS {
        report.wrong(
            steps,
            format!("a connection cannot have {subflows} subflows; expected 1 to {MOST_SUBFLOWS}"),
        );
    }
}
