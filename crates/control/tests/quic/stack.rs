//! A packet transport as QUIC is one: no number is sent twice, and a packet is lost once one sent three later has arrived.

use pathweave_control::{Acknowledged, Connection, PathId};
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

const PACKET_THRESHOLD: u64 = 3;

/// What is under way on one path.
#[derive(Clone, Debug)]
struct Flight {
    rtt: Time,
    size: Bytes,
    next: u64,
    largest_acknowledged: Option<u64>,
    /// By number: when it was sent, its size, and whether it will arrive.
    sent: BTreeMap<u64, (Time, Bytes, bool)>,
}

/// A sender with a connection, whose paths have fixed RTTs and as much capacity as they are given.
#[derive(Clone, Debug)]
pub struct Stack {
    pub connection: Connection,
    pub now: Time,
    paths: BTreeMap<PathId, Flight>,
    /// Losses that the controller was told of, and packets declared lost.
    pub losses: u32,
    pub lost: u32,
}

impl Stack {
    pub fn new(connection: Connection) -> Stack {
        Stack {
            connection,
            now: Time::from_secs(1),
            paths: BTreeMap::new(),
            losses: 0,
            lost: 0,
        }
    }

    pub fn open(&mut self, id: u64, rtt: Time) {
        let (id, size) = (PathId(id), Bytes::new(1000));
        self.connection.open(id, size, self.now).expect("a new id");
        let flight = Flight {
            rtt,
            size,
            next: 0,
            largest_acknowledged: None,
            sent: BTreeMap::new(),
        };
        self.paths.insert(id, flight);
    }

    /// Sends one packet that will arrive, or will not.
    pub fn send(&mut self, id: u64, arrives: bool) -> u64 {
        let flight = self.paths.get_mut(&PathId(id)).expect("open");
        let number = flight.next;
        flight.next += 1;
        let earlier = flight.sent.insert(number, (self.now, flight.size, arrives));
        assert!(earlier.is_none(), "no number is sent twice");
        self.connection
            .on_packet_sent(PathId(id), flight.size, self.now);
        number
    }

    /// Sends as much as the window lets it; packets for which `arrives` says no get lost.
    pub fn fill(&mut self, id: u64, mut arrives: impl FnMut(u64) -> bool) {
        while self.connection.may_send(PathId(id)) {
            let next = self.paths[&PathId(id)].next;
            self.send(id, arrives(next));
        }
    }

    /// The oldest packet that will arrive does, with `ce` marks, an RTT after it was sent; losses that this shows are found.
    /// Whether there was one.
    pub fn acknowledge(&mut self, id: u64, ce: u32) -> bool {
        let id = PathId(id);
        let Some(flight) = self.paths.get_mut(&id) else {
            return false;
        };
        let mut arriving = flight.sent.iter().filter(|(_, packet)| packet.2);
        let Some((&number, &(sent, bytes, _))) = arriving.next() else {
            return false;
        };
        flight.sent.remove(&number);
        self.now = self.now.max(sent.saturating_add(flight.rtt));
        flight.largest_acknowledged = flight.largest_acknowledged.max(Some(number));
        self.connection.on_packet_acked(id, bytes, sent);
        self.find_losses(id);
        let acknowledged = Acknowledged {
            now: self.now,
            rtt: Some(self.now.saturating_sub(sent)),
            ce,
            ..Acknowledged::default()
        };
        self.connection.on_ack(id, &acknowledged);
        if let Some(path) = self.connection.path(id) {
            assert_eq!(path.sent - path.acked, u64::from(path.in_flight));
        }
        true
    }

    fn find_losses(&mut self, id: PathId) {
        let flight = self.paths.get_mut(&id).expect("open");
        let Some(largest) = flight.largest_acknowledged else {
            return;
        };
        let is_lost = |number: &u64| number + PACKET_THRESHOLD <= largest;
        let lost: Vec<u64> = flight.sent.keys().copied().filter(is_lost).collect();
        let mut latest = None;
        for number in lost {
            let (sent, bytes, _) = flight.sent.remove(&number).expect("in the list");
            self.connection.on_packet_gone(id, bytes);
            self.lost += 1;
            latest = latest.max(Some(sent));
        }
        if let Some(sent) = latest {
            self.losses += 1;
            self.connection.on_loss(id, sent, false, self.now);
            // What is sent now is sent after the cut.
            self.now = self.now.saturating_add(Time::from_nanos(1));
        }
    }

    /// What is in flight arrives, and for each packet that does others leave as the window allows.
    pub fn round(&mut self, id: u64) {
        self.fill(id, |_| true);
        let in_flight = self.paths[&PathId(id)].sent.len();
        for _ in 0..in_flight {
            self.acknowledge(id, 0);
            self.fill(id, |_| true);
        }
    }

    /// Everything that is in flight arrives, and nothing is sent.
    pub fn drain(&mut self, id: u64) {
        while self.acknowledge(id, 0) {}
    }

    /// From now on full packets have this many bytes.
    pub fn set_packet_size(&mut self, id: u64, bytes: u64) {
        let flight = self.paths.get_mut(&PathId(id)).expect("open");
        flight.size = Bytes::new(bytes);
        self.connection.set_packet_size(PathId(id), flight.size);
    }

    /// A path is forgotten here, too.
    pub fn forget(&mut self, id: u64) {
        self.paths.remove(&PathId(id));
    }

    /// In packets.
    pub fn window(&self, id: u64) -> f64 {
        self.connection.path(PathId(id)).expect("alive").window
    }

    /// In packets.
    pub fn ssthresh(&self, id: u64) -> f64 {
        self.connection.path(PathId(id)).expect("alive").ssthresh
    }
}
