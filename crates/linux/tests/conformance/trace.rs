//! Random traces: what can happen to the subflows of a connection, on networks of all kinds.

use super::sender::Sender;
use super::side::{Acknowledgement, Event, Facts, Outcome};
use pathweave_control::{Change, Loss};
use pathweave_random::Stream;

/// No subflow's window is left above this many packets.
pub const LARGEST_WINDOW: f64 = 2e5;

/// Why nothing comes back from a subflow's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    None,
    /// A timeout, which may be a lone one.
    TimedOut,
    Failed,
}

/// One subflow's network.
struct Subflow {
    open: bool,
    silence: Silence,
    sender: Sender,
    /// Its share of the events.
    weight: f64,
    /// In microseconds; drifts.
    rtt: f64,
    /// What queues add to the RTT, relatively.
    queueing: f64,
    /// The largest acknowledgements, in packets, and in relation to the window.
    stretch: u64,
    window_share: f64,
    /// Whether marks come at present.
    congested: bool,
}

/// A trace of one connection.
pub struct Trace {
    random: Stream,
    subflows: Vec<Subflow>,
    /// How many subflows open in all, and the longest window that one begins with.
    most_subflows: usize,
    longest_window: f64,
    /// Chances for each acknowledgement: that congestion begins or ends, of a loss, of a duplicate, of a packet that
    /// comes late, of an acknowledgement when the window is not used.
    begins: f64,
    ends: f64,
    marked: f64,
    loss: f64,
    duplicate: f64,
    reordered: f64,
    idle: f64,
    /// Of an event: that a subflow opens or closes.
    changes: f64,
    /// That a timeout is followed by silence, that this ends with an event, and that it ends in failure.
    falls_silent: f64,
    silence_ends: f64,
    fails: f64,
    drift: f64,
    samples: f64,
}

impl Trace {
    pub fn new(seed: u64) -> Trace {
        let mut random = Stream::new(seed, "conformance", 0);
        let mut pick = |choices: &[f64]| choices[random.below(choices.len() as u64) as usize];
        let longest_window = pick(&[10.0, 10.0, 100.0, 1e3, 1e5]);
        let begins = pick(&[0.0, 0.002, 0.02, 0.2]);
        let ends = pick(&[0.02, 0.2, 0.8]);
        let marked = pick(&[0.05, 0.5, 1.0]);
        let loss = pick(&[0.0, 0.0005, 0.003, 0.02]);
        let duplicate = pick(&[0.0, 0.01, 0.1]);
        let reordered = pick(&[0.0, 0.01, 0.1]);
        let idle = pick(&[0.0, 0.02, 0.5]);
        let changes = pick(&[0.0, 0.001, 0.01]);
        let falls_silent = pick(&[0.0, 0.5, 1.0]);
        let silence_ends = pick(&[0.001, 0.01, 0.1]);
        let fails = pick(&[0.3, 1.0]);
        let drift = pick(&[1e-4, 1e-3, 0.02]);
        let samples = pick(&[0.1, 0.9, 1.0]);
        let largest_rtt = pick(&[100.0, 1e3, 2e4, 5e5]);
        let spread = pick(&[1.1, 4.0, 100.0, 5e4]);
        let queueing = pick(&[0.01, 0.2, 2.0]);
        let stretch = pick(&[1.0, 2.0, 8.0, 64.0]) as u64;
        let window_share = pick(&[0.0, 0.0, 0.05, 0.5]);
        let most_subflows = random.between(1, 8) as usize;
        let subflows = (0..most_subflows)
            .map(|_| Subflow {
                open: false,
                silence: Silence::None,
                sender: Sender::FRESH,
                weight: 0.05 + random.uniform(),
                rtt: f64::max(largest_rtt * libm::pow(spread, -random.uniform()), 10.0),
                queueing,
                stretch,
                window_share,
                congested: false,
            })
            .collect();
        Trace {
            random,
            subflows,
            most_subflows,
            longest_window,
            begins,
            ends,
            marked,
            loss,
            duplicate,
            reordered,
            idle,
            changes,
            falls_silent,
            silence_ends,
            fails,
            drift,
            samples,
        }
    }

