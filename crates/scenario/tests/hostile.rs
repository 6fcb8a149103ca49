//! Files that are none, and texts that are made to take long or to fill the screen.

use pathweave_scenario::{Scenario, Selection};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const FABRIC: &str = "title = \"Hostile\"\n[stop]\nat = \"1 ms\"\n[fabric]\nkind = \"dumbbell\"\nleft = 2\n\
    bottleneck_rate = \"1 Gbps\"\nbottleneck_delay = \"25 us\"\n";

/// A scenario with these listed flows.
fn with_flows(flows: &str) -> String {
    format!(
        "{FABRIC}[[traffic]]\nname = \"flows\"\npattern = \"flows\"\nsize = \"10 KB\"\ncontroller = \"dctcp\"\n\
         flows = [{flows}]\n"
    )
}

/// A scenario whose sizes or flows are in a file.
fn with_file(keys: &str) -> String {
    format!("{FABRIC}[[traffic]]\nname = \"web\"\ncontroller = \"dctcp\"\n{keys}\n")
}

fn folder(name: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("pathweave-hostile-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn messages(text: &str, folder: Option<&Path>) -> Vec<String> {
    let error = Scenario::from_text("test.toml", text, folder, &Selection::default());
    let error = error.expect_err("it is wrong");
    error
        .iter()
        .map(|mistake| mistake.message.to_owned())
        .collect()
}

#[test]
fn what_a_scenario_names_must_be_a_regular_file() {
    let folder = folder("kinds");
    let fifo = folder.join("pipe.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::fs::create_dir(folder.join("folder.csv")).unwrap();
    std::fs::write(folder.join("bytes.csv"), b"1,\xff").unwrap();
    let lists = [
        "pattern = \"permutation\"\nsize = { kind = \"cdf\", file = \"FILE\" }",
        "pattern = \"trace\"\nfile = \"FILE\"",
        "pattern = \"goal\"\nfile = \"FILE\"",
    ];
    for keys in lists {
        for (file, what) in [
            ("pipe.csv", "\"pipe.csv\" is a pipe or a device, not a file"),
            (
                "/dev/zero",
                "\"/dev/zero\" is a pipe or a device, not a file",
            ),
            ("folder.csv", "\"folder.csv\" is a folder, not a file"),
            (
                "bytes.csv",
                "\"bytes.csv\" is not a text in UTF-8: byte 3 is wrong",
            ),
        ] {
            let text = with_file(&keys.replace("FILE", file));
            assert!(
                messages(&text, Some(&folder)).contains(&what.to_owned()),
                "{text}"
            );
        }
    }
    let error = Scenario::load_selected(&fifo, &Selection::default()).unwrap_err();
    let first = error.iter().next().unwrap();
    assert!(
        first
            .message
            .ends_with("pipe.csv is a pipe or a device, not a file")
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = folder("large");
    let file = std::fs::File::create(folder.join("large.csv")).unwrap();
    file.set_len(1 << 40).unwrap(); // a hole, which takes no room
    let text =
        with_file("pattern = \"permutation\"\nsize = { kind = \"cdf\", file = \"large.csv\" }");
    let what = "\"large.csv\" is too large: it may have 16 MiB at most";
    assert_eq!(messages(&text, Some(&folder)), [what]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Everything about a scenario's mistakes, within a time that what is quadratic takes many times of.
fn quickly(text: &str, least: usize) {
    let began = Instant::now();
    let error = Scenario::from_text("test.toml", text, None, &Selection::default()).unwrap_err();
    assert!(error.len() >= least);
    assert_eq!(error.iter().count(), error.len());
    assert!(!error.to_string().is_empty());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn many_mistakes_take_no_longer_each_than_few() {
    const MANY: usize = 20_000;
    let mut keys = FABRIC.to_owned();
    for number in 0..MANY {
        let _ = writeln!(keys, "unknown{number} = {number}");
    }
    quickly(&keys, 10);
    let lines = with_flows(&"{ from = \"S1\", to = \"D9\" },\n".repeat(MANY));
    quickly(&lines, MANY);
    let in_one_line = with_flows(&"{ from = \"S1\", to = \"D9\" },".repeat(MANY));
    quickly(&in_one_line, MANY);
    let among_many = in_one_line.replace("left = 2", "left = 10000");
    quickly(&among_many.replace("D9", "E9"), MANY);
}

#[test]
fn places_are_those_of_the_text_in_whatever_order_mistakes_are() {
    let text = with_flows("{ from = \"S1\", to = \"D9\" },\n{ from = \"S8\", to = \"D9\" }");
    let error = Scenario::from_text("test.toml", &text, None, &Selection::default()).unwrap_err();
    let places: Vec<_> = error
        .iter()
        .map(|mistake| (mistake.line, mistake.column))
        .collect();
    assert_eq!(places, [(14, 30), (15, 10), (15, 21)]);
}

#[test]
fn a_long_value_is_cut_in_messages() {
    let text = FABRIC.replace("dumbbell", &"x".repeat(1_000_000));
    let error = Scenario::from_text("test.toml", &text, None, &Selection::default()).unwrap_err();
    let shown = error.to_string();
    assert!(shown.len() < 10_000, "{}", shown.len());
    assert!(shown.contains("more characters)"));
    assert!(error.iter().all(|mistake| mistake.message.len() < 2200));
}

#[test]
fn of_a_long_line_the_surroundings_of_the_mistake_are_shown() {
    let flow = "{ from = \"S1\", to = \"D1\" }, ";
    let flows = format!("{}{{ from = \"S1\", to = \"D9\" }}", flow.repeat(10_000));
    let error = Scenario::from_text(
        "test.toml",
        &with_flows(&flows),
        None,
        &Selection::default(),
    )
    .unwrap_err();
    let shown = error.to_string();
    assert!(shown.len() < 4000, "{}", shown.len());
    assert!(shown.contains("test.toml:14:"), "{shown}");
    assert!(shown.contains("\"D9\" }"), "{shown}");
}

#[test]
fn a_variant_overrides_so_many_values_and_no_more() {
    let mut text = with_flows("{ from = \"S1\", to = \"D1\" }");
    text.push_str("[variants.scheme.A]\n");
    for number in 0..6000 {
        let _ = writeln!(text, "x{number} = 1");
    }
    assert_eq!(
        messages(&text, None)[0],
        "6000 values are overridden here, more than 5000"
    );
}

#[test]
fn variants_multiply_up_to_so_many_values() {
    let mut text = with_flows("{ from = \"S1\", to = \"D1\" }");
    text.push_str("[variants.a.v]\n");
    for number in 0..4900 {
        let _ = writeln!(text, "\"traffic.flows.x{number}\" = 1");
    }
    for number in 0..5000 {
        let _ = writeln!(text, "[variants.b.w{number}]");
    }
    let began = Instant::now();
    let said = messages(&text, None);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(
        said.iter()
            .any(|each| each.starts_with("all variants together have 24")),
        "{said:?}"
    );
}
