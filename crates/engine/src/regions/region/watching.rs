//! The events of a flow that is watched.

use super::Region;
use crate::flows::events::{FlowEvent, SubflowNow};
use pathweave_network::Ports;
use pathweave_transport::SendingId;
use pathweave_units::Time;
use std::collections::BTreeMap;

/// A flow that is watched, and what was last seen of it.
#[derive(Debug)]
pub(crate) struct WatchedFlow {
    number: u32,
    /// By subflow.
    seen: BTreeMap<u32, SubflowNow>,
    /// What has happened since the run last asked.
    pub events: Vec<FlowEvent>,
}

impl WatchedFlow {
    /// The flow of this number.
    pub fn new(number: u32) -> Box<WatchedFlow> {
        Box::new(WatchedFlow {
            number,
            seen: BTreeMap::new(),
            events: Vec::new(),
        })
    }
}

impl<P: Ports> Region<P> {
    /// The controller of a connection may have acted: a packet has come, a timer has expired, or it starts or ends.
    #[inline]
    pub(super) fn controller_has_acted(&mut self, connection: SendingId, now: Time) {
        if self.recorder.suspensions {
            self.record_suspensions(connection, now);
        }
        if self.recorder.watched.is_some() {
            self.note_events(connection, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_events(&mut self, connection: SendingId, now: Time) {
        let Some(watched) = &mut self.recorder.watched else {
            return;
        };
        if self.sending.flow(connection) != watched.number {
            return;
        }
        for subflow in self.sending.subflows(connection) {
            let (_, number) = self.sending.owner(subflow);
            let is = SubflowNow::of(&self.sending.subflow(subflow));
            let was = watched.seen.insert(number, is.clone());
            if let Some(was) = was
                && was != is
            {
                watched.events.push(FlowEvent::new(now, number, was, is));
            }
        }
    }
}
