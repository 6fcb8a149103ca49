//! A connection as a packet transport drives it: paths by ids that may rise for ever, bytes, packets that are never sent again.

mod acknowledging;
mod changing;
mod losing;
mod path_record;
mod sending;
mod start;

pub use acknowledging::Acknowledged;
pub use path_record::PathId;
pub use start::Start;

use crate::controllers::Settings;
use crate::{
    Change, ClonableController, Ecn, ParameterError, Path, PathState, Paths, SubflowId, Value, find,
};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;
use path_record::PathRecord;
use pathweave_units::{Bytes, Time};

/// Why a path was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathError {
    /// A path with this id is alive.
    Alive(PathId),
    /// A packet has no bytes.
    NoPacketSize(PathId),
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Alive(PathId(id)) => {
                write!(f, "path {id} is open; close it before its id is used again")
            }
            PathError::NoPacketSize(PathId(id)) => {
                write!(f, "path {id} must have packets of at least 1 byte, got 0")
            }
        }
    }
}

impl core::error::Error for PathError {}

/// A controller with the paths of its connection, for a transport that never sends a packet number again, such as QUIC.
///
/// The transport says when packets leave, arrive, get lost and when paths come and go, and asks for the window of a path in
/// bytes, its pacing rate and whether it may send. It finds losses itself, and times are its own: any clock that does not go
/// back, counted from any moment.
///
/// Calls for a path that is not alive do nothing, and questions about one have no answer: an acknowledgement may come after
/// its path has gone.
#[derive(Clone, Debug)]
pub struct Connection {
    controller: Box<dyn ClonableController>,
    ecn: Ecn,
    start: Start,
    /// By subflow, as the controller numbers them. The numbers of paths that are gone are given to new ones.
    paths: Vec<Path>,
    records: Vec<PathRecord>,
}

impl Connection {
    /// A connection without paths, under this controller, which does this with marks.
    pub fn new(controller: Box<dyn ClonableController>, ecn: Ecn, start: Start) -> Connection {
        Connection {
            controller,
            ecn,
            start,
            paths: vec![],
            records: vec![],
        }
    }

    /// One under a controller with these settings.
    ///
    /// # Errors
    /// For a setting that is out of range.
    pub fn of(settings: &impl Settings, start: Start) -> Result<Connection, ParameterError> {
        Ok(Connection::new(settings.build()?, settings.ecn()?, start))
    }

    /// One under the controller of this name in the [registry](crate::registry()), with these parameters and the defaults
    /// of the others.
    ///
    /// # Errors
    /// For a name that is not in the registry, for a parameter that the controller does not have or that is given twice,
    /// and for a value that is out of range.
    pub fn named(
        name: &str,
        given: &[(String, Value)],
        start: Start,
    ) -> Result<Connection, ParameterError> {
        let Some(entry) = find(name) else {
            return Err(ParameterError {
                name: name.to_string(),
                message: format!("there is no controller \"{name}\"; registry() lists them"),
            });
        };
        let parameters = entry.parameters(given)?;
        let ecn = (entry.ecn)(&parameters);
        Ok(Connection::new((entry.build)(&parameters), ecn, start))
    }

    /// The paths that are alive, in the order of their subflows' numbers.
    pub fn ids(&self) -> impl Iterator<Item = PathId> {
        self.records.iter().filter_map(|record| record.id)
    }

    /// How many numbers for subflows there are, taken or free: as many as paths have been alive at once.
    pub fn slots(&self) -> usize {
        self.records.len()
    }

    /// What controller and transport know of a path.
    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.find(id).map(|r| &self.paths[r])
    }

    /// Where a path is between opening and closing; none once it is gone.
    pub fn state(&self, id: PathId) -> Option<PathState> {
        self.path(id).map(|path| path.state)
    }

    /// The controller.
    pub fn controller(&self) -> &dyn ClonableController {
        &*self.controller
    }

    /// The place of a path that is alive. Connections have few: looking at each is faster than a map.
    #[inline]
    fn find(&self, id: PathId) -> Option<usize> {
        self.records.iter().position(|record| record.id == Some(id))
    }

    /// Puts a path into the state that the change leads to, and tells the controller.
    fn tell(&mut self, r: usize, change: Change) {
        self.paths[r].state = change.state();
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_subflow(&mut paths, SubflowId(r as u32), change);
    }
}

/// Bytes as packets of this size.
fn packets(bytes: Bytes, size: Bytes) -> f64 {
    bytes.get() as f64 / size.get() as f64
}

/// kGranularity of RFC 9002.
const GRANULARITY: Time = Time::from_millis(1);
/// For how long a peer may hold an acknowledgement back unless it says otherwise (RFC 9000, section 18.2).
const MAXIMUM_ACK_DELAY: Time = Time::from_millis(25);

/// How long a path of this RTT may send nothing before its window is out of date: a probe timeout (RFC 9002, section 6.2.1).
fn silence(path: &Path, variation: Time) -> Time {
    let varies = variation.saturating_mul(4).max(GRANULARITY);
    path.smoothed_rtt
        .saturating_add(varies)
        .saturating_add(MAXIMUM_ACK_DELAY)
}
