//! What a controller sees of a connection's subflows, and writes back.

use crate::Ack;
use core::ops::{Index, IndexMut};
use pathweave_units::{Bytes, Rate, Time};

/// A subflow's number within its connection, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubflowId(pub u32);

/// Where a subflow's path is between opening and closing.
///
/// Only active paths are coupled: sums, minima and counts over a connection's subflows leave all
/// others out. [`Change`](crate::Change) tells a controller of each transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathState {
    /// Its handshake is not done.
    #[default]
    Opening,
    /// It carries data.
    Active,
    /// It is open and takes data only when no active path can. The simulator's transport has no such
    /// paths; those of multipath QUIC are this after PATH_STATUS_BACKUP.
    Standby,
    /// Retransmission timeouts in a row without progress: it takes no new data, and the transport
    /// probes it by sending the oldest packet again.
    Failed,
    /// It takes no new data and never will. What is in flight may still be acknowledged. The simulator's transport has no
    /// such paths; those of multipath QUIC are this after PATH_ABANDON.
    Abandoned,
    /// It carries nothing any more.
    Closed,
}

impl PathState {
    /// Whether the handshake is done and the path has not closed: packets may still be on it.
    #[inline]
    pub fn is_open(self) -> bool {
        matches!(
            self,
            PathState::Active | PathState::Standby | PathState::Failed | PathState::Abandoned
        )
    }
}

/// Packets in a window at most, of controllers in files: more is a mistake, which could fill the machine's memory.
pub const LARGEST_WINDOW: f64 = 1e9;

/// The congestion state of one subflow, shared by the transport and the controller.
///
/// The controller writes `window`, `ssthresh`, `pacing_rate` and `may_send`; the transport writes
/// everything else. What almost every acknowledgement reads and writes fills the first cache
/// line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Path {
    /// Congestion window in packets. The transport may send while `in_flight + 1 <= window`.
    pub window: f64,
    /// Slow start ends when the window reaches this many packets; infinite until something was lost.
    pub ssthresh: f64,
    /// RTT smoothed as RFC 6298 says; zero before the first sample.
    pub smoothed_rtt: Time,
    /// Smallest RTT sample; [`Time::MAX`] before the first.
    pub minimum_rtt: Time,
    /// Latest RTT sample; zero before the first.
    pub latest_rtt: Time,
    /// New packets sent so far: also the number that the next new packet will have.
    pub sent: u64,
    /// Packets acknowledged cumulatively so far: packets numbered below this have arrived.
    ///
    /// A transport that never sends a number again counts here the packets that it waits for no longer, because they were
    /// acknowledged, declared lost or discarded. So `sent - acked` packets are in flight in either case, and a round ends
    /// when as many packets as had been sent at its beginning, and the next one, are waited for no longer.
    pub acked: u64,
    /// Packets in the network as far as the sender knows.
    pub in_flight: u32,
    /// Whether the subflow is in fast recovery.
    pub in_recovery: bool,
    /// Whether acknowledgements that carry marks grow windows as others do. RFC 3168, section 6.1.2, forbids it; some
    /// published code does it. The transport sets it once.
    pub growth_by_marked_acks: bool,
    /// Where it is between opening and closing.
    pub state: PathState,
    /// Cleared by a controller that suspends the subflow: no new data, retransmissions go on.
    pub may_send: bool,
    /// The window's floor in congestion avoidance, in packets (1 after a timeout).
    pub minimum_window: f64,
    /// The response to a loss takes its share from this many packets at most: what was in flight if the transport
    /// says so (RFC 5681, section 3.1), else infinite. The transport sets it before each loss.
    pub loss_limit: f64,
    /// Packets of one acknowledgement that slow start counts at most (RFC 3465); [`u32::MAX`] for all. From a
    /// timeout until the recovery from it is over the transport lowers a limit to one. Congestion avoidance counts
    /// every packet.
    pub slow_start_limit: u32,
    /// Whether CUBIC uses HyStart and Linux's growth before the first loss. The transport sets it once.
    pub hystart: bool,
    /// Bytes on the wire of a full data packet.
    pub packet: Bytes,
    /// Rate at which packets leave at most; `None` sends as the window opens.
    pub pacing_rate: Option<Rate>,
}

const _: () = assert!(core::mem::offset_of!(Path, minimum_window) == 64);

impl Path {
    /// A subflow before its handshake.
    ///
    /// `initial_window` and `minimum_window` are in packets; an `initial_ssthresh` of infinity
    /// means "none".
    pub fn new(initial_window: f64, minimum_window: f64, initial_ssthresh: f64) -> Path {
        Path {
            window: initial_window,
            ssthresh: initial_ssthresh,
            minimum_window,
            smoothed_rtt: Time::ZERO,
            minimum_rtt: Time::MAX,
            latest_rtt: Time::ZERO,
            sent: 0,
            acked: 0,
            in_flight: 0,
            in_recovery: false,
            growth_by_marked_acks: false,
            loss_limit: f64::INFINITY,
            slow_start_limit: u32::MAX,
            hystart: false,
            packet: Bytes::new(1500),
            pacing_rate: None,
            state: PathState::Opening,
            may_send: true,
        }
    }

