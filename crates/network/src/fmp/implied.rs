//! Feedback without packets.
//!
//! While every link is up and loses nothing, each switch sends a message to every neighbour once a period. A message
//! that finds its port idle arrives a fixed time later, and its prices follow from what its switch had heard when it
//! sent the message. Such a message needs no event, no ring entry and no copy of any price. Only this is kept:
//!
//! - **Messages that are packets.** A message that finds its port busy waits in the queue like any packet. A packet
//!   that joins a port and keeps it busy past its switch's next telling arms the link ([`Implied::joined`]); the
//!   message is then sent before anything that happens later ([`crate::Network::come_over`]). A message also becomes a
//!   packet if another packet arrives at the port while the message is being sent ([`Implied::make_packet`]).
//! - **Queues.** A switch that receives a message adds the queue of its port in the other direction to the message's
//!   prices. Each port keeps a list of the packets that waited there, with the times at which they joined and left the
//!   queue.
//!
//! Prices are computed when a switch orders its ports for a subflow ([`super::recall`]). Most prices are never needed.
//!
//! As soon as a link changes, the messages under way become packets, and every later message is one from the start
//! ([`crate::Network::carry_feedback`]). `DeparturePorts` always work that way, which lets tests compare the two.

use super::Fmp;
use super::beat::Beat;
use super::feedback::MOST_IN_QUEUE;
use super::switch::reverse;
use super::waits::Waits;
use crate::places::PortId;
use crate::queue::Limit;
use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NEVER: Time = Time::MAX;

/// The last message that has arrived over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// When it was sent.
    pub told: Time,
    pub arrival: Time,
}

/// A message that is a packet.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// Its number among the messages of its switch, counted from zero.
    telling: u64,
    arrival: Time,
}

/// A link; only those between switches carry messages.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Wire {
    /// Bytes of a message over it; zero if there is nothing to tell.
    pub size: u16,
    /// The switches at its two ends; [`NONE`](super::switch::NONE) for hosts.
    from: u32,
    pub(super) to: u32,
    /// Its position when links are sorted by the switch they leave.
    order: u32,
    /// How long the port takes to send a message.
    transmission: Time,
    /// The time from sending a message at an idle port to its arrival.
    lag: Time,
    /// When a message will be sent as a packet; [`NEVER`] if none is due.
    armed: Time,
    /// When a packet last arrived over it; [`NEVER`] if none has.
    came: Time,
    /// Messages that were packets: the latest of them, and how many there have been.
    carried: Vec<Carried>,
    packets: u64,
    /// The packets that have waited at its port.
    waits: Waits,
    /// Messages whose arrivals at the port have been added to its histogram.
    counted: u64,
    /// Its port.
    pub port: PortId,
    /// The limit of the port's queue.
    pub(super) limit: Limit,
}

impl Wire {
    /// The message with this number, if it is a packet.
    fn carried(&self, telling: u64) -> Option<&Carried> {
        // Most messages are not packets, and most lookups are for recent ones.
        let last = self.carried.last()?;
        if last.telling < telling {
            return None;
        }
        let place = self.carried.partition_point(|one| one.telling < telling);
        self.carried.get(place).filter(|one| one.telling == telling)
    }

    /// Adds a message that is a packet. If the list is full, first forgets messages before number `kept`.
    fn carry(&mut self, telling: u64, arrival: Time, kept: u64) {
        if self.carried.len() == self.carried.capacity() {
            let forgotten = self.carried.partition_point(|one| one.telling < kept);
            self.carried.drain(..forgotten);
            self.carried.reserve(self.carried.len() + 16);
        }
        self.packets += 1;
        self.carried.push(Carried { telling, arrival });
    }

    fn arrival(&self, telling: u64, beat: &Beat) -> Time {
        let carried = self.carried(telling);
        carried.map_or_else(|| beat.at(telling) + self.lag, |one| one.arrival)
    }

