//! What sound scenarios load as: variants, sizes, overrides, seeds, resolved scenarios, hashes.

use crate::files::scenarios;
use pathweave_network::Limit;
use pathweave_scenario::{
    Amount, Change, Diagnostics, Plan, Sampling, Scenario, Selection, Variant, check,
};
use pathweave_traffic::{Hosts, Pattern, Size};
use pathweave_transport::{Config, Reduction};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn load(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/valid")
        .join(name);
    Scenario::load(&path, None, &[], &[], None).unwrap_or_else(|error| panic!("{error}"))
}

fn load_with(name: &str, selection: &Selection) -> Result<Scenario, Diagnostics> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/valid")
        .join(name);
    let text = std::fs::read_to_string(&path).expect("readable");
    Scenario::from_text(name, &text, path.parent(), selection)
}

/// What two plans are compared by.
fn describe(plan: &Plan) -> String {
    let groups: Vec<String> = plan
        .groups
        .iter()
        .map(|group| {
            format!(
                "{} {:?} {:?} {} {:?} {:?} {:?} {} {:?}",
                group.name,
                group.pattern,
                group.size,
                group.subflows,
                group.start,
                group.stop,
                group.transport,
                group.controller.name(),
                group.parameters,
            )
        })
        .collect();
    let listed: Vec<String> = plan
        .groups
        .iter()
        .flat_map(|group| &group.listed)
        .map(|flow| {
            let controller = flow
                .controller
                .as_ref()
                .map(|(entry, given)| (entry.name(), given));
            format!(
                "{} {:?} {:?} {controller:?}",
                flow.name, flow.subflow_starts, flow.paths
            )
        })
        .collect();
    format!(
        "{} {:?} {:?} {:?} {groups:?} {listed:?} {:?} {:?} {:?} {:?} {}",
        plan.title,
        plan.fabric,
        plan.queues,
        plan.routing,
        plan.events,
        plan.stop,
        plan.measure,
        plan.record,
        plan.jitter,
    )
}

#[test]
fn resolved_scenarios_read_back_give_the_same_plans_and_hashes() {
    for file in scenarios("valid") {
        let scenario = Scenario::load(&file, None, &[], &[], None)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for variant in scenario.variants() {
            let again = Scenario::from_resolved(&variant.resolved)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let [read] = again.variants() else {
                panic!("a resolved scenario is one variant");
            };
            assert_eq!(read.resolved, variant.resolved, "{}", file.display());
            for seed in [1, 99] {
                assert_eq!(read.hash(seed), variant.hash(seed));
                assert_eq!(describe(&read.plan(seed)), describe(&variant.plan(seed)));
            }
        }
    }
}

#[test]
fn the_published_scenarios_load_at_every_size() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = |folder: PathBuf| {
        let files = std::fs::read_dir(folder).into_iter().flatten(); // not in a package of this crate alone
        files.map(|file| file.expect("readable").path())
    };
    for folder in entries(root.join("papers")).chain([root.join("benches")]) {
        for file in entries(folder) {
            if file.extension().is_none_or(|extension| extension != "toml")
                || file.ends_with("expected.toml")
                || file.ends_with("ledger.toml")
            {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("readable");
            for size in ["quick", "paper"] {
                if size == "paper" && !text.contains("[sizes.paper]") {
                    continue;
                }
                if let Err(error) = Scenario::load(&file, Some(size), &[], &[], None) {
                    panic!("{error}");
                }
            }
        }
    }
}

#[test]
fn variants_multiply_and_keep_the_order_of_the_file() {
    let scenario = load("xmp-tab1.toml");
    let labels: Vec<&str> = scenario
        .variants()
        .iter()
        .map(|v| v.label.as_str())
        .collect();
    assert_eq!(labels.len(), 15);
    assert_eq!(labels[0], "Permutation, DCTCP");
    assert_eq!(labels[4], "Permutation, XMP-4");
    assert_eq!(labels[5], "Random, DCTCP");
    assert_eq!(labels[14], "Incast, XMP-4");
    let last = &scenario.variants()[14];
    assert_eq!(last.slug, "incast_xmp-4");
    let names = [("pattern", "Incast"), ("scheme", "XMP-4")];
    assert!(
        last.axes
            .iter()
            .map(|(a, n)| (a.as_str(), n.as_str()))
            .eq(names)
    );
    let plan = last.plan(1);
    assert_eq!(plan.groups.len(), 2);
    assert_eq!(
        (plan.groups[0].controller.name(), plan.groups[0].subflows),
        ("xmp", 4)
    );
    assert!(matches!(plan.groups[0].pattern, Pattern::Random(_)));
    assert_eq!(
        (
            plan.groups[1].name.as_str(),
            plan.groups[1].controller.name()
        ),
        ("small", "reno")
    );
}

