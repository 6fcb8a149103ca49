//! Whose packet it is, and its mark: the little that the fabric reads and writes of a packet's headers.
//!
//! Host h has the addresses 10.(h+1).a.1. Subflow a of a flow goes from its source's address a to its
//! destination's address 0, and to a port that is the flow's own while it lasts: a packet says by itself
//! whose it is.

use pathweave_engine::live::Heading;
use std::net::Ipv4Addr;

/// The first of the flows' own ports.
pub const FIRST_PORT: u16 = 20_000;
/// Ports that flows can have at the same time.
pub const SLOTS: u32 = 65_536 - FIRST_PORT as u32;
/// Addresses that a host can have: subflows of a flow.
pub const MOST_SUBFLOWS: u32 = 255;

/// A host's address for subflows of this number.
pub fn address(host: u32, subflow: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, (host + 1) as u8, subflow as u8, 1)
}

/// The port of the flows in a slot.
pub fn port(slot: u32) -> u16 {
    FIRST_PORT + slot as u16
}

/// What a packet's headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow's port, counted from the first.
    pub slot: u32,
    /// The subflow's number in the flow.
    pub subflow: u32,
    /// Which way it goes.
    pub heading: Heading,
    /// The host that it goes to.
    pub host: u32,
    /// Its size, headers included.
    pub size: u16,
    /// Whether it may be marked.
    pub ecn_capable: bool,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const CONGESTION_EXPERIENCED: u8 = 3;

/// Reads a packet's headers; `None` for what belongs to no flow.
#[inline]
pub fn classify(frame: &[u8]) -> Option<Packet> {
    let header: &[u8; 20] = frame.first_chunk()?;
    let length = usize::from(header[0] & 15) * 4;
    let size = u16::from_be_bytes([header[2], header[3]]);
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    let is_carried =
        header[0] >> 4 == 4 && length >= 20 && [TCP, UDP].contains(&header[9]) && fragment == 0;
    if !is_carried || usize::from(size) != frame.len() {
        return None;
    }
    let ports: &[u8; 4] = frame.get(length..)?.first_chunk()?;
    let from = u16::from_be_bytes([ports[0], ports[1]]);
    let to = u16::from_be_bytes([ports[2], ports[3]]);
    let (source, destination) = (&header[12..16], &header[16..20]);
    let own = |address: &[u8]| address[0] == 10 && address[1] > 0 && address[3] == 1;
    if !own(source) || !own(destination) {
        return None;
    }
    let (heading, port, subflow) = if to >= FIRST_PORT {
        (Heading::Forward, to, source[2])
    } else if from >= FIRST_PORT {
        (Heading::Back, from, destination[2])
    } else {
        return None;
    };
    Some(Packet {
        slot: u32::from(port - FIRST_PORT),
        subflow: u32::from(subflow),
        heading,
        host: u32::from(destination[1]) - 1,
        size,
        ecn_capable: header[1] & CONGESTION_EXPERIENCED != 0,
    })
}

/// Whether a packet's payload can be read, as TCP's can and QUIC's cannot.
pub fn is_readable(frame: &[u8]) -> bool {
    frame.get(9) == Some(&TCP)
}

/// Marks a packet that may be marked, and mends its checksum (RFC 1624, equation 3).
pub fn mark(frame: &mut [u8]) {
    let Some(header) = frame.first_chunk_mut::<20>() else {
        return;
    };
    let ecn = header[1] & CONGESTION_EXPERIENCED;
    if ecn == 0 || ecn == CONGESTION_EXPERIENCED {
        return;
    }
    let before = u16::from_be_bytes([header[0], header[1]]);
    header[1] |= CONGESTION_EXPERIENCED;
    let after = u16::from_be_bytes([header[0], header[1]]);
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071, over a header whose checksum counts as zero.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).enumerate();
        let sum: u32 = words
            .filter(|(place, _)| *place != 5)
            .map(|(_, word)| u32::from(u16::from_be_bytes([word[0], word[1]])))
            .sum();
        let mut sum = sum;
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    /// Of TCP, unless byte 9 is changed.
    fn packet(
        from: (Ipv4Addr, u16),
        to: (Ipv4Addr, u16),
        tos: u8,
        id: u16,
        length: usize,
    ) -> Vec<u8> {
        let mut frame = vec![0u8; length.max(40)];
        frame[0] = 0x45;
        frame[1] = tos;
        let size = frame.len() as u16;
        frame[2..4].copy_from_slice(&size.to_be_bytes());
        frame[4..6].copy_from_slice(&id.to_be_bytes());
        frame[6] = 0x40;
        frame[8] = 64;
        frame[9] = 6;
        frame[12..16].copy_from_slice(&from.0.octets());
        frame[16..20].copy_from_slice(&to.0.octets());
        frame[20..22].copy_from_slice(&from.1.to_be_bytes());
        frame[22..24].copy_from_slice(&to.1.to_be_bytes());
        let sum = checksum(&frame[..20]);
        frame[10..12].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    proptest! {
        #[test]
        fn a_marked_packet_has_the_checksum_of_its_header(
            tos in any::<u8>(), id in any::<u16>(), subflow in 0u32..255, length in 40usize..1500,
        ) {
            let mut frame = packet((address(3, subflow), 1500), (address(0, 0), port(7)), tos, id, length);
            let before = frame.clone();
            mark(&mut frame);
            let sum = u16::from_be_bytes([frame[10], frame[11]]);
            prop_assert_eq!(sum, checksum(&frame[..20]));
            prop_assert_eq!(frame[1], if tos & 3 == 0 { tos } else { tos | 3 });
            prop_assert_eq!(&frame[12..], &before[12..]);
        }

        #[test]
        fn a_packet_says_whose_it_is(
            slot in 0..SLOTS, subflow in 0u32..255, source in 0u32..16, destination in 0u32..16,
            own in 1024u16..FIRST_PORT, tos in any::<u8>(), length in 40usize..1500,
        ) {
            let (from, to) = ((address(source, subflow), own), (address(destination, 0), port(slot)));
            let expected = Packet {
                slot,
                subflow,
                heading: Heading::Forward,
                host: destination,
                size: length as u16,
                ecn_capable: tos & 3 != 0,
            };
            prop_assert_eq!(classify(&packet(from, to, tos, 1, length)), Some(expected));
            let back = Packet { heading: Heading::Back, host: source, ..expected };
            prop_assert_eq!(classify(&packet(to, from, tos, 1, length)), Some(back));
        }

        #[test]
        fn no_bytes_confuse_it(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut frame = bytes;
            if let Some(packet) = classify(&frame) {
                prop_assert!(packet.slot < SLOTS && packet.host < 255);
            }
            mark(&mut frame);
        }
    }

    #[test]
    fn what_belongs_to_no_flow_is_nobodys() {
        let (a, b) = ((address(0, 0), 1024), (address(1, 0), port(0)));
        let good = packet(a, b, 0, 1, 60);
        assert!(classify(&good).is_some());
        let spoilt = |place: usize, value: u8| {
            let mut frame = good.clone();
            frame[place] = value;
            classify(&frame)
        };
        assert_eq!(spoilt(0, 0x65), None); // IPv6
        assert_eq!(spoilt(9, 1), None); // ICMP
        assert_eq!(spoilt(6, 0x20), None); // a fragment
        assert_eq!(spoilt(12, 192), None); // an address of somebody else
        assert_eq!(spoilt(2, 9), None); // not as long as it says
        assert_eq!(classify(&packet(a, (address(1, 0), 80), 0, 1, 60)), None);
    }
}
