//! Captures, read back: what they hold agrees with the tables and with hand arithmetic.

use crate::plans::{self, fixed, table};
use crate::suspensions::{Event, incast, suspensions};
use etherparse::checksum::Sum16BitWords;
use etherparse::{Ethernet2Header, IpEcn, Ipv4Header, TcpHeader, TcpOptionElement};
use pathweave_control::Algorithm;
use pathweave_control::decn::Difference;
use pathweave_engine::{Capture, Output};
use pathweave_scenario::{CapturedFlow, Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_transport::{PacketMix, Recovery};
use pathweave_units::{Bytes, Rate, Time};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::collections::{BTreeMap, BTreeSet};

const DATA: u64 = 1500;
const ACK: u64 = 52;
const MSS: u32 = 1448;

/// A captured packet.
struct Seen {
    at: Time,
    ip: Ipv4Header,
    tcp: TcpHeader,
    /// The reserved bits of TCP.
    reserved: u8,
    payload: u32,
    /// Bytes on the wire.
    length: u32,
    comment: Option<String>,
}

impl Seen {
    fn outgoing(&self) -> bool {
        self.tcp.destination_port == 5001
    }

    /// The source's port, which tells the subflow.
    fn port(&self) -> u16 {
        if self.outgoing() {
            self.tcp.source_port
        } else {
            self.tcp.destination_port
        }
    }

    fn sack(&self) -> Vec<(u32, u32)> {
        let mut blocks = Vec::new();
        for option in self.tcp.options_iterator() {
            let option = option.expect("whole options");
            if let TcpOptionElement::SelectiveAcknowledgement(first, others) = option {
                blocks.push(first);
                blocks.extend(others.into_iter().flatten());
            }
        }
        blocks
    }

    /// ECE and CWR as a number.
    fn two_bits(&self) -> u8 {
        u8::from(self.tcp.ece) | u8::from(self.tcp.cwr) << 1
    }

    /// What follows the identifier of an experimental option, if there is one.
    fn experiment(&self, identifier: &[u8; 2]) -> Option<&[u8]> {
        let mut rest = self.tcp.options.as_slice();
        loop {
            match *rest {
                [] => return None,
                [1, ..] => rest = &rest[1..],
                [254, length, a, b, ..] if [a, b] == *identifier => {
                    return Some(&rest[4..usize::from(length)]);
                }
                [_, length, ..] => rest = &rest[usize::from(length)..],
                [_] => panic!("an option of one byte: {rest:?}"),
            }
        }
    }

    /// Such an option's numbers.
    fn numbers<const N: usize>(&self, identifier: &[u8; 2]) -> Option<[f32; N]> {
        let content = self.experiment(identifier)?;
        assert_eq!(content.len(), 4 * N);
        Some(std::array::from_fn(|n| {
            let bytes = content[4 * n..][..4].try_into().expect("four bytes");
            f32::from_be_bytes(bytes)
        }))
    }
}

/// Whether the checksums of a frame's IP and TCP headers are right. Payload is of zeros, and is not there.
fn is_sound(frame: &[u8]) -> bool {
    let (ip, tcp) = frame[14..].split_at(20);
    let length = u16::from_be_bytes([ip[2], ip[3]]) - 20;
    let sum = Sum16BitWords::new()
        .add_slice(&ip[12..])
        .add_2bytes([0, 6])
        .add_2bytes(length.to_be_bytes());
    let of_ip = Sum16BitWords::new().add_slice(ip).ones_complement();
    (of_ip, sum.add_slice(tcp).ones_complement()) == (0, 0)
}

/// What a capture says of its interface.
fn description(capture: &Capture) -> Option<String> {
    let mut reader = PcapNgReader::new(capture.pcapng.as_slice()).expect("a section");
    let block = reader.next_block().expect("a block");
    let Block::InterfaceDescription(interface) = block.expect("a whole block") else {
        panic!("the interface comes first");
    };
    interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfDescription(text) => Some(text.to_string()),
        _ => None,
    })
}

