//! `unload --force` while connections come and go: it ends with nothing left, and nobody can choose the controller any more.

use super::hosts::{Hosts, PORT, SERVER, enter, plain_socket, try_socket};
use super::inventory::Inventory;
use crate::this_machine;
use pathweave_control::find;
use pathweave_linux::kernel::{self, Request, Users};
use rustix::net::SocketAddrV4;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// IPPROTO_MPTCP.
const MPTCP: u32 = 262;
/// How often each test unloads it; `PATHWEAVE_FORCED_UNLOADS` sets another number:
/// `PATHWEAVE_FORCED_UNLOADS=100 cargo test -p pathweave-linux --test linux off_switch`.
const CYCLES: u32 = 5;
/// Connections that have to be over before it is unloaded: the load is there.
const BEGUN: u32 = 20;

fn load_xmp() {
    let entry = find("xmp").expect("it is in the registry");
    let request = Request::new(entry, &entry.defaults(), 2).expect("it has a counterpart");
    kernel::load(&request).unwrap().pin().unwrap();
}

fn cycles() -> u32 {
    let set = std::env::var("PATHWEAVE_FORCED_UNLOADS").ok();
    set.map_or(CYCLES, |text| text.parse().expect("a number of unloads"))
}

/// Shuts a listener down when it goes.
struct ShutDown<'a>(&'a TcpListener);

impl Drop for ShutDown<'_> {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(self.0, rustix::net::Shutdown::Both);
    }
}

/// Answers connections with what they send, until the listener is shut down.
fn answer(listener: &TcpListener) {
    thread::scope(|scope| {
        while let Ok((mut stream, _)) = listener.accept() {
            scope.spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(read @ 1..) = stream.read(&mut bytes) {
                    if stream.write_all(&bytes[..read]).is_err() {
                        break;
                    }
                }
            });
        }
    });
}

/// A short connection; whether it went well.
fn exchange(socket: OwnedFd) -> bool {
    let server = SocketAddrV4::new(SERVER, PORT);
    if rustix::net::connect(&socket, &server).is_err() {
        return false;
    }
    let mut stream = TcpStream::from(socket);
    let mut answer = [0; 1000];
    stream.write_all(&[7; 1000]).is_ok() && stream.read_exact(&mut answer).is_ok()
}

/// Unloads by force again and again while `clients` threads make short connections with sockets from `make`, which
/// gives none once the controller cannot be chosen any more.
fn unload_under_load(
    hosts: &Hosts,
    clients: u32,
    make: fn() -> Option<OwnedFd>,
    prepare: impl Fn(&Hosts),
) {
    let listener = hosts.listen_by_default();
    let done = thread::scope(|scope| {
        let served = listener.try_clone().expect("a second handle");
        scope.spawn(move || answer(&served));
        // Whoever answers ends with this, however it ends: a failure would wait for it.
        let _ended = ShutDown(&listener);
        (0..cycles()).try_for_each(|cycle| {
            load_xmp();
            prepare(hosts);
            let (stop, over) = (AtomicBool::new(false), AtomicU32::new(0));
            let (begun, has_begun) = channel();
            let unloaded = thread::scope(|scope| {
                for _ in 0..clients {
                    let begun = begun.clone();
                    let (stop, over) = (&stop, &over);
                    let client = hosts.client.clone();
                    scope.spawn(move || {
                        enter(&client);
                        while !stop.load(Ordering::Relaxed) {
                            let Some(socket) = make() else { break };
                            exchange(socket);
                            if over.fetch_add(1, Ordering::Relaxed) == BEGUN {
                                let _ = begun.send(());
                            }
                        }
                    });
                }
                has_begun.recv().expect("connections are made");
                let unloaded = kernel::unload("pw_xmp", Users::Get(None));
                stop.store(true, Ordering::Relaxed);
                unloaded
            });
            unloaded.map_err(|failure| format!("unload {cycle}: {failure}"))?;
            let available =
                std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            match available.expect("the kernel has a list").contains("pw_xmp") {
                true => Err(format!("after unload {cycle} it can still be chosen")),
                false => Ok(()),
            }
        })
    });
    done.unwrap_or_else(|problem: String| panic!("{problem}"));
}

#[test]
fn it_ends_while_programs_ask_for_the_controller() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    unload_under_load(&hosts, 4, || try_socket("pw_xmp", MPTCP), |_| ());
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn it_ends_while_a_namespace_has_the_controller_as_its_default() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let set_default = |hosts: &Hosts| {
        hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "pw_xmp");
    };
    unload_under_load(&hosts, 32, || Some(plain_socket(MPTCP)), set_default);
    assert_ne!(hosts.default_control(), "pw_xmp");
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn users_get_the_control_that_is_named_or_nothing_happens() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    load_xmp();
    hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "pw_xmp");
    let refused = kernel::unload("pw_xmp", Users::Get(Some("nothing")))
        .unwrap_err()
        .to_string();
    assert!(
        refused
            .starts_with("nothing cannot take the place of pw_xmp: the kernel has no such control"),
        "{refused}"
    );
    assert_eq!(hosts.default_control(), "pw_xmp");
    kernel::unload("pw_xmp", Users::Get(Some("reno"))).unwrap();
    assert_eq!(hosts.default_control(), "reno");
    drop(hosts);
    before.assert_is_again();
}
