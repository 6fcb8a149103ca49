//! What a testbed cannot do, said before anything is tried.

use super::group::most_subflows_of;
use super::namespace::has_parameter;
use super::quic::QuicGroups;
use super::tun::MINIMUM_RTO;
use crate::Failure;
use crate::kernel::SUBFLOWS;
use pathweave_fabric::routing::RoutingKind;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_transport::EcnUse;
use std::path::Path;

/// Most hosts of a testbed.
pub const MOST_HOSTS: usize = 16;

/// Whether any flow of the plan over TCP has several subflows.
pub fn is_multipath(plan: &Plan, quic: &QuicGroups) -> bool {
    over_tcp(plan, quic).any(|group| most_subflows_of(group) > 1)
}

/// Most subflows of the plan's flows.
pub fn most_subflows(plan: &Plan) -> u32 {
    plan.groups.iter().map(most_subflows_of).max().unwrap_or(1)
}

/// Checks a plan.
///
/// # Errors
/// The first reason for which real hosts cannot run it.
pub fn check_plan(plan: &Plan, quic: &QuicGroups) -> Result<(), Failure> {
    let hosts = plan.fabric.hosts.len();
    if hosts > MOST_HOSTS {
        return Err(Failure::refused(format!(
            "the testbed has up to {MOST_HOSTS} hosts, and this fabric has {hosts}"
        ))
        .hint(
            "choose a smaller fabric with --set or --size, or simulate this one: pathweave run",
        ));
    }
    let routing = match plan.routing {
        RoutingKind::Ecmp { .. } | RoutingKind::TwoLevel | RoutingKind::Pinned => None,
        RoutingKind::Spray { .. } => Some("spray"),
        RoutingKind::Fmp(_) => Some("fmp"),
    };
    if let Some(name) = routing {
        return Err(Failure::refused(format!(
            "the testbed does not play routing \"{name}\": its switches send every subflow over links that are known when it starts"
        ))
        .hint("it plays ecmp, two-level and pinned"));
    }
    // What QUIC plays was checked with the choice of its groups.
    for (controller, _) in over_tcp(plan, quic).flat_map(|group| group.controllers()) {
        let reason = if controller.scheme().is_some() {
            "switches write into its packets what real hosts do not read"
        } else if controller.scatter().is_some() {
            "real hosts do not scatter the packets of a connection"
        } else {
            continue;
        };
        let name = controller.name();
        return Err(Failure::refused(format!(
            "the testbed cannot run controller \"{name}\": {reason}"
        ))
        .hint("simulate it: pathweave run"));
    }
    let subflows = most_subflows(plan);
    if subflows as usize > SUBFLOWS {
        return Err(Failure::refused(format!(
            "the testbed has up to {SUBFLOWS} subflows a flow, and this scenario has {subflows}"
        )));
    }
    if let Some(group) = plan
        .groups
        .iter()
        .find(|group| group.transport.source.is_some())
    {
        return Err(Failure::refused(format!(
            "the testbed's hosts send as fast as they can: they cannot write at the rate of group \"{}\"",
            group.name
        ))
        .hint(format!("leave traffic.{}.rate out", group.name)));
    }
    if plan
        .groups
        .iter()
        .any(|group| group.transport.packets.is_some())
    {
        return Err(Failure::refused(
            "the testbed cannot send packets of given sizes: the kernel cuts segments as it likes",
        )
        .hint("leave transport.packets out"));
    }
    Ok(())
}

/// Checks the machine.
///
/// # Errors
/// What it lacks for this plan.
pub fn check_machine(plan: &Plan, quic: &QuicGroups) -> Result<(), Failure> {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Err(
            Failure::refused("the testbed makes network namespaces, which takes root")
                .hint("run it with sudo"),
        );
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(Failure::refused("there is no /dev/net/tun")
            .hint("modprobe tun; in a container, start it with --device /dev/net/tun"));
    }
    if is_multipath(plan, quic) && !Path::new("/proc/sys/net/mptcp/pm_type").exists() {
        return Err(Failure::refused(
            "this kernel's MPTCP cannot be told which subflows to open, or is not there",
        )
        .hint(
            "it takes Linux 5.19 or later with CONFIG_MPTCP; flows of one subflow need neither",
        ));
    }
    Ok(())
}