fn packets(capture: &Capture) -> Vec<Seen> {
    let mut reader = PcapNgReader::new(capture.pcapng.as_slice()).expect("a section");
    let mut seen = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.expect("a whole block") {
            Block::InterfaceDescription(interface) => {
                let resolution = InterfaceDescriptionOption::IfTsResol(9);
                assert!(interface.options.contains(&resolution), "{interface:?}");
            }
            Block::EnhancedPacket(packet) => {
                let (_, rest) = Ethernet2Header::from_slice(&packet.data).expect("Ethernet");
                let (ip, rest) = Ipv4Header::from_slice(rest).expect("IPv4");
                let (tcp, rest) = TcpHeader::from_slice(rest).expect("TCP");
                assert!(rest.is_empty(), "headers only");
                assert!(is_sound(&packet.data), "{:?}", packet.data);
                let comment = packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                    _ => None,
                });
                seen.push(Seen {
                    at: Time::from_nanos(packet.timestamp.as_nanos() as u64),
                    payload: u32::from(ip.total_len) - 20 - tcp.header_len() as u32,
                    length: packet.original_len,
                    ip,
                    tcp,
                    reserved: packet.data[14 + 20 + 12] & 0xf,
                    comment,
                });
            }
            other => panic!("a block that nobody wrote: {other:?}"),
        }
    }
    assert_eq!(seen.len() as u64, capture.packets);
    seen
}

/// Asks for the packets of the number-th flow of a group.
fn capture(plan: &mut Plan, group: usize, number: u64) {
    plan.record.packets.push(CapturedFlow {
        name: format!("{group}-{number}"),
        group,
        number,
    });
}

/// One flow of two subflows from one pod of a fat-tree to another. All links have one rate, so that
/// its host's own port is where it queues and drops. Its last packet is short.
fn two_subflows(recovery: Recovery) -> Plan {
    let size = 3000 * u64::from(MSS) + 700;
    let mut group = plans::group(
        "reno",
        &[],
        plans::flows(&[(0, 15, Time::ZERO)]),
        fixed(size),
    );
    group.subflows = 2;
    group.transport.recovery = recovery;
    // The end of the flow leaves no acknowledgement waiting.
    group.transport.ack_every = 1;
    group.transport.minimum_rto = Time::from_millis(1);
    let mut plan = plans::plan(
        plans::fat_tree(4),
        plans::queue(20, None),
        vec![group],
        None,
    );
    // Long enough for the last acknowledgement, which comes after the flow's end.
    plan.stop.at = Some(Time::from_secs(1));
    capture(&mut plan, 0, 0);
    plan
}

/// The capture's data packets by subflow.
fn data_by_subflow(seen: &[Seen]) -> Vec<Vec<&Seen>> {
    let mut by_port: BTreeMap<u16, Vec<&Seen>> = BTreeMap::new();
    for packet in seen {
        by_port.entry(packet.port()).or_default();
        if packet.outgoing() && packet.payload > 0 {
            by_port.entry(packet.port()).or_default().push(packet);
        }
    }
    by_port.into_values().collect()
}

