//! Arrivals at a load.

use super::load_counts::LoadCounts;
use super::resolving::InGroup;
use crate::resolve::{Pairs, load};
use pathweave_traffic::patterns::Arrivals;

/// Arrivals that offer such a load to a layer.
pub(super) fn at_load(
    group: &mut InGroup<'_, '_>,
    load: f64,
    layer: Option<&str>,
    pairs: &Pairs,
) -> Option<Arrivals> {
    load::load(load, layer, pairs, group.steps, group.scene, group.problems)
}

/// Refuses what only has a meaning beside a load.
pub(super) fn check_beside_load(
    group: &mut InGroup<'_, '_>,
    load: Option<f64>,
    has_layer: bool,
    counts: LoadCounts,
) {
    if has_layer && load.is_none() {
        group.wrong_key(
            "layer",
            "layer says what load is a share of; give load, or remove layer",
        );
    }
    if counts == LoadCounts::Wire && load.is_none() {
        group.wrong_key(
            "load_counts",
            "load_counts says what load counts; give load, or remove load_counts",
        );
    }
}
