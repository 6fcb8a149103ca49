//! The testbed as its users see it: real sockets between network namespaces, and a machine that is
//! afterwards as it was before. Without root there is nothing to test here, and the tests say so.

mod paused;
mod quic;

use crate::this_machine;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const THROTTLING: &str = "/proc/sys/kernel/sched_rt_runtime_us";

/// A scenario in a folder of its own.
struct Scenario {
    folder: PathBuf,
}

impl Scenario {
    fn new(name: &str, text: &str) -> Scenario {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("testbed-{name}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("scenario.toml"), text).expect("a file");
        let _ = fs::remove_file(folder.join("results.json")); // an earlier run's
        Scenario { folder }
    }

    fn results_file(&self) -> PathBuf {
        self.folder.join("results.json")
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pathweave-linux"));
        command
            .arg("testbed")
            .arg(self.folder.join("scenario.toml"))
            .args(["--variant", "base", "--seed", "1", "--output"])
            .arg(self.results_file())
            .args(more);
        command
    }

    fn run(&self, more: &[&str]) -> Value {
        let done = self.command(more).output().expect("the binary runs");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{errors}");
        let text = fs::read_to_string(self.results_file()).expect("results");
        serde_json::from_str(&text).expect("JSON")
    }

    fn refused(&self, more: &[&str]) -> String {
        let done: Output = self.command(more).output().expect("the binary runs");
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8_lossy(&done.stderr).into_owned()
    }

    /// One flow that does not end by itself.
    fn endless(name: &str) -> Scenario {
        Scenario::new(
            name,
            &one_flow("size = \"unlimited\"\n[stop]\nat = \"1000 s\""),
        )
    }

    /// Starts it and waits until it says that it is under way.
    fn start(&self) -> Child {
        let mut child = self
            .command(&[])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stdout.as_mut().expect("a pipe")).lines();
        let line = lines.next().expect("a line").expect("text");
        let progress: Value = serde_json::from_str(&line).expect("JSON");
        assert!(progress["packet_hops"].as_u64() > Some(0), "{line}");
        child
    }
}

/// Namespaces that a process has made.
fn namespaces(process: u32) -> usize {
    let own = format!("pwt-{process}-");
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
        .count()
}

/// The process that puts things back when a run is killed.
struct Supervisor(u32);

impl Supervisor {
    fn of(run: &Child) -> Supervisor {
        let processes = fs::read_dir("/proc").expect("processes");
        let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut all = numbers.map(Supervisor);
        let is_child = |one: &Supervisor| one.state().is_some_and(|state| state[1] == run.id());
        all.find(is_child).expect("a run has a supervisor")
    }

    /// Of /proc/PID/stat what follows the program's name: state, parent, process group, session and terminal, the state
    /// as a number. None when there is no such process.
    fn state(&self) -> Option<[u32; 5]> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        let (_, rest) = text.rsplit_once(") ").expect("a name in parentheses");
        let mut words = rest.split(' ');
        let letter = words.next().and_then(|state| state.chars().next());
        let mut numbers = words.map(|word| word.parse().expect("a number"));
        Some([
            u32::from(letter.expect("a state")),
            numbers.next()?,
            numbers.next()?,
            numbers.next()?,
            numbers.next()?,
        ])
    }

    /// What its files are.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(format!("/proc/{}/fd", self.0)).expect("it has files");
        let names = files.map(|file| fs::read_link(file.expect("a file").path()));
        names
            .map(|name| name.expect("a link").to_string_lossy().into_owned())
            .collect()
    }

    fn send(&self, signal: i32) {
        // SAFETY: the call takes two numbers; the process is our child's, which has not been waited for.
        assert_eq!(unsafe { libc::kill(self.0 as i32, signal) }, 0);
    }
}

/// Waits for it.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::yield_now();
    }
}

fn throttling() -> String {
    fs::read_to_string(THROTTLING).unwrap_or_default()
}

/// How long waking a core may take, in us, if the system knows of such a thing.
fn wake_up() -> Option<i32> {
    let bytes = fs::read("/dev/cpu_dma_latency").ok()?;
    Some(i32::from_ne_bytes(bytes.try_into().ok()?))
}

fn numbers<'a>(results: &'a Value, table: &str, column: &str) -> Vec<f64> {
    let column = results["tables"][table][column]
        .as_array()
        .expect("a column");
    column
        .iter()
        .map(|value: &'a Value| value.as_f64().unwrap_or(f64::NAN))
        .collect()
}

/// One flow over a bottleneck of 50 Mbps, and what more there is.
fn one_flow(more: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 1
        bottleneck_rate = "50 Mbps"
        bottleneck_delay = "2 ms"
        queue = {{ limit = 100 }}
        [[traffic]]
        name = "flow"
        pattern = "flows"
        controller = "reno"
        flows = [{{ from = "S1", to = "D1" }}]
        {more}
        "#
    )
}

