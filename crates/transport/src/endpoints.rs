//! All connections of a run: packets and timers go in, packets and timers come out.

use crate::connection::{Connection, Opening, UNLIMITED};
use crate::receiver::{Acknowledgement, Arrival, Receiver};
use crate::segment::{Kind, SACK_BLOCKS, SackBlock, Segment};
use crate::sender::{Phase, RecoveryState, Sender};
use crate::{Config, Handshake, Joins, SegmentScheduler};
use pathweave_control::{Ack, Change, Paths, SubflowId};
use pathweave_units::Time;

/// A connection's place among all connections; used again when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// A subflow's place among all subflows; used again when its connection is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubflowIndex(pub u32);

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the connection's source to its destination: data and SYNs.
    Forward,
    /// Back: acknowledgements and SYN-ACKs.
    Back,
}

/// What the network needs to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketShape {
    /// Bytes on the wire.
    pub size: u16,
    /// Whether it may be marked.
    pub ecn_capable: bool,
    /// Whether it must not be lost.
    pub protected: bool,
}

/// A timer of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The sender's retransmission timer.
    Retransmission(SubflowIndex),
    /// The receiver's timer for a delayed acknowledgement.
    DelayedAck(SubflowIndex),
    /// The subflow opens.
    Open(SubflowIndex),
}

/// What an endpoint wants done.
pub trait Output {
    /// Sends a packet now.
    fn send(
        &mut self,
        subflow: SubflowIndex,
        direction: Direction,
        shape: PacketShape,
        segment: Segment,
    );
    /// Wakes the endpoints for a timer. Timers are not taken back: one that is no longer wanted
    /// does nothing when it fires.
    fn wake(&mut self, timer: Timer, at: Time);
    /// A connection's last byte has been delivered in order.
    fn finished(&mut self, connection: ConnectionId);
    /// A subflow has timed out so often that it counts as dead, or has timed out again since.
    fn dead(&mut self, connection: ConnectionId, subflow: SubflowIndex);
    /// Nothing of a finished connection is left in hosts or network: its place may be used again
    /// once [`Endpoints::release`] has been called.
    fn gone(&mut self, connection: ConnectionId);
}

/// Both ends of all connections.
#[derive(Default)]
pub struct Endpoints {
    connections: Vec<Connection>,
    unused_connections: Vec<u32>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    /// First subflows of unused blocks, by the blocks' length.
    unused_blocks: Vec<Vec<u32>>,
}

impl Endpoints {
    /// Makes room for a connection; it begins with [`Endpoints::start`].
    pub fn add(&mut self, opening: Opening) -> ConnectionId {
        let count = opening.subflows;
        let place = self
            .unused_connections
            .pop()
            .unwrap_or(self.connections.len() as u32);
        let first = self.take_block(count, place, &opening.config);
        let connection = Connection::new(opening, first);
        if place as usize == self.connections.len() {
            self.connections.push(connection);
        } else {
            self.connections[place as usize] = connection;
        }
        ConnectionId(place)
    }

    /// Starts a connection: its first packet leaves now, or when its first subflow is to open.
    pub fn start(&mut self, id: ConnectionId, now: Time, out: &mut impl Output) {
        let connection = &self.connections[id.0 as usize];
        let first = connection.first;
        let at = connection.subflow_starts.first().copied().unwrap_or(now);
        self.open_subflow_at(first, at, now, out);
    }

