//! Everything about an endpoint in which published code bases differ, as explicit values.

use crate::packets::{PacketKey, PacketMix};
use crate::segment::UNLIMITED;
use crate::setting_values::{ReceiveWindow, SendBundle, TickPhase};
use crate::settings::{
    ABOVE_ZERO, Bundle, Count, CountOr, Duration, Flag, Form, OneOf, Packets, PacketsOrNone, Phase,
    ReceiveWindowForms, Size, Value, Volume, expected, settings, words,
};
use pathweave_units::{Bytes, Rate, Time};
use std::fmt;

words! {
    /// What acknowledgements say of losses.
    Recovery {
        /// Selective acknowledgements (RFC 2018, RFC 6675).
        Sack = "sack",
        /// Cumulative acknowledgements only (RFC 6582).
        NewReno = "newreno",
        /// Cumulative acknowledgements, and one loss a window (RFC 5681): fast recovery ends with the first new
        /// acknowledgement. Further losses of the same window wait for three more duplicates, which seldom come, or for
        /// the timeout.
        Reno = "reno",
    }
}

words! {
    /// How SACK finds lost packets.
    LossDetection {
        /// Three segments above have arrived (RFC 6675).
        DupAcks = "dupacks",
        /// A segment sent later has arrived and enough time has passed (RACK, RFC 8985), as in Linux.
        Rack = "rack",
    }
}

words! {
    /// What `minimum_rto` is a lower limit of.
    RtoFloor {
        /// The timeout (RFC 6298).
        Rto = "rto",
        /// The variance term, which is added to the smoothed RTT, as in Linux.
        Variance = "variance",
    }
}

words! {
    /// What ends the backoff of the retransmission timeout.
    BackoffUntil {
        /// An ACK of new data.
        NewAck = "new-ack",
        /// An ACK of data that was sent for the first time after the timeout (Karn's algorithm).
        NewData = "new-data",
    }
}

words! {
    /// How a window that congestion has cut comes into force.
    Reduction {
        /// Nothing leaves until the flight is below the new window (RFC 5681, RFC 8257).
        AtOnce = "at-once",
        /// Over the round of the cut packets leave in proportion to those that arrive (proportional rate reduction,
        /// RFC 6937 and RFC 9937).
        Proportional = "prr",
    }
}

words! {
    /// Controllers for which [`Config::reduction`] and [`Config::growth_in_cut_round`] do not hold.
    AtOnceControllers {
        /// None.
        None = "none",
        /// Those that set their own rate or window each round: fcc, rcp, xcp, decn, vcp and mlcp.
        SetRates = "rate-setting",
        /// All but reno and cubic, as in Pathweave's eBPF programs.
        Programs = "programs",
    }
}

words! {
    /// What a loss takes its share from.
    SsthreshFrom {
        /// From what was in flight, where that is less than the window (RFC 5681, section 3.1).
        Flight = "flight",
        /// From the window, as Linux does.
        Window = "window",
    }
}

words! {
    /// How a connection's first subflow opens.
    Handshake {
        /// SYN and SYN-ACK travel like other packets and can be lost.
        Syn = "syn",
        /// SYN and SYN-ACK travel but are never dropped or marked.
        SynNeverLost = "syn-never-lost",
        /// Data leaves at once.
        None = "none",
    }
}

words! {
    /// Which subflow gets the next segment of new data.
    SegmentScheduler {
        /// The next one in turn that may send.
        RoundRobin = "round-robin",
        /// The one with the smallest smoothed RTT that may send.
        LowestRtt = "lowest-rtt",
        /// The one that would empty its queue first, whether its window is open or not. It gets bursts of 64 KB and keeps
        /// them, as in Linux.
        QueuedBytes = "queued-bytes",
    }
}

words! {
    /// When further subflows open, and when they may carry data.
    Joins {
        /// They open after the first handshake, and carry data after their own.
        AfterHandshake = "after-handshake",
        /// They open after the first data-level ACK, and carry data one round trip after their handshake, as in Linux.
        DataAcknowledged = "data-acknowledged",
    }
}

words! {
    /// What makes a connection send data again on another subflow.
    Reinject {
        /// Timeouts in a row on the subflow that carried it.
        Timeouts = "timeouts",
        /// A timer of the connection, as in Linux.
        Timer = "timer",
    }
}