#[test]
fn a_scenario_without_variants_is_one() {
    let scenario = load("xmp-fig4.toml");
    let [only] = scenario.variants() else {
        panic!("one variant");
    };
    assert!(only.axes.is_empty());
    assert_eq!(
        (only.label.as_str(), only.slug.as_str()),
        ("Traffic shifting", "base")
    );
}

#[test]
fn the_command_line_chooses_variants() {
    let labels = |only: &[&str]| {
        let only = only.iter().map(|text| (*text).to_owned()).collect();
        let selection = Selection {
            only,
            ..Selection::default()
        };
        let scenario = load_with("xmp-tab1.toml", &selection).expect("sound");
        scenario
            .variants()
            .iter()
            .map(|v| v.label.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(&["pattern=Random"]).len(), 5);
    assert_eq!(
        labels(&["scheme=XMP-4", "pattern=Random", "scheme=DCTCP"]),
        ["Random, DCTCP", "Random, XMP-4"]
    );
    assert_eq!(
        labels(&["scheme=xmp-4"]).len(),
        3,
        "folder names do as well"
    );
}

#[test]
fn sizes_override_the_file() {
    let size = |size: &str| Selection {
        size: Some(size.to_owned()),
        ..Selection::default()
    };
    let quick = load_with("dumbbell.toml", &size("quick")).expect("sound");
    assert_eq!(
        quick.variants()[0].plan(1).stop.at,
        Some(Time::from_millis(100))
    );
    let paper = load_with("dumbbell.toml", &size("paper")).expect("sound");
    assert_eq!(
        paper.variants()[0].plan(1).stop.at,
        Some(Time::from_secs(1))
    );
    let paper = load_with("xmp-tab1.toml", &size("paper")).expect("sound");
    let stop = paper.variants()[0].plan(1).stop;
    assert_eq!(
        stop.at, None,
        "a table that is written out replaces the whole"
    );
    assert_eq!(
        stop.traffic.map(|stop| stop.amount),
        Some(Amount::Bytes(Bytes::new(600_000_000_000)))
    );
}

#[test]
fn a_size_reaches_into_variants() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid/dumbbell.toml"),
    )
    .expect("readable");
    let text = format!(
        "{text}\"variants.controller.DCTCP.traffic.flows.controller.g\" = 0.5\n\
         variants.controller.DCTCP.traffic.flows.subflows = 2\n"
    );
    let selection = Selection {
        size: Some("paper".to_owned()),
        ..Selection::default()
    };
    let scenario = Scenario::from_text("x", &text, None, &selection).expect("sound");
    let [reno, dctcp] = scenario.variants() else {
        panic!("two variants");
    };
    assert_eq!(reno.plan(1).groups[0].subflows, 1);
    assert_eq!(dctcp.plan(1).groups[0].subflows, 2);
    assert_eq!(dctcp.plan(1).groups[0].parameters.number("g"), 0.5);
}

#[test]
fn the_command_line_overrides_variants() {
    let sets = [
        "traffic.flows.controller.g=0.25",
        "traffic.flows.flows.2.start = 30 ms",
        "fabric.queue={ limit = \"64 KB\" }",
        "title=Another",
        "seed=4",
    ];
    let selection = Selection {
        sets: sets.map(str::to_owned).to_vec(),
        only: vec!["controller=DCTCP".to_owned()],
        ..Selection::default()
    };
    // The second flow has no name of its own, and its index is 1.
    let error = load_with("dumbbell.toml", &selection).unwrap_err();
    assert_eq!(error.len(), 1, "{error}");
    let sets = selection
        .sets
        .iter()
        .map(|set| set.replace("flows.2", "flows.1"))
        .collect();
    let scenario = load_with("dumbbell.toml", &Selection { sets, ..selection }).expect("sound");
    assert_eq!(scenario.seeds(), [4, 5, 6]);
    assert_eq!(scenario.title(), "Another");
    let [variant] = scenario.variants() else {
        panic!("one variant");
    };
    let plan = variant.plan(4);
    assert_eq!(plan.title, "Another");
    assert_eq!(plan.groups[0].parameters.number("g"), 0.25);
    let Pattern::Listed(listed) = &plan.groups[0].pattern else {
        panic!("listed flows");
    };
    assert_eq!(listed.flows[1].start, Time::from_millis(30));
    assert_eq!(plan.queues[0].marking, pathweave_network::Marking::None);
}

