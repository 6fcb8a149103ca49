//! The packet memory of a switch that its ports share.

use crate::network::LinkSetup;
use crate::places::PortId;
use pathweave_units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a switch's ports share its memory: with a dynamic threshold. (Choudhury and Hahne, "Dynamic queue
/// length thresholds for shared-memory packet switches", 1998.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedBufferConfig {
    /// The memory of a switch.
    pub size: Bytes,
    /// A port may hold less than this many times the free memory.
    pub alpha: f64,
}

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

    /// Whether a port that holds `held` bytes may take a packet. Counts it if not.
    pub(crate) fn admits(&mut self, held: u64, packet: u16) -> bool {
        let free = self.config.size.get().saturating_sub(self.used);
        let admits = (held as f64) < self.config.alpha * free as f64 && u64::from(packet) <= free;
        if !admits {
            self.refused += 1;
        }
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

/// A switch's memory, and the departures that will free some of it: of each port that sends, the next.
#[derive(Clone, Debug)]
pub(crate) struct NodeMemory {
    pub buffer: SharedBuffer,
    departures: BinaryHeap<Reverse<(Time, PortId)>>,
}

impl NodeMemory {
    fn new(config: SharedBufferConfig) -> NodeMemory {
        NodeMemory {
            buffer: SharedBuffer::new(config),
            departures: BinaryHeap::new(),
        }
    }

    /// The packet that a port sends departs at this time.
    pub fn departs_next(&mut self, at: Time, port: PortId) {
        self.departures.push(Reverse((at, port)));
    }

    /// Takes out the port whose packet departs first, if that is before this time.
    pub fn next_departure(&mut self, before: Time) -> Option<PortId> {
        let &Reverse((at, port)) = self.departures.peek()?;
        if at >= before {
            return None;
        }
        self.departures.pop();
        Some(port)
    }

    /// What was said of a port's departure does not hold any more.
    pub fn forget(&mut self, port: PortId) {
        self.departures.retain(|&Reverse((_, other))| other != port);
    }
}

/// Empty memories of the nodes whose ports share some, by node.
pub(crate) fn memories(links: &[LinkSetup]) -> Vec<Option<NodeMemory>> {
    let nodes = links.iter().map(|link| link.from + 1).max().unwrap_or(0);
    let mut memories = vec![None; nodes as usize];
    for link in links {
        if let Some(config) = link.buffer {
            memories[link.from as usize] = Some(NodeMemory::new(config));
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