    /// The next event and the subflow that it happens to; `outcomes` is what has been decided of each.
    pub fn next(&mut self, outcomes: &[Outcome]) -> (usize, Facts, Event) {
        let ever_open = self
            .subflows
            .iter()
            .take_while(|s| s.sender.facts().sent > 0);
        let ever_open = ever_open.count();
        let open = self.subflows.iter().filter(|s| s.open).count();
        let change = self.random.uniform();
        // The first subflows open one soon after the other.
        let opens = if ever_open < self.most_subflows && change < 0.02 {
            Some(ever_open)
        } else {
            let closed = self.subflows[..ever_open].iter().position(|s| !s.open);
            closed.filter(|_| change < self.changes)
        };
        if open == 0 || opens.is_some() {
            return self.open(opens.unwrap_or(0));
        }
        if let Some((r, change)) = self.end_a_silence() {
            return (r, self.subflows[r].sender.facts(), Event::Change(change));
        }
        if open > 1 && self.chance(self.changes) {
            let open: Vec<usize> = (0..ever_open).filter(|&r| self.subflows[r].open).collect();
            let r = open[self.random.below(open.len() as u64) as usize];
            self.subflows[r].open = false;
            let closes = Event::Change(Change::Closed);
            return (r, self.subflows[r].sender.facts(), closes);
        }
        let r = self.pick();
        let path = outcomes[r];
        let idle = self.chance(self.idle);
        let subflow = &mut self.subflows[r];
        if path.may_send {
            let share = if idle { self.random.uniform() } else { 1.0 };
            subflow.sender.fill(path.window * share);
        }
        let is_sending = subflow.sender.unacknowledged() > 0;
        let must_shrink = path.window >= LARGEST_WINDOW;
        if is_sending && (must_shrink || self.chance(self.loss)) {
            return self.lose(r, must_shrink);
        }
        self.acknowledge(r, &path, !idle)
    }

    #[cfg(test)]
    fn has_failed_subflow(&self) -> bool {
        let mut open = self.subflows.iter().filter(|s| s.open);
        open.any(|s| s.silence == Silence::Failed)
    }

    fn chance(&mut self, chance: f64) -> bool {
        self.random.uniform() < chance
    }

    /// What becomes of a silent subflow, if it is that one's turn and anything does.
    fn end_a_silence(&mut self) -> Option<(usize, Change)> {
        let is_silent = |s: &Subflow| s.open && s.silence != Silence::None;
        let silent: Vec<usize> = (0..self.subflows.len())
            .filter(|&r| is_silent(&self.subflows[r]))
            .collect();
        let count = silent.len() as u64;
        let nothing_is_heard = self.subflows.iter().all(|s| !s.open || is_silent(s));
        if count == 0 || !(nothing_is_heard || self.chance(self.silence_ends)) {
            return None;
        }
        let r = silent[self.random.below(count) as usize];
        let fails = self.chance(self.fails);
        let silence = &mut self.subflows[r].silence;
        match *silence {
            Silence::TimedOut if fails => {
                *silence = Silence::Failed;
                Some((r, Change::Failed))
            }
            Silence::Failed => {
                *silence = Silence::None;
                Some((r, Change::Recovered))
            }
            Silence::TimedOut | Silence::None => {
                *silence = Silence::None;
                None
            }
        }
    }

