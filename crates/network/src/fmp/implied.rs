//! Feedback without packets.
//!
//! While every link is up and loses nothing, each switch tells all its neighbours something in every period. A message
//! that finds its port idle arrives a fixed time later, and its prices follow from what its switch had heard when it sent
//! the message. Such a message needs no event, no entry in a ring and no copy of any price. This is all that is kept:
//!
//! - **Messages that are packets.** A message that finds its port busy stands in the queue like any packet. Whoever joins a
//!   port that will still be busy when its switch next tells its neighbours notes that ([`Implied::joined`]), and the
//!   message is sent before anything that happens later ([`crate::Network::come_over`]). A message also becomes a packet
//!   if another packet arrives at the port while it is being sent ([`Implied::make_packet`]).
//! - **Queues.** A switch that hears a message adds the queue of the port back to its prices. Each port has a list of the
//!   packets that waited there, with the times at which they came and left the queue.
//!
//! Prices are computed when a switch orders its ports for a subflow ([`super::recall`]). Most prices are never used.
//!
//! As soon as a link changes, the messages under way become packets, and every later one is a packet from the start
//! ([`crate::Network::carry_feedback`]). `DeparturePorts` always do it that way, so that tests can compare the two.

use super::beat::Beat;
use super::feedback::MOST_IN_QUEUE;
use super::waits::Waits;
use super::{Fmp, reverse};
use crate::places::PortId;
use crate::queue::Limit;
use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NEVER: Time = Time::MAX;

/// The last message that a switch has heard over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// When it was sent.
    pub told: Time,
    pub arrival: Time,
}

/// A message that is a packet.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// Which message of its switch it is, counted from zero.
    telling: u64,
    arrival: Time,
}

/// A link, if it is one between switches.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Wire {
    /// Bytes of a message over it; zero where nothing is to be told.
    pub size: u16,
    /// The switches where it begins and ends; [`NONE`](super::NONE) for hosts.
    from: u32,
    pub(super) to: u32,
    /// Its place among all links, by the switches where they begin.
    order: u32,
    /// How long its port sends a message.
    transmission: Time,
    /// When a message arrives after it was sent by an idle port.
    lag: Time,
    /// A packet will be sent then; [`NEVER`] for none.
    armed: Time,
    /// When something that is a packet last came over it; [`NEVER`] for nothing.
    came: Time,
    /// Messages that were packets: the last ones, and how many there have been.
    carried: Vec<Carried>,
    packets: u64,
    /// Packets that have waited at its port.
    waits: Waits,
    /// Messages whose arrivals at the port are in its histogram.
    counted: u64,
    /// Its port.
    pub port: PortId,
    /// What may wait there.
    pub(super) limit: Limit,
}

impl Wire {
    /// A message, if it is a packet.
    fn carried(&self, telling: u64) -> Option<&Carried> {
        // Most are not, and most that are asked for are late.
        let last = self.carried.last()?;
        if last.telling < telling {
            return None;
        }
        let place = self.carried.partition_point(|one| one.telling < telling);
        self.carried.get(place).filter(|one| one.telling == telling)
    }

    /// A message is a packet. If there is no room, those before `kept` are forgotten.
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

    /// How many messages have arrived by a time.
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
    /// When it was sent; only a check has to know.
    #[cfg(feature = "checks")]
    pub told: Time,
    /// When its port has sent it.
    pub departure: Time,
}

/// The messages between all switches while nothing fails.
#[derive(Clone, Debug)]
pub(crate) struct Implied {
    /// By link.
    pub wires: Vec<Wire>,
    /// By switch.
    beats: Vec<Beat>,
    /// Packets that will be sent: when, the place of the link, and the link.
    armed: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// When the first of them is; [`NEVER`] for none.
    next_armed: Time,
    /// The greatest age of a message that was still the last one heard over its link.
    oldest: Time,
    /// How old the oldest message can be that a price depends on, and how many messages of a link are as young.
    goes_back: Time,
    kept: u64,
    /// The most switches that a price has come through.
    depth: u32,
    /// Everything before this time has happened.
    pub observed: Time,
    /// Whether some link has so many messages under way that switches will soon have to skip it.
    pub is_crowded: bool,
}

/// What [`Fmp::imply`] has to know of a link.
pub(crate) struct LinkToImply {
    /// Its port.
    pub port: PortId,
    /// What may wait there.
    pub limit: Limit,
    /// How long the port sends a message.
    pub transmission: Time,
}