    /// How many messages have arrived by `time`.
    fn heard_by(&self, time: Time, beat: &Beat) -> u64 {
        let mut heard = match time < self.lag {
            true => 0,
            false => beat.count_before(time - self.lag + Time::from_picos(1)),
        };
        while heard > 0 && self.arrival(heard - 1, beat) > time {
            heard -= 1;
        }
        heard
    }
}

/// A message under way that is not a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    /// When it was sent; only checks use it.
    #[cfg(feature = "checks")]
    pub told: Time,
    /// When its transmission ends.
    pub departure: Time,
}

/// The messages between all switches while feedback needs no packets.
#[derive(Clone, Debug)]
pub(crate) struct Implied {
    /// By link.
    pub wires: Vec<Wire>,
    /// By switch.
    beats: Vec<Beat>,
    /// Messages due to be sent as packets: the time, the link's `order`, and the link.
    armed: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// The time of the first; [`NEVER`] if there is none.
    next_armed: Time,
    /// The greatest age, since it was sent, of a message that is still the last one heard over its link.
    oldest: Time,
    /// The age of the oldest message that a price can depend on, and how many messages of one link are younger.
    goes_back: Time,
    kept: u64,
    /// The most switches that a price passes through.
    depth: u32,
    /// Everything before this time has happened.
    pub observed: Time,
    /// Whether some link has so many messages under way that its switch will soon have to skip it.
    pub is_crowded: bool,
}

/// What [`Fmp::imply`] needs to know about a link.
pub(crate) struct LinkToImply {
    /// Its port.
    pub port: PortId,
    /// The limit of the port's queue.
    pub limit: Limit,
    /// How long the port takes to send a message.
    pub transmission: Time,
}

impl Fmp {
    /// From now on feedback needs no packets. `link` describes a link, given its number and the bytes of a message over
    /// it.
    pub(crate) fn imply(&mut self, link: impl Fn(u32, u16) -> LinkToImply) {
        let mut order = vec![0; self.switch_at.len()];
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        for (place, &port) in (0..).zip(ports) {
            order[port as usize] = place;
        }
        let wires = (0..self.switch_at.len() as u32).map(|number| {
            let size = self.size_of_telling(number);
            let described = link(number, size);
            // Before anything is heard, this is the link's delay.
            let delay = self.hearing[number as usize].at;
            Wire {
                size,
                from: self.switch_at(reverse(number)),
                to: self.switch_at(number),
                order: order[number as usize],
                transmission: described.transmission,
                lag: described.transmission + delay,
                armed: NEVER,
                came: NEVER,
                carried: Vec::new(),
                packets: 0,
                waits: Waits::default(),
                counted: 0,
                port: described.port,
                limit: described.limit,
            }
        });
        let wires: Vec<Wire> = wires.collect();
        self.implied = Some(Box::new(Implied {
            beats: Vec::new(),
            armed: BinaryHeap::new(),
            next_armed: NEVER,
            oldest: Time::ZERO,
            goes_back: Time::ZERO,
            kept: 0,
            depth: self.prices.depth(|link| wires[link as usize].to),
            observed: Time::ZERO,
            is_crowded: false,
            wires,
        }));
    }

    /// Sets when each switch first tells its neighbours. Returns whether that needs no packets.
    pub(crate) fn begin(&mut self, first: &[Time]) -> bool {
        let period = self.config.feedback_period;
        let Some(implied) = &mut self.implied else {
            return false;
        };
        let beats = first.iter().map(|&first| Beat::new(first, period));
        implied.beats = beats.collect();
        let lags = implied.wires.iter().filter(|wire| wire.size > 0);
        let longest = lags.map(|wire| wire.lag).max();
        implied.go_back_to(longest.unwrap_or(Time::ZERO) + period * 2);
        true
    }

    /// Counts messages that have been sent as packets.
    pub(crate) fn packets_are_sent(&mut self, packets: usize) {
        self.in_network += packets;
    }

