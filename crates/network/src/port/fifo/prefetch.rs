//! The packets that arrive next are fetched from memory before they come.

use super::FifoPorts;
use super::state::Hot;
use crate::agent::Agent;
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::packet::Header;
use crate::places::PortId;
use pathweave_units::Time;
use std::hint::black_box;

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::prefetch`](crate::port::Ports::prefetch).
    pub(super) fn prefetch_on_wires(
        &self,
        (due, ports): (DueInputs, &[PortId; Inputs::PAGE]),
        hosts: DueInputs,
        before: Time,
        at_hosts: &mut Vec<Header>,
    ) {
        // What is read decides nothing here: a processor that guesses wrong stops asking.
        for input in due.places() {
            let hot = &self.hot[ports[input].0 as usize];
            black_box(self.rings.get(hot.ring, hot.head).departure);
        }
        // The first packets have been fetched.
        for input in hosts.places() {
            let hot = &self.hot[ports[input].0 as usize];
            self.list_arrivals(hot, before, at_hosts);
            // What the host sends in answer leaves by its first port.
            let first = self.hot.get(hot.far.0 as usize);
            black_box(first.map(|first| first.tail));
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
