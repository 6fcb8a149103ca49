//! Packets that are small for their headers, or for their links.

use super::Warning;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::Rate;

/// Headers and ACKs may take this share of the wire before goodput and load say little about what links carry.
const MOST_HEADERS: f64 = 0.2;
/// More packets a second than this no host handles at one port; with 1500 B that is 120 Gbps.
const MOST_PER_SECOND: f64 = 10e6;
/// What Ethernet's jumbo frames hold.
const JUMBO: u16 = 9000;

pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let fastest = plan.host_rates().into_iter().max().unwrap_or(Rate::ZERO);
    let mut found = Vec::new();
    for group in &plan.groups {
        found.extend(headers(group));
        if let Some(warning) = rate(group, fastest)
            && !found.contains(&warning)
        {
            found.push(warning);
        }
    }
    found
}

fn headers(group: &GroupPlan) -> Option<Warning> {
    let transport = &group.transport;
    let share = 1.0 - 1.0 / transport.wire_per_payload();
    let (key, wider) = match transport.packets {
        Some(_) => (format!("traffic.{}.packets", group.name), "larger packets"),
        None => (
            "transport.data_packet".to_owned(),
            "data_packet = \"1500 B\" with a maximum_segment to match",
        ),
    };
    (share > MOST_HEADERS).then(|| Warning {
        key,
        text: format!(
            "headers and ACKs are {:.0} % of what \"{}\" puts on the wire, in packets of {:.0} B: goodput and loads, which count \
             payload, leave that out",
            100.0 * share,
            group.name,
            transport.mean_packet()
        ),
        advice: format!("{wider}, or load_counts = \"wire\" where a load is given"),
    })
}

/// Hosts that send bundles still receive, and switches still forward, single packets.
fn rate(group: &GroupPlan, fastest: Rate) -> Option<Warning> {
    let transport = &group.transport;
    let packet = transport.mean_packet();
    let per_second = fastest.as_bps() as f64 / (8.0 * packet);
    if per_second <= MOST_PER_SECOND {
        return None;
    }
    let (key, advice) = if transport.packets.is_some() {
        (
            format!("traffic.{}.packets", group.name),
            "larger packets, or results of idealised hosts".to_owned(),
        )
    } else if transport.data_packet < JUMBO {
        let segment = JUMBO - transport.overhead();
        (
            "transport.data_packet".to_owned(),
            format!(
                "data_packet = \"{JUMBO} B\" and maximum_segment = \"{segment} B\", or call the hosts idealised"
            ),
        )
    } else {
        (
            "transport.data_packet".to_owned(),
            "a lower rate of hosts, or call the hosts idealised".to_owned(),
        )
    };
    Some(Warning {
        key,
        text: format!(
            "a host at {fastest} with packets of {packet:.0} B handles {:.0} million of them a second, more than real ones do",
            per_second / 1e6
        ),
        advice,
    })
}