words! {
    /// Whether data packets are ECN-capable.
    EcnUse {
        /// If the controller reacts to marks.
        ByController = "by-controller",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

words! {
    /// What has one initial window.
    InitialWindowPer {
        /// Each subflow, as in Linux.
        Subflow = "subflow",
        /// The connection; its subflows share it equally, with at least one packet each.
        Connection = "connection",
    }
}

words! {
    /// What a host's own port does when its queue is full.
    HostPort {
        /// It drops packets like any other port.
        Drops = "drops",
        /// It holds data back, as in Linux.
        HoldsBack = "holds-back",
    }
}

words! {
    /// What windows grow by.
    GrowthCount {
        /// Acknowledged packets.
        Packets = "packets",
        /// Acknowledgements, as some published code does.
        Acks = "acks",
        /// Acknowledged packets in slow start and acknowledgements in congestion avoidance, as the out-of-tree MPTCP's modules
        /// for LIA, OLIA and Balia do.
        AcksInAvoidance = "acks-in-avoidance",
    }
}

/// Controllers that set their own rate or window.
const SET_RATES: [&str; 6] = ["fcc", "rcp", "xcp", "decn", "vcp", "mlcp"];

/// Timeouts in a row after which Linux gives up a connection (tcp_retries2).
const RETRIES: u32 = 15;

/// A setting of a transport.
pub struct Setting {
    /// Its key in a scenario.
    pub key: &'static str,
    /// Whether resolved scenarios omit it when it is as in [`Config::textbook`]. This keeps the hashes of results that are
    /// older than the setting.
    pub added: bool,
    pub(crate) documentation: &'static [&'static str],
    pub(crate) forms: fn() -> Vec<Form>,
    pub(crate) words: &'static [&'static str],
    pub(crate) get: fn(&Config) -> Value,
    pub(crate) set: fn(&mut Config, Value) -> bool,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Setting({})", self.key)
    }
}

impl Setting {
    /// All of them, in the order of their declaration.
    pub fn all() -> &'static [Setting] {
        SETTINGS
    }

    /// The one with this key.
    pub fn find(key: &str) -> Option<&'static Setting> {
        Setting::all().iter().find(|setting| setting.key == key)
    }

    /// Its description.
    pub fn help(&self) -> String {
        let lines = self.documentation.iter().map(|line| line.trim());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// The values it accepts.
    pub fn forms(&self) -> Vec<Form> {
        (self.forms)()
    }

    /// Its words, if it accepts nothing else.
    pub fn words(&self) -> Option<&'static [&'static str]> {
        Some(self.words).filter(|words| !words.is_empty())
    }

    /// Its value in a configuration.
    pub fn value(&self, config: &Config) -> Value {
        (self.get)(config)
    }

    /// Its value in a resolved scenario, if it appears there.
    pub fn written(&self, config: &Config) -> Option<Value> {
        let value = self.value(config);
        let says = !self.added || value != self.value(&Config::textbook());
        says.then_some(value)
    }

    /// Sets it.
    ///
    /// # Errors
    /// What is wrong with the value; the message continues the key.
    pub fn set(&self, config: &mut Config, value: Value) -> Result<(), String> {
        let forms = self.forms();
        let fits = forms.iter().find_map(|form| form.accepts(value));
        if fits == Some(true) && (self.set)(config, value) {
            return Ok(());
        }
        Err(format!("is {value}; expected {}", expected(&forms)))
    }
}

