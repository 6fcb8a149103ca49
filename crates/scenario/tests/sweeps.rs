//! Sweeps: what a list or a range makes of a scenario, and that its values are those that a person would write.

use pathweave_scenario::{Numbers, Scenario, Selection, Sweep};
use pathweave_units::{Bytes, Time};
use proptest::prelude::*;
use std::path::Path;

const BASE: &str = r#"
[fabric]
kind = "dumbbell"
left = 2
bottleneck_rate = "1 Gbps"
bottleneck_delay = "50 us"
queue = { limit = 1_000_000_000, mark = { kind = "step", k = 20 } }

[[traffic]]
name = "flows"
pattern = "flows"
size = "1 MB"
controller = "dctcp"
flows = [{ name = "first", from = "S1", to = "D1" }, { name = "second", from = "S2", to = "D2" }]
"#;

fn load(more: &str, selection: &Selection) -> Scenario {
    Scenario::from_text("x.toml", &format!("{BASE}\n{more}"), None, selection)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn sweep(more: &str) -> Sweep {
    let scenario = load(&format!("[sweep]\n{more}"), &Selection::default());
    let [sweep] = scenario.sweeps() else {
        panic!("one sweep: {:?}", scenario.sweeps());
    };
    sweep.clone()
}

/// The names of a sweep over a key that takes any positive number.
fn names(values: &str) -> Vec<String> {
    sweep(&format!("\"fabric.queue.mark.k\" = {values}")).names
}

fn file(selection: &Selection) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid/sweep.toml");
    Scenario::load_selected(&path, selection).unwrap_or_else(|error| panic!("{error}"))
}

fn mistake(more: &str, selection: &Selection) -> String {
    let text = format!("{BASE}\n{more}");
    let error = Scenario::from_text("x.toml", &text, None, selection).expect_err("refused");
    let mistake = error.iter().next().expect("one mistake");
    mistake.message.to_owned()
}

#[test]
fn axes_of_a_sweep_come_after_those_of_variants() {
    let scenario = file(&Selection::default());
    let axes: Vec<&str> = scenario.variants()[0]
        .axes
        .iter()
        .map(|(axis, _)| axis.as_str())
        .collect();
    assert_eq!(axes, ["scheme", "subflows", "bottleneck_delay", "buffer"]);
    assert_eq!(scenario.variants().len(), 2 * 2 * 3 * 2);
    let last = scenario.variants().last().expect("some");
    assert_eq!(
        last.label,
        "XMP, subflows = 2, bottleneck_delay = 200 us, buffer = 20"
    );
    assert_eq!(
        last.slug,
        "xmp_subflows-2_bottleneck-delay-200-us_buffer-20"
    );
    let plan = last.plan(3);
    assert_eq!(plan.groups[0].subflows, 2);
    let queue = format!("{:?}", plan.queues[0]);
    assert!(queue.contains("300000") && queue.contains("20"), "{queue}");
    let delay = Time::from_micros(200);
    assert!(plan.fabric.links.iter().any(|link| link.delay == delay));
}

#[test]
fn a_swept_variant_is_the_same_as_a_named_one() {
    let swept = load(
        "[sweep]\n\"fabric.queue.mark.k\" = [10, 40]\n\"traffic.flows.size\" = [\"64 KB\"]",
        &Selection::default(),
    );
    let named = load(
        "[variants.k.\"few\"]\nfabric.queue.mark.k = 10\ntraffic.flows.size = \"64 KB\"\n\
         [variants.k.\"many\"]\nfabric.queue.mark.k = 40.0\ntraffic.flows.size = \"64000 B\"",
        &Selection::default(),
    );
    for (swept, named) in swept.variants().iter().zip(named.variants()) {
        assert_eq!(swept.resolved, named.resolved);
        assert_eq!(swept.hash(7), named.hash(7));
    }
    let plain = load("", &Selection::default());
    assert_eq!(swept.settings_hash(), plain.settings_hash());
    assert!(plain.sweeps().is_empty());
}

