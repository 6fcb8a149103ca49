//! Captures of the flows that the plan names.

use super::Simulation;
use crate::capture::{About, Capture, Recording};
use pathweave_control::Scheme;
use pathweave_network::Ports;
use pathweave_transport::Config;
use std::collections::BTreeMap;
use std::sync::Arc;

impl<P: Ports> Simulation<'_, P> {
    /// A flow starts: its packets are captured from now on if the plan wants them.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_capture(
        &mut self,
        number: u32,
        config: &Arc<Config>,
        scheme: Option<Scheme>,
        ecn: bool,
    ) {
        let flow = &self.workload.flows[number as usize];
        let (group, place) = (flow.group as usize, flow.tag);
        let mut wanted = self.plan.record.packets.iter();
        if !wanted.any(|wanted| wanted.group == group && wanted.number == place) {
            return;
        }
        let fabric = &self.plan.fabric;
        let about = About {
            flow: number,
            source: flow.source,
            destination: flow.destination,
            host: &fabric.node(fabric.hosts[flow.source as usize]).name,
            subflows: flow.subflows,
            config: Arc::clone(config),
            header_bytes: scheme.map_or(0, Scheme::header_bytes),
            ecn,
        };
        let region = self.regions.of_host(flow.source);
        let captures = &mut self.regions[region].recorder.captures;
        captures.insert(number, Recording::new(about));
    }

    /// The captures, in the plan's order, and remarks on those that the plan wants in vain.
    pub(super) fn finish_captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        let mut recordings = BTreeMap::new();
        for region in self.regions.iter_mut() {
            recordings.append(&mut region.recorder.captures);
        }
        let (mut captures, mut notes) = (Vec::new(), Vec::new());
        for wanted in &self.plan.record.packets {
            let is_it = |number: &u32| {
                let flow = &self.workload.flows[*number as usize];
                flow.group as usize == wanted.group && flow.tag == wanted.number
            };
            let started = recordings.keys().copied().find(is_it);
            match started.and_then(|number| recordings.remove_entry(&number)) {
                Some((number, recording)) => {
                    captures.push(recording.finish(wanted.name.clone(), number));
                }
                None => {
                    let group = &self.plan.groups[wanted.group].name;
                    notes.push(format!(
                        "flow {} of group \"{group}\" never started: its packets were not captured",
                        wanted.number
                    ));
                }
            }
        }
        (captures, notes)
    }
}
