//! Result tables as columns, and a hash of them.

use crate::capture::Capture;
use sha2::{Digest, Sha256};

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Numbers; NaN stands for "none".
    Numbers(Vec<f64>),
    /// Yes or no.
    Flags(Vec<bool>),
    /// Texts from a list, by index.
    Labels {
        /// The list.
        names: Vec<String>,
        /// An index into it for each row.
        codes: Vec<u32>,
    },
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Numbers(values) => values.len(),
            Column::Flags(values) => values.len(),
            Column::Labels { codes, .. } => codes.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of texts, each row its own.
    pub fn texts(texts: impl Iterator<Item = String>) -> Column {
        let names: Vec<String> = texts.collect();
        let codes = (0..names.len() as u32).collect();
        Column::Labels { names, codes }
    }
}

/// A result table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, which is also its file's.
    pub name: &'static str,
    /// Its columns, all of one length, by name.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, column)| column)
    }

    /// The numbers of a numeric column; empty if there is none of this name.
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.column(name) {
            Some(Column::Numbers(values)) => values,
            _ => &[],
        }
    }

    /// The integers of a column; empty if there is none of this name.
    pub fn integers(&self, name: &str) -> &[u64] {
        match self.column(name) {
            Some(Column::Integers(values)) => values,
            _ => &[],
        }
    }
}

/// A hash over everything in the tables and captures, as 16 hexadecimal digits.
pub fn results_hash(tables: &[Table], captures: &[Capture]) -> String {
    let mut hasher = Sha256::new();
    for table in tables {
        hasher.update(table.name);
        for (name, column) in &table.columns {
            hasher.update(name);
            hasher.update((column.len() as u64).to_le_bytes());
            match column {
                Column::Integers(values) => {
                    values
                        .iter()
                        .for_each(|value| hasher.update(value.to_le_bytes()));
                }
                Column::Numbers(values) => {
                    values
                        .iter()
                        .for_each(|value| hasher.update(value.to_bits().to_le_bytes()));
                }
                Column::Flags(values) => {
                    values
                        .iter()
                        .for_each(|value| hasher.update([u8::from(*value)]));
                }
                Column::Labels { names, codes } => {
                    for &code in codes {
                        hasher.update(&names[code as usize]);
                        hasher.update([0]);
                    }
                }
            }
        }
    }
    for capture in captures {
        hasher.update(&capture.name);
        hasher.update((capture.pcapng.len() as u64).to_le_bytes());
        hasher.update(&capture.pcapng);
    }
    hasher.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
