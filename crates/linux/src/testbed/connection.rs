//! One flow's sockets, at both ends.

use super::frame::{address, port};
use super::namespace::{Home, Namespace};
use super::statistics::{self, TcpInfo};
use super::stream::Stream;
use crate::Failure;
use crate::kernel::PREFIX;
use pathweave_engine::live::{SenderLimits, SubflowView};
use pathweave_units::Time;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrV4, SocketFlags, SocketType,
    accept_with, bind, connect, connect_unspec, ipproto, listen, recv, send, shutdown, socket_with,
    sockopt,
};
use std::io;

/// Bytes of one write or read.
pub const PIECE: usize = 1 << 16;

/// Send buffer of a connection whose subflows take little ahead, as this crate's controllers see to: as much as a fast
/// subflow carries while a piece of 64 KB leaves a slow one, half a second at two packets in 20 ms. Those of the
/// kernel's own would fill it at once.
const SEND_BUFFER: u32 = 32 << 20;

/// What a flow is, before it has sockets.
pub struct Setup<'a> {
    pub slot: u32,
    pub source: u32,
    pub destination: u32,
    /// Bytes; `None` until it is stopped.
    pub size: Option<u64>,
    /// When its subflows may open.
    pub opens: Vec<Time>,
    /// The kernel's name of its congestion control.
    pub congestion: &'a str,
    /// Its largest segment, where it is smaller than the device's.
    pub segment: Option<u32>,
    pub stream: Stream,
}

/// A flow's sockets, and how far it is.
pub struct Connection {
    pub slot: u32,
    pub source: u32,
    pub destination: u32,
    size: Option<u64>,
    stream: Stream,
    pub sender: OwnedFd,
    pub listener: OwnedFd,
    pub receiver: Option<OwnedFd>,
    pub connected: bool,
    /// Bytes that the sender's kernel has taken.
    written: u64,
    /// Bytes that the far end has read.
    pub received: u64,
    /// Nothing more will be written.
    shut: bool,
    /// The next subflow to open.
    pub next_subflow: usize,
    pub opens: Vec<Time>,
    multipath: bool,
    pub token: Option<u32>,
    /// Of each subflow, as last seen: the kernel forgets those that close.
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    opened: Option<Time>,
    sender: TcpInfo,
    received: u64,
}

