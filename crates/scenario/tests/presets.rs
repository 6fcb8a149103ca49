//! Every preset's values against the published ones.

use pathweave_network::MarkingRule;
use pathweave_scenario::presets;
use pathweave_transport::{
    BackoffUntil, Config, EcnUse, GrowthCount, Handshake, HostPort, Joins, ReceiveWindow, Recovery,
    Reduction, Reinject, SegmentScheduler, SendBundle, SsthreshFrom,
};
use pathweave_units::{Bytes, Rate, Time};

fn preset(name: &str, controller: &str, slowest: Rate) -> Config {
    let preset = presets()
        .iter()
        .find(|preset| preset.name == name)
        .expect("a preset");
    assert!(!preset.help.is_empty());
    let marks_at_k = ["amp-2019", "ns3-mmptcp"].contains(&name);
    assert_eq!(preset.rule == MarkingRule::AtOrAbove, marks_at_k);
    assert_eq!(preset.drop_ecn_blind, name == "amp-2019");
    let config = preset.config(controller, slowest);
    assert_eq!(config.ecn, EcnUse::ByController);
    let per_ack = name == "eutcp-2022" && ["lia", "olia", "balia"].contains(&controller);
    let count = if per_ack {
        GrowthCount::AcksInAvoidance
    } else {
        GrowthCount::Packets
    };
    assert_eq!(config.count, count);
    config
}

fn sizes(config: &Config) -> (u16, u16, u16) {
    (
        config.maximum_segment,
        config.data_packet,
        config.ack_packet,
    )
}

fn cuts(config: &Config) -> (Reduction, bool, SsthreshFrom) {
    (
        config.reduction,
        config.growth_in_cut_round,
        config.ssthresh_from,
    )
}

const GIGABIT: Rate = Rate::from_gbps(1);
const RTO: (Time, Time) = (Time::from_millis(200), Time::from_secs(1));

fn rto(config: &Config) -> (Time, Time) {
    (config.minimum_rto, config.initial_rto)
}

#[test]
fn linux_comes_first() {
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    assert_eq!(
        names,
        [
            "linux",
            "linux-bpf",
            "textbook",
            "xmp-2013",
            "xmp-2013-fat-tree",
            "amp-2019",
            "fmptcp-2024",
            "decn",
            "eutcp-2022",
            "ns3-mmptcp",
            "ns3-3.37",
            "htsim"
        ]
    );
}

#[test]
fn linux() {
    let config = preset("linux", "xmp", GIGABIT);
    // One rule for all controllers but those that set their own rate.
    for controller in ["reno", "cubic", "dctcp", "xmp", "lia", "amp", "eutcp"] {
        assert_eq!(preset("linux", controller, GIGABIT), config);
        assert_eq!(
            cuts(&config.of_controller(controller)),
            (Reduction::Proportional, false, SsthreshFrom::Window)
        );
    }
    let at_once = (Reduction::AtOnce, true, SsthreshFrom::Window);
    for controller in ["fcc", "rcp", "xcp", "decn", "vcp", "mlcp"] {
        assert_eq!(cuts(&config.of_controller(controller)), at_once);
    }
    let programs = preset("linux-bpf", "xmp", GIGABIT);
    for controller in ["dctcp", "xmp", "lia", "amp", "fcc"] {
        assert_eq!(cuts(&programs.of_controller(controller)), at_once);
    }
    assert_eq!(
        cuts(&programs.of_controller("cubic")),
        cuts(&config.of_controller("cubic"))
    );
    assert_eq!(
        Config {
            at_once_controllers: config.at_once_controllers,
            ..programs
        },
        config
    );
    assert_eq!(config.recovery, Recovery::Sack);
    assert_eq!((config.initial_window, config.minimum_window), (10.0, 2.0));
    assert_eq!(config.initial_ssthresh, f64::INFINITY);
    assert_eq!(rto(&config), RTO);
    assert_eq!(
        (config.ack_every, config.ack_timeout, config.ack_at_first),
        (2, Time::from_millis(40), 16)
    );
    assert_eq!(sizes(&config), (1448, 1500, 52));
    assert_eq!(config.handshake, Handshake::Syn);
    // Upstream MPTCP.
    assert_eq!(
        (config.scheduler, config.joins, config.reinjection),
        (
            SegmentScheduler::QueuedBytes,
            Joins::DataAcknowledged,
            Reinject::Timer
        )
    );
    assert_eq!(config.receive_window, ReceiveWindow::Auto);
    assert_eq!(config.check(), Ok(()));
}

