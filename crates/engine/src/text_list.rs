//! Lists of texts in one piece of memory.

use std::ops::Index;

/// A list of texts that stand one behind the other in one piece of memory: a table may have millions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextList {
    all: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl TextList {
    /// An empty list with room for `texts` texts of `bytes` bytes together.
    pub fn with_capacity(texts: usize, bytes: usize) -> TextList {
        TextList {
            all: String::with_capacity(bytes),
            ends: Vec::with_capacity(texts),
        }
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.push_parts(text, []);
    }

    /// Adds a text that is put together from these.
    pub fn push_parts<'a>(&mut self, first: &str, others: impl IntoIterator<Item = &'a str>) {
        self.all.push_str(first);
        for part in others {
            self.all.push_str(part);
        }
        self.ends.push(self.all.len());
    }

    /// Adds a text with a number in decimal behind it.
    pub fn push_numbered(&mut self, text: &str, number: u64) {
        self.all.push_str(text);
        self.all.push_str(itoa::Buffer::new().format(number));
        self.ends.push(self.all.len());
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all of them in order.
    pub fn bytes(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let all = self.all.as_bytes();
        let mut from = 0;
        self.ends.iter().map(move |&end| {
            let text = &all[from..end];
            from = end;
            text
        })
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.all[from..end];
            from = end;
            text
        })
    }
}

impl Index<usize> for TextList {
    type Output = str;
    fn index(&self, place: usize) -> &str {
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[from..self.ends[place]]
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> TextList {
        let mut list = TextList::default();
        texts.into_iter().for_each(|text| list.push(text.as_ref()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart() {
        let mut texts: TextList = ["a", "", "bc"].into_iter().collect();
        texts.push_parts("d", ["-", "e"]);
        texts.push_numbered("n/", 0);
        texts.push_numbered("", 1_234_567_890);
        texts.push_numbered("most ", u64::MAX);
        let most = format!("most {}", u64::MAX);
        let expected = ["a", "", "bc", "d-e", "n/0", "1234567890", &most];
        assert_eq!(texts.len(), expected.len());
        assert!(texts.iter().eq(expected));
        assert!(texts.bytes().eq(expected.map(str::as_bytes)));
        for (place, text) in expected.into_iter().enumerate() {
            assert_eq!(&texts[place], text);
        }
    }
}
