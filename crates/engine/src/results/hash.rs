//! A hash of results, which tells them apart.

use crate::measurement::capture::Capture;
use crate::table::{Column, Table};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// A hash over everything in the tables and captures, as 32 hexadecimal digits: the 128-bit XXH3 of their names, lengths
/// and contents. It tells results apart, whoever made them; nobody is kept from making two with the same hash.
///
/// Labels count by their texts: it does not matter which list of names they are from.
pub fn results_hash(tables: &[Table], captures: &[Capture]) -> String {
    let mut results = Hashed(Xxh3Default::new());
    results.number(tables.len());
    for table in tables {
        results.bytes(table.name.as_bytes());
        results.number(table.columns.len());
        for (name, column) in &table.columns {
            results.bytes(name.as_bytes());
            results.column(column);
        }
    }
    results.number(captures.len());
    for capture in captures {
        results.bytes(capture.name.as_bytes());
        results.bytes(&capture.pcapng);
    }
    format!("{:032x}", results.0.digest128())
}

/// Words that are hashed at once.
const WORDS: usize = 512;

/// What has been hashed so far.
struct Hashed(Xxh3Default);

impl Hashed {
    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.update(bytes);
    }

    fn column(&mut self, column: &Column) {
        self.number(column.len());
        match column {
            Column::Integers(values) => self.words(0, values, |value| *value),
            Column::Numbers(values) => self.words(1, values, |value| value.to_bits()),
            Column::Flags(values) => self.words(2, values, |value| u64::from(*value)),
            Column::Labels { names, codes } => {
                // Each text is hashed once, however many rows have it.
                let names: Vec<u64> = names.bytes().map(xxh3_64).collect();
                self.words(3, codes, |code| names[*code as usize]);
            }
        }
    }

    /// The words of a column of this kind.
    fn words<T>(&mut self, kind: u8, values: &[T], word: impl Fn(&T) -> u64) {
        self.0.update(&[kind]);
        let mut bytes = [0; 8 * WORDS];
        for values in values.chunks(WORDS) {
            let bytes = &mut bytes[..8 * values.len()];
            for (bytes, value) in bytes.chunks_exact_mut(8).zip(values) {
                bytes.copy_from_slice(&word(value).to_le_bytes());
            }
            self.0.update(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str], codes: &[u32]) -> Column {
        Column::Labels {
            names: names.iter().collect(),
            codes: codes.to_vec(),
        }
    }

    fn hash(columns: Vec<Column>) -> String {
        let columns = columns.into_iter().map(|column| ("column", column));
        let table = Table {
            name: "table",
            columns: columns.collect(),
        };
        results_hash(&[table], &[])
    }

    #[test]
    fn labels_count_by_their_texts() {
        let one = hash(vec![labels(&["a", "b", "unused"], &[0, 1, 1])]);
        assert_eq!(one, hash(vec![labels(&["b", "a"], &[1, 0, 0])]));
        assert_ne!(one, hash(vec![labels(&["a", "b"], &[0, 1, 0])]));
        assert_ne!(one, hash(vec![labels(&["a", "c"], &[0, 1, 1])]));
    }

    #[test]
    fn every_value_and_every_limit_between_values_counts() {
        let many = |changed: usize| {
            let values = (0..2 * WORDS as u64 + 3).map(|value| value * 7);
            let mut values: Vec<u64> = values.collect();
            values[changed] += 1;
            Column::Integers(values)
        };
        let mut hashes = vec![
            hash(vec![]),
            hash(vec![Column::Integers(vec![])]),
            hash(vec![Column::Numbers(vec![])]),
            hash(vec![Column::Integers(vec![]), Column::Integers(vec![])]),
            hash(vec![Column::Integers(vec![0])]),
            hash(vec![Column::Numbers(vec![0.0])]),
            hash(vec![Column::Numbers(vec![-0.0])]),
            hash(vec![Column::Flags(vec![false])]),
            hash(vec![Column::Flags(vec![true])]),
            hash(vec![
                Column::Integers(vec![1, 2]),
                Column::Integers(vec![3]),
            ]),
            hash(vec![
                Column::Integers(vec![1]),
                Column::Integers(vec![2, 3]),
            ]),
        ];
        let places = [0, WORDS - 1, WORDS, 2 * WORDS - 1, 2 * WORDS, 2 * WORDS + 2];
        hashes.extend(places.map(|place| hash(vec![many(place)])));
        let count = hashes.len();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn captures_count() {
        let capture = |name: &str, pcapng: &[u8]| Capture {
            name: name.to_owned(),
            flow: 0,
            packets: 0,
            pcapng: pcapng.to_vec(),
        };
        let hashes = [
            results_hash(&[], &[]),
            results_hash(&[], &[capture("a", b"bc")]),
            results_hash(&[], &[capture("ab", b"c")]),
            results_hash(&[], &[capture("ab", b"d")]),
        ];
        for (place, hash) in hashes.iter().enumerate() {
            assert_eq!(hash.len(), 32);
            assert!(!hashes[..place].contains(hash));
        }
    }
}