    fn take_block(&mut self, count: u32, connection: u32, config: &Config) -> u32 {
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
                self.receivers.push(Receiver::default());
            } else {
                self.senders[index].reset(connection, id, config);
            }
            self.receivers[index].reset(config);
        }
        first
    }

    /// Gives the places of a connection that is gone back.
    pub fn release(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.0 as usize];
        let count = connection.paths.len();
        if self.unused_blocks.len() <= count {
            self.unused_blocks.resize_with(count + 1, Vec::new);
        }
        self.unused_blocks[count].push(connection.first);
        self.unused_connections.push(id.0);
    }

    /// Ends an unlimited flow, or cuts a finite one short: no new data is sent from now on.
    pub fn stop(&mut self, id: ConnectionId, out: &mut impl Output) {
        let connection = &mut self.connections[id.0 as usize];
        if connection.closed || connection.next_data >= connection.total {
            return;
        }
        connection.total = connection.next_data;
        connection.last_payload = connection.config.maximum_segment;
        self.finish_if_delivered(id.0, out);
        self.close_if_acknowledged(id.0, out);
    }

    /// A packet arrived at its host.
    #[inline]
    pub fn on_packet(
        &mut self,
        segment: &Segment,
        size: u16,
        congestion_experienced: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let index = segment.subflow.0;
        let sender = &mut self.senders[index as usize];
        sender.in_network -= 1;
        if sender.phase == Phase::Closed {
            self.leave_if_empty(index, out);
            return;
        }
        match segment.kind {
            Kind::Data => self.on_data(index, segment, size, congestion_experienced, now, out),
            Kind::Ack => self.on_ack(index, segment, now, out),
            Kind::Syn => self.on_syn(index, segment, out),
            Kind::SynAck => self.on_syn_ack(index, segment, now, out),
        }
    }

    /// The network lost a packet.
    pub fn on_lost(&mut self, segment: &Segment, out: &mut impl Output) {
        let sender = &mut self.senders[segment.subflow.0 as usize];
        sender.in_network -= 1;
        if sender.phase == Phase::Closed {
            self.leave_if_empty(segment.subflow.0, out);
        }
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Output) {
        match timer {
            Timer::Retransmission(subflow) => self.on_retransmission_timer(subflow.0, now, out),
            Timer::DelayedAck(subflow) => self.on_ack_timer(subflow.0, now, out),
            Timer::Open(subflow) => {
                let sender = &self.senders[subflow.0 as usize];
                // Otherwise the timer is of an earlier connection.
                if sender.phase == Phase::Unopened && sender.opened == now {
                    self.open_subflow(subflow.0, now, out);
                }
            }
        }
    }

    // Opening.

    fn open_subflow_at(&mut self, index: u32, at: Time, now: Time, out: &mut impl Output) {
        if at > now {
            self.senders[index as usize].opened = at;
            out.wake(Timer::Open(SubflowIndex(index)), at);
        } else {
            self.open_subflow(index, now, out);
        }
    }

    fn open_subflow(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        sender.opened = now;
        if connection.established || connection.config.handshake == Handshake::None {
            self.establish(index, now, out);
        } else {
            sender.phase = Phase::Opening;
            self.send_syn(index, Kind::Syn, now, out);
            self.start_retransmission_timer(index, now, out);
        }
    }

    fn send_syn(&mut self, index: u32, kind: Kind, sent: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let config = &self.connections[sender.connection as usize].config;
        let shape = PacketShape {
            size: config.ack_packet,
            ecn_capable: false,
            protected: config.handshake == Handshake::SynNeverLost,
        };
        let segment = Segment {
            subflow: SubflowIndex(index),
            kind,
            flag: false,
            ce_echo: 0,
            sack_count: 0,
            number: 0,
            data_number: 0,
            sent,
            sack: [SackBlock::default(); SACK_BLOCKS],
        };
        sender.in_network += 1;
        let direction = if kind == Kind::Syn {
            Direction::Forward
        } else {
            Direction::Back
        };
        out.send(segment.subflow, direction, shape, segment);
    }

    fn on_syn(&mut self, index: u32, segment: &Segment, out: &mut impl Output) {
        self.send_syn(index, Kind::SynAck, segment.sent, out);
    }

    fn on_syn_ack(&mut self, index: u32, segment: &Segment, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        if sender.phase != Phase::Opening {
            return; // the answer to a SYN that was sent again
        }
        sender.timeout.reset_backoff();
        sender.timeouts_in_row = 0;
        sender.dead = false;
        sender.deadline = Time::MAX;
        self.take_rtt(index, now - segment.sent);
        self.establish(index, now, out);
    }

    fn establish(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        sender.phase = Phase::Open;
        let number = sender.number;
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        connection.paths[number.0 as usize].established = true;
        connection.controller.on_subflow(
            &mut Paths::new(&mut connection.paths),
            number,
            Change::Opened,
        );
        if number.0 == 0 {
            self.open_joins(place, now, out);
        }
        self.send_what_may_be_sent(place, now, out);
    }

    /// The first handshake is done: the other subflows open, each at its own time.
    fn open_joins(&mut self, place: u32, now: Time, out: &mut impl Output) {
        for number in 1..self.connections[place as usize].count() {
            let connection = &self.connections[place as usize];
            let index = connection.subflow(number);
            let wanted = connection.subflow_starts.get(number as usize).copied();
            let delay = match connection.config.joins {
                Joins::AfterHandshake => Time::ZERO,
                Joins::WithinAfterHandshake(_) => connection
                    .join_delays
                    .get(number as usize)
                    .copied()
                    .unwrap_or(Time::ZERO),
            };
            self.open_subflow_at(index, wanted.unwrap_or(now + delay), now, out);
        }
    }

    // Receiving data.

    #[inline]
    fn on_data(
        &mut self,
        index: u32,
        segment: &Segment,
        size: u16,
        congestion_experienced: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let place = self.senders[index as usize].connection;
        let connection = &mut self.connections[place as usize];
        let receiver = &mut self.receivers[index as usize];
        let arrival = Arrival {
            number: segment.number,
            sent: segment.sent,
            congestion_experienced,
            last: segment.flag,
        };
        let reaction = receiver.on_data(arrival, connection.echo_limit, &connection.config);
        let delivered_before = connection.delivered;
        if reaction.new {
            receiver.received_bytes += u64::from(size - connection.config.overhead());
            if connection.paths.len() == 1 {
                // One subflow carries the data in its own order.
                connection.delivered = receiver.next;
            } else {
                connection.reassembly.insert(segment.data_number);
                connection.delivered = connection.reassembly.next();
            }
        }
        if reaction.delayed {
            let due = now + connection.config.ack.timeout;
            if receiver.ack_deadline == Time::MAX {
                receiver.ack_deadline = due;
            }
            if receiver.timer_at == Time::MAX {
                receiver.timer_at = receiver.ack_deadline;
                out.wake(Timer::DelayedAck(segment.subflow), receiver.timer_at);
            }
        }
        if let Some(before) = reaction.before {
            // It must not know what this packet completed: it could end the flow before the
            // acknowledgement that echoes the last marks.
            self.send_ack(index, &before, delivered_before, out);
        }
        if let Some(now) = reaction.now {
            self.send_ack(index, &now, self.connections[place as usize].delivered, out);
        }
        if self.connections[place as usize].delivered == self.connections[place as usize].total {
            self.finish_if_delivered(place, out);
        }
    }

    #[inline]
    fn send_ack(
        &mut self,
        index: u32,
        ack: &Acknowledgement,
        delivered: u32,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        sender.in_network += 1;
        let shape = PacketShape {
            size: connection.config.ack_packet,
            ecn_capable: false,
            protected: false,
        };
        let segment = Segment {
            subflow: SubflowIndex(index),
            kind: Kind::Ack,
            flag: ack.rtt_sample,
            ce_echo: ack.ce_echo,
            sack_count: ack.sack_count,
            number: ack.next,
            data_number: delivered,
            sent: ack.sent,
            sack: ack.sack,
        };
        out.send(segment.subflow, Direction::Back, shape, segment);
    }

    fn on_ack_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        if receiver.timer_at != now {
            return; // of an earlier connection
        }
        receiver.timer_at = Time::MAX;
        if receiver.ack_deadline == Time::MAX {
            return;
        }
        if receiver.ack_deadline > now {
            receiver.timer_at = receiver.ack_deadline;
            out.wake(Timer::DelayedAck(SubflowIndex(index)), receiver.timer_at);
            return;
        }
        let connection = &self.connections[self.senders[index as usize].connection as usize];
        let mut ack = receiver.acknowledge(connection.echo_limit, &connection.config);
        ack.rtt_sample = false;
        let delivered = connection.delivered;
        self.send_ack(index, &ack, delivered, out);
    }

    fn finish_if_delivered(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if !connection.finished && connection.delivered == connection.total {
            connection.finished = true;
            out.finished(ConnectionId(place));
        }
    }

    // Receiving acknowledgements.

    #[inline]
    fn take_rtt(&mut self, index: u32, rtt: Time) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let path = &mut connection.paths[sender.number.0 as usize];
        path.smoothed_rtt = sender.timeout.sample(rtt, &connection.config);
        path.latest_rtt = rtt;
        path.minimum_rtt = path.minimum_rtt.min(rtt);
    }

    #[inline]
    fn on_ack(&mut self, index: u32, segment: &Segment, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let number = sender.number;
        let progress = sender.on_ack(segment, &connection.config);
        connection.data_acked = connection.data_acked.max(segment.data_number);
        let mut rtt = None;
        if segment.flag {
            let sample = now - segment.sent;
            sender.rtts.add(sample);
            rtt = Some(sample);
        }
        if let Some(sample) = rtt {
            self.take_rtt(index, sample);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[place as usize];
        let path = &mut connection.paths[number.0 as usize];
        path.acked = u64::from(sender.board.una());
        path.in_flight = sender.board.in_flight();
        path.in_recovery = matches!(sender.recovery, RecoveryState::Fast(_));
        if progress.advanced {
            sender.timeout.reset_backoff();
            sender.timeouts_in_row = 0;
            sender.dead = false;
            if sender.board.outstanding() == 0 {
                sender.deadline = Time::MAX;
            } else {
                sender.deadline = now + sender.timeout.current(&connection.config);
                if sender.timer_at > sender.deadline {
                    // The timeout has shrunk: after a first sample, or when a backoff ends.
                    sender.timer_at = sender.deadline;
                    out.wake(Timer::Retransmission(SubflowIndex(index)), sender.timer_at);
                }
            }
        }
        sender.marks += u64::from(segment.ce_echo);
        let paths = &mut Paths::new(&mut connection.paths);
        if progress.loss {
            let loss = pathweave_control::Loss::FastRetransmit;
            connection.controller.on_loss(paths, number, loss, now);
        }
        let packets = match sender.recovery {
            // What a retransmission after a timeout fills may be a whole window: RFC 3465 lets
            // slow start count two.
            RecoveryState::Timeout(_) => progress.packets.min(2),
            _ if connection.config.count_acks => progress.packets.min(1),
            _ => progress.packets,
        };
        if packets > 0 || segment.ce_echo > 0 {
            let ack = Ack {
                now,
                packets,
                ce: u32::from(segment.ce_echo),
                rtt,
                // Before recovery a duplicate acknowledgement lets a packet go but not the window
                // grow (RFC 3042): what it reports counts, as marks and packets, and no more.
                recovery: progress.in_recovery || progress.loss || !progress.advanced,
                window_limited: connection.window_limited,
            };
            connection.controller.on_ack(paths, number, &ack);
        }
        if connection.data_acked == connection.total {
            self.close_if_acknowledged(place, out);
            return;
        }
        if progress.send_first {
            self.send_lost(index, now, out);
        }
        self.send_what_may_be_sent(place, now, out);
    }

    fn close_if_acknowledged(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if connection.closed || connection.data_acked != connection.total {
            return;
        }
        connection.closed = true;
        let (first, count) = (connection.first, connection.count());
        for index in first..first + count {
            let sender = &mut self.senders[index as usize];
            if sender.phase == Phase::Open {
                let connection = &mut self.connections[place as usize];
                connection.paths[sender.number.0 as usize].established = false;
            }
            sender.phase = Phase::Closed;
            sender.deadline = Time::MAX;
            self.receivers[index as usize].ack_deadline = Time::MAX;
        }
        self.leave_if_empty(first, out);
    }

    fn leave_if_empty(&mut self, index: u32, out: &mut impl Output) {
        let place = self.senders[index as usize].connection;
        let connection = &self.connections[place as usize];
        let block = connection.first as usize..(connection.first + connection.count()) as usize;
        if self.senders[block]
            .iter()
            .all(|sender| sender.in_network == 0)
        {
            out.gone(ConnectionId(place));
        }
    }

    // Sending data.

    /// Sends everything that windows and data allow: lost segments on their own subflows first,
    /// then new data as the scheduler says.
    #[inline]
    fn send_what_may_be_sent(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let (first, count) = {
            let connection = &self.connections[place as usize];
            (connection.first, connection.count())
        };
        for index in first..first + count {
            while self.senders[index as usize].board.lost() > 0 && self.has_room(place, index) {
                self.send_lost(index, now, out);
            }
        }
        loop {
            if !self.connections[place as usize].has_data() {
                // Losses that wait for room are data too: without growth, what a timeout left to
                // send again would go out one packet at a time.
                let mut subflows = self.senders[first as usize..(first + count) as usize].iter();
                let losses_wait = subflows.any(|sender| sender.board.lost() > 0);
                self.connections[place as usize].window_limited = losses_wait;
                return;
            }
            let Some(index) = self.choose(place) else {
                self.connections[place as usize].window_limited = true;
                return;
            };
            let Some(data) = self.connections[place as usize].take_data() else {
                continue; // what was to be sent again has been delivered since
            };
            self.send_new(index, data, now, out);
        }
    }

    #[inline]
    fn has_room(&self, place: u32, index: u32) -> bool {
        let connection = &self.connections[place as usize];
        let path = &connection.paths[(index - connection.first) as usize];
        path.established && f64::from(path.in_flight + 1) <= path.window
    }

    /// Whether a subflow may take new data.
    #[inline]
    fn may_take(&self, connection: &Connection, number: u32) -> bool {
        let path = &connection.paths[number as usize];
        if !path.established || !path.may_send || f64::from(path.in_flight + 1) > path.window {
            return false;
        }
        let sender = &self.senders[(connection.first + number) as usize];
        !sender.dead && sender.board.outstanding() < connection.subflow_window
    }

    /// The subflow that gets the next new data, if any may take it.
    #[inline]
    fn choose(&mut self, place: u32) -> Option<u32> {
        let connection = &self.connections[place as usize];
        let count = connection.count();
        if count == 1 {
            return self.may_take(connection, 0).then_some(connection.first);
        }
        let number = match connection.config.scheduler {
            SegmentScheduler::RoundRobin => {
                let turn = connection.turn;
                let number = (turn..count)
                    .chain(0..turn)
                    .find(|&number| self.may_take(connection, number))?;
                self.connections[place as usize].turn = (number + 1) % count;
                number
            }
            SegmentScheduler::LowestRtt => (0..count)
                .filter(|&number| self.may_take(connection, number))
                .min_by_key(|&number| connection.paths[number as usize].smoothed_rtt)?,
        };
        Some(self.connections[place as usize].first + number)
    }

    #[inline]
    fn send_new(&mut self, index: u32, data: u32, now: Time, out: &mut impl Output) {
        let number = self.senders[index as usize].board.push(data);
        self.transmit(index, number, data, false, now, out);
    }

    fn send_lost(&mut self, index: u32, now: Time, out: &mut impl Output) {
        if let Some((number, data)) = self.senders[index as usize].board.send_again() {
            self.senders[index as usize].retransmits += 1;
            self.transmit(index, number, data, true, now, out);
        }
    }

    #[inline]
    fn transmit(
        &mut self,
        index: u32,
        number: u32,
        data: u32,
        again: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let path = &mut connection.paths[sender.number.0 as usize];
        path.sent = u64::from(sender.board.next());
        path.in_flight = sender.board.in_flight();
        sender.sent_packets += 1;
        sender.in_network += 1;
        let shape = PacketShape {
            size: connection.payload(data) + connection.config.overhead(),
            ecn_capable: connection.ecn && !again,
            protected: false,
        };
        let segment = Segment {
            subflow: SubflowIndex(index),
            kind: Kind::Data,
            flag: data + 1 == connection.total,
            ce_echo: 0,
            sack_count: 0,
            number,
            data_number: data,
            sent: now,
            sack: [SackBlock::default(); SACK_BLOCKS],
        };
        if sender.deadline == Time::MAX {
            self.start_retransmission_timer(index, now, out);
        }
        out.send(segment.subflow, Direction::Forward, shape, segment);
    }

    // The retransmission timer.

    fn start_retransmission_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let config = &self.connections[sender.connection as usize].config;
        sender.deadline = now + sender.timeout.current(config);
        if sender.timer_at > sender.deadline {
            sender.timer_at = sender.deadline;
            out.wake(Timer::Retransmission(SubflowIndex(index)), sender.timer_at);
        }
    }

    fn on_retransmission_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        if sender.timer_at != now {
            return; // set again for an earlier time, or of an earlier connection
        }
        sender.timer_at = Time::MAX;
        if sender.deadline == Time::MAX {
            return;
        }
        if sender.deadline > now {
            sender.timer_at = sender.deadline;
            out.wake(Timer::Retransmission(SubflowIndex(index)), sender.timer_at);
            return;
        }
        if sender.phase == Phase::Opening {
            sender.timeouts += 1;
            sender.timeouts_in_row += 1;
            sender.timeout.back_off();
            self.send_syn(index, Kind::Syn, now, out);
            self.start_retransmission_timer(index, now, out);
            self.declare_dead_if_hopeless(index, now, out);
            return;
        }
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let loss = sender.on_timeout(&connection.config);
        let path = &mut connection.paths[sender.number.0 as usize];
        path.in_flight = sender.board.in_flight();
        path.in_recovery = false;
        let number = sender.number;
        if let Some(loss) = loss {
            let paths = &mut Paths::new(&mut connection.paths);
            connection.controller.on_loss(paths, number, loss, now);
        }
        self.start_retransmission_timer(index, now, out);
        self.send_lost(index, now, out);
        self.declare_dead_if_hopeless(index, now, out);
        self.send_what_may_be_sent(place, now, out);
    }

    /// After so many timeouts in a row, what the subflow had in flight goes to its siblings.
    fn declare_dead_if_hopeless(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        // Without a limit for reinjection a subflow still counts as dead in the end, so that a
        // connection without a live path is noticed.
        let limit = connection.config.reinject_after;
        if sender.timeouts_in_row < limit.unwrap_or(3) {
            return;
        }
        // Said again at every further timeout: meanwhile its siblings may have run out of data.
        out.dead(ConnectionId(place), SubflowIndex(index));
        if std::mem::replace(&mut sender.dead, true) {
            return;
        }
        if limit.is_some() && connection.paths.len() > 1 {
            let before = connection.reinject.len();
            let data_acked = connection.data_acked;
            let undelivered = sender
                .board
                .unacknowledged_data()
                .filter(|&data| data >= data_acked);
            connection.reinject.extend(undelivered);
            sender.reinjected += (connection.reinject.len() - before) as u64;
            self.send_what_may_be_sent(place, now, out);
        }
    }
}

