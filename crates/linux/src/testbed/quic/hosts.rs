//! The hosts' flows over QUIC: which of them are to work, and when.

use super::agenda::Agenda;
use super::flow::{QuicFlow, QuicSetup};
use super::groups::coupled;
use super::settings::QuicSettings;
use super::side::Side;
use crate::Failure;
use crate::testbed::fabric::Order;
use crate::testbed::frame::SLOTS;
use crate::testbed::group::controller;
use crate::testbed::news::News;
use crate::testbed::shared::Shared;
use crate::testbed::sockets::{End, EventFlags, Sockets};
use crate::testbed::stream::Stream;
use pathweave_engine::live::{FirstArrival, FlowOrder, FlowView};
use pathweave_fabric::{LinkId, base_rtt};
use pathweave_units::{Bytes, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Sizes of packets that an RTT without queues is worked out for, where it need not be exact.
const DATA_PACKET: u64 = 1500;
const ACK_PACKET: u64 = 60;
/// A flow's two sockets.
const ENDS: [End; 2] = [End::QuicClient, End::QuicServer];

/// All flows over QUIC.
#[derive(Default)]
pub struct QuicHosts {
    flows: BTreeMap<u32, QuicFlow>,
    /// Flows that have something to do at once.
    busy: BTreeSet<u32>,
    /// When the others have.
    agenda: Agenda,
    arrived: Vec<FirstArrival>,
    /// The longest RTT without queues of the paths that were laid for flows that start next.
    rtts: BTreeMap<u32, Time>,
}

impl QuicHosts {
    /// Whether a flow is over QUIC and under way.
    pub fn has(&self, flow: u32) -> bool {
        self.flows.contains_key(&flow)
    }

    /// A path is laid for a flow that may start next.
    pub fn lay(&mut self, flow: u32, forward: &[LinkId], back: &[LinkId], shared: &Shared<'_>) {
        let (data, ack) = (Bytes::new(DATA_PACKET), Bytes::new(ACK_PACKET));
        let rtt = base_rtt(&shared.plan.fabric, forward, back, data, ack);
        let longest = self.rtts.entry(flow).or_default();
        *longest = rtt.max(*longest);
    }

    /// Starts a flow.
    ///
    /// # Errors
    /// The kernel's, and when the controller cannot run over QUIC.
    pub fn start(
        &mut self,
        order: &FlowOrder<'_>,
        settings: &QuicSettings,
        shared: &Shared<'_>,
        sockets: &Sockets,
    ) -> Result<(), Failure> {
        let group = order.group;
        let (algorithm, parameters) = controller(group, order.listed);
        let clock = shared.clock;
        let (now, moment) = (clock.now(), Instant::now());
        let rtt = self.rtts.remove(&order.flow).unwrap_or_default();
        let setup = QuicSetup {
            flow: order.flow,
            slot: order.flow % SLOTS,
            source: order.source,
            destination: order.destination,
            size: order.size.map(|size| size.get().max(1)),
            rtt: clock.between(Time::ZERO, rtt),
            opens: (order.opens.iter())
                .map(|&opens| moment + clock.between(now, opens))
                .collect(),
            transport: &group.transport,
            coupled: &coupled(group, algorithm, parameters)?,
            settings,
            stream: Stream::new(shared.seed, order.flow),
        };
        let flow = QuicFlow::open(setup, shared.namespaces, shared.home)?;
        for (side, end) in flow.sides().into_iter().zip(ENDS) {
            sockets.watch(side.socket(), order.flow, end, wanted(side))?;
        }
        self.flows.insert(order.flow, flow);
        self.busy.insert(order.flow);
        Ok(())
    }

    /// Something has come for a flow.
    pub fn wake(&mut self, flow: u32) {
        self.busy.insert(flow);
    }

    /// For how long there is nothing to do unless something comes; none for ever.
    pub fn idle_for(&self) -> Option<Duration> {
        if !self.busy.is_empty() {
            return Some(Duration::ZERO);
        }
        let first = self.agenda.first()?;
        Some(first.saturating_duration_since(Instant::now()))
    }

    /// Lets those flows work that something has come for or whose time has come.
    pub fn work(&mut self, sockets: &Sockets, orders: &Sender<Order>, news: &mut News) {
        let now = Instant::now();
        while let Some(flow) = self.agenda.take_due(now) {
            self.busy.insert(flow);
        }
        for number in std::mem::take(&mut self.busy) {
            let Some(flow) = self.flows.get_mut(&number) else {
                continue;
            };
            let before = flow.received();
            let was_blocked = flow.sides().map(Side::is_blocked);
            let done = flow.work(&mut self.arrived);
            for first in self.arrived.drain(..) {
                // The fabric has ended only if it has failed, which is noticed elsewhere.
                let _ = orders.send(Order::Read(first));
            }
            if flow.received() > before {
                news.progressed(number, flow.received(), flow.is_complete());
            }
            self.agenda.set(number, flow.next_due());
            match done {
                Ok(true) => {
                    self.busy.insert(number);
                }
                Ok(false) => {}
                Err(failure) => news.fail(failure),
            }
            for ((side, end), was) in flow.sides().into_iter().zip(ENDS).zip(was_blocked) {
                if side.is_blocked() != was
                    && let Err(error) = sockets.change(side.socket(), number, end, wanted(side))
                {
                    news.fail(Failure::new(format!("cannot watch a socket: {error}")));
                }
            }
        }
    }

    /// A flow writes nothing any more.
    pub fn stop(&mut self, flow: u32, news: &mut News) {
        let Some(over_quic) = self.flows.get_mut(&flow) else {
            return;
        };
        over_quic.stop();
        self.busy.insert(flow);
        if over_quic.is_complete() {
            news.complete(flow, over_quic.received());
        }
    }

    /// A flow's counters.
    pub fn look(&mut self, flow: u32, shared: &Shared<'_>) -> FlowView {
        let clock = shared.clock;
        let Some(over_quic) = self.flows.get_mut(&flow) else {
            return FlowView::default();
        };
        let subflows = over_quic.look(|at| clock.at(at), |time| clock.plan_time(time));
        FlowView {
            delivered: Bytes::new(over_quic.received()),
            sent: Bytes::new(over_quic.sent()),
            subflows,
        }
    }

    /// A flow has ended.
    pub fn close(&mut self, flow: u32) {
        self.flows.remove(&flow);
        self.rtts.remove(&flow);
        self.busy.remove(&flow);
        self.agenda.set(flow, None);
    }
}

/// What a side of a flow waits for.
fn wanted(side: &Side) -> EventFlags {
    match side.is_blocked() {
        true => EventFlags::IN | EventFlags::OUT,
        false => EventFlags::IN,
    }
}
