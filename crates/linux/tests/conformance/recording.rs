//! What the simulator's transport tells a controller, written down, over two links with queues.

use super::side::{Acknowledgement, Event, Facts};
use pathweave_control::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameters, Path, Paths, SubflowId,
};
use pathweave_transport::{
    Arrived, Config, End, Endpoints, Opening, Output, PacketShape, ReceivingId, ReceivingSubflow,
    SackBlocks, Segment, SendingId, SendingSubflow, Timer,
};
use pathweave_units::{Bytes, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

/// Events in their order, each with the subflow that it happened to.
pub type Recording = Vec<(usize, Facts, Event)>;

/// A controller that writes down what it is told.
#[derive(Debug)]
struct Recorder {
    controller: Box<dyn Controller>,
    recording: Arc<Mutex<Recording>>,
}

impl Recorder {
    fn write(&self, r: SubflowId, path: &Path, event: Event) {
        // As fine as the kernel has RTTs.
        let micros = |time: Time| (time.as_picos() / 1_000_000).max(1) as u32;
        let facts = Facts {
            sent: path.sent,
            acked: path.acked,
            in_flight: path.in_flight,
            srtt: (path.smoothed_rtt.as_picos() / 125_000) as u32,
            min_rtt: if path.has_rtt() {
                micros(path.minimum_rtt)
            } else {
                u32::MAX
            },
            latest_rtt: if path.has_rtt() {
                micros(path.latest_rtt)
            } else {
                0
            },
            in_recovery: path.in_recovery,
        };
        let mut recording = self.recording.lock().expect("one thread");
        recording.push((r.0 as usize, facts, event));
    }
}

impl Controller for Recorder {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let acknowledgement = Acknowledgement {
            packets: ack.packets,
            marks: ack.ce,
            recovery: ack.recovery,
            window_limited: ack.window_limited,
            sampled: ack.rtt.is_some(),
        };
        self.write(r, &paths[r], Event::Acknowledge(acknowledgement));
        self.controller.on_ack(paths, r, ack);
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        self.write(r, &paths[r], Event::Lose(loss));
        self.controller.on_loss(paths, r, loss, now);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        let Path {
            window, ssthresh, ..
        } = paths[r];
        let event = match change {
            Change::Opened => Event::Open { window, ssthresh },
            other => Event::Change(other),
        };
        self.write(r, &paths[r], event);
        self.controller.on_subflow(paths, r, change);
    }
}

/// A link that all subflows of one path share, and what is behind it.
pub struct Link {
    pub rate: Rate,
    /// From the sender to the receiver, and back.
    pub delay: Time,
    /// Packets that it queues, and from how many on it marks.
    pub capacity: usize,
    pub threshold: usize,
    /// From when until when it loses everything.
    pub down: Option<(Time, Time)>,
}

/// Something that is going to happen.
enum Pending {
    Leaves(usize),
    Arrives(PacketShape, (Segment, SackBlocks), bool),
    Wakes(Timer),
}

/// A network of one link for every path, both ways but without queues on the way back.
struct Network<'a> {
    links: &'a [Link],
    /// Packets on each link that have not left it, and until when it is busy.
    queued: Vec<usize>,
    busy: Vec<Time>,
    /// Subflow r of every connection takes path r modulo their number.
    subflows: u32,
    now: Time,
    /// When what is going to happen, by its place in `pending`.
    agenda: BinaryHeap<Reverse<(Time, usize)>>,
    pending: Vec<Option<Pending>>,
    dropped: Vec<Segment>,
}

impl Network<'_> {
    fn at(&mut self, time: Time, pending: Pending) {
        self.agenda.push(Reverse((time, self.pending.len())));
        self.pending.push(Some(pending));
    }
}

impl<'n> Output for Network<'n> {
    type Lent<'a>
        = &'a mut Network<'n>
    where
        Self: 'a;

