//! The self-check notices ports that lose count, and those that lose packets.

use pathweave_network::{
    AgentStatistics, Arrival, Arrivals, Conservation, Delivered, DueInputs, FifoPorts, HandOver,
    Header, Held, Inputs, Limit, LinkEvent, LinkEvents, LinkSetup, LinkStatistics, Network, Places,
    Plain, PortId, Ports, Purged, QueueHistogram, QueuesCounted, SharedBuffer, TurnInterval,
};
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::ops::Range;

/// What a port does wrong.
trait Defect {
    /// Packets delivered, as it says.
    fn delivered(delivered: u64) -> u64;
    /// Packets held, as it says.
    fn holds(held: u32) -> u32;
}

/// Forgets to count one packet in three that it delivers.
struct Miscounts;

impl Defect for Miscounts {
    fn delivered(delivered: u64) -> u64 {
        delivered - delivered / 3
    }
    fn holds(held: u32) -> u32 {
        held
    }
}

/// Takes one packet more for delivered than it is.
struct Loses;

impl Defect for Loses {
    fn delivered(delivered: u64) -> u64 {
        delivered + 1
    }
    fn holds(held: u32) -> u32 {
        held - 1
    }
}

struct Defective<D> {
    ports: FifoPorts,
    defect: std::marker::PhantomData<D>,
}

impl<D: Defect> Ports for Defective<D> {
    type Label = ();
    const KNOW_ARRIVALS: bool = true;
    const HAVE_AGENTS: bool = false;

    fn new(
        links: &[LinkSetup],
        places: &Places,
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> Defective<D> {
        Defective {
            ports: FifoPorts::new(links, places, counted, stream),
            defect: std::marker::PhantomData,
        }
    }
    fn enqueue<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: (),
        events: &mut E,
    ) -> bool {
        self.ports.enqueue(port, now, header, label, events)
    }
    fn depart<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) {
        self.ports.depart(port, now, events);
    }
    fn deliver<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Delivered<()> {
        self.ports.deliver(port, now, events)
    }
    fn take_first(&mut self, port: PortId, noticed: Time) -> (Delivered<()>, Time) {
        self.ports.take_first(port, noticed)
    }
    fn gather(
        &mut self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        window: TurnInterval,
        times: &mut [Time; Inputs::PAGE],
        arrivals: &mut Arrivals,
    ) {
        self.ports.gather(due, window, times, arrivals);
    }
    fn held_by(&self, port: PortId, held: Held) -> bool {
        self.ports.held_by(port, held)
    }
    fn held(&self, held: Held) -> (Header, ()) {
        self.ports.held(held)
    }
    fn hand_over(&mut self, now: Time, of: impl Fn(PortId) -> bool, to: &mut impl HandOver<()>) {
        self.ports.hand_over(now, of, to);
    }
    fn hand_over_in_turn(&mut self, ports: Range<u32>, now: Time, to: &mut impl HandOver<()>) {
        self.ports.hand_over_in_turn(ports, now, to);
    }
    fn next_to_leave(&self) -> Time {
        self.ports.next_to_leave()
    }
    fn handed_over(&self) -> u64 {
        self.ports.handed_over()
    }
    fn receive<E: LinkEvents>(
        &mut self,
        inlet: PortId,
        departure: Time,
        header: Header,
        label: (),
        events: &mut E,
    ) {
        self.ports.receive(inlet, departure, header, label, events);
    }
    fn set_rate<E: LinkEvents>(&mut self, port: PortId, now: Time, rate: Rate, events: &mut E) {
        self.ports.set_rate(port, now, rate, events);
    }
    fn set_loss(&mut self, port: PortId, probability: f64) {
        self.ports.set_loss(port, probability);
    }
    fn loses_all(&self, port: PortId) -> bool {
        self.ports.loses_all(port)
    }
    fn fail<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Purged {
        self.ports.fail(port, now, events)
    }
    fn restore(&mut self, port: PortId, now: Time) {
        self.ports.restore(port, now);
    }
    fn is_up(&self, port: PortId) -> bool {
        self.ports.is_up(port)
    }
    fn rate(&self, port: PortId) -> Rate {
        self.ports.rate(port)
    }
    fn waiting(&self, port: PortId, now: Time) -> u32 {
        self.ports.waiting(port, now)
    }
    fn free_at(&self, port: PortId) -> Time {
        self.ports.free_at(port)
    }
    fn is_full(&mut self, port: PortId, now: Time, size: u16) -> bool {
        self.ports.is_full(port, now, size)
    }
    fn occupancy(&self, port: PortId, now: Time) -> f64 {
        self.ports.occupancy(port, now)
    }
    fn limit(&self, port: PortId) -> Limit {
        self.ports.limit(port)
    }
    fn averages(&self, port: PortId) -> bool {
        self.ports.averages(port)
    }

    fn shares_memory(&self, port: PortId) -> bool {
        self.ports.shares_memory(port)
    }
    fn transmission(&self, port: PortId, size: u16) -> Time {
        self.ports.transmission(port, size)
    }
    fn count_passing(&mut self, port: PortId, times: (Time, Time), count: u64) {
        self.ports.count_passing(port, times, count);
    }
    fn hold_passing<E: LinkEvents>(
        &mut self,
        port: PortId,
        since: Time,
        header: Header,
        label: (),
        events: &mut E,
    ) {
        self.ports.hold_passing(port, since, header, label, events);
    }
    fn take_back(&mut self, port: PortId) -> bool {
        self.ports.take_back(port)
    }
    fn take_again<E: LinkEvents>(&mut self, port: PortId, was_last: bool, events: &mut E) {
        self.ports.take_again(port, was_last, events);
    }
    fn slip_in<E: LinkEvents>(
        &mut self,
        port: PortId,
        times: (Time, Time),
        header: Header,
        label: (),
        events: &mut E,
    ) {
        self.ports.slip_in(port, times, header, label, events);
    }
    fn count_carried(&mut self, port: PortId, packets: u64, bytes: u64) {
        self.ports.count_carried(port, packets, bytes);
    }
    fn delivered(&self, port: PortId) -> u64 {
        D::delivered(self.ports.delivered(port))
    }
    fn holds(&self, port: PortId) -> u32 {
        D::holds(self.ports.holds(port))
    }
    fn statistics(&self, port: PortId, now: Time) -> LinkStatistics {
        let statistics = self.ports.statistics(port, now);
        LinkStatistics {
            delivered: D::delivered(statistics.delivered),
            ..statistics
        }
    }
    fn sent(&self, port: PortId, now: Time) -> u128 {
        self.ports.sent(port, now)
    }
    fn histogram(&mut self, port: PortId) -> QueueHistogram {
        self.ports.histogram(port)
    }
    fn complete_histogram(&mut self, port: PortId) -> Option<QueueHistogram> {
        self.ports.complete_histogram(port)
    }
    fn clear_histogram(&mut self, port: PortId) {
        self.ports.clear_histogram(port);
    }
    fn agent_statistics(&mut self, port: PortId, now: Time) -> AgentStatistics {
        self.ports.agent_statistics(port, now)
    }
    fn shared_buffer(&self, node: u32) -> Option<&SharedBuffer> {
        self.ports.shared_buffer(node)
    }
}

