//! What is known of a simulation that is over.

use super::Simulation;
use crate::build;
use crate::outcome::Verdict;
use crate::record::{Buffer, Record, Switches};
use pathweave_network::{LinkStatistics, Ports, SharedBuffer};

impl<'p, P: Ports> Simulation<'p, P> {
    /// The run is over: hands over all that results are made from.
    pub(super) fn record(mut self, verdict: Verdict) -> Record<'p> {
        let now = self.regions.now();
        let flows = &self.workload.flows;
        let (mut subflows, totals, waits) = self.recorder.rows(flows.len() as u32);
        let paths = self.flows.take_paths(&mut subflows.path);
        let (captures, capture_notes) = self.recorder.captures(flows, &mut self.regions);
        let switches = self.switches();
        let links = 0..self.regions.links();
        let links: Vec<LinkStatistics> = links
            .map(|link| self.regions.network_of(link).statistics(link, now))
            .collect();
        let (windows, series, recoveries) = self.recorder.into_parts();
        Record {
            plan: self.plan,
            verdict,
            ended: now,
            traffic: self.workload.over(),
            subflows,
            totals,
            waits: Some(waits),
            sender_limits: None,
            paths,
            windows,
            series: Some(series),
            recoveries,
            packet_hops: links.iter().map(|link| link.delivered).sum(),
            links,
            switches,
            captures,
            capture_notes,
        }
    }

    /// What switches kept and did.
    fn switches(&mut self) -> Switches {
        let agents = build::explicit(self.plan).map(|(scheme, _)| {
            let links = 0..self.regions.links();
            let statistics = links.map(|link| {
                let network = &mut self.regions.of_link_mut(link).network;
                network.agent_statistics(link, self.handled_before)
            });
            (scheme, statistics.collect())
        });
        let buffers = self.plan.shared_buffer.map(|_| {
            // A switch's memory is in the region that has the switch.
            let memory = |node| -> Option<&SharedBuffer> {
                let mut regions = self.regions.iter();
                regions.find_map(|region| region.network.shared_buffer(node))
            };
            let nodes = 0..self.plan.fabric.nodes.len() as u32;
            nodes
                .filter_map(|node| Some(Buffer::of(node, memory(node)?)))
                .collect()
        });
        let fmp = self.regions.first().network.fmp().map(|fmp| {
            let switches = 0..fmp.switches();
            switches
                .map(|switch| (fmp.node(switch), fmp.statistics(switch)))
                .collect()
        });
        Switches {
            agents,
            buffers,
            fmp,
        }
    }
}
