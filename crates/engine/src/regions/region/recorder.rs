//! What a region records of its subflows.

use super::watching::WatchedFlow;
use crate::measurement::capture::Recording;
use crate::measurement::extent::{Course, Samples};
use crate::measurement::series::{RttRow, SuspensionRow, WindowRow};
use pathweave_scenario::{Record, Sampling};
use pathweave_transport::{ReceivingSubflow, SendingSubflow};
use pathweave_units::Time;
use std::collections::BTreeMap;

/// What is recorded of a subflow at its source.
#[derive(Clone, Debug)]
pub(crate) struct SendingRecord {
    /// The window last recorded.
    pub window: f64,
    /// The window since it was last recorded.
    pub course: Option<Course>,
    /// Acknowledgements that had given an RTT sample when one was last recorded; `None` before the first.
    pub rtts: Option<u64>,
    /// The RTT samples since one was last recorded.
    pub samples: Samples,
    /// Whether it was suspended when this was last checked.
    pub suspended: bool,
}

impl Default for SendingRecord {
    fn default() -> SendingRecord {
        SendingRecord {
            window: f64::NAN,
            course: None,
            rtts: None,
            samples: Samples::default(),
            suspended: false,
        }
    }
}

/// What is recorded when packets arrive.
pub(crate) struct RegionRecorder {
    pub windows: Option<Sampling>,
    pub rtts: Option<Sampling>,
    /// Whether suspensions of subflows are recorded.
    pub suspensions: bool,
    /// By the place of the sending half.
    sending: Vec<SendingRecord>,
    /// Payload that had arrived for the first time at the last sample of rates, by the place of the receiving half.
    received: Vec<f64>,
    /// Rows of windows and RTTs, where each change has one.
    pub window_rows: Vec<WindowRow>,
    pub rtt_rows: Vec<RttRow>,
    pub suspension_rows: Vec<SuspensionRow>,
    /// By the flow's number.
    pub captures: BTreeMap<u32, Recording>,
    /// The flow whose events are told.
    pub watched: Option<Box<WatchedFlow>>,
    /// Packets that arrive up to then may have begun to arrive before an interval ended.
    pub straddling_until: Option<Time>,
    /// Whether the plan wants something to be looked at whenever a packet arrives.
    records_packets: bool,
    /// Whether it is looked at now.
    pub watches_packets: bool,
}

impl RegionRecorder {
    /// For what a plan wants.
    pub fn new(record: &Record) -> RegionRecorder {
        let records_packets = record.windows.is_some()
            || record.rtts.is_some()
            || record.suspensions
            || !record.packets.is_empty()
            || record.events.is_some();
        RegionRecorder {
            windows: record.windows,
            rtts: record.rtts,
            suspensions: record.suspensions,
            sending: Vec::new(),
            received: Vec::new(),
            window_rows: Vec::new(),
            rtt_rows: Vec::new(),
            suspension_rows: Vec::new(),
            captures: BTreeMap::new(),
            watched: record.events.map(WatchedFlow::new),
            straddling_until: None,
            records_packets,
            watches_packets: records_packets,
        }
    }

    /// A subflow has begun.
    pub fn begin_sending(&mut self, subflow: SendingSubflow) {
        if self.windows.is_some() || self.rtts.is_some() || self.suspensions {
            *self.sending(subflow) = SendingRecord::default();
        }
    }

    /// A subflow has begun whose receiving half is here.
    pub fn begin_receiving(&mut self, subflow: ReceivingSubflow) {
        *self.received(subflow) = 0.0;
    }

    /// What is recorded of a subflow whose sending half is here.
    pub fn sending(&mut self, SendingSubflow(place): SendingSubflow) -> &mut SendingRecord {
        let place = place as usize;
        if self.sending.len() <= place {
            self.sending.resize_with(place + 1, SendingRecord::default);
        }
        &mut self.sending[place]
    }

    /// Payload that had arrived for the first time on a subflow at the last sample of rates.
    pub fn received(&mut self, ReceivingSubflow(place): ReceivingSubflow) -> &mut f64 {
        let place = place as usize;
        if self.received.len() <= place {
            self.received.resize(place + 1, 0.0);
        }
        &mut self.received[place]
    }

    /// Whether it matters what controllers do when timers expire.
    #[inline]
    pub fn follows_controllers(&self) -> bool {
        self.suspensions || self.watched.is_some()
    }

    /// Whether a packet that arrives now may have begun to arrive before an interval ended.
    pub fn may_straddle(&self, now: Time) -> bool {
        self.straddling_until.is_some_and(|until| now <= until)
    }

    /// Whether packets that arrive from now on are looked at.
    pub fn decide_what_to_watch(&mut self, recoveries_are_pending: bool, now: Time) {
        self.watches_packets =
            self.records_packets || recoveries_are_pending || self.may_straddle(now);
    }
}
