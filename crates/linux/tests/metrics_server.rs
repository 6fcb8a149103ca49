//! `pathweave-linux metrics --listen` against hostile clients. No controller is loaded for it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pathweave-linux");
/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const GET: &str = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const CAP_BPF: u64 = 1 << 39;

/// A running server, which ends with the test.
struct Server {
    process: Child,
    port: u16,
    /// What it said when it began.
    said: String,
}

/// None where this user may not look at what is loaded.
fn may_look() -> Option<()> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("left out: only root may look at what is loaded");
    }
    is_root.then_some(())
}

fn start(arguments: &[&str]) -> (Child, String) {
    let mut process = Command::new(PROGRAM)
        .arg("metrics")
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let errors = process.stderr.take().unwrap();
    BufReader::new(errors).read_line(&mut said).unwrap();
    (process, said)
}

impl Server {
    fn start() -> Option<Server> {
        may_look()?;
        // A port that is free now, and is given to nobody else for a while.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let (process, said) = start(&["--listen", &format!("127.0.0.1:{port}")]);
        assert!(said.starts_with("answering on 127.0.0.1"), "{said}");
        Some(Server {
            process,
            port,
            said,
        })
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The whole answer to a request.
    fn answer(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read(&mut stream)
    }

    fn assert_answers(&self) {
        let answer = self.answer(GET);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }

    /// A number of /proc/PID/status.
    fn status(&self, key: &str, radix: u32) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let word = value.and_then(|value| value.split_whitespace().next());
        u64::from_str_radix(word.unwrap_or_else(|| panic!("{key}: {text}")), radix).unwrap()
    }

    fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.process.id());
        fs::read_dir(folder).unwrap().count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What comes until the server closes the connection. It may reset one whose request it has not read to the end.
fn read(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("{error}"),
        _ => String::from_utf8(bytes).unwrap(),
    }
}

