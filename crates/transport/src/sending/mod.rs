//! The sending halves of connections: acknowledgements and timers go in, data and timers come out.

mod account;
mod acknowledgements;
mod bundles;
mod bursts;
mod by_time;
#[cfg(feature = "checks")]
mod checks;
mod connection;
mod cut_round;
mod loss_timer;
mod opening;
mod pace;
mod prefetch;
mod queued_bytes;
mod rack;
mod receive_window;
mod reinjection;
mod reinjection_timer;
mod repair;
mod retransmission;
mod scheduling;
mod scoreboard;
mod segmentation;
mod small_queue;
mod subflow;
mod subflow_queue;
mod timeout;
mod view;
mod window_use;
mod writing;

pub use account::{WAITS, Wait, Waits};
#[cfg(feature = "checks")]
pub(crate) use by_time::Measured;
pub use connection::{Opening, Scatter};
#[cfg(feature = "checks")]
pub(crate) use subflow::RecoveryState;
pub use view::SendingView;

use crate::Config;
use crate::ends::{End, ReceivingSubflow, SendingId, SendingSubflow};
use crate::output::{Arrived, Output, Timer, TimerKind};
use crate::receiving::Stopped;
use crate::segment::{Kind, SackBlocks, Segment};
use crate::tick::Tick;
use account::Account;
use connection::Connection;
use pathweave_control::{Ack, Change, Controller, Loss, Paths, SubflowId};
use pathweave_units::Time;
use subflow::Phase;
pub(crate) use subflow::Sender;

/// What a connection has whose controller has been given out: nothing happens to it any more.
#[derive(Debug)]
struct NoController;

