//! A graph in the making.

use crate::tasks::{Action, Builder};
use pathweave_units::Bytes;

/// A part of the buffers: which one it is, for those who follow what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The transfer's task.
    pub task: u32,
    /// The number of the piece of the buffer.
    pub piece: u32,
    /// Whether the receiver adds it to what it has; otherwise it takes its place.
    pub added: bool,
}

/// Its tasks so far.
pub(super) struct Making {
    pub builder: Builder,
    /// By rank, its computing before all else.
    pub computed: Vec<u32>,
    pub moved: Vec<Moved>,
}

impl Making {
    pub fn new(ranks: u32) -> Making {
        let mut builder = Builder::default();
        let computed = (0..ranks)
            .map(|processor| {
                let time = None;
                builder.task(Action::Compute { processor, time }, [])
            })
            .collect();
        Making {
            builder,
            computed,
            moved: Vec::new(),
        }
    }

    /// A transfer that waits for the end of these.
    pub fn send(
        &mut self,
        (from, to): (u32, u32),
        bytes: Bytes,
        (piece, added): (u32, bool),
        after: impl IntoIterator<Item = u32>,
    ) -> u32 {
        let task = self.builder.task(Action::Send { from, to, bytes }, after);
        self.moved.push(Moved { task, piece, added });
        task
    }
}
