//! What all hosts of a run have in common.

use super::clock::Clock;
use super::congestion::Controllers;
use super::namespace::{Home, Namespace};
use super::quic::{QuicGroups, QuicSettings};
use pathweave_scenario::Plan;

/// It is lent to each of them.
pub struct Shared<'a> {
    pub namespaces: &'a [Namespace],
    pub home: &'a Home,
    pub controllers: &'a Controllers,
    pub clock: Clock,
    pub seed: u64,
    /// Largest segment that the devices carry.
    pub segment: u16,
    /// The traffic groups that QUIC plays, and what its endpoints have in common if there are any.
    pub quic_groups: &'a QuicGroups,
    pub quic: Option<QuicSettings>,
    pub plan: &'a Plan,
}
