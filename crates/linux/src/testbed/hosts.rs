//! The hosts' side of a run: sockets in their namespaces, and the traffic on them.

use super::clock::Clock;
use super::congestion::Controllers;
use super::connection::{Connection, PIECE, Setup};
use super::fabric::Order;
use super::frame::{MOST_SUBFLOWS, SLOTS};
use super::namespace::{Home, Namespace};
use super::quic::{QuicFlow, QuicGroups, QuicSettings, QuicSetup, Side, coupled};
use super::statistics;
use super::stream::Stream;
use super::subflows::{Join, PathManager};
use crate::Failure;
use pathweave_control::{Algorithm, Parameters};
use pathweave_engine::live::{FirstArrival, FlowOrder, FlowView, Hosts};
use pathweave_fabric::{LinkId, base_rtt};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::{Bytes, Time};
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Which of a flow's sockets something happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Listener,
    Sender,
    Receiver,
    Timer,
    QuicClient,
    QuicServer,
}

const END_BITS: u32 = 3;

fn key(flow: u32, end: End) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(flow) << END_BITS | end as u64)
}

/// A subflow that could not open is tried again after so long.
const TRY_AGAIN: Duration = Duration::from_micros(500);
/// Sizes of packets that an RTT without queues is worked out for, where it need not be exact.
const DATA_PACKET: u64 = 1500;
const ACK_PACKET: u64 = 60;
/// Pieces that one connection is read before others have their turn.
const PIECES: u32 = 4;

/// What all hosts have in common.
pub struct Shared<'a> {
    pub namespaces: &'a [Namespace],
    pub home: &'a Home,
    pub controllers: &'a Controllers,
    pub clock: Clock,
    pub seed: u64,
    /// Largest segment that the devices carry.
    pub segment: u16,
    /// The traffic groups that QUIC plays, and what its endpoints have in common if there are any.
    pub quic_groups: &'a QuicGroups,
    pub quic: Option<QuicSettings>,
    pub plan: &'a Plan,
}

