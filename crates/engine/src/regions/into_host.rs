//! How fast packets can come to a host.

use crate::build;
use pathweave_scenario::{Change, Plan};
use pathweave_units::{Bytes, Rate, Time};

/// The links into a host, taken together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntoHost {
    /// The sum of the highest rates that they ever have.
    rate: u64,
    /// What may be almost there without being counted: a packet on each link, and another for rounding.
    under_way: u64,
}

impl IntoHost {
    /// No less time passes until this many more bytes have come.
    pub fn shortest(&self, bytes: u64) -> Time {
        let to_come = bytes.saturating_sub(self.under_way);
        if self.rate == 0 {
            return Time::ZERO;
        }
        Rate::from_bps(self.rate).time_for(Bytes::new(to_come))
    }
}

/// The links into each of a plan's hosts.
pub(crate) fn into_hosts(plan: &Plan) -> Box<[IntoHost]> {
    let fabric = &plan.fabric;
    let packet = build::full_packet(plan).get();
    let mut rates: Vec<Rate> = fabric.links.iter().map(|link| link.rate).collect();
    for event in &plan.events {
        if let Change::Rate(rate) = event.change {
            let highest = &mut rates[event.link.0 as usize];
            *highest = rate.max(*highest);
        }
    }
    let none = IntoHost {
        rate: 0,
        under_way: 0,
    };
    let mut hosts = vec![none; fabric.hosts.len()];
    for (link, rate) in fabric.links.iter().zip(rates) {
        if let Some(host) = fabric.node(link.to).host_index() {
            let host = &mut hosts[host as usize];
            host.rate = host.rate.saturating_add(rate.as_bps());
            host.under_way += 2 * packet;
        }
    }
    hosts.into()
}
