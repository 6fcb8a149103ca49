//! From segment numbers to sequence numbers in bytes.

/// Where the segments of a subflow begin, by their number, and where the next one will. Data begin at 1,
/// after the SYN; beyond 2^32 the numbers start again at 0, as in TCP.
#[derive(Clone, Debug)]
pub(super) struct Sequence(Vec<u32>);

impl Sequence {
    pub fn new() -> Sequence {
        Sequence(vec![1])
    }

    /// A segment with this payload is sent, perhaps again. Segments are first sent in order.
    pub fn note(&mut self, number: u32, payload: u16) {
        let next = self.0.len() - 1;
        if number as usize == next {
            self.0.push(self.0[next].wrapping_add(u32::from(payload)));
        }
    }

    /// The sequence number of a segment's first byte.
    pub fn of(&self, number: u32) -> u32 {
        self.0[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_take_no_more_than_their_bytes() {
        let mut sequence = Sequence::new();
        sequence.note(0, 1000);
        sequence.note(1, 300);
        sequence.note(2, 1000);
        sequence.note(1, 300);
        let starts: Vec<u32> = (0..4).map(|number| sequence.of(number)).collect();
        assert_eq!(starts, [1, 1001, 1301, 2301]);
    }

    #[test]
    fn numbers_wrap_as_in_tcp() {
        let mut sequence = Sequence::new();
        (0..3_000_000).for_each(|number| sequence.note(number, 1448));
        // 3,000,000 segments of 1448 bytes are 4,344,000,000 bytes: 49,032,704 beyond 2^32.
        assert_eq!(sequence.of(3_000_000), 49_032_705);
    }
}