/// What results and self-checks read.
impl Endpoints {
    /// The subflows of a connection.
    pub fn subflows(&self, id: ConnectionId) -> impl Iterator<Item = SubflowIndex> + use<> {
        let connection = &self.connections[id.0 as usize];
        (connection.first..connection.first + connection.count()).map(SubflowIndex)
    }

    /// The connection of a subflow.
    pub fn connection(&self, subflow: SubflowIndex) -> ConnectionId {
        ConnectionId(self.senders[subflow.0 as usize].connection)
    }

    /// Payload delivered in order so far.
    pub fn delivered(&self, id: ConnectionId) -> pathweave_units::Bytes {
        let connection = &self.connections[id.0 as usize];
        connection.bytes(connection.delivered)
    }

    /// Whether everything has been delivered.
    pub fn is_finished(&self, id: ConnectionId) -> bool {
        self.connections[id.0 as usize].finished
    }

    /// Whether a connection waits for what cannot come: none of its subflows has a live path and is
    /// still trying, or has both a live path and something to send.
    pub fn is_stuck(&self, id: ConnectionId, has_live_path: impl Fn(SubflowIndex) -> bool) -> bool {
        let connection = &self.connections[id.0 as usize];
        self.subflows(id).all(|subflow| {
            let sender = &self.senders[subflow.0 as usize];
            let given_up = sender.dead || sender.phase == Phase::Unopened;
            let idle = sender.phase == Phase::Open
                && sender.board.outstanding() == 0
                && !connection.has_data();
            idle || (given_up && !has_live_path(subflow))
        })
    }

