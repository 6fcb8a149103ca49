//! Who comes before whom where several of them give a socket a controller: its program, its control group, its route, and
//! its network namespace.
//!
//! Each gives another one, so that the controller of a subflow says whose it is.

use super::control_group::Cgroup;
use super::hosts::{Hosts, PORT, ip};
use super::inventory::Inventory;
use super::lifecycle::request;
use crate::this_machine;
use pathweave_linux::kernel::{self, Socket, Users, find_sockets};
use rustix::net::sockopt::set_tcp_congestion;
use std::collections::BTreeSet;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

const OF_PROGRAM: &str = "pw_xmp";
const OF_GROUP: &str = "pw_lia";
const OF_ROUTE: &str = "pw_olia";
const OF_NAMESPACE: &str = "pw_balia";
const ALL: [&str; 4] = [OF_PROGRAM, OF_GROUP, OF_ROUTE, OF_NAMESPACE];
const PATIENCE: Duration = Duration::from_secs(20);

/// Who gives a controller, beside the namespace, which always does.
#[derive(Clone, Copy, Debug)]
struct Givers {
    program: bool,
    group: bool,
    route: bool,
}

impl Givers {
    fn all() -> impl Iterator<Item = Givers> {
        (0..8).map(|bits| Givers {
            program: bits & 1 != 0,
            group: bits & 2 != 0,
            route: bits & 4 != 0,
        })
    }

    /// Whose controller a connection has from its beginning.
    fn first(self) -> &'static str {
        match self {
            Givers { route: true, .. } => OF_ROUTE,
            Givers { program: true, .. } => OF_PROGRAM,
            Givers { group: true, .. } => OF_GROUP,
            _ => OF_NAMESPACE,
        }
    }
}

/// What the tests share: the controllers are loaded, and hosts begin with one of them by default.
struct Stage {
    cgroup: Cgroup,
}

impl Stage {
    fn set_up() -> Stage {
        let stage = Stage {
            cgroup: Cgroup::new(),
        };
        for name in ALL {
            let short = name.trim_start_matches("pw_");
            kernel::load(&request(short)).unwrap().pin().unwrap();
        }
        stage
    }

    /// Hosts of which one has a default, and gives its routes a controller where that is wanted.
    fn hosts(&self, ours: fn(&Hosts) -> &str, end: u8, with_routes: bool) -> Hosts {
        let hosts = Hosts::new();
        let host = ours(&hosts);
        hosts.set(host, "net/ipv4/tcp_congestion_control", OF_NAMESPACE);
        // The second subflow may go from the second cable to the first one's address: that is a route, too.
        let pairs = [(1, 1, 0), (2, 2, 0), (1, 2, 9), (2, 1, 9)];
        for (network, cable, metric) in pairs.into_iter().filter(|_| with_routes) {
            let over = format!("dev c{cable} src 10.0.{cable}.{end} metric {metric}");
            ip(&format!(
                "-n {host} route replace 10.0.{network}.0/24 {over} congctl {OF_ROUTE}"
            ));
        }
        hosts
    }

    fn group_uses_it(&self) {
        let used = self.cgroup.run(&[OF_GROUP.trim_start_matches("pw_")]);
        assert!(used.status.success(), "{used:?}");
    }

    fn group_uses_none(&self) {
        let off = self.cgroup.run(&["--off"]);
        assert!(off.status.success(), "{off:?}");
    }
}

/// What it does not remove shows in the inventory at the end of a test that passes.
impl Drop for Stage {
    fn drop(&mut self) {
        for name in ALL {
            let _ = kernel::unload(name, Users::Get(None));
        }
    }
}

fn client(hosts: &Hosts) -> &str {
    &hosts.client
}

fn server(hosts: &Hosts) -> &str {
    &hosts.server
}

/// The controllers of a host's subflows, once the connection has two.
fn controllers(host: &str, is_end: fn(&Socket) -> bool) -> BTreeSet<&'static str> {
    let begin = Instant::now();
    loop {
        let of = |control: &str| {
            let uses = find_sockets(control).unwrap().uses.into_iter();
            let here = uses.filter(|uses| uses.namespace.as_deref() == Some(host));
            let sockets = here.flat_map(|uses| uses.sockets);
            sockets
                .filter(|socket| !socket.listens && is_end(socket))
                .count()
        };
        let found = ALL.map(|control| (control, of(control)));
        let subflows: usize = found.iter().map(|(_, count)| count).sum();
        if subflows >= 2 {
            let used = found.into_iter().filter(|(_, count)| *count > 0);
            return used.map(|(control, _)| control).collect();
        }
        assert!(begin.elapsed() < PATIENCE, "{found:?} in {host}");
        std::thread::yield_now();
    }
}

