//! Hosts as patterns name them.

use crate::text::Either;

/// Hosts by name, by range ("h0..h15", both ends included), or "all".
pub(crate) type HostsText = Either<String, Vec<String>>;

/// All hosts, where a pattern names none.
pub(crate) fn all() -> HostsText {
    Either::One("all".to_owned())
}
