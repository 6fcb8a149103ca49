//! The metrics, read by the Prometheus client library's own parser.

use super::hosts::Hosts;
use super::inventory::Inventory;
use super::lifecycle::request;
use super::traffic::carry;
use crate::this_machine;
use pathweave_linux::kernel::{self, Users};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pathweave-linux");
const PATIENCE: Duration = Duration::from_secs(20);

/// Prints "name{labels} value" a line, sorted.
const PARSER: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
lines = [f'{s.name} {sorted(s.labels.items())} {s.value:.0f}' for f in parse(sys.stdin.read()) for s in f.samples]
print('\\n'.join(sorted(lines)))
";

/// The samples of a text, by a parser that is not ours; none where it is not installed.
fn parse(text: &str) -> Option<Vec<String>> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
    let python = if std::path::Path::new(here).exists() {
        here
    } else {
        "python3"
    };
    let mut child = Command::new(python)
        .args(["-c", PARSER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python is there");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("Python reads it");
    drop(input);
    let output = child.wait_with_output().expect("Python ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("No module named 'prometheus_client'") {
        assert!(
            std::env::var_os("PATHWEAVE_REQUIRE_KERNEL").is_none_or(|value| value.is_empty()),
            "{said}"
        );
        eprintln!("left out: prometheus_client is not installed (`make test` does it)");
        return None;
    }
    assert!(output.status.success(), "{said}\n{text}");
    let lines = String::from_utf8_lossy(&output.stdout);
    Some(lines.lines().map(str::to_owned).collect())
}

fn metrics() -> String {
    let output = Command::new(PROGRAM)
        .arg("metrics")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn value(samples: &[String], name: &str) -> u64 {
    let begin = format!("{name} [('controller', 'pw_xmp')] ");
    let sample = samples
        .iter()
        .find_map(|sample| sample.strip_prefix(&begin));
    let sample = sample.unwrap_or_else(|| panic!("no {name} in {samples:#?}"));
    sample.parse().expect("a number")
}

#[test]
fn counters_stay_when_connections_end() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let listener = hosts.listen("pw_xmp");
    let open = (hosts.connect("pw_xmp"), listener.accept().unwrap());
    let during = parse(&metrics());
    drop(open);
    carry(&listener, hosts.connect("pw_xmp"), 1_000_000);
    drop(listener);
    let begin = Instant::now();
    let after = loop {
        let Some(samples) = parse(&metrics()) else {
            break None;
        };
        if value(&samples, "pathweave_rows") == 0 {
            break Some(samples);
        }
        assert!(begin.elapsed() < PATIENCE, "rows are left: {samples:#?}");
    };
    if let (Some(during), Some(after)) = (during, after) {
        assert_eq!(value(&during, "pathweave_rows"), 2);
        assert_eq!(value(&during, "pathweave_rows_capacity"), 4096);
        assert!(value(&during, "pathweave_subflows") >= 2);
        assert_eq!(value(&after, "pathweave_subflows"), 0);
        assert_eq!(value(&after, "pathweave_connections_opened_total"), 4);
        assert!(value(&after, "pathweave_subflows_opened_total") >= 4);
        // A segment of veth is 1,500 bytes at most, and each packet is acknowledged.
        assert!(value(&after, "pathweave_acknowledged_packets_total") >= 1_000_000 / 1500);
        for counter in [
            "acknowledgements",
            "acknowledged_packets",
            "subflows_opened",
        ] {
            let counter = format!("pathweave_{counter}_total");
            assert!(
                value(&after, &counter) >= value(&during, &counter).max(1),
                "{counter}"
            );
        }
    }
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn requests_on_a_socket_get_what_is_printed() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let path = std::env::temp_dir().join(format!("pathweave-metrics-{}", std::process::id()));
    // One that a killed process has left.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut child = Command::new(PROGRAM)
        .args(["metrics", "--listen", &format!("unix:{}", path.display())])
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let mut stream = loop {
        match UnixStream::connect(&path) {
            Ok(stream) => break stream,
            Err(error) => assert!(begin.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::yield_now();
    };
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(answer.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let mut body = String::new();
    answer.read_to_string(&mut body).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&path).unwrap();
    let printed = metrics();
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    before.assert_is_again();
    // The server sees pins and maps though it has dropped its privileges.
    assert_eq!(body, printed);
    assert!(
        body.contains("\npathweave_rows_capacity{controller=\"pw_xmp\"} 4096\n"),
        "{body}"
    );
    assert!(
        body.contains("\npathweave_incomplete_controllers 0\n"),
        "{body}"
    );
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(
        head.contains("application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    if let Some(samples) = parse(&body) {
        assert!(
            samples
                .iter()
                .any(|s| s.starts_with("pathweave_operations_total"))
        );
    }
}