settings! {
    /// Loss recovery.
    recovery: Recovery, OneOf, Recovery::Sack;
    /// How SACK finds lost packets: three segments above have arrived (RFC 6675), or a segment sent later has arrived and one
    /// RTT plus a reordering window has passed (RACK, RFC 8985, section 6). With "rack", a timeout does not mark segments sent
    /// within the last RTT as lost, and cuts ssthresh at most once per round.
    loss_detection (added): LossDetection, OneOf, LossDetection::DupAcks;
    /// Whether a probe is sent if the last segments are not acknowledged within two RTTs (TLP, RFC 8985, section 7). With one
    /// segment outstanding it waits for `minimum_rto` more. Requires RACK.
    tail_loss_probe (added): bool, Flag, false;
    /// Whether new data is sent after the first retransmission of a timeout, to detect spurious timeouts (F-RTO, RFC 5682).
    /// Requires RACK.
    frto (added): bool, Flag, false;
    /// Whether a cut is undone if all retransmissions turn out to be unnecessary, as shown by D-SACKs (RFC 3708) or by time
    /// stamps (RFC 3522, with a resolution of 1 ms). Requires RACK.
    undo (added): bool, Flag, false;
    /// Whether duplicate ACKs after a timeout start fast retransmit only when all that had been sent before it has been
    /// acknowledged (the variable `recover` of RFC 6582, section 3.2, step 4). Without that check, as in the newreno of ns-3 up
    /// to 3.19, duplicates of segments that the timeout has sent again without need start a false fast retransmit, which cuts
    /// ssthresh again. With SACK the check always holds (RFC 6675, section 5.1).
    recover_after_timeout (added): bool, Flag, true;
    /// Whether the first two duplicate ACKs release a new packet each (RFC 3042).
    limited_transmit: bool, Flag, true;
    /// How a window that congestion has cut comes into force: at once, so that nothing leaves until the flight is below
    /// the new window, or by proportional rate reduction (RFC 6937, RFC 9937).
    reduction: Reduction, OneOf, Reduction::AtOnce;
    /// Whether the other ACKs of the round in which a window was cut may let it grow again.
    growth_in_cut_round: bool, Flag, true;
    /// Controllers whose cuts come into force at once and may be followed by growth in the same round, whatever `reduction` and
    /// `growth_in_cut_round` say: none, those that set their own rate (fcc, rcp, xcp, decn, vcp, mlcp), or all but reno and
    /// cubic, as Pathweave's programs for Linux do. Windows of the last kind stay as they are after idle time.
    at_once_controllers (added): AtOnceControllers, OneOf, AtOnceControllers::None;
    /// Whether ACKs that carry marks grow the window as others do, against RFC 3168, section 6.1.2, where the
    /// controller's source is an RFC or Linux: with `dctcp`, `dcm` and all that take a mark for a loss.
    growth_by_marked_acks: bool, Flag, false;
    /// What a loss takes its share from: what was in flight where that is less than the window (RFC 5681), or the
    /// window, as Linux does.
    ssthresh_from: SsthreshFrom, OneOf, SsthreshFrom::Window;
    /// Largest payload of a packet.
    maximum_segment: u16, Size, 1448;
    /// Size on the wire of a packet with that payload; the difference is the overhead of every packet.
    data_packet: u16, Size, 1500;
    /// Size on the wire of an ACK, a SYN and a SYN-ACK.
    ack_packet: u16, Size, 52;
    /// Initial window.
    initial_window: f64, Packets, 10.0;
    /// Whether each subflow has an initial window of its own, or the subflows of a connection share one equally, with at
    /// least one packet each.
    initial_window_per (added): InitialWindowPer, OneOf, InitialWindowPer::Subflow;
    /// Initial ssthresh: packets, a size, or "none".
    initial_ssthresh: f64, PacketsOrNone, f64::INFINITY;
    /// The window's floor in congestion avoidance.
    minimum_window: f64, Packets, 2.0;
    /// Smallest retransmission timeout.
    minimum_rto: Time, ABOVE_ZERO, Time::from_millis(200);
    /// Retransmission timeout before the first RTT sample.
    initial_rto: Time, ABOVE_ZERO, Time::from_secs(1);
    /// What ends the backoff of the timeout: an ACK of new data, as with time stamps (RFC 7323), or an ACK of data that was
    /// sent for the first time after the timeout (Karn's algorithm; RFC 6298, section 5). In the second case earlier ACKs
    /// give no RTT sample either, because they may answer an original as well as its retransmission.
    backoff_until (added): BackoffUntil, OneOf, BackoffUntil::NewAck;
    /// Whether the SYN exchange gives an RTT sample, and a join's handshake one for its subflow. Without it, the first data
    /// of a subflow waits for `initial_rto`, and what depends on the RTT begins with the first acknowledged data: until
    /// then controllers leave the subflow out of sums over RTTs, and "lowest-rtt" prefers it.
    rtt_from_handshake (added): bool, Flag, true;
    /// Largest retransmission timeout.
    maximum_rto: Time, ABOVE_ZERO, Time::from_secs(120);
    /// Whether `minimum_rto` limits the timeout (RFC 6298) or its variance term. In the second case the timeout is computed as
    /// in Linux (tcp_rtt_estimator): the smoothed RTT plus at least `minimum_rto`.
    rto_floor (added): RtoFloor, OneOf, RtoFloor::Rto;
    /// Number of SYN timeouts before the interval starts to double (tcp_syn_linear_timeouts in Linux).
    syn_linear_timeouts (added): u32, Count(0), 0;
    /// Timer tick of a host: 4 ms for Linux at 250 Hz. Waits are rounded up to whole ticks, plus up to one tick; waits of 63
    /// ticks or more end at a multiple of 8, 64, ... ticks. Zero makes timers exact.
    tick (added): Time, Duration(Time::ZERO), Time::ZERO;
    /// Phase of the ticks: a time before the start of the run at which all hosts have a tick, or "by-host" to draw it for each
    /// host from the seed.
    tick_phase (added): TickPhase, Phase, TickPhase::Shared(Time::ZERO);
    /// Data packets to one ACK.
    ack_every: u32, Count(1), 2;
    /// The longest time that an ACK waits for more data.
    ack_timeout: Time, Duration(Time::ZERO), Time::from_millis(40);
    /// Data packets of a subflow that are acknowledged at once when it begins: otherwise an initial window of one packet
    /// would wait for the timeout.
    ack_at_first: u32, Count(0), 16;
    /// Whether a packet whose CE mark differs from the last one's is acknowledged at once (RFC 8257, section 3.2). Earlier packets
    /// are acknowledged first anyway, unless `ack_spans_marks` is set.
    ack_at_mark_change: bool, Flag, true;
    /// Whether a delayed ACK may cover packets with and without a CE mark, and echoes how many had one: the receiver of XMP
    /// (section 2.1). `ack_at_mark_change` then has no effect; with `ack_gather` a change of the mark still ends a bundle.
    ack_spans_marks (added): bool, Flag, false;
    /// Whether a flow's last segment is acknowledged immediately. A real receiver does not know which one is last.
    ack_last (added): bool, Flag, true;
    /// Whether the count of `ack_at_first` restarts after a gap longer than `minimum_rto` and after a duplicate segment, as with
    /// Linux's quick ACKs.
    ack_at_first_again (added): bool, Flag, false;
    /// What a host's own port does when its queue is full. With "holds-back", as in Linux, data that finds no place is sent later
    /// and cuts the window once per round. The port then has no limit and no marks unless `host_queue` sets them, and each subflow
    /// keeps at most about 1 ms of its data there (TCP small queues).
    host_port (added): HostPort, OneOf, HostPort::Drops;
    /// Largest number of packets that a host sends as one bundle (segmentation offload). "by-port-rate" means 45 if its fastest
    /// port has 10 Gbps or more, and 1 otherwise. 1 disables bundling. A bundle holds what the subflow sends in about 1 ms
    /// (pacing rate * 2^-10 s), plus an allowance of 64 KB that is halved for every 512 us of minimum RTT. It has at least two
    /// packets, at most 64 KB and at most half of the window. While an ACK and more data are expected, a subflow waits until
    /// a whole bundle or a third of its window fits (tcp_tso_autosize, tcp_cwnd_test and tcp_tso_should_defer in Linux).
    send_bundle (added): SendBundle, Bundle, SendBundle::Packets(1);
    /// Whether bundles have the allowance for short RTTs, as in Linux from 5.18 on (tcp_tso_rtt_log).
    bundle_allowance (added): bool, Flag, true;
    /// How long a receiver gathers packets of a subflow that arrive in order, counted from the first one (generic receive
    /// offload). A bundle of two packets or more is answered by one ACK. It ends early with 64 KB, with a flow's last
    /// segment, and before a packet that is out of order or has another CE mark. Packets with a congestion field are
    /// never gathered. Zero handles each packet by itself.
    ack_gather (added): Time, Duration(Time::ZERO), Time::ZERO;
    /// The receiver's window: "unlimited", a size for the whole connection, or for example "64 KB per subflow". "auto" is a
    /// window of the whole connection that starts at 64 KB and grows by two segments for each segment that arrives, up to
    /// about twice what the application reads in an RTT (tcp_grow_window and tcp_rcv_space_adjust in Linux). The application
    /// reads immediately, so that only data out of order on the connection fills the window.
    receive_window: ReceiveWindow, ReceiveWindowForms, ReceiveWindow::Unlimited;
    /// Largest receive window with "auto", in bytes of payload (tcp_rmem[2], which is 32 MB from Linux 6.16 on and 6 MB
    /// before).
    receive_buffer (added): Bytes, Volume, Bytes::new(32 << 20);
    /// How connections open.
    handshake: Handshake, OneOf, Handshake::Syn;
    /// Further subflows open a random time of at most this after the first handshake.
    join_spread: Time, Duration(Time::ZERO), Time::ZERO;
    /// When further subflows open: after the first handshake, or after the first data-level ACK. In the second case their
    /// handshake takes a second round trip, because they carry data only after the receiver's fourth packet (RFC 8684,
    /// section 3.2). Single-path connections are the same with both.
    joins (added): Joins, OneOf, Joins::AfterHandshake;
    /// Which subflow gets the next segment. With "queued-bytes" data is given to subflows in bursts of 65,428 B: each to the
    /// subflow with the smallest ratio of queued bytes to pacing rate, unless the send buffer of that one is full
    /// (mptcp_subflow_get_send in Linux).
    scheduler: SegmentScheduler, OneOf, SegmentScheduler::LowestRtt;
    /// Largest send buffer of a subflow, with "queued-bytes" (tcp_wmem[2] in Linux). As in Linux it counts memory, 960 B per
    /// packet (none with `send_bundle` above 1) and the payload, and has room for 2 * max(10, window) packets of 4,352 B. A
    /// connection has at most the sum of its subflows' buffers outstanding, in bytes of payload.
    send_buffer (added): Bytes, Volume, Bytes::new(4 << 20);
    /// Whether data packets are ECN-capable; with "on", a controller that has no answer of its own to marks takes a
    /// marked round for a loss (RFC 3168).
    ecn: EcnUse, OneOf, EcnUse::ByController;
    /// Whether ACKs and retransmissions of connections that use ECN are ECN-capable, too, against RFC 3168, sections
    /// 6.1.4 and 6.1.5.
    ecn_on_all_packets (added): bool, Flag, false;
    /// What makes a connection send data again on another subflow: timeouts in a row on the one that carried it, as
    /// `failed_after` and `reinject_after` say, or a timer of the connection (mptcp_subflow_get_retrans in Linux). The timer
    /// restarts with each data-level ACK. It waits as long as the subflows' latest timer, or 200 ms if they have none. When it
    /// expires, up to 32 KB of the oldest data is sent again on a subflow that has nothing else to send. A subflow that has
    /// received nothing when the timer expires for the fifth time is stale, if another one is better: it gets no new data, and
    /// what it holds is sent again, until a packet arrives on it. Subflows also fail after 15 timeouts in a row
    /// (tcp_retries2).
    reinjection (added): Reinject, OneOf, Reinject::Timeouts;
    /// A subflow has failed after this many timeouts in a row without progress: it takes no new data and controllers leave
    /// it out of all sums and counts, until new data is acknowledged on it.
    failed_after: u32, Count(1), 2;
    /// After this many timeouts in a row what a subflow had in flight is sent again on the others; "never" keeps it there,
    /// and does not stop the subflow from failing.
    reinject_after: Option<u32>, CountOr("never"), Some(2);
    /// Packets of one ACK that slow start counts at most (RFC 3465); "none" counts all, after a timeout too. From a
    /// timeout until all that was in flight then has been acknowledged it counts one packet of an ACK, that of the last
    /// ACK included. Congestion avoidance counts every packet.
    slow_start_limit: Option<u32>, CountOr("none"), None;
    /// Whether a subflow that has sent nothing for more than a retransmission timeout, and has nothing outstanding, starts
    /// again with a smaller window: halved once per timeout, down to the initial window. ssthresh becomes at least 3/4 of the
    /// old window (RFC 5681, section 4.1; tcp_cwnd_restart in Linux). CUBIC does not count the idle time.
    idle_restart (added): bool, Flag, false;
    /// Whether a subflow's window grows only if it was full in the last window of data, or in slow start if it is less than
    /// twice what was outstanding, as in Linux (tcp_is_cwnd_limited; RFC 7661). Without it, all windows of a connection grow unless data or
    /// the receiver's window ran out when it last sent.
    window_validation (added): bool, Flag, false;
    /// Whether CUBIC ends slow start before it loses packets (HyStart), and then grows by at least 5 % per round until the
    /// first loss, as in Linux.
    hystart (added): bool, Flag, false;
    /// What windows grow by: acknowledged packets, acknowledgements, or "acks-in-avoidance": acknowledged packets in slow
    /// start and acknowledgements in congestion avoidance, as the out-of-tree MPTCP's modules for LIA, OLIA and Balia do
    /// (snd_cwnd_cnt in mptcp_ccc_cong_avoid).
    count: GrowthCount, OneOf, GrowthCount::Packets;
    beside:
    /// The sizes of data packets that are not a flow's last, where they differ: more than the overhead, and at most
    /// `data_packet`. `None` when all have that.
    packets: Option<PacketMix>, None;
    /// At which rate the application has data to send. `None` when all is there from the start.
    source: Option<Source>, None;
}

