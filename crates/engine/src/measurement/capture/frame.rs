//! Ethernet, IPv4 and TCP headers for packets that the simulator knows by numbers only.

use etherparse::checksum::Sum16BitWords;
use etherparse::{EtherType, Ethernet2Header, IpEcn, IpNumber, Ipv4Header};
use etherparse::{TcpHeader, TcpOptionElement, TcpOptions};

/// Bytes of an IPv4 and a TCP header without options.
const PLAIN: u16 = (Ipv4Header::MIN_LEN + TcpHeader::MIN_LEN) as u16;

/// Longest headers of a frame.
pub(super) const LONGEST: u32 =
    (Ethernet2Header::LEN + Ipv4Header::MIN_LEN + TcpHeader::MAX_LEN) as u32;

/// The TCP option that pads others.
pub(super) const NO_OPERATION: u8 = 1;

/// Where a TCP header has its length and the reserved bits, and where its checksum.
const RESERVED: usize = 12;
const CHECKSUM: std::ops::Range<usize> = 16..18;

/// One end of a subflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The host's number.
    pub host: u32,
    pub port: u16,
}

impl End {
    /// 10.0.0.1 for the first host, and so on.
    fn address(self) -> [u8; 4] {
        let [_, a, b, c] = (self.host + 1).to_be_bytes();
        [10, a, b, c]
    }

    /// Locally administered, and recognised by its address.
    fn hardware(self) -> [u8; 6] {
        let [a, b, c, d] = self.address();
        [2, 0, a, b, c, d]
    }
}

/// What a frame is made of, beside its ends.
pub(super) struct Content {
    pub tcp: TcpHeader,
    /// The reserved bits of TCP.
    pub reserved: u8,
    /// A multiple of four bytes.
    pub options: Vec<u8>,
    pub ecn: IpEcn,
    /// Bytes of payload.
    pub payload: u16,
    /// Bytes that the simulator gives the packet.
    pub size: u16,
}

/// Options that take a multiple of four bytes, as bytes.
pub(super) fn options(elements: &[TcpOptionElement]) -> Vec<u8> {
    let options = TcpOptions::try_from_elements(elements);
    options.expect("options take 40 bytes at most").to_vec()
}

/// A frame's headers, and its length with the payload. The IP packet has the simulator's size as long
/// as the headers fit in it: padding follows the options. Otherwise it is as long as they need.
pub(super) fn frame(from: End, to: End, content: Content) -> (Vec<u8>, u32) {
    let Content {
        mut tcp,
        reserved,
        mut options,
        ecn,
        payload,
        size,
    } = content;
    let room = usize::from(size.saturating_sub(payload).saturating_sub(PLAIN));
    let padded = room.min(TcpOptions::MAX_LEN) / 4 * 4;
    options.resize(padded.max(options.len()), NO_OPERATION);
    tcp.set_options_raw(&options)
        .expect("options take 40 bytes at most");
    tcp.source_port = from.port;
    tcp.destination_port = to.port;
    let payload = payload.min(u16::MAX - PLAIN - TcpOptions::MAX_LEN as u16);
    let carried = tcp.header_len_u16() + payload;
    let (source, destination) = (from.address(), to.address());
    let mut ip = Ipv4Header::new(carried, 64, IpNumber::TCP, source, destination)
        .expect("the payload was limited");
    ip.dont_fragment = true;
    ip.ecn = ecn;
    ip.header_checksum = ip.calc_header_checksum();
    let ethernet = Ethernet2Header {
        source: from.hardware(),
        destination: to.hardware(),
        ether_type: EtherType::IPV4,
    };
    let mut headers = ethernet.to_bytes().to_vec();
    headers.extend(ip.to_bytes());
    let mut tcp = tcp.to_bytes();
    tcp[RESERVED] |= reserved;
    // Payload is not simulated. The checksum is that of zeros, which add nothing.
    let sum = Sum16BitWords::new()
        .add_4bytes(source)
        .add_4bytes(destination)
        .add_2bytes([0, IpNumber::TCP.0])
        .add_2bytes(carried.to_be_bytes())
        .add_slice(&tcp);
    // The bytes of the words were taken as they stand in memory.
    tcp[CHECKSUM].copy_from_slice(&sum.ones_complement().to_ne_bytes());
    headers.extend(tcp);
    let length = Ethernet2Header::LEN as u32 + u32::from(ip.total_len.max(size));
    (headers, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: End = End { host: 0, port: 1 };
    const THERE: End = End { host: 1, port: 2 };

    /// Bytes of the headers, the IP packet's length, and the frame's.
    fn lengths(payload: u16, size: u16, blocks: usize) -> (usize, u16, u32) {
        let block = |n: usize| (n < blocks).then_some((1000 * n as u32, 1000 * n as u32 + 500));
        let options = block(0).map_or(Vec::new(), |first| {
            let others = [block(1), block(2), block(3)];
            options(&[
                TcpOptionElement::Noop,
                TcpOptionElement::Noop,
                TcpOptionElement::SelectiveAcknowledgement(first, others),
            ])
        });
        let content = Content {
            tcp: TcpHeader::new(0, 0, 0, 0),
            reserved: 0,
            options,
            ecn: IpEcn::NotEct,
            payload,
            size,
        };
        let (headers, length) = frame(HERE, THERE, content);
        let (ip, rest) = Ipv4Header::from_slice(&headers[14..]).expect("IPv4");
        let (tcp, rest) = TcpHeader::from_slice(rest).expect("TCP");
        assert!(rest.is_empty());
        assert_eq!(
            usize::from(ip.total_len),
            20 + tcp.header_len() + usize::from(payload.min(65_455))
        );
        assert!(headers.len() <= LONGEST as usize);
        (headers.len(), ip.total_len, length)
    }

    #[test]
    fn packets_have_the_simulators_size_where_headers_fit() {
        assert_eq!(lengths(1448, 1500, 0), (66, 1500, 1514));
        assert_eq!(lengths(1460, 1500, 0), (54, 1500, 1514));
        assert_eq!(lengths(0, 52, 0), (66, 52, 66));
        // One block of selective acknowledgement takes 12 bytes.
        assert_eq!(lengths(0, 52, 1), (66, 52, 66));
    }

    #[test]
    fn options_make_packets_longer_where_they_must() {
        assert_eq!(lengths(0, 52, 3), (82, 68, 82));
        assert_eq!(lengths(0, 40, 1), (66, 52, 66));
    }

    #[test]
    fn any_overhead_is_possible() {
        // Less than headers take: they are there all the same.
        assert_eq!(lengths(1500, 1500, 0), (54, 1540, 1554));
        // More than headers can take: the rest follows the IP packet.
        assert_eq!(lengths(1000, 1500, 0), (94, 1080, 1514));
        assert_eq!(lengths(u16::MAX, u16::MAX, 0).2, 14 + 65_535);
    }
}
