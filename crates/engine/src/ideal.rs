//! How long a flow would take if it were alone in the fabric.

use crate::flows::Flow;
use pathweave_fabric::ideal::ideal_fct_of_packets;
use pathweave_fabric::{LinkId, PacketSizes, ideal_fct};
use pathweave_scenario::Plan;
use pathweave_transport::PacketKey;
use pathweave_units::{Bytes, Time};

/// So many packets of different sizes are counted one by one; what is beyond them goes at their pace.
const COUNTED_PACKETS: f64 = 1e6;

/// The ideal completion time of a run's flow over these data paths, one a subflow; `None` for an
/// unlimited one.
#[inline(never)]
pub(crate) fn ideal(plan: &Plan, number: u32, flow: &Flow, paths: &[Vec<LinkId>]) -> Option<Time> {
    let size = flow.size?;
    let config = &plan.groups[flow.group as usize].transport;
    if config.packets.is_none() {
        let packets = PacketSizes {
            payload: u32::from(config.maximum_segment),
            header: u32::from(config.overhead()),
        };
        return Some(ideal_fct(&plan.fabric, paths, size, packets));
    }
    let counted = COUNTED_PACKETS * (config.mean_packet() - f64::from(config.overhead()));
    let counted = size.min(Bytes::new(counted as u64));
    let packets = config.packets_of(PacketKey::new(plan.seed, number), counted);
    let time = ideal_fct_of_packets(&plan.fabric, paths, packets);
    let whole = u128::from(time.as_picos()) * u128::from(size.get().max(1))
        / u128::from(counted.get().max(1));
    Some(Time::from_picos(u64::try_from(whole).unwrap_or(u64::MAX)))
}
