//! What a pattern must remember of the flows under way.

use pathweave_random::mix;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Notes by tag. Only looked up, never walked through, so that its order cannot reach any result.
#[derive(Debug)]
pub(crate) struct Active<T>(HashMap<u64, T, BuildHasherDefault<TagHasher>>);

impl<T> Active<T> {
    pub(crate) fn new() -> Active<T> {
        Active(HashMap::default())
    }

    /// Remembers a note of the flow. Gives the one that was there.
    pub(crate) fn insert(&mut self, tag: u64, note: T) -> Option<T> {
        self.0.insert(tag, note)
    }

    /// Takes the note of a flow that has finished.
    pub(crate) fn remove(&mut self, tag: u64) -> Option<T> {
        self.0.remove(&tag)
    }
}

/// Hashes tags, which are no secret and need no keyed hash.
#[derive(Default)]
struct TagHasher(u64);

impl Hasher for TagHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }
    fn write_u64(&mut self, tag: u64) {
        self.0 = mix(tag);
    }
}