#[test]
fn keys_are_the_same_however_they_are_written() {
    let forms = [
        "[sweep]\n\"fabric.queue.mark.k\" = [10, 40]",
        "[sweep]\nfabric.queue.mark.k = [10, 40]",
        "sweep.\"fabric.queue\".\"mark.k\" = [10, 40]",
        "[sweep.fabric.queue.mark]\nk = [10, 40]",
        "[sweep]\nfabric = { queue = { \"mark.k\" = [10, 40] } }",
    ];
    for form in forms {
        // A key at the top of the file stands before its tables.
        let text = if form.starts_with('[') {
            format!("{BASE}\n{form}")
        } else {
            format!("{form}\n{BASE}")
        };
        let scenario = pathweave_scenario::check(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.sweeps()[0].keys, ["fabric.queue.mark.k"], "{form}");
        assert_eq!(scenario.variants().len(), 2, "{form}");
    }
    // The queue's linear marking has keys that are called as those of a range are.
    let text = "fabric.queue.mark = { kind = \"linear\", from = 10, to = 50, probability = 0.1 }";
    let scenario = load(
        &format!(
            "[variants.mark.\"linear\"]\n{text}\n[sweep.fabric.queue.mark]\nfrom = [5, 10]\nto = [50]"
        ),
        &Selection::default(),
    );
    let keys: Vec<&str> = scenario
        .sweeps()
        .iter()
        .map(|s| s.keys[0].as_str())
        .collect();
    assert_eq!(keys, ["fabric.queue.mark.from", "fabric.queue.mark.to"]);
}

#[test]
fn an_axis_has_the_whole_key_where_its_end_is_not_enough() {
    let scenario = load(
        "[variants.k.\"few\"]\n\"fabric.queue.limit\" = 50\n[sweep]\n\
         \"traffic.flows.flows.first.start\" = [\"0\", \"1 ms\"]\n\
         \"traffic.flows.flows.second.start\" = [\"0\", \"1 ms\"]\n\
         \"traffic.flows.subflows\" = [1, 2]\n\
         \"fabric.queue.mark.k\" = [10]\n\
         \"traffic.flows.flows.0.size\" = [\"1 KB\"]",
        &Selection::default(),
    );
    let axes: Vec<&str> = scenario.sweeps().iter().map(|s| s.axis.as_str()).collect();
    assert_eq!(
        axes,
        [
            "traffic.flows.flows.first.start",
            "traffic.flows.flows.second.start",
            "subflows",
            "fabric.queue.mark.k",
            "size"
        ]
    );
}

#[test]
fn values_know_their_numbers_and_units() {
    let numbers = |text: &str| sweep(text).numbers.expect("numbers");
    assert_eq!(
        numbers("\"fabric.queue.mark.k\" = [10, 20, 40]"),
        Numbers {
            values: vec![10.0, 20.0, 40.0],
            unit: "",
            logarithmic: true
        }
    );
    assert_eq!(
        numbers("\"fabric.bottleneck_delay\" = [\"0\", \"50 us\", \"100 us\"]"),
        Numbers {
            values: vec![0.0, 50e-6, 100e-6],
            unit: "s",
            logarithmic: false
        }
    );
    assert_eq!(
        numbers("\"fabric.bottleneck_rate\" = [\"100 Mbps\", \"1 Gbps\"]").unit,
        "bit/s"
    );
    assert_eq!(
        numbers(
            "\"traffic.flows.size\" = { from = \"1 KB\", to = \"1 MB\", count = 4, scale = \"log\" }"
        ),
        Numbers {
            values: vec![1e3, 1e4, 1e5, 1e6],
            unit: "B",
            logarithmic: true
        }
    );
    assert_eq!(
        sweep("\"traffic.flows.controller\" = [\"reno\", \"dctcp\"]").numbers,
        None
    );
    assert_eq!(
        sweep("\"fabric.queue.mark.k\" = [10, \"64 KB\"]").numbers,
        None
    );
    let flags = sweep("\"transport.limited_transmit\" = [true, false]");
    assert_eq!(
        (flags.names, flags.numbers),
        (vec!["true".to_owned(), "false".to_owned()], None)
    );
}

