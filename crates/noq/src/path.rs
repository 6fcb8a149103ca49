//! noq's controller of one path: tells the connection that all paths share.

use crate::shared::{Shared, time};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use pathweave_control::{Acknowledged, Ecn, PathId};
use pathweave_units::Bytes;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The controller of one path.
///
/// noq clones it when the peer's port changes and drops it with the path: the clone is the same path, and the path is closed
/// when the last of them is gone.
#[derive(Clone, Debug)]
pub struct CoupledPath {
    pub(crate) seat: Arc<Seat>,
    /// When the latest of the packets was sent that are being acknowledged.
    latest: Option<Instant>,
}

impl CoupledPath {
    pub(crate) fn new(seat: Seat) -> CoupledPath {
        CoupledPath {
            seat: Arc::new(seat),
            latest: None,
        }
    }

    /// Its number: how many paths the connection had before it.
    pub fn id(&self) -> PathId {
        self.seat.id
    }
}

impl Controller for CoupledPath {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _: u64) {
        let shared = &self.seat.shared;
        let (now, bytes) = (shared.at(now), Bytes::new(bytes.into()));
        shared
            .lock()
            .connection
            .on_packet_sent(self.seat.id, bytes, now);
    }

    fn on_cwnd_limited(&mut self) {
        // A path that the controller has suspended does not use its window.
        let mut state = self.seat.shared.lock();
        if !state.connection.is_suspended(self.seat.id) {
            state.connection.on_window_limited(self.seat.id);
        }
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: u64, _: bool, _: &RttEstimator) {
        let shared = &self.seat.shared;
        self.latest = self.latest.max(Some(sent));
        let sent = shared.at(sent);
        shared
            .lock()
            .connection
            .on_packet_acked(self.seat.id, Bytes::new(bytes), sent);
    }

    fn on_end_acks(&mut self, now: Instant, _: u64, _: bool, _: Option<u64>) {
        // An acknowledgement of nothing that counts says nothing.
        let Some(sent) = self.latest.take() else {
            return;
        };
        let shared = &self.seat.shared;
        let acknowledged = Acknowledged {
            now: shared.at(now),
            rtt: Some(time(now.saturating_duration_since(sent))),
            ..Acknowledged::default()
        };
        let mut state = shared.lock();
        state.connection.on_ack(self.seat.id, &acknowledged);
        // A path counts from its first acknowledgement on, and one that had failed counts again.
        state.let_backups_stand_by();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        _: u64,
        _: u64,
    ) {
        let shared = &self.seat.shared;
        let (now, sent) = (shared.at(now), shared.at(sent));
        let connection = &mut shared.lock().connection;
        if ecn && shared.ecn != Ecn::Off {
            // noq says that there were marks, not how many.
            let acknowledged = Acknowledged {
                now,
                ce: 1,
                ..Acknowledged::default()
            };
            connection.on_ack(self.seat.id, &acknowledged);
        } else {
            // noq's packets are always ECN-capable; to a controller without an answer to marks they are losses (RFC 9002,
            // section 7.1).
            connection.on_loss(self.seat.id, sent, persistent, now);
        }
    }

    fn on_packet_lost(&mut self, bytes: u16, _: u64, _: Instant) {
        let mut state = self.seat.shared.lock();
        state
            .connection
            .on_packet_gone(self.seat.id, Bytes::new(bytes.into()));
    }

    fn on_spurious_congestion_event(&mut self) {
        let mut state = self.seat.shared.lock();
        state.connection.on_spurious_loss(self.seat.id);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        let mut state = self.seat.shared.lock();
        state
            .connection
            .set_packet_size(self.seat.id, Bytes::new(mtu.into()));
    }

    /// A byte for a path that the controller has suspended: noq then sends no new data on it, and probes go on.
    fn window(&self) -> u64 {
        let state = self.seat.shared.lock();
        if state.connection.is_suspended(self.seat.id) {
            return 1;
        }
        state.connection.window(self.seat.id).map_or(1, Bytes::get)
    }

    fn metrics(&self) -> ControllerMetrics {
        let state = self.seat.shared.lock();
        let (connection, id) = (&state.connection, self.seat.id);
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = connection.window(id).map_or(1, Bytes::get).max(1);
        metrics.ssthresh = connection.ssthresh(id).map(Bytes::get);
        // Without a rate of the controller's own, noq paces by the window.
        let rate = connection.path(id).and_then(|path| path.pacing_rate);
        metrics.pacing_rate = rate.map(|rate| rate.as_bps() / 8);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Shared {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let id = self.open(Bytes::new(mtu.into()), now);
        Box::new(CoupledPath::new(Seat { shared: self, id }))
    }
}

/// A path's place in its connection; it is free when nobody has the path any more.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: PathId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.lock().close(self.id);
    }
}
