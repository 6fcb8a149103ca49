//! A pcapng file of one interface in memory.

use super::frame;
use pathweave_units::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use std::time::Duration;

/// Timestamps count nanoseconds: 10 to the power of minus this.
const RESOLUTION: u8 = 9;

/// The file so far.
pub(super) struct File {
    writer: PcapNgWriter<Vec<u8>>,
}

impl File {
    /// A file without packets. `host` is where they are captured, and `description` what else is said of it.
    pub fn new(host: &str, description: Option<&'static str>) -> File {
        // The platform's byte order would give other bits elsewhere.
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(
                concat!("pathweave ", env!("CARGO_PKG_VERSION")).into(),
            )],
            ..SectionHeaderBlock::default()
        };
        let name = InterfaceDescriptionOption::IfName(host.to_owned().into());
        let resolution = InterfaceDescriptionOption::IfTsResol(RESOLUTION);
        let description =
            description.map(|text| InterfaceDescriptionOption::IfDescription(text.into()));
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: frame::LONGEST,
            options: [name, resolution].into_iter().chain(description).collect(),
        };
        let mut writer =
            PcapNgWriter::with_section_header(Vec::new(), section).expect("memory takes it");
        writer
            .write_pcapng_block(interface)
            .expect("memory takes it");
        File { writer }
    }

    /// Adds a packet of `length` bytes, of which `headers` are kept.
    pub fn add(&mut self, at: Time, headers: Vec<u8>, length: u32, comment: Option<String>) {
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.as_picos() / 1000),
            original_len: length,
            data: headers.into(),
            options: comment
                .map(|text| EnhancedPacketOption::Comment(text.into()))
                .into_iter()
                .collect(),
        };
        self.writer
            .write_pcapng_block(packet)
            .expect("memory takes it");
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.writer.into_inner()
    }
}