fn of_client(socket: &Socket) -> bool {
    socket.remote.port() == PORT
}

fn of_server(socket: &Socket) -> bool {
    socket.local.port() == PORT
}

fn connect(hosts: &Hosts, chooses: bool) -> TcpStream {
    if chooses {
        hosts.connect(OF_PROGRAM)
    } else {
        hosts.connect_by_default()
    }
}

fn listen(hosts: &Hosts, chooses: bool) -> TcpListener {
    if chooses {
        hosts.listen(OF_PROGRAM)
    } else {
        hosts.listen_by_default()
    }
}

#[test]
fn who_connects_has_that_of_the_route_or_the_program_or_the_group_or_the_namespace() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let stage = Stage::set_up();
    for givers in Givers::all() {
        let hosts = stage.hosts(client, 1, givers.route);
        let listener = hosts.listen_by_default();
        let open = if givers.group {
            stage.group_uses_it();
            stage.cgroup.with(|| connect(&hosts, givers.program))
        } else {
            connect(&hosts, givers.program)
        };
        let accepted = listener.accept().unwrap();
        let found = controllers(&hosts.client, of_client);
        assert_eq!(found, BTreeSet::from([givers.first()]), "{givers:?}");
        drop((open, accepted, listener));
        if givers.group {
            stage.group_uses_none();
        }
    }
    drop(stage);
    before.assert_is_again();
}

#[test]
fn who_accepts_has_that_of_the_route_or_the_program_or_the_group_or_the_namespace() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let stage = Stage::set_up();
    for givers in Givers::all() {
        let hosts = stage.hosts(server, 2, givers.route);
        let listener = if givers.group {
            stage.group_uses_it();
            stage.cgroup.with(|| listen(&hosts, givers.program))
        } else {
            listen(&hosts, givers.program)
        };
        let open = (hosts.connect_by_default(), listener.accept().unwrap());
        let found = controllers(&hosts.server, of_server);
        assert_eq!(found, BTreeSet::from([givers.first()]), "{givers:?}");
        drop((open, listener));
        if givers.group {
            stage.group_uses_none();
        }
    }
    drop(stage);
    before.assert_is_again();
}

#[test]
fn a_group_comes_before_the_route_at_a_listener_from_before() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let stage = Stage::set_up();
    for (chooses, expected) in [(false, OF_GROUP), (true, OF_ROUTE)] {
        let hosts = stage.hosts(server, 2, true);
        let listener = stage.cgroup.with(|| listen(&hosts, chooses));
        stage.group_uses_it();
        let open = (hosts.connect_by_default(), listener.accept().unwrap());
        let found = controllers(&hosts.server, of_server);
        assert_eq!(found, BTreeSet::from([expected]), "it chooses: {chooses}");
        drop((open, listener));
        stage.group_uses_none();
    }
    drop(stage);
    before.assert_is_again();
}

#[test]
fn what_a_program_chooses_later_replaces_all_others() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let stage = Stage::set_up();
    stage.group_uses_it();
    for route in [false, true] {
        let hosts = stage.hosts(client, 1, route);
        let listener = hosts.listen_by_default();
        let open = stage.cgroup.with(|| hosts.connect_by_default());
        let accepted = listener.accept().unwrap();
        let given = Givers {
            program: false,
            group: true,
            route,
        };
        let found = controllers(&hosts.client, of_client);
        assert_eq!(found, BTreeSet::from([given.first()]));
        set_tcp_congestion(open.as_fd(), OF_PROGRAM).expect("the control is there");
        let found = controllers(&hosts.client, of_client);
        assert_eq!(found, BTreeSet::from([OF_PROGRAM]), "with a route: {route}");
        drop((open, accepted, listener));
    }
    stage.group_uses_none();
    drop(stage);
    before.assert_is_again();
}

/// Without a message: nobody is to take it for a test that has failed.
#[test]
fn a_test_that_fails_in_the_group_leaves_nothing_behind() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let own_group = || fs::read_to_string("/proc/self/cgroup").expect("there are groups");
    let own = own_group();
    let failed = catch_unwind(|| {
        let stage = Stage::set_up();
        stage.group_uses_it();
        stage.cgroup.with(|| resume_unwind(Box::new(())))
    });
    assert!(failed.is_err());
    assert_eq!(own_group(), own);
    before.assert_is_again();
}
