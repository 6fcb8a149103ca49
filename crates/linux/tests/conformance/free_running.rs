//! Each side by itself in a closed loop: its own windows make the queues that mark and drop its packets.
//!
//! Every packet has its luck, drawn from its number: whether a queue of some length marks it, or drops it, is the same
//! for both sides. With the chance rising with the queue a small difference of windows makes a small difference of
//! marks; and a side that ran away would meet more of them, as on a network, where a list of marks at given events
//! would let it.

use super::sender::Sender;
use super::side::{Acknowledgement, Event, Side};
use pathweave_control::Loss;
use pathweave_random::{Stream, hash};

/// Events of a run.
pub const EVENTS: usize = 10_000;

/// A subflow and its path.
struct Subflow {
    sender: Sender,
    number: u64,
    /// In microseconds, without queues.
    rtt: f64,
    /// In packets per microsecond.
    rate: f64,
    /// Where the queue begins to mark, in packets; the drops begin at twice as many.
    threshold: f64,
    /// Data packets to one acknowledgement.
    every: u32,
    /// When the next acknowledgement comes, and the retransmission, if one is on its way.
    next: f64,
    retransmission: f64,
    /// Packets acknowledged so far.
    packets: u64,
    /// Of the windows at its events.
    sum: f64,
    events: f64,
}

/// What a packet's luck decides.
#[derive(Clone, Copy)]
enum Question {
    Marked = 1,
    Dropped = 2,
}

impl Subflow {
    /// Packets that wait at the bottleneck.
    fn queue(&self) -> f64 {
        f64::max(
            self.sender.unacknowledged() as f64 - self.rate * self.rtt,
            0.0,
        )
    }

    fn is_hit(&self, seed: u64, question: Question, packet: u64, chance: f64) -> bool {
        let bits = hash(&[seed, self.number, question as u64, packet]);
        (bits >> 11) as f64 / ((1_u64 << 53) as f64) < chance
    }

    /// What arrives next of a window of this many packets.
    fn arrive(&mut self, seed: u64, window: f64, marks: bool) -> Event {
        let (queue, threshold) = (self.queue(), self.threshold);
        let rtt = self.rtt + queue / self.rate;
        self.next += f64::from(self.every) * rtt / self.sender.unacknowledged() as f64;
        let dropped = 0.05 * (queue / threshold - if marks { 2.0 } else { 1.0 }).clamp(0.0, 1.0);
        if !self.sender.facts().in_recovery
            && self.is_hit(seed, Question::Dropped, self.packets, dropped)
        {
            // Too few packets follow for duplicate acknowledgements.
            let loss = match window < 4.0 {
                true => Loss::Timeout,
                false => Loss::FastRetransmit,
            };
            self.sender.lose(loss);
            self.retransmission = self.next + rtt;
            self.packets += 1;
            return Event::Lose(loss);
        }
        let retransmitted = self.sender.is_missing_a_packet() && self.next > self.retransmission;
        let packets = match retransmitted {
            true => self.sender.missing_packet_arrives(),
            false => self.sender.acknowledge(self.every),
        };
        let marked = 0.5 * (queue / threshold - 1.0).clamp(0.0, 1.0);
        let arrived = self.packets..self.packets + u64::from(packets);
        let hit = |&packet: &u64| marks && self.is_hit(seed, Question::Marked, packet, marked);
        let marks = arrived.clone().filter(hit).count() as u32;
        self.packets = arrived.end;
        self.sender.sample(rtt as u32);
        Event::Acknowledge(Acknowledgement {
            packets,
            marks,
            recovery: self.sender.facts().in_recovery,
            window_limited: true,
            sampled: true,
        })
    }
}

/// The mean window of each subflow over its events, on the network of this seed, which marks or only drops.
pub fn mean_windows(side: &mut dyn Side, seed: u64, marks: bool) -> Vec<f64> {
    let mut random = Stream::new(seed, "paths", 0);
    let mut range = |least: f64, most: f64| least * libm::pow(most / least, random.uniform());
    let subflows = range(1.0, 5.0) as u64;
    let shortest = range(50.0, 50_000.0);
    let mut subflows: Vec<Subflow> = (0..subflows)
        .map(|number| {
            let rtt = shortest * range(1.0, 3.0);
            let packets = range(5.0, 100.0);
            Subflow {
                sender: Sender::FRESH,
                number,
                rtt,
                rate: packets / rtt,
                threshold: f64::max(packets * range(0.1, 0.5), 2.0),
                every: range(1.0, 3.0) as u32,
                next: rtt * range(1.0, 2.0),
                retransmission: 0.0,
                packets: 0,
                sum: 0.0,
                events: 0.0,
            }
        })
        .collect();
    for (r, subflow) in subflows.iter_mut().enumerate() {
        subflow.sender.sample(subflow.rtt as u32);
        let opens = Event::Open {
            window: 10.0,
            ssthresh: f64::INFINITY,
        };
        side.happen(r, &subflow.sender.facts(), &opens);
    }
    for _ in 0..EVENTS {
        let soonest = |a: &&mut Subflow, b: &&mut Subflow| a.next.total_cmp(&b.next);
        let subflow = subflows.iter_mut().min_by(soonest).expect("a subflow");
        let r = subflow.number as usize;
        let outcome = side.outcome(r);
        if outcome.may_send {
            subflow.sender.fill(outcome.window);
        }
        if subflow.sender.unacknowledged() == 0 {
            // It is suppressed, and looks again later.
            subflow.next += subflow.rtt;
            continue;
        }
        let event = subflow.arrive(seed, outcome.window, marks);
        side.happen(r, &subflow.sender.facts(), &event);
        subflow.sum += side.outcome(r).window;
        subflow.events += 1.0;
    }
    subflows.iter().map(|s| s.sum / s.events).collect()
}
