//! The fabric in real time: reads what hosts send, plays it through the network, and writes what
//! arrives.

use super::clock::Clock;
use super::first_arrivals::{Arrived, data};
use super::frame::{classify, is_readable, mark};
use super::lateness::Lateness;
use super::priority::Cores;
use crate::Failure;
use pathweave_engine::live::{Fabric, FabricRecord, FirstArrival, Heading, Taken};
use pathweave_fabric::LinkId;
use pathweave_scenario::Plan;
use pathweave_units::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// What the fabric is told while it runs.
pub enum Order {
    /// Packets of a slot's subflow take these links, and those of its acknowledgements the others.
    Lay {
        /// The flow's number in the run.
        flow: u32,
        /// The flow's port, counted from the first.
        slot: u32,
        /// The subflow's number.
        subflow: u32,
        /// Links of data.
        forward: Vec<LinkId>,
        /// Links of acknowledgements.
        back: Vec<LinkId>,
    },
    /// A host has read payload that packets do not show, because they are encrypted.
    Read(FirstArrival),
    /// The run is over.
    End,
}

/// What others may see of the fabric while it runs.
#[derive(Debug, Default)]
pub struct Seen {
    /// Packets that have reached the far end of a link.
    pub packet_hops: AtomicU64,
}

/// What the fabric did.
pub struct Played {
    /// What the network has counted.
    pub record: FabricRecord,
    /// How late packets were when they were written.
    pub lateness: Lateness,
    /// Packets that belonged to no flow.
    pub strangers: u64,
    /// Packets that a host's kernel did not take.
    pub refused: u64,
    /// When it ended.
    pub ended: Time,
    /// A remark on the thread's priority.
    pub note: Option<String>,
}

/// Packets that are read from one host before the next one's turn.
const BATCH: u32 = 16;
/// A fabric with nothing to do for so long lets others have its core.
const IDLE: Duration = Duration::from_millis(5);
/// A busy one does so for a moment now and then, between packets: what the kernel has put off on this
/// core would otherwise wait for the end of the run. (One that is never between packets keeps its core: it is late
/// already, the run is invalid, and others have the other cores.)
const REST_EVERY: Duration = Duration::from_millis(20);
/// So long before the next packet is due it is awake again.
const AWAKE_BEFORE: Duration = Duration::from_micros(150);

/// Plays a plan's fabric until it is told to end.
///
/// # Errors
/// When the plan's routing cannot be set up, or a device fails.
pub fn play(
    plan: &Plan,
    devices: &[OwnedFd],
    orders: &Receiver<Order>,
    clock: Clock,
    cores: &Cores,
    seen: &Seen,
) -> Result<Played, Failure> {
    Player::new(plan, devices, clock)?.play(orders, cores, seen)
}

/// A packet in the fabric: where its bytes are, and where they go.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    frame: u32,
    host: u32,
    size: u16,
    slot: u32,
    subflow: u32,
    /// Whether it goes to its flow's destination.
    forward: bool,
}

/// What has come of the flow that has a slot.
#[derive(Default)]
struct Received {
    flow: u32,
    arrived: Arrived,
    /// The sequence number of each subflow's SYN.
    syns: Vec<u32>,
}

/// Room for the packets in the fabric.
struct Frames {
    bytes: Vec<u8>,
    free: Vec<u32>,
    room: usize,
}

impl Frames {
    fn new(room: usize) -> Frames {
        Frames {
            bytes: Vec::new(),
            free: Vec::new(),
            room,
        }
    }

    /// A place for one packet.
    fn take(&mut self) -> u32 {
        if self.free.is_empty() {
            let first = (self.bytes.len() / self.room) as u32;
            let more = (first / 2).max(1024);
            self.bytes
                .resize(self.bytes.len() + more as usize * self.room, 0);
            self.free.extend((first..first + more).rev());
        }
        self.free.pop().expect("there is room now")
    }

    fn at(&mut self, frame: u32) -> &mut [u8] {
        let start = frame as usize * self.room;
        &mut self.bytes[start..start + self.room]
    }
}

/// Where packets go that come to their hosts.
struct Delivery<'a> {
    devices: &'a [OwnedFd],
    frames: Frames,
    /// By slot.
    received: BTreeMap<u32, Received>,
    clock: Clock,
    lateness: Lateness,
    refused: u64,
    delivered: u64,
}

impl Delivery<'_> {
    #[inline]
    fn arrived(&mut self, due: Time, packet: Held, marked: bool) -> Option<FirstArrival> {
        let frame = &mut self.frames.at(packet.frame)[..usize::from(packet.size)];
        if marked {
            mark(frame);
        }
        let now = self.clock.now();
        self.lateness.add(self.clock.between(due, now));
        // The host's kernel takes the packet in within this call.
        if write(&self.devices[packet.host as usize], frame).is_err() {
            self.refused += 1;
        }
        self.delivered += 1;
        let first = self.first_arrival(packet);
        self.frames.free.push(packet.frame);
        first
    }

    /// A flow has this slot from now on.
    fn give(&mut self, slot: u32, flow: u32) {
        let received = self.received.entry(slot).or_default();
        if received.flow != flow {
            *received = Received {
                flow,
                ..Received::default()
            };
        }
    }

    /// What of a packet's payload came for the first time, if it has any.
    fn first_arrival(&mut self, packet: Held) -> Option<FirstArrival> {
        let received = self.received.get_mut(&packet.slot)?;
        if !packet.forward {
            return None;
        }
        let place = packet.subflow as usize;
        if received.syns.len() <= place {
            received.syns.resize(place + 1, 0);
        }
        let frame = &self.frames.at(packet.frame)[..usize::from(packet.size)];
        if !is_readable(frame) {
            return None; // its host says what it was
        }
        let data = data(frame, &mut received.syns[place])?;
        Some(FirstArrival {
            flow: received.flow,
            subflow: packet.subflow,
            payload: received.arrived.add(data),
        })
    }
}