    /// Counts the arrival of a message that was a packet.
    pub(crate) fn a_packet_has_arrived(&mut self) {
        self.in_network -= 1;
    }

    /// A switch is about to send a message as a packet: sets [`Implied::is_crowded`] if too many are under way on the
    /// link.
    pub(crate) fn look_at_crowd(&mut self, link: u32, told: Time) {
        let Some(implied) = &self.implied else {
            return;
        };
        let wire = &implied.wires[link as usize];
        let telling = implied.beats[wire.from as usize].number(told);
        // Checking now and then is enough: at most one more message is under way each period.
        if !telling.is_multiple_of(16) {
            return;
        }
        let under_way =
            (telling - wire.heard_by(told, &implied.beats[wire.from as usize])) as usize;
        if self.has_too_many(link, under_way + MOST_IN_QUEUE as usize / 2)
            && let Some(implied) = &mut self.implied
        {
            implied.is_crowded = true;
        }
    }

    /// From now on packets carry feedback. Brings prices, counters and the messages under way to what they would be if
    /// packets always had, and returns what was implied. If the run `is_over`, only counters are updated.
    pub(crate) fn end_implying(&mut self, now: Time, is_over: bool) -> Option<Box<Implied>> {
        let implied = self.implied.take()?;
        if !is_over {
            self.recall_all(&implied, now);
        }
        for (link, wire) in (0u32..).zip(&implied.wires) {
            if wire.size == 0 {
                continue;
            }
            let beat = &implied.beats[wire.from as usize];
            let told = beat.count_before(now);
            let statistics = self.statistics_mut(wire.from);
            statistics.feedback_packets += told;
            statistics.feedback_bytes += told * u64::from(wire.size);
            if is_over {
                continue;
            }
            for telling in implied.arrived_before(wire, now)..told {
                let message = self.told_over(&implied, link, beat.at(telling));
                self.under_way[link as usize].push_back(message);
            }
        }
        Some(implied)
    }

    /// Sets what the far end of a link knows of the near one as if every message had been a packet. `delivered` counts
    /// the packets and messages that the link has delivered.
    pub(crate) fn hear_by_packets(
        &mut self,
        implied: &Implied,
        link: u32,
        now: Time,
        delivered: u64,
    ) {
        let wire = &implied.wires[link as usize];
        let heard = implied.heard(link, now.saturating_sub(Time::from_picos(1)));
        let heard = heard
            .filter(|_| now > Time::ZERO)
            .map(|heard| heard.arrival);
        let came = (wire.came != NEVER).then_some(wire.came);
        let Some(last) = heard.max(came) else {
            return;
        };
        let hearing = &mut self.hearing[link as usize];
        hearing.at = hearing.at.max(heard.unwrap_or(Time::ZERO));
        // The far end checks for arrivals whenever it tells its neighbours.
        let looked = &implied.beats[wire.to as usize];
        let noticed = looked.at(looked.count_before(last));
        if noticed < now {
            hearing.packets = delivered;
            hearing.at = hearing.at.max(noticed);
        } else {
            // The last arrival has not been noticed yet; the next check will find it.
            hearing.packets = delivered - 1;
        }
    }
}

impl Implied {
    /// When a switch next tells its neighbours, at or after `now`.
    pub fn next_telling(&self, switch: u32, now: Time) -> Time {
        let beat = &self.beats[switch as usize];
        beat.at(beat.count_before(now))
    }

    /// Notes that the last message heard over a link can be this old.
    fn go_back_to(&mut self, age: Time) {
        self.oldest = age;
        self.goes_back = age * (u64::from(self.depth) + 1);
        let Some(beat) = self.beats.first() else {
            return;
        };
        self.kept = self.goes_back.as_picos() / beat.period().as_picos() + 2;
    }

    /// The earliest time that prices computed from now on can depend on.
    pub(super) fn recalled_from(&self, now: Time) -> Time {
        now.saturating_sub(self.goes_back)
    }

