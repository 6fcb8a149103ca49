//! Two hosts, as network namespaces, joined by two cables.

use rustix::net::{AddressFamily, Ipv4Addr, Protocol, SocketType, sockopt};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;

/// IPPROTO_MPTCP.
const MPTCP: u32 = 262;
pub const PORT: u16 = 5001;

/// Removes its namespaces when it goes.
pub struct Hosts {
    pub client: String,
    pub server: String,
}

pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);

pub fn ip(arguments: &str) {
    run("ip", arguments);
}

/// Runs it, and gives what it prints.
fn run(program: &str, arguments: &str) -> String {
    let words = arguments.split_whitespace();
    let output = Command::new(program).args(words).output();
    let output = output.expect("iproute2 is installed");
    assert!(
        output.status.success(),
        "{program} {arguments}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Hosts {
    pub fn new() -> Hosts {
        let name = |role: &str| format!("pwk-{}-{role}", std::process::id());
        let hosts = Hosts {
            client: name("client"),
            server: name("server"),
        };
        let Hosts { client, server } = &hosts;
        for host in [client, server] {
            ip(&format!("netns add {host}"));
            ip(&format!("-n {host} link set lo up"));
            ip(&format!(
                "-n {host} mptcp limits set subflow 8 add_addr_accepted 8"
            ));
        }
        for cable in 1..=2 {
            ip(&format!(
                "link add c{cable} netns {client} type veth peer name c{cable} netns {server}"
            ));
            for (host, end) in [(client, 1), (server, 2)] {
                ip(&format!(
                    "-n {host} addr add 10.0.{cable}.{end}/24 dev c{cable}"
                ));
                ip(&format!("-n {host} link set c{cable} up"));
            }
        }
        ip(&format!(
            "-n {client} mptcp endpoint add 10.0.2.1 dev c2 subflow"
        ));
        ip(&format!(
            "-n {server} mptcp endpoint add 10.0.2.2 dev c2 signal"
        ));
        hosts
    }

    /// Slows the client's cables down, so that one alone cannot carry what is sent.
    pub fn slow_down(&self, rate: &str) {
        for cable in 1..=2 {
            let queue = format!("root tbf rate {rate} burst 30kb latency 20ms");
            run(
                "tc",
                &format!("-n {} qdisc add dev c{cable} {queue}", self.client),
            );
        }
    }

    /// Bytes that the client's fullest subflow has taken and not sent.
    pub fn most_unsent(&self) -> usize {
        let sockets = run("ip", &format!("netns exec {} ss -tinH", self.client));
        let words = sockets.split_whitespace();
        let unsent = words.filter_map(|word| word.strip_prefix("notsent:"));
        unsent
            .map(|bytes| bytes.parse().expect("a number of bytes"))
            .max()
            .unwrap_or(0)
    }

    /// A listener of the server with this control.
    pub fn listen(&self, control: &str) -> TcpListener {
        let server = self.server.clone();
        let control = control.to_owned();
        inside(&server, move || {
            let socket = socket(&control, MPTCP);
            sockopt::set_socket_reuseaddr(&socket, true).expect("SO_REUSEADDR");
            let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);
            rustix::net::bind(&socket, &any).expect("a free port");
            rustix::net::listen(&socket, 64).expect("it listens");
            TcpListener::from(socket)
        })
    }

    /// A connection of the client with this control.
    pub fn connect(&self, control: &str) -> TcpStream {
        let client = self.client.clone();
        let control = control.to_owned();
        inside(&client, move || {
            let socket = socket(&control, MPTCP);
            let server = SocketAddrV4::new(SERVER, PORT);
            rustix::net::connect(&socket, &server).expect("the server answers");
            TcpStream::from(socket)
        })
    }

    /// The client's default control, which is the server's as well.
    pub fn default_control(&self) -> String {
        self.default_of(&self.client)
    }

    /// A host's default control.
    pub fn default_of(&self, host: &str) -> String {
        inside(host, || {
            let path = "/proc/sys/net/ipv4/tcp_congestion_control";
            let text = std::fs::read_to_string(path).expect("the namespace has a default");
            text.trim().to_owned()
        })
    }

    /// A listener of the server that chooses no control.
    pub fn listen_by_default(&self) -> TcpListener {
        inside(&self.server, move || {
            let socket = plain_socket(MPTCP);
            sockopt::set_socket_reuseaddr(&socket, true).expect("SO_REUSEADDR");
            let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);
            rustix::net::bind(&socket, &any).expect("a free port");
            rustix::net::listen(&socket, 64).expect("it listens");
            TcpListener::from(socket)
        })
    }

    /// A connection of the client that chooses no control.
    pub fn connect_by_default(&self) -> TcpStream {
        inside(&self.client, move || {
            let socket = plain_socket(MPTCP);
            let server = SocketAddrV4::new(SERVER, PORT);
            rustix::net::connect(&socket, &server).expect("the server answers");
            TcpStream::from(socket)
        })
    }

    /// Sets what a host's namespace has of its own.
    pub fn set(&self, host: &str, key: &'static str, value: &'static str) {
        inside(host, move || {
            std::fs::write(format!("/proc/sys/{key}"), value).expect("a setting of the namespace");
        });
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in [&self.client, &self.server] {
            let deletion = ["netns", "del", host];
            let deleted = Command::new("ip").args(deletion).output();
            // A panic on top of another one would end all tests.
            if !std::thread::panicking() {
                let deleted = deleted.expect("iproute2 is installed");
                assert!(deleted.status.success(), "{deleted:?}");
            }
        }
    }
}

/// The same, or none where the control cannot be chosen.
pub fn try_socket(control: &str, protocol: u32) -> Option<OwnedFd> {
    let socket = plain_socket(protocol);
    sockopt::set_tcp_congestion(&socket, control).ok()?;
    Some(socket)
}

/// Moves this thread into the namespace.
pub fn enter(namespace: &str) {
    let file = File::open(format!("/run/netns/{namespace}")).expect("the namespace");
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .expect("root may enter it");
}

/// A socket of a protocol, IPPROTO_TCP or MPTCP, with this control.
pub fn socket(control: &str, protocol: u32) -> OwnedFd {
    let socket = plain_socket(protocol);
    sockopt::set_tcp_congestion(&socket, control).expect("the control is there");
    socket
}

/// A socket that chooses no control.
pub fn plain_socket(protocol: u32) -> OwnedFd {
    let protocol = Protocol::from_raw(NonZeroU32::new(protocol).expect("not zero"));
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(protocol));
    socket.expect("the kernel has MPTCP")
}

/// Runs it on a thread that has moved into the namespace.
pub fn inside<T: Send + 'static>(namespace: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let namespace = namespace.to_owned();
    std::thread::spawn(move || {
        enter(&namespace);
        work()
    })
    .join()
    .expect("it does not fail")
}
