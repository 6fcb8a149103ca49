//! What `unload --force` gives namespaces and their sockets when nobody says what.
//!
//! Namespaces other than the first one may have reno, what the machine allows, and controllers of ours: the tests take reno
//! and `pw_lia`.

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

/// What is remembered of the controller that was loaded.
fn remembered() -> Vec<String> {
    let entries = fs::read_dir("/run/pathweave")
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("pw_xmp")).collect()
}

fn done(line: &str) {
    let ended = kernel(line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn namespaces_get_the_defaults_that_they_had() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let Hosts { client, server } = &hosts;
    done("load lia");
    hosts.set(client, DEFAULT, "reno");
    hosts.set(server, DEFAULT, "pw_lia");
    done("load xmp");
    assert_eq!(remembered().len(), 1);
    for host in [client, server] {
        hosts.set(host, DEFAULT, "pw_xmp");
    }
    let listener = hosts.listen_by_default();
    let open = (hosts.connect_by_default(), listener.accept().unwrap());
    assert!(sockets("pw_xmp", client) >= 1 && sockets("pw_xmp", server) >= 2);
    done("unload xmp --force");
    assert_eq!(
        [hosts.default_of(client), hosts.default_of(server)],
        ["reno", "pw_lia"]
    );
    assert!(sockets("reno", client) >= 1 && sockets("pw_lia", server) >= 2);
    assert_eq!(remembered(), Vec::<String>::new());
    drop((open, listener));
    drop(hosts);
    done("unload lia");
    before.assert_is_again();
}

#[test]
fn namespaces_that_came_later_get_that_of_the_caller() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    done("load lia");
    // One with a default of its own goes, so that another may have its number.
    let gone = format!("pwk-{}-gone", std::process::id());
    ip(&format!("netns add {gone}"));
    ip(&format!(
        "netns exec {gone} sysctl -qw net.ipv4.tcp_congestion_control=pw_lia"
    ));
    done("load xmp");
    ip(&format!("netns del {gone}"));
    let hosts = Hosts::new();
    for host in [&hosts.client, &hosts.server] {
        hosts.set(host, DEFAULT, "pw_xmp");
    }
    done("unload xmp --force");
    let allowed = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    let allowed = allowed.expect("there is a list");
    let own = own_default();
    let expected = match allowed.split_whitespace().any(|name| name == own) {
        true => own.as_str(),
        false => "reno",
    };
    for host in [&hosts.client, &hosts.server] {
        assert_eq!(hosts.default_of(host), expected);
    }
    drop(hosts);
    done("unload lia");
    before.assert_is_again();
}

#[test]
fn a_control_that_is_named_comes_before_what_was_recorded() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    done("load lia");
    let hosts = Hosts::new();
    hosts.set(&hosts.client, DEFAULT, "reno");
    done("load xmp");
    hosts.set(&hosts.client, DEFAULT, "pw_xmp");
    done("unload xmp --force --instead pw_lia");
    assert_eq!(hosts.default_of(&hosts.client), "pw_lia");
    assert_eq!(remembered(), Vec::<String>::new());
    drop(hosts);
    done("unload lia");
    before.assert_is_again();
}
