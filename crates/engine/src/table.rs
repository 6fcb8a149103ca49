//! Result tables as columns.

use crate::text_list::TextList;

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Numbers; NaN stands for "none".
    Numbers(Vec<f64>),
    /// Yes or no.
    Flags(Vec<bool>),
    /// TextList from a list, by index.
    Labels {
        /// The list.
        names: TextList,
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
    pub fn texts(names: TextList) -> Column {
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
