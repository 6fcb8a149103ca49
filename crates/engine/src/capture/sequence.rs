//! From segment numbers to sequence numbers in bytes.

/// Where the segments of a subflow begin. All have the largest payload but the flow's last one, which
/// later numbers may follow: data that other subflows left.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    /// Largest payload of a segment.
    maximum: u16,
    /// Numbers of shorter segments, and the bytes that they lack.
    short: Vec<(u32, u16)>,
}

impl Sequence {
    pub fn new(maximum: u16) -> Sequence {
        Sequence {
            maximum,
            short: Vec::new(),
        }
    }

    /// A segment with this payload is sent, perhaps again.
    pub fn note(&mut self, number: u32, payload: u16) {
        let lacking = self.maximum - payload;
        if lacking > 0 && self.short.iter().all(|&(other, _)| other != number) {
            self.short.push((number, lacking));
        }
    }

    /// The sequence number of a segment's first byte. Data begin at 1, after the SYN; beyond 2^32 the
    /// numbers start anew, as in TCP.
    pub fn of(&self, number: u32) -> u32 {
        let earlier = self.short.iter().filter(|&&(other, _)| other < number);
        let lacking: u32 = earlier.map(|&(_, bytes)| u32::from(bytes)).sum();
        number
            .wrapping_mul(u32::from(self.maximum))
            .wrapping_sub(lacking)
            .wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_segments_take_no_more_than_their_bytes() {
        let mut sequence = Sequence::new(1000);
        sequence.note(0, 1000);
        sequence.note(1, 300);
        sequence.note(2, 1000);
        sequence.note(1, 300);
        let starts: Vec<u32> = (0..4).map(|number| sequence.of(number)).collect();
        assert_eq!(starts, [1, 1001, 1301, 2301]);
    }

    #[test]
    fn numbers_wrap_as_in_tcp() {
        // 3,000,000 segments of 1448 bytes are 4,344,000,000 bytes: 49,032,704 beyond 2^32.
        assert_eq!(Sequence::new(1448).of(3_000_000), 49_032_705);
    }
}
