//! One end of a QUIC connection: its UDP socket, and noq's state machines on it.

use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, FourTuple, ServerConfig, Transmit,
};
use noq_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// Packets that are read, or sent, before others have their turn.
const BATCH: u32 = 32;
/// Bytes that the socket holds in each direction.
const SOCKET_BUFFER: u32 = 8 << 20;

/// A datagram that has come.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Where from.
    pub from: SocketAddr,
    /// Whether it was marked on its way.
    pub marked: bool,
}

/// One end of a connection.
pub struct Side {
    socket: UdpSocket,
    options: UdpSocketState,
    endpoint: Endpoint,
    /// None at a server before the first packet.
    connection: Option<(ConnectionHandle, Connection)>,
    server: Option<Arc<ServerConfig>>,
    /// Whether its packets may be marked.
    ecn: bool,
    outgoing: Vec<u8>,
    /// What the socket had no room for; its bytes are in `outgoing`.
    unsent: Option<Transmit>,
}

impl Side {
    /// Binds a socket in the namespace that the thread is in.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(
        address: SocketAddrV4,
        config: Arc<EndpointConfig>,
        server: Option<Arc<ServerConfig>>,
        ecn: bool,
    ) -> io::Result<Side> {
        let socket = UdpSocket::bind(address)?;
        let options = UdpSocketState::new(UdpSockRef::from(&socket))?;
        for name in [libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE] {
            let size = SOCKET_BUFFER / 2; // the kernel doubles it, for what it adds to the data
            crate::socket_option::set_option(&socket, libc::SOL_SOCKET, name, size)?;
        }
        Ok(Side {
            options,
            socket,
            endpoint: Endpoint::new(config, server.clone(), false),
            connection: None,
            server,
            ecn,
            outgoing: Vec::new(),
            unsent: None,
        })
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// noq's.
    pub fn connect(
        &mut self,
        now: Instant,
        config: ClientConfig,
        to: SocketAddrV4,
        name: &str,
    ) -> io::Result<()> {
        let connected = self.endpoint.connect(now, config, to.into(), name);
        self.connection = Some(connected.map_err(io::Error::other)?);
        Ok(())
    }

    /// The socket, to be waited for.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// The connection, if there is one yet.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// Whether the socket had no room for a packet: it is to be waited for.
    pub fn is_blocked(&self) -> bool {
        self.unsent.is_some()
    }

    /// When it is to be called again though nothing has come.
    pub fn timeout(&self) -> Option<Instant> {
        let (_, connection) = self.connection.as_ref()?;
        connection.poll_timeout()
    }

    /// Hands what has come to the connection, one datagram at a time, each followed by a call of `each`. Whether there may
    /// be more.
    ///
    /// # Errors
    /// The kernel's, noq's, and those of `each`.
    pub fn receive<E: From<io::Error>>(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(&mut Connection, Arrived) -> Result<(), E>,
    ) -> Result<bool, E> {
        for _ in 0..BATCH {
            let mut seen = [RecvMeta::default()];
            let mut buffers = [IoSliceMut::new(buffer)];
            let socket = UdpSockRef::from(&self.socket);
            match self.options.recv(socket, &mut buffers, &mut seen) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            let [seen] = seen;
            let now = Instant::now();
            let path = FourTuple::new(seen.addr, seen.dst_ip);
            let ecn = seen
                .ecn
                .and_then(|bits| EcnCodepoint::from_bits(bits as u8));
            let arrived = Arrived {
                from: seen.addr,
                marked: ecn == Some(EcnCodepoint::Ce),
            };
            for datagram in buffer[..seen.len].chunks(seen.stride.max(1)) {
                self.take(now, path, ecn, datagram)?;
                if let Some((_, connection)) = &mut self.connection {
                    each(connection, arrived)?;
                }
            }
        }
        Ok(true)
    }

    fn take(
        &mut self,
        now: Instant,
        path: FourTuple,
        ecn: Option<EcnCodepoint>,
        datagram: &[u8],
    ) -> io::Result<()> {
        let mut answer = Vec::new();
        match self
            .endpoint
            .handle(now, path, ecn, datagram.into(), &mut answer)
        {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.connection.is_some() {
                    self.endpoint.ignore(incoming);
                    return Ok(());
                }
                let accepted =
                    self.endpoint
                        .accept(incoming, now, &mut answer, self.server.clone());
                self.connection = Some(accepted.map_err(|error| io::Error::other(error.cause))?);
            }
            // An answer to what belongs to no connection: a packet that comes late.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle();
        Ok(())
    }

    /// Lets endpoint and connection tell each other what they have to.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    /// Does what is due.
    pub fn on_timeout(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|due| due <= now)
        {
            connection.handle_timeout(now);
            self.settle();
        }
    }

    /// Sends what may be sent. Whether there may be more.
    ///
    /// # Errors
    /// The kernel's.
    pub fn send(&mut self) -> io::Result<bool> {
        for _ in 0..BATCH {
            if self.unsent.is_none() {
                let Some((_, connection)) = &mut self.connection else {
                    return Ok(false);
                };
                self.outgoing.clear();
                let now = Instant::now();
                self.unsent = connection.poll_transmit(now, NonZeroUsize::MIN, &mut self.outgoing);
            }
            self.settle();
            let Some(transmit) = &self.unsent else {
                return Ok(false);
            };
            let ecn = transmit.ecn.filter(|_| self.ecn);
            let datagram = noq_udp::Transmit {
                destination: transmit.destination,
                ecn: ecn.and_then(|bits| noq_udp::EcnCodepoint::from_bits(bits as u8)),
                contents: &self.outgoing[..transmit.size],
                segment_size: None,
                src_ip: transmit.src_ip,
            };
            match self
                .options
                .try_send(UdpSockRef::from(&self.socket), &datagram)
            {
                Ok(()) => self.unsent = None,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
