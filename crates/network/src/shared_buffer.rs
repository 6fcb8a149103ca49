//! The packet memory of a switch that its ports share.

use crate::places::Places;
use crate::setup::{LinkSetup, SharedBufferConfig};
use pathweave_units::Bytes;
use std::ops::Range;

/// A switch's memory. What waits and what is being sent takes its bytes.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    config: SharedBufferConfig,
    used: u64,
    most: u64,
    refused: u64,
}

impl SharedBuffer {
    /// Empty.
    pub fn new(config: SharedBufferConfig) -> SharedBuffer {
        SharedBuffer {
            config,
            used: 0,
            most: 0,
            refused: 0,
        }
    }

    /// Whether a port that holds `held` bytes may take a packet.
    pub(crate) fn would_admit(&self, held: u64, packet: u16) -> bool {
        let free = self.config.size.get().saturating_sub(self.used);
        // Signed numbers become floating-point ones in one instruction; these are far below 2^63.
        (held as i64 as f64) < self.config.alpha * (free as i64 as f64) && u64::from(packet) <= free
    }

    /// The same. Counts the packet if it may not be taken.
    pub(crate) fn admits(&mut self, held: u64, packet: u16) -> bool {
        let admits = self.would_admit(held, packet);
        self.refused += u64::from(!admits);
        admits
    }

    /// A packet takes its place. Packets that must not be dropped may exceed the memory.
    pub(crate) fn take(&mut self, bytes: u16) {
        self.used += u64::from(bytes);
        self.most = self.most.max(self.used);
    }

    /// This many bytes have been sent, or are lost.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.used -= bytes;
    }

    /// Bytes in use now.
    pub fn used(&self) -> Bytes {
        Bytes::new(self.used)
    }

    /// Most bytes that were in use at a time.
    pub fn most(&self) -> Bytes {
        Bytes::new(self.most)
    }

    /// Packets that it did not admit.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

/// A node's memory and the ports that share it.
///
/// Departures free memory, but nobody is told of them. What is in use is therefore known up to what the ports have
/// not noticed yet: it may seem to be more than it is, never less.
#[derive(Clone, Debug)]
pub(crate) struct NodeMemory {
    pub buffer: SharedBuffer,
    pub ports: Range<u32>,
}

impl NodeMemory {
    /// Whether what the ports have not noticed makes no difference to a packet that is offered to a port which holds
    /// `held` bytes: it is admitted in any case, and more has been in use before.
    pub fn is_plenty(&self, held: u64, packet: u16) -> bool {
        let buffer = &self.buffer;
        buffer.would_admit(held, packet) && buffer.used + u64::from(packet) <= buffer.most
    }
}

/// Empty memories of the nodes whose ports share some, by node.
pub(crate) fn memories(links: &[LinkSetup], places: &Places) -> Vec<Option<NodeMemory>> {
    let nodes = links.iter().map(|link| link.from + 1).max().unwrap_or(0);
    let mut memories: Vec<Option<NodeMemory>> = vec![None; nodes as usize];
    for (port, &link) in (0..).zip(places.links()) {
        let LinkSetup { from, buffer, .. } = links[link as usize];
        if let Some(config) = buffer {
            let memory = memories[from as usize].get_or_insert_with(|| NodeMemory {
                buffer: SharedBuffer::new(config),
                ports: port..port,
            });
            memory.ports.end = port + 1;
        }
    }
    memories
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: u64, alpha: f64) -> SharedBuffer {
        let size = Bytes::new(size);
        SharedBuffer::new(SharedBufferConfig { size, alpha })
    }

    /// Fills `ports` queues in turn until none is admitted; what each holds.
    fn fill(buffer: &mut SharedBuffer, ports: usize) -> Vec<u64> {
        let mut held = vec![0; ports];
        loop {
            let mut any = false;
            for port in &mut held {
                if buffer.admits(*port, 100) {
                    buffer.take(100);
                    *port += 100;
                    any = true;
                }
            }
            if !any {
                return held;
            }
        }
    }

    #[test]
    fn ports_settle_at_alpha_over_one_plus_n_alpha() {
        // Choudhury and Hahne, eq. 4: with n saturated ports each holds alpha B/(1 + n alpha).
        for (alpha, ports) in [(1.0, 1), (1.0, 3), (0.5, 2), (2.0, 4), (8.0, 2)] {
            let size = 1_000_000u64;
            let mut buffer = buffer(size, alpha);
            let share = alpha * size as f64 / (1.0 + ports as f64 * alpha);
            for held in fill(&mut buffer, ports) {
                let held = held as f64;
                assert!(
                    (held - share).abs() <= 100.0 * (1.0 + alpha),
                    "{alpha} {ports}: {held}"
                );
            }
            assert!(buffer.refused() >= ports as u64);
        }
    }

    #[test]
    fn the_memory_is_never_exceeded() {
        let mut buffer = buffer(1000, 64.0);
        let held: u64 = fill(&mut buffer, 3).iter().sum();
        assert_eq!(
            (held, buffer.used(), buffer.most()),
            (1000, Bytes::new(1000), Bytes::new(1000))
        );
        buffer.release(400);
        assert_eq!(buffer.used(), Bytes::new(600));
        assert!(buffer.admits(200, 400) && !buffer.admits(200, 401));
    }
}
