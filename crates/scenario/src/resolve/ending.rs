//! Whether a group's traffic ends by itself, and how much of it there is.

use crate::plan::GroupPlan;
use pathweave_traffic::{Pattern, Size};
use pathweave_units::Bytes;

/// Why a group's flows never all finish, or `None` when they do.
pub(super) fn endless(group: &GroupPlan) -> Option<&'static str> {
    if group.stop.is_some() {
        return None;
    }
    if let Pattern::Listed(listed) = &group.pattern {
        let unlimited =
            |size: &Option<Size>| size.as_ref().unwrap_or(&group.size) == &Size::Unlimited;
        let endless = listed
            .flows
            .iter()
            .any(|flow| unlimited(&flow.size) && flow.stop.is_none());
        return endless.then_some("it has a flow of unlimited size without a stop");
    }
    let arrivals = match &group.pattern {
        Pattern::Permutation(p) => p.rounds.is_none().then_some("rounds is not given"),
        Pattern::Random(_) => Some("every finished flow is followed by another"),
        Pattern::Incast(p) => Some(match p.arrivals {
            None => "every finished job is followed by another",
            Some(_) => "jobs arrive without end",
        }),
        Pattern::RequestResponse(p) => p.count.is_none().then_some("count is not given"),
        Pattern::Poisson(p) => p.count.is_none().then_some("count is not given"),
        Pattern::ManyToOne(p) => p.count.is_none().then_some("count is not given"),
        Pattern::ManyToMany(p) => p.count.is_none().then_some("count is not given"),
        Pattern::Bursts(p) => p.bursts.is_none().then_some("bursts is not given"),
        Pattern::Listed(_) | Pattern::Collective(_) | Pattern::Trace(_) | Pattern::Goal(_) => None,
    };
    let unlimited = (group.size == Size::Unlimited).then_some("its flows are of unlimited size");
    arrivals.or(unlimited)
}

/// Whether a group has flows that go on however long the run waits for them.
pub(super) fn never_ends(group: &GroupPlan) -> bool {
    if group.stop.is_some() {
        return false;
    }
    match &group.pattern {
        Pattern::Listed(_) => endless(group).is_some(),
        _ => group.size == Size::Unlimited,
    }
}

/// The flows that a group can finish, when there is a known number of them; `None` when there is no
/// such bound.
pub(super) fn flows(group: &GroupPlan, hosts: u32) -> Option<u64> {
    if group.size == Size::Unlimited && !matches!(group.pattern, Pattern::Listed(_)) {
        return Some(0);
    }
    match &group.pattern {
        Pattern::Permutation(p) => Some(u64::from(p.rounds?) * u64::from(p.flows(hosts))),
        // Collectives are cut into transfers only when they begin.
        Pattern::Random(_) | Pattern::Incast(_) | Pattern::Collective(_) | Pattern::Goal(_) => None,
        Pattern::Trace(trace) => Some(trace.graph.sends()),
        Pattern::RequestResponse(p) => Some(p.count?.saturating_mul(2)),
        Pattern::Poisson(p) => p.count,
        Pattern::ManyToOne(p) => p.count,
        Pattern::ManyToMany(p) => p.count,
        Pattern::Bursts(p) => Some(p.bursts?.saturating_mul(u64::from(p.flows))),
        Pattern::Listed(listed) => {
            let finite =
                |size: &Option<Size>| size.as_ref().unwrap_or(&group.size) != &Size::Unlimited;
            Some(
                listed
                    .flows
                    .iter()
                    .filter(|flow| finite(&flow.size))
                    .count() as u64,
            )
        }
    }
}

/// The bytes that a group's flows can have at most, when that is known; `None` when there is no such bound.
/// Flows of unlimited size never finish, and count for none.
pub(super) fn bytes(group: &GroupPlan, hosts: u32) -> Option<Bytes> {
    if let Pattern::RequestResponse(p) = &group.pattern {
        let each = (p.request + p.response).get();
        return Some(Bytes::new(p.count?.saturating_mul(each)));
    }
    let Pattern::Listed(listed) = &group.pattern else {
        let largest = group.size.largest()?.get();
        return Some(Bytes::new(flows(group, hosts)?.saturating_mul(largest)));
    };
    let sizes = listed.flows.iter();
    let sizes = sizes.map(|flow| flow.size.as_ref().unwrap_or(&group.size));
    let mut sum: u64 = 0;
    for size in sizes.filter(|&size| *size != Size::Unlimited) {
        sum = sum.saturating_add(size.largest()?.get());
    }
    Some(Bytes::new(sum))
}
