//! How a cut comes into force belongs to the host: under `linux`, rivals with the same rule of their own are equal.

use crate::plans::{of_flows, read};
use pathweave_engine::{Output, Progress};

/// Two flows over 1 Gbps, the second one with this controller; the first starts later by this share of a millisecond.
fn run(preset: &str, controllers: [&str; 2], listed: bool, phase: u32) -> Output {
    let [first, second] = controllers;
    let group = |name: &str, host: u32, controller: &str, start: u32| {
        let (of_group, of_flow) = if listed {
            ("reno", format!(", controller = \"{controller}\""))
        } else {
            (controller, String::new())
        };
        format!(
            r#"
            [[traffic]]
            name = "{name}"
            pattern = "flows"
            controller = "{of_group}"
            size = "unlimited"
            flows = [{{ name = "{name}", from = "S{host}", to = "D{host}", start = "{start} us"{of_flow} }}]
            "#
        )
    };
    let plan = read(&format!(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "50 us"
        host_rate = "10 Gbps"
        queue = {{ limit = 100, mark = {{ kind = "step", k = 20 }} }}
        [transport]
        preset = "{preset}"
        {}
        {}
        [stop]
        at = "60 ms"
        "#,
        group("first", 1, first, phase * 1000 / 12),
        group("second", 2, second, 0),
    ));
    pathweave_engine::run(&plan, &Progress::default()).expect("a run without defects")
}

/// Everything but the names of the controllers.
fn bits(output: &Output) -> (u64, String) {
    let columns = ["delivered_bytes", "marks", "retransmits", "timeouts"];
    let flows = output.table("flows").expect("flows");
    let counts: Vec<&[u64]> = columns.map(|column| flows.integers(column)).to_vec();
    let rates = of_flows(output, "goodput_bps");
    (output.counters.packet_hops, format!("{counts:?} {rates:?}"))
}

#[test]
fn one_rule_for_all_rivals() {
    for phase in 0..12 {
        for [rule, rival] in [
            // With one path, DCM has DCTCP's rule, and the others Reno's.
            ["dctcp", "dcm"],
            ["reno", "lia"],
            ["reno", "olia"],
            ["reno", "balia"],
        ] {
            let alone = bits(&run("linux", [rule, rule], false, phase));
            for listed in [false, true] {
                let mixed = bits(&run("linux", [rule, rival], listed, phase));
                assert_eq!(mixed, alone, "{rival} beside {rule}, phase {phase}");
            }
        }
    }
}

/// Listed flows follow their own controllers in `linux-bpf` too: Reno keeps the kernel's rule, LIA's program does not.
#[test]
fn programs_cut_at_once() {
    let group = bits(&run("linux-bpf", ["reno", "lia"], false, 3));
    let listed = bits(&run("linux-bpf", ["reno", "lia"], true, 3));
    assert_eq!(group, listed);
    assert_ne!(group, bits(&run("linux-bpf", ["reno", "reno"], false, 3)));
    assert_eq!(
        bits(&run("linux-bpf", ["reno", "reno"], false, 3)),
        bits(&run("linux", ["reno", "reno"], false, 3))
    );
}
