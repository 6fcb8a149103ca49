//! What packets carry between senders and switches that take part in congestion control.
//!
//! A sender writes it into each data packet, switches on the path change it, the receiver returns it
//! with the acknowledgement.

/// The congestion field of a packet's header. Each scheme has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Feedback {
    /// None: most controllers.
    #[default]
    None,
    /// XCP's congestion header.
    Xcp {
        /// The sender's window, in bytes.
        window: f32,
        /// Its smoothed RTT, in seconds; zero before the first sample.
        rtt: f32,
        /// By how many bytes its window may change: what it asks for, lowered by switches.
        change: f32,
    },
    /// RCP's.
    Rcp {
        /// The smallest rate of the path's ports so far, in bit/s; infinite when sent.
        rate: f32,
        /// The sender's RTT, in seconds; zero before the first sample.
        rtt: f32,
    },
    /// VCP's, in the two ECN bits.
    Vcp(Load),
    /// MLCP's.
    Mlcp {
        /// Load level of the busiest port so far, 0 to 15; see the controller.
        load: u8,
        /// Class of the sender's RTT, 0 to 7.
        rtt: u8,
    },
    /// Four bits of one of DECN's units: three packets of a flow in a row carry a number.
    Decn {
        /// The four bits.
        nibble: u8,
        /// The first packet of a unit.
        first: bool,
        /// Whether the packet belongs to a unit at all.
        in_unit: bool,
    },
}

/// VCP's load of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Below 80 %.
    #[default]
    Low,
    /// From 80 to 100 %.
    High,
    /// Above.
    Overload,
}

/// A scheme that switches take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XCP: switches hand out changes of windows.
    Xcp,
    /// RCP: switches hand out rates.
    Rcp,
    /// VCP: switches say how loaded they are, in two bits.
    Vcp,
    /// MLCP: in four bits.
    Mlcp,
    /// DECN: switches hand out changes of rates, four bits a packet.
    Decn,
}

impl Scheme {
    /// Bits that its field takes of a packet's header. VCP's are the two of ECN; DECN's unit is spread over
    /// bits that packets have. (DECN paper, Figure 4.)
    pub fn header_bits(self) -> u16 {
        match self {
            Scheme::Xcp => 128,
            Scheme::Rcp => 96,
            Scheme::Mlcp => 7,
            Scheme::Vcp => 2,
            Scheme::Decn => 0,
        }
    }

    /// Bytes that a data packet is longer by: those of fields for which it has no room.
    pub fn header_bytes(self) -> u16 {
        match self {
            Scheme::Xcp | Scheme::Rcp | Scheme::Mlcp => self.header_bits().div_ceil(8),
            Scheme::Vcp | Scheme::Decn => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_without_room_make_packets_longer() {
        let all = [
            (Scheme::Xcp, 128, 16),
            (Scheme::Rcp, 96, 12),
            (Scheme::Mlcp, 7, 1),
            (Scheme::Vcp, 2, 0),
            (Scheme::Decn, 0, 0),
        ];
        for (scheme, bits, bytes) in all {
            assert_eq!((scheme.header_bits(), scheme.header_bytes()), (bits, bytes));
        }
    }
}
