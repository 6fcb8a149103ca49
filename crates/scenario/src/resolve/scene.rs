//! What the parts of a variant are checked against.

use super::hosts::Names;
use super::reach::Reach;
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::RoutingKind;

/// Any seed: it decides on the delays of links, and nothing is checked that depends on these.
pub(super) const ANY_SEED: u64 = 1;

/// Of one variant.
pub(crate) struct Scene<'a> {
    pub fabric: &'a Fabric,
    pub names: &'a Names<'a>,
    pub routing: &'a RoutingKind,
    pub reach: Reach<'a>,
}