#[test]
fn data_packets_are_those_that_the_tables_count() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let output = plans::run(&two_subflows(recovery));
        let seen = packets(&output.captures[0]);
        let subflows = data_by_subflow(&seen);
        let rows = table(&output, "subflows");
        assert!(
            table(&output, "links").integers("drops")[..]
                .iter()
                .sum::<u64>()
                > 0
        );
        assert_eq!(subflows.len(), 2);
        for (number, data) in subflows.iter().enumerate() {
            let starts: BTreeSet<u32> = data.iter().map(|p| p.tcp.sequence_number).collect();
            let again = data.len() - starts.len();
            assert_eq!(data.len() as u64, rows.integers("sent_packets")[number]);
            assert_eq!(again as u64, rows.integers("retransmits")[number]);
            assert!(again > 0, "nothing was sent again");
            // Numbers are those of bytes: one after another, each byte delivered once.
            let mut next = 1;
            for packet in data {
                let (start, end) = (
                    packet.tcp.sequence_number,
                    packet.tcp.sequence_number + packet.payload,
                );
                assert!(start <= next, "a gap before {start}");
                next = next.max(end);
                let full = packet.payload == MSS;
                assert!(full || packet.payload == 700);
                assert_eq!(
                    u64::from(packet.length),
                    14 + DATA - u64::from(MSS - packet.payload)
                );
            }
            assert_eq!(u64::from(next - 1), rows.integers("received_bytes")[number]);
            let acknowledged = seen
                .iter()
                .filter(|p| !p.outgoing() && p.port() == data[0].port())
                .map(|p| p.tcp.acknowledgment_number)
                .max();
            assert_eq!(acknowledged, Some(next));
        }
        assert!(seen.is_sorted_by_key(|packet| packet.at));
        let blocks: usize = seen.iter().map(|packet| packet.sack().len()).sum();
        assert_eq!(blocks > 0, recovery == Recovery::Sack);
    }
}

/// Packets of different sizes, with losses, and a congestion header on top.
#[test]
fn numbers_are_those_of_bytes_where_packets_differ() {
    for (controller, header) in [("reno", 0), ("xcp", 16)] {
        let mut plan = two_subflows(Recovery::Sack);
        let group = &mut plan.groups[0];
        let entry = pathweave_control::find(controller).expect("a controller");
        group.controller = Algorithm::Registered(entry);
        group.parameters = entry.defaults();
        group.subflows = if controller == "xcp" { 1 } else { 2 };
        let mix = PacketMix::new(|probability| 100.0 + 1400.0 * probability);
        group.transport.packets = Some(mix);
        let output = plans::run(&plan);
        let seen = packets(&output.captures[0]);
        let rows = table(&output, "subflows");
        let mut lengths = BTreeSet::new();
        for (number, data) in data_by_subflow(&seen).iter().enumerate() {
            let mut next = 1;
            for packet in data {
                let start = packet.tcp.sequence_number;
                assert!(start <= next, "a gap before {start}");
                next = next.max(start + packet.payload);
                // 14 bytes of Ethernet, and the headers of all data packets.
                assert_eq!(packet.length, 14 + 52 + header + packet.payload);
                lengths.insert(packet.length);
            }
            assert_eq!(u64::from(next - 1), rows.integers("received_bytes")[number]);
        }
        assert!(lengths.len() > 100);
    }
}

/// A host's own port drops behind the place where packets are captured.
#[test]
fn what_the_hosts_own_port_drops_was_captured() {
    let plan = two_subflows(Recovery::Sack);
    let output = plans::run(&plan);
    let own = plans::link(&plan.fabric, "h0", "edge0.0");
    let links = table(&output, "links");
    let dropped = links.integers("drops")[own.0 as usize];
    assert!(dropped > 0);
    let outgoing = packets(&output.captures[0])
        .iter()
        .filter(|packet| packet.outgoing())
        .count();
    let delivered = links.integers("packets")[own.0 as usize];
    assert_eq!(outgoing as u64, delivered + dropped);
}

/// Every block lies above the cumulative number and on packets sent before; blocks do not overlap.
#[test]
fn selective_acknowledgements_report_what_was_sent() {
    let output = plans::run(&two_subflows(Recovery::Sack));
    let mut sent: BTreeMap<u16, BTreeSet<u32>> = BTreeMap::new();
    let mut ends: BTreeMap<u16, BTreeSet<u32>> = BTreeMap::new();
    for packet in packets(&output.captures[0]) {
        let start = packet.tcp.sequence_number;
        if packet.outgoing() {
            sent.entry(packet.port()).or_default().insert(start);
            ends.entry(packet.port())
                .or_default()
                .insert(start + packet.payload);
            continue;
        }
        let mut blocks = packet.sack();
        blocks.sort_unstable();
        let mut above = packet.tcp.acknowledgment_number;
        for (from, to) in blocks {
            assert!(above < from && from < to);
            assert!(sent[&packet.port()].contains(&from) && ends[&packet.port()].contains(&to));
            above = to;
        }
    }
}