impl Controller for NoController {
    fn on_ack(&mut self, _: &mut Paths<'_>, _: SubflowId, _: &Ack) {}
    fn on_loss(&mut self, _: &mut Paths<'_>, _: SubflowId, _: Loss, _: Time) {}
    fn on_subflow(&mut self, _: &mut Paths<'_>, _: SubflowId, _: Change) {}
}

/// The sending halves of all connections.
#[derive(Default)]
pub struct Sending {
    pub(super) connections: Vec<Connection>,
    unused_connections: Vec<u32>,
    pub(super) senders: Vec<Sender>,
    /// First subflows of unused blocks, by the blocks' length.
    unused_blocks: Vec<Vec<u32>>,
}

impl Sending {
    /// Makes room for a connection whose receiving half's subflows begin at `to`; it begins with
    /// [`Sending::start`].
    ///
    /// # Panics
    /// When the connection is to carry more than [`Config::largest_flow`].
    pub fn open(&mut self, mut opening: Opening, to: ReceivingSubflow) -> SendingId {
        if opening.config.source.is_some() {
            opening.send_bundle = 1; // what is there to send is seldom more
        }
        let place = self
            .unused_connections
            .pop()
            .unwrap_or(self.connections.len() as u32);
        let first = self.take_block(&opening, place, to);
        if let Some(scatter) = opening.scatter {
            self.senders[first as usize].duplicate_threshold = scatter.duplicate_threshold;
        }
        match self.connections.get_mut(place as usize) {
            None => self
                .connections
                .push(Connection::new(opening, first, Vec::new(), None)),
            Some(unused) => {
                let paths = std::mem::take(&mut unused.paths);
                let account = std::mem::replace(&mut unused.account, Account::new(None));
                *unused = Connection::new(opening, first, paths, Some(account));
            }
        }
        SendingId(place)
    }

    /// Starts a connection: its first packet leaves now, or when its first subflow is to open.
    pub fn start(&mut self, id: SendingId, now: Time, out: &mut impl Output) {
        let connection = &mut self.connections[id.0 as usize];
        connection.account.begin(now);
        let first = connection.first;
        let at = connection.subflow_starts.first().copied().unwrap_or(now);
        if connection.writer.is_some() {
            self.start_writing(id.0, now, out);
        }
        self.open_subflow_at(first, at, now, out);
        self.account_for(id.0, now);
    }

    fn take_block(&mut self, opening: &Opening, connection: u32, to: ReceivingSubflow) -> u32 {
        let count = opening.subflows;
        let config: &Config = &opening.config;
        let unused = self
            .unused_blocks
            .get_mut(count as usize)
            .and_then(Vec::pop);
        let first = unused.unwrap_or(self.senders.len() as u32);
        for number in 0..count {
            let index = (first + number) as usize;
            let id = SubflowId(number);
            if index == self.senders.len() {
                self.senders.push(Sender::new(connection, id, config));
            } else {
                self.senders[index].reset(connection, id, config);
            }
            self.senders[index].set_bundles(opening.send_bundle);
            self.senders[index].flow = opening.flow;
            self.senders[index].tick = opening.ticks[0];
            self.senders[index].has_tick = opening.ticks[0] != Tick::default();
            self.senders[index].to = to.0 + number;
        }
        first
    }

    /// Gives the places of a connection back, and its controller out. Nothing of it may be in the network.
    pub fn release(&mut self, id: SendingId) -> Box<dyn Controller> {
        let connection = &mut self.connections[id.0 as usize];
        let controller = std::mem::replace(&mut connection.controller, Box::new(NoController));
        let count = connection.paths.len();
        if self.unused_blocks.len() <= count {
            self.unused_blocks.resize_with(count + 1, Vec::new);
        }
        self.unused_blocks[count].push(connection.first);
        self.unused_connections.push(id.0);
        controller
    }

    /// Ends an unlimited flow, or cuts a finite one short: no new data is sent from now on. Returns what
    /// its receiving half has to know, unless all data has been sent already.
    pub fn stop(&mut self, id: SendingId, out: &mut impl Output) -> Option<Stopped> {
        let connection = &mut self.connections[id.0 as usize];
        if connection.closed || connection.next_data >= connection.total {
            return None;
        }
        connection.total = connection.next_data;
        connection.last_payload = connection.full_payload(connection.total.saturating_sub(1));
        let stopped = Stopped {
            total: connection.total,
            last_payload: connection.last_payload,
        };
        self.close_if_acknowledged(id.0, out);
        Some(stopped)
    }

    /// A packet arrived at the connection's source, with what the network made of its shape. The blocks go with it if
    /// the segment says that it has some.
    #[inline(always)]
    pub fn on_packet(
        &mut self,
        segment: Segment,
        blocks: &SackBlocks,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let index = segment.to;
        let sender = &mut self.senders[index as usize];
        sender.in_network = sender.in_network.wrapping_sub(1);
        if sender.phase == Phase::Closed {
            return;
        }
        if segment.kind == Kind::Ack {
            self.on_ack(index, (segment, blocks), arrived.feedback, now, out);
            #[cfg(feature = "checks")]
            self.check_connection(index, now);
        } else {
            let place = sender.connection;
            self.on_syn_ack(index, segment.copy(), now, &mut out.lend());
            self.account_for(place, now);
        }
    }

    /// The network lost a packet on its way to this half.
    pub fn on_lost(&mut self, segment: &Segment) {
        let sender = &mut self.senders[segment.to as usize];
        sender.in_network = sender.in_network.wrapping_sub(1);
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Output) {
        let index = timer.place;
        let sender = &self.senders[index as usize];
        if sender.flow != timer.flow {
            return; // its flow is done
        }
        let place = sender.connection;
        match timer.kind {
            TimerKind::Retransmission => self.on_retransmission_timer(index, now, out),
            TimerKind::Pace => self.on_pace_timer(index, now, out),
            TimerKind::Port => self.on_port_timer(index, now, out),
            TimerKind::Reinjection => self.on_reinjection_timer(index, now, out),
            TimerKind::Write => self.on_write_timer(index, now, out),
            TimerKind::Open => {
                if sender.phase == Phase::Unopened && sender.opened == now {
                    self.open_subflow(index, now, out);
                }
            }
            TimerKind::DelayedAck | TimerKind::Gathering => {
                unreachable!("this timer is the receiving half's")
            }
        }
        self.account_for(place, now);
        #[cfg(feature = "checks")]
        self.check_connection(index, now);
    }

    fn end(index: u32) -> End {
        End::Sending(SendingSubflow(index))
    }
}
