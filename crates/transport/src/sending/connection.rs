//! What the subflows of a connection share.

use super::account::Account;
use super::receive_window::{AutomaticWindow, FIRST as FIRST_WINDOW};
use super::reinjection::Reinjection;
use super::segmentation::Segmentation;
use super::subflow::Sender;
use super::subflow_queue::SubflowQueues;
use super::writing::Writer;
use crate::receiving::Reception;
use crate::segment::UNLIMITED;
use crate::{
    BackoffUntil, Config, GrowthCount, Joins, PacketKey, ReceiveWindow, Recovery, RtoFloor,
    SsthreshFrom, Tick,
};
use pathweave_control::{Change, Controller, Feedback, Loss, Path, Paths, Scheme, SubflowId};
use pathweave_units::{Bytes, Rate, Time};
use std::sync::Arc;

/// How a connection is opened.
pub struct Opening {
    /// The flow's number.
    pub flow: u32,
    /// Its transport's settings.
    pub config: Arc<Config>,
    /// Its controller.
    pub controller: Box<dyn Controller>,
    /// Most marks that one acknowledgement may echo; `None` if data packets are not ECN-capable.
    pub ecn_echo: Option<u8>,
    /// Number of subflows.
    pub subflows: u32,
    /// Payload to carry, at most the configuration's [`Config::largest_flow`]; `None` for no end.
    pub size: Option<Bytes>,
    /// What the sizes of its packets follow from, where the configuration lets them differ.
    pub packet_key: PacketKey,
    /// When each subflow opens; where this is shorter than `subflows`, the rest as `config` says.
    pub subflow_starts: Vec<Time>,
    /// Random delays of the joins, one a subflow; empty for none.
    pub join_delays: Vec<Time>,
    /// The connection exists already (it answers a request): no handshake.
    pub established: bool,
    /// The first subflow's packets are scattered over many paths.
    pub scatter: Option<Scatter>,
    /// The scheme that switches take part in, if any: data packets then carry its header.
    pub scheme: Option<Scheme>,
    /// Timer ticks of the source and of the destination.
    pub ticks: [Tick; 2],
    /// Whether a port of the source has a limit.
    pub host_port_is_limited: bool,
    /// Most packets of a bundle, as [`Config::send_bundle`] has it with the rate of the source's port.
    pub send_bundle: u32,
}

impl Opening {
    /// A connection with one subflow and no end, without ECN, that starts immediately. The fields say what can be changed.
    pub fn new(flow: u32, config: Arc<Config>, controller: Box<dyn Controller>) -> Opening {
        let send_bundle = config.send_bundle.packets(Rate::ZERO);
        Opening {
            flow,
            config,
            controller,
            ecn_echo: None,
            subflows: 1,
            size: None,
            packet_key: PacketKey::default(),
            subflow_starts: Vec::new(),
            join_delays: Vec::new(),
            established: false,
            scatter: None,
            scheme: None,
            ticks: [Tick::default(); 2],
            host_port_is_limited: false,
            send_bundle,
        }
    }

    /// What the receiving half has to know.
    pub fn reception(&self) -> Reception {
        Reception {
            flow: self.flow,
            config: Arc::clone(&self.config),
            ecn_echo: self.ecn_echo,
            subflows: self.subflows,
            packet_key: self.packet_key,
            header_bytes: self.scheme.map_or(0, Scheme::header_bytes),
            tick: self.ticks[1],
        }
    }
}

/// [`Connection::joins_from`] of a connection whose other subflows open when data is acknowledged. No flow has this much
/// data.
const AFTER_DATA: u32 = UNLIMITED - 1;

/// How a connection begins whose first subflow is scattered (MMPTCP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// The other subflows open when this much has been sent.
    pub volume: Bytes,
    /// Duplicate acknowledgements that make a packet of the first subflow lost.
    pub duplicate_threshold: u32,
}

