//! Ethernet, IPv4 and TCP headers for packets that the simulator knows by numbers only.

use etherparse::{EtherType, Ethernet2Header, IpEcn, IpNumber, Ipv4Header};
use etherparse::{TcpHeader, TcpOptionElement, TcpOptions};

/// Bytes of an IPv4 and a TCP header without options.
const PLAIN: u16 = (Ipv4Header::MIN_LEN + TcpHeader::MIN_LEN) as u16;

/// Longest headers of a frame.
pub(super) const LONGEST: u32 =
    (Ethernet2Header::LEN + Ipv4Header::MIN_LEN + TcpHeader::MAX_LEN) as u32;

/// Payload is not simulated: checksums are those of zeros.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

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
    /// A multiple of four bytes.
    pub options: Vec<TcpOptionElement>,
    pub ecn: IpEcn,
    /// Bytes of payload.
    pub payload: u16,
    /// Bytes that the simulator gives the packet.
    pub size: u16,
}

/// A frame's headers, and its length with the payload. The IP packet has the simulator's size as long
/// as the headers fit in it: padding follows the options. Otherwise it is as long as they need.
pub(super) fn frame(from: End, to: End, content: Content) -> (Vec<u8>, u32) {
    let Content {
        mut tcp,
        mut options,
        ecn,
        payload,
        size,
    } = content;
    let needed = TcpOptions::try_from_elements(&options).map_or(0, |options| options.len());
    let room = usize::from(size.saturating_sub(payload).saturating_sub(PLAIN));
    let padding = (room.min(TcpOptions::MAX_LEN) / 4 * 4).saturating_sub(needed);
    options.extend(std::iter::repeat_n(TcpOptionElement::Noop, padding));
    tcp.set_options(&options)
        .expect("options take 40 bytes at most");
    tcp.source_port = from.port;
    tcp.destination_port = to.port;
    let ends = (from.address(), to.address());
    let payload = payload.min(u16::MAX - PLAIN - TcpOptions::MAX_LEN as u16);
    tcp.checksum = tcp
        .calc_checksum_ipv4_raw(ends.0, ends.1, &ZEROS[..usize::from(payload)])
        .expect("the payload was limited");
    let carried = tcp.header_len_u16() + payload;
    let mut ip = Ipv4Header::new(carried, 64, IpNumber::TCP, ends.0, ends.1)
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
    headers.extend(tcp.to_bytes());
    let length = Ethernet2Header::LEN as u32 + u32::from(ip.total_len.max(size));
    (headers, length)
}