#[test]
fn only_linux_and_hosts_with_its_out_of_tree_mptcp_have_bundles() {
    for preset in presets() {
        let config = preset.config("xmp", Rate::from_gbps(10));
        let expected = match preset.name {
            "linux" | "linux-bpf" => SendBundle::ByPortRate,
            "eutcp-2022" => SendBundle::Packets(45),
            _ => SendBundle::Packets(1),
        };
        assert_eq!(config.send_bundle, expected, "{}", preset.name);
        assert_eq!(config.ack_gather, Time::ZERO);
    }
}

#[test]
fn xmp_2013() {
    let config = preset("xmp-2013", "xmp", GIGABIT);
    assert_eq!(
        cuts(&config),
        (Reduction::AtOnce, true, SsthreshFrom::Flight)
    );
    assert_eq!(config.recovery, Recovery::NewReno);
    assert_eq!((config.initial_window, config.minimum_window), (1.0, 2.0));
    assert_eq!(config.initial_ssthresh, f64::INFINITY);
    assert_eq!(rto(&config), RTO);
    assert_eq!(
        (config.ack_every, config.ack_timeout, config.ack_at_first),
        (2, Time::from_millis(40), 1)
    );
    assert_eq!(sizes(&config), (1460, 1500, 40));
    assert_eq!(config.receive_window, ReceiveWindow::Unlimited);
    assert_eq!(
        (config.handshake, config.join_spread),
        (Handshake::Syn, Time::ZERO)
    );
    assert_eq!(config.scheduler, SegmentScheduler::RoundRobin);
}

#[test]
fn xmp_2013_fat_tree() {
    let expected = Config {
        recovery: Recovery::Reno,
        recover_after_timeout: false,
        backoff_until: BackoffUntil::NewData,
        ack_every: 1,
        ..preset("xmp-2013", "xmp", GIGABIT)
    };
    let config = preset("xmp-2013-fat-tree", "xmp", GIGABIT);
    assert_eq!(config, expected);
    assert_eq!(config.count, GrowthCount::Packets);
}

#[test]
fn amp_2019() {
    let config = preset("amp-2019", "amp", GIGABIT);
    assert_eq!(
        cuts(&config),
        (Reduction::AtOnce, true, SsthreshFrom::Flight)
    );
    assert_eq!(config.recovery, Recovery::NewReno);
    assert_eq!((config.initial_window, config.minimum_window), (1.0, 2.0));
    assert!((config.initial_ssthresh * 1400.0 - 65_535.0).abs() < 1e-9);
    assert_eq!(
        rto(&config),
        (Time::from_millis(200), Time::from_millis(1500))
    );
    assert!(!config.rtt_from_handshake && !config.recover_after_timeout);
    assert_eq!(config.backoff_until, BackoffUntil::NewData);
    assert_eq!(config.ack_every, 1);
    assert_eq!(sizes(&config), (1400, 1460, 60));
    assert_eq!(config.receive_window, ReceiveWindow::Unlimited);
    assert_eq!(config.handshake, Handshake::SynNeverLost);
    assert_eq!(config.join_spread, Time::from_micros(49));
    assert_eq!(config.scheduler, SegmentScheduler::RoundRobin);
}

#[test]
fn fmptcp_2024() {
    let config = preset("fmptcp-2024", "xmp", Rate::from_gbps(100));
    assert_eq!(config.recovery, Recovery::Sack);
    assert_eq!((config.initial_window, config.minimum_window), (10.0, 2.0));
    assert_eq!(preset("fmptcp-2024", "fcc", GIGABIT).minimum_window, 1.0);
    assert_eq!(config.initial_ssthresh, f64::INFINITY);
    assert_eq!(rto(&config), (Time::from_millis(1), Time::from_millis(1)));
    let slow = preset("fmptcp-2024", "xmp", GIGABIT);
    assert_eq!(rto(&slow), (Time::from_millis(200), Time::from_millis(200)));
    assert_eq!(config.ack_every, 1);
    assert_eq!(sizes(&config), (1440, 1500, 60));
    assert_eq!(config.receive_window, ReceiveWindow::Unlimited);
    assert_eq!(
        (config.handshake, config.join_spread),
        (Handshake::Syn, Time::ZERO)
    );
    assert_eq!(config.scheduler, SegmentScheduler::RoundRobin);
}

#[test]
fn decn() {
    let config = preset("decn", "dctcp", Rate::from_gbps(10));
    assert_eq!(config.recovery, Recovery::NewReno);
    assert_eq!((config.initial_window, config.minimum_window), (2.0, 2.0));
    assert_eq!(config.initial_ssthresh, f64::INFINITY);
    assert_eq!(rto(&config), RTO);
    assert_eq!(config.ack_every, 1);
    assert_eq!(sizes(&config), (1460, 1500, 40));
    assert_eq!(config.receive_window, ReceiveWindow::Unlimited);
    assert_eq!(config.handshake, Handshake::None);
}

