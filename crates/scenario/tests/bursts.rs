//! Single paths that begin with as many packets as the subflows of another variant.

use pathweave_scenario::Scenario;
use pathweave_scenario::{Plan, Selection, check};

fn scenario(transport: &str, variants: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 4
        hosts_per_leaf = 2
        host_rate = "10 Gbps"
        host_delay = "2 us"
        [transport]
        {transport}
        [[traffic]]
        name = "web"
        pattern = "permutation"
        rounds = 1
        size = "20 KB"
        controller = "dctcp"
        [[traffic]]
        name = "others"
        pattern = "permutation"
        rounds = 1
        size = "20 KB"
        controller = "cubic"
        [variants.scheme."DCTCP"]
        traffic.web.controller = "dctcp"
        [variants.scheme."XMP-4"]
        traffic.web.controller = "xmp"
        traffic.web.subflows = 4
        {variants}
        "#
    )
}

const SAME_BURST: &str = r#"
    [variants.scheme."DCTCP, same burst"]
    like = "DCTCP"
    burst_of = "XMP-4"
"#;

fn plan(text: &str, label: &str) -> Plan {
    let scenario = check(text).unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    let variant = scenario.variants().iter().find(|each| each.label == label);
    variant.expect("the variant").plan(1)
}

fn windows(text: &str, label: &str) -> Vec<f64> {
    let plan = plan(text, label);
    let windows = plan
        .groups
        .iter()
        .map(|group| group.transport.initial_window);
    windows.collect()
}

#[test]
fn a_single_path_begins_with_the_packets_of_all_subflows() {
    let text = scenario("", SAME_BURST);
    let label = "DCTCP, same burst";
    // The group that has one subflow in both keeps its window.
    assert_eq!(windows(&text, label), [40.0, 10.0]);
    assert_eq!(windows(&text, "DCTCP"), [10.0, 10.0]);
    let burst = plan(&text, label);
    assert_eq!(burst.groups[0].controller.name(), "dctcp");
    assert_eq!(burst.groups[0].subflows, 1);
    assert_eq!(
        windows(&scenario("initial_window = 3", SAME_BURST), label),
        [12.0, 3.0]
    );
    // Subflows that share one window open with it together, and with a packet each at least.
    let shared =
        |window: u32| format!("initial_window = {window}\ninitial_window_per = \"connection\"");
    assert_eq!(windows(&scenario(&shared(10), SAME_BURST), label)[0], 10.0);
    assert_eq!(windows(&scenario(&shared(2), SAME_BURST), label)[0], 4.0);
}

/// The window is that of a scenario that gives it, so that results are the same ones.
#[test]
fn it_is_resolved_to_an_initial_window() {
    let by_word = check(&scenario("", SAME_BURST)).expect("sound");
    let given = SAME_BURST.replace(
        "burst_of = \"XMP-4\"",
        "traffic.web.transport.initial_window = 40",
    );
    let given = check(&scenario("", &given)).expect("sound");
    assert_eq!(by_word.variants()[2].hash(1), given.variants()[2].hash(1));
    let again = Scenario::from_resolved(&by_word.variants()[2].resolved).expect("sound");
    assert_eq!(again.variants()[0].hash(1), by_word.variants()[2].hash(1));
}

/// Other axes apply to both, and what the command line sets does, too; the variant need not be among those that are run.
#[test]
fn it_follows_other_axes_and_the_command_line() {
    let axis = r#"
        [variants.subflows."four"]
        [variants.subflows."two"]
        transport.initial_window = 5
    "#;
    let text = scenario("", &format!("{SAME_BURST}{axis}"));
    assert_eq!(windows(&text, "DCTCP, same burst, four")[0], 40.0);
    assert_eq!(windows(&text, "DCTCP, same burst, two")[0], 20.0);
    let selection = Selection {
        sets: vec!["transport.initial_window=2".to_owned()],
        only: vec!["scheme=DCTCP, same burst".to_owned()],
        ..Selection::default()
    };
    let text = scenario("", SAME_BURST);
    let found = Scenario::from_text("x", &text, None, &selection).expect("sound");
    assert_eq!(found.variants().len(), 1);
    assert_eq!(
        found.variants()[0].plan(1).groups[0]
            .transport
            .initial_window,
        8.0
    );
}
