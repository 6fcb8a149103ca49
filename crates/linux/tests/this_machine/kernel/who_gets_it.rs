//! Who gets a controller: the sockets of a control group's processes, and those of a route.

use super::allowed::Allowed;
use super::control_group::Cgroup;
use super::hosts::{Hosts, PORT, ip};
use super::inventory::Inventory;
use super::lifecycle::request;
use super::program::PROGRAM;
use crate::this_machine;
use pathweave_linux::kernel::{self, Socket, Users};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// The sockets that use a control, but for listeners.
fn connected(control: &str) -> Vec<Socket> {
    let uses = kernel::find_sockets(control).unwrap().uses;
    let sockets = uses.into_iter().flat_map(|uses| uses.sockets);
    sockets.filter(|socket| !socket.listens).collect()
}

/// How many subflows of the client's connection use a control, once the connection has both.
fn subflows_of_client(control: &str, connection: &TcpStream) -> usize {
    let of = |control: &str| {
        connected(control)
            .iter()
            .filter(|socket| socket.is_mptcp && socket.remote.port() == PORT)
            .count()
    };
    let begin = Instant::now();
    loop {
        let seen = of(control);
        // Of one connection: the address of either cable.
        if seen >= 2 || begin.elapsed() > PATIENCE / 4 {
            assert!(connection.peer_addr().is_ok());
            return seen;
        }
        std::thread::yield_now();
    }
}

fn pair(hosts: &Hosts, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let client = hosts.connect_by_default();
    let (server, _) = listener.accept().unwrap();
    (client, server)
}

#[test]
fn a_cgroups_sockets_use_it_beside_others() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let allowed = Allowed::control("cubic");
    let hosts = Hosts::new();
    let cgroup = Cgroup::new();
    let default = hosts.default_control();
    let refused = cgroup.run(&["xmp"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("pw_xmp is not loaded"), "{said}");
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let used = cgroup.run(&["xmp"]);
    assert!(used.status.success(), "{used:?}");

    // The server listens under its default; the control group's processes connect and others do, at the same time.
    hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "cubic");
    let listener = hosts.listen(&default);
    let others = pair(&hosts, &listener);
    let ours = cgroup.with(|| pair(&hosts, &listener));
    for (control, inside, outside) in [("pw_xmp", &ours, &others), ("cubic", &others, &ours)] {
        assert!(subflows_of_client(control, &inside.0) >= 2, "{control}");
        let has = |stream: &TcpStream| {
            let own = stream.local_addr().unwrap();
            connected(control).iter().any(|socket| socket.local == own)
        };
        assert!(has(&inside.0) && !has(&outside.0), "{control}");
    }
    let is_clients = |socket: &Socket| socket.remote.port() == PORT;
    assert!(connected("pw_xmp").iter().all(is_clients));
    drop(listener);

    let listed = Command::new(PROGRAM)
        .args(["kernel", "use", "--list"])
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.starts_with("pw_xmp  /"), "{listed}");
    assert!(listed.trim_end().ends_with("/pathweave-test"), "{listed}");

    let off = cgroup.run(&["--off"]);
    assert!(off.status.success(), "{off:?}");
    drop(ours);
    let listener = hosts.listen(&default);
    let later = cgroup.with(|| pair(&hosts, &listener));
    let is_new = |socket: &Socket| socket.local == later.0.local_addr().unwrap();
    assert!(!connected("pw_xmp").iter().any(is_new));
    assert_eq!(
        cgroup.run(&["--off"]).status.code(),
        Some(2),
        "it is off already"
    );
    drop((later, others, listener));
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop((hosts, cgroup, allowed));
    before.assert_is_again();
}

#[test]
fn what_a_listener_of_the_cgroup_accepts_uses_it() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let cgroup = Cgroup::new();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let default = hosts.default_control();
    // It listens before the control group uses anything, under the namespace's default.
    let listener = cgroup.with(|| hosts.listen_by_default());
    assert!(cgroup.run(&["xmp"]).status.success());
    let open = pair(&hosts, &listener);
    let begin = Instant::now();
    while connected("pw_xmp").len() < 2 {
        assert!(begin.elapsed() < PATIENCE, "{:?}", connected("pw_xmp"));
        std::thread::yield_now();
    }
    assert!(
        connected("pw_xmp")
            .iter()
            .all(|socket| socket.local.port() == PORT)
    );
    assert!(
        connected(&default)
            .iter()
            .any(|socket| socket.remote.port() == PORT)
    );
    assert!(cgroup.run(&["--off"]).status.success());
    drop((open, listener));
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop((hosts, cgroup));
    before.assert_is_again();
}

#[test]
fn a_route_gives_both_subflows_its_controller() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    kernel::load(&request("lia")).unwrap().pin().unwrap();
    for cable in 1..=2 {
        ip(&format!(
            "-n {} route replace 10.0.{cable}.0/24 dev c{cable} src 10.0.{cable}.1 congctl pw_lia",
            hosts.client
        ));
    }
    let listener = hosts.listen_by_default();
    let open = pair(&hosts, &listener);
    assert!(subflows_of_client("pw_lia", &open.0) >= 2);
    // The server's routes are as they were.
    let is_clients = |socket: &Socket| socket.remote.port() == PORT;
    assert!(connected("pw_lia").iter().all(is_clients));
    drop((open, listener));
    kernel::unload("pw_lia", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}
