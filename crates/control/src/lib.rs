//! Congestion controllers for single-path and multipath transports.
//!
//! A [`Controller`] belongs to one *connection* and sees all of its subflows, so coupling between
//! them is plain code. It is told of acknowledgements, losses and subflow changes, and answers by
//! writing windows into the [`Paths`] that the transport owns. It does no I/O, has no clock and no
//! randomness, and knows no packet format: any transport that can fill in an [`Ack`] can use it.
//!
//! The [`registry()`] is the only place that lists controllers.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod algorithm;
mod clonable;
mod connection;
pub mod controllers;
mod feedback;
mod parameters;
mod paths;
mod per_subflow;
mod registry;
mod round;

// What several controllers share, one idea a file.
mod ecn_choice;
mod hystart;
mod linux;
mod load_response;
pub mod loss;
mod marks_as_losses;
pub mod mlcp_coding;
mod once_per_round;
pub mod slow_start;

#[cfg(test)]
mod greedy_sender;
#[cfg(test)]
mod loaded_flow;
#[cfg(test)]
mod restarts;

// The controllers, and parts of them in files of their own.
mod amp;
mod balia;
mod bos;
mod cubic;
mod dcm;
mod dctcp;
pub mod decn;
mod eutcp;
mod ewtcp;
mod fcc;
mod lia;
mod marked_rounds;
mod mlcp;
mod mmptcp;
mod olia;
mod rcp;
mod reno;
mod semicoupled;
mod suppression;
mod uncoupled;
mod vcp;
mod wutcp;
mod wvegas;
mod xcp;
mod xmp;

pub use algorithm::{Algorithm, Fault, Faults, Loaded, Seat};
pub use clonable::ClonableController;
pub use connection::{Acknowledged, Connection, PathError, PathId, Start};
pub use feedback::{Feedback, Load, Scheme};
pub use marks_as_losses::MarksAsLosses;
pub use once_per_round::OncePerRound;
pub use parameters::{
    LoadedParameter, Parameter, ParameterError, ParameterKind, Parameters, Value, WordList,
};
pub use paths::{LARGEST_WINDOW, Path, PathState, Paths, SubflowId};
pub use per_subflow::PerSubflow;
pub use registry::{Ecn, Entry, find, registry};
pub use round::Round;

use core::fmt;
use pathweave_units::Time;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// What one acknowledgement tells the controller.
///
/// The transport has already brought the subflow's [`Path`] up to date: `acked`, `in_flight`, and,
/// when the acknowledgement gave a sample, the RTT fields.
///
/// The default is one full packet on a full window, and nothing else: no marks, no sample, no recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets newly acknowledged, cumulatively or selectively, each counted once.
    pub packets: u32,
    /// How many congestion-experienced marks it echoes.
    pub ce: u32,
    /// The RTT sample it gave, if any.
    pub rtt: Option<Time>,
    /// Whether windows must not grow: in fast recovery, by a duplicate acknowledgement, and in the round of a
    /// cut where the transport says so.
    pub recovery: bool,
    /// Whether the window was what limited sending: a window that is not used does not grow.
    pub window_limited: bool,
    /// What the acknowledged packet's header said when it arrived at the receiver.
    pub feedback: Feedback,
}

impl Default for Ack {
    fn default() -> Ack {
        Ack {
            now: Time::ZERO,
            packets: 1,
            ce: 0,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: Feedback::None,
        }
    }
}

impl Ack {
    /// Whether the window may grow: not in fast recovery, and not while it is not used.
    #[inline]
    pub fn lets_window_grow(&self) -> bool {
        self.window_limited && !self.recovery
    }
}

/// A loss event. Reported once per event, not once per lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Found by duplicate or selective acknowledgements.
    FastRetransmit,
    /// The retransmission timer expired; repeated expiries for the same data are not reported again.
    Timeout,
    /// Everything that was sent over a long time was lost (RFC 9002, section 7.6). It is what QUIC has where TCP has a
    /// timeout: the window starts again, from the minimum window and not from one packet.
    PersistentCongestion,
}

impl Loss {
    /// Whether the window starts again from the bottom: after a timeout and in persistent congestion.
    #[inline]
    pub fn restarts(self) -> bool {
        match self {
            Loss::FastRetransmit => false,
            Loss::Timeout | Loss::PersistentCongestion => true,
        }
    }
}

/// What has become of a subflow. The transport has already put its path into [`Change::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Its handshake is done.
    Opened,
    /// It was put on standby.
    StoodBy,
    /// It timed out several times in a row without progress. A lone timeout is a [`Loss`] and no
    /// failure.
    Failed,
    /// New data was acknowledged on it after it had failed, or it was taken back from standby. Its
    /// windows are those that the losses left.
    Recovered,
    /// It takes no new data and never will; what is in flight may still be acknowledged.
    Abandoned,
    /// It goes on over another network path, of which nothing is known: to the controller it begins, as one that opens
    /// does (RFC 9000, section 9.4).
    Migrated,
    /// It carries nothing any more. Its number may be given to another subflow, which then opens.
    Closed,
}

impl Change {
    /// The state of the path after it.
    #[inline]
    pub fn state(self) -> PathState {
        match self {
            Change::Opened | Change::Recovered | Change::Migrated => PathState::Active,
            Change::StoodBy => PathState::Standby,
            Change::Failed => PathState::Failed,
            Change::Abandoned => PathState::Abandoned,
            Change::Closed => PathState::Closed,
        }
    }

    /// Whether the subflow begins: whatever is known of one with its number is of another path.
    #[inline]
    pub fn begins(self) -> bool {
        matches!(self, Change::Opened | Change::Migrated)
    }
}

/// A congestion controller for one connection.
///
/// Those of the [`registry()`] can be cloned: see [`ClonableController`]. Others need not be able to.
pub trait Controller: Send + Sync + fmt::Debug {
    /// An acknowledgement arrived on subflow `r`. Also called for duplicate acknowledgements, with
    /// `packets` zero, when they echo marks.
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack);

    /// Subflow `r` lost packets. Must set the subflow's window and ssthresh.
    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time);

    /// What has become of subflow `r`. A change that [begins](Change::begins) a subflow finds nothing of an earlier one with
    /// its number: subflows are numbered from zero, and a number that is free again may be given to the next one.
    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change);

    /// A data packet is about to leave on subflow `r`: the congestion field for its header. Asked only of
    /// controllers whose [`Entry::scheme`] says that switches take part.
    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, now: Time) -> Feedback {
        let _ = (paths, r, now);
        Feedback::None
    }

    /// The latest loss on subflow `r` was none: its packets have arrived. The transport has put the window and ssthresh from
    /// before it back, and nothing has cut them in between. For controllers that remember losses.
    fn on_spurious_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId) {
        let _ = (paths, r);
    }

    /// Subflow `r` sends new data after a time with nothing in flight. The transport may have reduced the window after a
    /// longer pause. For controllers that count time.
    fn on_idle(&mut self, r: SubflowId, now: Time) {
        let _ = (r, now);
    }

    /// The packets of subflow `r` have another size: a number of packets that was remembered is `factor` times it. The
    /// transport has done so with the window and ssthresh.
    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        let _ = (r, factor);
    }

    /// The connection is over: forgets all that it has seen, so that another connection can have the controller. Returns
    /// false if it cannot.
    fn restart(&mut self) -> bool {
        false
    }
}