impl Fmp {
    /// From now on feedback needs no packets. `link` describes a link over which this many bytes are told at a time.
    pub(crate) fn imply(&mut self, link: impl Fn(u32, u16) -> LinkToImply) {
        let mut order = vec![0; self.switch_at.len()];
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        for (place, &port) in (0..).zip(ports) {
            order[port as usize] = place;
        }
        let wires = (0..self.switch_at.len() as u32).map(|number| {
            let size = self.size_of_telling(number);
            let described = link(number, size);
            // Nothing can have come before.
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

    /// Switches tell their neighbours for the first time at these times. Returns whether they need no packets for it.
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

    /// So many messages are on their way as packets.
    pub(crate) fn packets_are_sent(&mut self, packets: usize) {
        self.in_network += packets;
    }

    /// A message that is a packet has arrived.
    pub(crate) fn a_packet_has_arrived(&mut self) {
        self.in_network -= 1;
    }

    /// A switch is about to send a message as a packet. Sets [`Implied::is_crowded`] if too many are under way on that link.
    pub(crate) fn look_at_crowd(&mut self, link: u32, told: Time) {
        let Some(implied) = &self.implied else {
            return;
        };
        let wire = &implied.wires[link as usize];
        let telling = implied.beats[wire.from as usize].number(told);
        // A look now and then is enough: one more message is under way in each period at most.
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

    /// Feedback is carried by packets from now on: prices, counts and the messages under way are what they would be if it
    /// always had been. Returns what was implied. When the run is over, nobody asks for prices or for what is told.
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

    /// The far end of a link knows what has come over it, of which the port has delivered so many packets and messages.
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
        // When the far end looked: whenever it told its neighbours.
        let looked = &implied.beats[wire.to as usize];
        let noticed = looked.at(looked.count_before(last));
        if noticed < now {
            hearing.packets = delivered;
            hearing.at = hearing.at.max(noticed);
        } else {
            // It will notice that something has come since.
            hearing.packets = delivered - 1;
        }
    }
}

impl Implied {
    /// When a switch tells its neighbours next, from now on.
    pub fn next_telling(&self, switch: u32, now: Time) -> Time {
        let beat = &self.beats[switch as usize];
        beat.at(beat.count_before(now))
    }

    /// The last message heard over a link can be this old.
    fn go_back_to(&mut self, age: Time) {
        self.oldest = age;
        self.goes_back = age * (u64::from(self.depth) + 1);
        let Some(beat) = self.beats.first() else {
            return;
        };
        self.kept = self.goes_back.as_picos() / beat.period().as_picos() + 2;
    }

    /// The earliest time of which prices that are asked for from now on can be.
    pub(super) fn recalled_from(&self, now: Time) -> Time {
        now.saturating_sub(self.goes_back)
    }

    /// When what has been sent at a time arrives at the end of a link.
    pub fn arrival(&self, link: u32, departure: Time) -> Time {
        let wire = &self.wires[link as usize];
        departure + (wire.lag - wire.transmission)
    }

    /// Whether a packet has to be sent before what happens now.
    #[inline(always)]
    pub fn is_behind(&self, now: Time) -> bool {
        self.next_armed < now
    }

    /// The next packet that has to be sent before what happens now: its link, and when.
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

    /// Whether a packet that arrives at the port of a link and takes this long to send meets no message there: the port is
    /// idle, sends no message, and will be idle when its switch tells its neighbours next. The port has sent all packets
    /// that it holds at `free_at`. May return false although no message is met.
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

    /// Whether the port of a link, which has sent all packets that it holds at `free_at`, is sending a message.
    #[inline(always)]
    pub fn is_sending(&mut self, link: u32, free_at: Time, now: Time) -> bool {
        let wire = &self.wires[link as usize];
        let beat = &mut self.beats[wire.from as usize];
        let next = beat.next(now);
        // That is before the first time if there is none.
        let end = next + wire.transmission;
        end > now + beat.period() && next > beat.first() && free_at + beat.period() <= next
    }

    /// What a link's port is sending becomes a packet: when it was sent.
    pub fn make_packet(&mut self, link: u32, now: Time) -> Time {
        let kept = self.kept;
        let wire = &mut self.wires[link as usize];
        let beat = &self.beats[wire.from as usize];
        let telling = beat.count_before(now) - 1;
        let told = beat.at(telling);
        wire.carry(telling, told + wire.lag, telling.saturating_sub(kept));
        told
    }

    /// A message is a packet that arrives at a time.
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

    /// A packet of so many bytes has joined the port of a link, waits until `start`, and will have been sent at `end`.
    #[inline(always)]
    pub fn joined(&mut self, link: u32, now: Time, (start, end): (Time, Time), size: u16) {
        let from = self.wires[link as usize].from;
        let next = self.beats[from as usize].next(now);
        self.joined_before(link, (now, next), (start, end), size);
    }

    /// The same for a message that its switch has just sent.
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

    /// A packet has come to the end of a link.
    #[inline(always)]
    pub fn on_packet(&mut self, link: u32, now: Time) {
        self.wires[link as usize].came = now;
    }

    /// The last message that has come over a link by a time.
    pub(super) fn heard(&self, link: u32, time: Time) -> Option<Heard> {
        let wire = &self.wires[link as usize];
        let beat = &self.beats[wire.from as usize];
        let telling = wire.heard_by(time, beat).checked_sub(1)?;
        Some(Heard {
            told: beat.at(telling),
            arrival: wire.arrival(telling, beat),
        })
    }

    /// What waits at the port of a link at a time, as a share of what may wait.
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

    /// Messages without packets that were sent before a time and had not arrived by then, oldest first.
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

    /// Number of messages without packets that were sent over a link before a time.
    pub fn sent(&self, link: u32, now: Time) -> u64 {
        let wire = &self.wires[link as usize];
        match wire.size {
            0 => 0,
            _ => self.beats[wire.from as usize].count_before(now) - wire.packets,
        }
    }

    /// The messages sent over a link before a time whose arrivals at the port are missing in its histogram: when the first
    /// one was sent, and their number. They count as done from now on.
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

    /// The port itself counts the next message, which is a packet, in its histogram.
    pub fn is_counted(&mut self, link: u32) {
        self.wires[link as usize].counted += 1;
    }

    /// How often switches tell their neighbours.
    pub fn period(&self) -> Time {
        self.beats.first().map_or(NEVER, |beat| beat.period())
    }
}