#[test]
fn seeds_count_up() {
    let seeds = |seeds| {
        let selection = Selection {
            seeds,
            ..Selection::default()
        };
        load_with("dumbbell.toml", &selection)
            .expect("sound")
            .seeds()
            .to_vec()
    };
    assert_eq!(seeds(None), [7, 8, 9]);
    assert_eq!(seeds(Some(2)), [7, 8]);
    assert_eq!(seeds(Some(5)), [7, 8, 9, 10, 11]);
    let list = Selection {
        seeds: Some(4),
        ..Selection::default()
    };
    assert_eq!(
        load_with("decn-fig10.toml", &list).expect("sound").seeds(),
        [3, 5, 6, 7]
    );
    assert_eq!(load("xmp-fig4.toml").seeds(), [1]);
}

#[test]
fn hashes_tell_results_apart_and_stay() {
    let scenario = load("dumbbell.toml");
    let [reno, dctcp] = scenario.variants() else {
        panic!("two variants");
    };
    assert_ne!(reno.hash(1), dctcp.hash(1));
    assert_ne!(reno.hash(1), reno.hash(2));
    let titled = |title: &str| {
        let sets = vec![format!("title={title}")];
        let selection = Selection {
            sets,
            ..Selection::default()
        };
        load_with("dumbbell.toml", &selection)
            .expect("sound")
            .variants()[0]
            .hash(1)
    };
    assert_eq!(
        titled("A"),
        titled("B"),
        "what a report is called changes no result"
    );
    // A scenario that says the defaults has the results of one that does not.
    let sets = vec![
        "fabric.host_rate=1 Gbps".to_owned(),
        "transport.preset=linux".to_owned(),
    ];
    let spelt_out = load_with(
        "dumbbell.toml",
        &Selection {
            sets,
            ..Selection::default()
        },
    );
    assert_eq!(
        spelt_out.expect("sound").variants()[0].hash(1),
        reno.hash(1)
    );
    // A change here makes all results out of date: say so in the change log.
    insta::assert_snapshot!(serde_json::to_string(&reno.resolved).expect("JSON"),);
}

/// A resolved scenario from before hosts had RACK, probes and ports that hold packets back: the default preset has them now,
/// and this scenario still does not.
#[test]
fn an_older_resolved_scenario_keeps_its_hosts() {
    let text = include_str!("resolved/before-rack.json");
    let resolved: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let scenario = Scenario::from_resolved(&resolved).expect("sound");
    let variant = &scenario.variants()[0];
    assert_eq!(variant.resolved, resolved);
    let plan = variant.plan(1);
    let transport = &plan.groups[0].transport;
    assert_eq!(
        *transport,
        Config {
            reduction: Reduction::Proportional,
            growth_in_cut_round: false,
            ..Config::textbook()
        }
    );
    assert!(
        plan.queues
            .iter()
            .all(|queue| queue.limit == Limit::Packets(100))
    );
}

/// Hosts' ports are those of the groups that take part.
#[test]
fn a_group_that_is_left_out_has_no_hosts() {
    let scenario = |enabled: bool| {
        let text = format!(
            r#"
            [fabric]
            kind = "dumbbell"
            left = 1
            bottleneck_rate = "1 Gbps"
            bottleneck_delay = "1 us"
            [transport]
            preset = "textbook"
            [[traffic]]
            name = "one"
            pattern = "flows"
            size = "1 KB"
            controller = "reno"
            flows = [{{ from = "S1", to = "D1" }}]
            [[traffic]]
            name = "other"
            enabled = {enabled}
            pattern = "flows"
            size = "1 KB"
            controller = "reno"
            transport = {{ preset = "linux" }}
            flows = [{{ from = "S1", to = "D1" }}]
            "#
        );
        check(&text).expect("sound").variants()[0].plan(1)
    };
    let has_limits = |plan: &Plan| plan.queues.iter().all(|queue| queue.limit != Limit::None);
    assert!(has_limits(&scenario(false)));
    assert!(!has_limits(&scenario(true)));
}

