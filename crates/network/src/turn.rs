//! What a node does in its turn: all packets that arrive there within a window, in their order.

use crate::arrivals::{Arrivals, Held};
use crate::input_times::{DueInputs, InputTimes};
use crate::inputs::Inputs;
use crate::network::{Arrival, Network};
use crate::packed_route::Step;
use crate::packet::{Header, PacketContent};
use crate::places::PortId;
use crate::port::{LinkEvents, Ports, TurnInterval};
use pathweave_units::Time;

/// The schedule of a region whose nodes have their turns.
pub trait TurnEvents: LinkEvents {
    /// When packets arrive.
    fn times(&mut self) -> &mut InputTimes;
    /// What decides about the order of arrivals at one time.
    fn rank_of_arrival(&self, at: Time, port: PortId) -> (u64, u32);
}

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// A switch has its turn: the packets that arrive there within a window leave their links and go on, in their order.
    /// `due` are inputs of a page; some of the switch's packets may have been gathered before.
    /// Its inputs end at `inputs.1`. Packets that are lost are handed out, with the times.
    #[inline(never)]
    pub fn take_turn<E: TurnEvents>(
        &mut self,
        due: (DueInputs, usize),
        inputs: (&Inputs, usize),
        window: TurnInterval,
        arrivals: &mut Arrivals,
        events: &mut E,
        lost: &mut Vec<(Time, Header)>,
    ) {
        self.gather(due, inputs.0, window, events.times(), arrivals);
        self.sort(inputs, arrivals, events);
        let far = arrivals.first_port();
        for (now, held) in arrivals.all() {
            let (header, label) = self.ports.held(held);
            let (step, rest) = header.path.step();
            let arrival = match step {
                Step::Port(next) => {
                    let header = header.on(rest);
                    if self.enqueue(PortId(far.0 + next), now, header, label, events) {
                        continue;
                    }
                    Arrival::Dropped(header)
                }
                Step::Special => {
                    let port = self.port_of_held(held, inputs);
                    self.arrive_specially(port, now, header, label, events)
                }
                Step::End => unreachable!("a switch is no packet's host"),
            };
            match arrival {
                Arrival::Forwarded | Arrival::Consumed => {}
                Arrival::Dropped(header) => lost.push((now, header)),
                Arrival::AtHost(..) => unreachable!("a switch is no packet's host"),
            }
        }
    }

    /// Puts the packets that arrive at a node in order.
    #[inline(always)]
    pub fn sort<E: TurnEvents>(
        &self,
        inputs: (&Inputs, usize),
        arrivals: &mut Arrivals,
        events: &E,
    ) {
        arrivals.sort(|at, held| events.rank_of_arrival(at, self.port_of_held(held, inputs)));
    }

    /// The packets that arrive within a window at inputs of a node leave their links, and are added to those that
    /// arrive there. `due` are inputs of a page, and `times` gets the times of their next packets.
    #[inline(always)]
    pub fn gather(
        &mut self,
        (due, page): (DueInputs, usize),
        inputs: &Inputs,
        window: TurnInterval,
        times: &mut InputTimes,
        arrivals: &mut Arrivals,
    ) {
        let ports = inputs.ports_of_page(page);
        #[cfg(feature = "checks")]
        let before = arrivals.count();
        self.ports
            .gather((due, ports), window, times.of_page(page), arrivals);
        #[cfg(feature = "checks")]
        for (at, held) in arrivals.since(before) {
            let holds_it = |&port: &PortId| self.ports.held_by(port, held);
            let port = due.places().map(|place| ports[place]).find(holds_it);
            let port = port.expect("a packet comes from a port");
            if let Some(check) = self.checks.get_mut(port.0 as usize) {
                check.deliver(at, self.ports.held(held).0.id());
            }
        }
    }

    /// A packet that was gathered arrives at the node whose first port is `far` and whose inputs end there. From the
    /// first one on nothing may be enqueued at a port from which they came.
    #[inline(always)]
    pub fn arrive_held<E: LinkEvents>(
        &mut self,
        (now, held): (Time, Held),
        far: PortId,
        inputs: (&Inputs, usize),
        events: &mut E,
    ) -> Arrival<P::Label> {
        let (header, label) = self.ports.held(held);
        let (step, rest) = header.path.step();
        match step {
            Step::Port(next) => {
                self.forward(PortId(far.0 + next), now, header.on(rest), label, events)
            }
            Step::End => Arrival::AtHost(header, label),
            Step::Special => {
                let port = self.port_of_held(held, inputs);
                self.arrive_specially(port, now, header, label, events)
            }
        }
    }

    /// The port from which a packet came to the node whose inputs end there.
    #[cold]
    pub fn port_of_held(&self, held: Held, (inputs, end): (&Inputs, usize)) -> PortId {
        let before = (0..end).rev().map(|input| inputs.port(input));
        let mut ports = before.filter(|&port| self.ports.held_by(port, held));
        ports.next().expect("a packet comes from a port")
    }
}
