//! What packets need on their way is fetched from memory before they come.

use super::{AT_ONCE, FifoPorts};
use crate::agent::Agent;
use crate::arrivals::Held;
use crate::packet::Header;
use crate::path::Step;
use crate::places::PortId;
use std::hint::black_box;

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::look_ahead`](crate::port::Ports::look_ahead).
    pub(super) fn look_ahead_on_wires(&self, ports: &[PortId], at_hosts: &mut Vec<Header>) {
        for ports in ports.chunks(AT_ONCE) {
            // Each loop asks for one thing of every packet, and needs only what the loop before has fetched.
            let mut firsts = [Held(0); AT_ONCE];
            for (port, first) in ports.iter().zip(&mut firsts) {
                let hot = &self.hot[port.0 as usize];
                *first = self.rings.held(hot.ring, hot.head);
            }
            let mut nexts = [PortId(0); AT_ONCE];
            for ((&port, next), first) in ports.iter().zip(&mut nexts).zip(firsts) {
                let header = self.rings.at(first).header;
                let hot = &self.hot[port.0 as usize];
                black_box(self.rings.get(hot.ring, hot.head.wrapping_add(1)).departure);
                *next = match header.path.step().0 {
                    Step::Port(next) => PortId(hot.far.0 + next),
                    // What the host sends in answer leaves by its first port.
                    Step::End if hot.head != hot.tail => {
                        at_hosts.push(header);
                        hot.far
                    }
                    Step::End | Step::Special => port,
                };
            }
            let mut lasts = [Held(0); AT_ONCE];
            for (next, last) in nexts[..ports.len()].iter().zip(&mut lasts) {
                let Some(hot) = self.hot.get(next.0 as usize) else {
                    continue;
                };
                *last = self.rings.held(hot.ring, hot.tail);
                if hot.tail.wrapping_sub(hot.head) >= u32::from(hot.taken_below[1]) {
                    black_box(self.cold[next.0 as usize].marked);
                }
            }
            for last in &lasts[..ports.len()] {
                black_box(self.rings.at(*last).departure);
            }
        }
    }
}
