//! Presets of the transport: in what published code bases and papers differ, as named sets of values.

use pathweave_network::MarkingRule;
use pathweave_transport::{
    AtOnceControllers, BackoffUntil, Config, GrowthCount, Handshake, HostPort, Joins,
    LossDetection, ReceiveWindow, Recovery, Reduction, Reinject, RtoFloor, SegmentScheduler,
    SendBundle, SsthreshFrom, TickPhase,
};
use pathweave_units::{Bytes, Rate, Time};

/// A named set of transport values.
pub struct Preset {
    /// Key in the scenario.
    pub name: &'static str,
    /// What it stands for, in one sentence.
    pub help: &'static str,
    /// What a step threshold does at exactly K when the scenario does not say.
    pub rule: MarkingRule,
    /// Whether ECN-blind packets are dropped at K when the scenario does not say.
    pub drop_ecn_blind: bool,
    values: fn(&Context<'_>) -> Config,
}

/// What some values depend on.
struct Context<'a> {
    controller: &'a str,
    slowest_link: Rate,
}

impl Preset {
    /// The values for a controller on a fabric whose slowest link has this rate.
    pub fn config(&self, controller: &str, slowest_link: Rate) -> Config {
        (self.values)(&Context {
            controller,
            slowest_link,
        })
    }
}

/// Every preset, the default first.
pub fn presets() -> &'static [Preset] {
    const TABLE: &[Preset] = &[
        Preset {
            name: "linux",
            help: "A host with Linux 6.x: RACK and tail loss probes, timer ticks of 4 ms, its own port holds packets back, every cut is a proportional rate reduction.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| linux(AtOnceControllers::SetRates),
        },
        Preset {
            name: "linux-bpf",
            help: "As linux, with controllers as Pathweave's eBPF programs have them: all but reno and cubic cut at once.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| linux(AtOnceControllers::Programs),
        },
        Preset {
            name: "textbook",
            help: "Hosts by the RFCs: losses by duplicate ACKs (RFC 6675), timeouts by RFC 6298, cuts at once; initial window 10, delayed ACKs, lowest-RTT scheduler.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| Config::textbook(),
        },
        Preset {
            name: "xmp-2013",
            help: "The XMP paper, which does not say what its TCP is: NewReno, initial window 1, delayed ACKs after a subflow's first packet.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| xmp(),
        },
        Preset {
            name: "xmp-2013-fat-tree",
            help: "As xmp-2013, with what its results on fat-trees suggest and no source states: Reno's recovery of one loss per window, an ACK for every packet, and after timeouts no recover check and Karn's backoff.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| Config {
                recovery: Recovery::Reno,
                // The newreno of ns-3 up to 3.19 has these two, and the paper used 3.14.
                recover_after_timeout: false,
                backoff_until: BackoffUntil::NewData,
                ack_every: 1,
                ..xmp()
            },
        },
        Preset {
            name: "amp-2019",
            help: "The AMP paper and its ns-3 code: NewReno, initial window 1, an ACK for every packet, no loss of SYNs, 1.5 s until the first timeout; queues mark from K on and drop ECN-blind packets there.",
            rule: MarkingRule::AtOrAbove,
            drop_ecn_blind: true,
            values: |_| ns3(),
        },
        Preset {
            name: "fmptcp-2024",
            help: "The FMPTCP paper: an ACK for every packet, round robin; RTOmin 1 ms when all links have 10 Gbps or more, else 200 ms; minimum window 1 for FCC.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |context| {
                let fast = context.slowest_link >= Rate::from_gbps(10);
                let rto = Time::from_millis(if fast { 1 } else { 200 });
                Config {
                    minimum_window: if context.controller == "fcc" {
                        1.0
                    } else {
                        2.0
                    },
                    minimum_rto: rto,
                    initial_rto: rto,
                    ack_every: 1,
                    maximum_segment: 1440,
                    ack_packet: 60,
                    scheduler: SegmentScheduler::RoundRobin,
                    slow_start_limit: Some(2),
                    ..Config::textbook()
                }
            },
        },
        Preset {
            name: "decn",
            help: "The DECN paper: single path, NewReno, initial window 2, an ACK for every packet, no handshake.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| Config {
                recovery: Recovery::NewReno,
                limited_transmit: false,
                initial_window: 2.0,
                ack_every: 1,
                maximum_segment: 1460,
                ack_packet: 40,
                handshake: Handshake::None,
                slow_start_limit: Some(2),
                ..Config::textbook()
            },
        },
        Preset {
            name: "eutcp-2022",
            help: "The EUTCP paper's Linux hosts with out-of-tree MPTCP: losses by duplicate ACKs, every cut is a proportional rate reduction, bundles of what is sent in 1 ms, no loss at a host's own port; LIA, OLIA and Balia grow per ACK, and the last two have minimum window 1.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |context| Config {
                minimum_window: match context.controller {
                    "olia" | "balia" => 1.0,
                    _ => 2.0,
                },
                // Their modules add one to snd_cwnd_cnt for each ACK (mptcp_ccc_cong_avoid, mptcp_olia_cong_avoid and
                // mptcp_balia_cong_avoid), and only slow start counts packets.
                count: match context.controller {
                    "lia" | "olia" | "balia" => GrowthCount::AcksInAvoidance,
                    _ => GrowthCount::Packets,
                },
                // tcp_tso_autosize in 4.14 and 4.19: the pacing rate for 2^-10 s, at least two packets, at most 64 KB. The
                // allowance for short RTTs came with 5.18.
                send_bundle: SendBundle::Packets(SendBundle::AT_HIGH_RATES),
                bundle_allowance: false,
                // TCP small queues came with 3.6. In 4.19 they, too, are limited to the pacing rate for 2^-10 s, and
                // the scheduler skips a subflow that they hold back (mptcp_is_temp_unavailable).
                host_port: HostPort::HoldsBack,
                // Reno and the three modules grow only if tcp_is_cwnd_limited says so, and windows are not full while
                // the port is the limit.
                window_validation: true,
                ..reduces_proportionally()
            },
        },
        Preset {
            name: "ns3-mmptcp",
            help: "The ns-3 code of MMPTCP (EUTCP's table IV): as amp-2019, with minimum window 1 and 65,535 B of receive window a subflow.",
            rule: MarkingRule::AtOrAbove,
            drop_ecn_blind: false,
            values: |_| Config {
                minimum_window: 1.0,
                receive_window: ReceiveWindow::Subflow(Bytes::new(65_535)),
                ..ns3()
            },
        },
        Preset {
            name: "ns3-3.37",
            help: "Hosts of ns-3.37 without timestamps, for comparisons with it: every cut is a proportional rate reduction.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| Config {
                maximum_segment: 1460,
                // PPP adds 2 bytes.
                data_packet: 1502,
                ack_packet: 42,
                // It acknowledges at once only what came before the change.
                ack_at_mark_change: false,
                ..reduces_proportionally()
            },
        },
        Preset {
            name: "htsim",
            help: "Hosts of htsim, for comparisons with it: NewReno, packets without headers, minimum window 1.",
            rule: MarkingRule::Above,
            drop_ecn_blind: false,
            values: |_| Config {
                recovery: Recovery::NewReno,
                limited_transmit: false,
                initial_ssthresh: 100.0,
                minimum_window: 1.0,
                minimum_rto: Time::from_millis(250),
                initial_rto: Time::from_secs(3),
                ack_every: 1,
                maximum_segment: 1500,
                ack_packet: 40,
                scheduler: SegmentScheduler::RoundRobin,
                ..Config::textbook()
            },
        },
    ];
    TABLE
}

