//! A subflow of a flow over QUIC: the paths that it has had, and what they have counted.

use noq_proto::{Connection, FourTuple, PathError, PathId, PathStats, PathStatus};
use pathweave_engine::live::SubflowView;
use pathweave_noq::PathHandle;
use pathweave_units::Time;
use std::time::{Duration, Instant};

/// A path for which the peer has not yet given identifiers is tried again after this time.
const PERMISSION: Duration = Duration::from_millis(2);

/// One subflow at the sender.
pub struct Subflow {
    /// Its addresses.
    network: FourTuple,
    /// When it may open.
    opens: Instant,
    path: Option<PathId>,
    stage: Stage,
    /// A path with the same addresses, which takes over once something comes on it.
    spare: Option<PathId>,
    opened: Option<Instant>,
    /// When its paths are pinged next.
    ping: Instant,
    /// The paths that noq still keeps.
    kept: Vec<Kept>,
    /// What paths that are gone have counted.
    before: Counts,
    window: f64,
    ssthresh: f64,
    rtt: Option<Duration>,
    /// Bytes that were read for the first time at the far end.
    pub received: u64,
    /// Packets that came marked to the far end.
    pub marks: u64,
}

/// How far a subflow's path is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// noq establishes it.
    Opening,
    /// It was a spare, and takes data once something has come on it.
    Awaited,
    Open,
}

/// A path of noq's, which goes on counting after it was given up.
struct Kept {
    id: PathId,
    counts: Counts,
    /// What had been lost when it was given up, if it was.
    given_up: Option<u64>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    lost_packets: u64,
    lost_bytes: u64,
    /// Of the lost packets, those that were in flight when the path was given up.
    in_flight: u64,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            lost_packets: self.lost_packets + other.lost_packets,
            lost_bytes: self.lost_bytes + other.lost_bytes,
            in_flight: self.in_flight + other.in_flight,
        }
    }
}

impl Kept {
    fn new(id: PathId) -> Kept {
        Kept {
            id,
            counts: Counts::default(),
            given_up: None,
        }
    }

    fn count(&mut self, stats: &PathStats) {
        self.counts = Counts {
            packets: stats.sent_packets,
            bytes: stats.sent_bytes,
            lost_packets: stats.lost_packets,
            lost_bytes: stats.lost_bytes,
            in_flight: (self.given_up)
                .map_or(0, |before| stats.lost_packets.saturating_sub(before)),
        };
    }
}

impl Subflow {
    /// A subflow that may open at a moment between these addresses.
    pub fn new(network: FourTuple, opens: Instant) -> Subflow {
        Subflow {
            network,
            opens,
            path: None,
            stage: Stage::Opening,
            spare: None,
            opened: None,
            ping: opens,
            kept: Vec::new(),
            before: Counts::default(),
            window: 0.0,
            ssthresh: f64::INFINITY,
            rtt: None,
            received: 0,
            marks: 0,
        }
    }

    /// The connection's first path is its own.
    pub fn begin(&mut self) {
        self.take(PathId::ZERO);
    }

    /// The path that it has.
    pub fn path(&self) -> Option<PathId> {
        self.path
    }

    /// When it is to be called again.
    pub fn next_due(&self) -> Instant {
        match self.path {
            None => self.opens,
            Some(_) => self.ping,
        }
    }

    fn take(&mut self, id: PathId) {
        self.path = Some(id);
        self.stage = Stage::Opening;
        self.kept.push(Kept::new(id));
    }

    /// A path has been established.
    pub fn on_established(&mut self, id: PathId, now: Instant) {
        if self.path == Some(id) {
            self.opened.get_or_insert(now);
            self.stage = match self.stage {
                Stage::Opening => Stage::Open,
                later => later,
            };
        }
    }

    /// noq has given up a path. Without a spare the subflow is tried again after `again`.
    pub fn on_abandoned(&mut self, id: PathId, connection: &mut Connection, again: Instant) {
        let Some(kept) = self.kept.iter_mut().find(|kept| kept.id == id) else {
            return;
        };
        if let Some(path) = handle(connection, id) {
            path.abandon();
        }
        let stats = connection.path_stats(id);
        kept.given_up = Some(stats.map_or(kept.counts.lost_packets, |stats| stats.lost_packets));
        if self.spare == Some(id) {
            self.spare = None;
        }
        if self.path == Some(id) {
            self.path = self.spare.take();
            self.stage = Stage::Awaited;
            self.opens = again;
            self.window = 0.0;
        }
    }

    /// noq has dropped a path, which counted this until then.
    pub fn on_discarded(&mut self, id: PathId, stats: &PathStats) {
        if let Some(place) = self.kept.iter().position(|kept| kept.id == id) {
            let mut kept = self.kept.swap_remove(place);
            kept.count(stats);
            self.before = self.before.plus(kept.counts);
        }
    }