/// The sending end of a connection, but for what belongs to a single subflow. What every acknowledgement needs comes
/// first, in 128 bytes.
#[repr(C, align(64))]
pub(crate) struct Connection {
    /// The subflows' congestion state, by number.
    pub paths: Vec<Path>,
    pub controller: Box<dyn Controller>,
    /// Number of the next new data.
    pub next_data: u32,
    /// Number of data segments; `UNLIMITED` for no end, and while it is not known.
    pub total: u32,
    /// Everything below this has been delivered in order, as far as the sender knows.
    pub data_acked: u32,
    /// Segments that may be sent beyond `data_acked`.
    pub receive_window: u32,
    /// The other subflows open when new data up to this number has been sent; `u32::MAX` when they
    /// have been told to, [`AFTER_DATA`] while they wait for some to be acknowledged.
    pub joins_from: u32,
    /// Segments that a subflow may have outstanding, if they are as long as can be.
    pub subflow_window: u32,
    /// Data of failed subflows, to be sent again on others.
    pub reinjection: Reinjection,
    /// Where packets differ in size.
    pub segmentation: Option<Box<Segmentation>>,
    /// [`Config::minimum_rto`] and [`Config::maximum_rto`].
    pub minimum_rto: Time,
    pub maximum_rto: Time,
    /// The subflow whose turn it is.
    pub turn: u32,
    /// Header bytes of a data packet, those of its scheme included.
    pub header_bytes: u16,
    /// Payload of a data segment that does not end the flow, if all are equal.
    pub maximum_segment: u16,
    /// Payload of the last one.
    pub last_payload: u16,
    pub ecn: bool,
    /// Whether the controller writes a congestion field into each data packet.
    pub explicit: bool,
    /// Whether packets have one size and windows of fixed rules alone decide what subflows send: they have no queues, none
    /// waits for data to be acknowledged or for whole bundles, and the receive window is not tuned.
    pub is_plain: bool,
    /// When sending last ended, no subflow could have taken new data or sent lost data again, whatever data there
    /// was, and nothing but acknowledgements has come since.
    pub blocked: bool,
    /// Whether windows, and not a lack of data, were what last ended sending.
    pub window_limited: bool,
    /// Everything has been acknowledged.
    pub closed: bool,
    pub established: bool,
    /// Whether duplicate acknowledgements before recovery release nothing although blocks say what has come.
    pub duplicates_hold: bool,
    /// [`Config::has_cut_rounds`].
    pub has_cut_rounds: bool,
    /// [`Config::growth_in_cut_round`].
    pub growth_in_cut_round: bool,
    /// Whether windows may grow per acknowledgement: [`Config::count`].
    pub count_acks: bool,
    /// Whether any of the following flags is set, so that the rules of Linux hosts apply, or of others that the plain way of
    /// an ACK in order leaves out.
    pub follows_linux: bool,
    /// [`Config::backoff_until`] is new data.
    pub keeps_backoff: bool,
    /// [`Config::loss_detection`] is RACK.
    pub finds_losses_by_time: bool,
    /// [`Config::rto_floor`] applies to the variance.
    pub floor_on_variance: bool,
    /// The host's port holds packets back.
    pub holds_back: bool,
    /// It may also have no place for them.
    pub may_be_refused: bool,
    /// A timer of a subflow may wait for it.
    pub waits_for_port: bool,
    /// Subflows send new data in bundles.
    pub sends_bundles: bool,
    /// Subflows record how much of their windows they use: [`Config::tracks_window_use`].
    pub tracks_use: bool,
    pub config: Arc<Config>,
    /// Data that has been given to subflows, if the configuration gives them some ahead of their windows.
    pub queues: Option<Box<SubflowQueues>>,
    /// The receive window, if it is [`ReceiveWindow::Auto`].
    pub automatic_window: Option<Box<AutomaticWindow>>,
    /// The application, if it has data to send only as it writes.
    pub writer: Option<Box<Writer>>,
    pub flow: u32,
    /// Index of the first subflow; the others follow it.
    pub first: u32,
    pub subflow_starts: Vec<Time>,
    pub join_delays: Vec<Time>,
    pub account: Account,
}

const _: () = assert!(std::mem::offset_of!(Connection, config) <= 128);

