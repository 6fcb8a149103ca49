//! The hosts' side of a run: sockets in their namespaces, and the traffic on them.

use super::connection::{Connection, PIECE, Setup};
use super::fabric::Order;
use super::frame::{MOST_SUBFLOWS, SLOTS};
use super::group::controller;
use super::news::News;
use super::quic::QuicHosts;
use super::shared::Shared;
use super::sockets::{End, EventFlags, Sockets};
use super::statistics;
use super::stream::Stream;
use super::subflows::{Join, PathManager};
use crate::Failure;
use pathweave_engine::live::{FlowOrder, FlowView, Hosts};
use pathweave_fabric::LinkId;

use pathweave_units::{Bytes, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// A subflow that could not open is tried again after so long.
const TRY_AGAIN: Duration = Duration::from_micros(500);
/// Pieces that one connection is read before others have their turn.
const PIECES: u32 = 4;

/// Plays all hosts of a run on one thread.
pub struct RealHosts<'a> {
    shared: Shared<'a>,
    managers: Vec<PathManager>,
    orders: Sender<Order>,
    sockets: Sockets,
    connections: BTreeMap<u32, Connection>,
    quic: QuicHosts,
    /// Flows that have subflows to open.
    joining: BTreeSet<u32>,
    news: News,
    buffer: Vec<u8>,
}

impl<'a> RealHosts<'a> {
    /// Hosts that do nothing yet.
    ///
    /// # Errors
    /// When the kernel lacks something.
    pub fn new(
        shared: Shared<'a>,
        orders: Sender<Order>,
        multipath: bool,
    ) -> Result<RealHosts<'a>, Failure> {
        let managers = if multipath { shared.namespaces } else { &[] };
        let managers = managers
            .iter()
            .map(|host| host.inside(shared.home, PathManager::new))
            .collect::<Result<_, _>>()?;
        Ok(RealHosts {
            managers,
            orders,
            sockets: Sockets::new()?,
            connections: BTreeMap::new(),
            quic: QuicHosts::default(),
            joining: BTreeSet::new(),
            news: News::default(),
            buffer: vec![0; PIECE],
            shared,
        })
    }

    /// What has gone wrong, once.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.news.failure.take()
    }

    /// Flows that are complete since this was last asked, and the bytes that came.
    pub fn take_complete(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.news.complete)
    }

    /// Flows that have got further since this was last asked, and to where.
    pub fn take_progressed(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.news.progressed)
    }

    /// Serves sockets until `due`, or until something has happened that the run should know of.
    ///
    /// # Errors
    /// When sockets cannot be waited for.
    pub fn serve(&mut self, due: Time) -> Result<(), Failure> {
        let now = self.shared.clock.now();
        let mut left = self
            .shared
            .clock
            .between(now, due)
            .min(Duration::from_millis(50));
        if self.wants_to_join(now) {
            left = left.min(TRY_AGAIN);
        }
        if let Some(idle) = self.quic.idle_for() {
            left = left.min(idle);
        }
        self.sockets.wait(left)?;
        while let Some((flow, end)) = self.sockets.take_happened() {
            let done = match end {
                End::Listener => self.on_listener(flow),
                End::Sender => self.on_sender(flow),
                End::Receiver => self.on_receiver(flow),
                End::QuicClient | End::QuicServer => {
                    self.quic.wake(flow);
                    Ok(())
                }
            };
            if let Err(failure) = done {
                self.news.fail(failure);
            }
        }
        self.join();
        self.quic.work(&self.sockets, &self.orders, &mut self.news);
        Ok(())
    }

    fn on_listener(&mut self, flow: u32) -> Result<(), Failure> {
        let Some(connection) = self.connections.get_mut(&flow) else {
            return Ok(());
        };
        let failed =
            |error: io::Error| Failure::new(format!("cannot accept a connection: {error}"));
        if connection.receiver.is_none() && connection.accept().map_err(failed)?.is_some() {
            let receiver = self.connections[&flow]
                .receiver
                .as_ref()
                .expect("it was accepted");
            self.sockets
                .watch(receiver, flow, End::Receiver, EventFlags::IN)?;
        }
        Ok(())
    }

    fn on_sender(&mut self, flow: u32) -> Result<(), Failure> {
        let Some(connection) = self.connections.get_mut(&flow) else {
            return Ok(());
        };
        let failed = |source: u32, error: io::Error| {
            Failure::new(format!("a flow of host {source} cannot send: {error}"))
        };
        if !connection.connected {
            connection.on_connected(self.shared.clock.now())?;
            if connection.opens.len() > 1 {
                self.joining.insert(flow);
            }
        }
        let source = connection.source;
        connection
            .write(&mut self.buffer)
            .map_err(|error| failed(source, error))?;
        if connection.is_written() {
            let none = EventFlags::empty();
            self.sockets
                .change(&connection.sender, flow, End::Sender, none)
                .map_err(|error| failed(source, error))?;
        }
        Ok(())
    }

    fn on_receiver(&mut self, flow: u32) -> Result<(), Failure> {
        let Some(connection) = self.connections.get_mut(&flow) else {
            return Ok(());
        };
        let before = connection.received;
        for _ in 0..PIECES {
            if !connection.read(&mut self.buffer)? {
                break;
            }
        }
        let received = connection.received;
        if received > before {
            self.news
                .progressed(flow, received, connection.is_complete());
        }
        Ok(())
    }

    fn wants_to_join(&self, now: Time) -> bool {
        let next = |flow: &u32| {
            let connection = &self.connections[flow];
            connection.opens[connection.next_subflow]
        };
        self.joining.iter().any(|flow| next(flow) <= now)
    }

    /// Opens the subflows whose time has come.
    fn join(&mut self) {
        let now = self.shared.clock.now();
        let mut done = Vec::new();
        for &flow in &self.joining {
            let Some(connection) = self.connections.get_mut(&flow) else {
                done.push(flow);
                continue;
            };
            match open_subflows(connection, &mut self.managers, now) {
                Ok(true) => done.push(flow),
                Ok(false) => {}
                Err(failure) => {
                    done.push(flow);
                    self.news.fail(failure);
                }
            }
        }
        for flow in done {
            self.joining.remove(&flow);
        }
    }
}