/// The settings that variants share, and the hash of each variant.
fn identities(text: &str, sets: &[&str]) -> (String, Vec<String>) {
    let selection = Selection {
        sets: sets.iter().map(|&set| set.to_owned()).collect(),
        ..Selection::default()
    };
    let scenario = Scenario::from_text("s.toml", text, None, &selection).expect("sound");
    let variants = scenario.variants().iter();
    (
        scenario.settings_hash(),
        variants.map(Variant::settings_hash).collect(),
    )
}

const TWO_VARIANTS: &str = r#"
    title = "Two"
    stop = { at = "10 ms" }
    measure = { phases = { early = ["0 ms", "5 ms"], late = ["5 ms", "10 ms"] } }
    [fabric]
    kind = "dumbbell"
    left = 1
    right = 1
    bottleneck_rate = "1 Gbps"
    bottleneck_delay = "25 us"
    host_delay = "25 us"
    [[traffic]]
    name = "all"
    pattern = "flows"
    size = "unlimited"
    flows = [{ from = "S1", to = "D1" }]
    [variants.scheme.Reno]
    "traffic.all.controller" = "reno"
    [variants.scheme.XMP]
    "traffic.all.controller" = { name = "xmp", beta = 4 }
"#;

#[test]
fn settings_are_what_the_variants_share() {
    let plain = identities(TWO_VARIANTS, &[]);
    // What no result depends on.
    for (from, to) in [
        ("\"Two\"", "\"Other\""),
        ("early", "first"),
        ("stop =", "report = { question = \"Which?\" }\n    stop ="),
        ("stop =", "seeds = 3\n    stop ="),
    ] {
        assert_eq!(
            identities(&TWO_VARIANTS.replace(from, to), &[]),
            plain,
            "{from}"
        );
    }
    // A variant's own settings.
    let (settings, variants) = identities(&TWO_VARIANTS.replace("beta = 4", "beta = 2"), &[]);
    assert_eq!((&settings, &variants[0]), (&plain.0, &plain.1[0]));
    assert_ne!(variants[1], plain.1[1]);
    // Another variant.
    let more =
        format!("{TWO_VARIANTS}\n[variants.scheme.BOS]\n\"traffic.all.controller\" = \"bos\"");
    assert_eq!(identities(&more, &[]).0, plain.0);
    // What they share, in the file or on the command line.
    let slow = identities(&TWO_VARIANTS.replace("1 Gbps", "100 Mbps"), &[]);
    let set = identities(TWO_VARIANTS, &["fabric.bottleneck_rate=100 Mbps"]);
    assert_eq!(slow, set);
    assert!(slow.0 != plain.0 && slow.1 != plain.1);
    let longer = identities(&TWO_VARIANTS.replace("5 ms", "6 ms"), &[]);
    assert_ne!(longer.0, plain.0, "the phases' times matter");
    // A value that a variant overrides is a setting all the same.
    let given = identities(TWO_VARIANTS, &["traffic.all.controller=dctcp"]);
    assert_ne!(given.0, plain.0);
}

#[test]
fn settings_that_are_a_scenario_have_every_default() {
    let scenario = load("dumbbell.toml");
    let settings = scenario.settings();
    assert_eq!(settings["fabric"]["bottleneck_rate"], "1 Gbps");
    assert!(settings.get("title").is_none());
}

