//! One flow over QUIC: a connection with a path for each subflow, and one stream on it.

use super::settings::{QuicSettings, SERVER_NAME, ping_every, silence};
use super::side::{Arrived, Side};
use crate::Failure;
use crate::testbed::connection::PIECE;
use crate::testbed::frame::{address, port};
use crate::testbed::namespace::{Home, Namespace};
use crate::testbed::stream::Stream;
use noq_proto::{
    Connection, Dir, Event, FourTuple, PathEvent, PathId, PathStats, PathStatus, ReadError,
    ReadableError, StreamId, WriteError,
};
use pathweave_engine::live::{FirstArrival, SubflowView};
use pathweave_noq::Coupled;
use pathweave_transport::{Config, EcnUse};
use pathweave_units::Time;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

/// What a flow is, before it has sockets.
pub struct QuicSetup<'a> {
    pub flow: u32,
    pub slot: u32,
    pub source: u32,
    pub destination: u32,
    /// Bytes; `None` until it is stopped.
    pub size: Option<u64>,
    /// When its paths may open.
    pub opens: Vec<Instant>,
    /// The longest RTT of its paths without queues, by the machine's clock.
    pub rtt: Duration,
    pub transport: &'a Config,
    pub coupled: &'a Coupled,
    pub settings: &'a QuicSettings,
    pub stream: Stream,
}

/// A flow's two ends, and how far it is.
pub struct QuicFlow {
    flow: u32,
    slot: u32,
    source: u32,
    destination: u32,
    size: Option<u64>,
    stream: Stream,
    client: Side,
    server: Side,
    sending: Option<StreamId>,
    receiving: Option<StreamId>,
    /// Bytes that the sender's endpoint has taken.
    written: u64,
    /// Bytes that the far end has read, in any order.
    received: u64,
    /// Nothing more will be written.
    shut: bool,
    /// The end of the stream has been written.
    finished: bool,
    /// The peer has confirmed the handshake: further paths may open.
    confirmed: bool,
    /// A path that is silent for so long is given up, and is tried again after as long.
    silence: Duration,
    /// Of each subflow.
    paths: Vec<Subflow>,
    /// Bytes of a full packet, of which windows are counted.
    payload: f64,
    buffer: Vec<u8>,
}

/// What is known of a subflow: the paths that it has had.
#[derive(Clone, Copy)]
struct Subflow {
    /// When it may open.
    opens: Instant,
    path: Option<PathId>,
    opened: Option<Instant>,
    /// When its path is pinged next.
    ping: Instant,
    /// What paths that are gone have counted.
    before: Counts,
    /// Of the path that it has, when it was last looked at.
    now: Counts,
    window: f64,
    ssthresh: f64,
    rtt: Option<Duration>,
    /// Bytes that were read for the first time.
    received: u64,
    marks: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    lost_packets: u64,
    lost_bytes: u64,
}

impl Counts {
    fn of(stats: &PathStats) -> Counts {
        Counts {
            packets: stats.sent_packets,
            bytes: stats.sent_bytes,
            lost_packets: stats.lost_packets,
            lost_bytes: stats.lost_bytes,
        }
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            lost_packets: self.lost_packets + other.lost_packets,
            lost_bytes: self.lost_bytes + other.lost_bytes,
        }
    }
}