/// An application that writes its data at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Payload per second.
    pub rate: Rate,
    /// How much it writes at a time; `None` for a full segment.
    pub write: Option<Bytes>,
}

/// The most bytes of headers in a packet: Ethernet, IPv6 with options, TCP with options and a tunnel take less.
const MOST_HEADERS: u16 = 256;

impl Config {
    /// Header bytes of a data packet.
    pub fn overhead(&self) -> u16 {
        self.data_packet - self.maximum_segment
    }

    /// Packets of one acknowledgement that slow start counts at most, after a timeout or otherwise.
    #[inline]
    pub(crate) fn packets_in_slow_start(&self, after_timeout: bool) -> u32 {
        match self.slow_start_limit {
            None => u32::MAX,
            Some(_) if after_timeout => 1,
            Some(limit) => limit,
        }
    }

    /// Mean size on the wire of data packets that are not a flow's last, in bytes.
    pub fn mean_packet(&self) -> f64 {
        match &self.packets {
            None => f64::from(self.data_packet),
            Some(mix) => mix.mean(),
        }
    }

    /// Bytes on the wire for each byte of payload: of full data packets, and of an ACK for each [`Config::ack_every`] of them.
    /// Congestion fields of switches' schemes do not count.
    pub fn wire_per_payload(&self) -> f64 {
        let packet = self.mean_packet();
        let ack = f64::from(self.ack_packet) / f64::from(self.ack_every);
        (packet + ack) / (packet - f64::from(self.overhead()))
    }