    /// Opens its path when its time has come, and pings it every so often. `is_silent` says that nothing has come on any path
    /// for a while.
    ///
    /// # Errors
    /// When noq does not open it, and will not.
    pub fn keep(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        every: Duration,
        is_silent: bool,
    ) -> Result<(), PathError> {
        let Some(path) = self.path else {
            if self.opens > now {
                return Ok(());
            }
            match connection.open_path(self.network, PathStatus::Available, now) {
                Ok(id) => {
                    self.take(id);
                    self.ping = now + every;
                }
                Err(error) if is_for_now(&error) => self.opens = now + PERMISSION,
                Err(error) => return Err(error),
            }
            return Ok(());
        };
        if self.ping <= now {
            if is_silent && self.stage == Stage::Open && self.spare.is_none() {
                self.open_spare(connection, now)?;
            }
            for id in self.spare.into_iter().chain([path]) {
                // One that is being given up is not there to be pinged.
                let _ = connection.ping_path(id);
            }
            self.ping = now + every;
        }
        Ok(())
    }

    /// The far end may have given up the path and been unable to say so. A spare with the same addresses reaches it once they
    /// work again, and takes no data before that.
    fn open_spare(&mut self, connection: &mut Connection, now: Instant) -> Result<(), PathError> {
        match connection.open_path(self.network, PathStatus::Backup, now) {
            Ok(id) => {
                set_status(connection, id, PathStatus::Backup);
                self.kept.push(Kept::new(id));
                self.spare = Some(id);
                Ok(())
            }
            Err(error) if is_for_now(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Something has come for the connection. A path that was a spare takes data once something has come on it. The path
    /// that it replaces gets no new data and no pings, so that the far end gives it up if it has not yet: it may work, but its
    /// window is full of what was lost, which noq finds out with its next probe only, seconds later.
    pub fn listen(&mut self, connection: &mut Connection) {
        if let Some(path) = self.path
            && self.stage == Stage::Awaited
            && has_heard(connection, path)
        {
            self.stage = Stage::Open;
            set_status(connection, path, PathStatus::Available);
        }
        if let Some(spare) = self.spare
            && has_heard(connection, spare)
        {
            self.spare = None;
            set_status(connection, spare, PathStatus::Available);
            if let Some(before) = self.path.replace(spare) {
                set_status(connection, before, PathStatus::Backup);
            }
        }
    }

    /// Payload that has been handed to the network and not been lost, in bytes with their frames.
    pub fn sent(&self) -> u64 {
        let counts = self.counts();
        counts.bytes.saturating_sub(counts.lost_bytes)
    }

    fn counts(&self) -> Counts {
        let kept = self.kept.iter().map(|kept| kept.counts);
        kept.fold(self.before, Counts::plus)
    }

    /// Takes over noq's counters. `payload` are the bytes of a full packet.
    pub fn look(&mut self, connection: &mut Connection, payload: f64) {
        for kept in &mut self.kept {
            if let Some(stats) = connection.path_stats(kept.id) {
                kept.count(&stats);
            }
        }
        if let Some(id) = self.path
            && let Some(stats) = connection.path_stats(id)
        {
            self.window = stats.cwnd as f64 / payload;
            self.rtt = self.opened.map(|_| stats.rtt);
            let state = connection.congestion_state(id);
            let ssthresh = state.and_then(|state| state.metrics().ssthresh);
            self.ssthresh = ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64 / payload);
        }
    }

    /// What was seen when it was looked at last. `plan_time` makes the plan's time of one of the machine's moments, and
    /// `plan_duration` that of a duration.
    pub fn view(
        &self,
        plan_time: impl Fn(Instant) -> Time,
        plan_duration: impl Fn(Duration) -> Time,
    ) -> SubflowView {
        let counts = self.counts();
        SubflowView {
            opened: self.opened.map(plan_time),
            received: self.received,
            sent_packets: counts.packets,
            retransmits: counts.lost_packets.saturating_sub(counts.in_flight),
            reinjected: counts.in_flight,
            timeouts: 0, // noq does not tell of probe timeouts
            marks: self.marks,
            window: self.window,
            ssthresh: self.ssthresh,
            smoothed_rtt: self.rtt.map(plan_duration),
            limits: None, // noq does not tell
        }
    }
}

/// Whether noq may open a path later: the peer's permission is on its way.
fn is_for_now(error: &PathError) -> bool {
    matches!(
        error,
        PathError::RemoteCidsExhausted | PathError::MaxPathIdReached
    )
}

fn handle(connection: &Connection, id: PathId) -> Option<PathHandle> {
    PathHandle::of(connection.congestion_state(id)?)
}

/// Whether anything has come on a path.
fn has_heard(connection: &mut Connection, id: PathId) -> bool {
    let stats = connection.path_stats(id);
    stats.is_some_and(|stats| stats.udp_rx.datagrams > 0)
}

/// Gives a path this status in noq and in the coupling.
fn set_status(connection: &mut Connection, id: PathId, status: PathStatus) {
    // One that is being given up needs none.
    let _ = connection.set_path_status(id, status);
    if let Some(path) = handle(connection, id) {
        path.set_status(status);
    }
}