#[test]
fn the_spread_of_a_list_says_which_scale_it_has() {
    let logarithmic = |values: &str| {
        let sweep = sweep(&format!("\"fabric.queue.mark.k\" = {values}"));
        sweep.numbers.expect("numbers").logarithmic
    };
    for list in ["[10, 20, 40]", "[1, 2, 5, 10, 20, 50]", "[100, 1, 10]"] {
        assert!(logarithmic(list), "{list}");
    }
    for list in [
        "[10, 20, 30]",
        "[20, 30, 41]",
        "[5, 10, 20, 30, 40]",
        "[1, 100]",
    ] {
        assert!(!logarithmic(list), "{list}");
    }
}

#[test]
fn ranges_have_the_values_that_a_person_would_write() {
    assert_eq!(
        names("{ from = 0.1, to = 0.9, step = 0.1 }"),
        [
            "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"
        ]
    );
    assert_eq!(
        names("{ from = 30, to = 10, step = -10 }"),
        ["30", "20", "10"]
    );
    assert_eq!(
        names("{ from = 1.0, to = 2, count = 5 }"),
        ["1", "1.25", "1.5", "1.75", "2"]
    );
    assert_eq!(
        names("{ from = 1.0, to = 2.0, count = 4 }"),
        ["1", "1.333", "1.667", "2"]
    );
    assert_eq!(
        names("{ from = 1, to = 100, count = 4 }"),
        ["1", "34", "67", "100"]
    );
    assert_eq!(
        names("{ from = 1, to = 1000, count = 7, scale = \"log\" }"),
        ["1", "3", "10", "32", "100", "316", "1000"]
    );
    assert_eq!(
        names("{ from = 1.0, to = 100, count = 5, scale = \"log\" }"),
        ["1", "3.16", "10", "31.6", "100"]
    );
    assert_eq!(
        names("{ from = 3, to = 100, factor = 2 }"),
        ["3", "6", "12", "24", "48", "96"]
    );
    assert_eq!(
        names("{ from = 80, to = 10, factor = 0.5 }"),
        ["80", "40", "20", "10"]
    );
    assert_eq!(
        names("{ from = 10.0, to = 120, factor = 1.5 }"),
        ["10", "15", "22.5", "33.75", "50.625", "75.9375", "113.9"]
    );
    assert_eq!(
        names("{ from = 10.0, to = 2000.0, count = 9, scale = \"log\" }"),
        [
            "10", "19.4", "37.6", "72.9", "141", "274", "532", "1030", "2000"
        ]
    );
    let delays = |range: &str| sweep(&format!("\"fabric.bottleneck_delay\" = {range}")).names;
    assert_eq!(
        delays("{ from = \"500 us\", to = \"2 ms\", step = \"500 us\" }"),
        ["500 us", "1 ms", "1.5 ms", "2 ms"]
    );
    assert_eq!(
        delays("{ from = \"10 us\", to = \"1 ms\", count = 5, scale = \"log\" }"),
        ["10 us", "31.6 us", "100 us", "316 us", "1 ms"]
    );
    assert_eq!(
        delays("{ from = \"0\", to = \"100 us\", count = 4 }"),
        ["0", "33.3 us", "66.7 us", "100 us"]
    );
    let sizes = |range: &str| sweep(&format!("\"traffic.flows.size\" = {range}")).names;
    assert_eq!(
        sizes("{ from = \"64 KiB\", to = \"1 MiB\", factor = 2 }"),
        ["64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB"]
    );
    let scenario = load(
        "[sweep]\n\"traffic.flows.size\" = { from = \"1 MB\", to = \"2 MB\", step = \"500 KB\" }",
        &Selection::default(),
    );
    let sizes: Vec<String> = scenario
        .variants()
        .iter()
        .map(|variant| variant.resolved["traffic"][0]["size"].to_string())
        .collect();
    assert!(sizes[1].contains("1.5 MB"), "{sizes:?}");
    assert_eq!(Bytes::new(1_500_000).to_string(), "1.5 MB");
}