/// One flow of three packets over an idle dumbbell, by hand.
#[test]
fn every_packet_of_a_short_flow() {
    let size = 2 * u64::from(MSS) + 100;
    let mut group = plans::group("dctcp", &[], plans::single(), fixed(size));
    group.transport.ack_every = 1;
    let fabric = plans::dumbbell(1, Time::from_micros(100));
    let mut plan = plans::plan(fabric, plans::queue(60, Some(50)), vec![group], None);
    plan.jitter = false;
    plan.stop.at = Some(Time::from_millis(1));
    capture(&mut plan, 0, 0);
    let seen = packets(&plans::run(&plan).captures[0]);
    let one_way = |bytes: u64| {
        let on_host_links = Time::from_nanos(100) + Rate::from_gbps(10).time_for(Bytes::new(bytes));
        let bottleneck = Time::from_micros(100) + Rate::from_gbps(1).time_for(Bytes::new(bytes));
        on_host_links * 2 + bottleneck
    };
    let handshake = one_way(ACK) * 2;
    let first = handshake + one_way(DATA) + one_way(ACK);
    // The second waits for the first at the bottleneck. The third, being short, arrives so soon after
    // it that its acknowledgement waits for the second's at the bottleneck.
    let service = Rate::from_gbps(1).time_for(Bytes::new(DATA));
    let third = first + service + Rate::from_gbps(1).time_for(Bytes::new(ACK));
    let expected = [
        (Time::ZERO, true, 0, 0, 0),
        (handshake, false, 0, 1, 0),
        (handshake, true, 1, 1, MSS),
        (handshake, true, 1 + MSS, 1, MSS),
        (handshake, true, 1 + 2 * MSS, 1, 100),
        (first, false, 1, 1 + MSS, 0),
        (first + service, false, 1, 1 + 2 * MSS, 0),
        (third, false, 1, 1 + 2 * MSS + 100, 0),
    ];
    assert_eq!(seen.len(), expected.len());
    for (packet, (at, outgoing, sequence, acknowledgment, payload)) in seen.iter().zip(expected) {
        let tcp = &packet.tcp;
        let found = (
            packet.outgoing(),
            tcp.sequence_number,
            tcp.acknowledgment_number,
        );
        assert_eq!(found, (outgoing, sequence, acknowledgment));
        assert_eq!(packet.payload, payload);
        assert_eq!(packet.at, Time::from_nanos(at.as_picos() / 1000));
        // DCTCP's data packets are ECN-capable and nothing else is.
        let ecn = if payload > 0 {
            IpEcn::Ect0
        } else {
            IpEcn::NotEct
        };
        assert_eq!(packet.ip.ecn, ecn);
        let (here, there) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let ends = if outgoing {
            (here, there)
        } else {
            (there, here)
        };
        assert_eq!((packet.ip.source, packet.ip.destination), ends);
        let size = u64::from(packet.payload) + 52;
        assert_eq!(u64::from(packet.length), 14 + size);
    }
    let flags = |n: usize| {
        (
            seen[n].tcp.syn,
            seen[n].tcp.ack,
            seen[n].tcp.ece,
            seen[n].tcp.cwr,
        )
    };
    assert_eq!(flags(0), (true, false, true, true));
    assert_eq!(flags(1), (true, true, true, false));
    assert!((2..8).all(|n| flags(n) == (false, true, false, false)));
}