#[derive(Default)]
struct Next(Option<Time>);

impl LinkEvents for Next {
    fn schedule(&mut self, _port: PortId, _event: LinkEvent, at: Time) {
        self.0 = Some(at);
    }
    fn cancel(&mut self, _port: PortId, _event: LinkEvent, _at: Time) {
        self.0 = None;
    }
}

fn one_link<P: Ports<Label = ()>>() -> Network<Plain<u32>, P> {
    let link = LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::from_micros(1));
    Network::new(&[link], QueuesCounted::All, |_| {
        Stream::new(1, "conservation test", 0)
    })
}

fn send<P: Ports<Label = ()>>(
    network: &mut Network<Plain<u32>, P>,
    packets: u32,
    events: &mut Next,
) {
    let route = network.add_route([0].into_iter());
    let start = network.start(route);
    for number in 0..packets {
        let header = Header::new(1500, false);
        assert!(
            network
                .send(
                    Time::ZERO,
                    start,
                    (header, ()),
                    (Plain(number), &()),
                    events
                )
                .is_none()
        );
    }
}

#[test]
fn a_packet_that_is_not_counted_is_noticed() {
    let mut network = one_link::<Defective<Miscounts>>();
    let mut events = Next::default();
    send(&mut network, 3, &mut events);
    for number in 0..3 {
        assert_eq!(network.check_conservation(Time::ZERO), Ok(()));
        let now = events.0.take().expect("a packet is under way");
        let Arrival::AtHost(header, ()) = network.arrive(PortId(0), now, &mut events) else {
            panic!("the route has one link");
        };
        assert_eq!(network.take(header).0, number);
    }
    let broken = Conservation::Link {
        link: 0,
        offered: 3,
        accounted: 2,
    };
    assert_eq!(network.check_conservation(Time::from_secs(1)), Err(broken));
}

#[test]
fn a_packet_that_vanishes_is_noticed() {
    let mut network = one_link::<Defective<Loses>>();
    send(&mut network, 3, &mut Next::default());
    let broken = Conservation::Network {
        under_way: 3,
        held: 2,
    };
    assert_eq!(network.check_conservation(Time::ZERO), Err(broken));
}