/// The preset of this name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

/// A host with Linux 6.x. docs/hosts.md has the sources and how far it was measured.
fn linux(at_once_controllers: AtOnceControllers) -> Config {
    Config {
        loss_detection: LossDetection::Rack,
        tail_loss_probe: true,
        frto: true,
        undo: true,
        rto_floor: RtoFloor::Variance,
        syn_linear_timeouts: 4,
        tick: Time::from_millis(4),
        tick_phase: TickPhase::ByHost,
        ack_last: false,
        ack_at_first_again: true,
        host_port: HostPort::HoldsBack,
        send_bundle: SendBundle::ByPortRate,
        idle_restart: true,
        window_validation: true,
        hystart: true,
        receive_window: ReceiveWindow::Auto,
        joins: Joins::DataAcknowledged,
        scheduler: SegmentScheduler::QueuedBytes,
        reinjection: Reinject::Timer,
        at_once_controllers,
        ..reduces_proportionally()
    }
}

/// What Linux does for controllers that leave the window to it in CWR and Recovery (tcp_cwnd_reduction): its own,
/// and the modules of the out-of-tree MPTCP.
fn reduces_proportionally() -> Config {
    Config {
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        ..Config::textbook()
    }
}

/// The stack of the XMP paper, partly stated there and partly inferred.
fn xmp() -> Config {
    Config {
        recovery: Recovery::NewReno,
        limited_transmit: false,
        ssthresh_from: SsthreshFrom::Flight,
        initial_window: 1.0,
        // With an initial window of 1 each flow would else begin with 40 ms of waiting,
        // which the published completion times exclude; ns-3 does the same.
        ack_at_first: 1,
        slow_start_limit: Some(2),
        maximum_segment: 1460,
        ack_packet: 40,
        scheduler: SegmentScheduler::RoundRobin,
        ..Config::textbook()
    }
}

/// The MPTCP code for ns-3.19 that AMP and MMPTCP are built on.
fn ns3() -> Config {
    Config {
        recovery: Recovery::NewReno,
        // DupAck looks at whether a fast recovery is under way, and not at m_recover.
        recover_after_timeout: false,
        // AckSeq resets the multiplier with a sample, and takes none of a segment that was sent again.
        backoff_until: BackoffUntil::NewData,
        limited_transmit: false,
        // NewAckNewReno calls OpenCWND for every new acknowledgement, whatever its ECN echo made of the window before.
        growth_by_marked_acks: true,
        ssthresh_from: SsthreshFrom::Flight,
        initial_window: 1.0,
        initial_ssthresh: 65_535.0 / 1400.0,
        // At the SYN-ACK the RTT's estimate is set to 1.5 s, and the handshake gives no sample
        // (MpTcpSocketBase::ProcessSynSent). The SYN itself would be sent again after 200 ms, but none is lost.
        initial_rto: Time::from_millis(1500),
        rtt_from_handshake: false,
        ack_every: 1,
        maximum_segment: 1400,
        data_packet: 1460,
        ack_packet: 60,
        handshake: Handshake::SynNeverLost,
        join_spread: Time::from_micros(49),
        scheduler: SegmentScheduler::RoundRobin,
        // Sockets set the bits of all their packets, and queues drop what has none at K.
        ecn_on_all_packets: true,
        // What is mapped to a subflow is only sent again on that subflow.
        reinject_after: None,
        // Its slow start adds a segment for an acknowledgement, whatever that acknowledges.
        slow_start_limit: Some(1),
        ..Config::textbook()
    }
}