    /// An open subflow that is heard of.
    fn pick(&mut self) -> usize {
        let heard = |s: &&Subflow| s.open && s.silence == Silence::None;
        let all: f64 = self.subflows.iter().filter(heard).map(|s| s.weight).sum();
        let mut left = self.random.uniform() * all;
        let mut last = 0;
        for (r, subflow) in self.subflows.iter().enumerate() {
            if heard(&subflow) {
                last = r;
                left -= subflow.weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }

    fn open(&mut self, r: usize) -> (usize, Facts, Event) {
        let window = libm::pow(self.longest_window, self.random.uniform());
        // Initial windows are whole, as in the kernel.
        let window = window.round();
        let ssthresh = match self.random.below(3) {
            0 => f64::INFINITY,
            1 => 1.0 + (window * self.random.uniform()).round(),
            _ => window + (window * 4.0 * self.random.uniform()).round(),
        };
        let subflow = &mut self.subflows[r];
        subflow.open = true;
        subflow.silence = Silence::None;
        subflow.sender = Sender::FRESH;
        // The handshake gives a sample, but not always.
        if self.random.uniform() < 0.9 {
            subflow.sender.sample(subflow.rtt as u32);
        }
        let facts = subflow.sender.facts();
        subflow.sender.fill(window);
        (r, facts, Event::Open { window, ssthresh })
    }

    fn lose(&mut self, r: usize, must_shrink: bool) -> (usize, Facts, Event) {
        let loss = if must_shrink || self.chance(0.2) {
            Loss::Timeout
        } else {
            Loss::FastRetransmit
        };
        let silent = loss == Loss::Timeout && self.chance(self.falls_silent);
        let subflow = &mut self.subflows[r];
        if silent {
            subflow.silence = Silence::TimedOut;
        }
        let sender = &mut subflow.sender;
        sender.lose(loss);
        (r, sender.facts(), Event::Lose(loss))
    }

    fn acknowledge(
        &mut self,
        r: usize,
        path: &Outcome,
        window_limited: bool,
    ) -> (usize, Facts, Event) {
        let drift = 1.0 + self.drift * (2.0 * self.random.uniform() - 1.0);
        let sampled = self.chance(self.samples);
        let duplicate = self.chance(self.duplicate);
        let reordered = self.chance(self.reordered);
        let arrives = self.chance(0.2);
        let queue = self.random.uniform();
        let turns = self.random.uniform();
        let (random, marked) = (&mut self.random, self.marked);
        let subflow = &mut self.subflows[r];
        subflow.rtt = (subflow.rtt * drift).clamp(10.0, 500_000.0);
        subflow.congested = if subflow.congested {
            turns >= self.ends
        } else {
            turns < self.begins
        };
        let acked = subflow.sender.facts().acked;
        if reordered {
            subflow.sender.reorder();
        }
        let packets = if duplicate {
            0
        } else if subflow.sender.is_missing_a_packet() && arrives {
            subflow.sender.missing_packet_arrives()
        } else {
            let most = (path.window * subflow.window_share) as u64;
            let packets = random.between(1, subflow.stretch.max(most));
            subflow.sender.acknowledge(packets as u32)
        };
        if sampled && packets > 0 {
            let rtt = subflow.rtt * (1.0 + subflow.queueing * queue);
            subflow.sender.sample((rtt as u32).max(1));
        }
        let marks = if !subflow.congested {
            0
        } else if duplicate {
            1
        } else {
            // The share of marked packets, give or take a packet.
            (f64::from(packets) * marked + random.uniform()) as u32
        };
        let facts = subflow.sender.facts();
        let acknowledgement = Acknowledgement {
            packets,
            marks,
            // As transports have it: a duplicate, which acknowledges nothing cumulatively, lets no window grow.
            recovery: facts.in_recovery || facts.acked == acked,
            window_limited,
            sampled: sampled && packets > 0,
        };
        (r, facts, Event::Acknowledge(acknowledgement))
    }
}

/// That the traces go where they should: what no trace does no test has compared.
#[test]
fn traces_go_everywhere() {
    use super::side::Side;
    use super::simulator::Simulator;

    let entry = pathweave_control::find("reno").expect("a controller of the registry");
    let (mut windows, mut rtts) = ((f64::MAX, 0.0_f64), (u32::MAX, 0_u32));
    let (mut opens, mut closes, mut fast, mut timeouts) = (0, 0, 0, 0);
    let (mut failures, mut recoveries, mut while_failed) = (0, 0, 0);
    let (mut marks, mut duplicates, mut disorder, mut most_packets, mut most_subflows) =
        (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let mut reno = Simulator::new(entry, &entry.defaults(), 2);
        let (mut trace, mut outcomes) = (Trace::new(seed), Vec::new());
        for _ in 0..2_000 {
            let (r, facts, event) = trace.next(&outcomes);
            reno.happen(r, &facts, &event);
            outcomes.resize(outcomes.len().max(r + 1), reno.outcome(r));
            outcomes[r] = reno.outcome(r);
            most_subflows = most_subflows.max(outcomes.len());
            windows.0 = f64::min(windows.0, outcomes[r].window);
            windows.1 = f64::max(windows.1, outcomes[r].window);
            match event {
                Event::Open { .. } => opens += 1,
                Event::Change(Change::Failed) => failures += 1,
                Event::Change(Change::Recovered) => recoveries += 1,
                Event::Change(_) => closes += 1,
                Event::Lose(Loss::FastRetransmit) => fast += 1,
                Event::Lose(Loss::Timeout | Loss::PersistentCongestion) => timeouts += 1,
                Event::Acknowledge(ack) => {
                    while_failed += u32::from(trace.has_failed_subflow());
                    marks += ack.marks;
                    duplicates += u32::from(ack.packets == 0 && ack.marks > 0);
                    disorder += u32::from(ack.packets > 0 && ack.recovery && !facts.in_recovery);
                    most_packets = most_packets.max(ack.packets);
                    if facts.srtt > 0 {
                        rtts = (rtts.0.min(facts.srtt / 8), rtts.1.max(facts.srtt / 8));
                    }
                }
            }
        }
    }
    assert!(windows.0 == 1.0 && windows.1 >= 1e5, "{windows:?}");
    assert!(rtts.0 <= 12 && rtts.1 >= 450_000, "{rtts:?}");
    assert!(most_subflows == 8 && most_packets > 10_000);
    assert!(closes > 100 && opens > closes + 500, "{opens} {closes}");
    assert!(fast > 500 && timeouts > 100, "{fast} {timeouts}");
    assert!(marks > 10_000 && duplicates > 1_000, "{marks} {duplicates}");
    assert!(disorder > 10_000, "{disorder}");
    assert!(
        failures > 200 && recoveries > 100 && while_failed > 5_000,
        "{failures} {recoveries} {while_failed}"
    );
}
