//! What a path may send.

use super::{Connection, PathId, silence};
use crate::{Ecn, Feedback, Path, PathState, Paths, SubflowId};
use pathweave_units::{Bytes, Rate, Time};

/// What a path sends in an RTT, in windows, where the controller sets no rate (RFC 9002, section 7.7).
const WINDOWS_PER_RTT: f64 = 1.25;
/// The same in slow start, whose windows double in an RTT.
const WINDOWS_PER_RTT_IN_SLOW_START: f64 = 2.0;

impl Connection {
    /// Bytes that a path may have in flight.
    #[inline]
    pub fn window(&self, id: PathId) -> Option<Bytes> {
        self.path(id).map(window)
    }

    /// Bytes at which slow start ends; none before anything was lost.
    pub fn ssthresh(&self, id: PathId) -> Option<Bytes> {
        let path = self.path(id)?;
        let bytes = path.ssthresh * path.packet.get() as f64;
        bytes.is_finite().then(|| Bytes::new(bytes as u64))
    }

    /// Bytes that a path has in flight.
    pub fn in_flight(&self, id: PathId) -> Option<Bytes> {
        self.find(id).map(|r| self.records[r].bytes_in_flight)
    }

    /// Whether a path may take new data: it is neither failed nor abandoned nor closed, the controller has not suspended it,
    /// and a full packet fits into the window. A path on standby may; whether it has to is the transport's to know.
    pub fn may_send(&self, id: PathId) -> bool {
        let Some(r) = self.find(id) else { return false };
        let path = &self.paths[r];
        let open = matches!(
            path.state,
            PathState::Opening | PathState::Active | PathState::Standby
        );
        let after = self.records[r].bytes_in_flight.get() + path.packet.get();
        open && path.may_send && after <= window(path).get()
    }

    /// Whether the controller has suspended a path: no new data, what is in flight goes on.
    pub fn is_suspended(&self, id: PathId) -> bool {
        self.path(id).is_some_and(|path| !path.may_send)
    }

    /// The rate at which packets of a path leave at most: the controller's, else 1.25 windows an RTT, and 2 in slow start. None
    /// before the first RTT sample.
    pub fn pacing_rate(&self, id: PathId) -> Option<Rate> {
        let path = self.path(id)?;
        path.pacing_rate.or_else(|| default_rate(path))
    }

    /// Whether packets of a path are to be ECN-capable: the controller wants marks, and the path has not failed validation.
    pub fn is_ecn_capable(&self, id: PathId) -> bool {
        let works = |r: usize| self.records[r].ecn_works;
        self.ecn != Ecn::Off && self.find(id).is_some_and(works)
    }

    /// What the header of the next packet is to say, for a controller whose scheme switches take part in. Asked before
    /// [`on_packet_sent`](Connection::on_packet_sent).
    pub fn header(&mut self, id: PathId, now: Time) -> Feedback {
        self.find(id).map_or(Feedback::None, |r| {
            let paths = Paths::new(&mut self.paths);
            self.controller.on_send(&paths, SubflowId(r as u32), now)
        })
    }

    /// A packet that counts as in flight was sent. One that only acknowledges is none.
    #[inline]
    pub fn on_packet_sent(&mut self, id: PathId, bytes: Bytes, now: Time) {
        let Some(r) = self.find(id) else { return };
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        if path.in_flight == 0 && self.start.after_idle && path.has_rtt() {
            let silent = record.last_sent.map(|last| now.saturating_sub(last));
            if silent.is_some_and(|silent| silent > silence(path, record.rtt_variation)) {
                path.window = path.window.min(self.start.window(path.packet));
                record.before_loss = None;
            }
        }
        path.sent += 1;
        path.in_flight += 1;
        record.last_sent = Some(now);
        record.bytes_in_flight = Bytes::new(record.bytes_in_flight.get() + bytes.get());
        if record.bytes_in_flight.get() + path.packet.get() > window(path).get() {
            record.filled = path.sent;
        }
    }

    /// The window, or pacing, has kept a path from sending: it is used, and may grow. A full window is noticed without this.
    pub fn on_window_limited(&mut self, id: PathId) {
        if let Some(r) = self.find(id) {
            self.records[r].filled = self.paths[r].sent;
        }
    }
}

/// The window in bytes.
#[inline]
fn window(path: &Path) -> Bytes {
    Bytes::new((path.window * path.packet.get() as f64) as u64)
}

fn default_rate(path: &Path) -> Option<Rate> {
    let windows = if path.in_slow_start() {
        WINDOWS_PER_RTT_IN_SLOW_START
    } else {
        WINDOWS_PER_RTT
    };
    let bits = 8.0 * path.packet.get() as f64 * windows * path.window;
    path.has_rtt()
        .then(|| Rate::from_bps((bits / path.rtt_seconds()) as u64))
}