#[test]
fn listed_flows_say_who_when_and_where() {
    let scenario = load("fmptcp-tab2.toml");
    let plan = scenario.variants()[0].plan(1);
    let link = |from: &str, to: &str| {
        let node = |name| plan.fabric.node_named(name).expect("a node");
        plan.fabric
            .link_between(node(from), node(to))
            .expect("a link")
    };
    let flow = &plan.groups[0].listed[1];
    assert_eq!(flow.name, "2");
    assert_eq!(flow.subflows, Some(2));
    assert_eq!(
        flow.paths[0],
        [
            link("S2", "B1"),
            link("B1", "A1"),
            link("A1", "B4"),
            link("B4", "D1")
        ]
    );
    assert_eq!(plan.groups[0].parameters.choice("of"), "dctcp");
    let noise = &plan.groups[1];
    assert_eq!(
        noise.listed[0].paths.len(),
        2,
        "one path serves all subflows"
    );
    assert_eq!(
        (
            noise.transport.initial_window,
            noise.transport.maximum_segment
        ),
        (4.0, 1448)
    );
    let Pattern::Listed(listed) = &noise.pattern else {
        panic!("listed flows");
    };
    let Some(Size::Empirical(cdf)) = &listed.flows[0].size else {
        panic!("a distribution from a file");
    };
    assert_eq!(cdf.points(), [(1000.0, 0.5), (2000.0, 1.0)]);
    // Events: one direction, then both directions of all cables of A2.
    assert_eq!(plan.events[0].link, link("A1", "B3"));
    assert_eq!(plan.events[0].change, Change::Rate(Rate::from_gbps(50)));
    assert_eq!(plan.events.len(), 1 + 8 + 8);
    let stop = plan.stop.traffic.expect("a stop by traffic");
    assert_eq!(
        (stop.group, stop.amount, stop.drain),
        (0, Amount::Flows(1), true)
    );
}

#[test]
fn subflows_follow_from_opening_times() {
    let plan = load("xmp-fig6.toml").variants()[0].plan(1);
    let counts: Vec<_> = plan.groups[0]
        .listed
        .iter()
        .map(|flow| flow.subflows)
        .collect();
    assert_eq!(counts, [Some(3), Some(2), Some(1), Some(1)]);
    assert_eq!(
        plan.groups[0].listed[0].subflow_starts[2],
        Time::from_secs(15)
    );
    let own = plan.groups[0].listed[2]
        .controller
        .as_ref()
        .map(|(entry, _)| entry.name());
    assert_eq!(own, Some("bos"));
}

/// A listed flow by its name, any other by its number in its group.
#[test]
fn sizes_of_packets_are_resolved() {
    let scenario = load("packets.toml");
    let plan = scenario.variants()[0].plan(1);
    let alike = &plan.groups[0].transport;
    assert_eq!((alike.maximum_segment, alike.data_packet), (48, 100));
    assert_eq!(alike.packets, None);
    let mixed = &plan.groups[1].transport;
    assert_eq!((mixed.maximum_segment, mixed.data_packet), (1448, 1500));
    assert!((mixed.mean_packet() - (0.75 * 100.0 + 0.25 * 1500.0)).abs() < 1e-9);
    let plan = scenario.variants()[1].plan(1);
    let other = &plan.groups[0].transport;
    assert_eq!(other.overhead(), 20);
    // A quarter has 21 B; the rest is spread evenly up to 1500 B.
    assert!((other.mean_packet() - (0.25 * 21.0 + 0.75 * 760.5)).abs() < 0.5);
}

#[test]
fn captured_flows_are_resolved() {
    let text = r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "25 us"

        [[traffic]]
        name = "back ground"
        pattern = "permutation"
        rounds = 1
        size = "1 MB"
        controller = "reno"

        [[traffic]]
        name = "listed"
        pattern = "flows"
        size = "1 MB"
        controller = "reno"
        flows = [{ from = "S1", to = "D1" }, { name = "late", from = "S2", to = "D2" }]

        [record]
        packets = ["late", "back ground/7", "listed/0"]
    "#;
    let scenario = check(text).unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.variants()[0].plan(1);
    let captured: Vec<(&str, usize, u64)> = plan
        .record
        .packets
        .iter()
        .map(|flow| (flow.name.as_str(), flow.group, flow.number))
        .collect();
    assert_eq!(
        captured,
        [("late", 1, 1), ("back ground-7", 0, 7), ("listed-0", 1, 0)]
    );
}