#[test]
fn echoed_marks_are_shown_and_counted() {
    let group = plans::group("dctcp", &[], plans::single(), Size::Unlimited);
    let fabric = plans::dumbbell(1, Time::from_micros(50));
    let mut plan = plans::plan(fabric, plans::queue(100, Some(5)), vec![group], None);
    plan.stop.at = Some(Time::from_millis(30));
    capture(&mut plan, 0, 0);
    let output = plans::run(&plan);
    let mut marks = 0;
    for packet in packets(&output.captures[0]).iter().filter(|p| !p.tcp.syn) {
        let echoed: u64 = packet.comment.as_ref().map_or(0, |text| {
            let (words, count) = text.rsplit_once(' ').expect("words and a number");
            assert_eq!(words, "marks echoed:");
            count.parse().expect("a number")
        });
        assert_eq!(packet.tcp.ece, echoed > 0);
        marks += echoed;
    }
    assert!(marks > 100, "{marks}");
    assert_eq!(marks, table(&output, "subflows").integers("marks")[0]);
}

/// A flow over an idle dumbbell of 1 Gbps for 30 ms. Its switches take part if its scheme wants it.
fn explicit(controller: &str, marks: Option<u32>, queue: u32) -> Plan {
    let group = plans::group(controller, &[], plans::single(), Size::Unlimited);
    let fabric = plans::dumbbell(1, Time::from_micros(50));
    let queue = plans::queue(queue, marks);
    let mut plan = plans::plan(fabric, queue, vec![group], None);
    plan.stop.at = Some(Time::from_millis(30));
    capture(&mut plan, 0, 0);
    plan
}

/// The data packets and the acknowledgements of a capture. Checks that the handshake carries no fields.
fn data_and_acknowledgements(output: &Output, fields: &str) -> (Vec<Seen>, Vec<Seen>) {
    let capture = &output.captures[0];
    let expected = format!("congestion fields: {fields}");
    assert_eq!(description(capture), Some(expected));
    let (handshake, rest): (Vec<Seen>, Vec<Seen>) =
        packets(capture).into_iter().partition(|p| p.tcp.syn);
    assert_eq!(handshake.len(), 2);
    for packet in &handshake {
        let without = (packet.reserved, packet.ip.ecn);
        assert_eq!(without, (0, IpEcn::NotEct));
        assert!(packet.tcp.options_iterator().all(|option| option.is_ok()));
    }
    rest.into_iter().partition(Seen::outgoing)
}

/// The XMP paper, section 2.1: ECE and CWR count the marks.
#[test]
fn two_bits_count_the_marks_of_xmp_and_bos() {
    for controller in ["xmp", "bos"] {
        let output = plans::run(&explicit(controller, Some(5), 100));
        let (data, acknowledgements) = data_and_acknowledgements(&output, "marks");
        assert!(data.iter().all(|p| p.two_bits() == 0));
        let mut seen = [0; 4];
        for packet in &acknowledgements {
            assert_eq!(packet.comment, None);
            seen[usize::from(packet.two_bits())] += 1;
        }
        assert!(seen[1] > 0 && seen[2] > 10, "{seen:?}");
        let marks = seen[1] + 2 * seen[2] + 3 * seen[3];
        assert_eq!(marks, table(&output, "subflows").integers("marks")[0]);
    }
}

/// Others' captures say nothing of fields.
#[test]
fn captures_without_fields_do_not_describe_any() {
    for controller in ["dctcp", "reno"] {
        let output = plans::run(&explicit(controller, Some(5), 100));
        assert_eq!(description(&output.captures[0]), None);
        for packet in packets(&output.captures[0]) {
            assert_eq!(packet.reserved, 0);
            assert!(packet.tcp.options_iterator().all(|option| option.is_ok()));
        }
    }
}