/// Two paths of 30 and 20 Mbps with these queues, a flow with a subflow on each, and what more there is.
fn two_paths(queue: &str, controller: &str, size: &str, more: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "parallel-paths"
        rates = ["30 Mbps", "20 Mbps"]
        delays = ["2 ms", "4 ms"]
        host_delay = "100 us"
        host_rate = "1 Gbps"
        queue = {{ {queue} }}
        [routing]
        kind = "pinned"
        [[traffic]]
        name = "flow"
        pattern = "flows"
        controller = "{controller}"
        subflows = 2
        size = "{size}"
        flows = [{{ from = "S1", to = "D1", paths = [["S1", "A1", "B1", "D1"], ["S1", "A2", "B2", "D1"]] }}]
        {more}
        "#
    )
}

#[test]
fn one_flow_fills_its_bottleneck() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let window = "size = \"unlimited\"\n[stop]\nat = \"2 s\"\n[measure]\nfrom = \"0.5 s\"";
    let before = throttling();
    let results = Scenario::new("one", &one_flow(window)).run(&[]);
    let goodput = numbers(&results, "flows", "goodput_bps")[0];
    assert!((45e6..49e6).contains(&goodput), "{goodput}");
    // The link carried the payload with 52 bytes of headers to 1448 of it.
    let bytes = numbers(&results, "links", "bytes")[0];
    let expected = goodput * 1.5 / 8.0 * 1500.0 / 1448.0;
    assert!(
        (bytes / expected - 1.0).abs() < 0.03,
        "{bytes} and {expected}"
    );
    let testbed = &results["testbed"];
    assert_eq!(testbed["controllers"]["reno"], "reno");
    assert_eq!(testbed["strangers"], 0);
    assert!(testbed["packets"].as_u64() > Some(5000));
    assert_eq!(results["verdict"], "stopped");
    assert_eq!(throttling(), before);
}

#[test]
fn a_stretched_run_gives_the_rates_and_times_of_the_plan() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let scenario = one_flow("size = \"2 MB\"\n[record]\nqueues = \"10 ms\"");
    let results = Scenario::new("stretched", &scenario).run(&["--stretch", "4"]);
    let fct = numbers(&results, "flows", "fct_s")[0];
    let ideal = numbers(&results, "flows", "fct_ideal_s")[0];
    assert!(
        fct >= ideal && fct < 3.0 * ideal,
        "{fct} s, ideal {ideal} s"
    );
    let rtt = numbers(&results, "flows", "rtt_mean_s")[0];
    let base = results["testbed"]["base_rtt_s"].as_f64().expect("a number");
    // A queue of 100 packets at 50 Mbps takes 24 ms.
    assert!(
        rtt > base && rtt < base + 0.026,
        "{rtt} s, {base} s without queues"
    );
    let wall = results["wall_s"].as_f64().expect("a number");
    assert!(wall > 4.0 * fct, "{wall} s for {fct} s");
    let times = numbers(&results, "queues", "time_s");
    assert!((times[0] - 0.01).abs() < 1e-9, "{}", times[0]);
    assert_eq!(results["verdict"], "finished");
    assert_eq!(results["testbed"]["stretch"], 4);
}

#[test]
fn without_segmentation_offload_packets_come_one_by_one() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let text = one_flow("size = \"unlimited\"\n[stop]\nat = \"2 s\"\n[measure]\nfrom = \"0.5 s\"");
    let text = text.replace("50 Mbps\"", "200 Mbps\"\nhost_rate = \"1 Gbps\"");
    let scenario = Scenario::new("bundles", &text);
    // The sender's own port, which is faster than what follows: only bundles wait there.
    let waiting = |results: &Value| {
        let names = results["tables"]["links"]["link"].as_array();
        let mut names = names.into_iter().flatten().filter_map(Value::as_str);
        let at = names.position(|name| name.starts_with("S1->"));
        numbers(results, "links", "queue_mean")[at.expect("the sender's port")]
    };
    // Where the machine stands still for a moment, more packets wait: the run with the fewest counts.
    let fewest = |options: &[&str], gso: bool| {
        let runs = (0..3).map(|_| {
            let results = scenario.run(options);
            assert_eq!(results["testbed"]["gso"], gso);
            waiting(&results)
        });
        runs.reduce(f64::min).expect("three runs")
    };
    let (bundles, packets) = (fewest(&[], true), fewest(&["--no-gso"], false));
    assert!(
        packets < 0.3 * bundles,
        "{bundles} packets wait with bundles and {packets} without"
    );
}

