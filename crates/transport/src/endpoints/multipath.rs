//! A connection over paths of its own, each with a queue: for tests of several subflows.

use super::*;
use crate::output::PacketShape;
use crate::segment::Kind;
use crate::tick::Tick;
use crate::{
    Config, Joins, LossDetection, ReceiveWindow, Reduction, Reinject, RtoFloor, SegmentScheduler,
};
use pathweave_units::Rate;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A path: its capacity, its queue and its delay in each direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub rate: Rate,
    /// Packets in the queue, with the one in transmission.
    pub limit: usize,
    pub delay: Time,
    /// Bytes that leave without delay after a pause (a token bucket).
    pub bucket: Bytes,
    /// Nothing gets through between these times.
    pub down: (Time, Time),
}

impl Route {
    pub fn new(mbps: u64, limit: usize, delay: Time) -> Route {
        Route {
            rate: Rate::from_mbps(mbps),
            limit,
            delay,
            bucket: Bytes::ZERO,
            down: (Time::MAX, Time::MAX),
        }
    }
}

/// A host with upstream Linux's MPTCP. Packet sizes include the Ethernet header.
pub(super) fn upstream() -> Config {
    Config {
        scheduler: SegmentScheduler::QueuedBytes,
        joins: Joins::DataAcknowledged,
        reinjection: Reinject::Timer,
        receive_window: ReceiveWindow::Auto,
        loss_detection: LossDetection::Rack,
        tail_loss_probe: true,
        frto: true,
        undo: true,
        rto_floor: RtoFloor::Variance,
        syn_linear_timeouts: 4,
        tick: Time::from_millis(4),
        ack_last: false,
        ack_at_first_again: true,
        hystart: true,
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        maximum_segment: 1424,
        data_packet: 1514,
        ack_packet: 86,
        ..Config::textbook()
    }
}

enum Event {
    Packet(PacketShape, Segment, SackBlocks),
    Timer(Timer),
}

/// A packet that left the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub at: Time,
    pub subflow: u32,
    pub kind: Kind,
    pub data: u32,
}

/// What the paths do with the packets of one connection.
pub(super) struct Network {
    routes: Vec<Route>,
    pub now: Time,
    due: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    free_at: Vec<Time>,
    departures: Vec<VecDeque<Time>>,
    pub drops: u64,
    pub finished: Option<Time>,
    pub closed: bool,
    /// What left the source.
    pub sent: Vec<Departure>,
}

impl Network {
    fn at(&mut self, time: Time, event: Event) {
        self.due.insert((time, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Data packets that left on a subflow.
    pub fn data_on(&self, subflow: u32) -> impl Iterator<Item = &Departure> {
        let is_it = move |sent: &&Departure| sent.subflow == subflow && sent.kind == Kind::Data;
        self.sent.iter().filter(is_it)
    }
}

impl Output for Network {
    type Lent<'a> = &'a mut Network;

    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        let event = Event::Packet(shape, segment, *blocks);
        let now = self.now;
        // Places are numbers here, as there is one connection.
        let (number, from_source) = match from {
            End::Sending(subflow) => (subflow.0, true),
            End::Receiving(subflow) => (subflow.0, false),
        };
        let place = number as usize;
        let route = self.routes[place];
        if from_source {
            self.sent.push(Departure {
                at: now,
                subflow: number,
                kind: segment.kind,
                data: segment.data_number,
            });
        }
        if now >= route.down.0 && now < route.down.1 {
            self.drops += 1;
            return;
        }
        if !from_source {
            return self.at(now + route.delay, event);
        }
        let waiting = &mut self.departures[place];
        while waiting.front().is_some_and(|&at| at <= now) {
            waiting.pop_front();
        }
        if waiting.len() >= route.limit {
            self.drops += 1;
            return;
        }
        let size = Bytes::new(u64::from(shape.size));
        let filled = self.free_at[place].max(now) + route.rate.time_for(size);
        self.free_at[place] = filled;
        let leaves = filled
            .saturating_sub(route.rate.time_for(route.bucket))
            .max(now);
        waiting.push_back(leaves);
        self.at(leaves + route.delay, event);
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        self.at(at, Event::Timer(timer));
    }
    fn finished(&mut self, _: ReceivingId) {
        self.finished = Some(self.now);
    }
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {
        self.closed = true;
    }
    fn lend(&mut self) -> &mut Network {
        self
    }
}

/// A connection and its network.
pub(super) struct Run {
    pub endpoints: Endpoints,
    pub id: ConnectionId,
    pub network: Network,
}

impl Run {
    /// A flow of this size, with a subflow on each route.
    pub fn new(routes: &[Route], controller: &str, config: &Config, size: u64, phase: Time) -> Run {
        let entry = pathweave_control::find(controller).expect("a controller");
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(Opening {
            subflows: routes.len() as u32,
            size: Some(Bytes::new(size)),
            ticks: [Tick::new(config.tick, phase); 2],
            ..Opening::new(
                0,
                Arc::new(config.clone()),
                (entry.build)(&entry.defaults()),
            )
        });
        let mut network = Network {
            routes: routes.to_vec(),
            now: Time::ZERO,
            due: BTreeMap::new(),
            scheduled: 0,
            free_at: vec![Time::ZERO; routes.len()],
            departures: vec![VecDeque::new(); routes.len()],
            drops: 0,
            finished: None,
            closed: false,
            sent: Vec::new(),
        };
        endpoints.start(id, Time::ZERO, &mut network);
        Run {
            endpoints,
            id,
            network,
        }
    }

    /// Lets the next thing happen. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let Some(((time, _), event)) = self.network.due.pop_first() else {
            return false;
        };
        self.network.now = time;
        let out = &mut self.network;
        match event {
            Event::Timer(timer) => self.endpoints.on_timer(timer, time, out),
            Event::Packet(shape, segment, blocks) => {
                let arrived = Arrived {
                    size: shape.size,
                    congestion_experienced: false,
                    feedback: shape.feedback,
                };
                self.endpoints
                    .on_packet(&segment, &blocks, arrived, time, out);
            }
        }
        true
    }

    /// Lets everything happen up to a time.
    pub fn until(&mut self, end: Time) {
        while let Some((&(at, _), _)) = self.network.due.first_key_value()
            && at <= end
        {
            self.step();
        }
        self.network.now = end;
    }

    /// Runs until everything has been delivered.
    pub fn finish(&mut self) -> Time {
        while self.network.finished.is_none() {
            assert!(self.step(), "an unfinished flow waits for something");
        }
        assert!(self.endpoints.is_consistent(self.id));
        self.network.finished.unwrap_or_default()
    }

    pub fn subflow(&self, number: usize) -> SendingView<'_> {
        let mut subflows = self.endpoints.subflows(self.id);
        self.endpoints
            .subflow(subflows.nth(number).expect("a subflow"))
    }
}
