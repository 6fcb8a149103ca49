//! Hosts against those of Linux 6.18, as measured with 250 ticks a second and without segmentation offload: the cases of
//! `validation/hosts/`.

mod relay;

use pathweave_transport::{Config, LossDetection, Reduction, RtoFloor};
use pathweave_units::{Rate, Time};
use relay::{Outcome, Relay, Rule};

const MS: Time = Time::from_millis(1);
const TICK: Time = Time::from_millis(4);
/// Flows of a case, which begin at times that are spread evenly over a tick.
const STARTS: u64 = 12;

/// A host of Linux 6.18, with the frames of an Ethernet around its packets.
fn linux() -> Config {
    Config {
        loss_detection: LossDetection::Rack,
        tail_loss_probe: true,
        frto: true,
        undo: true,
        rto_floor: RtoFloor::Variance,
        syn_linear_timeouts: 4,
        tick: TICK,
        ack_last: false,
        ack_at_first_again: true,
        hystart: true,
        // A host gives a subflow up after a quarter of an hour.
        failed_after: 15,
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        data_packet: 1514,
        ack_packet: 66,
        ..Config::textbook()
    }
}

/// Full segments of a case.
const SEGMENTS_70: u64 = 101_360;

fn relay(rules: &[Rule]) -> Relay {
    Relay {
        rate: Rate::from_mbps(100),
        limit: 1000,
        delay: Time::from_micros(500),
        rules: rules.to_vec(),
    }
}

/// The flows of a case.
fn flows(config: &Config, controller: &str, size: u64, rules: &[Rule]) -> Vec<Outcome> {
    let relay = relay(rules);
    let phases = (0..STARTS).map(|start| TICK * start / STARTS);
    phases
        .map(|phase| relay::carry(&relay, controller, config, size, phase))
        .collect()
}

/// A case of `validation/hosts/`, and what the kernel did.
struct Case {
    row: &'static str,
    config: Config,
    controller: &'static str,
    size: u64,
    rules: Vec<Rule>,
    /// Median of the completion times in milliseconds, and how far ours may be from it.
    median: (f64, f64),
    /// Of twelve flows: timeouts, probes, retransmissions.
    counts: [u64; 3],
}

/// What programs and relay add to each flow of the measurement, in milliseconds: where nothing is lost or late, 1 MB takes
/// 86.0 ms, of which handshake, packets and delays are 85.65.
const OVERHEAD: f64 = 0.35;