/// Groups share one permutation: the same in all variants of a seed, another for other seeds.
#[test]
fn shared_permutations_are_the_same_in_all_variants_of_a_seed() {
    let text = r#"
        [fabric]
        kind = "fat-tree"
        k = 4
        rate = "1 Gbps"
        delay = "20 us"

        [[traffic]]
        name = "long"
        pattern = "permutation"
        pairs = { permutation = "all", part = [0, 5] }
        size = "unlimited"
        controller = "reno"

        [[traffic]]
        name = "short"
        pattern = "poisson"
        pairs = { permutation = "all", part = [5, 16] }
        flows_per_second = 256
        size = "70 KB"
        controller = "reno"

        [variants.scheme.A]
        "traffic.short.controller" = "reno"
        [variants.scheme.B]
        "traffic.short.controller" = "lia"
        "traffic.short.subflows" = 8

        [stop]
        at = "1 s"
    "#;
    let scenario = check(text).unwrap_or_else(|error| panic!("{error}"));
    let drawn = |plan: &Plan| -> Vec<(u32, u32)> {
        let hosts = Hosts::in_one_rack(16);
        let parts = plan.groups.iter().map(|group| match &group.pattern {
            Pattern::Permutation(pattern) => pattern.pairs.clone().unwrap(),
            Pattern::Poisson(pattern) => pattern.pairs.clone().unwrap(),
            other => panic!("{}", other.name()),
        });
        parts
            .flat_map(|part| part.draw(&hosts, plan.seed).unwrap())
            .collect()
    };
    let all: Vec<_> = scenario
        .variants()
        .iter()
        .map(|variant| drawn(&variant.plan(1)))
        .collect();
    let senders: BTreeSet<u32> = all[0].iter().map(|pair| pair.0).collect();
    assert_eq!(senders.len(), 16);
    assert_eq!(all[0], all[1]);
    assert_ne!(all[0], drawn(&scenario.variants()[0].plan(2)));
}

#[test]
fn measurement_and_recording_are_resolved() {
    let scenario = load("xmp-fig7.toml");
    let plan = scenario.variants()[1].plan(1);
    let phases: Vec<&str> = plan
        .measure
        .phases
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(phases, ["alone", "L3 down"], "in the order of time");
    assert_eq!(plan.record.windows, Some(Sampling::OnChange));
    assert_eq!(plan.record.rates, Some(Time::from_millis(100)));
    assert_eq!(plan.record.queue_links.len(), 10 + 1);
    assert_eq!(plan.groups[0].parameters.number("beta"), 5.0);
    let host = plan.fabric.node_named("S1").expect("a host");
    for (link, queue) in plan.fabric.links.iter().zip(&plan.queues) {
        let limit = if plan.fabric.node(link.from).host_index().is_some() {
            1000
        } else {
            100
        };
        assert_eq!(
            queue.limit,
            pathweave_network::Limit::Packets(limit),
            "{host:?}"
        );
        assert_ne!(
            queue.marking,
            pathweave_network::Marking::None,
            "as in the queue of all"
        );
    }
}

#[test]
fn groups_can_be_left_out() {
    let text = r#"
        [fabric]
        kind = "star"
        senders = 4
        rate = "1 Gbps"
        delay = "1 us"
        [[traffic]]
        name = "jobs"
        pattern = "incast"
        servers = 2
        controller = "reno"
        enabled = false
        [[traffic]]
        name = "large"
        pattern = "random"
        size = "1 MB"
        controller = "dctcp"
        [variants.jobs.without]
        [variants.jobs.with]
        traffic.jobs.enabled = true
        [stop]
        traffic = "large"
        flows = 10
    "#;
    let scenario = check(text).unwrap_or_else(|error| panic!("{error}"));
    let names = |variant: &Variant| {
        let plan = variant.plan(1);
        let stop = plan.stop.traffic.expect("a stop by traffic");
        assert_eq!(plan.groups[stop.group].name, "large");
        plan.groups
            .iter()
            .map(|group| group.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&scenario.variants()[0]), ["large"]);
    assert_eq!(names(&scenario.variants()[1]), ["jobs", "large"]);
    // A group that is left out must be sound, too.
    assert!(check(&text.replace("servers = 2", "servers = 20")).is_err());
}

#[test]
fn delays_drawn_from_a_range_depend_on_the_seed_only() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid/fmptcp-tab2.toml"),
    )
    .expect("readable");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid");
    let load =
        || Scenario::from_text("x", &text, Some(&folder), &Selection::default()).expect("sound");
    let (first, second) = (load(), load());
    let delays = |scenario: &Scenario, seed| {
        let plan = scenario.variants()[0].plan(seed);
        plan.fabric
            .links
            .iter()
            .map(|link| link.delay)
            .collect::<Vec<_>>()
    };
    assert_eq!(delays(&first, 1), delays(&second, 1));
    assert_ne!(delays(&first, 1), delays(&first, 2));
}
