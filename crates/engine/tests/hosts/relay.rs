//! Runs a connection over a relay: a bottleneck with a queue, a delay in each direction, and scripted drops and delays. The
//! endpoints are those of the simulator.

use pathweave_control::find;
use pathweave_transport::{
    Arrived, Config, End, Endpoints, Kind, Opening, Output, PacketShape, ReceivingId, SackBlocks,
    Segment, SendingId, Tick, Timer,
};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A rule of the script.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Drops a segment this number of times.
    Drop(u32, u32),
    /// Drops data packets from this transmission on, counted from zero; the second number says how many.
    DropFrom(u32, u32),
    /// Drops the first SYNs.
    DropSyns(u32),
    /// Drops the first SYN-ACKs.
    DropSynAcks(u32),
    /// Delays every n-th data packet by this time.
    Late(u32, Time),
}

/// The network between both hosts.
#[derive(Clone, Debug)]
pub struct Relay {
    pub rate: Rate,
    /// Capacity of the queue in packets, including the one in transmission.
    pub limit: usize,
    /// In each direction.
    pub delay: Time,
    pub rules: Vec<Rule>,
}

/// Result of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// From the SYN to the arrival of an answer to the last byte.
    pub fct: Time,
    pub timeouts: u64,
    pub probes: u64,
    pub retransmits: u64,
    pub queue_drops: u64,
    /// Largest queue in packets.
    pub largest_queue: u64,
}

enum Event {
    Packet(PacketShape, Segment, SackBlocks),
    Timer(Timer),
}

/// Puts the output of the endpoints into the relay.
struct Network<'a> {
    relay: &'a Relay,
    now: Time,
    /// Events by time, and by their number among all.
    due: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    free_at: Time,
    /// When packets leave the queue.
    departures: BTreeMap<Time, usize>,
    queue_drops: u64,
    largest_queue: u64,
    finished: Option<Time>,
    transmissions: u32,
    dropped: Vec<u32>,
}

impl Network<'_> {
    fn at(&mut self, time: Time, event: Event) {
        self.due.insert((time, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Whether a rule drops this packet.
    fn drops(&mut self, segment: &Segment) -> bool {
        let transmission = self.transmissions;
        let hit = |rule: &Rule, already: u32| match (*rule, segment.kind) {
            (Rule::Drop(number, times), Kind::Data) => {
                segment.number() == number && already < times
            }
            (Rule::DropFrom(from, count), Kind::Data) => transmission >= from && already < count,
            (Rule::DropSyns(count), Kind::Syn) | (Rule::DropSynAcks(count), Kind::SynAck) => {
                already < count
            }
            _ => false,
        };
        let mut rules = self.relay.rules.iter().enumerate();
        let found = rules.find(|&(place, rule)| hit(rule, self.dropped[place]));
        if let Some((place, _)) = found {
            self.dropped[place] += 1;
            return true;
        }
        false
    }
}

impl Output for Network<'_> {
    type Lent<'a>
        = &'a mut Self
    where
        Self: 'a;

    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        let dropped = self.drops(&segment);
        let event = Event::Packet(shape, segment, *blocks);
        if matches!(from, End::Receiving(_)) {
            if !dropped {
                self.at(self.now + self.relay.delay, event);
            }
            return;
        }
        let mut late = Time::ZERO;
        if segment.kind == Kind::Data {
            self.transmissions += 1;
            for rule in &self.relay.rules {
                if let Rule::Late(every, by) = *rule
                    && self.transmissions.is_multiple_of(every)
                {
                    late = by;
                }
            }
        }
        if dropped {
            return;
        }
        self.departures = self.departures.split_off(&(self.now + Time::from_picos(1)));
        let waiting = self.departures.values().sum::<usize>();
        if waiting >= self.relay.limit {
            self.queue_drops += 1;
            return;
        }
        self.largest_queue = self.largest_queue.max(waiting as u64 + 1);
        let size = Bytes::new(u64::from(shape.size));
        self.free_at = self.free_at.max(self.now) + self.relay.rate.time_for(size);
        *self.departures.entry(self.free_at).or_default() += 1;
        self.at(self.free_at + self.relay.delay + late, event);
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        self.at(at, Event::Timer(timer));
    }
    fn finished(&mut self, _: ReceivingId) {
        self.finished = Some(self.now);
    }
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {}
    fn lend(&mut self) -> &mut Self {
        self
    }
}

/// Runs a flow of this size to its end.
pub fn carry(relay: &Relay, controller: &str, config: &Config, size: u64, phase: Time) -> Outcome {
    let entry = find(controller).expect("a controller");
    let mut endpoints = Endpoints::default();
    let id = endpoints.add(Opening {
        size: Some(Bytes::new(size)),
        ticks: [Tick::new(config.tick, phase); 2],
        ..Opening::new(
            0,
            Arc::new(config.clone()),
            (entry.build)(&entry.defaults()),
        )
    });
    let mut network = Network {
        relay,
        now: Time::ZERO,
        due: BTreeMap::new(),
        scheduled: 0,
        free_at: Time::ZERO,
        departures: BTreeMap::new(),
        queue_drops: 0,
        largest_queue: 0,
        finished: None,
        transmissions: 0,
        dropped: vec![0; relay.rules.len()],
    };
    endpoints.start(id, Time::ZERO, &mut network);
    while network.finished.is_none() {
        let next = network.due.pop_first();
        let ((time, _), event) = next.expect("an unfinished flow waits for an event");
        network.now = time;
        match event {
            Event::Timer(timer) => endpoints.on_timer(timer, time, &mut network),
            Event::Packet(shape, segment, blocks) => {
                let arrived = Arrived {
                    size: shape.size,
                    congestion_experienced: false,
                    feedback: shape.feedback,
                };
                endpoints.on_packet(&segment, &blocks, arrived, time, &mut network);
            }
        }
    }
    let subflow = endpoints.subflows(id).next().expect("one subflow");
    let view = endpoints.subflow(subflow);
    Outcome {
        fct: network.finished.expect("it ended") + relay.delay,
        timeouts: view.timeouts,
        probes: view.probes,
        retransmits: view.retransmits,
        queue_drops: network.queue_drops,
        largest_queue: network.largest_queue,
    }
}