/// Plays all hosts of a run on one thread.
pub struct RealHosts<'a> {
    shared: Shared<'a>,
    managers: Vec<PathManager>,
    orders: Sender<Order>,
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: BTreeMap<u32, Connection>,
    quic_flows: BTreeMap<u32, QuicFlow>,
    /// Flows over QUIC that have more to do at once.
    busy: BTreeSet<u32>,
    arrived: Vec<FirstArrival>,
    /// The longest RTT without queues of the paths that were laid for flows over QUIC that start next.
    rtts: BTreeMap<u32, Time>,
    /// Flows that have subflows to open.
    joining: BTreeSet<u32>,
    /// Flows that are complete, and the bytes that came.
    complete: Vec<(u32, u64)>,
    /// Flows that have got further.
    progressed: Vec<(u32, u64)>,
    /// What has gone wrong first.
    failure: Option<Failure>,
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
        let failed = |error: Errno| Failure::new(format!("cannot wait for sockets: {error}"));
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(failed)?;
        let event = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, key(0, End::Timer), event).map_err(failed)?;
        let managers = if multipath { shared.namespaces } else { &[] };
        let managers = managers
            .iter()
            .map(|host| host.inside(shared.home, PathManager::new))
            .collect::<Result<_, _>>()?;
        Ok(RealHosts {
            managers,
            orders,
            epoll,
            timer,
            connections: BTreeMap::new(),
            quic_flows: BTreeMap::new(),
            busy: BTreeSet::new(),
            arrived: Vec::new(),
            rtts: BTreeMap::new(),
            joining: BTreeSet::new(),
            complete: Vec::new(),
            progressed: Vec::new(),
            failure: None,
            buffer: vec![0; PIECE],
            shared,
        })
    }

    /// What has gone wrong, once.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Flows that are complete since this was last asked, and the bytes that came.
    pub fn take_complete(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.complete)
    }

    /// Flows that have got further since this was last asked, and to where.
    pub fn take_progressed(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.progressed)
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
        let moment = Instant::now();
        for flow in self.quic_flows.values() {
            if let Some(due) = flow.next_due() {
                left = left.min(due.saturating_duration_since(moment));
            }
        }
        if !self.busy.is_empty() {
            left = Duration::ZERO;
        }
        // An armed timer with no time left would never ring.
        let left = left.max(Duration::from_nanos(1));
        let time = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            },
        };
        let failed = |error: Errno| Failure::new(format!("cannot wait for sockets: {error}"));
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &time).map_err(failed)?;
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; 64];
        let number = match epoll::wait(&self.epoll, &mut events, None) {
            Ok(number) => number,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(failed(error)),
        };
        for event in &events[..number] {
            let data = event.data;
            let flow = (data.u64() >> END_BITS) as u32;
            let end = data.u64() & ((1 << END_BITS) - 1);
            let done = match end {
                end if end == End::Listener as u64 => self.on_listener(flow),
                end if end == End::Sender as u64 => self.on_sender(flow),
                end if end == End::Receiver as u64 => self.on_receiver(flow),
                end if end == End::Timer as u64 => Ok(()),
                _ => {
                    self.busy.insert(flow);
                    Ok(())
                }
            };
            if let Err(failure) = done {
                self.failure.get_or_insert(failure);
            }
        }
        self.join();
        self.work();
        Ok(())
    }

    /// Lets those flows over QUIC work that something has come for or whose time has come.
    fn work(&mut self) {
        let now = Instant::now();
        let due = self.quic_flows.iter();
        let due = due.filter(|(_, flow)| flow.next_due().is_some_and(|due| due <= now));
        self.busy.extend(due.map(|(&number, _)| number));
        for number in std::mem::take(&mut self.busy) {
            let Some(flow) = self.quic_flows.get_mut(&number) else {
                continue;
            };
            let before = flow.received();
            let was_blocked = flow.sides().map(Side::is_blocked);
            let done = flow.work(&mut self.arrived);
            for first in self.arrived.drain(..) {
                // The fabric has ended only if it has failed, which is noticed elsewhere.
                let _ = self.orders.send(Order::Read(first));
            }
            if flow.received() > before {
                self.progressed.push((number, flow.received()));
                if flow.is_complete() {
                    self.complete.push((number, flow.received()));
                }
            }
            let done = done.and_then(|more| {
                if more {
                    self.busy.insert(number);
                }
                let ends = [End::QuicClient, End::QuicServer];
                for ((side, end), was) in flow.sides().into_iter().zip(ends).zip(was_blocked) {
                    if side.is_blocked() != was {
                        let event = wanted(side);
                        epoll::modify(&self.epoll, side.socket(), key(number, end), event)
                            .map_err(|error| {
                                Failure::new(format!("cannot watch a socket: {error}"))
                            })?;
                    }
                }
                Ok(())
            });
            if let Err(failure) = done {
                self.failure.get_or_insert(failure);
            }
        }
    }

    /// Starts a flow over QUIC.
    fn start_quic(
        &mut self,
        order: &FlowOrder<'_>,
        settings: &QuicSettings,
    ) -> Result<(), Failure> {
        let group = order.group;
        let (algorithm, parameters) = controller(group, order.listed);
        let clock = self.shared.clock;
        let (now, moment) = (clock.now(), Instant::now());
        let setup = QuicSetup {
            flow: order.flow,
            slot: order.flow % SLOTS,
            source: order.source,
            destination: order.destination,
            size: order.size.map(|size| size.get().max(1)),
            rtt: clock.between(
                Time::ZERO,
                self.rtts.remove(&order.flow).unwrap_or_default(),
            ),
            opens: (order.opens.iter())
                .map(|&opens| moment + clock.between(now, opens))
                .collect(),
            transport: &group.transport,
            coupled: &coupled(group, algorithm, parameters)?,
            settings,
            stream: Stream::new(self.shared.seed, order.flow),
        };
        let flow = QuicFlow::open(setup, self.shared.namespaces, self.shared.home)?;
        for (side, end) in flow
            .sides()
            .into_iter()
            .zip([End::QuicClient, End::QuicServer])
        {
            self.watch(side.socket(), order.flow, end, wanted(side))?;
        }
        self.quic_flows.insert(order.flow, flow);
        self.busy.insert(order.flow);
        Ok(())
    }

    fn watch(
        &self,
        socket: impl AsFd,
        flow: u32,
        end: End,
        event: epoll::EventFlags,
    ) -> Result<(), Failure> {
        epoll::add(&self.epoll, socket, key(flow, end), event)
            .map_err(|error| Failure::new(format!("cannot watch a socket: {error}")))
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
            self.watch(receiver, flow, End::Receiver, epoll::EventFlags::IN)?;
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
            let none = epoll::EventFlags::empty();
            epoll::modify(
                &self.epoll,
                &connection.sender,
                key(flow, End::Sender),
                none,
            )
            .map_err(|error| failed(source, error.into()))?;
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
            self.progressed.push((flow, received));
            if connection.is_complete() {
                self.complete.push((flow, received));
            }
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
                    self.failure.get_or_insert(failure);
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

/// The controller of a group's flow: a listed one may have its own.
fn controller(group: &GroupPlan, listed: Option<u32>) -> (&Algorithm, &Parameters) {
    let own = listed.and_then(|entry| group.listed[entry as usize].controller.as_ref());
    own.map_or(
        (&group.controller, &group.parameters),
        |(controller, parameters)| (controller, parameters),
    )
}

/// What a side of a flow over QUIC waits for.
fn wanted(side: &Side) -> epoll::EventFlags {
    match side.is_blocked() {
        true => epoll::EventFlags::IN | epoll::EventFlags::OUT,
        false => epoll::EventFlags::IN,
    }
}

impl Hosts for RealHosts<'_> {
    fn lay(&mut self, flow: u32, subflow: u32, forward: &[LinkId], back: &[LinkId]) {
        let has_started =
            self.quic_flows.contains_key(&flow) || self.connections.contains_key(&flow);
        if self.shared.quic.is_some() && !has_started {
            let (data, ack) = (Bytes::new(DATA_PACKET), Bytes::new(ACK_PACKET));
            let rtt = base_rtt(&self.shared.plan.fabric, forward, back, data, ack);
            let longest = self.rtts.entry(flow).or_default();
            *longest = rtt.max(*longest);
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
            && let Some(settings) = self.shared.quic.clone()
        {
            if let Err(failure) = self.start_quic(order, &settings) {
                self.failure.get_or_insert(failure);
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
            self.watch(
                &connection.listener,
                order.flow,
                End::Listener,
                epoll::EventFlags::IN,
            )?;
            self.watch(
                &connection.sender,
                order.flow,
                End::Sender,
                epoll::EventFlags::OUT,
            )?;
            Ok(connection)
        });
        match watched {
            Ok(connection) => {
                self.connections.insert(order.flow, connection);
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }

    fn stop(&mut self, flow: u32) {
        if let Some(over_quic) = self.quic_flows.get_mut(&flow) {
            over_quic.stop();
            self.busy.insert(flow);
            if over_quic.is_complete() {
                let received = over_quic.received();
                self.complete.push((flow, received));
            }
            return;
        }
        let Some(connection) = self.connections.get_mut(&flow) else {
            return;
        };
        if let Err(error) = connection.stop() {
            let source = connection.source;
            let failure = Failure::new(format!("a flow of host {source} cannot stop: {error}"));
            self.failure.get_or_insert(failure);
            return;
        }
        let none = epoll::EventFlags::empty();
        // It may have been taken out already.
        let _ = epoll::modify(
            &self.epoll,
            &connection.sender,
            key(flow, End::Sender),
            none,
        );
        if connection.is_complete() {
            let received = connection.received;
            self.complete.push((flow, received));
        }
    }

    fn look(&mut self, flow: u32) -> FlowView {
        let clock = self.shared.clock;
        if let Some(over_quic) = self.quic_flows.get_mut(&flow) {
            let subflows = over_quic.look(|at| clock.at(at), |time| clock.plan_time(time));
            return FlowView {
                delivered: Bytes::new(over_quic.received()),
                sent: Bytes::new(over_quic.sent()),
                subflows,
            };
        }
        let plan_time = |micros: u32| clock.plan_time(Duration::from_micros(u64::from(micros)));
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
        self.quic_flows.remove(&flow);
        self.rtts.remove(&flow);
        self.busy.remove(&flow);
    }
}
