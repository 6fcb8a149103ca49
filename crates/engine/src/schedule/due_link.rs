//! Ports whose turn has come.

use pathweave_network::{LinkEvent, PortId};
use pathweave_units::Time;

/// A port whose turn has come, why, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueLink {
    pub at: Time,
    pub port: PortId,
    pub event: LinkEvent,
}
