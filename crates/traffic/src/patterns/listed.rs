//! Flows listed one by one.

use super::Running;
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, Size, TrafficError};
use pathweave_units::Time;

/// One flow of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedFlow {
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// How much it sends; `None` draws from the group's size.
    pub size: Option<Size>,
    /// When it starts, counted from the start of the run.
    pub start: Time,
    /// When it stops sending, if ever.
    pub stop: Option<Time>,
}

/// Flows with given start times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The flows, in any order of time.
    pub flows: Vec<ListedFlow>,
}

impl Listed {
    pub(super) fn start(self, hosts: &Hosts) -> Result<Box<dyn Running>, TrafficError> {
        if self.flows.is_empty() {
            return Err(TrafficError("flows is empty; list at least one".to_owned()));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            hosts.check(&format!("flows[{index}].source"), flow.source)?;
            hosts.check(&format!("flows[{index}].destination"), flow.destination)?;
            let refuse = |text: String| Err(TrafficError(format!("flows[{index}] {text}")));
            if flow.source == flow.destination {
                return refuse(format!("sends from host {} to itself", flow.source));
            }
            if let Some(stop) = flow.stop.filter(|&stop| stop <= flow.start) {
                return refuse(format!(
                    "stops at {stop}, before it starts at {}",
                    flow.start
                ));
            }
            if let Some(Err(error)) = flow.size.as_ref().map(Size::check) {
                return refuse(format!("has an impossible size: {error}"));
            }
        }
        Ok(Box::new(self))
    }
}

impl Running for Listed {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        if event != Event::Begin || launcher.draining() {
            return;
        }
        // All at once: the starts lie in the future, and the list is as long as the scenario's.
        for (index, listed) in self.flows.iter().enumerate() {
            let size = launcher.draw_size(listed.size.as_ref());
            let at = launcher.put_off(listed.start.max(now));
            let flow = launcher.push(starts, listed.source, listed.destination, size, at);
            flow.stop = listed.stop;
            flow.listed = Some(index as u32);
        }
    }
}
