//! Controllers come, are used, and go without a trace.

use super::hosts::Hosts;
use super::inventory::Inventory;
use super::traffic::{carry, carry_blocks};
use crate::this_machine;
use pathweave_control::{ParameterKind, Value, find};
use pathweave_linux::kernel::{self, Request, Users};
use std::fs;
use std::io::Read;
use std::path::Path;

pub fn request(name: &str) -> Request {
    let entry = find(name).expect("it is in the registry");
    Request::new(entry, &entry.defaults(), 2).expect("its defaults have a counterpart")
}

#[test]
fn all_twelve_are_there() {
    let mut names: Vec<&str> = kernel::names().collect();
    names.sort_unstable();
    let expected = [
        "amp",
        "balia",
        "dcm",
        "dctcp",
        "eutcp",
        "ewtcp",
        "fcc",
        "lia",
        "olia",
        "semicoupled",
        "wutcp",
        "xmp",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_hundred_times_loaded_and_unloaded_nothing_is_left() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for _ in 0..100 {
        kernel::load(&request("xmp")).unwrap().pin().unwrap();
        kernel::unload("pw_xmp", Users::Stay).unwrap();
    }
    before.assert_is_again();
}

#[test]
fn what_is_not_pinned_goes_with_its_process() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for name in kernel::names() {
        let loaded = kernel::load(&request(name)).unwrap();
        assert_ne!(Inventory::take(), before);
        drop(loaded);
    }
    before.assert_is_again();
}

#[test]
fn every_variant_is_one_that_the_kernel_takes() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let mut variants = Vec::new();
    for name in kernel::names() {
        let entry = find(name).expect("it is in the registry");
        let variant = entry.parameters.iter().find(|p| p.name == "variant");
        let Some(ParameterKind::Choice(choices)) = variant.map(|p| &p.kind) else {
            continue;
        };
        for choice in *choices {
            let given = [("variant".to_owned(), Value::Text((*choice).to_owned()))];
            let request = Request::new(entry, &entry.parameters(&given).unwrap(), 2).unwrap();
            assert!(request.text.contains(&format!("variant={choice}")));
            drop(kernel::load(&request).unwrap());
            variants.push(format!("{name} {choice}"));
        }
    }
    let expected = [
        "balia paper",
        "balia linux",
        "lia rfc",
        "lia linux",
        "olia paper",
        "olia linux",
        "xmp paper",
        "xmp kernel",
    ];
    assert_eq!(variants, expected);
}

#[test]
fn all_carry_over_two_subflows_with_ecn_and_without() {
    const MOST: usize = 2000;
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    hosts.slow_down("200mbit");
    for ecn in ["0", "1"] {
        hosts.set(&hosts.client, "net/ipv4/tcp_ecn", ecn);
        hosts.set(&hosts.server, "net/ipv4/tcp_ecn", ecn);
        for name in kernel::names() {
            let loaded = kernel::load(&request(name)).unwrap();
            let control = loaded.kernel_name().to_owned();
            let listener = hosts.listen(&control);
            let both_carry = || {
                let connections = loaded.connections().unwrap();
                let carrying = |connection: &kernel::Connection| {
                    let rows = connection.subflows.iter();
                    rows.filter(|row| row.packets > 0 && row.window >= 1.0)
                        .count()
                        >= 2
                };
                connections.iter().any(carrying)
            };
            let mut blocks = 0;
            let (sent, received) = carry_blocks(&listener, hosts.connect(&control), || {
                blocks += 1;
                if blocks > MOST || both_carry() {
                    0
                } else {
                    1 << 16
                }
            });
            assert_eq!(sent, received, "{name}, ECN {ecn}");
            assert!(
                blocks <= MOST,
                "{name}, ECN {ecn}: one subflow does not carry"
            );
        }
    }
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn short_connections_leave_no_row() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let loaded = kernel::load(&request("xmp")).unwrap();
    let hosts = Hosts::new();
    let listener = hosts.listen("pw_xmp");
    for _ in 0..1000 {
        assert_eq!(carry(&listener, hosts.connect("pw_xmp"), 3000), 3000);
    }
    drop(listener);
    drop(hosts);
    let begin = std::time::Instant::now();
    while !loaded.connections().unwrap().is_empty() {
        let left = loaded.connections().unwrap();
        assert!(begin.elapsed().as_secs() < 20, "rows are left: {left:?}");
        std::thread::yield_now();
    }
    drop(loaded);
    before.assert_is_again();
}

#[test]
fn when_the_map_is_full_connections_behave_as_reno() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let room = Request {
        connections: 2,
        ..request("xmp")
    };
    let loaded = kernel::load(&room).unwrap();
    let hosts = Hosts::new();
    let listener = hosts.listen("pw_xmp");
    // The first one's two ends take all the room.
    let first = hosts.connect("pw_xmp");
    let (mut accepted, _) = listener.accept().unwrap();
    for _ in 0..3 {
        assert_eq!(
            carry(&listener, hosts.connect("pw_xmp"), 5_000_000),
            5_000_000
        );
    }
    assert_eq!(loaded.connections().unwrap().len(), 2);
    drop(first);
    assert_eq!(accepted.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn what_is_in_use_stays_unless_it_is_forced() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let listener = hosts.listen("pw_xmp");
    let connection = hosts.connect("pw_xmp");
    let (accepted, _) = listener.accept().unwrap();

    let again = kernel::load(&request("xmp"))
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(again.contains("pw_xmp"), "{again}");
    let refused = kernel::unload("pw_xmp", Users::Stay)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("pw_xmp is in use: "), "{refused}");
    assert!(
        refused.contains(&format!("in namespace {}", hosts.server)),
        "{refused}"
    );
    assert!(refused.contains("--force"), "{refused}");

    kernel::unload("pw_xmp", Users::Get(Some("reno"))).unwrap();
    assert_eq!(kernel::find_sockets("pw_xmp").unwrap().uses, []);
    let moved = kernel::find_sockets("reno").unwrap().uses;
    let sockets: usize = moved.iter().map(|uses| uses.sockets.len()).sum();
    assert!(sockets >= 3, "listener and both ends: {moved:?}");
    drop((accepted, connection, listener, hosts));
    before.assert_is_again();
}

#[test]
fn a_namespaces_default_is_a_use() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "pw_xmp");
    let refused = kernel::unload("pw_xmp", Users::Stay)
        .unwrap_err()
        .to_string();
    let place = format!("default of new sockets in namespace {}", hosts.client);
    assert!(refused.contains(&place), "{refused}");
    kernel::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn what_a_crash_left_is_unloaded() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let folder = Path::new("/sys/fs/bpf/pathweave/pw_xmp");
    for pin in fs::read_dir(folder).unwrap().flatten() {
        // As if the loader had been killed before it pinned these.
        if pin.file_name() != "connections" {
            fs::remove_file(pin.path()).unwrap();
        }
    }
    kernel::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
    let refused = kernel::unload("pw_xmp", Users::Stay)
        .unwrap_err()
        .to_string();
    assert_eq!(refused, "pw_xmp is not loaded");
}
