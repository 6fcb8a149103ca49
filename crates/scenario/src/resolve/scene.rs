//! What the parts of a variant are checked against.

use super::hosts::Names;
use super::reach::Reach;
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::RoutingKind;

/// Of one variant.
pub(crate) struct Scene<'a> {
    pub fabric: &'a Fabric,
    pub names: &'a Names<'a>,
    pub routing: &'a RoutingKind,
    pub reach: Reach<'a>,
}