#[test]
fn eutcp_2022() {
    let config = preset("eutcp-2022", "eutcp", GIGABIT);
    // The out-of-tree kernel's modules leave cuts to the kernel, all of them.
    assert_eq!(
        config,
        Config {
            reduction: Reduction::Proportional,
            growth_in_cut_round: false,
            // Kernel 4.19.
            send_bundle: SendBundle::Packets(45),
            bundle_allowance: false,
            host_port: HostPort::HoldsBack,
            window_validation: true,
            ..Config::textbook()
        }
    );
    for controller in ["eutcp", "wutcp", "reno", "cubic"] {
        assert_eq!(preset("eutcp-2022", controller, GIGABIT), config);
    }
    for (controller, minimum) in [("lia", 2.0), ("olia", 1.0), ("balia", 1.0)] {
        assert_eq!(
            preset("eutcp-2022", controller, GIGABIT).minimum_window,
            minimum
        );
    }
}

#[test]
fn ns3_mmptcp() {
    let config = preset("ns3-mmptcp", "lia", Rate::from_mbps(100));
    assert_eq!(config.minimum_window, 1.0);
    assert_eq!(
        config.receive_window,
        ReceiveWindow::Subflow(Bytes::new(65_535))
    );
    let amp = preset("amp-2019", "lia", Rate::from_mbps(100));
    let same = Config {
        minimum_window: amp.minimum_window,
        receive_window: amp.receive_window,
        ..config
    };
    assert_eq!(same, amp);
}

#[test]
fn slow_start_is_limited_where_the_source_is_no_linux() {
    for (name, limit) in [
        ("linux", None),
        ("xmp-2013", Some(2)),
        ("amp-2019", Some(1)),
        ("fmptcp-2024", Some(2)),
        ("decn", Some(2)),
        ("eutcp-2022", None),
        ("ns3-mmptcp", Some(1)),
    ] {
        assert_eq!(
            preset(name, "reno", GIGABIT).slow_start_limit,
            limit,
            "{name}"
        );
    }
}

#[test]
fn marked_acknowledgements_grow_windows_in_the_ns3_code_alone() {
    for preset_of in pathweave_scenario::presets() {
        let grow = preset_of.config("dctcp", GIGABIT).growth_by_marked_acks;
        let expected = ["amp-2019", "ns3-mmptcp"].contains(&preset_of.name);
        assert_eq!(grow, expected, "{}", preset_of.name);
    }
}

#[test]
fn a_group_mixes_presets_and_overrides() {
    let text = r#"
        [fabric]
        kind = "star"
        senders = 2
        rate = "1 Gbps"
        delay = "1 us"
        queue = { mark = { kind = "step", k = 10 } }
        [transport]
        preset = "amp-2019"
        initial_window = 3
        ack_every = 4
        slow_start_limit = 3
        [[traffic]]
        name = "a"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 1
        count = 1
        size = "1 MB"
        controller = "dctcp"
        transport = { ack_every = 5, ecn = "off", slow_start_limit = "none" }
        [[traffic]]
        name = "b"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 1
        count = 1
        size = "1 MB"
        controller = "reno"
        transport = { preset = "linux", receive_window = "65535 B per subflow" }
        [[traffic]]
        name = "c"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 1
        count = 1
        size = "1 MB"
        controller = "reno"
    "#;
    let scenario = pathweave_scenario::check(text).unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.variants()[0].plan(1);
    assert!(
        plan.queues[0].drop_ecn_blind,
        "the preset of [transport] says so"
    );
    let (a, b) = (&plan.groups[0].transport, &plan.groups[1].transport);
    assert_eq!(
        (a.initial_window, a.ack_every, a.ecn),
        (3.0, 5, EcnUse::Off)
    );
    assert_eq!(a.maximum_segment, 1400);
    assert_eq!(a.slow_start_limit, None);
    assert_eq!(
        (b.initial_window, b.ack_every),
        (10.0, 2),
        "its preset replaces [transport]"
    );
    assert_eq!(b.receive_window, ReceiveWindow::Subflow(Bytes::new(65_535)));
    assert_eq!(plan.groups[2].transport.slow_start_limit, Some(3));
}

/// What the comparisons with these simulators ran with before they had presets.
#[test]
fn peers() {
    let ns3 = preset("ns3-3.37", "dctcp", GIGABIT);
    assert_eq!(sizes(&ns3), (1460, 1502, 42));
    assert_eq!(
        cuts(&ns3),
        (Reduction::Proportional, false, SsthreshFrom::Window)
    );
    assert!(!ns3.ack_at_mark_change);
    let htsim = preset("htsim", "uncoupled", GIGABIT);
    assert_eq!(sizes(&htsim), (1500, 1500, 40));
    assert_eq!(htsim.recovery, Recovery::NewReno);
    assert_eq!(rto(&htsim), (Time::from_millis(250), Time::from_secs(3)));
}