/// Senders write window and RTT into each data packet, and get a change back.
#[test]
fn xcp_carries_its_congestion_header() {
    let mut plan = explicit("xcp", None, 200);
    plan.record.windows = Some(Sampling::OnChange);
    let output = plans::run(&plan);
    let rows = table(&output, "windows");
    let initial = plan.groups[0].transport.initial_window;
    let windows: BTreeSet<u32> = rows
        .numbers("window_packets")
        .iter()
        .chain([&initial])
        .map(|window| ((window * f64::from(MSS + 52 + 16)) as f32).to_bits())
        .collect();
    let (data, acknowledgements) = data_and_acknowledgements(&output, "xcp");
    for packet in &data {
        let [window, rtt, change] = packet.numbers(b"PX").expect("a field");
        assert_eq!(change, f32::INFINITY, "switches lower it");
        assert!(rtt > 1e-4 && rtt < 1e-3, "{rtt}");
        assert!(windows.contains(&window.to_bits()), "{window}");
        let headers = 20 + packet.tcp.header_len() as u32;
        assert_eq!(headers, 52 + 16);
    }
    assert!(data.len() > 1000 && windows.len() > 100);
    let mut both = [0, 0];
    for packet in &acknowledgements {
        let [change] = packet.numbers(b"PX").expect("a field");
        assert!(change.is_finite());
        both[usize::from(change < 0.0)] += 1;
    }
    assert!(both.iter().all(|&count| count > 0), "{both:?}");
}

/// Every port lowers the rate to its own.
#[test]
fn rcp_carries_the_lowest_rate() {
    let output = plans::run(&explicit("rcp", None, 200));
    let (data, acknowledgements) = data_and_acknowledgements(&output, "rcp");
    for packet in &data {
        let [rate, rtt] = packet.numbers(b"PR").expect("a field");
        assert_eq!(rate, f32::INFINITY);
        assert!(rtt > 1e-4 && rtt < 1e-3, "{rtt}");
        assert_eq!(20 + packet.tcp.header_len(), 52 + 12);
    }
    for packet in &acknowledgements {
        let [rate] = packet.numbers(b"PR").expect("a field");
        assert!(rate > 1e7 && rate <= 1e9, "{rate}");
    }
}

/// The two ECN bits are 01 for low, 10 for high load and 11 for an overload, both ways.
#[test]
fn vcp_carries_its_load_in_the_ecn_bits() {
    let output = plans::run(&explicit("vcp", None, 200));
    let (data, acknowledgements) = data_and_acknowledgements(&output, "vcp");
    assert!(data.iter().all(|p| p.ip.ecn.value() == 1));
    let mut seen = [0; 4];
    for packet in &acknowledgements {
        seen[usize::from(packet.ip.ecn.value())] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|&count| count > 10), "{seen:?}");
}

/// Four bits of load, then three of the RTT's class: 1 from 100 to 200 us.
#[test]
fn mlcp_carries_load_and_class() {
    let output = plans::run(&explicit("mlcp", None, 200));
    let (data, acknowledgements) = data_and_acknowledgements(&output, "mlcp");
    let field = |packet: &Seen| {
        let &[byte] = packet.experiment(b"PM").expect("a field") else {
            panic!("one byte");
        };
        (byte >> 3, byte & 7)
    };
    assert!(data.iter().all(|p| field(p).0 == 0));
    assert_eq!(field(&data[0]).1, 1);
    let seen: BTreeSet<u8> = acknowledgements.iter().map(|p| field(p).0).collect();
    assert!(
        seen.len() > 5 && seen.iter().all(|&level| level < 16),
        "{seen:?}"
    );
    let classes = |list: &[Seen]| list.iter().map(|p| field(p).1).collect::<BTreeSet<u8>>();
    assert!(classes(&acknowledgements).is_subset(&classes(&data)));
}

/// Three packets in a row carry a difference; the first of them has ECN = 01.
#[test]
fn decn_carries_differences_in_reserved_bits() {
    let output = plans::run(&explicit("decn", None, 200));
    let (data, acknowledgements) = data_and_acknowledgements(&output, "decn");
    let sent = units(&data);
    assert!(sent.len() > 200, "{}", sent.len());
    assert!(sent.iter().all(|unit| unit.units() == 2047));
    let returned = units(&acknowledgements);
    // The last ones are on their way at the end.
    assert!(sent.len() - returned.len() <= 2);
    // The flow begins below the link's rate, and comes to it.
    assert!(returned[0].units() > 100, "{:?}", returned[0]);
    let late = &returned[returned.len() / 2..];
    assert!(late.iter().all(|unit| unit.units().abs() < 100), "{late:?}");
}

