//! Captures of the flows that the plan names.

use super::Simulation;
use crate::capture::{About, Capture, Recording};
use pathweave_control::Scheme;
use pathweave_network::{Packet, Port};
use pathweave_transport::{Config, End, PacketShape, Segment};
use pathweave_units::Time;
use std::sync::Arc;

impl<P: Port> Simulation<'_, P> {
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
        self.captures.insert(number, Recording::new(about));
    }

    /// The source of a captured flow has handed a packet to its port.
    pub(super) fn capture_sent(&mut self, segment: &Segment, shape: PacketShape, now: Time) {
        let End::Receiving(destination) = segment.destination() else {
            return;
        };
        let (flow, subflow) = self.receiving.owner(destination);
        if let Some(recording) = self.captures.get_mut(&flow) {
            recording.sent(now, subflow, segment, shape);
        }
    }

    /// A packet has arrived at its host, which is a flow's source if it acknowledges something.
    pub(super) fn capture_arrival(&mut self, packet: &Packet<Segment, P::Label>, now: Time) {
        let Packet {
            header, segment, ..
        } = packet;
        let End::Sending(source) = segment.destination() else {
            return;
        };
        let (flow, subflow) = self.sending.owner(source);
        if let Some(recording) = self.captures.get_mut(&flow) {
            recording.arrived(now, subflow, segment, header);
        }
    }

    /// The captures, in the plan's order, and remarks on those that the plan wants in vain.
    pub(crate) fn finish_captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        let mut recordings = std::mem::take(&mut self.captures);
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
