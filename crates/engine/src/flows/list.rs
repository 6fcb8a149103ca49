//! All flows of a run, by number.

use crate::flows::flow::Flow;
use std::iter::Flatten;
use std::ops::{Index, IndexMut};

/// Flows of a chunk.
const CHUNK: usize = 1 << 10;

/// A list that grows by chunks: one of millions of flows is never copied, and no more than a chunk of it is
/// empty.
#[derive(Default)]
pub(crate) struct FlowList {
    /// All full but the last.
    chunks: Vec<Vec<Flow>>,
    len: usize,
}

impl FlowList {
    #[inline]
    pub fn push(&mut self, flow: Flow) {
        self.len += 1;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(flow),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(flow);
                self.chunks.push(chunk);
            }
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// What this gives of each flow.
    pub fn column<T>(&self, of: impl Fn(&Flow) -> T) -> Vec<T> {
        let mut column = Vec::with_capacity(self.len());
        for chunk in &self.chunks {
            column.extend(chunk.iter().map(&of));
        }
        column
    }

    pub fn iter(&self) -> Flatten<std::slice::Iter<'_, Vec<Flow>>> {
        self.chunks.iter().flatten()
    }
}

impl Index<usize> for FlowList {
    type Output = Flow;
    fn index(&self, number: usize) -> &Flow {
        &self.chunks[number / CHUNK][number % CHUNK]
    }
}

impl IndexMut<usize> for FlowList {
    fn index_mut(&mut self, number: usize) -> &mut Flow {
        &mut self.chunks[number / CHUNK][number % CHUNK]
    }
}

impl<'a> IntoIterator for &'a FlowList {
    type Item = &'a Flow;
    type IntoIter = Flatten<std::slice::Iter<'a, Vec<Flow>>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