impl Connection {
    /// Makes a flow's sockets and begins to connect them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(setup: Setup<'_>, hosts: &[Namespace], home: &Home) -> Result<Connection, Failure> {
        let Setup {
            slot,
            source,
            destination,
            ..
        } = setup;
        let failed = |what: &'static str| {
            move |error: Errno| {
                Failure::new(format!(
                    "cannot {what} for a flow of host {source}: {error}"
                ))
            }
        };
        let multipath = setup.opens.len() > 1;
        let server = SocketAddrV4::new(address(destination, 0), port(slot));
        let make = || {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let protocol = if multipath {
                ipproto::MPTCP
            } else {
                ipproto::TCP
            };
            let made = socket_with(
                AddressFamily::INET,
                SocketType::STREAM,
                flags,
                Some(protocol),
            )
            .map_err(failed("make a socket"))?;
            sockopt::set_tcp_congestion(&made, setup.congestion)
                .map_err(failed("choose the congestion control"))?;
            if multipath && setup.congestion.starts_with(PREFIX) {
                let size = SEND_BUFFER / 2; // the kernel doubles it, for what it adds to the data
                crate::socket_option::set_option(
                    &made,
                    libc::SOL_SOCKET,
                    libc::SO_SNDBUFFORCE,
                    size,
                )
                .map_err(|error| Failure::new(format!("cannot set the send buffer: {error}")))?;
            }
            if let Some(segment) = setup.segment {
                crate::socket_option::set_option(
                    &made,
                    libc::IPPROTO_TCP,
                    libc::TCP_MAXSEG,
                    segment,
                )
                .map_err(|error| Failure::new(format!("cannot set the segment size: {error}")))?;
            }
            Ok(made)
        };
        let listener = hosts[destination as usize].inside(home, || {
            let listener = make()?;
            bind(&listener, &server).map_err(failed("bind a socket"))?;
            listen(&listener, 16).map_err(failed("listen"))?;
            Ok(listener)
        })?;
        let sender = hosts[source as usize].inside(home, || {
            let sender = make()?;
            let own = SocketAddrV4::new(address(source, 0), 0);
            bind(&sender, &own).map_err(failed("bind a socket"))?;
            match connect(&sender, &server) {
                Ok(()) | Err(Errno::INPROGRESS) => Ok(sender),
                Err(error) => Err(failed("connect")(error)),
            }
        })?;
        Ok(Connection {
            slot,
            source,
            destination,
            size: setup.size,
            stream: setup.stream,
            sender,
            listener,
            receiver: None,
            connected: false,
            written: 0,
            received: 0,
            shut: false,
            next_subflow: 1,
            multipath,
            token: None,
            seen: vec![Seen::default(); setup.opens.len()],
            opens: setup.opens,
        })
    }

    /// The far end's socket, if the connection has come so far.
    ///
    /// # Errors
    /// The kernel's.
    pub fn accept(&mut self) -> io::Result<Option<&OwnedFd>> {
        match accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => Ok(Some(self.receiver.insert(socket))),
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The first handshake is done at the sender.
    ///
    /// # Errors
    /// Why it was not.
    pub fn on_connected(&mut self, now: Time) -> Result<(), Failure> {
        let error = sockopt::socket_error(&self.sender);
        if let Ok(Err(error)) | Err(error) = error {
            return Err(Failure::new(format!(
                "a flow of host {} cannot connect: {error}",
                self.source
            )));
        }
        self.connected = true;
        self.seen[0].opened = Some(now);
        Ok(())
    }

    /// Bytes that the flow will have sent in the end, if that is known.
    pub fn total(&self) -> Option<u64> {
        if self.shut {
            Some(self.written)
        } else {
            self.size
        }
    }

    /// Whether everything has been read at the far end.
    pub fn is_complete(&self) -> bool {
        self.total() == Some(self.received)
    }

    /// Whether there is nothing left to write.
    pub fn is_written(&self) -> bool {
        self.total() == Some(self.written)
    }

    /// Writes as much as the kernel takes at once.
    ///
    /// # Errors
    /// The kernel's.
    pub fn write(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let left = self.size.map_or(u64::MAX, |size| size - self.written);
        let length = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        if self.shut || length == 0 {
            return Ok(());
        }
        let bytes = &mut buffer[..length];
        self.stream.fill(self.written, bytes);
        match send(
            &self.sender,
            bytes,
            SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        ) {
            Ok(length) => self.written += length as u64,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if self.size == Some(self.written) {
            self.shut = true;
            shutdown(&self.sender, Shutdown::Write)?;
        }
        Ok(())
    }

    /// Writes nothing any more.
    ///
    /// # Errors
    /// The kernel's.
    pub fn stop(&mut self) -> io::Result<()> {
        if !self.shut {
            self.shut = true;
            if self.connected {
                shutdown(&self.sender, Shutdown::Write)?;
            }
        }
        Ok(())
    }

    /// Reads and checks what has come. Whether there may be more at once.
    ///
    /// # Errors
    /// The kernel's, and when what came is not what was sent.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Failure> {
        let Some(receiver) = &self.receiver else {
            return Ok(false);
        };
        let failed = |what: String| {
            Failure::new(format!(
                "the flow from host {} to host {}: {what}",
                self.source, self.destination
            ))
        };
        match recv(receiver, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => {
                if self.is_complete() {
                    Ok(false)
                } else {
                    let (got, of) = (self.received, self.written);
                    Err(failed(format!("it ended after {got} of {of} bytes")))
                }
            }
            Ok((length, _)) => {
                if let Some(place) = self.stream.first_error(self.received, &buffer[..length]) {
                    return Err(failed(format!("byte {place} is not the one that was sent")));
                }
                self.received += length as u64;
                Ok(length == buffer.len())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Payload that has been handed to the network at least once.
    pub fn sent(&self) -> u64 {
        let new = self.seen.iter();
        let new = new.map(|seen| seen.sender.sent.saturating_sub(seen.sender.sent_again));
        new.sum::<u64>().min(self.written)
    }

    /// Looks at the kernel's counters of each subflow. `plan_time` makes the plan's time of
    /// microseconds.
    pub fn look(&mut self, now: Time, plan_time: impl Fn(u64) -> Time) -> Vec<SubflowView> {
        if self.connected {
            // A connection that has just been reset has no counters any more: the last ones hold.
            let _ = self.look_at_kernel(now);
        }
        let seen = self.seen.iter();
        seen.map(|seen| SubflowView {
            opened: seen.opened,
            received: seen.received,
            sent_packets: u64::from(seen.sender.data_packets),
            retransmits: u64::from(seen.sender.retransmits),
            reinjected: 0, // the kernel counts none by subflow
            timeouts: u64::from(seen.sender.timeouts),
            marks: u64::from(seen.sender.marked),
            window: f64::from(seen.sender.window),
            ssthresh: seen.sender.ssthresh,
            smoothed_rtt: (seen.sender.rtt_us > 0)
                .then(|| plan_time(u64::from(seen.sender.rtt_us))),
            limits: Some(SenderLimits {
                busy: plan_time(seen.sender.busy_us),
                receive_window: plan_time(seen.sender.receive_window_us),
                send_buffer: plan_time(seen.sender.send_buffer_us),
            }),
        })
        .collect()
    }

    fn look_at_kernel(&mut self, now: Time) -> io::Result<()> {
        if !self.multipath {
            let first = &mut self.seen[0];
            first.sender = statistics::tcp(&self.sender)?;
            if let Some(receiver) = &self.receiver {
                // The end of the stream counts as one byte more.
                first.received = statistics::tcp(receiver)?.received.min(self.written);
            }
            return Ok(());
        }
        for (local, _, info) in statistics::mptcp(&self.sender)? {
            if let Some(seen) = self.seen.get_mut(usize::from(local.octets()[2])) {
                if info.established && seen.opened.is_none() {
                    seen.opened = Some(now);
                }
                seen.sender = info;
            }
        }
        if let Some(receiver) = &self.receiver {
            for (_, remote, info) in statistics::mptcp(receiver)? {
                if let Some(seen) = self.seen.get_mut(usize::from(remote.octets()[2])) {
                    seen.received = info.received;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Connection {
    /// Both ends are gone at once: a reset leaves no connection behind that would wait for the other
    /// side, and would keep its congestion control in the kernel.
    fn drop(&mut self) {
        let ends = [Some(&self.sender), self.receiver.as_ref()];
        for end in ends.into_iter().flatten() {
            // One that is not connected any more needs no reset.
            let _ = connect_unspec(end);
        }
    }
}
