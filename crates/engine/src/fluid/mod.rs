//! Flows as rates: the traffic and the paths of a simulation, with somebody else deciding the rates.
//!
//! Between two changes (a flow comes or goes, a link changes) rates are constant. At each change an
//! [`Allocator`] is asked for new ones. [`crate::flows::flow`] lets the traffic react to them: a flow ends when its
//! rate has carried its bytes. [`optimum_in_hindsight`] takes the starts and ends of a run that has happened, so that
//! what its flows had can be held against what they could have had.
//!
//! Rates are those of data packets on links, headers included; acknowledgements take nothing.
//! Goodput is the payload's part of that. There are no handshakes, delays or queues.

mod fabric;
mod flowing;
mod hindsight;
mod paths;

pub(crate) use flowing::flow;
pub use hindsight::{Life, Optimum, optimum_in_hindsight};
pub use paths::{FluidPath, candidates};

use pathweave_control::{Algorithm, Parameters};
use pathweave_units::{Bytes, Rate, Time};

/// Who shares what at one moment.
pub struct Problem<'a> {
    /// The moment.
    pub now: Time,
    /// Share of the run that is done, from 0 to 1.
    pub done: f64,
    /// Of each link, by its number; zero while it is down.
    pub capacities: &'a [Rate],
    /// Size of a full data packet, the largest of all groups.
    pub packet: Bytes,
    /// The flows under way, by number.
    pub flows: Vec<FluidFlow<'a>>,
}

/// A flow under way.
pub struct FluidFlow<'a> {
    /// Its number in the run.
    pub number: u32,
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// Its controller, for those who ask what it would maximise.
    pub controller: &'a Algorithm,
    /// The controller's parameters.
    pub parameters: &'a Parameters,
    /// The paths of its open subflows; a subflow whose packets are spread has several.
    pub paths: Vec<&'a FluidPath>,
}

/// Rates for a [`Problem`].
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Of each path (bit/s, headers included), in the order of the flows and their paths.
    pub rates: Vec<f64>,
    /// Of each flow: whether no other split of its rate between its subflows is as good.
    pub split_unique: Vec<bool>,
}

/// What an [`Allocator`] says.
#[derive(Clone, Debug)]
pub enum Answer {
    /// These rates hold until the next change.
    Rates(Allocation),
    /// It will not answer any more: the run ends here.
    Enough,
}

/// Decides rates.
pub trait Allocator {
    /// Rates for this moment.
    ///
    /// # Errors
    /// A reason for which the run cannot go on.
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String>;
}
