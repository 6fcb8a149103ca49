//! Which places of a ring are in use.

/// A bit for each place of a ring.
#[derive(Clone, Debug)]
pub(crate) struct UsedPlaces {
    words: Box<[u64]>,
}

impl UsedPlaces {
    /// None of this many.
    pub fn none(places: usize) -> UsedPlaces {
        UsedPlaces {
            words: vec![0; places.div_ceil(64)].into(),
        }
    }

    /// A place is in use from now on.
    #[inline(always)]
    pub fn add(&mut self, place: usize) {
        self.words[place / 64] |= 1 << (place % 64);
    }

    /// A place is not in use any more.
    #[inline(always)]
    pub fn remove(&mut self, place: usize) {
        self.words[place / 64] &= !(1 << (place % 64));
    }

    /// The first place in use from this one on, once around the ring.
    #[inline(always)]
    pub fn first_from(&self, place: usize) -> Option<usize> {
        let word = place / 64;
        let here = self.words[word] & (!0 << (place % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        self.first_beyond(word)
    }

    /// The first place in use after those of this word, which come once more at the end.
    #[inline(never)]
    fn first_beyond(&self, word: usize) -> Option<usize> {
        let (before, after) = self.words.split_at(word + 1);
        let others = (word + 1..).zip(after).chain((0..).zip(before));
        let (word, bits) = others.into_iter().find(|(_, bits)| **bits != 0)?;
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_place_in_use_is_found_around_the_ring(
            words in 1usize..4, used in prop::collection::btree_set(0usize..192, 0..6), from in 0usize..192,
        ) {
            let all = 64 * words;
            let used: Vec<usize> = used.into_iter().filter(|&place| place < all).collect();
            let mut places = UsedPlaces::none(all);
            for place in 0..all {
                places.add(place);
            }
            for place in (0..all).filter(|place| !used.contains(place)) {
                places.remove(place);
            }
            let mut around = (0..all).map(|ahead| (from + ahead) % all);
            let expected = around.find(|place| used.contains(place));
            prop_assert_eq!(places.first_from(from % all), expected);
        }
    }
}
