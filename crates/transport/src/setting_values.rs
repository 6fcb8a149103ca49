//! Values of settings that are more than a word or a number.

use pathweave_units::{Bytes, Rate, Time};

/// The phase of a host's timer ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickPhase {
    /// Drawn for each host from the seed.
    ByHost,
    /// The same for all hosts: a tick falls this long before the run starts.
    Shared(Time),
}

/// How many packets a host's network card takes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBundle {
    /// At most this many.
    Packets(u32),
    /// At most [`SendBundle::AT_HIGH_RATES`] if the fastest port of the host has [`SendBundle::HIGH_RATE`] or more,
    /// otherwise one.
    ByPortRate,
}

impl SendBundle {
    /// Packets of 1500 B in 64 KB.
    pub const AT_HIGH_RATES: u32 = 45;
    /// The rate from which on there are bundles.
    pub const HIGH_RATE: Rate = Rate::from_gbps(10);

    /// Most packets of a bundle on a host whose fastest port has this rate.
    pub fn packets(self, port: Rate) -> u32 {
        match self {
            SendBundle::Packets(packets) => packets,
            SendBundle::ByPortRate if port >= SendBundle::HIGH_RATE => SendBundle::AT_HIGH_RATES,
            SendBundle::ByPortRate => 1,
        }
    }
}

/// How much a receiver lets be sent ahead of what it could deliver in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// As much as the sender likes.
    Unlimited,
    /// This much on the whole connection.
    Connection(Bytes),
    /// This much on each subflow.
    Subflow(Bytes),
    /// As much as the receive buffer, which grows with what the application reads, has room for.
    Auto,
}