    /// Counters and congestion state of a subflow.
    pub fn subflow(&self, subflow: SubflowIndex) -> SubflowView<'_> {
        let sender = &self.senders[subflow.0 as usize];
        let connection = &self.connections[sender.connection as usize];
        SubflowView {
            path: &connection.paths[sender.number.0 as usize],
            opened: sender.opened,
            is_open: sender.phase != Phase::Unopened,
            received_bytes: self.receivers[subflow.0 as usize].received_bytes,
            sent_packets: sender.sent_packets,
            retransmits: sender.retransmits,
            reinjected: sender.reinjected,
            timeouts: sender.timeouts,
            marks: sender.marks,
            rtts: &sender.rtts,
        }
    }

    /// Whether a connection's data was delivered once and in order, as far as its counters tell.
    pub fn is_consistent(&self, id: ConnectionId) -> bool {
        let connection = &self.connections[id.0 as usize];
        let within = connection.total == UNLIMITED || connection.delivered <= connection.total;
        within
            && connection.delivered <= connection.next_data
            && connection.data_acked <= connection.delivered
            && connection.reassembly.is_consistent()
    }
}

/// What can be seen of a subflow from outside.
#[derive(Clone, Copy, Debug)]
pub struct SubflowView<'a> {
    /// Window, ssthresh, RTTs.
    pub path: &'a pathweave_control::Path,
    /// When it began to open.
    pub opened: Time,
    /// Whether it has.
    pub is_open: bool,
    /// Payload bytes that arrived on it, each packet counted once.
    pub received_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmits: u64,
    /// Packets whose data was given to other subflows.
    pub reinjected: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Marks echoed to the sender.
    pub marks: u64,
    /// RTT samples.
    pub rtts: &'a crate::RttHistogram,
}

#[cfg(test)]
mod tests;
