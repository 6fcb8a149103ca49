//! The two kinds of ports on the same traffic: every departure, arrival, drop, mark, counter and call of an agent
//! alike, and both as a FIFO queue's recursion says.

use pathweave_control::Feedback;
use pathweave_network::{
    Agent, AgentStatistics, Arrival, Backlog, DeparturePorts, FifoPorts, Header, Limit, LinkEvent,
    LinkEvents, LinkSetup, LinkStatistics, Marking, MarkingRule, Network, NoAgent, PacketLabel,
    Plain, PortId, Ports, QueueConfig, QueueHistogram, QueuesCounted, RouteId, SharedBufferConfig,
    Threshold,
};
use pathweave_random::{Stream, hash};
use pathweave_units::{Bytes, Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// From node to node: a triangle, and a second port at one of its corners.
const ENDS: [(u32, u32); LINKS] = [(0, 1), (1, 2), (2, 0), (1, 0)];
const LINKS: usize = 4;

/// Notes every call that it gets, on itself and on the packet.
#[derive(Debug, Default)]
struct Notary {
    calls: u64,
    seal: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seal(u64);

impl PacketLabel for Seal {
    fn new(_feedback: Feedback, flow: u32, _is_echo: bool) -> Seal {
        Seal(u64::from(flow))
    }
    fn feedback(&self) -> Feedback {
        Feedback::None
    }
}

impl Notary {
    fn note(&mut self, call: u64, now: Time, bytes: u16, label: &mut Seal, backlog: Backlog) {
        self.calls += 1;
        let Backlog {
            packets,
            bytes: waiting,
        } = backlog;
        let seen = [
            call,
            now.as_picos(),
            bytes.into(),
            packets.into(),
            waiting.into(),
        ];
        self.seal = hash(&[self.seal, label.0, hash(&seen)]);
        label.0 = self.seal;
    }
}

impl Agent for Notary {
    type Label = Seal;

    fn new(_setup: &LinkSetup) -> Notary {
        Notary::default()
    }
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Seal, backlog: Backlog) {
        self.note(1, now, bytes, label, backlog);
    }
    fn on_service(&mut self, now: Time, bytes: u16, label: &mut Seal, backlog: Backlog) {
        self.note(2, now, bytes, label, backlog);
    }
    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.seal = hash(&[self.seal, now.as_picos(), rate.as_bps()]);
    }
    fn statistics(&self) -> AgentStatistics {
        AgentStatistics {
            state_bytes: self.seal,
            feedback: self.calls,
            unmanaged: 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send {
        route: usize,
        size: u16,
        ecn: bool,
        protected: bool,
    },
    SetRate(u32, Rate),
    Fail(u32),
    Restore(u32),
    Observe,
}

impl Step {
    /// Changes of links and observations come before, sending after what else is due at a time.
    fn comes_first(&self) -> bool {
        !matches!(self, Step::Send { .. })
    }
}

/// What a link's port tells of itself.
#[derive(Clone, Debug, PartialEq)]
struct Counters {
    statistics: LinkStatistics,
    waiting: u32,
    found: QueueHistogram,
    found_by_all: Option<QueueHistogram>,
    sent: u128,
    agent: AgentStatistics,
}

/// What can be seen from outside.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Sent {
        number: u32,
        taken: bool,
    },
    Hop {
        link: u32,
        number: Option<u32>,
        marked: bool,
        dropped: bool,
    },
    /// A packet is at its host with this label.
    Label(String),
    Lost(u32),
    Counters(Vec<Counters>),
    /// Most bytes in the memory of each node, and the packets that it refused.
    Buffers(Vec<(u64, u64)>),
}

#[derive(Default)]
struct Schedule {
    /// Departures, then arrivals, each by port: the order at equal times.
    due: [[Option<Time>; LINKS]; 2],
}

impl LinkEvents for Schedule {
    fn schedule(&mut self, PortId(port): PortId, event: LinkEvent, at: Time) {
        let due = &mut self.due[event as usize][port as usize];
        assert_eq!(*due, None, "one time for each port and event");
        *due = Some(at);
    }
    fn cancel(&mut self, PortId(port): PortId, event: LinkEvent, at: Time) {
        let due = self.due[event as usize][port as usize].take();
        assert_eq!(due, Some(at), "only what is scheduled is taken back");
    }
}