    /// Initial window of each subflow, in packets, in a connection with this number of subflows.
    pub fn initial_window_of(&self, subflows: u32) -> f64 {
        match self.initial_window_per {
            InitialWindowPer::Subflow => self.initial_window,
            InitialWindowPer::Connection => {
                (self.initial_window / f64::from(subflows.max(1))).max(1.0)
            }
        }
    }

    /// The settings for a controller: [`Config::at_once_controllers`] may change some.
    pub fn of_controller(&self, controller: &str) -> Config {
        let at_once = match self.at_once_controllers {
            AtOnceControllers::None => false,
            AtOnceControllers::SetRates => SET_RATES.contains(&controller),
            AtOnceControllers::Programs => !matches!(controller, "reno" | "cubic"),
        };
        let mut config = self.clone();
        if at_once {
            config.reduction = Reduction::AtOnce;
            config.growth_in_cut_round = true;
        }
        if at_once && self.at_once_controllers == AtOnceControllers::Programs {
            // The kernel does not touch the window of a controller with cong_control (tcp_slow_start_after_idle_check).
            config.idle_restart = false;
        }
        config
    }

    /// Timeouts in a row after which a subflow has failed.
    pub(crate) fn timeouts_to_fail(&self) -> u32 {
        match self.reinjection {
            Reinject::Timeouts => self.failed_after,
            Reinject::Timer => RETRIES,
        }
    }

