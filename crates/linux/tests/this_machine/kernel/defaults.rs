//! What `unload --force` gives namespaces and their sockets when nobody says what.
//!
//! Namespaces other than the first one may have reno, what the machine allows, and controllers of ours: the tests take reno
//! and `pw_lia`.

use super::allowed::Allowed;
use super::hosts::{Hosts, ip};
use super::inventory::Inventory;
use super::program::{Ended, kernel, shell};
use crate::this_machine;
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
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
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

/// Makes a shell the first process that those it starts can see: its network namespace is the first one to them. The
/// machine's own first process may be hidden.
const FIRST: [&str; 4] = ["unshare", "--pid", "--fork", "--mount-proc"];

/// What namespaces get that have nothing recorded when an administrator of `caller` unloads by force: the default of a
/// namespace that came after the controller was loaded. `inside` runs a command as that administrator.
fn given_to_who_came_later(
    hosts: &Hosts,
    caller_has: &'static str,
    inside: impl Fn(&str) -> Ended,
) -> String {
    let Hosts { client, server } = hosts;
    hosts.set(client, DEFAULT, caller_has);
    hosts.set(server, DEFAULT, "pw_xmp");
    let ended = inside("$P kernel unload xmp --force");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(hosts.default_of(client), caller_has);
    hosts.default_of(server)
}

/// This namespace's default, where others may have it.
fn given_by_this_one() -> String {
    let allowed = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    let allowed = allowed.expect("there is a list");
    let own = own_default();
    match allowed.split_whitespace().any(|name| name == own) {
        true => own,
        false => "reno".to_owned(),
    }
}

#[test]
fn namespaces_that_came_later_get_that_of_the_first_one() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
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
    let other = format!("nsenter --net=/run/netns/{}", hosts.client);
    let given = given_to_who_came_later(&hosts, "pw_lia", |command| {
        shell(&FIRST, &format!("{other} {command}; exit $?"))
    });
    assert_eq!(given, given_by_this_one());
    drop(hosts);
    done("unload lia");
    before.assert_is_again();
}

#[test]
fn a_controller_that_is_the_first_ones_default_is_given_to_nobody_else() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    done("load lia");
    done("load xmp");
    let hosts = Hosts::new();
    let net = format!("--net=/run/netns/{}", hosts.client);
    let first = [&["nsenter", &net], &FIRST[..]].concat();
    let other = format!("nsenter --net=/run/netns/{}", hosts.server);
    let given = given_to_who_came_later(&hosts, "pw_lia", |command| {
        shell(&first, &format!("{other} {command}; exit $?"))
    });
    assert_eq!(given, "reno");
    drop(hosts);
    done("unload lia");
    before.assert_is_again();
}

/// The first namespace has cubic when the controller is loaded, and then the controller; who came later gets neither the
/// controller nor what is given where no default counts.
#[test]
fn where_the_first_one_has_a_controller_by_now_what_it_had_before_counts() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let _allowed = Allowed::control("cubic");
    done("load lia");
    for now in ["pw_xmp", "pw_lia"] {
        let hosts = Hosts::new();
        let Hosts { client, server } = &hosts;
        hosts.set(client, DEFAULT, "cubic");
        hosts.set(server, DEFAULT, "reno");
        done("load xmp");
        hosts.set(client, DEFAULT, now);
        let later = format!("pwk-{}-later", std::process::id());
        ip(&format!("netns add {later}"));
        hosts.set(&later, DEFAULT, "pw_xmp");
        let net = format!("--net=/run/netns/{client}");
        let first = [&["nsenter", &net], &FIRST[..]].concat();
        let script =
            format!("nsenter --net=/run/netns/{server} $P kernel unload xmp --force; exit $?");
        let ended = shell(&first, &script);
        let given = hosts.default_of(&later);
        ip(&format!("netns del {later}"));
        assert_eq!(
            (ended.code, given.as_str()),
            (Some(0), "cubic"),
            "{now}: {ended:?}"
        );
    }
    done("unload lia");
    before.assert_is_again();
}

/// Of the two that the caller has, one differs from the default that the first namespace usually has, and the other from what
/// is given where no default counts.
#[test]
fn where_the_first_namespace_cannot_be_seen_that_of_the_caller_is_given() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let _allowed = Allowed::control("cubic");
    for caller_has in ["reno", "cubic"] {
        done("load xmp");
        let hosts = Hosts::new();
        let other = format!("nsenter --net=/run/netns/{}", hosts.client);
        let given = given_to_who_came_later(&hosts, caller_has, |command| {
            let script = format!("mount -t tmpfs none /proc/1; {other} {command}; exit $?");
            shell(&FIRST, &script)
        });
        assert_eq!(given, caller_has);
    }
    before.assert_is_again();
}

#[test]
fn a_control_that_is_named_comes_before_what_was_recorded() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
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
