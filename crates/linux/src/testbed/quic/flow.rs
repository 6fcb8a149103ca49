//! One flow over QUIC: a connection with a path for each subflow, and one stream on it.

use super::settings::{QuicSettings, SERVER_NAME, ping_every, silence};
use super::side::Side;
use super::subflow::Subflow;
use crate::Failure;
use crate::testbed::connection::PIECE;
use crate::testbed::frame::{address, port};
use crate::testbed::namespace::{Home, Namespace};
use crate::testbed::stream::Stream;
use noq_proto::{
    Connection, Dir, Event, FourTuple, PathEvent, PathId, ReadError, ReadableError, StreamId,
    WriteError,
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
    /// When something came to the sender last.
    heard: Instant,
    subflows: Vec<Subflow>,
    /// Bytes of a full packet, of which windows are counted.
    payload: f64,
    buffer: Vec<u8>,
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
        let number = setup.opens.len() as u32;
        let (client_config, server_config) =
            setup
                .settings
                .connection(config, number, silence, setup.coupled);
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
        let now = Instant::now();
        client
            .connect(now, client_config, to, SERVER_NAME)
            .map_err(failed)?;
        let subflows = (0..).zip(&setup.opens).map(|(number, &opens)| {
            let own = address(source, number);
            Subflow::new(FourTuple::new(to.into(), Some(own.into())), opens)
        });
        let mut subflows: Vec<Subflow> = subflows.collect();
        subflows[0].begin();
        Ok(QuicFlow {
            flow: setup.flow,
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
            heard: now,
            subflows,
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
        self.subflows.len() > 1
    }

    /// Writes nothing any more.
    pub fn stop(&mut self) {
        self.shut = true;
    }

    /// When it is to be called again though nothing has come.
    pub fn next_due(&self) -> Option<Instant> {
        let own = self.subflows.iter().map(Subflow::next_due).min();
        let own = own.filter(|_| self.confirmed && self.is_multipath());
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
        let mut has_heard = false;
        let mut more = self
            .client
            .receive(&mut self.buffer, |_, _| {
                has_heard = true;
                Ok::<(), io::Error>(())
            })
            .map_err(failed)?;
        more |= self.take_in(arrived).map_err(failed)?;
        let now = Instant::now();
        self.client.on_timeout(now);
        self.server.on_timeout(now);
        if has_heard {
            self.heard = now;
        }
        self.hear(now).map_err(failed)?;
        self.keep_paths(now, has_heard).map_err(failed)?;
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
            subflows,
            received,
            buffer,
            ..
        } = self;
        server.receive(buffer, |connection, datagram| {
            let SocketAddr::V4(from) = datagram.from else {
                return Ok(());
            };
            let subflow = u32::from(from.ip().octets()[2]);
            let Some(own) = subflows.get_mut(subflow as usize) else {
                return Ok(());
            };
            own.marks += u64::from(datagram.marked);
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
    fn hear(&mut self, now: Instant) -> io::Result<()> {
        let complete = self.is_complete();
        let lost = |reason: noq_proto::ConnectionError| {
            // What has been delivered needs no connection any more.
            if complete {
                Ok(())
            } else {
                Err(io::Error::other(reason))
            }
        };
        let is_multipath = self.is_multipath();
        if let Some(connection) = self.server.connection() {
            while let Some(event) = connection.poll() {
                match event {
                    Event::ConnectionLost { reason } => lost(reason)?,
                    Event::Path(PathEvent::Established { .. }) if is_multipath => {
                        give_up_what_is_silent(connection, self.silence, now);
                    }
                    _ => {}
                }
            }
        }
        let Some(connection) = self.client.connection() else {
            return Ok(());
        };
        let subflows = &mut self.subflows;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => subflows[0].on_established(PathId::ZERO, now),
                Event::HandshakeConfirmed => self.confirmed = true,
                Event::ConnectionLost { reason } => lost(reason)?,
                Event::Path(PathEvent::Established { id, .. }) => {
                    for subflow in &mut *subflows {
                        subflow.on_established(id, now);
                    }
                }
                Event::Path(PathEvent::Abandoned { id, .. }) => {
                    for subflow in &mut *subflows {
                        subflow.on_abandoned(id, connection, now + self.silence);
                    }
                }
                Event::Path(PathEvent::Discarded { id, path_stats, .. }) => {
                    for subflow in &mut *subflows {
                        subflow.on_discarded(id, &path_stats);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens the paths whose time has come, pings those that are open, and has spares for them while nothing comes.
    fn keep_paths(&mut self, now: Instant, has_heard: bool) -> io::Result<()> {
        if !self.confirmed || !self.is_multipath() {
            return Ok(());
        }
        let every = ping_every(self.silence);
        let is_silent = now.saturating_duration_since(self.heard) >= self.silence;
        let Some(connection) = self.client.connection() else {
            return Ok(());
        };
        for subflow in &mut self.subflows {
            if has_heard {
                subflow.listen(connection);
            }
            subflow
                .keep(connection, now, every, is_silent)
                .map_err(io::Error::other)?;
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
        let windows = self.subflows.iter().filter_map(Subflow::path);
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
        let new: u64 = self.subflows.iter().map(Subflow::sent).sum();
        new.min(self.written).max(self.received)
    }

    /// Looks at noq's counters of each path. `plan_time` makes the plan's time of one of the machine's moments, and
    /// `plan_duration` that of a duration.
    pub fn look(
        &mut self,
        plan_time: impl Fn(Instant) -> Time,
        plan_duration: impl Fn(Duration) -> Time,
    ) -> Vec<SubflowView> {
        if let Some(connection) = self.client.connection() {
            for subflow in &mut self.subflows {
                subflow.look(connection, self.payload);
            }
        }
        let subflows = self.subflows.iter();
        let views = subflows.map(|subflow| subflow.view(&plan_time, &plan_duration));
        views.collect()
    }
}

/// What is written and not acknowledged is at most this many windows, and this many bytes more: a sender that is stopped has
/// little left to send, and one whose windows grow never waits for its program.
const WINDOWS_AHEAD: u64 = 2;
const AHEAD: u64 = 2 * PIECE as u64;

/// The receiver gives up paths on which nothing comes for `silence`, but not the last of them, and does not try that again by
/// itself. With another path open the time starts again for all of them.
fn give_up_what_is_silent(connection: &mut Connection, silence: Duration, now: Instant) {
    for path in connection.paths() {
        // One that has been given up is still in the list.
        let _ = connection.set_path_max_idle_timeout(now, path, Some(silence));
    }
}

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
