//! Captures of the flows that the plan names.

use super::Recorder;
use crate::flows::flow::Flow;
use crate::flows::list::FlowList;
use crate::measurement::capture::{About, Capture, Recording};
use crate::regions::Regions;
use pathweave_network::Ports;
use pathweave_transport::Opening;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Recorder<'_> {
    /// A flow opens: its packets are captured from now on if the plan wants them.
    #[inline]
    pub fn begin_capture<P: Ports>(
        &self,
        number: u32,
        flow: &Flow,
        opening: &Opening,
        regions: &mut Regions<P>,
    ) {
        let (group, place) = (flow.group as usize, flow.tag);
        let mut wanted = self.plan.record.packets.iter();
        if wanted.any(|wanted| wanted.group == group && wanted.number == place) {
            self.capture(number, flow, opening, regions);
        }
    }

    #[cold]
    #[inline(never)]
    fn capture<P: Ports>(
        &self,
        number: u32,
        flow: &Flow,
        opening: &Opening,
        regions: &mut Regions<P>,
    ) {
        let fabric = &self.plan.fabric;
        let about = About {
            flow: number,
            source: flow.source,
            destination: flow.destination,
            host: &fabric.node(fabric.hosts[flow.source as usize]).name,
            subflows: flow.subflows,
            config: Arc::clone(&opening.config),
            scheme: opening.scheme,
            ecn_echo: opening.ecn_echo,
        };
        let region = regions.of_host(flow.source);
        let captures = &mut regions[region].recorder.captures;
        captures.insert(number, Recording::new(about));
    }

    /// The captures, in the plan's order, and remarks on those that the plan wants in vain.
    pub fn captures<P: Ports>(
        &self,
        flows: &FlowList,
        regions: &mut Regions<P>,
    ) -> (Vec<Capture>, Vec<String>) {
        let mut recordings = BTreeMap::new();
        for region in regions.iter_mut() {
            recordings.append(&mut region.recorder.captures);
        }
        let (mut captures, mut notes) = (Vec::new(), Vec::new());
        for wanted in &self.plan.record.packets {
            let is_it = |number: &u32| {
                let flow = &flows[*number as usize];
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