impl Connection {
    /// `paths` is room for the subflows' congestion state, and `account` that of a connection that is over.
    pub fn new(
        opening: Opening,
        first: u32,
        mut paths: Vec<Path>,
        account: Option<Account>,
    ) -> Connection {
        let config = opening.config;
        let payload = u64::from(config.maximum_segment);
        let size = opening.size.map(|size| size.get().max(1));
        let mut segmentation = config.packets.is_some().then(|| {
            let config = Arc::clone(&config);
            Box::new(Segmentation::new(config, opening.packet_key, size))
        });
        let (total, last_payload) = match size {
            None => (UNLIMITED, config.maximum_segment),
            Some(_) if segmentation.is_some() => (UNLIMITED, config.maximum_segment),
            Some(size) => {
                let total = u32::try_from(size.div_ceil(payload))
                    .expect("a flow is no larger than its segments can be numbered");
                (total, ((size - 1) % payload + 1) as u16)
            }
        };
        let in_segments =
            |bytes: Bytes| u32::try_from((bytes.get() / payload).max(1)).unwrap_or(u32::MAX);
        // A window that starts above the initial window and grows by two packets for each never limits a single subflow.
        let initial = config.initial_window * payload as f64;
        let first_window = FIRST_WINDOW.min(config.receive_buffer.get());
        let is_automatic = config.receive_window == ReceiveWindow::Auto
            && (opening.subflows > 1 || initial > first_window as f64);
        let (mut receive_window, subflow_window) = match config.receive_window {
            ReceiveWindow::Unlimited => (u32::MAX, u32::MAX),
            ReceiveWindow::Connection(bytes) => (in_segments(bytes), u32::MAX),
            ReceiveWindow::Subflow(bytes) => (u32::MAX, in_segments(bytes)),
            ReceiveWindow::Auto if !is_automatic => (in_segments(config.receive_buffer), u32::MAX),
            ReceiveWindow::Auto => (in_segments(Bytes::new(first_window)), u32::MAX),
        };
        let mut joins_from = opening
            .scatter
            .map_or(0, |scatter| in_segments(scatter.volume));
        if let Some(segmentation) = &mut segmentation {
            receive_window = match config.receive_window {
                ReceiveWindow::Connection(bytes) => segmentation.allow(0, bytes.get()),
                ReceiveWindow::Auto if !is_automatic => {
                    segmentation.allow(0, config.receive_buffer.get())
                }
                ReceiveWindow::Auto => segmentation.allow(0, first_window),
                ReceiveWindow::Unlimited | ReceiveWindow::Subflow(_) => u32::MAX,
            };
            joins_from = opening
                .scatter
                .map_or(0, |scatter| segmentation.segments_for(scatter.volume.get()));
        }
        let waits_for_data = opening.subflows > 1
            && opening.scatter.is_none()
            && !opening.established
            && config.joins == Joins::DataAcknowledged;
        if waits_for_data {
            joins_from = AFTER_DATA;
        }
        let automatic_window = is_automatic.then(|| {
            Box::new(AutomaticWindow::new(
                config.maximum_segment,
                config.receive_buffer.get(),
            ))
        });
        let writer = config.source.map(|source| {
            let window = receive_window;
            receive_window = 0;
            Box::new(Writer::new(source, config.maximum_segment, window))
        });
        let queues = SubflowQueues::new(&config, opening.subflows);
        let scheme_bytes = opening.scheme.map_or(0, Scheme::header_bytes);
        let mut path = Path::new(
            config.initial_window_of(opening.subflows),
            config.minimum_window,
            config.initial_ssthresh,
        );
        let packet = match config.packets {
            None => u64::from(config.data_packet),
            Some(_) => config.mean_packet().round() as u64,
        };
        path.packet = Bytes::new(packet + u64::from(scheme_bytes));
        path.growth_by_marked_acks = config.growth_by_marked_acks;
        path.slow_start_limit = config.packets_in_slow_start(false);
        path.hystart = config.hystart;
        paths.clear();
        paths.resize(opening.subflows as usize, path);
        Connection {
            paths,
            controller: opening.controller,
            next_data: 0,
            total,
            data_acked: 0,
            receive_window,
            joins_from,
            subflow_window,
            reinjection: Reinjection::default(),
            segmentation,
            turn: 0,
            header_bytes: config.overhead() + scheme_bytes,
            maximum_segment: config.maximum_segment,
            last_payload,
            ecn: opening.ecn_echo.is_some(),
            explicit: opening.scheme.is_some(),
            is_plain: config.packets.is_none()
                && queues.is_none()
                && joins_from != AFTER_DATA
                && !is_automatic
                && writer.is_none()
                && opening.send_bundle <= 1,
            blocked: false,
            window_limited: true,
            closed: false,
            established: opening.established,
            duplicates_hold: !config.limited_transmit && config.recovery == Recovery::Sack,
            has_cut_rounds: config.has_cut_rounds(),
            growth_in_cut_round: config.growth_in_cut_round,
            count_acks: config.count != GrowthCount::Packets,
            follows_linux: config.finds_losses_by_time()
                || config.rto_floor == RtoFloor::Variance
                || config.holds_back()
                || config.tracks_window_use()
                || config.backoff_until == BackoffUntil::NewData
                || opening.send_bundle > 1,
            keeps_backoff: config.backoff_until == BackoffUntil::NewData,
            finds_losses_by_time: config.finds_losses_by_time(),
            waits_for_port: false,
            holds_back: config.holds_back(),
            may_be_refused: config.holds_back() && opening.host_port_is_limited,
            floor_on_variance: config.rto_floor == RtoFloor::Variance,
            sends_bundles: opening.send_bundle > 1,
            tracks_use: config.tracks_window_use(),
            minimum_rto: config.minimum_rto,
            maximum_rto: config.maximum_rto,
            config,
            queues,
            writer,
            automatic_window,
            flow: opening.flow,
            first,
            subflow_starts: opening.subflow_starts,
            join_delays: opening.join_delays,
            account: Account::new(account),
        }
    }