impl Schedule {
    fn next(&self) -> Option<(Time, LinkEvent, PortId)> {
        [LinkEvent::Departure, LinkEvent::Arrival]
            .into_iter()
            .flat_map(|event| (0..LINKS as u32).map(move |port| (event, port)))
            .filter_map(|(event, port)| {
                self.due[event as usize][port as usize].map(|at| (at, event, PortId(port)))
            })
            .min()
    }
}

struct Driver<P: Ports> {
    network: Network<Plain<u32>, P>,
    schedule: Schedule,
    counted: QueuesCounted,
    routes: Vec<RouteId>,
    sent: u32,
    seen: Vec<(Time, Seen)>,
    /// The integral of the waiting packets, added up between events.
    integral: [u128; LINKS],
    integrated_to: Time,
}

impl<P: Ports> Driver<P> {
    fn new(queue: QueueConfig, counted: QueuesCounted) -> Driver<P> {
        Driver::with_shared_buffer(queue, counted, None)
    }

    fn with_shared_buffer(
        queue: QueueConfig,
        counted: QueuesCounted,
        buffer: Option<SharedBufferConfig>,
    ) -> Driver<P> {
        // With 500, 1000 and 1500 bytes, transmissions and delays are whole microseconds: many
        // things happen at one time.
        let delays = [0, 8, 30, 3].map(Time::from_micros);
        let setups: Vec<LinkSetup> = delays
            .iter()
            .zip(ENDS)
            .map(|(&delay, ends)| LinkSetup {
                queue,
                buffer,
                ..LinkSetup::plain(ends, Rate::from_gbps(1), delay)
            })
            .collect();
        let mut network = Network::new(&setups, counted, |link| {
            Stream::new(1, "port test", u64::from(link))
        });
        // The last one goes around so often that it does not fit into a packet's header.
        let around = [0, 1, 2, 0, 3, 0, 1, 2, 0, 1, 2, 0];
        let routes: [&[u32]; 8] = [
            &[0],
            &[1],
            &[2],
            &[0, 1, 2],
            &[1, 2],
            &[2, 0],
            &[0, 3],
            &around,
        ];
        let routes = routes
            .map(|links| network.add_route(links.iter().copied()))
            .to_vec();
        Driver {
            network,
            schedule: Schedule::default(),
            counted,
            routes,
            sent: 0,
            seen: Vec::new(),
            integral: [0; LINKS],
            integrated_to: Time::ZERO,
        }
    }