impl QuicFlow {
    /// Makes a flow's sockets and begins to connect.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(
        setup: QuicSetup<'_>,
        hosts: &[Namespace],
        home: &Home,
    ) -> Result<QuicFlow, Failure> {
        let QuicSetup {
            source,
            destination,
            slot,
            ..
        } = setup;
        let failed = |error: io::Error| {
            Failure::new(format!(
                "cannot open a flow from host {source} to host {destination} over QUIC: {error}"
            ))
        };
        let config = setup.transport;
        let silence = silence(setup.rtt);
        let subflows = setup.opens.len() as u32;
        let (client_config, server_config) =
            setup
                .settings
                .connection(config, subflows, silence, setup.coupled);
        let ecn = match config.ecn {
            EcnUse::ByController => setup.coupled.answers_marks(),
            EcnUse::On => true,
            EcnUse::Off => false,
        };
        let endpoint = || setup.settings.endpoint.clone();
        // A path's packets tell their addresses, so that one socket does for all.
        let any = |port| SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port);
        let server = hosts[destination as usize].inside(home, || {
            Side::open(any(port(slot)), endpoint(), Some(server_config), ecn).map_err(failed)
        })?;
        let mut client = hosts[source as usize].inside(home, || {
            Side::open(any(0), endpoint(), None, ecn).map_err(failed)
        })?;
        let to = SocketAddrV4::new(address(destination, 0), port(slot));
        client
            .connect(Instant::now(), client_config, to, SERVER_NAME)
            .map_err(failed)?;
        let paths = setup.opens.iter().map(|&opens| Subflow {
            opens,
            path: None,
            opened: None,
            ping: opens,
            before: Counts::default(),
            now: Counts::default(),
            window: 0.0,
            ssthresh: f64::INFINITY,
            rtt: None,
            received: 0,
            marks: 0,
        });
        let mut paths: Vec<Subflow> = paths.collect();
        paths[0].path = Some(PathId::ZERO);
        Ok(QuicFlow {
            flow: setup.flow,
            slot,
            source,
            destination,
            size: setup.size,
            stream: setup.stream,
            client,
            server,
            sending: None,
            receiving: None,
            written: 0,
            received: 0,
            shut: false,
            finished: false,
            confirmed: false,
            silence,
            paths,
            payload: f64::from(config.data_packet - super::groups::HEADERS),
            buffer: vec![0; PIECE],
        })
    }

    /// Its two ends, to be waited for.
    pub fn sides(&self) -> [&Side; 2] {
        [&self.client, &self.server]
    }

    /// Bytes that have been read at the far end.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether everything has been read at the far end.
    pub fn is_complete(&self) -> bool {
        let total = if self.shut {
            Some(self.written)
        } else {
            self.size
        };
        total == Some(self.received)
    }

    fn is_multipath(&self) -> bool {
        self.paths.len() > 1
    }

    /// Writes nothing any more.
    pub fn stop(&mut self) {
        self.shut = true;
    }

    /// When it is to be called again though nothing has come.
    pub fn next_due(&self) -> Option<Instant> {
        let own = self.paths.iter().map(|subflow| match subflow.path {
            None => subflow.opens,
            Some(_) => subflow.ping,
        });
        let own = own.min().filter(|_| self.confirmed && self.is_multipath());
        let timeouts = [self.client.timeout(), self.server.timeout(), own];
        timeouts.into_iter().flatten().min()
    }

    /// Takes in what has come, does what is due, and sends what may be sent; `arrived` gets what was read for the first time.
    /// Whether there is more to do at once.
    ///
    /// # Errors
    /// When the connection ends, and when what came is not what was sent.
    pub fn work(&mut self, arrived: &mut Vec<FirstArrival>) -> Result<bool, Failure> {
        let (source, destination) = (self.source, self.destination);
        let failed = move |error: io::Error| {
            Failure::new(format!(
                "the flow from host {source} to host {destination} over QUIC: {error}"
            ))
        };
        let mut more = self
            .client
            .receive(&mut self.buffer, |_, _| Ok::<(), io::Error>(()))
            .map_err(failed)?;
        more |= self.take_in(arrived).map_err(failed)?;
        let now = Instant::now();
        self.client.on_timeout(now);
        self.server.on_timeout(now);
        self.hear().map_err(failed)?;
        self.open_paths(now).map_err(failed)?;
        self.write().map_err(failed)?;
        more |= self.client.send().map_err(failed)?;
        more |= self.server.send().map_err(failed)?;
        Ok(more)
    }

    /// Reads at the far end after each datagram: what is new came in it, and over its path.
    fn take_in(&mut self, arrived: &mut Vec<FirstArrival>) -> io::Result<bool> {
        let QuicFlow {
            flow,
            server,
            receiving,
            stream,
            paths,
            received,
            buffer,
            ..
        } = self;
        server.receive(buffer, |connection, datagram| {
            let SocketAddr::V4(from) = datagram.from else {
                return Ok(());
            };
            let subflow = u32::from(from.ip().octets()[2]);
            let Some(own) = paths.get_mut(subflow as usize) else {
                return Ok(());
            };
            let Arrived { marked, .. } = datagram;
            own.marks += u64::from(marked);
            let payload = read(connection, receiving, stream)?;
            if payload > 0 {
                own.received += payload;
                *received += payload;
                arrived.push(FirstArrival {
                    flow: *flow,
                    subflow,
                    payload,
                });
            }
            Ok(())
        })
    }

    /// What the connection tells of itself.
    fn hear(&mut self) -> io::Result<()> {
        let complete = self.is_complete();
        let lost = |reason: noq_proto::ConnectionError| {
            // What has been delivered needs no connection any more.
            if complete {
                Ok(())
            } else {
                Err(io::Error::other(reason))
            }
        };
        if let Some(connection) = self.server.connection() {
            while let Some(event) = connection.poll() {
                if let Event::ConnectionLost { reason } = event {
                    lost(reason)?;
                }
            }
        }
        let Some(connection) = self.client.connection() else {
            return Ok(());
        };
        let now = Instant::now();
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.paths[0].opened = Some(now),
                Event::HandshakeConfirmed => self.confirmed = true,
                Event::ConnectionLost { reason } => lost(reason)?,
                Event::Path(PathEvent::Established { id, .. }) => {
                    let mut paths = self.paths.iter_mut();
                    if let Some(subflow) = paths.find(|subflow| subflow.path == Some(id)) {
                        subflow.opened.get_or_insert(now);
                    }
                }
                Event::Path(PathEvent::Abandoned { id, .. }) => {
                    let stats = connection.path_stats(id);
                    let mut paths = self.paths.iter_mut();
                    if let Some(subflow) = paths.find(|subflow| subflow.path == Some(id)) {
                        let last = stats.as_ref().map_or(subflow.now, Counts::of);
                        subflow.before = subflow.before.plus(last);
                        subflow.now = Counts::default();
                        subflow.window = 0.0;
                        subflow.path = None;
                        subflow.opens = now + self.silence;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens the paths whose time has come, and pings those that are open.
    fn open_paths(&mut self, now: Instant) -> io::Result<()> {
        if !self.confirmed || !self.is_multipath() {
            return Ok(());
        }
        let every = ping_every(self.silence);
        let Some(connection) = self.client.connection() else {
            return Ok(());
        };
        let to = SocketAddrV4::new(address(self.destination, 0), port(self.slot));
        for (number, subflow) in (0..).zip(&mut self.paths) {
            if let Some(path) = subflow.path {
                if subflow.ping <= now {
                    // One that is being given up is not there to be pinged.
                    let _ = connection.ping_path(path);
                    subflow.ping = now + every;
                }
                continue;
            }
            if subflow.opens > now {
                continue;
            }
            let own = address(self.source, number);
            let path = FourTuple::new(to.into(), Some(own.into()));
            match connection.open_path(path, PathStatus::Available, now) {
                Ok(id) => {
                    subflow.path = Some(id);
                    subflow.ping = now + every;
                }
                Err(error) => match error {
                    noq_proto::PathError::RemoteCidsExhausted
                    | noq_proto::PathError::MaxPathIdReached => {
                        // The peer's permission is on its way.
                        subflow.opens = now + PERMISSION;
                    }
                    error => return Err(io::Error::other(error)),
                },
            }
        }
        Ok(())
    }

    /// Writes as much as the sender's endpoint takes.
    fn write(&mut self) -> io::Result<()> {
        let Some(connection) = self.client.connection() else {
            return Ok(());
        };
        if connection.is_handshaking() || connection.is_closed() {
            return Ok(());
        }
        let id = match self.sending {
            Some(id) => id,
            None => match connection.streams().open(Dir::Uni) {
                Some(id) => *self.sending.insert(id),
                None => return Ok(()),
            },
        };
        let windows = self.paths.iter().filter_map(|subflow| subflow.path);
        let windows = windows.filter_map(|path| connection.congestion_state(path));
        let windows: u64 = windows.map(|state| state.window()).sum();
        connection.set_send_window(WINDOWS_AHEAD * windows + AHEAD);
        let mut sending = connection.send_stream(id);
        while !self.shut {
            let left = self.size.map_or(u64::MAX, |size| size - self.written);
            let length = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(self.buffer.len());
            let bytes = &mut self.buffer[..length];
            self.stream.fill(self.written, bytes);
            match sending.write(bytes) {
                Ok(length) => self.written += length as u64,
                Err(WriteError::Blocked) => break,
                Err(error) => return Err(io::Error::other(error)),
            }
            self.shut = self.size == Some(self.written);
        }
        if self.shut && !self.finished {
            self.finished = true;
            sending.finish().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Payload that has been handed to the network at least once, as nearly as noq tells: its bytes have frames around them.
    pub fn sent(&self) -> u64 {
        let counts = self
            .paths
            .iter()
            .map(|subflow| subflow.before.plus(subflow.now));
        let new = counts.map(|counts| counts.bytes.saturating_sub(counts.lost_bytes));
        new.sum::<u64>().min(self.written).max(self.received)
    }

    /// Looks at noq's counters of each path. `plan_time` makes the plan's time of one of the machine's moments, and
    /// `plan_duration` that of a duration.
    pub fn look(
        &mut self,
        plan_time: impl Fn(Instant) -> Time,
        plan_duration: impl Fn(Duration) -> Time,
    ) -> Vec<SubflowView> {
        if let Some(connection) = self.client.connection() {
            for subflow in &mut self.paths {
                if let Some(id) = subflow.path
                    && let Some(stats) = connection.path_stats(id)
                {
                    subflow.now = Counts::of(&stats);
                    subflow.window = stats.cwnd as f64 / self.payload;
                    subflow.rtt = subflow.opened.map(|_| stats.rtt);
                    let state = connection.congestion_state(id);
                    let ssthresh = state.and_then(|state| state.metrics().ssthresh);
                    subflow.ssthresh =
                        ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64 / self.payload);
                }
            }
        }
        let views = self.paths.iter().map(|subflow| {
            let counts = subflow.before.plus(subflow.now);
            SubflowView {
                opened: subflow.opened.map(&plan_time),
                received: subflow.received,
                sent_packets: counts.packets,
                retransmits: counts.lost_packets,
                timeouts: 0, // noq does not tell of probe timeouts
                marks: subflow.marks,
                window: subflow.window,
                ssthresh: subflow.ssthresh,
                smoothed_rtt: subflow.rtt.map(&plan_duration),
            }
        });
        views.collect()
    }
}

/// What is written and not acknowledged is at most so many windows, and so many bytes more: a sender that is stopped has
/// little left to send, and one whose windows grow never waits for its program.
const WINDOWS_AHEAD: u64 = 2;
const AHEAD: u64 = 2 * PIECE as u64;

/// A path that the peer has not yet given identifiers for is tried again after so long.
const PERMISSION: Duration = Duration::from_millis(2);

/// Reads and checks what can be read. How many bytes that was.
fn read(
    connection: &mut Connection,
    receiving: &mut Option<StreamId>,
    stream: &Stream,
) -> io::Result<u64> {
    if receiving.is_none() {
        *receiving = connection.streams().accept(Dir::Uni);
    }
    let Some(id) = *receiving else {
        return Ok(0);
    };
    let mut receiver = connection.recv_stream(id);
    // The stream is closed once all has been read.
    let mut chunks = match receiver.read(false) {
        Ok(chunks) => chunks,
        Err(ReadableError::ClosedStream) => return Ok(0),
        Err(error) => return Err(io::Error::other(error)),
    };
    let mut length = 0;
    let done = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => {
                if let Some(place) = stream.first_error(chunk.offset, &chunk.bytes) {
                    let text = format!("byte {place} is not the one that was sent");
                    break Err(io::Error::other(text));
                }
                length += chunk.bytes.len() as u64;
            }
            Ok(None) | Err(ReadError::Blocked) => break Ok(length),
            Err(error) => break Err(io::Error::other(error)),
        }
    };
    // Whether the peer may be told of room for more; `send` asks for what there is.
    let _ = chunks.finalize();
    done
}