    fn lend(&mut self) -> &mut Network<'n> {
        self
    }
    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        // Either half of a subflow stands at the place of the other.
        let (End::Sending(SendingSubflow(subflow)) | End::Receiving(ReceivingSubflow(subflow))) =
            from;
        let place = (subflow % self.subflows) as usize % self.links.len();
        let link = &self.links[place];
        if matches!(from, End::Receiving(_)) {
            return self.at(
                self.now.saturating_add(link.delay),
                Pending::Arrives(shape, (segment, *blocks), false),
            );
        }
        let is_down = link
            .down
            .is_some_and(|(from, until)| (from..until).contains(&self.now));
        if is_down || self.queued[place] >= link.capacity && !shape.protected {
            self.dropped.push(segment);
            return;
        }
        let marked = shape.ecn_capable && self.queued[place] >= link.threshold;
        self.queued[place] += 1;
        let size = Bytes::new(u64::from(shape.size));
        let leaves = self.busy[place]
            .max(self.now)
            .saturating_add(link.rate.time_for(size));
        self.busy[place] = leaves;
        self.at(leaves, Pending::Leaves(place));
        let arrives = leaves.saturating_add(link.delay);
        self.at(arrives, Pending::Arrives(shape, (segment, *blocks), marked));
    }

    fn wake(&mut self, timer: Timer, at: Time) {
        self.at(at, Pending::Wakes(timer));
    }

    fn finished(&mut self, _: ReceivingId) {}
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {}
}

/// What happens to the controllers of two connections that share the links, with a subflow for each link and one more,
/// until this many events have happened to the first.
pub fn record(
    entry: &Entry,
    parameters: &Parameters,
    minimum_window: u32,
    links: &[Link],
    events: usize,
) -> Vec<Recording> {
    let subflows = links.len() as u32 + 1;
    let mut endpoints = Endpoints::default();
    let mut network = Network {
        links,
        queued: vec![0; links.len()],
        busy: vec![Time::ZERO; links.len()],
        subflows,
        now: Time::ZERO,
        agenda: BinaryHeap::new(),
        pending: Vec::new(),
        dropped: Vec::new(),
    };
    let config = Arc::new(Config {
        minimum_window: f64::from(minimum_window),
        // Short enough for timeouts in a row.
        minimum_rto: Time::from_millis(5),
        ..Config::textbook()
    });
    let recordings: Vec<Arc<Mutex<Recording>>> = (0..2).map(|_| Arc::default()).collect();
    for recording in &recordings {
        let id = endpoints.add(Opening {
            ecn_echo: match (entry.ecn)(parameters) {
                Ecn::Off => None,
                Ecn::Count { limit } => Some(limit),
            },
            subflows,
            ..Opening::new(
                0,
                Arc::clone(&config),
                Box::new(Recorder {
                    controller: (entry.build)(parameters),
                    recording: Arc::clone(recording),
                }),
            )
        });
        endpoints.start(id, Time::ZERO, &mut network);
    }
    let length = |recording: &Mutex<Recording>| recording.lock().expect("one thread").len();
    while length(&recordings[0]) < events
        && let Some(Reverse((now, place))) = network.agenda.pop()
    {
        network.now = now;
        match network.pending[place].take() {
            Some(Pending::Leaves(link)) => network.queued[link] -= 1,
            Some(Pending::Wakes(timer)) => endpoints.on_timer(timer, now, &mut network),
            Some(Pending::Arrives(shape, (segment, blocks), marked)) => {
                let arrived = Arrived {
                    size: shape.size,
                    congestion_experienced: marked,
                    feedback: shape.feedback,
                };
                endpoints.on_packet(&segment, &blocks, arrived, now, &mut network);
            }
            None => unreachable!("what is on the agenda is pending"),
        }
        for segment in std::mem::take(&mut network.dropped) {
            endpoints.on_lost(&segment);
        }
    }
    let take = |recording: &Arc<Mutex<Recording>>| {
        std::mem::take(&mut *recording.lock().expect("one thread"))
    };
    recordings.iter().map(take).collect()
}