fn cases() -> Vec<Case> {
    let drops = |numbers: std::ops::Range<u32>, times| -> Vec<Rule> {
        numbers.map(|number| Rule::Drop(number, times)).collect()
    };
    let case = |row, size, rules, median, counts| Case {
        row,
        config: linux(),
        controller: "cubic",
        size,
        rules,
        median,
        counts,
    };
    let without_probe = Config {
        tail_loss_probe: false,
        ..linux()
    };
    vec![
        case("1", SEGMENTS_70, vec![], (10.9, 0.3), [0, 0, 0]),
        case("1, 100 KB", 100_000, vec![], (10.7, 0.3), [0, 0, 0]),
        // The probe waits for two RTTs. Those of the kernel's flows were shorter by six packets, because HyStart ended slow
        // start at 19 packets and here does at 25: 1.5 ms. Under Reno both have the same queue.
        case(
            "2",
            SEGMENTS_70,
            drops(69..70, 1),
            (21.4, 4.0 + 1.5),
            [0, 12, 12],
        ),
        Case {
            controller: "reno",
            ..case(
                "2, Reno",
                SEGMENTS_70,
                drops(69..70, 1),
                (25.4, 4.0),
                [0, 12, 12],
            )
        },
        case("3", SEGMENTS_70, drops(62..70, 1), (25.4, 4.0), [0, 12, 96]),
        Case {
            config: without_probe,
            ..case(
                "3, no probe",
                SEGMENTS_70,
                drops(62..70, 1),
                (221.0, 8.0),
                [12, 0, 96],
            )
        },
        case(
            "5, last",
            14_480,
            drops(9..10, 1),
            (213.0, 8.0),
            [0, 12, 12],
        ),
        case(
            "5, last two",
            14_480,
            drops(8..10, 1),
            (14.2, 4.0),
            [0, 12, 24],
        ),
        case(
            "5, all ten",
            14_480,
            vec![Rule::DropFrom(0, 10)],
            (17.8, 4.0),
            [0, 12, 120],
        ),
        case(
            "5, only one",
            1000,
            drops(0..1, 1),
            (209.0, 8.0),
            [0, 12, 12],
        ),
        case("6, seventh", 14_480, drops(6..7, 1), (4.5, 0.3), [0, 0, 12]),
        case("6, eighth", 14_480, drops(7..8, 1), (9.5, 4.0), [0, 0, 12]),
        case(
            "7, once",
            100_000,
            drops(20..21, 1),
            (10.7, 0.5),
            [0, 0, 12],
        ),
        case(
            "7, twice",
            100_000,
            drops(20..21, 2),
            (10.8, 0.5),
            [0, 0, 24],
        ),
        case(
            "7, thrice",
            100_000,
            drops(20..21, 3),
            (11.6, 0.5),
            [0, 0, 36],
        ),
        case("8", 100_000, drops(60..61, 2), (221.0, 8.0), [12, 0, 24]),
        case(
            "8, three",
            SEGMENTS_70,
            drops(67..70, 2),
            (653.0, 16.0),
            [24, 12, 72],
        ),
        case(
            "9, SYN",
            SEGMENTS_70,
            vec![Rule::DropSyns(1)],
            (1035.0, 8.0),
            [12, 0, 0],
        ),
        case(
            "9, SYN-ACK",
            SEGMENTS_70,
            vec![Rule::DropSynAcks(1)],
            (1035.0, 8.0),
            [12, 0, 0],
        ),
        case("10, in time", 1_000_000, vec![], (86.0, 4.3), [0, 0, 0]),
        case(
            "10, 0.3 ms",
            1_000_000,
            vec![Rule::Late(10, MS * 3 / 10)],
            (86.8, 4.3),
            [0, 0, 47],
        ),
        case(
            "10, 1 ms",
            1_000_000,
            vec![Rule::Late(10, MS)],
            (86.9, 4.3),
            [0, 0, 69],
        ),
        case(
            "10, 3 ms",
            1_000_000,
            vec![Rule::Late(10, MS * 3)],
            (242.0, 48.0),
            [0, 0, 912],
        ),
    ]
}

/// How the kernel repairs what is lost decides the counts, which are as many as there; how often packets that are late are
/// taken for lost depends on when acknowledgements come.
#[test]
fn losses_are_repaired_as_the_kernel_repairs_them() {
    let mut outside = Vec::new();
    for Case {
        row,
        config,
        controller,
        size,
        rules,
        median,
        counts,
    } in cases()
    {
        let mut all = flows(&config, controller, size, &rules);
        all.sort_by_key(|outcome| outcome.fct);
        let ms = |outcome: &Outcome| outcome.fct.as_secs_f64() * 1e3;
        let [first, middle, last] = [0, all.len() / 2, all.len() - 1].map(|place| ms(&all[place]));
        let sum = |of: fn(&Outcome) -> u64| all.iter().map(of).sum::<u64>();
        let ours = [
            sum(|outcome| outcome.timeouts),
            sum(|outcome| outcome.probes),
            sum(|outcome| outcome.retransmits),
        ];
        println!(
            "{row:12} {first:8.2} {middle:8.2} {last:8.2} ms, kernel {:7.1}; timeouts, probes, retransmissions {ours:?}, kernel {counts:?}",
            median.0
        );
        let may_differ = row.starts_with("10") && counts[2] > 0;
        let counts_fit = if may_differ {
            ours[..2] == counts[..2] && ours[2] <= 2 * counts[2]
        } else {
            ours == counts
        };
        if (middle + OVERHEAD - median.0).abs() > median.1 || !counts_fit {
            outside.push(row);
        }
    }
    assert!(outside.is_empty(), "{outside:?}");
}
