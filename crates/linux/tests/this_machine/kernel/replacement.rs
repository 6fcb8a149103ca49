//! A loaded controller gets other settings, or is kept, while connections are open.

use super::failures::timeouts_in_a_row_until_failure;
use super::hosts::{Hosts, ip};
use super::inventory::Inventory;
use super::lifecycle::request;
use super::peer::{INITIAL_WINDOW, Peer, SEGMENT};
use crate::this_machine;
use libbpf_rs::{MapHandle, MapType};
use pathweave_linux::kernel::{self, Connection, Pinned, Request, Users};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pathweave-linux");
const FOLDER: &str = "/sys/fs/bpf/pathweave/pw_xmp";
const PATIENCE: Duration = Duration::from_secs(20);

fn kernel_command(arguments: &str) -> Output {
    let words = arguments.split_whitespace();
    let output = Command::new(PROGRAM).arg("kernel").args(words).output();
    output.expect("it runs")
}

/// What it prints.
fn done(arguments: &str) -> String {
    let output = kernel_command(arguments);
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// What it refuses with.
fn refused(arguments: &str) -> String {
    let output = kernel_command(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// The client's end of the only connection, once it is as wanted.
fn client(wanted: impl Fn(&Connection) -> bool) -> Connection {
    let begin = Instant::now();
    loop {
        let all = Pinned::open("pw_xmp").unwrap().connections();
        let found = all.into_iter().find(|connection| {
            let rows = connection.subflows.iter();
            rows.clone().any(|row| row.remote.port() == 5001) && wanted(connection)
        });
        if let Some(found) = found {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "no connection is as wanted");
        std::thread::yield_now();
    }
}

/// The generations of the programs that connected sockets have, in order.
fn generations() -> Vec<u32> {
    let uses = kernel::find_sockets("pw_xmp").unwrap().uses;
    let sockets = uses.into_iter().flat_map(|uses| uses.sockets);
    let mut all: Vec<u32> = sockets
        .filter(|socket| !socket.listens)
        .map(|socket| socket.generation)
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn load_is_idempotent_and_says_what_differs() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    assert!(done("load xmp").starts_with("pw_xmp is loaded: beta=4 "));
    let again = done("load xmp --set beta=4");
    assert!(
        again.starts_with("pw_xmp is loaded already with these settings: beta=4 "),
        "{again}"
    );
    let other = refused("load xmp --set beta=6 --minimum-window 3");
    assert!(
        other.starts_with(
            "pw_xmp is loaded already, with beta=4 instead of 6, minimum_window=2 instead of 3\n"
        ),
        "{other}"
    );
    assert!(
        other
            .contains("add --replace, or `pathweave-linux kernel set xmp beta=6 minimum_window=3`"),
        "{other}"
    );
    for room in [
        "load xmp --connections 8192",
        "load xmp --connections 8192 --replace",
    ] {
        let said = refused(room);
        assert!(said.contains("kernel unload xmp --force"), "{said}");
    }
    assert_eq!(Pinned::open("pw_xmp").unwrap().generation(), 1);

    let set = done("set xmp beta=6 failed_after=3");
    assert!(
        set.starts_with(
            "pw_xmp is replaced: beta=6 variant=paper minimum_window=2 failed_after=3\n"
        ),
        "{set}"
    );
    let status = done("status");
    assert!(status.contains("pw_xmp  beta=6 "), "{status}");
    assert!(status.contains("no socket has the program"), "{status}");
    for (set, said) in [
        ("beta=1", "beta takes an integer from 2 to 1024"),
        ("betta=5", "xmp has no parameter \"betta\""),
        (
            "minimum_window=0",
            "minimum_window takes an integer from 1 to 1024, got 0",
        ),
        (
            "failed_after=two",
            "failed_after takes an integer from 1 to 255, got two",
        ),
    ] {
        let refusal = refused(&format!("set xmp {set}"));
        assert!(refusal.contains(said), "{refusal}");
    }
    assert_eq!(Pinned::open("pw_xmp").unwrap().generation(), 2);
    done("unload xmp");
    assert!(refused("set xmp beta=5").contains("pw_xmp is not loaded"));
    assert!(done("load xmp --replace").starts_with("pw_xmp is loaded: "));
    done("unload xmp");
    before.assert_is_again();
}

#[test]
fn open_connections_keep_their_settings() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let peer = Peer::new();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    // It sends nothing before it is replaced: however long that takes, no timer expires.
    let mut open = peer.open("pw_xmp");
    done("load xmp --failed-after 4 --replace");
    open.write(&vec![7; 1 << 20]);
    open.wait_for(INITIAL_WINDOW * SEGMENT);
    assert_eq!(timeouts_in_a_row_until_failure(&mut open), 2);
    drop(open);
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(peer);
    before.assert_is_again();
}

#[test]
fn a_subflow_that_opens_later_joins_the_rows_with_the_new_program() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    ip(&format!("-n {} mptcp endpoint flush", hosts.client));
    ip(&format!("-n {} mptcp endpoint flush", hosts.server));
    done("load xmp");
    let listener = hosts.listen("pw_xmp");
    let mut connection = hosts.connect("pw_xmp");
    let (accepted, _) = listener.accept().unwrap();
    let alone = client(|connection| connection.subflows.len() == 1);
    let opened = Pinned::open("pw_xmp").unwrap().totals().unwrap();
    done("load xmp --set beta=6 --replace");
    assert_eq!(generations(), [1, 1]);

    ip(&format!(
        "-n {} mptcp endpoint add 10.0.2.2 dev c2 signal",
        hosts.server
    ));
    let both = client(|connection| connection.subflows.len() == 2);
    assert_eq!(both.token, alone.token);
    let numbers: Vec<u32> = both.subflows.iter().map(|row| row.number).collect();
    assert_eq!(numbers, [0, 1], "one row each, in one connection");
    assert_eq!(generations(), [1, 1, 2, 2]);
    let totals = Pinned::open("pw_xmp").unwrap().totals().unwrap();
    assert_eq!(totals.connections, opened.connections);
    assert_eq!(totals.subflows, opened.subflows + 2);
    let status = done("status");
    assert!(
        status.contains("; 2 sockets keep the program and settings from before"),
        "{status}"
    );
    connection.write_all(&[7; 1000]).unwrap();

    // The listener chose the controller before it was replaced.
    drop((connection, accepted));
    let later = (hosts.connect("pw_xmp"), listener.accept().unwrap());
    let begin = Instant::now();
    while generations().iter().any(|&generation| generation != 2) {
        assert!(begin.elapsed() < PATIENCE, "{:?}", generations());
        std::thread::yield_now();
    }
    drop((later, listener));
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}

/// A namespace that cannot be entered until it goes.
struct Blocking(&'static str);

impl Drop for Blocking {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

#[test]
fn what_is_killed_half_way_is_ended_by_the_next_load() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    done("load xmp");
    hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "pw_xmp");
    // Opening it waits for a writer: it stops the command once the link has the new program.
    let blocking = Blocking("/run/netns/a-pathweave-test");
    let made = Command::new("mkfifo").arg(blocking.0).status().unwrap();
    assert!(made.success());
    let mut child = Command::new(PROGRAM)
        .args(["kernel", "load", "xmp", "--set", "beta=6", "--replace"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while Pinned::open("pw_xmp").map_or(1, |pinned| pinned.generation()) == 1 {
        assert!(begin.elapsed() < PATIENCE, "the link gets the new program");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(blocking);
    let status = done("status");
    assert!(status.contains("pw_xmp  beta=6 "), "{status}");
    assert!(status.contains("a replacement has not ended"), "{status}");

    let listener = hosts.listen_by_default();
    let stale = (hosts.connect_by_default(), listener.accept().unwrap());
    assert!(generations().contains(&1), "the default was not renewed");
    drop(stale);
    // One that was killed before the link had its program.
    let lost = MapHandle::create(
        MapType::Array,
        Some("lost"),
        4,
        8,
        1,
        &libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
            ..Default::default()
        },
    );
    lost.unwrap()
        .pin(Path::new(FOLDER).join("about-4000000000"))
        .unwrap();
    let ended = done("load xmp --set beta=6");
    assert!(ended.contains("already with these settings"), "{ended}");
    assert!(!done("status").contains("has not ended"));
    assert_eq!(fs::read_dir(FOLDER).unwrap().count(), 4);
    let begin = Instant::now();
    while generations().contains(&1) {
        assert!(begin.elapsed() < PATIENCE, "the first connection closes");
        std::thread::yield_now();
    }
    let current = (hosts.connect_by_default(), listener.accept().unwrap());
    assert!(!generations().is_empty() && !generations().contains(&1));
    drop((current, listener));
    kernel::unload("pw_xmp", Users::Get(Some("reno"))).unwrap();
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn rows_of_another_layout_are_not_taken_over() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    kernel::load(&request("lia")).unwrap().pin().unwrap();
    // As if the controller of this name had other rows in this version.
    let other = Request {
        kernel_name: "pw_lia".to_owned(),
        ..request("xmp")
    };
    let claim = kernel::claim("pw_lia").unwrap().expect("it is loaded");
    let said = kernel::replace(&other, &claim).unwrap_err().to_string();
    drop(claim);
    assert!(
        said.contains("the row map of the loaded pw_lia has another layout"),
        "{said}"
    );
    assert_eq!(Pinned::open("pw_lia").unwrap().generation(), 1);
    kernel::unload("pw_lia", Users::Stay).unwrap();
    before.assert_is_again();
}