/// What units of three packets carry. All bits outside of them are zero.
fn units(packets: &[Seen]) -> Vec<Difference> {
    let (mut units, mut next) = (Vec::new(), 0);
    while next < packets.len() {
        let is_first = packets[next].ip.ecn == IpEcn::Ect1;
        if !is_first {
            assert_eq!(packets[next].reserved, 0);
            assert_eq!(packets[next].ip.ecn, IpEcn::NotEct);
            next += 1;
            continue;
        }
        let Some(unit) = packets.get(next..next + 3) else {
            break;
        };
        let nibbles = [0, 1, 2].map(|n| unit[n].reserved);
        assert!(unit[1..].iter().all(|p| p.ip.ecn == IpEcn::NotEct));
        units.push(Difference::from_nibbles(nibbles).expect("a difference"));
        next += 3;
    }
    units
}

/// Two groups whose flows start in turn: a number counts within its own group.
fn two_groups() -> Plan {
    let start = Time::from_micros;
    let starts = [
        (0, start(0)),
        (1, start(20)),
        (0, start(40)),
        (1, start(60)),
    ];
    let groups = (0..2).map(|group| {
        let list: Vec<(u32, u32, Time)> = starts
            .iter()
            .zip(0..)
            .filter(|((owner, _), _)| *owner == group)
            .map(|((_, at), host)| (host, 4 + host, *at))
            .collect();
        plans::group("reno", &[], plans::flows(&list), fixed(100_000))
    });
    let fabric = plans::dumbbell(4, Time::from_micros(20));
    let mut plan = plans::plan(fabric, plans::queue(100, None), groups.collect(), None);
    plan.jitter = false;
    plan
}

#[test]
fn numbers_count_within_a_group() {
    let mut plan = two_groups();
    capture(&mut plan, 1, 1);
    capture(&mut plan, 0, 1);
    let output = plans::run(&plan);
    let captures: Vec<(&str, Time)> = output
        .captures
        .iter()
        .map(|capture| (capture.name.as_str(), packets(capture)[0].at))
        .collect();
    let start = Time::from_micros;
    assert_eq!(captures, [("1-1", start(60)), ("0-1", start(40))]);
    for capture in &output.captures {
        let begun = table(&output, "flows").numbers("start_s")[capture.flow as usize];
        assert_eq!(begun, packets(capture)[0].at.as_secs_f64());
    }
    assert!(output.notes.is_empty(), "{:?}", output.notes);
}

#[test]
fn a_flow_that_never_starts_is_a_remark() {
    let mut plan = two_groups();
    capture(&mut plan, 0, 7);
    capture(&mut plan, 1, 0);
    // Asked for, but not begun when the run ends.
    capture(&mut plan, 0, 1);
    plan.stop.at = Some(Time::from_micros(30));
    let output = plans::run(&plan);
    let names: Vec<&str> = output.captures.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["1-0"]);
    let remarks: Vec<&String> = output
        .notes
        .iter()
        .filter(|note| note.contains("never started"))
        .collect();
    assert_eq!(remarks.len(), 2);
    assert!(remarks[0].contains("flow 7") && remarks[1].contains("flow 1"));
}

#[test]
fn the_same_plan_gives_the_same_captures() {
    let mut plan = two_subflows(Recovery::Sack);
    let bits = |output: Output| output.captures.into_iter().map(|c| c.pcapng);
    let first: Vec<Vec<u8>> = bits(plans::run(&plan)).collect();
    assert!(
        first
            .iter()
            .eq(&bits(plans::run(&plan)).collect::<Vec<_>>())
    );
    let plain = plans::run(&plan).hash;
    plan.record.rtts = Some(Sampling::OnChange);
    let watched = plans::run(&plan);
    assert_ne!(plain, watched.hash, "another table");
    assert_eq!(bits(watched).collect::<Vec<_>>(), first);
}