/// Remarks on where real hosts differ from what the plan says.
pub fn notes(plan: &Plan, stretch: u32, quic: &QuicGroups) -> Vec<String> {
    let mut notes = Vec::new();
    let has_timeout = has_parameter(MINIMUM_RTO);
    if stretch > 1 {
        let divided = |millis: f64| millis / f64::from(stretch);
        let timeout = if has_timeout {
            String::new()
        } else {
            format!(
                "its smallest retransmission timeout of 200 ms counts as {} ms, and ",
                divided(200.0)
            )
        };
        notes.push(format!(
            "time was stretched {stretch} times and the results are converted back; the kernel's own times do not stretch: {timeout}an acknowledgement that it delays for 40 ms counts as delayed for {} ms, and the first timeout of a handshake, 1 s, as {} ms",
            divided(40.0),
            divided(1000.0)
        ));
    }
    notes.push(
        "of [transport] hosts take packet sizes, the initial window, ECN, `ack_every = 1`, the times of joins, `growth_by_marked_acks` for dctcp and dcm and, where the kernel lets it be set, the smallest timeout; all else is this kernel's; hosts' own ports drop packets, because the fabric cannot hold back this machine's sockets; RTTs are its smoothed ones, sampled"
            .to_owned(),
    );
    if !quic.is_empty() {
        let names: Vec<_> = quic.names().collect();
        notes.push(format!(
            "QUIC (noq) plays {}: of [transport] its endpoints take packet sizes, the initial and the smallest window, ECN, `ack_every = 1` and the times of joins; packets are sent one by one and paced; goodput is payload when the receiving program reads it, in any order; a packet's headers are about 20 bytes larger than TCP's; timeouts are not counted",
            names.join(", ")
        ));
    }
    let ecn = |group: &GroupPlan| group.transport.ecn == EcnUse::On;
    if shared(plan, quic, ecn).is_none() {
        notes.push(
            "`ecn = \"on\"` of one traffic group is that of all: it is a setting of hosts"
                .to_owned(),
        );
    }
    if shared(plan, quic, |group| group.transport.data_packet).is_none() {
        notes.push("the largest `data_packet` of the traffic groups is that of all".to_owned());
    }
    let every = |group: &GroupPlan| group.transport.ack_every == 1;
    let window = initial_window;
    let timeout = |group: &GroupPlan| group.transport.minimum_rto;
    let of_the_kernel = [
        ("ack_every", shared(plan, quic, every).is_none()),
        ("initial_window", shared(plan, quic, window).is_none()),
        (
            "minimum_rto",
            has_timeout && shared(plan, quic, timeout).is_none(),
        ),
    ];
    for (key, differs) in of_the_kernel {
        if differs {
            notes.push(format!(
                "`{key}` is not the same in all traffic groups and is a setting of hosts: they have the kernel's own"
            ));
        }
    }
    let established = plan.groups.iter().any(|group| {
        matches!(
            group.pattern,
            pathweave_traffic::Pattern::Incast { .. }
                | pathweave_traffic::Pattern::RequestResponse { .. }
        )
    });
    if established {
        notes.push("answers of jobs open connections of their own".to_owned());
    }
    if plan
        .groups
        .iter()
        .any(|group| group.pattern.keeps_connections())
    {
        notes.push("each transfer of a job opens a connection of its own".to_owned());
    }
    if !plan.record.packets.is_empty() {
        notes.push("packets are not captured on the testbed".to_owned());
    }
    if plan.record.suspensions {
        notes.push("suspensions of subflows are not recorded on the testbed".to_owned());
    }
    notes
}

/// The traffic groups of a plan that TCP plays.
pub fn over_tcp<'a>(plan: &'a Plan, quic: &QuicGroups) -> impl Iterator<Item = &'a GroupPlan> {
    plan.groups.iter().filter(|group| !quic.plays(&group.name))
}

/// Initial window of a group's subflows, in packets.
pub fn initial_window(group: &GroupPlan) -> f64 {
    group.transport.initial_window_of(group.subflows)
}

/// The value that all traffic groups over TCP have, or all groups where there are none; none when they differ.
pub fn shared<T: PartialEq>(
    plan: &Plan,
    quic: &QuicGroups,
    value: impl Fn(&GroupPlan) -> T,
) -> Option<T> {
    let is_any = over_tcp(plan, quic).next().is_some();
    let groups = plan.groups.iter();
    let mut values = groups
        .filter(|group| !is_any || !quic.plays(&group.name))
        .map(value);
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}