    /// When a packet that leaves the port of a link at `departure` arrives.
    pub fn arrival(&self, link: u32, departure: Time) -> Time {
        let wire = &self.wires[link as usize];
        departure + (wire.lag - wire.transmission)
    }

    /// Whether a message that has to be a packet was due before `now`.
    #[inline(always)]
    pub fn is_behind(&self, now: Time) -> bool {
        self.next_armed < now
    }

    /// Takes the next message that has to be a packet and was due before `now`: its link, and when it was due.
    pub fn take_armed(&mut self, now: Time) -> Option<(u32, Time)> {
        let &Reverse((at, _, link)) = self.armed.peek()?;
        if at >= now {
            return None;
        }
        self.armed.pop();
        let next = self.armed.peek();
        self.next_armed = next.map_or(NEVER, |&Reverse((at, ..))| at);
        self.wires[link as usize].armed = NEVER;
        Some((link, at))
    }

    #[cold]
    #[inline(never)]
    fn arm(&mut self, link: u32, at: Time) {
        let wire = &mut self.wires[link as usize];
        if wire.armed == NEVER {
            wire.armed = at;
            self.armed.push(Reverse((at, wire.order, link)));
            self.next_armed = self.next_armed.min(at);
        }
    }

    /// Whether a packet that arrives at a link's port and takes `transmission` to send meets no message: the port is
    /// idle, is not sending a message, and will be idle when its switch next tells its neighbours. The port has sent
    /// all packets that it holds at `free_at`. May return false even if no message is met.
    #[inline(always)]
    pub fn is_out_of_the_way(
        &mut self,
        link: u32,
        free_at: Time,
        (now, transmission): (Time, Time),
    ) -> bool {
        let wire = &self.wires[link as usize];
        if wire.size == 0 {
            return true;
        }
        let beat = &mut self.beats[wire.from as usize];
        let next = beat.next(now);
        free_at <= now
            && now + transmission <= next
            && next + wire.transmission <= now + beat.period()
    }

    /// Whether a link's port is sending a message. It has sent all packets that it holds at `free_at`.
    #[inline(always)]
    pub fn is_sending(&mut self, link: u32, free_at: Time, now: Time) -> bool {
        let wire = &self.wires[link as usize];
        let beat = &mut self.beats[wire.from as usize];
        let next = beat.next(now);
        // The message would have been sent a period before `next`; there is none if `next` is the first.
        let end = next + wire.transmission;
        end > now + beat.period() && next > beat.first() && free_at + beat.period() <= next
    }

    /// Turns the message that a link's port is sending into a packet. Returns when the message was sent.
    pub fn make_packet(&mut self, link: u32, now: Time) -> Time {
        let kept = self.kept;
        let wire = &mut self.wires[link as usize];
        let beat = &self.beats[wire.from as usize];
        let telling = beat.count_before(now) - 1;
        let told = beat.at(telling);
        wire.carry(telling, told + wire.lag, telling.saturating_sub(kept));
        told
    }

    /// Records that the message sent at `told` is a packet, and when it arrives.
    pub fn send_packet(&mut self, link: u32, told: Time, arrival: Time) {
        let kept = self.kept;
        let wire = &mut self.wires[link as usize];
        let beat = &self.beats[wire.from as usize];
        let telling = beat.number(told);
        wire.carry(telling, arrival, telling.saturating_sub(kept));
        let age = arrival - told + beat.period() * 2;
        if age > self.oldest {
            self.go_back_to(age);
        }
    }

    /// A packet of `size` bytes has joined a link's port: its transmission lasts from `start` to `end`.
    #[inline(always)]
    pub fn joined(&mut self, link: u32, now: Time, (start, end): (Time, Time), size: u16) {
        let from = self.wires[link as usize].from;
        let next = self.beats[from as usize].next(now);
        self.joined_before(link, (now, next), (start, end), size);
    }