    /// Packets that an acknowledgement of this many counts for where windows may grow per acknowledgement.
    #[cold]
    #[inline(never)]
    pub fn packets_to_count(&self, number: SubflowId, packets: u32) -> u32 {
        let path = &self.paths[number.0 as usize];
        if self.config.count == GrowthCount::AcksInAvoidance && path.in_slow_start() {
            packets
        } else {
            packets.min(1)
        }
    }

    /// Whether its timeouts are those of a connection that has measured the RTT although no handshake was simulated.
    pub fn knows_rtt_from_start(&self) -> bool {
        self.established && self.config.rtt_from_handshake
    }

    /// Whether all that is new goes out in full packets, to subflows that are open already: nothing has to be looked
    /// at but windows and paces.
    #[inline(always)]
    pub fn sends_full_packets(&self) -> bool {
        self.is_plain && self.reinjection.is_empty() && self.next_data < self.joins_from
    }

    /// Whether, in addition, no subflow is paced: nothing has to be looked at but windows, and the host's port.
    #[inline(always)]
    pub fn sends_plainly(&self) -> bool {
        self.sends_full_packets() && !self.is_paced()
    }

    /// Whether the other subflows wait for the first data to be acknowledged.
    pub fn joins_await_data(&self) -> bool {
        self.joins_from == AFTER_DATA
    }

    /// The other subflows have been told to open.
    pub fn end_wait_for_joins(&mut self) {
        self.joins_from = u32::MAX;
        self.is_plain = self.config.packets.is_none()
            && self.queues.is_none()
            && self.automatic_window.is_none()
            && self.writer.is_none()
            && !self.sends_bundles;
    }

    /// A subflow has taken new data: it is the next one's turn.
    #[inline(always)]
    pub fn pass_turn_on(&mut self, from: u32) {
        let next = from + 1;
        self.turn = if next == self.count() { 0 } else { next };
    }

    /// New segments that the receive window lets go.
    #[inline(always)]
    pub fn new_data(&self) -> u32 {
        let allowed = self
            .receive_window
            .saturating_sub(self.next_data - self.data_acked);
        allowed.min(self.total - self.next_data)
    }

    /// A subflow lost packets, of `flight` packets sent and not acknowledged cumulatively: tells the controller.
    #[cold]
    #[inline(never)]
    pub fn lose(&mut self, number: SubflowId, loss: Loss, flight: u32, now: Time) {
        self.blocked = false;
        let path = &mut self.paths[number.0 as usize];
        if self.config.ssthresh_from == SsthreshFrom::Flight {
            path.loss_limit = f64::from(flight.max(1));
            path.window = path.window.min(path.loss_limit);
        }
        let paths = &mut Paths::new(&mut self.paths);
        self.controller.on_loss(paths, number, loss, now);
    }

    /// Puts a subflow's path into another state, and tells the controller.
    #[cold]
    #[inline(never)]
    pub fn change(&mut self, number: SubflowId, change: Change) {
        self.blocked = false;
        self.paths[number.0 as usize].state = change.state();
        let paths = &mut Paths::new(&mut self.paths);
        self.controller.on_subflow(paths, number, change);
    }