/// The times at which each subflow sent new data, by subflow number.
fn new_data(capture: &Capture) -> Vec<Vec<Time>> {
    let seen = packets(capture);
    let subflows = data_by_subflow(&seen).into_iter();
    let times = |packets: Vec<&Seen>| {
        let mut next = 0;
        let is_new = |packet: &&Seen| {
            let end = packet.tcp.sequence_number + packet.payload;
            let is_new = end > next;
            next = next.max(end);
            is_new
        };
        let new = packets.into_iter().filter(is_new);
        new.map(|packet| packet.at).collect()
    };
    subflows.map(times).collect()
}

/// The events of one subflow of flow 0, in whole nanoseconds.
fn events_of_subflow(events: &[Event], subflow: u64) -> Vec<(Time, bool)> {
    let own = events
        .iter()
        .filter(|event| (event.flow, event.subflow) == (0, subflow));
    // Captures truncate times to nanoseconds, so the times of events are truncated, too.
    let at = |event: &Event| Time::from_picos((event.at_s * 1e12).round() as u64 / 1000 * 1000);
    own.map(|event| (at(event), event.suspended)).collect()
}

#[test]
fn suspended_subflows_send_no_new_data() {
    let mut plan = incast("{ name = \"amp\", tau = 1 }", "size = \"unlimited\"");
    capture(&mut plan, 0, 0);
    let output = plans::run(&plan);
    let sent = new_data(&output.captures[0]);
    assert_eq!(sent.len(), 4);
    let events = suspensions(&output);
    let mut resumed = 0;
    for (subflow, sent) in (0..).zip(&sent).skip(1) {
        let events = events_of_subflow(&events, subflow);
        assert!(events.len() > 10, "{events:?}");
        for pair in events.windows(2) {
            let ((from, suspended), (to, _)) = (pair[0], pair[1]);
            let count = sent.iter().filter(|&&at| from < at && at < to).count();
            assert!(!suspended || count == 0, "{count} from {from} to {to}");
            resumed += usize::from(!suspended && sent.contains(&from));
        }
        assert!(sent.len() > 100);
    }
    // A resumed subflow usually has room for a packet.
    assert!(resumed > 10, "{resumed}");
}

/// Here a timer, not a packet, resumes the second subflow.
#[test]
fn suspended_subflows_go_on_when_the_first_one_fails() {
    let mut plan = plans::two_paths(Size::Unlimited);
    let mut group = plan.groups.remove(0);
    // Enough flows to keep each at the minimum window.
    group.pattern = plans::flows(&[(0, 1, Time::ZERO); 24]);
    group.listed = vec![group.listed[0].clone(); 24];
    let entry = pathweave_control::find("amp").expect("a registered controller");
    group.controller = Algorithm::Registered(entry);
    group.parameters = entry.defaults();
    group.transport.ecn = pathweave_transport::EcnUse::On;
    plan.groups.push(group);
    plan.queues.fill(plans::queue(200, Some(10)));
    let dies = Time::from_millis(20);
    plans::down_between(&mut plan, ["A1", "B1"], dies, None);
    plan.stop.at = Some(Time::from_millis(400));
    plan.record.suspensions = true;
    capture(&mut plan, 0, 0);
    let output = plans::run(&plan);
    let events = events_of_subflow(&suspensions(&output), 1);
    let (went_on, suspended) = *events.last().expect("an event");
    assert!(!suspended && went_on > dies, "{events:?}");
    let before = events[events.len() - 2];
    assert!(before.1 && before.0 < dies, "{events:?}");
    let sent = &new_data(&output.captures[0])[1];
    let next = sent.iter().find(|&&at| at > dies);
    assert_eq!(next, Some(&went_on));
}