    /// Like [`Implied::joined`], for the message that was sent as a packet at `told`.
    pub fn told(&mut self, link: u32, told: Time, (start, end): (Time, Time)) {
        let Wire { from, size, .. } = self.wires[link as usize];
        let after = told + Time::from_picos(1);
        let next = self.beats[from as usize].next(after);
        self.joined_before(link, (told, next), (start, end), size);
    }

    #[inline(always)]
    fn joined_before(
        &mut self,
        link: u32,
        (now, next): (Time, Time),
        (start, end): (Time, Time),
        size: u16,
    ) {
        if end > next {
            self.arm(link, next);
        }
        if start > now {
            let goes_back = self.goes_back;
            let waits = &mut self.wires[link as usize].waits;
            waits.add((now, start), size, || now.saturating_sub(goes_back));
        }
    }

    /// A packet has reached the far end of a link.
    #[inline(always)]
    pub fn on_packet(&mut self, link: u32, now: Time) {
        self.wires[link as usize].came = now;
    }

    /// The last message that arrived over a link by `time`.
    pub(super) fn heard(&self, link: u32, time: Time) -> Option<Heard> {
        let wire = &self.wires[link as usize];
        let beat = &self.beats[wire.from as usize];
        let telling = wire.heard_by(time, beat).checked_sub(1)?;
        Some(Heard {
            told: beat.at(telling),
            arrival: wire.arrival(telling, beat),
        })
    }

    /// The queue of a link's port at `time`, as a share of its limit.
    pub(super) fn queue(&self, link: u32, time: Time) -> f64 {
        let wire = &self.wires[link as usize];
        wire.limit.share(wire.waits.at(time))
    }

    fn arrived_before(&self, wire: &Wire, now: Time) -> u64 {
        let beat = &self.beats[wire.from as usize];
        match now {
            Time::ZERO => 0,
            now => wire.heard_by(now - Time::from_picos(1), beat),
        }
    }

    /// Messages without packets that were sent before `now` and have not arrived before it, oldest first.
    pub fn under_way(&self, link: u32, now: Time) -> impl Iterator<Item = UnderWay> {
        let wire = &self.wires[link as usize];
        let told = match wire.size {
            0 => 0..0,
            _ => {
                let beat = &self.beats[wire.from as usize];
                self.arrived_before(wire, now)..beat.count_before(now)
            }
        };
        told.filter_map(move |telling| {
            let beat = &self.beats[wire.from as usize];
            wire.carried(telling).is_none().then(|| UnderWay {
                #[cfg(feature = "checks")]
                told: beat.at(telling),
                departure: beat.at(telling) + wire.transmission,
            })
        })
    }

    /// Number of messages sent over a link without packets before `now`.
    pub fn sent(&self, link: u32, now: Time) -> u64 {
        let wire = &self.wires[link as usize];
        match wire.size {
            0 => 0,
            _ => self.beats[wire.from as usize].count_before(now) - wire.packets,
        }
    }

    /// The messages sent over a link before `before` that are not yet in its port's histogram: when the first was sent,
    /// and how many there are. Marks them as counted.
    pub fn take_uncounted(&mut self, link: u32, before: Time) -> Option<(Time, u64)> {
        let wire = &mut self.wires[link as usize];
        if wire.size == 0 {
            return None;
        }
        let beat = &self.beats[wire.from as usize];
        let told = beat.count_before(before);
        let first = std::mem::replace(&mut wire.counted, told);
        (told > first).then(|| (beat.at(first), told - first))
    }

    /// Marks the next message as counted: it is a packet, which the port adds to its histogram itself.
    pub fn is_counted(&mut self, link: u32) {
        self.wires[link as usize].counted += 1;
    }

    /// How often switches tell their neighbours.
    pub fn period(&self) -> Time {
        self.beats.first().map_or(NEVER, |beat| beat.period())
    }
}