struct Player<'a> {
    fabric: Fabric<'a, Held>,
    delivery: Delivery<'a>,
    strangers: u64,
}

impl<'a> Player<'a> {
    fn new(plan: &'a Plan, devices: &'a [OwnedFd], clock: Clock) -> Result<Player<'a>, Failure> {
        let fabric = Fabric::new(plan).map_err(|error| Failure::new(error.to_string()))?;
        let sizes = plan.groups.iter().map(|group| group.transport.data_packet);
        let room = usize::from(sizes.max().unwrap_or(1500)).next_multiple_of(64);
        Ok(Player {
            fabric,
            delivery: Delivery {
                devices,
                frames: Frames::new(room),
                received: BTreeMap::new(),
                clock,
                lateness: Lateness::default(),
                refused: 0,
                delivered: 0,
            },
            strangers: 0,
        })
    }

    fn play(
        mut self,
        orders: &Receiver<Order>,
        cores: &Cores,
        seen: &Seen,
    ) -> Result<Played, Failure> {
        let note = cores.take_fabric();
        let mut rested = Instant::now();
        while self.obey(orders) {
            let clock = self.delivery.clock;
            self.advance(clock.now());
            let mut read_any = false;
            for host in 0..self.delivery.devices.len() {
                read_any |= self.read(host, orders)?;
            }
            if read_any {
                seen.packet_hops.store(self.fabric.packet_hops(), Relaxed);
            }
            let spare = clock.between(clock.now(), self.fabric.next_due());
            let awake = rested.elapsed();
            let overdue = awake > REST_EVERY && spare > Duration::from_micros(20);
            if !read_any && (spare > IDLE || overdue) {
                self.rest(spare);
                rested = Instant::now();
            }
        }
        let ended = self.delivery.clock.now();
        seen.packet_hops.store(self.fabric.packet_hops(), Relaxed);
        Ok(Played {
            record: self.fabric.finish(ended),
            lateness: self.delivery.lateness,
            strangers: self.strangers,
            refused: self.delivery.refused,
            ended,
            note,
        })
    }

    /// Does what others have asked for. False at the end.
    fn obey(&mut self, orders: &Receiver<Order>) -> bool {
        loop {
            match orders.try_recv() {
                Ok(Order::Lay {
                    flow,
                    slot,
                    subflow,
                    forward,
                    back,
                }) => {
                    self.delivery.give(slot, flow);
                    self.fabric.lay(slot, subflow, &forward, &back);
                }
                Ok(Order::Read(first)) => self.fabric.count_read(first),
                Ok(Order::End) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        let mut lost: Vec<u32> = Vec::new();
        let delivery = &mut self.delivery;
        self.fabric.advance(
            now,
            |due, packet, marked| delivery.arrived(due, packet, marked),
            |packet| lost.push(packet.frame),
        );
        self.delivery.frames.free.append(&mut lost);
    }

    /// Takes what a host has sent. Whether there was anything.
    fn read(&mut self, host: usize, orders: &Receiver<Order>) -> Result<bool, Failure> {
        for number in 0..BATCH {
            let frame = self.delivery.frames.take();
            let device = &self.delivery.devices[host];
            let length = match read(device, self.delivery.frames.at(frame)) {
                Ok(length) => length,
                Err(error) => {
                    self.delivery.frames.free.push(frame);
                    return match error {
                        Errno::AGAIN | Errno::INTR => Ok(number > 0),
                        error => Err(Failure::new(format!("host {host}'s device: {error}"))),
                    };
                }
            };
            if !self.take(frame, length, orders) {
                self.delivery.frames.free.push(frame);
            }
        }
        Ok(true)
    }

    /// Puts a packet into the network. Whether it is under way.
    fn take(&mut self, frame: u32, length: usize, orders: &Receiver<Order>) -> bool {
        let Some(packet) = classify(&self.delivery.frames.at(frame)[..length]) else {
            self.strangers += 1;
            return false;
        };
        let held = Held {
            frame,
            host: packet.host,
            size: packet.size,
            slot: packet.slot,
            subflow: packet.subflow,
            forward: packet.heading == Heading::Forward,
        };
        if packet.host as usize >= self.delivery.devices.len() {
            self.strangers += 1;
            return false;
        }
        let now = self.delivery.clock.now();
        self.advance(now);
        let (slot, subflow, heading) = (packet.slot, packet.subflow, packet.heading);
        let send = |fabric: &mut Fabric<'a, Held>| {
            fabric.send(
                now,
                slot,
                subflow,
                heading,
                packet.size,
                packet.ecn_capable,
                held,
            )
        };
        let mut taken = send(&mut self.fabric);
        if taken == Taken::Unknown {
            // Its route may be among the orders, which come before a flow's first packet.
            self.obey(orders);
            taken = send(&mut self.fabric);
        }
        self.strangers += u64::from(taken == Taken::Unknown);
        taken == Taken::Yes
    }

    /// Sleeps until a host sends something or the next packet is nearly due.
    fn rest(&self, spare: Duration) {
        let longest = spare
            .saturating_sub(AWAKE_BEFORE)
            .min(Duration::from_millis(1));
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(longest.subsec_nanos().max(1)),
        };
        let devices = self.delivery.devices.iter();
        let mut polled: Vec<PollFd<'_>> = devices
            .map(|device| PollFd::new(device, PollFlags::IN))
            .collect();
        // Whatever wakes it, there is something to look at.
        let _ = poll(&mut polled, Some(&timeout));
    }
}