    /// Timeouts in a row after which what a subflow had in flight is sent again on the others.
    pub(crate) fn timeouts_to_reinject(&self) -> Option<u32> {
        match self.reinjection {
            Reinject::Timeouts => self.reinject_after,
            Reinject::Timer => None,
        }
    }

    /// Whether losses are detected by time (RACK).
    #[inline]
    pub(crate) fn finds_losses_by_time(&self) -> bool {
        self.loss_detection == LossDetection::Rack
    }

    /// Whether the host's port holds packets back.
    #[inline]
    pub(crate) fn holds_back(&self) -> bool {
        self.host_port == HostPort::HoldsBack
    }

    /// Whether the round of a cut differs from others.
    #[inline]
    pub(crate) fn has_cut_rounds(&self) -> bool {
        self.reduction == Reduction::Proportional || !self.growth_in_cut_round
    }

    /// Whether it matters how much of their windows subflows use.
    #[inline]
    pub(crate) fn tracks_window_use(&self) -> bool {
        self.idle_restart || self.window_validation
    }

    /// The largest flow whose segments can all be numbered.
    pub fn largest_flow(&self) -> Bytes {
        let smallest = match &self.packets {
            None => self.maximum_segment,
            Some(mix) => mix.smallest().saturating_sub(self.overhead()),
        };
        Bytes::new(u64::from(UNLIMITED - 1) * u64::from(smallest))
    }

