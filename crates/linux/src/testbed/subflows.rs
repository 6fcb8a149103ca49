//! Further subflows of an MPTCP connection, through the kernel's path manager (`mptcp_pm`, generic
//! netlink): the kernel makes none by itself in the hosts' namespaces.

use super::frame::{address, port};
use super::netlink::{Message, Netlink, attributes};
use crate::Failure;
use std::io;

const CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

const SUBFLOW_CREATE: u8 = 10;
const VERSION: u8 = 1;
const ATTR_ADDR: u16 = 1;
const ATTR_TOKEN: u16 = 4;
const ATTR_ADDR_REMOTE: u16 = 6;
const ADDR_FAMILY: u16 = 1;
const ADDR_ID: u16 = 2;
const ADDR_ADDR4: u16 = 3;
const ADDR_PORT: u16 = 5;

/// One host's path manager: this process.
pub struct PathManager {
    netlink: Netlink,
    family: u16,
    /// Hears what happens to connections: hosts without such a listener refuse further subflows.
    _events: Netlink,
}

/// A connection's further subflow.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// The connection, as its source's kernel knows it.
    pub token: u32,
    /// The source.
    pub source: u32,
    /// The destination.
    pub destination: u32,
    /// The flow's port.
    pub slot: u32,
    /// The subflow's number, at least one.
    pub subflow: u32,
}

impl PathManager {
    /// That of the host in whose namespace the thread is.
    ///
    /// # Errors
    /// When the kernel has no MPTCP, or is too old.
    pub fn new() -> Result<PathManager, Failure> {
        let failed = |error: io::Error| {
            Failure::refused(format!(
                "the kernel's MPTCP path manager does not answer: {error}"
            ))
            .hint("it takes Linux 5.19 or later with CONFIG_MPTCP")
        };
        let mut netlink = Netlink::generic().map_err(failed)?;
        let question = Message::new(CTRL, &[CTRL_CMD_GETFAMILY, 1, 0, 0])
            .with(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0");
        let answer = netlink.ask(question).map_err(failed)?;
        let (mut family, mut group) = (None, None);
        for (kind, value) in attributes(answer.get(4..).unwrap_or(&[])) {
            match kind {
                CTRL_ATTR_FAMILY_ID => {
                    family = value.first_chunk().map(|id| u16::from_ne_bytes(*id))
                }
                CTRL_ATTR_MCAST_GROUPS => group = events_group(value),
                _ => {}
            }
        }
        let (Some(family), Some(group)) = (family, group) else {
            return Err(failed(io::Error::other("it tells nobody of its events")));
        };
        let events = Netlink::generic().map_err(failed)?;
        events.join(group)?;
        Ok(PathManager {
            netlink,
            family,
            _events: events,
        })
    }

    /// Opens a further subflow.
    ///
    /// # Errors
    /// The kernel's; among others, while the connection is not fully established.
    pub fn create(&mut self, join: &Join) -> io::Result<()> {
        let family = (libc::AF_INET as u16).to_ne_bytes();
        let message = Message::new(self.family, &[SUBFLOW_CREATE, VERSION, 0, 0])
            .with(ATTR_TOKEN, &join.token.to_ne_bytes())
            .nesting(ATTR_ADDR, |inner| {
                inner
                    .with(ADDR_FAMILY, &family)
                    .with(ADDR_ID, &[join.subflow as u8])
                    .with(ADDR_ADDR4, &address(join.source, join.subflow).octets())
            })
            .nesting(ATTR_ADDR_REMOTE, |inner| {
                inner
                    .with(ADDR_FAMILY, &family)
                    .with(ADDR_ADDR4, &address(join.destination, 0).octets())
                    .with(ADDR_PORT, &port(join.slot).to_ne_bytes())
            });
        self.netlink.ask(message).map(|_| ())
    }
}

/// The number of the group that hears of events.
fn events_group(groups: &[u8]) -> Option<u32> {
    attributes(groups).find_map(|(_, group)| {
        let of =
            |wanted| attributes(group).find_map(move |(kind, v)| (kind == wanted).then_some(v));
        let name = of(CTRL_ATTR_MCAST_GRP_NAME)?;
        let id = of(CTRL_ATTR_MCAST_GRP_ID)?.first_chunk()?;
        (name == b"mptcp_pm_events\0").then(|| u32::from_ne_bytes(*id))
    })
}