/// Opens a connection's subflows whose time has come. Whether all are.
fn open_subflows(
    connection: &mut Connection,
    managers: &mut [PathManager],
    now: Time,
) -> Result<bool, Failure> {
    let source = connection.source;
    let failed = |what: &str, error: io::Error| {
        Failure::new(format!("a flow of host {source} {what}: {error}"))
    };
    let token = match connection.token {
        Some(token) => token,
        None => {
            let token = statistics::token(&connection.sender)
                .map_err(|error| failed("is not multipath", error))?;
            let Some(token) = token else {
                return Ok(false);
            };
            connection.token = Some(token);
            token
        }
    };
    while let Some(&opens) = connection.opens.get(connection.next_subflow) {
        if opens > now {
            return Ok(false);
        }
        let join = Join {
            token,
            source,
            destination: connection.destination,
            slot: connection.slot,
            subflow: connection.next_subflow as u32,
        };
        match managers[source as usize].create(&join) {
            Ok(()) => connection.next_subflow += 1,
            // Not yet: the first data has to be acknowledged before.
            Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => return Ok(false),
            Err(error) => return Err(failed("cannot open a subflow", error)),
        }
    }
    Ok(true)
}

impl Hosts for RealHosts<'_> {
    fn lay(&mut self, flow: u32, subflow: u32, forward: &[LinkId], back: &[LinkId]) {
        let has_started = self.quic.has(flow) || self.connections.contains_key(&flow);
        if self.shared.quic.is_some() && !has_started {
            self.quic.lay(flow, forward, back, &self.shared);
        }
        // The fabric has ended only if it has failed, which is noticed elsewhere.
        let _ = self.orders.send(Order::Lay {
            flow,
            slot: flow % SLOTS,
            subflow,
            forward: forward.to_vec(),
            back: back.to_vec(),
        });
    }

    fn start(&mut self, order: &FlowOrder<'_>) {
        let group = order.group;
        if self.shared.quic_groups.plays(&group.name)
            && let Some(settings) = &self.shared.quic
        {
            let started = self
                .quic
                .start(order, settings, &self.shared, &self.sockets);
            if let Err(failure) = started {
                self.news.fail(failure);
            }
            return;
        }
        let (entry, parameters) = controller(group, order.listed);
        let segment = group.transport.data_packet.saturating_sub(40);
        debug_assert!(order.opens.len() <= MOST_SUBFLOWS as usize);
        let setup = Setup {
            slot: order.flow % SLOTS,
            source: order.source,
            destination: order.destination,
            size: order.size.map(|size| size.get().max(1)),
            opens: order.opens.clone(),
            congestion: self.shared.controllers.name(&group.name, entry, parameters),
            segment: (segment < self.shared.segment).then_some(u32::from(segment)),
            stream: Stream::new(self.shared.seed, order.flow),
        };
        let opened = Connection::open(setup, self.shared.namespaces, self.shared.home);
        let watched = opened.and_then(|connection| {
            self.sockets.watch(
                &connection.listener,
                order.flow,
                End::Listener,
                EventFlags::IN,
            )?;
            self.sockets
                .watch(&connection.sender, order.flow, End::Sender, EventFlags::OUT)?;
            Ok(connection)
        });
        match watched {
            Ok(connection) => {
                self.connections.insert(order.flow, connection);
            }
            Err(failure) => self.news.fail(failure),
        }
    }

    fn stop(&mut self, flow: u32) {
        if self.quic.has(flow) {
            self.quic.stop(flow, &mut self.news);
            return;
        }
        let Some(connection) = self.connections.get_mut(&flow) else {
            return;
        };
        if let Err(error) = connection.stop() {
            let source = connection.source;
            let failure = Failure::new(format!("a flow of host {source} cannot stop: {error}"));
            self.news.fail(failure);
            return;
        }
        // It may have been taken out already.
        let _ = self
            .sockets
            .change(&connection.sender, flow, End::Sender, EventFlags::empty());
        if connection.is_complete() {
            let received = connection.received;
            self.news.complete(flow, received);
        }
    }

    fn look(&mut self, flow: u32) -> FlowView {
        let clock = self.shared.clock;
        if self.quic.has(flow) {
            return self.quic.look(flow, &self.shared);
        }
        let plan_time = |micros| clock.plan_time(Duration::from_micros(micros));
        let Some(connection) = self.connections.get_mut(&flow) else {
            return FlowView::default();
        };
        let subflows = connection.look(clock.now(), plan_time);
        FlowView {
            delivered: Bytes::new(connection.received),
            sent: Bytes::new(connection.sent()),
            subflows,
        }
    }

    fn close(&mut self, flow: u32) {
        self.connections.remove(&flow);
        self.joining.remove(&flow);
        self.quic.close(flow);
    }
}