    /// Payload of a connection's segment that is not its last.
    #[inline]
    pub(crate) fn full_payload(&self, key: PacketKey, segment: u32) -> u16 {
        match &self.packets {
            None => self.maximum_segment,
            Some(mix) => mix.size(key, segment) - self.overhead(),
        }
    }

    /// Sizes on the wire of all data packets of a flow, in the order of its data.
    pub fn packets_of(&self, key: PacketKey, size: Bytes) -> impl Iterator<Item = Bytes> {
        let overhead = u64::from(self.overhead());
        let mut left = Some(size.get());
        let mut segment = 0;
        std::iter::from_fn(move || {
            let payload = u64::from(self.full_payload(key, segment)).min(left?);
            segment += 1;
            left = left.and_then(|left| left.checked_sub(payload).filter(|&left| left > 0));
            Some(Bytes::new(payload + overhead))
        })
    }

    /// Checks settings against each other.
    ///
    /// # Errors
    /// The key of a setting, and what is wrong with it; the message continues the key.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.finds_losses_by_time() && self.recovery != Recovery::Sack {
            let text = "is \"rack\"; it requires recovery = \"sack\"".to_owned();
            return Err(("loss_detection", text));
        }
        for (key, is_set) in [
            ("tail_loss_probe", self.tail_loss_probe),
            ("frto", self.frto),
            ("undo", self.undo),
        ] {
            if is_set && !self.finds_losses_by_time() {
                return Err((
                    key,
                    "is true; it requires loss_detection = \"rack\"".to_owned(),
                ));
            }
        }
        if self.data_packet < self.maximum_segment {
            let text = format!(
                "is {} B, less than the payload in it; expected at least maximum_segment, {} B",
                self.data_packet, self.maximum_segment
            );
            return Err(("data_packet", text));
        }
        if self.overhead() > MOST_HEADERS {
            // One of the two was given alone.
            let headers = Config::textbook().overhead();
            let text = format!(
                "is {} B and maximum_segment {} B: {} B of headers; expected at most {MOST_HEADERS} B. Give both: with the \
                 usual headers maximum_segment = \"{} B\", or data_packet = \"{} B\"",
                self.data_packet,
                self.maximum_segment,
                self.overhead(),
                self.data_packet - headers,
                self.maximum_segment + headers
            );
            return Err(("data_packet", text));
        }
        if self.maximum_rto < self.minimum_rto || self.maximum_rto < self.initial_rto {
            let text = format!(
                "is {}; expected at least minimum_rto, {}, and initial_rto, {}",
                self.maximum_rto, self.minimum_rto, self.initial_rto
            );
            return Err(("maximum_rto", text));
        }
        for (key, size) in [
            ("receive_buffer", self.receive_buffer),
            ("send_buffer", self.send_buffer),
        ] {
            if size.get() < u64::from(self.maximum_segment) {
                let text = format!(
                    "is {size}, less than one segment; expected at least {} B",
                    self.maximum_segment
                );
                return Err((key, text));
            }
        }
        let window = match self.receive_window {
            ReceiveWindow::Unlimited | ReceiveWindow::Auto => Bytes::MAX,
            ReceiveWindow::Connection(bytes) | ReceiveWindow::Subflow(bytes) => bytes,
        };
        if window.get() < u64::from(self.maximum_segment) {
            let text = format!(
                "is {window}, less than one segment; expected at least {} B",
                self.maximum_segment
            );
            return Err(("receive_window", text));
        }
        Ok(())
    }
}