#[test]
fn sizes_and_the_command_line_reach_into_a_sweep() {
    let size = |size: &str| Selection {
        size: Some(size.to_owned()),
        ..Selection::default()
    };
    let paper = file(&size("paper"));
    assert_eq!(paper.sweeps()[0].names, ["1", "2", "4", "8"]);
    assert_eq!(
        paper.sweeps()[1].names,
        ["50 us", "100 us", "200 us", "400 us"]
    );
    let small = file(&size("small"));
    assert_eq!(
        small.variants().len(),
        2,
        "a table that is written out replaces the whole"
    );

    let set = |sets: &[&str]| Selection {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Selection::default()
    };
    let longer = file(&set(&[
        "sweep.\"traffic.flows.subflows\"=[2]",
        "sweep.fabric.bottleneck_delay.to = \"800 us\"",
        "sweep.together.buffer={ \"fabric.queue.mark.k\" = [30] }",
    ]));
    let names: Vec<usize> = longer
        .sweeps()
        .iter()
        .map(|sweep| sweep.names.len())
        .collect();
    assert_eq!(names, [1, 5, 1]);
}

#[test]
fn a_sweep_of_the_command_line_is_short() {
    let swept = |sweep: &str| {
        let selection = Selection {
            sweeps: vec![sweep.to_owned()],
            ..Selection::default()
        };
        load("", &selection).sweeps()[0].names.clone()
    };
    assert_eq!(swept("fabric.queue.mark.k=10,20,40"), ["10", "20", "40"]);
    assert_eq!(
        swept("fabric.queue.mark.k=0.1..0.4:0.1"),
        ["0.1", "0.2", "0.3", "0.4"]
    );
    assert_eq!(
        swept("fabric.queue.mark.k=10..80:x2"),
        ["10", "20", "40", "80"]
    );
    assert_eq!(swept("fabric.queue.mark.k=10"), ["10"]);
    assert_eq!(
        swept("fabric.bottleneck_delay = 10 us, 50 us"),
        ["10 us", "50 us"]
    );
    assert_eq!(
        swept("fabric.bottleneck_delay=10 us..30 us:10 us"),
        ["10 us", "20 us", "30 us"]
    );
    assert_eq!(
        swept("fabric.queue.mark.k={ from = 1, to = 9, count = 3 }"),
        ["1", "5", "9"]
    );
    assert_eq!(
        swept("together.b={ \"fabric.queue.mark.k\" = [1, 2] }"),
        ["1", "2"]
    );
    // In the place of the file's sweep of the same key.
    let selection = Selection {
        sweeps: vec!["traffic.flows.subflows=5,6,7".to_owned()],
        ..Selection::default()
    };
    let scenario = file(&selection);
    assert_eq!(scenario.sweeps()[0].names, ["5", "6", "7"]);
    assert_eq!(scenario.sweeps().len(), 3);
}

#[test]
fn values_are_chosen_by_name() {
    let selection = Selection {
        only: [
            "bottleneck_delay=100 us",
            "subflows=2",
            "scheme=XMP",
            "buffer=10",
        ]
        .map(str::to_owned)
        .to_vec(),
        ..Selection::default()
    };
    let scenario = file(&selection);
    assert_eq!(scenario.variants().len(), 1);
    assert_eq!(scenario.sweeps()[0].names.len(), 2, "all that there are");
}

#[test]
fn what_is_swept_cannot_be_set_as_well() {
    let set = |set: &str| Selection {
        sets: vec![set.to_owned()],
        ..Selection::default()
    };
    let sweep = "[sweep]\n\"fabric.queue.mark.k\" = [10, 40]";
    for text in ["fabric.queue.mark.k=30", "fabric.queue={ limit = 50 }"] {
        let said = mistake(sweep, &set(text));
        assert_eq!(said, "fabric.queue.mark.k is swept, so it cannot be set");
    }
    load(sweep, &set("fabric.queue.limit=50"));
    // A variant that sets what a sweep reaches into comes first.
    let scenario = load(
        "[variants.v.\"x\"]\n\"fabric.queue\" = { limit = 50, mark = { kind = \"step\", k = 5 } }\n\
         [sweep]\n\"fabric.queue.mark.k\" = [10, 40]",
        &Selection::default(),
    );
    assert_eq!(
        scenario.variants()[1].resolved["fabric"]["queue"]["mark"]["k"],
        40.0
    );
}