    fn run(mut self, steps: &[(Time, Step)]) -> Driver<P> {
        let mut steps = steps.iter().peekable();
        loop {
            let due = self.schedule.next();
            let step = steps.peek();
            let step_is_next = match (due, step) {
                (None, None) => break,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some((at, ..)), Some((when, step))) => {
                    *when < at || (*when == at && step.comes_first())
                }
            };
            if step_is_next {
                let (now, step) = steps.next().expect("a step was seen");
                self.integrate(*now);
                self.take(*now, *step);
            } else {
                let (now, event, port) = due.expect("an event was seen");
                self.integrate(now);
                self.schedule.due[event as usize][port.0 as usize] = None;
                match event {
                    LinkEvent::Departure => self.network.depart(port, now, &mut self.schedule),
                    LinkEvent::Arrival => self.arrive(port, now),
                }
            }
            self.network
                .check_conservation(self.integrated_to)
                .expect("no packet vanishes");
        }
        self
    }

    fn integrate(&mut self, now: Time) {
        let passed = (now - self.integrated_to).as_picos();
        for link in 0..LINKS {
            let waiting = self.network.waiting(link as u32, self.integrated_to);
            self.integral[link] += u128::from(waiting) * u128::from(passed);
        }
        self.integrated_to = now;
    }

    fn arrive(&mut self, port: PortId, now: Time) {
        let link = self.network.places().link_of(port);
        let (header, dropped) = match self.network.arrive(port, now, &mut self.schedule) {
            Arrival::Forwarded => (None, false),
            Arrival::Dropped(header) => (Some(header), true),
            Arrival::AtHost(header, label) => {
                self.seen.push((now, Seen::Label(format!("{label:?}"))));
                (Some(header), false)
            }
            Arrival::Consumed => unreachable!("no switch sends feedback"),
        };
        let number = header.map(|header| self.network.take(header).0);
        let marked = header.is_some_and(|header| header.congestion_experienced());
        self.seen.push((
            now,
            Seen::Hop {
                link,
                number,
                marked,
                dropped,
            },
        ));
    }

    fn take(&mut self, now: Time, step: Step) {
        match step {
            Step::Send {
                route,
                size,
                ecn,
                protected,
            } => {
                let number = self.sent;
                self.sent += 1;
                let mut header = Header::new(size, ecn);
                if protected {
                    header = header.protected();
                }
                let start = self.network.start(self.routes[route]);
                let label = P::Label::new(Feedback::None, number, false);
                let schedule = &mut self.schedule;
                let packet = (Plain(number), &());
                let dropped = self
                    .network
                    .send(now, start, (header, label), packet, schedule);
                let taken = dropped.is_none();
                self.seen.push((now, Seen::Sent { number, taken }));
            }
            Step::SetRate(link, rate) => {
                self.network.set_rate(link, now, rate, &mut self.schedule);
            }
            Step::Fail(link) => {
                let seen = &mut self.seen;
                let lost = |packet: Plain<u32>| seen.push((now, Seen::Lost(packet.0)));
                self.network.fail(link, now, &mut self.schedule, lost);
            }
            Step::Restore(link) => self.network.restore(link, now),
            Step::Observe => {
                let counters = (0..LINKS as u32)
                    .map(|link| {
                        let found = self.network.histogram(link);
                        let found_by_all = (self.counted != QueuesCounted::Sampled)
                            .then(|| self.network.complete_histogram(link));
                        let waiting = self.network.waiting(link, now);
                        let sent = self.network.sent(link, now);
                        let agent = self.network.agent_statistics(link, now);
                        Counters {
                            statistics: self.network.statistics(link, now),
                            waiting,
                            found,
                            found_by_all,
                            sent,
                            agent,
                        }
                    })
                    .collect();
                self.seen.push((now, Seen::Counters(counters)));
                let buffers = (0..LINKS as u32).filter_map(|node| {
                    let buffer = self.network.shared_buffer(node)?;
                    Some((buffer.most().get(), buffer.refused()))
                });
                self.seen.push((now, Seen::Buffers(buffers.collect())));
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop::sample::select(vec![52u16, 500, 1000, 1500, 1500]);
    let rate = prop::sample::select(vec![1u64, 100, 333, 500, 1000, 2000, 10_000]);
    let link = 0..LINKS as u32;
    prop_oneof![
        20 => (0usize..8, size, any::<bool>(), prop::bool::weighted(0.05))
            .prop_map(|(route, size, ecn, protected)| Step::Send { route, size, ecn, protected }),
        2 => (link.clone(), rate).prop_map(|(link, mbps)| Step::SetRate(link, Rate::from_mbps(mbps))),
        1 => link.clone().prop_map(Step::Fail),
        2 => link.prop_map(Step::Restore),
        3 => Just(Step::Observe),
    ]
}

/// Steps at whole microseconds, many at the same, and sometimes a picosecond beside them.
fn steps() -> impl Strategy<Value = Vec<(Time, Step)>> {
    let gap = prop_oneof![3 => Just(0u64), 6 => 1u64..6, 1 => 0u64..200];
    let beside = prop_oneof![8 => Just(0u64), 1 => Just(1)];
    prop::collection::vec((gap, beside, step()), 1..250).prop_map(|list| {
        let mut now = 0;
        let mut steps: Vec<(Time, Step)> = list
            .into_iter()
            .map(|(gap, beside, step)| {
                now += gap * 1_000_000;
                (Time::from_picos(now + beside), step)
            })
            .collect();
        steps.sort_by_key(|(at, step)| (*at, !step.comes_first()));
        // Long after the last packet, the counters once more.
        steps.push((Time::from_secs(10), Step::Observe));
        steps
    })
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let limit = prop_oneof![
        (0u32..20).prop_map(Limit::Packets),
        (0u64..20_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
    ];
    let rule = prop::sample::select(vec![MarkingRule::Above, MarkingRule::AtOrAbove]);
    let threshold = prop_oneof![
        (0u32..8).prop_map(|k| Threshold::Packets(f64::from(k))),
        (0u64..8000).prop_map(|k| Threshold::Bytes(Bytes::new(k))),
    ];
    let marking = prop_oneof![
        Just(Marking::None),
        (threshold, rule).prop_map(|(threshold, rule)| Marking::Step { threshold, rule }),
        Just(Marking::Linear {
            from: 1.0,
            to: 6.0,
            probability: 0.8
        }),
        (0.05f64..=1.0).prop_map(|weight| Marking::Red {
            from: 1.0,
            to: 5.0,
            probability: 0.5,
            weight,
        }),
    ];
    (limit, marking, any::<bool>()).prop_map(|(limit, marking, drop_ecn_blind)| QueueConfig {
        limit,
        marking,
        drop_ecn_blind,
    })
}

fn counted() -> impl Strategy<Value = QueuesCounted> {
    use QueuesCounted::{All, Sampled, SampledAndAll};
    prop::sample::select(vec![All, Sampled, SampledAndAll])
}

fn shared_buffer() -> impl Strategy<Value = Option<SharedBufferConfig>> {
    let alpha = prop::sample::select(vec![0.5, 1.0, 4.0]);
    let shared = (1500u64..30_000, alpha).prop_map(|(size, alpha)| SharedBufferConfig {
        size: Bytes::new(size),
        alpha,
    });
    prop::option::weighted(0.8, shared)
}

/// The same cases every time; a failing one is printed in full.
fn configuration(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2013),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Many large packets before a link of 10 Kbps, which becomes twice as fast.
#[test]
fn queues_that_wait_for_longer_than_64_bits_hold_are_counted() {
    let queue = QueueConfig {
        limit: Limit::Packets(2000),
        marking: Marking::None,
        drop_ecn_blind: false,
    };
    // 52 s at the first rate.
    let send = Step::Send {
        route: 1,
        size: 65_000,
        ecn: false,
        protected: false,
    };
    let rate = |bps| Step::SetRate(1, Rate::from_bps(bps));
    let end = Time::from_secs(40_000);
    let mut steps = vec![(Time::ZERO, rate(10_000))];
    steps.extend([(Time::ZERO, send); 1300]);
    steps.push((Time::from_secs(52), rate(20_000)));
    steps.push((end, Step::Observe));
    // 1299 packets wait for the first one's 52 s, and 1298, 1297, ... 1 for 26 s each.
    let second = u128::from(Time::from_secs(1).as_picos());
    let waited = (1299 * 52 + 1298 * 1299 / 2 * 26) * second;
    assert!(waited > u128::from(u64::MAX));
    let counted = QueuesCounted::All;
    let fifo = Driver::<FifoPorts>::new(queue, counted).run(&steps);
    let departure = Driver::<DeparturePorts>::new(queue, counted).run(&steps);
    assert_eq!(fifo.seen, departure.seen);
    assert_eq!(departure.integral[1], waited);
    let counted = fifo.network.statistics(1, end);
    assert_eq!(counted.waited, waited);
    assert_eq!(counted, departure.network.statistics(1, end));
    let mean = waited as f64 / second as f64 / 40_000.0;
    assert!((counted.mean_waiting(end) - mean).abs() < 1e-9);
}

proptest! {
    #![proptest_config(configuration(2000))]
    #[test]
    fn whatever_happens_both_ports_agree(
        queue in queue(), counted in counted(), steps in steps(),
    ) {
        let fifo = Driver::<FifoPorts>::new(queue, counted).run(&steps);
        let departure = Driver::<DeparturePorts>::new(queue, counted).run(&steps);
        prop_assert_eq!(&fifo.seen, &departure.seen);
        prop_assert_eq!(fifo.network.in_network(), 0);
        prop_assert_eq!(departure.network.in_network(), 0);
        // The departure port's queue is piecewise constant between its events.
        for link in 0..LINKS {
            let waited = departure.network.statistics(link as u32, Time::from_secs(10)).waited;
            prop_assert_eq!(waited, departure.integral[link]);
        }
    }

    /// With agents that note all that they can see, and memory that the ports of a node share.
    #[test]
    fn agents_and_shared_memory_see_the_same_from_both_ports(
        queue in queue(), counted in counted(), steps in steps(), shared in shared_buffer(),
    ) {
        let fifo = Driver::<FifoPorts<Notary>>::with_shared_buffer(queue, counted, shared).run(&steps);
        let departure = Driver::<DeparturePorts<Notary>>::with_shared_buffer(queue, counted, shared).run(&steps);
        prop_assert_eq!(&fifo.seen, &departure.seen);
    }

    /// Memory that is shared where no agent acts.
    #[test]
    fn shared_memory_is_the_same_from_both_ports(
        queue in queue(), counted in counted(), steps in steps(), shared in shared_buffer(),
    ) {
        let fifo = Driver::<FifoPorts<NoAgent>>::with_shared_buffer(queue, counted, shared).run(&steps);
        let departure = Driver::<DeparturePorts<NoAgent>>::with_shared_buffer(queue, counted, shared).run(&steps);
        prop_assert_eq!(&fifo.seen, &departure.seen);
    }

    /// One link that nothing happens to: packet i leaves at max(arrival, departure of i - 1) + size /
    /// rate, and one that finds the queue full is dropped.
    #[test]
    fn a_queue_follows_its_recursion(
        limit in 0u32..12,
        k in 0u32..6,
        packets in prop::collection::vec((0u64..20, prop::sample::select(vec![500u16, 1500])), 1..150),
    ) {
        let threshold = Threshold::Packets(f64::from(k));
        let marking = Marking::Step { threshold, rule: MarkingRule::Above };
        let queue = QueueConfig { limit: Limit::Packets(limit), marking, drop_ecn_blind: false };
        let (mut now, mut steps) = (0, Vec::new());
        // Service starts and departures of the packets that were taken, in microseconds.
        let (mut starts, mut departures) = (Vec::<u64>::new(), Vec::<u64>::new());
        let (mut expected, mut waited) = (Vec::new(), 0);
        for (number, (gap, size)) in (0..).zip(packets) {
            now += gap;
            let step = Step::Send { route: 1, size, ecn: true, protected: false };
            steps.push((Time::from_micros(now), step));
            // A packet that leaves at this moment has left, and the next one is in service.
            let waiting = starts.iter().filter(|&&start| start > now).count();
            if waiting >= limit as usize {
                continue;
            }
            let start = departures.last().copied().unwrap_or(0).max(now);
            let departure = start + u64::from(size) / 125;
            starts.push(start);
            departures.push(departure);
            waited += u128::from(start - now) * 1_000_000;
            let at = Time::from_micros(departure + 8);
            let (number, marked) = (Some(number), waiting > k as usize);
            expected.push((at, Seen::Hop { link: 1, number, marked, dropped: false }));
        }
        let fifo = Driver::<FifoPorts>::new(queue, QueuesCounted::All).run(&steps);
        let departure = Driver::<DeparturePorts>::new(queue, QueuesCounted::All).run(&steps);
        let end = Time::from_secs(1);
        for (seen, statistics) in [
            (&fifo.seen, fifo.network.statistics(1, end)),
            (&departure.seen, departure.network.statistics(1, end)),
        ] {
            let hops: Vec<_> =
                seen.iter().filter(|(_, seen)| matches!(seen, Seen::Hop { .. })).collect();
            prop_assert_eq!(hops, expected.iter().collect::<Vec<_>>());
            prop_assert_eq!(statistics.waited, waited);
        }
    }
}