    /// Index of a subflow of this connection.
    pub fn subflow(&self, number: u32) -> u32 {
        self.first + number
    }

    /// What the controller writes into the header of a packet that a subflow sends now.
    #[inline(always)]
    pub fn congestion_field(&mut self, number: SubflowId, now: Time) -> Feedback {
        if !self.explicit {
            return Feedback::None;
        }
        let paths = &Paths::new(&mut self.paths);
        self.controller.on_send(paths, number, now)
    }

    /// Whether a subflow's packets leave at a pace. Only controllers that write a congestion field set one.
    #[inline(always)]
    pub fn is_paced(&self) -> bool {
        self.explicit && self.paths.iter().any(|path| path.pacing_rate.is_some())
    }

    /// Number of subflows.
    pub fn count(&self) -> u32 {
        self.paths.len() as u32
    }

    /// Payload of a data segment.
    #[inline]
    pub fn payload(&self, data: u32) -> u16 {
        if data + 1 == self.total {
            self.last_payload
        } else {
            self.full_payload(data)
        }
    }

    /// Payload of a data segment that does not end the flow.
    #[inline]
    pub fn full_payload(&self, data: u32) -> u16 {
        match &self.segmentation {
            None => self.maximum_segment,
            Some(segmentation) => segmentation.payload(data),
        }
    }

    /// Payload of the first `segments` data segments together, of those that have been sent.
    pub fn bytes(&self, segments: u32) -> Bytes {
        if let Some(segmentation) = &self.segmentation {
            let rest = (segments..self.next_data).map(|data| u64::from(self.payload(data)));
            return Bytes::new(segmentation.cut_bytes() - rest.sum::<u64>());
        }
        let full = u64::from(segments) * u64::from(self.config.maximum_segment);
        let missing = if segments == self.total {
            u64::from(self.config.maximum_segment - self.last_payload)
        } else {
            0
        };
        Bytes::new(full - missing)
    }

    /// Where packets differ in size: as many segments as its bytes hold.
    #[cold]
    #[inline(never)]
    pub fn open_receive_window(&mut self) {
        let window = match self.config.receive_window {
            ReceiveWindow::Connection(window) => window,
            ReceiveWindow::Auto if self.automatic_window.is_none() => self.config.receive_buffer,
            _ => return,
        };
        if let Some(segmentation) = &mut self.segmentation {
            self.receive_window = segmentation.allow(self.data_acked, window.get());
        }
    }

    /// Whether a subflow may have another segment outstanding, as far as its own receive window
    /// goes: exactly, where packets differ in size.
    #[cold]
    #[inline(never)]
    pub fn fits_subflow_window(&self, sender: &Sender) -> bool {
        let (Some(_), ReceiveWindow::Subflow(window)) =
            (&self.segmentation, self.config.receive_window)
        else {
            return false;
        };
        let next = self.next_data_for(sender.number);
        let all = sender.board.outstanding_data().chain([next]);
        all.map(|data| u64::from(self.payload(data))).sum::<u64>() <= window.get()
    }

    /// Where packets differ in size: whether a subflow's receive window, and not its congestion window, is what limits
    /// it.
    #[cold]
    #[inline(never)]
    pub fn bytes_limit(&self, sender: &Sender) -> bool {
        self.subflow_window < u32::MAX && !self.fits_subflow_window(sender)
    }

    /// Whether there is data that the receive window lets go.
    #[inline]
    pub fn has_data(&self) -> bool {
        !self.reinjection.is_empty()
            || (self.next_data < self.total
                && self.next_data - self.data_acked < self.receive_window)
    }

    /// The data to send next, if there is any.
    #[inline]
    pub fn take_data(&mut self) -> Option<u32> {
        if let Some(data) = self.reinjection.take_from(self.data_acked) {
            self.account.has_new_holder = true;
            return Some(data);
        }
        let available =
            self.next_data < self.total && self.next_data - self.data_acked < self.receive_window;
        available.then(|| {
            let data = self.next_data;
            self.next_data += 1;
            if self.segmentation.is_some() {
                self.cut(data);
            }
            data
        })
    }

    /// Where packets differ in size: gives a new segment its own, and notices the flow's last.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, data: u32) {
        let last = self.segmentation.as_mut().and_then(|all| all.cut(data));
        if let Some(payload) = last {
            self.total = data + 1;
            self.last_payload = payload;
        }
    }
}
