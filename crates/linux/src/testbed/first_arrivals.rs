//! What of a flow's payload has come to its host for the first time: the rest came twice.
//!
//! Data has its place in the connection's stream: the one that MPTCP's data sequence signal gives it (RFC 8684,
//! section 3.3), whatever subflow it comes on; without one, that of its TCP sequence number.

const TCP_OPTION_MPTCP: u8 = 30;
const DATA_SEQUENCE_SIGNAL: u8 = 2;
const SYN: u8 = 2;
/// Flags of a data sequence signal.
const HAS_ACK: u8 = 1;
const LONG_ACK: u8 = 2;
const HAS_MAPPING: u8 = 4;
const LONG_SEQUENCE: u8 = 8;

/// A data packet's payload: where it begins in its connection's stream, of which the number has 32 bits, and how
/// much it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    first: u32,
    length: u32,
}

/// The payload of a packet that goes from a flow's source to its destination; `None` if it has none. `syn` is the
/// sequence number of its subflow's SYN, which a packet with that flag sets.
pub fn data(frame: &[u8], syn: &mut u32) -> Option<Data> {
    let tcp = frame.get(usize::from(frame.first()? & 15) * 4..)?;
    let header: &[u8; 20] = tcp.first_chunk()?;
    let options = tcp.get(20..usize::from(header[12] >> 4) * 4)?;
    let length = (tcp.len() - 20 - options.len()) as u32;
    let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    if header[13] & SYN != 0 {
        *syn = sequence;
        return None;
    }
    if length == 0 {
        return None;
    }
    let mapped = mapping(options).map(|(data, subflow)| {
        // The mapping says where the subflow's byte `subflow` belongs, counted from its SYN.
        data.wrapping_sub(subflow)
            .wrapping_add(sequence.wrapping_sub(*syn))
    });
    Some(Data {
        first: mapped.unwrap_or(sequence),
        length,
    })
}

/// The low 32 bits of the data sequence number in a packet's options, and the subflow's that it stands for.
fn mapping(mut options: &[u8]) -> Option<(u32, u32)> {
    loop {
        let (&kind, rest) = options.split_first()?;
        if kind == 0 {
            return None;
        }
        if kind == 1 {
            options = rest;
            continue;
        }
        let length = usize::from(*rest.first()?);
        let option = options.get(..length.max(2))?;
        options = &options[option.len()..];
        let is_signal =
            kind == TCP_OPTION_MPTCP && length >= 4 && option[2] >> 4 == DATA_SEQUENCE_SIGNAL;
        if !is_signal || option[3] & HAS_MAPPING == 0 {
            continue;
        }
        let flags = option[3];
        let ack = match (flags & HAS_ACK != 0, flags & LONG_ACK != 0) {
            (false, _) => 0,
            (true, false) => 4,
            (true, true) => 8,
        };
        // Of eight bytes the last four.
        let sequence = 4 + ack + if flags & LONG_SEQUENCE == 0 { 0 } else { 4 };
        let word = |at: usize| Some(u32::from_be_bytes(*option.get(at..)?.first_chunk()?));
        return Some((word(sequence)?, word(sequence + 4)?));
    }
}

/// The ranges of one connection's stream that have come.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// In order and apart from each other; numbers have grown past 32 bits.
    ranges: Vec<(u64, u64)>,
}

impl Arrived {
    /// Takes in what has come. Returns how many bytes of it are new.
    pub fn add(&mut self, data: Data) -> u64 {
        // Near the last number that came, of those with these low bits.
        let last = self.ranges.last().map_or(1 << 32, |&(_, end)| end);
        let ahead = data.first.wrapping_sub(last as u32) as i32;
        let start = last.wrapping_add_signed(i64::from(ahead));
        let end = start + u64::from(data.length);
        // Those that it touches become one with it.
        let from = self.ranges.partition_point(|&(_, before)| before < start);
        let to = self.ranges.partition_point(|&(first, _)| first <= end);
        let touched = &self.ranges[from..to];
        let known: u64 = touched
            .iter()
            .map(|&(first, last)| last.min(end).saturating_sub(first.max(start)))
            .sum();
        let first = touched.first().map_or(start, |range| range.0.min(start));
        let last = touched.last().map_or(end, |range| range.1.max(end));
        self.ranges.splice(from..to, [(first, last)]);
        u64::from(data.length) - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A packet with these options, filled up to whole words, and this much payload.
    fn frame(sequence: u32, flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let padded = options.len().next_multiple_of(4);
        let mut frame = vec![0u8; 20];
        frame[0] = 0x45;
        let mut tcp = vec![0u8; 20];
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        tcp[12] = ((20 + padded) as u8 / 4) << 4;
        tcp[13] = flags;
        frame.extend(tcp);
        frame.extend(options);
        frame.resize(40 + padded + payload, 7);
        frame
    }

    fn signal(flags: u8, fields: &[&[u8]]) -> Vec<u8> {
        let fields = fields.concat();
        // After a timestamp between two fillers, as Linux has it.
        let mut options = vec![1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
        options.extend([30, 4 + fields.len() as u8, DATA_SEQUENCE_SIGNAL << 4, flags]);
        options.extend(fields);
        options
    }

    #[test]
    fn data_is_where_its_mapping_says() {
        let mut syn = 0;
        assert_eq!(data(&frame(1000, SYN, &[], 0), &mut syn), None);
        assert_eq!(syn, 1000);
        // The subflow's third byte is the connection's byte 500.
        let (long, short) = (500u64.to_be_bytes(), 500u32.to_be_bytes());
        let (ack, subflow, length) = ([9u8; 8], 3u32.to_be_bytes(), [0, 100, 0, 0]);
        for options in [
            signal(0b1111, &[&ack, &long, &subflow, &length]),
            signal(0b0101, &[&ack[..4], &short, &subflow, &length]),
            signal(0b1100, &[&long, &subflow, &length]),
        ] {
            let found = data(&frame(1013, 16, &options, 40), &mut syn);
            let expected = Data {
                first: 510,
                length: 40,
            };
            assert_eq!(found, Some(expected));
        }
        // An acknowledgement alone maps nothing.
        let options = signal(0b0011, &[&ack]);
        let expected = Data {
            first: 1013,
            length: 40,
        };
        assert_eq!(
            data(&frame(1013, 16, &options, 40), &mut syn),
            Some(expected)
        );
        assert_eq!(data(&frame(1013, 16, &options, 0), &mut syn), None);
    }

    proptest! {
        /// Against a set of bytes, from a number on that soon wraps.
        #[test]
        fn agrees_with_a_set(
            base in prop_oneof![Just(0u32), Just(u32::MAX - 60), any::<u32>()],
            pieces in prop::collection::vec((0u32..100, 1u32..20), 0..60),
        ) {
            let (mut arrived, mut held) = (Arrived::default(), BTreeSet::new());
            for (offset, length) in pieces {
                let new = (offset..offset + length).filter(|&byte| held.insert(byte)).count();
                let data = Data { first: base.wrapping_add(offset), length };
                prop_assert_eq!(arrived.add(data), new as u64);
            }
        }

        #[test]
        fn no_bytes_confuse_it(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut syn = 0;
            let found = data(&bytes, &mut syn);
            prop_assert!(found.is_none_or(|data| data.length as usize <= bytes.len()));
        }
    }
}