    /// Whether it carries data: it is open, has not failed and is not on standby.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.state == PathState::Active
    }

    /// Whether there has been an RTT sample.
    #[inline]
    pub fn has_rtt(&self) -> bool {
        self.smoothed_rtt > Time::ZERO
    }

    /// Whether this acknowledgement may grow the window where growth by marked ones is the transport's choice.
    #[inline]
    pub fn may_grow_by(&self, ack: &Ack) -> bool {
        (ack.ce == 0 || self.growth_by_marked_acks) && ack.lets_window_grow()
    }

    /// tau_r: the smoothed RTT in seconds; zero before the first sample.
    #[inline]
    pub fn rtt_seconds(&self) -> f64 {
        self.smoothed_rtt.as_secs_f64()
    }

    /// x_r = w_r / tau_r, in packets per second; zero before the first RTT sample.
    #[inline]
    pub fn packets_per_second(&self) -> f64 {
        if self.has_rtt() {
            self.window / self.rtt_seconds()
        } else {
            0.0
        }
    }

    /// Whether the window is below ssthresh.
    ///
    /// At ssthresh RFC 5681 allows either phase. It has to be congestion avoidance here: a cut leaves
    /// the window at ssthresh, and one packet of slow start after every cut would be as much as the
    /// round's whole increase.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }
}

/// All subflows of a connection, by number.
pub struct Paths<'a> {
    paths: &'a mut [Path],
    /// A bit for each subflow that may have been changed; the last is of all from the 64th on.
    changed: u64,
}

impl<'a> Paths<'a> {
    /// Lends a connection's paths to a controller.
    #[inline]
    pub fn new(paths: &'a mut [Path]) -> Paths<'a> {
        Paths { paths, changed: 0 }
    }

    /// Number of subflows that have ever opened or are opening.
    #[inline]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether any other subflow than this may have been changed.
    #[inline]
    pub fn changed_beyond(&self, r: SubflowId) -> bool {
        r.0 >= 63 || self.changed & !(1 << r.0) != 0
    }

    /// Whether there is no subflow at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// All subflows, in the order of their numbers.
    #[inline]
    pub fn iter(&self) -> core::slice::Iter<'_, Path> {
        self.paths.iter()
    }

    /// The subflows that are coupled: open, not failed and not on standby.
    #[inline]
    pub fn active(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().filter(|path| path.is_active())
    }

    /// Of these, the subflows that may take new data: a controller has not suspended them.
    #[inline]
    pub fn sending(&self) -> impl Iterator<Item = &Path> {
        self.active().filter(|path| path.may_send)
    }
}

impl Index<SubflowId> for Paths<'_> {
    type Output = Path;
    #[inline]
    fn index(&self, r: SubflowId) -> &Path {
        &self.paths[r.0 as usize]
    }
}

impl IndexMut<SubflowId> for Paths<'_> {
    #[inline]
    fn index_mut(&mut self, r: SubflowId) -> &mut Path {
        self.changed |= 1 << r.0.min(63);
        &mut self.paths[r.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, PathState, Paths, SubflowId};
    use pathweave_units::Time;

    #[test]
    fn a_path_is_open_from_its_handshake_until_it_closes() {
        let states = [
            (PathState::Opening, false, false),
            (PathState::Active, true, true),
            (PathState::Standby, true, false),
            (PathState::Failed, true, false),
            (PathState::Abandoned, true, false),
            (PathState::Closed, false, false),
        ];
        for (state, open, active) in states {
            let mut path = Path::new(10.0, 2.0, f64::INFINITY);
            path.state = state;
            assert_eq!(
                (state.is_open(), path.is_active()),
                (open, active),
                "{state:?}"
            );
        }
    }

    #[test]
    fn a_new_path_knows_no_rtt() {
        let path = Path::new(10.0, 2.0, f64::INFINITY);
        assert!(!path.has_rtt() && !path.is_active() && path.may_send && path.in_slow_start());
        assert_eq!((path.rtt_seconds(), path.packets_per_second()), (0.0, 0.0));
        assert_eq!((path.window, path.minimum_window), (10.0, 2.0));
        assert_eq!(path.minimum_rtt, Time::MAX);
    }

    #[test]
    fn the_rate_is_the_window_per_rtt() {
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_micros(250);
        assert!(path.has_rtt());
        assert!((path.rtt_seconds() - 250e-6).abs() < 1e-18);
        assert!((path.packets_per_second() - 40_000.0).abs() < 1e-6);
    }

    #[test]
    fn slow_start_is_below_ssthresh() {
        for (window, slow_start) in [(9.9, true), (10.0, false), (10.1, false)] {
            assert_eq!(Path::new(window, 2.0, 10.0).in_slow_start(), slow_start);
        }
    }

    #[test]
    fn paths_are_found_by_number() {
        assert!(Paths::new(&mut []).is_empty());
        let mut list = [
            Path::new(1.0, 1.0, 9.0),
            Path::new(2.0, 1.0, 9.0),
            Path::new(3.0, 1.0, 9.0),
        ];
        list[0].state = PathState::Active;
        list[2].state = PathState::Active;
        let mut paths = Paths::new(&mut list);
        assert_eq!((paths.len(), paths.is_empty()), (3, false));
        paths[SubflowId(1)].window += 0.5;
        assert_eq!(paths[SubflowId(1)].window, 2.5);
        assert!(paths.iter().map(|path| path.window).eq([1.0, 2.5, 3.0]));
        assert!(paths.active().map(|path| path.window).eq([1.0, 3.0]));
        assert!(!paths.changed_beyond(SubflowId(1)) && paths.changed_beyond(SubflowId(0)));
        paths[SubflowId(1)].may_send = false;
        paths[SubflowId(2)].may_send = false;
        assert!(paths.sending().map(|path| path.window).eq([1.0]));
        assert!(paths.changed_beyond(SubflowId(1)));
        let mut many: [Path; 70] = core::array::from_fn(|_| Path::new(1.0, 1.0, 9.0));
        let mut paths = Paths::new(&mut many);
        paths[SubflowId(65)].window = 2.0;
        // Beyond the 63rd it is not known which.
        assert!(
            [0, 62, 63, 65]
                .iter()
                .all(|&r| paths.changed_beyond(SubflowId(r)))
        );
    }
}
