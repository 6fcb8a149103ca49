//! A set of flows, by their numbers.

/// Flows of a word, and words of a page.
const WORD: u32 = u64::BITS;

/// Numbers of flows, of which there may be millions and few in the set: one bit for each number up to the greatest that
/// ever was in it, and one for each word of these bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSet {
    words: Vec<u64>,
    /// Which words are not empty.
    pages: Vec<u64>,
    len: usize,
}

impl FlowSet {
    /// Adds a flow.
    pub fn insert(&mut self, flow: u32) {
        let (word, bit) = ((flow / WORD) as usize, 1 << (flow % WORD));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.pages.resize(word / WORD as usize + 1, 0);
        }
        self.len += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
        self.pages[word / WORD as usize] |= 1 << (word as u32 % WORD);
    }

    /// Takes a flow out.
    pub fn remove(&mut self, flow: u32) {
        if !self.contains(flow) {
            return;
        }
        let word = (flow / WORD) as usize;
        self.words[word] &= !(1 << (flow % WORD));
        if self.words[word] == 0 {
            self.pages[word / WORD as usize] &= !(1 << (word as u32 % WORD));
        }
        self.len -= 1;
    }

    /// Whether a flow is in it.
    pub fn contains(&self, flow: u32) -> bool {
        let word = self.words.get((flow / WORD) as usize);
        word.is_some_and(|word| word >> (flow % WORD) & 1 == 1)
    }

    /// All flows in it, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let pages = (0u32..).zip(&self.pages);
        pages.flat_map(move |(page, &words)| {
            bits(words).flat_map(move |place| {
                let word = page * WORD + place;
                bits(self.words[word as usize]).map(move |bit| word * WORD + bit)
            })
        })
    }

    /// Whether no flow is in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The places of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            place
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            steps in prop::collection::vec((prop_oneof![0u32..200, 0u32..20_000], any::<bool>()), 0..200),
        ) {
            let (mut flows, mut expected) = (FlowSet::default(), BTreeSet::new());
            for (flow, add) in steps {
                if add {
                    flows.insert(flow);
                    expected.insert(flow);
                } else {
                    flows.remove(flow);
                    expected.remove(&flow);
                }
                prop_assert_eq!(flows.contains(flow), add);
                prop_assert_eq!(flows.is_empty(), expected.is_empty());
            }
            prop_assert!(flows.iter().eq(expected));
        }
    }
}
