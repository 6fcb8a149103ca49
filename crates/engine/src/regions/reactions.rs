//! How long the run takes to hear what hosts do.

use crate::build;
use pathweave_scenario::{Change, Plan};
use pathweave_units::{Bytes, Rate, Time};

/// How long the run takes to hear what hosts do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reactions {
    /// Traffic, of a flow that has ended or stopped: as long as the shortest packet of the plan's transports takes on
    /// its fastest link. News cannot come faster, whatever carried it.
    pub to_flows: Time,
    /// The run, of a subflow that has failed: as long as the longest link delays a packet, and no less than
    /// traffic takes.
    pub to_failures: Time,
}

impl Reactions {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> Reactions {
        let to_flows = shortest_transmission(plan);
        let longest_delay = plan.fabric.links.iter().map(|link| link.delay).max();
        Reactions {
            to_flows,
            to_failures: to_flows.max(longest_delay.unwrap_or(Time::ZERO)),
        }
    }
}

/// The time of the shortest packet on the fastest link.
fn shortest_transmission(plan: &Plan) -> Time {
    let header = build::explicit(plan).map_or(0, |(scheme, _)| scheme.header_bytes());
    let sizes = plan.groups.iter().map(|group| {
        let config = &group.transport;
        // A packet carries a byte at least.
        config.ack_packet.min(config.overhead() + header + 1)
    });
    let shortest = Bytes::new(u64::from(sizes.min().unwrap_or(1)));
    let links = plan.fabric.links.iter().map(|link| link.rate);
    let changed = plan.events.iter().filter_map(|event| match event.change {
        Change::Rate(rate) => Some(rate),
        Change::Up | Change::Down | Change::Loss(_) => None,
    });
    let fastest = links.chain(changed).max().unwrap_or(Rate::ZERO);
    if fastest == Rate::ZERO {
        return Time::from_picos(1);
    }
    fastest.time_for(shortest).max(Time::from_picos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(rest: &str) -> Plan {
        let text = format!(
            r#"
            [fabric]
            kind = "dumbbell"
            left = 1
            bottleneck_rate = "10 Gbps"
            bottleneck_delay = "1 ms"
            host_rate = "1 Gbps"
            [[traffic]]
            name = "flow"
            pattern = "flows"
            controller = "reno"
            size = "1 MB"
            flows = [{{ from = "S1", to = "D1" }}]
            {rest}
            "#
        );
        let scenario = pathweave_scenario::check(&text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        scenario.variants()[0].plan(1)
    }

    #[test]
    fn the_reaction_time_is_that_of_the_shortest_packet_on_the_fastest_link() {
        let time = |rest: &str| {
            let plan = plan(rest);
            let shortest = plan.groups.iter().map(|group| group.transport.ack_packet);
            (
                Reactions::new(&plan).to_flows.as_picos(),
                u64::from(shortest.min().expect("a group")),
            )
        };
        let (picos, ack) = time("");
        // 100 ps a bit.
        assert_eq!(picos, ack * 8 * 100);
        let (picos, _) = time("[transport]\nack_packet = \"40 B\"");
        assert_eq!(picos, 40 * 8 * 100);
        let faster = "[[events]]\nat = \"1 ms\"\nlink = \"A-B\"\nrate = \"40 Gbps\"";
        let (picos, ack) = time(faster);
        assert_eq!(picos, ack * 8 * 25);
    }
}
