//! A connection's data put back in order from its subflows.

/// Which data numbers have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// Everything below this number has been delivered.
    next: u32,
    /// Numbers that arrived, each counted once.
    arrived: u32,
    /// One bit for each number from the word of `next` on, in a ring of 64-bit words.
    words: Vec<u64>,
}

impl Reassembly {
    /// Everything below this number has been delivered in order.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// The word with the bits of the next numbers, if there are any words. An arrival looks at it first.
    pub fn first_word(&self) -> Option<u64> {
        let place = (self.next / 64) as usize & self.words.len().wrapping_sub(1);
        self.words.get(place).copied()
    }

    /// Takes a number that arrived. Returns whether it was new.
    #[inline(always)]
    pub fn insert(&mut self, number: u32) -> bool {
        if number < self.next {
            return false;
        }
        let beyond = (number / 64 - self.next / 64) as usize;
        if beyond >= self.words.len() {
            self.grow(beyond);
        }
        let mask = self.words.len() - 1;
        let word = &mut self.words[(number / 64) as usize & mask];
        let bit = 1u64 << (number % 64);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.arrived += 1;
        if number == self.next {
            self.deliver(mask);
        }
        true
    }

    /// Moves `next` over everything that has arrived.
    #[inline]
    fn deliver(&mut self, mask: usize) {
        loop {
            let word = &mut self.words[(self.next / 64) as usize & mask];
            let ready = (*word >> (self.next % 64)).trailing_ones();
            let to_word_end = 64 - self.next % 64;
            self.next += ready;
            if ready < to_word_end {
                return;
            }
            *word = 0;
        }
    }

    #[cold]
    fn grow(&mut self, beyond: usize) {
        let larger = (beyond + 1).next_power_of_two().max(4);
        let mut words = vec![0; larger];
        let first = (self.next / 64) as usize;
        for index in first..first + self.words.len() {
            words[index & (larger - 1)] = self.words[index & (self.words.len() - 1)];
        }
        self.words = words;
    }

    /// Whether what was delivered and what waits add up to what arrived: the self-check of a run.
    pub fn is_consistent(&self) -> bool {
        let waiting: u64 = if self.words.is_empty() {
            0
        } else {
            let mask = self.words.len() - 1;
            let first = (self.next / 64) as usize;
            let below = (1u64 << (self.next % 64)) - 1;
            self.words
                .iter()
                .enumerate()
                .map(|(index, word)| {
                    let word = if index == first & mask {
                        word & !below
                    } else {
                        *word
                    };
                    u64::from(word.count_ones())
                })
                .sum()
        };
        u64::from(self.arrived) == u64::from(self.next) + waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(steps in prop::collection::vec((0u32..600, 1u32..90), 1..200)) {
            let mut reassembly = Reassembly::default();
            prop_assert_eq!(reassembly.first_word(), None);
            let mut arrived = BTreeSet::new();
            for (start, count) in steps {
                for number in start..start + count {
                    prop_assert_eq!(reassembly.insert(number), arrived.insert(number));
                    let next = (0..).find(|n| !arrived.contains(n)).expect("finite");
                    prop_assert_eq!(reassembly.next(), next);
                    let word = reassembly.first_word().expect("something has arrived");
                    for bit in next % 64..64 {
                        let is_there = arrived.contains(&(next / 64 * 64 + bit));
                        prop_assert_eq!(word >> bit & 1 == 1, is_there);
                    }
                }
                prop_assert!(reassembly.is_consistent());
            }
        }
    }

    #[test]
    fn far_ahead_and_around_the_ring() {
        let mut reassembly = Reassembly::default();
        for base in (0..100_000).step_by(1000) {
            for number in (base + 1..base + 1000).rev() {
                assert!(reassembly.insert(number));
            }
            assert_eq!(reassembly.next(), base);
            assert!(reassembly.insert(base));
            assert_eq!(reassembly.next(), base + 1000);
            assert!(!reassembly.insert(base));
        }
        assert!(reassembly.is_consistent());
        reassembly.arrived += 1;
        assert!(!reassembly.is_consistent());
    }
}