/// A decimal number of `units` / 10^`places`, as a person writes it.
fn decimal(units: i64, places: u32) -> String {
    let power = 10i64.pow(places);
    let (whole, rest) = (units / power, units % power);
    let text = format!("{whole}.{rest:0width$}", width = places as usize);
    if places == 0 {
        return whole.to_string();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Independent of the way that they are computed: by whole numbers of the last decimal.
    #[test]
    fn steps_are_exact_decimals(from in 1i64..100_000, step in 1i64..5_000, count in 1i64..30, places in 0u32..5) {
        let to = from + step * count;
        let range = format!(
            "{{ from = {}, to = {}, step = {} }}",
            decimal(from, places), decimal(to, places), decimal(step, places)
        );
        let expected: Vec<String> =
            (0..=count).map(|place| decimal(from + place * step, places)).collect();
        let sweep = sweep(&format!("\"fabric.queue.mark.k\" = {range}"));
        let values: Vec<f64> = expected.iter().map(|text| text.parse().expect("a number")).collect();
        prop_assert_eq!(&sweep.names, &expected);
        prop_assert_eq!(sweep.numbers.expect("numbers").values, values);
    }

    #[test]
    fn equal_distances_are_equal(from in 1i64..10_000, width in 100i64..100_000, count in 2u32..40, places in 1u32..4) {
        let to = from + width;
        let range = format!(
            "{{ from = {:.6}, to = {:.6}, count = {count} }}",
            from as f64 / 10i64.pow(places) as f64, to as f64 / 10i64.pow(places) as f64
        );
        let values = sweep(&format!("\"fabric.queue.mark.k\" = {range}")).numbers.expect("numbers").values;
        prop_assert_eq!(values.len(), count as usize);
        let distance = (values[values.len() - 1] - values[0]) / f64::from(count - 1);
        for pair in values.windows(2) {
            prop_assert!(((pair[1] - pair[0]) / distance - 1.0).abs() < 0.011, "{:?}", values);
        }
    }

    #[test]
    fn equal_ratios_are_equal(from in 1i64..1_000, ratio in 4i64..10_000, count in 2u32..30) {
        let range = format!("{{ from = {from}.0, to = {}.0, count = {count}, scale = \"log\" }}", from * ratio);
        let values = sweep(&format!("\"fabric.queue.mark.k\" = {range}")).numbers.expect("numbers").values;
        prop_assert_eq!(values.len(), count as usize);
        prop_assert_eq!((values[0], values[values.len() - 1]), (from as f64, (from * ratio) as f64));
        let each = libm::pow(ratio as f64, 1.0 / f64::from(count - 1));
        for pair in values.windows(2) {
            let off = (pair[1] / pair[0] / each - 1.0).abs();
            prop_assert!(off < 0.03 * (each - 1.0).min(1.0) + 1e-12, "{:?}: {}", values, off);
        }
    }

    #[test]
    fn a_factor_multiplies(from in 1i64..50, factor in 2i64..6, count in 1u32..6, more in 0i64..100) {
        let power = |place: u32| from * factor.pow(place);
        let to = power(count) + more * (power(count + 1) - power(count) - 1) / 100;
        let found = names(&format!("{{ from = {from}, to = {to}, factor = {factor} }}"));
        let expected: Vec<String> = (0..=count).map(|place| power(place).to_string()).collect();
        prop_assert_eq!(found, expected);
    }

    /// Whatever stands in a range: values or a message.
    #[test]
    fn no_range_panics(
        from in end(), to in end(), step in end(), rule in "step|count|factor", scale in "log|linear|lin"
    ) {
        let scaled = if rule == "count" { format!(", scale = \"{scale}\"") } else { String::new() };
        let text = format!("{BASE}\n[sweep]\n\"fabric.queue.mark.k\" = {{ from = {from}, to = {to}, {rule} = {step}{scaled} }}");
        match pathweave_scenario::check(&text) {
            Ok(scenario) => prop_assert!(scenario.sweeps()[0].names.len() >= 2),
            Err(error) => prop_assert!(error.len() > 0),
        }
    }
}

fn end() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (0i64..50).prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("TOML has other names", |n| n.is_finite())
            .prop_map(|n| format!("{n:?}")),
        (0u64..50, "ps|ns|us|ms|s|bps|Mbps|B|KB|KiB|x")
            .prop_map(|(n, unit)| format!("\"{n} {unit}\"")),
        Just("\"0\"".to_owned()),
        Just("true".to_owned()),
        Just("\"1000000 s\"".to_owned()),
    ]
}
