//! What `unload --force` gives namespaces and their sockets when nobody says what.

use crate::hosts::{Hosts, ip};
use crate::inventory::Inventory;
use crate::machine;
use crate::program::kernel;
use pathweave_linux::kernel::find_sockets;
use std::fs;

const DEFAULT: &str = "net/ipv4/tcp_congestion_control";

/// How many sockets of a namespace use a control.
fn sockets(control: &str, namespace: &str) -> usize {
    let uses = find_sockets(control).unwrap().uses;
    let of = uses
        .iter()
        .filter(|uses| uses.namespace.as_deref() == Some(namespace));
    of.map(|uses| uses.sockets.len()).sum()
}

fn own_default() -> String {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    text.expect("there is a default").trim().to_owned()
}

/// What is remembered of controllers that were loaded.
fn remembered() -> Vec<String> {
    let entries = fs::read_dir("/run/pathweave")
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("pw_xmp")).collect()
}

#[test]
fn namespaces_get_the_defaults_that_they_had() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let Hosts { client, server } = &hosts;
    hosts.set(client, DEFAULT, "reno");
    hosts.set(server, DEFAULT, "cubic");
    let load = kernel("load xmp");
    assert_eq!(load.code, Some(0), "{load:?}");
    assert_eq!(remembered().len(), 1);
    for host in [client, server] {
        hosts.set(host, DEFAULT, "pw_xmp");
    }
    let listener = hosts.listen_by_default();
    let open = (hosts.connect_by_default(), listener.accept().unwrap());
    assert!(sockets("pw_xmp", client) >= 1 && sockets("pw_xmp", server) >= 2);
    let unload = kernel("unload xmp --force");
    assert_eq!(unload.code, Some(0), "{unload:?}");
    assert_eq!(
        [hosts.default_of(client), hosts.default_of(server)],
        ["reno", "cubic"]
    );
    assert!(sockets("reno", client) >= 1 && sockets("cubic", server) >= 2);
    assert_eq!(remembered(), Vec::<String>::new());
    drop((open, listener));
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn namespaces_that_came_later_get_that_of_the_caller() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    // One with a default of its own goes, so that another may have its number.
    let gone = format!("pwk-{}-gone", std::process::id());
    ip(&format!("netns add {gone}"));
    let other = if own_default() == "reno" {
        "cubic"
    } else {
        "reno"
    };
    ip(&format!(
        "netns exec {gone} sysctl -qw net.ipv4.tcp_congestion_control={other}"
    ));
    let load = kernel("load xmp");
    assert_eq!(load.code, Some(0), "{load:?}");
    ip(&format!("netns del {gone}"));
    let hosts = Hosts::new();
    for host in [&hosts.client, &hosts.server] {
        hosts.set(host, DEFAULT, "pw_xmp");
    }
    let unload = kernel("unload xmp --force");
    assert_eq!(unload.code, Some(0), "{unload:?}");
    for host in [&hosts.client, &hosts.server] {
        assert_eq!(hosts.default_of(host), own_default());
    }
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn a_control_that_is_named_comes_before_what_was_recorded() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let hosts = Hosts::new();
    hosts.set(&hosts.client, DEFAULT, "reno");
    let load = kernel("load xmp");
    assert_eq!(load.code, Some(0), "{load:?}");
    hosts.set(&hosts.client, DEFAULT, "pw_xmp");
    let unload = kernel("unload xmp --force --instead cubic");
    assert_eq!(unload.code, Some(0), "{unload:?}");
    assert_eq!(hosts.default_of(&hosts.client), "cubic");
    assert_eq!(remembered(), Vec::<String>::new());
    drop(hosts);
    before.assert_is_again();
}
