//! Receive offload: packets of a subflow that arrive close together are taken as one bundle, and one ACK answers it
//! (generic receive offload in Linux).

use super::subflow::Receiver;
use crate::output::{Output, Timer, TimerKind};
use pathweave_control::Feedback;
use pathweave_units::Time;

/// The largest bundle in bytes.
const MOST_BYTES: u32 = 65_536;

/// The bundle that a subflow's receiver gathers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathering {
    /// When it ends at the latest.
    ends: Time,
    packets: u32,
    bytes: u32,
    /// Whether it is acknowledged immediately even if it has one packet only.
    at_once: bool,
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    /// Its payload in bytes.
    pub payload: u16,
    /// Whether it has not arrived before.
    pub new: bool,
    /// Its congestion field. A packet that has one is not gathered.
    pub feedback: Feedback,
    /// Whether its ACK would leave now if nothing was gathered.
    pub at_once: bool,
}

/// What a packet does to the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// It begins one.
    Begins,
    /// It joins it.
    Joins,
    /// It ends it: all of it is acknowledged now, or later as a single packet would be.
    Ends {
        /// Whether it is acknowledged now.
        at_once: bool,
    },
}

impl Gathering {
    /// Whether packets wait in it that are acknowledged at this time.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.packets > 0 && self.ends == now
    }

    /// Whether packets wait in it to be acknowledged.
    pub fn is_under_way(&self) -> bool {
        self.packets > 0
    }

    /// A packet in order arrives. `ends_now` says that the bundle must not wait for another.
    fn add(&mut self, packet: Arriving, ends_now: bool) -> Gathered {
        self.packets += 1;
        self.bytes += u32::from(packet.payload);
        self.at_once |= packet.at_once;
        let is_full = self.bytes + u32::from(packet.payload) > MOST_BYTES;
        if is_full || ends_now {
            Gathered::Ends {
                at_once: self.end(),
            }
        } else if self.packets == 1 {
            Gathered::Begins
        } else {
            Gathered::Joins
        }
    }

    /// Ends it. Returns whether what it has is acknowledged now.
    fn end(&mut self) -> bool {
        let at_once = self.at_once || self.packets >= 2;
        *self = Gathering::default();
        at_once
    }
}

impl Receiver {
    /// Ends the bundle, because an ACK leaves or a packet does not continue it. Returns whether there was something to
    /// acknowledge now.
    pub fn end_gathering(&mut self) -> bool {
        self.gathering.end()
    }

    /// A packet arrives. `ends_now` says that the bundle must not wait for another. Returns whether an ACK leaves now; `None`
    /// if that is decided when the bundle ends, which is no later than `ends`.
    pub fn gather(
        &mut self,
        index: u32,
        packet: Arriving,
        ends_now: bool,
        ends: Time,
        out: &mut impl Output,
    ) -> Option<bool> {
        if !packet.new || packet.feedback != Feedback::None || self.has_sack_blocks() {
            return Some(self.end_gathering() || packet.at_once);
        }
        match self.gathering.add(packet, ends_now) {
            Gathered::Ends { at_once } => return Some(at_once),
            Gathered::Begins => {
                self.gathering.ends = ends;
                let timer = Timer {
                    flow: self.flow,
                    subflow: self.number,
                    kind: TimerKind::Gathering,
                    place: index,
                };
                out.wake(timer, ends);
            }
            Gathered::Joins => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(at_once: bool) -> Arriving {
        Arriving {
            payload: 1448,
            new: true,
            feedback: Feedback::None,
            at_once,
        }
    }

    #[test]
    fn one_packet_is_acknowledged_as_it_would_be_alone_and_two_at_once() {
        for at_once in [false, true] {
            let mut gathering = Gathering::default();
            let begins = gathering.add(packet(at_once), false);
            assert_eq!(begins, Gathered::Begins);
            assert_eq!(gathering.end(), at_once);
        }
        let mut gathering = Gathering::default();
        assert_eq!(gathering.add(packet(false), false), Gathered::Begins);
        assert_eq!(gathering.add(packet(false), false), Gathered::Joins);
        assert!(gathering.end());
        assert!(!gathering.end(), "nothing is left");
    }

    #[test]
    fn sixty_four_kilobytes_or_the_last_segment_end_a_bundle() {
        let mut gathering = Gathering::default();
        for _ in 0..44 {
            let gathered = gathering.add(packet(false), false);
            assert!(!matches!(gathered, Gathered::Ends { .. }));
        }
        let gathered = gathering.add(packet(false), false);
        assert_eq!(gathered, Gathered::Ends { at_once: true });
        let gathered = gathering.add(packet(false), true);
        assert_eq!(gathered, Gathered::Ends { at_once: false });
    }
}
