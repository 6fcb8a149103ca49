//! The packets of chosen flows, as a capture on their source hosts would see them.
//!
//! The simulator numbers segments; a capture has bytes. Both directions' initial sequence numbers are
//! zero, so that data begin at 1.

mod fields;
mod frame;
mod pcapng;
mod sequence;

use etherparse::{IpEcn, TcpHeader, TcpOptionElement};
use fields::{Carries, Field};
use frame::{Content, End};
use pathweave_control::{Feedback, Scheme};
use pathweave_network::Header;
use pathweave_transport::{Config, Kind, Recovery, SackBlock, Segment};
use pathweave_units::Time;
use sequence::Sequence;
use std::sync::Arc;

/// The packets of a flow, as a pcapng file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// What the plan calls it.
    pub name: String,
    /// The flow's id in the table of flows.
    pub flow: u32,
    /// Number of packets.
    pub packets: u64,
    /// The file's content.
    pub pcapng: Vec<u8>,
}

/// What a capture has to know of a packet that its source sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub number: u32,
    /// Bytes on the wire.
    pub size: u16,
    pub is_syn: bool,
    pub ecn_capable: bool,
    /// What the sender writes into its congestion field.
    pub feedback: Feedback,
}

/// The destination's port. The source has a port for each subflow.
const DESTINATION_PORT: u16 = 5001;
/// The source's ports: the dynamic ones (RFC 6335).
const SOURCE_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;
/// Every packet announces the largest window there is: the simulator's packets carry none.
const WINDOW: u16 = u16::MAX;
const WINDOW_SCALE: u8 = 14;

/// What a recording has to know of its flow.
pub(crate) struct About<'a> {
    /// Its number in the run.
    pub flow: u32,
    /// The hosts' numbers.
    pub source: u32,
    pub destination: u32,
    /// The source host's name.
    pub host: &'a str,
    pub subflows: u32,
    pub config: Arc<Config>,
    /// What the switches take part in.
    pub scheme: Option<Scheme>,
    /// Most marks that one acknowledgement echoes; `None` without ECN.
    pub ecn_echo: Option<u8>,
}

/// The packets of a flow so far.
pub(crate) struct Recording {
    source: u32,
    destination: u32,
    first_port: u64,
    config: Arc<Config>,
    /// By how much a congestion header makes data packets longer.
    header_bytes: u16,
    /// Whether data packets are ECN-capable.
    ecn: bool,
    carries: Carries,
    /// By number.
    subflows: Vec<Sequence>,
    packets: u64,
    file: pcapng::File,
}

impl Recording {
    pub fn new(about: About<'_>) -> Recording {
        let carries = Carries::new(about.scheme, about.ecn_echo);
        Recording {
            source: about.source,
            destination: about.destination,
            first_port: u64::from(about.flow) * u64::from(about.subflows),
            config: about.config,
            header_bytes: about.scheme.map_or(0, Scheme::header_bytes),
            ecn: about.ecn_echo.is_some(),
            carries,
            subflows: vec![Sequence::new(); about.subflows as usize],
            packets: 0,
            file: pcapng::File::new(about.host, carries.description()),
        }
    }

    /// The source hands a packet to its port.
    pub fn sent(&mut self, at: Time, subflow: u32, packet: SentPacket) {
        let mut tcp = TcpHeader::new(0, 0, 0, WINDOW);
        let field = Field::new(packet.feedback, false);
        let (mut options, mut payload) = (field.option, 0);
        if packet.is_syn {
            tcp.syn = true;
            (tcp.ece, tcp.cwr) = (self.ecn, self.ecn); // RFC 3168, section 6.1.1
            options = self.opening_options();
        } else {
            payload = packet.size - self.config.overhead() - self.header_bytes;
            let sequence = &mut self.subflows[subflow as usize];
            sequence.note(packet.number, payload);
            tcp.sequence_number = sequence.of(packet.number);
            tcp.ack = true;
            tcp.acknowledgment_number = 1;
        }
        let content = Content {
            tcp,
            reserved: field.reserved,
            options,
            ecn: field.ecn.unwrap_or(ecn(packet.ecn_capable, false)),
            payload,
            size: packet.size,
        };
        let (source, destination) = self.ends(subflow);
        let (headers, length) = frame::frame(source, destination, content);
        self.packets += 1;
        self.file.add(at, headers, length, None);
    }

