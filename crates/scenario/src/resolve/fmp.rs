//! Checks that ports can have the prices that switches route by.

use super::Problems;
use pathweave_fabric::routing::{FmpPrice, RoutingKind};
use pathweave_fabric::{Fabric, LinkId};
use pathweave_network::{Limit, Marking, QueueConfig};

/// Refuses prices that the queues between switches would keep at zero.
pub(super) fn check_price(
    routing: &RoutingKind,
    fabric: &Fabric,
    queues: &[QueueConfig],
    problems: &mut Problems<'_>,
) {
    let RoutingKind::Fmp(config) = routing else {
        return;
    };
    let is_host = |node| fabric.node(node).host_index().is_some();
    let links = (0u32..).map(LinkId).zip(&fabric.links).zip(queues);
    let mut between = links
        .filter(|((_, link), _)| !is_host(link.from) && !is_host(link.to))
        .map(|((number, _), queue)| (number, queue));
    let text = match config.price {
        FmpPrice::Occupancy | FmpPrice::Utilisation => None,
        FmpPrice::AveragedOccupancy => between
            .find(|(_, queue)| !matches!(queue.limit, Limit::Packets(_)))
            .map(|(link, queue)| {
                let has = match queue.limit {
                    Limit::Bytes(bytes) => format!("a limit of {bytes}"),
                    Limit::Packets(_) | Limit::None => "no limit".to_owned(),
                };
                format!(
                    "the mean queue is counted in packets, and link {} has {has}; give the queues between switches limits in packets, or another price",
                    fabric.link_name(link)
                )
            }),
        FmpPrice::Marks => {
            let is_silent = |(_, queue): (LinkId, &QueueConfig)| queue.marking == Marking::None;
            let has_any = between.clone().next().is_some();
            (has_any && between.all(is_silent)).then(|| {
                "no queue between switches marks packets, so every price would be zero; give them a mark, or another price".to_owned()
            })
        }
    };
    if let Some(text) = text {
        problems.wrong(&["routing", "price"], text);
    }
}
