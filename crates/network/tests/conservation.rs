//! The self-check notices a port that loses count.

use pathweave_network::{
    Arrival, Conservation, FifoPort, Header, LinkEvent, LinkEvents, LinkSetup, LinkStatistics,
    Network, PacketId, Port, Purged, QueueConfig, QueueHistogram,
};
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// Forgets to count one packet in three that it delivers.
struct Forgetful(FifoPort);

impl Port for Forgetful {
    type Label = ();

    fn new(setup: &LinkSetup, stream: Stream) -> Forgetful {
        Forgetful(FifoPort::new(setup, stream))
    }
    fn enqueue<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        packet: PacketId,
        header: &mut Header,
        label: (),
        events: &mut E,
    ) -> bool {
        self.0.enqueue(link, now, packet, header, label, events)
    }
    fn depart<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        self.0.depart(link, now, events);
    }
    fn deliver<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> (PacketId, ()) {
        self.0.deliver(link, now, events)
    }
    fn count_delivered(&mut self, bytes: u16) {
        self.0.count_delivered(bytes);
    }
    fn loses_all(&self) -> bool {
        self.0.loses_all()
    }
    fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E) {
        self.0.set_rate(link, now, rate, events);
    }
    fn set_loss(&mut self, probability: f64) {
        self.0.set_loss(probability);
    }
    fn fail<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Purged {
        self.0.fail(link, now, events)
    }
    fn restore(&mut self, now: Time) {
        self.0.restore(now);
    }
    fn is_up(&self) -> bool {
        self.0.is_up()
    }
    fn rate(&self) -> Rate {
        self.0.rate()
    }
    fn waiting(&self, now: Time) -> u32 {
        self.0.waiting(now)
    }
    fn occupancy(&self, now: Time) -> f64 {
        self.0.occupancy(now)
    }
    fn delivered(&self) -> u64 {
        self.0.delivered()
    }
    fn holds(&self) -> u32 {
        self.0.holds()
    }
    fn statistics(&self, now: Time) -> LinkStatistics {
        let statistics = self.0.statistics(now);
        LinkStatistics {
            delivered: statistics.delivered - statistics.delivered / 3,
            ..statistics
        }
    }
    fn sent(&self, now: Time) -> u128 {
        self.0.sent(now)
    }
    fn histogram(&mut self) -> &mut QueueHistogram {
        self.0.histogram()
    }
}

#[derive(Default)]
struct Next(Option<Time>);

impl LinkEvents for Next {
    fn schedule(&mut self, _link: u32, _event: LinkEvent, at: Time) {
        self.0 = Some(at);
    }
    fn cancel(&mut self, _link: u32, _event: LinkEvent) {
        self.0 = None;
    }
}

#[test]
fn a_packet_that_vanishes_is_noticed() {
    let (rate, delay) = (Rate::from_gbps(1), Time::from_micros(1));
    let link = LinkSetup {
        rate,
        delay,
        queue: QueueConfig::default(),
        agent: None,
        buffer: None,
    };
    let mut network: Network<u32, Forgetful> =
        Network::new(&[link], |_| Stream::new(1, "conservation test", 0));
    let route = network.add_route([0].into_iter());
    let mut events = Next::default();
    for number in 0..3 {
        assert!(network.send(
            Time::ZERO,
            route,
            Header::new(1500, false),
            (),
            number,
            &mut events
        ));
    }
    for number in 0..3 {
        assert_eq!(network.check_conservation(Time::ZERO), Ok(()));
        let now = events.0.take().expect("a packet is under way");
        let Arrival::AtHost(packet) = network.arrive(0, now, &mut events) else {
            panic!("the route has one link");
        };
        assert_eq!(network.take(packet).segment, number);
    }
    let broken = Conservation {
        link: 0,
        offered: 3,
        accounted: 2,
    };
    assert_eq!(network.check_conservation(Time::from_secs(1)), Err(broken));
}
