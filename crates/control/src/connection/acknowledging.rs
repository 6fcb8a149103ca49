//! Packets that arrive.

use super::path_record::{Batch, PathRecord};
use super::{Connection, PathId};
use crate::{Ack, Change, Feedback, Path, PathState, Paths, SubflowId};
use core::mem;
use pathweave_units::{Bytes, Time};

/// What an acknowledgement frame says beside which packets have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acknowledged {
    /// When it arrived.
    pub now: Time,
    /// The RTT sample it gave, if any. With or without the peer's delay is the transport's choice.
    pub rtt: Option<Time>,
    /// By how much the count of congestion-experienced marks has risen.
    pub ce: u32,
    /// What the latest packet's header said when it arrived at the peer, where switches take part.
    pub feedback: Feedback,
}

impl Connection {
    /// A packet that counts as in flight, sent at `sent`, has arrived. The controller hears of it when
    /// [`on_ack`](Connection::on_ack) ends the frame.
    #[inline]
    pub fn on_packet_acked(&mut self, id: PathId, bytes: Bytes, sent: Time) {
        let Some(r) = self.find(id) else { return };
        if sent < self.records[r].began {
            return;
        }
        if self.settle(r, bytes) {
            let batch = &mut self.records[r].acknowledged;
            batch.packets += 1;
            batch.bytes += bytes.get();
            batch.sent = batch.sent.max(sent);
        }
    }

    /// The packets of an acknowledgement frame have been told of: windows change now.
    ///
    /// Losses that the frame shows may be told of before it or after it.
    #[inline]
    pub fn on_ack(&mut self, id: PathId, acknowledged: &Acknowledged) {
        let Some(r) = self.find(id) else { return };
        let batch = mem::take(&mut self.records[r].acknowledged);
        let ce = if self.is_ecn_capable(id) {
            acknowledged.ce
        } else {
            0
        };
        if batch.packets == 0 && ce == 0 {
            return;
        }
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        if let Some(sample) = acknowledged.rtt {
            take_sample(path, record, sample);
        }
        let recovery = record.cut.is_some_and(|cut| batch.sent <= cut);
        path.in_recovery = recovery;
        let ack = Ack {
            now: acknowledged.now,
            packets: full_packets(&batch, path.packet),
            ce,
            rtt: acknowledged.rtt,
            recovery,
            window_limited: path.acked - u64::from(batch.packets) < record.filled,
            feedback: acknowledged.feedback,
        };
        match path.state {
            PathState::Opening => self.tell(r, Change::Opened),
            PathState::Failed if batch.packets > 0 => self.tell(r, Change::Recovered),
            _ => {}
        }
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_ack(&mut paths, SubflowId(r as u32), &ack);
        self.close_if_drained(r);
    }

    /// Marks on a path do not mean what they should: bleached, or not as many as were sent (RFC 9000, section 13.4.2). From
    /// now on its packets are not to be ECN-capable, and marks count for nothing, until it migrates.
    pub fn on_ecn_failed(&mut self, id: PathId) {
        if let Some(r) = self.find(id) {
            self.records[r].ecn_works = false;
        }
    }

    /// A packet is waited for no longer. Returns false where none is in flight: the transport has not told of it.
    #[inline]
    pub(super) fn settle(&mut self, r: usize, bytes: Bytes) -> bool {
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        if path.in_flight == 0 {
            return false;
        }
        path.in_flight -= 1;
        path.acked += 1;
        let left = record.bytes_in_flight.get().saturating_sub(bytes.get());
        record.bytes_in_flight = Bytes::new(left);
        true
    }
}

/// As how many packets a frame counts: small ones count together as the full packets that they would fill, so that many of them
/// do not open the window faster than their bytes would.
fn full_packets(batch: &Batch, packet: Bytes) -> u32 {
    let full = batch.bytes.div_ceil(packet.get());
    u32::try_from(full).map_or(batch.packets, |full| full.min(batch.packets))
}

/// RTT estimates as RFC 9002, section 5.3, has them.
fn take_sample(path: &mut Path, record: &mut PathRecord, sample: Time) {
    let sample = sample.max(Time::from_picos(1));
    path.latest_rtt = sample;
    path.minimum_rtt = path.minimum_rtt.min(sample);
    let (smoothed, latest) = (path.smoothed_rtt.as_picos(), sample.as_picos());
    if smoothed == 0 {
        path.smoothed_rtt = sample;
        record.rtt_variation = Time::from_picos(latest / 2);
        return;
    }
    let variation = record.rtt_variation.as_picos();
    let weighted = |old: u64, new: u64, share: u64| old - old / share + new / share;
    record.rtt_variation = Time::from_picos(weighted(variation, smoothed.abs_diff(latest), 4));
    path.smoothed_rtt = Time::from_picos(weighted(smoothed, latest, 8).max(1));
}
