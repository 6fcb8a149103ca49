//! What an acknowledgement costs in each controller's program, as the kernel counts it:
//! `cargo test -p pathweave-linux --test linux kernel::costs -- --ignored --nocapture` prints the table of docs/performance.md.

use super::hosts::Hosts;
use super::inventory::Inventory;
use super::lifecycle::request;
use super::traffic::carry;
use crate::this_machine;
use libbpf_rs::query::ProgInfoIter;
use pathweave_linux::kernel;
use std::os::fd::{FromRawFd, OwnedFd};

/// What connections of two subflows carry under each controller.
const BYTES: usize = 30_000_000;
/// Runs, of which the cheapest counts: what else the machine does only adds to a run.
const RUNS: usize = 9;
/// A program that takes longer than this has something in it that does not belong there.
const MOST: u64 = 5000;

/// Lets the kernel count what programs take for as long as it lives.
fn counting() -> OwnedFd {
    // SAFETY: it takes a number and gives a file descriptor or an error.
    let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    assert!(
        fd >= 0,
        "the kernel counts: {}",
        std::io::Error::last_os_error()
    );
    // SAFETY: the descriptor is new and nobody else's.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// How often the hook has run whose program has this name, and how many nanoseconds it took each time. The kernel keeps 15
/// characters of a name.
fn counted(hook: &str) -> (u64, u64) {
    let programs = ProgInfoIter::default();
    let kept = &hook[..hook.len().min(15)];
    let ours = programs.filter(|program| program.name.to_string_lossy() == kept);
    let (runs, time) = ours.fold((0, 0), |(runs, time), program| {
        (runs + program.run_cnt, time + program.run_time_ns)
    });
    (runs, time / runs.max(1))
}

/// Acknowledgements of one connection, and the nanoseconds that each takes.
fn measured(hosts: &Hosts, name: &str) -> (u64, u64) {
    // The programs of the run before are gone then, and are not counted.
    Inventory::before();
    let loaded = kernel::load(&request(name)).unwrap();
    let control = loaded.kernel_name();
    let listener = hosts.listen(control);
    assert_eq!(carry(&listener, hosts.connect(control), BYTES), BYTES);
    let (acknowledgements, time) = counted("pathweave_cong_control");
    // Where there is one, the kernel calls it before the other.
    let (_, before) = counted("pathweave_in_ack_event");
    (acknowledgements, before + time)
}

#[test]
#[ignore = "it measures"]
fn nanoseconds_of_an_acknowledgement() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    hosts.slow_down("500mbit");
    for host in [&hosts.client, &hosts.server] {
        hosts.set(host, "net/ipv4/tcp_ecn", "1");
    }
    let counting = counting();
    println!("| controller | ns an acknowledgement |\n|---|---|");
    let mut names: Vec<&str> = kernel::names().collect();
    names.sort_unstable();
    for name in names {
        let runs: Vec<(u64, u64)> = (0..RUNS).map(|_| measured(&hosts, name)).collect();
        let cheapest = runs.iter().min_by_key(|&&(_, nanoseconds)| nanoseconds);
        let &(acknowledgements, nanoseconds) = cheapest.expect("there are runs");
        println!("| {name} | {nanoseconds} |");
        assert!(acknowledgements > 1000, "{name}: {runs:?}");
        assert!(nanoseconds < MOST, "{name}: {runs:?}");
    }
    drop((counting, hosts));
    before.assert_is_again();
}