#[test]
fn a_multipath_flow_takes_both_of_its_paths() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let more = r#"
        [measure]
        phases.late = ["0.8 s", "1.6 s"]
        [record]
        rates = "100 ms"
        windows = "20 ms"
    "#;
    let scenario = two_paths("limit = 100", "reno", "10 MB", more);
    let results = Scenario::new("multipath", &scenario).run(&[]);
    let rates = numbers(&results, "subflows", "goodput_bps");
    assert!(rates[0] > 0.75 * 30e6 && rates[0] < 30e6, "{rates:?}");
    assert!(rates[1] > 0.75 * 20e6 && rates[1] < 20e6, "{rates:?}");
    // What was sent again on the other path arrived twice; all else once.
    let received: f64 = numbers(&results, "subflows", "received_bytes").iter().sum();
    assert!((10e6..11e6).contains(&received), "{received}");
    let whole = numbers(&results, "flows", "goodput_bps")[0];
    assert!(whole > 0.75 * 50e6, "{whole}");
    // The fabric counts each byte once, whatever path it came on and whenever it was in order.
    let seconds = numbers(&results, "flows", "fct_s")[0];
    let counted = whole / 8.0 * seconds;
    assert!((counted - 10e6).abs() < 1e-3, "{counted}");
    assert!(
        (rates[0] + rates[1] - whole).abs() < 1.0,
        "{rates:?} {whole}"
    );
    let ends = numbers(&results, "rates", "time_s");
    let last = ends.iter().copied().fold(0.0, f64::max);
    let recorded: f64 = numbers(&results, "rates", "rate_bps")
        .iter()
        .zip(&ends)
        .map(|(rate, end)| {
            let is_short = *end == last && (end * 10.0).fract() > 1e-9;
            rate / 8.0
                * if is_short {
                    (end * 10.0).fract() / 10.0
                } else {
                    0.1
                }
        })
        .sum();
    assert!((recorded - 10e6).abs() < 1.0, "{recorded}");
    // The second subflow's path is longer, and it opened later.
    let opened = numbers(&results, "subflows", "opened_s");
    assert!(opened[0] < opened[1] && opened[1] < 0.3, "{opened:?}");
    let phase = numbers(&results, "phase_subflows", "goodput_bps");
    assert!(
        phase.len() == 2 && phase.iter().sum::<f64>() > 0.8 * 50e6,
        "{phase:?}"
    );
    assert!(numbers(&results, "rates", "rate_bps").len() >= 2 * 16);
    assert!(
        numbers(&results, "windows", "window_packets")
            .iter()
            .all(|window| *window >= 1.0)
    );
}

#[test]
fn flows_that_react_to_completions_and_links_that_fail_are_played() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let text = r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "100 Mbps"
        bottleneck_delay = "500 us"
        queue = { limit = 100 }
        [[traffic]]
        name = "pairs"
        pattern = "permutation"
        size = "500 KB"
        controller = "cubic"
        [[events]]
        at = "0.5 s"
        link = "S1-A"
        down = true
        [[events]]
        at = "0.7 s"
        link = "S1-A"
        up = true
        [stop]
        at = "1.5 s"
    "#;
    let results = Scenario::new("permutation", text).run(&["--controller", "pairs=bbr"]);
    let counters = &results["counters"];
    assert!(counters["flows_finished"].as_u64() >= Some(8), "{counters}");
    assert!(
        counters["lost_to_failures"].as_u64() > Some(0),
        "{counters}"
    );
    assert_eq!(results["testbed"]["controllers"]["group pairs"], "bbr");
    let sizes = numbers(&results, "flows", "delivered_bytes");
    let endings = results["tables"]["flows"]["end"]
        .as_array()
        .expect("a column");
    for (size, end) in sizes.iter().zip(endings) {
        assert!(*end != "finished" || *size == 500_000.0, "{size} {end}");
    }
}

#[test]
fn nothing_is_left_when_the_user_ends_it() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let before = (throttling(), wake_up());
    let scenario = Scenario::endless("interrupted");
    let mut child = scenario.start();
    let supervisor = Supervisor::of(&child);
    assert_eq!(namespaces(child.id()), 2);
    assert_eq!(throttling().trim(), "-1");
    assert!(wake_up().is_none_or(|time| time == 0));
    // SAFETY: the call takes two numbers; the process is our child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert_eq!(namespaces(child.id()), 0);
    assert_eq!((throttling(), wake_up()), before);
    assert_eq!(supervisor.state(), None);
    assert!(!scenario.results_file().exists());
}

#[test]
fn nothing_is_left_when_a_run_is_killed() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let before = throttling();
    let mut child = Scenario::endless("supervised").start();
    let supervisor = Supervisor::of(&child);
    // What ends a run by the terminal, or by whoever ends all of a kind, does not end both.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        supervisor.send(signal);
    }
    // Its parent does not hear of it before the end of this test.
    child.kill().expect("it runs");
    let run = child.id();
    wait_until("the namespaces are gone", || namespaces(run) == 0);
    wait_until("throttling is back", || throttling() == before);
    let written = PathBuf::from(format!("/run/pathweave/{run}.json"));
    wait_until("nothing is written down", || !written.exists());
    wait_until("the supervisor has ended", || {
        supervisor
            .state()
            .is_none_or(|state| state[0] == u32::from('Z'))
    });
    child.wait().expect("it ends");
}

