//! What packets need on their way is fetched from memory before they come.

use super::FifoPorts;
use super::state::Hot;
use crate::agent::Agent;
use crate::arrivals::Held;
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::packet::Header;
use crate::path::Step;
use crate::places::PortId;
use pathweave_units::Time;
use std::hint::black_box;

/// How far a packet has been followed.
#[derive(Clone, Copy)]
struct Followed {
    /// The port on whose wire it is, then the one that it goes on from.
    port: PortId,
    /// Its place on the wire, then the one that it will have in the next queue.
    place: Held,
}

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::look_ahead`](crate::port::Ports::look_ahead).
    pub(super) fn look_ahead_on_wires(
        &self,
        (due, ports): (DueInputs, &[PortId; Inputs::PAGE]),
        before: Time,
        at_hosts: &mut Vec<Header>,
    ) {
        let mut packets = [Followed {
            port: PortId(0),
            place: Held(0),
        }; Inputs::PAGE];
        // Each loop asks for things of every packet. Most of them need only what the loops before have fetched.
        let mut count = 0;
        for (input, packet) in due.places().zip(&mut packets) {
            let port = ports[input];
            let hot = &self.hot[port.0 as usize];
            let place = self.rings.held(hot.ring, hot.head);
            *packet = Followed { port, place };
            count += 1;
        }
        let packets = &mut packets[..count];
        // What has just been asked for decides nothing here: a processor that guesses wrong stops asking.
        for packet in &*packets {
            let hot = &self.hot[packet.port.0 as usize];
            black_box(self.rings.at(packet.place).departure);
            // The third packet, or the last one if there are fewer: two without labels share a cache line. Which place is
            // read makes no difference if there is none.
            let further = hot.tail.wrapping_sub(hot.head).wrapping_sub(1).min(2);
            black_box(
                self.rings
                    .get(hot.ring, hot.head.wrapping_add(further))
                    .departure,
            );
        }
        for packet in &mut *packets {
            let header = self.rings.at(packet.place).header;
            let hot = &self.hot[packet.port.0 as usize];
            match header.path.step().0 {
                Step::Port(next) => packet.port = PortId(hot.far.0 + next),
                Step::End => {
                    self.list_arrivals(hot, before, at_hosts);
                    // What the host sends in answer leaves by its first port.
                    packet.port = hot.far;
                }
                Step::Special => {}
            }
        }
        for packet in &mut *packets {
            let Some(hot) = self.hot.get(packet.port.0 as usize) else {
                continue;
            };
            packet.place = self.rings.held(hot.ring, hot.tail);
            if hot.tail.wrapping_sub(hot.head) >= u32::from(hot.taken_below[1]) {
                black_box(
                    self.rings
                        .get(hot.ring, hot.first_maybe_unserved())
                        .departure,
                );
                black_box(self.cold[packet.port.0 as usize].marked);
            }
        }
        for packet in packets {
            black_box(self.rings.at(packet.place).departure);
        }
    }

    /// Lists the packets on a wire that arrive before a time.
    fn list_arrivals(&self, hot: &Hot, before: Time, list: &mut Vec<Header>) {
        let mut position = hot.head;
        while position != hot.tail {
            let entry = self.rings.get(hot.ring, position);
            if entry.departure + hot.delay >= before {
                break;
            }
            list.push(entry.header);
            position = position.wrapping_add(1);
        }
    }
}