fn refused(arguments: &[&str]) -> String {
    let output: Output = Command::new(PROGRAM)
        .arg("metrics")
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_body_is_refused_whatever_its_length() {
    let Some(server) = Server::start() else {
        return;
    };
    for headers in [
        "Content-Length: 1000000000000",
        "Content-Length: 1",
        "Transfer-Encoding: chunked",
    ] {
        let request = format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n");
        let answer = server.answer(&request);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{headers}: {answer}");
        server.assert_answers();
    }
    assert!(server.status("VmHWM", 10) < 30_000);
}

#[test]
fn only_get_of_the_metrics_is_answered() {
    let Some(server) = Server::start() else {
        return;
    };
    for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
        let answer = server.answer(&format!("{method} /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
        assert!(answer.contains("\r\nallow: GET\r\n"), "{method}: {answer}");
    }
    let answer = server.answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    let answer = server.answer(GET);
    assert!(answer.ends_with("# EOF\n"), "{answer}");
}

#[test]
fn a_client_that_waits_to_send_a_body_blocks_nobody() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut waiting = server.connect();
    let request =
        "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n";
    waiting.write_all(request.as_bytes()).unwrap();
    server.assert_answers();
    let answer = read(&mut waiting);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn long_headers_are_refused_and_take_no_memory() {
    let Some(server) = Server::start() else {
        return;
    };
    let with = |bytes: usize| {
        let header = "a".repeat(bytes);
        format!("GET /metrics HTTP/1.1\r\nHost: x\r\nX: {header}\r\n\r\n")
    };
    let answer = server.answer(&with(7000));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = server.answer(&with(9000));
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let mut endless = server.connect();
    endless
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
        .unwrap();
    let part = vec![b'a'; 1_000_000];
    let taken = (0..400).take_while(|_| endless.write_all(&part).is_ok());
    assert!(taken.count() < 400, "all of 400 MB was taken");
    assert!(server.status("VmHWM", 10) < 30_000);
    server.assert_answers();
}

/// As many as one user may have.
const IDLE: usize = 1300;

#[test]
fn idle_connections_are_few_and_end() {
    let Some(server) = Server::start() else {
        return;
    };
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    server.assert_answers();
    let before = server.descriptors();
    let mut idle: Vec<TcpStream> = (0..IDLE).map(|_| server.connect()).collect();
    // The next one takes the place of the oldest. Nobody waits until those have run out of time.
    server.assert_answers();
    assert!(server.descriptors() <= before + 16);
    assert_eq!(server.status("Threads", 10), 1);
    assert!(server.status("VmHWM", 10) < 30_000);
    // The ones left are closed by the server, half a request or not.
    let last = idle.last_mut().unwrap();
    let _ = last.write_all(b"GET /metrics HTTP/1.1\r\n");
    for stream in &mut idle {
        assert_eq!(read(stream), "");
    }
    assert!(server.descriptors() <= before);
}

#[test]
fn sixteen_slow_clients_are_served_together() {
    let Some(server) = Server::start() else {
        return;
    };
    let (begin, end) = GET.split_at(20);
    let mut clients: Vec<TcpStream> = (0..16).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.write_all(begin.as_bytes()).unwrap();
    }
    for client in &mut clients {
        client.write_all(end.as_bytes()).unwrap();
        let answer = read(client);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
}

#[test]
fn half_a_request_is_dropped_after_five_seconds() {
    let Some(server) = Server::start() else {
        return;
    };
    let begin = Instant::now();
    let mut stream = server.connect();
    stream.write_all(b"GET /met").unwrap();
    assert_eq!(read(&mut stream), "");
    assert!(begin.elapsed() >= Duration::from_secs(4));
    server.assert_answers();
}

#[test]
fn privileges_are_dropped_but_for_bpf() {
    let Some(server) = Server::start() else {
        return;
    };
    assert_eq!(server.status("CapEff", 16), CAP_BPF);
    assert_eq!(server.status("CapPrm", 16), CAP_BPF);
    for set in ["CapInh", "CapBnd", "CapAmb"] {
        assert_eq!(server.status(set, 16), 0, "{set}");
    }
    assert_eq!(server.status("NoNewPrivs", 10), 1);
    assert!(
        server.said.contains("; left: user 0, CAP_BPF, reading"),
        "{}",
        server.said
    );
    server.assert_answers();
}

#[test]
fn a_unix_socket_is_its_owners_or_a_groups() {
    if may_look().is_none() {
        return;
    }
    let path: PathBuf =
        std::env::temp_dir().join(format!("pathweave-socket-{}", std::process::id()));
    let address = format!("unix:{}", path.display());
    // The last one takes the place of the one before, which was killed.
    for (arguments, mode, group) in [
        (vec!["--listen", &address], 0o600, 0),
        (vec!["--listen", &address, "--group", "12345"], 0o660, 12345),
    ] {
        let (mut process, said) = start(&arguments);
        assert!(said.starts_with("answering on unix:"), "{said}");
        let about = fs::symlink_metadata(&path).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, mode);
        assert_eq!((about.uid(), about.gid()), (0, group));
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(GET.as_bytes()).unwrap();
        assert!(read(&mut stream).starts_with("HTTP/1.1 200 "));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    fs::remove_file(&path).unwrap();
}

#[test]
fn without_an_address_it_listens_on_a_unix_socket() {
    if may_look().is_none() {
        return;
    }
    // In a /run of its own, since a server of this machine may use the socket.
    let script = "mount -t tmpfs tmpfs /run && exec \"$@\"";
    for (arguments, mode, group) in [
        (vec!["--listen"], 0o600, 0),
        (vec!["--listen", "--group", "12345"], 0o660, 12345),
    ] {
        let mut process = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", script])
            .args(["sh", PROGRAM, "metrics"])
            .args(&arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let errors = process.stderr.take().unwrap();
        BufReader::new(errors).read_line(&mut said).unwrap();
        let socket = format!("/proc/{}/root/run/pathweave/metrics", process.id());
        let about = fs::symlink_metadata(socket);
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(
            said.starts_with("answering on unix:/run/pathweave/metrics"),
            "{said}"
        );
        let about = about.unwrap();
        assert_eq!(about.permissions().mode() & 0o777, mode);
        assert_eq!((about.uid(), about.gid()), (0, group));
    }
}

#[test]
fn without_listening_it_prints_once() {
    if may_look().is_none() {
        return;
    }
    let output = Command::new(PROGRAM).arg("metrics").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .ends_with("# EOF\n")
    );
}

#[test]
fn a_listener_that_accepts_nothing_is_not_waited_for() {
    if may_look().is_none() {
        return;
    }
    let path = std::env::temp_dir().join(format!("pathweave-full-socket-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _first = UnixStream::connect(&path).unwrap();
    let (mut process, said) = start(&["--listen", &format!("unix:{}", path.display())]);
    assert_eq!(process.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("in use"), "{said}");
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_group_needs_a_unix_socket_that_exists() {
    assert!(refused(&["--group", "0"]).contains("--listen"));
    assert!(refused(&["--listen", "--group", "no-such-group"]).contains("no-such-group"));
    if may_look().is_some() {
        let said = refused(&["--listen", "127.0.0.1:1", "--group", "0"]);
        assert!(said.contains("--group needs a Unix socket"), "{said}");
    }
}