/// Whoever reads what the run prints waits for the end of all who could print more.
#[test]
fn the_supervisor_keeps_nothing_of_the_run() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let mut child = Scenario::endless("kept").start();
    let supervisor = Supervisor::of(&child);
    let [_, _, _, session, terminal] = supervisor.state().expect("it runs");
    let mut files = supervisor.files();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let run = child.id();
    wait_until("the namespaces are gone", || namespaces(run) == 0);
    assert_eq!((session, terminal), (supervisor.0, 0));
    files.sort();
    files.retain(|file| !file.contains("pidfd"));
    assert_eq!(files[..2], ["/dev/null", "/dev/null"]);
    assert!(
        files.len() == 3 && files[2].starts_with("pipe:"),
        "{files:?}"
    );
}

/// The process number of a run that was killed together with its supervisor.
fn leave_all_behind(name: &str) -> u32 {
    let mut child = Scenario::endless(name).start();
    let supervisor = Supervisor::of(&child);
    supervisor.send(libc::SIGKILL);
    wait_until("the supervisor has ended", || {
        supervisor
            .state()
            .is_none_or(|state| state[0] == u32::from('Z'))
    });
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let run = child.id();
    assert_eq!(namespaces(run), 2);
    assert_eq!(throttling().trim(), "-1");
    run
}

#[test]
fn the_next_start_removes_what_a_killed_one_left() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let before = throttling();
    let run = leave_all_behind("killed");
    let next = Scenario::new("next", &one_flow("size = \"100 KB\""));
    next.run(&[]);
    assert_eq!(namespaces(run), 0);
    assert_eq!(throttling(), before);
    assert!(!Path::new(&format!("/run/pathweave/{run}.json")).exists());
}

#[test]
fn clean_does_the_same_without_a_run() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let before = throttling();
    let run = leave_all_behind("cleaned");
    let clean = || {
        let done = Command::new(env!("CARGO_BIN_EXE_pathweave-linux"))
            .args(["testbed", "--clean"])
            .output()
            .expect("the binary runs");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let removed = clean();
    assert!(removed.contains(&format!("pwt-{run}-h0")), "{removed}");
    // Where throttling is off already, a run does not change it.
    let was_on = before.trim() != "-1";
    assert_eq!(removed.contains(THROTTLING), was_on, "{removed}");
    assert_eq!(namespaces(run), 0);
    assert_eq!(throttling(), before);
    assert_eq!(clean(), "");
}

#[test]
fn settings_of_hosts_that_groups_do_not_share_are_named() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let second = r#"
        size = "10 KB"
        [[traffic]]
        name = "second"
        pattern = "flows"
        size = "10 KB"
        controller = "reno"
        flows = [{ from = "S1", to = "D1" }]
        transport = { ack_every = 1, initial_window = 4, maximum_segment = "948 B", data_packet = "1000 B" }
        [stop]
        at = "100 ms"
    "#;
    let results = Scenario::new("settings", &one_flow(second)).run(&[]);
    let notes = results["notes"].to_string();
    for named in [
        "`ack_every` is not",
        "`initial_window` is not",
        "largest `data_packet`",
    ] {
        assert!(notes.contains(named), "{named} in {notes}");
    }
    assert!(!notes.contains("`minimum_rto` is not"), "{notes}");
}

#[test]
fn what_it_cannot_do_it_refuses() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let with = |key: &str| {
        let scenario = Scenario::new(
            "refused",
            &one_flow("size = \"unlimited\"\n[stop]\nat = \"1 s\""),
        );
        scenario.refused(&["--set", key])
    };
    assert!(with("traffic.flow.controller=rcp").contains("switches write"));
    assert!(with("fabric.left=9").contains("up to 16 hosts, and this fabric has 18"));
    assert!(with("routing.kind=spray").contains("\"spray\""));
    let scenario = Scenario::new(
        "refused",
        &one_flow("size = \"unlimited\"\n[stop]\nat = \"1 s\""),
    );
    let message = scenario.refused(&["--controller", "flow=nonsense"]);
    assert!(
        message.contains("no congestion control \"nonsense\""),
        "{message}"
    );
    assert!(
        scenario
            .refused(&["--size", "huge"])
            .contains("no size \"huge\"")
    );
    let none = Scenario::new("refused", "[fabric]\n").refused(&[]);
    assert!(none.contains("fabric"), "{none}");
}