    /// An acknowledgement with these blocks, or a SYN-ACK, reaches the source.
    pub fn arrived(
        &mut self,
        at: Time,
        subflow: u32,
        (segment, blocks): (&Segment, &[SackBlock]),
        (header, feedback): (&Header, Feedback),
    ) {
        let field = Field::new(feedback, true);
        let sequence = &self.subflows[subflow as usize];
        let mut tcp = TcpHeader::new(0, 0, 0, WINDOW);
        tcp.ack = true;
        let (mut options, mut comment) = (field.option, None);
        if segment.kind == Kind::SynAck {
            tcp.syn = true;
            tcp.acknowledgment_number = 1;
            tcp.ece = self.ecn;
            options = self.opening_options();
        } else {
            tcp.sequence_number = 1;
            tcp.acknowledgment_number = sequence.of(segment.number());
            let marks = segment.ce_echo();
            if self.carries == Carries::Marks {
                (tcp.ece, tcp.cwr) = (marks & 1 != 0, marks & 2 != 0);
            } else {
                tcp.ece = marks > 0;
                // TCP has one bit for what may be several marks.
                comment = tcp.ece.then(|| format!("marks echoed: {marks}"));
            }
            let mut blocks = blocks
                .iter()
                .map(|block| (sequence.of(block.start), sequence.of(block.end)));
            if let Some(first) = blocks.next() {
                let others = std::array::from_fn(|_| blocks.next());
                options.extend(frame::options(&[
                    TcpOptionElement::Noop,
                    TcpOptionElement::Noop,
                    TcpOptionElement::SelectiveAcknowledgement(first, others),
                ]));
            }
        }
        let content = Content {
            tcp,
            reserved: field.reserved,
            options,
            ecn: field
                .ecn
                .unwrap_or(ecn(header.ecn_capable(), header.congestion_experienced())),
            payload: 0,
            size: header.size(),
        };
        let (source, destination) = self.ends(subflow);
        let (headers, length) = frame::frame(destination, source, content);
        self.packets += 1;
        self.file.add(at, headers, length, comment);
    }

    /// The capture that came of it.
    pub fn finish(self, name: String, flow: u32) -> Capture {
        Capture {
            name,
            flow,
            packets: self.packets,
            pcapng: self.file.into_bytes(),
        }
    }

    /// Source and destination of a subflow.
    fn ends(&self, subflow: u32) -> (End, End) {
        let ports = u64::from(SOURCE_PORTS.end() - SOURCE_PORTS.start()) + 1;
        let port = (self.first_port + u64::from(subflow)) % ports;
        (
            End {
                host: self.source,
                port: SOURCE_PORTS.start() + port as u16,
            },
            End {
                host: self.destination,
                port: DESTINATION_PORT,
            },
        )
    }

    fn opening_options(&self) -> Vec<u8> {
        let segment = TcpOptionElement::MaximumSegmentSize(self.config.maximum_segment);
        let scale = TcpOptionElement::WindowScale(WINDOW_SCALE);
        let mut options = vec![segment, TcpOptionElement::Noop, scale];
        if self.config.recovery == Recovery::Sack {
            options.extend([
                TcpOptionElement::Noop,
                TcpOptionElement::Noop,
                TcpOptionElement::SelectiveAcknowledgementPermitted,
            ]);
        }
        frame::options(&options)
    }
}

fn ecn(capable: bool, marked: bool) -> IpEcn {
    match (capable, marked) {
        (_, true) => IpEcn::CongestionExperienced,
        (true, false) => IpEcn::Ect0,
        (false, false) => IpEcn::NotEct,
    }
}
