//! Everything arrives, whatever happens.

use crate::plans::{self, counted, fixed, flags};
use pathweave_fabric::routing::RoutingKind;
use pathweave_scenario::Plan;
use pathweave_traffic::Pattern;
use pathweave_transport::{
    BackoffUntil, Handshake, HostPort, Joins, LossDetection, PacketMix, ReceiveWindow, Recovery,
    Reinject, SegmentScheduler, SendBundle,
};
use pathweave_units::{Bytes, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
struct Hardship {
    seed: u64,
    controller: &'static str,
    recovery: Recovery,
    scheduler: SegmentScheduler,
    receive_window: ReceiveWindow,
    handshake: Handshake,
    join_spread: Time,
    ack_every: u32,
    ack_timeout: Time,
    limited_transmit: bool,
    initial_window: u32,
    reinject_after: Option<u32>,
    joins: Joins,
    reinjection: Reinject,
    /// Whether packets differ in size.
    mixed: bool,
    rtt_from_handshake: bool,
    /// [`pathweave_transport::Config::recover_after_timeout`] and `backoff_until` as in the RFCs; otherwise as in ns-3.19.
    recovers_as_rfc: bool,
    /// RACK with all that belongs to it, where `recovery` allows it.
    by_time: bool,
    host_port: HostPort,
    send_bundle: u32,
    ack_gather: Time,
    limit: u32,
    /// Subflows and size of each flow.
    flows: Vec<(u32, u64)>,
    /// Path, start in microseconds and length of outages.
    outages: Vec<(usize, u64, u64)>,
}

fn hardship() -> impl Strategy<Value = Hardship> {
    let receive_window = prop_oneof![
        Just(ReceiveWindow::Unlimited),
        Just(ReceiveWindow::Auto),
        (1u64..100_000).prop_map(|bytes| ReceiveWindow::Connection(Bytes::new(bytes))),
        (1u64..50_000).prop_map(|bytes| ReceiveWindow::Subflow(Bytes::new(bytes))),
    ];
    let recovery = prop::sample::select(vec![Recovery::Sack, Recovery::NewReno, Recovery::Reno]);
    let scheduler = prop::sample::select(vec![
        SegmentScheduler::RoundRobin,
        SegmentScheduler::LowestRtt,
        SegmentScheduler::QueuedBytes,
    ]);
    let handshake = prop::sample::select(vec![
        Handshake::Syn,
        Handshake::SynNeverLost,
        Handshake::None,
    ]);
    let join_spread = prop_oneof![Just(Time::ZERO), (1u64..2000).prop_map(Time::from_micros),];
    let ack = (1u32..5, (1u64..5000).prop_map(Time::from_micros));
    let controller = prop::sample::select(vec![
        "reno",
        "cubic",
        "dctcp",
        "bos",
        "xmp",
        "lia",
        "uncoupled",
        "ewtcp",
        "semicoupled",
        "eutcp",
        "wutcp",
        "dcm",
        "amp",
        "fcc",
    ]);
    let reinject_after = prop_oneof![Just(None), (1u32..4).prop_map(Some)];
    let joins = prop::sample::select(vec![Joins::AfterHandshake, Joins::DataAcknowledged]);
    let reinjection = prop::sample::select(vec![Reinject::Timeouts, Reinject::Timer]);
    let host_port = prop::sample::select(vec![HostPort::Drops, HostPort::HoldsBack]);
    let ack_gather = prop_oneof![Just(Time::ZERO), (1u64..200).prop_map(Time::from_micros)];
    let offload = (prop_oneof![Just(1), 2u32..12], ack_gather);
    (
        (
            any::<u64>(),
            controller,
            recovery,
            scheduler,
            receive_window,
        ),
        (
            handshake,
            join_spread,
            ack,
            any::<bool>(),
            1u32..40,
            reinject_after,
            any::<bool>(),
            joins,
            reinjection,
        ),
        (
            1u32..40,
            any::<bool>(),
            host_port,
            offload,
            any::<(bool, bool)>(),
        ),
        prop::collection::vec((1u32..=4, 1u64..400_000), 1..5),
        prop::collection::vec((0usize..3, 0u64..20_000, 1u64..20_000), 0..8),
    )
        .prop_map(|(first, second, third, flows, outages)| Hardship {
            seed: first.0,
            controller: first.1,
            recovery: first.2,
            scheduler: first.3,
            receive_window: first.4,
            handshake: second.0,
            join_spread: second.1,
            ack_every: second.2.0,
            ack_timeout: second.2.1,
            limited_transmit: second.3,
            initial_window: second.4,
            reinject_after: second.5,
            mixed: second.6,
            joins: second.7,
            reinjection: second.8,
            limit: third.0,
            by_time: third.1,
            host_port: third.2,
            send_bundle: third.3.0,
            ack_gather: third.3.1,
            rtt_from_handshake: third.4.0,
            recovers_as_rfc: third.4.1,
            flows,
            outages,
        })
}

fn plan_of(hardship: &Hardship) -> Plan {
    let count = hardship.flows.len();
    let mut group = plans::group(
        hardship.controller,
        &[],
        plans::flows(&vec![(0, 1, Time::ZERO); count]),
        fixed(1),
    );
    if let Pattern::Listed(list) = &mut group.pattern {
        for (flow, (_, size)) in list.flows.iter_mut().zip(&hardship.flows) {
            flow.size = Some(fixed(*size));
        }
    }
    for (listed, (subflows, _)) in group.listed.iter_mut().zip(&hardship.flows) {
        listed.subflows = Some(*subflows);
    }
    let transport = &mut group.transport;
    transport.recovery = hardship.recovery;
    transport.scheduler = hardship.scheduler;
    transport.receive_window = hardship.receive_window;
    transport.handshake = hardship.handshake;
    transport.join_spread = hardship.join_spread;
    transport.ack_every = hardship.ack_every;
    transport.ack_timeout = hardship.ack_timeout;
    transport.ack_at_first = 0;
    transport.ack_at_mark_change = hardship.ack_every != 3;
    transport.limited_transmit = hardship.limited_transmit;
    transport.initial_window = f64::from(hardship.initial_window);
    transport.reinject_after = hardship.reinject_after;
    transport.joins = hardship.joins;
    transport.reinjection = hardship.reinjection;
    transport.host_port = hardship.host_port;
    transport.send_bundle = SendBundle::Packets(hardship.send_bundle);
    transport.ack_gather = hardship.ack_gather;
    transport.rtt_from_handshake = hardship.rtt_from_handshake;
    if !hardship.recovers_as_rfc {
        transport.recover_after_timeout = false;
        transport.backoff_until = BackoffUntil::NewData;
    }
    if hardship.by_time && hardship.recovery == Recovery::Sack {
        transport.loss_detection = LossDetection::Rack;
        transport.tail_loss_probe = true;
        transport.frto = true;
        transport.undo = true;
    }
    if hardship.mixed {
        transport.packets = Some(PacketMix::new(|probability| 60.0 + 1440.0 * probability));
    }
    transport.minimum_rto = Time::from_millis(2);
    transport.initial_rto = Time::from_millis(3);
    // Nothing is worse than a flow that waits for long backoffs; the end must come in the test.
    transport.maximum_rto = Time::from_millis(50);
    let delays = [10, 30, 90].map(Time::from_micros);
    let fabric = plans::parallel_paths(&delays);
    let queue = plans::queue(hardship.limit, Some(5));
    let mut plan = plans::plan(fabric, queue, vec![group], None);
    plan.seed = hardship.seed;
    plan.routing = RoutingKind::ecmp(true);
    let names = [["A1", "B1"], ["A2", "B2"], ["A3", "B3"]];
    for &(path, start, length) in &hardship.outages {
        let from = Time::from_micros(start);
        plans::down_between(
            &mut plan,
            names[path],
            from,
            Some(from + Time::from_micros(length)),
        );
    }
    plan
}

/// What the cases below have in common.
fn of_linux() -> Hardship {
    Hardship {
        seed: 1,
        controller: "reno",
        recovery: Recovery::Sack,
        scheduler: SegmentScheduler::RoundRobin,
        receive_window: ReceiveWindow::Unlimited,
        handshake: Handshake::Syn,
        join_spread: Time::ZERO,
        ack_every: 2,
        ack_timeout: Time::from_millis(1),
        limited_transmit: false,
        initial_window: 10,
        reinject_after: None,
        joins: Joins::DataAcknowledged,
        reinjection: Reinject::Timeouts,
        mixed: false,
        by_time: true,
        host_port: HostPort::HoldsBack,
        send_bundle: 1,
        ack_gather: Time::ZERO,
        rtt_from_handshake: true,
        recovers_as_rfc: true,
        limit: 20,
        flows: Vec::new(),
        outages: Vec::new(),
    }
}

fn completes(hardship: &Hardship) {
    let mut plan = plan_of(hardship);
    plan.stop.at = Some(Time::from_secs(60));
    let output = plans::run(&plan);
    assert!(plans::finished(&output).iter().all(|finished| *finished));
}

/// F-RTO once sent new data beyond the receive window here.
#[test]
fn new_data_after_a_timeout_keeps_to_the_receive_window() {
    completes(&Hardship {
        seed: 18_094_237_699_324_847_758,
        controller: "wutcp",
        receive_window: ReceiveWindow::Auto,
        join_spread: Time::from_micros(349),
        ack_every: 4,
        ack_timeout: Time::from_micros(747),
        initial_window: 37,
        mixed: true,
        send_bundle: 3,
        flows: vec![(2, 53_923), (1, 15_007), (2, 159_125)],
        ..of_linux()
    });
}

/// A probe once left a subflow with room that nothing looked at, because the host's port had refused its last packet.
#[test]
fn what_a_full_port_has_refused_is_tried_again_with_the_next_timer() {
    completes(&Hardship {
        seed: 75_408_785_243,
        receive_window: ReceiveWindow::Connection(Bytes::new(7240)),
        ack_every: 3,
        ack_timeout: Time::from_micros(2296),
        initial_window: 8,
        limit: 1,
        flows: vec![(1, 1), (2, 18_825)],
        ..of_linux()
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(6675),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn flows_complete_with_exactly_their_bytes(hardship in hardship()) {
        let mut plan = plan_of(&hardship);
        // Far more than any of them needs: a flow that hangs is told from one that is slow.
        plan.stop.at = Some(Time::from_secs(60));
        let output = plans::run(&plan);
        let sizes: Vec<u64> = hardship.flows.iter().map(|(_, size)| *size).collect();
        prop_assert_eq!(counted(&output, "delivered_bytes"), &sizes[..]);
        prop_assert!(plans::finished(&output).iter().all(|finished| *finished));
        prop_assert!(flags(&output, "stalled").iter().all(|stalled| !*stalled));
        // What arrived on subflows covers the flow; more only if data was sent on two of them.
        let subflows = plans::table(&output, "subflows");
        for (number, size) in sizes.iter().enumerate() {
            let of_flow = |column: &str| -> u64 {
                let flow = subflows.integers("flow");
                let values = subflows.integers(column).iter().zip(flow);
                values.filter(|(_, flow)| **flow == number as u64).map(|(value, _)| value).sum()
            };
            let received = of_flow("received_bytes");
            prop_assert!(received >= *size);
            if of_flow("reinjected") == 0 {
                prop_assert_eq!(received, *size);
            }
        }
    }
}
