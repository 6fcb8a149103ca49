//! The bytes that a flow sends: what the far end must get can be worked out again there.

/// The bytes of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    seed: u64,
}

impl Stream {
    /// Those of this flow of a run with this seed.
    pub fn new(seed: u64, flow: u32) -> Stream {
        Stream {
            seed: pathweave_random::hash(&[seed, u64::from(flow)]),
        }
    }

    /// Eight bytes, by their number (SplitMix64: every place can be had without those before it).
    #[inline]
    fn word(&self, number: u64) -> [u8; 8] {
        let mut word = self
            .seed
            .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_le_bytes()
    }

    /// Writes the bytes from this offset on.
    pub fn fill(&self, offset: u64, bytes: &mut [u8]) {
        self.words(offset, bytes.len(), |at, word| {
            bytes[at..at + word.len()].copy_from_slice(word);
            true
        });
    }

    /// Where bytes that came at this offset first differ from what was sent.
    pub fn first_error(&self, offset: u64, bytes: &[u8]) -> Option<u64> {
        let mut wrong = None;
        self.words(offset, bytes.len(), |at, word| {
            let came = &bytes[at..at + word.len()];
            if came != word {
                let within = came.iter().zip(word).position(|(a, b)| a != b);
                wrong = Some(offset + (at + within.unwrap_or(0)) as u64);
            }
            wrong.is_none()
        });
        wrong
    }

    /// Gives the pieces that this many bytes from an offset on are made of, with their places among these
    /// bytes, until `each` has had enough.
    #[inline]
    fn words(&self, offset: u64, length: usize, mut each: impl FnMut(usize, &[u8]) -> bool) {
        let lead = (offset % 8) as usize;
        let mut number = offset / 8;
        let mut at = 0;
        if lead > 0 && length > 0 {
            let end = length.min(8 - lead);
            if !each(0, &self.word(number)[lead..lead + end]) {
                return;
            }
            (at, number) = (end, number + 1);
        }
        while at + 8 <= length {
            if !each(at, &self.word(number)) {
                return;
            }
            (at, number) = (at + 8, number + 1);
        }
        if at < length {
            each(at, &self.word(number)[..length - at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(stream: Stream, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        stream.fill(0, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn pieces_are_those_of_the_whole(offset in 0usize..200, length in 0usize..200) {
            let stream = Stream::new(1, 2);
            let all = whole(stream, 400);
            let mut piece = vec![0; length];
            stream.fill(offset as u64, &mut piece);
            prop_assert_eq!(&piece[..], &all[offset..offset + length]);
            prop_assert_eq!(stream.first_error(offset as u64, &piece), None);
        }

        /// What a fault in memory or a segment in the wrong place would look like.
        #[test]
        fn the_first_wrong_byte_is_found(
            offset in 0u64..64, length in 1usize..200, place in any::<prop::sample::Index>(), flip in 1u8..,
        ) {
            let stream = Stream::new(9, 4);
            let mut bytes = vec![0; length];
            stream.fill(offset, &mut bytes);
            let place = place.index(length);
            bytes[place] ^= flip;
            prop_assert_eq!(stream.first_error(offset, &bytes), Some(offset + place as u64));
        }
    }

    #[test]
    fn bytes_in_the_wrong_place_are_wrong() {
        let stream = Stream::new(1, 1);
        let bytes = whole(stream, 4096);
        assert!(stream.first_error(8, &bytes).is_some());
        assert!(Stream::new(1, 2).first_error(0, &bytes).is_some());
        assert!(Stream::new(2, 1).first_error(0, &bytes).is_some());
    }
}
