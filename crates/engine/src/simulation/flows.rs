//! Flows come and go: traffic asks for them, they get routes, and leave their counters behind.

use super::Simulation;
use crate::build;
use crate::flows::{Flow, FlowTotals, SubflowRow, totals};
use crate::outlet::SubflowRoutes;
use crate::scheduler::Alarm;
use crate::series::RateRow;
use pathweave_control::{Entry, Parameters};
use pathweave_fabric::routing::{PathRequest, RoutingKind};
use pathweave_fabric::{LinkId, PacketSizes, ideal_fct};
use pathweave_network::{Port, Routes};
use pathweave_random::Stream;
use pathweave_scenario::GroupPlan;
use pathweave_traffic::{Event as TrafficEvent, FlowStart};
use pathweave_transport::{ConnectionId, Joins, Opening, Scatter, SubflowIndex};
use pathweave_units::{Bytes, Time};
use std::sync::Arc;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn tell_traffic(&mut self, group: usize, event: TrafficEvent) {
        let now = self.scheduler.now();
        let mut starts = std::mem::take(&mut self.starts);
        self.programs[group].on(event, now, &mut starts);
        for start in starts.drain(..) {
            self.expect_flow(group, start);
        }
        self.starts = starts;
        let wake = self.programs[group].next_wake().unwrap_or(Time::MAX);
        if wake < self.wakes[group] {
            self.wakes[group] = wake.max(now);
            self.scheduler.wake(Alarm::WakeTraffic(group as u32), wake);
        }
    }

    /// A group starts nothing new, and its flows stop sending.
    pub(super) fn stop_group(&mut self, group: u32, now: Time) {
        self.programs[group as usize].drain();
        let under_way: Vec<ConnectionId> = self
            .active
            .iter()
            .map(|&number| &self.flows[number as usize])
            .filter(|flow| flow.group == group)
            .filter_map(|flow| flow.connection)
            .collect();
        for connection in under_way {
            let (endpoints, mut out) = self.outlet(now);
            endpoints.stop(connection, &mut out);
        }
        self.end_if_nothing_can_happen();
    }

    pub(super) fn expect_flow(&mut self, group: usize, start: FlowStart) {
        let number = self.flows.len() as u32;
        let plan = &self.plan.groups[group];
        let listed = start.listed.map(|entry| &plan.listed[entry as usize]);
        let subflows = listed
            .and_then(|listed| listed.subflows)
            .unwrap_or(plan.subflows);
        // A scattered subflow comes before those that are asked for.
        let scattered = controller_of(plan, start.listed).0.scatter.is_some();
        let count = &mut self.counts[group];
        count.started += 1;
        count.started_bytes += start.size.map_or(0, Bytes::get);
        self.flows.push(Flow {
            group: group as u32,
            tag: start.tag,
            source: start.source,
            destination: start.destination,
            size: start.size,
            subflows: subflows + u32::from(scattered),
            job: start.job,
            listed: start.listed,
            established: start.established,
            start: start.at,
            stop: start.stop,
            end: None,
            ideal: None,
            connection: None,
            delivered: Bytes::ZERO,
            totals: FlowTotals::default(),
            stalled: false,
        });
        self.pending += 1;
        self.scheduler.wake(Alarm::StartFlow(number), start.at);
        if let Some(stop) = start.stop {
            self.scheduler
                .wake(Alarm::StopFlow(number), stop.max(start.at));
        }
        self.check_amounts_started(group);
    }

    pub(super) fn start_flow(&mut self, number: u32, now: Time) {
        self.pending -= 1;
        let group = &self.plan.groups[self.flows[number as usize].group as usize];
        if group.stop.is_some_and(|stop| stop <= now) {
            return; // its group has ended since it was asked for
        }
        self.active.insert(number);
        let flow = &self.flows[number as usize];
        let group = flow.group as usize;
        let plan = &self.plan.groups[group];
        let listed = flow.listed.map(|entry| &plan.listed[entry as usize]);
        let (entry, parameters) = controller_of(plan, flow.listed);
        let config = Arc::clone(&self.configs[group]);
        let join_delays = match config.joins {
            Joins::WithinAfterHandshake(longest) => {
                let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
                (0..flow.subflows)
                    .map(|_| Time::from_picos(stream.between(0, longest.as_picos())))
                    .collect()
            }
            Joins::AfterHandshake => Vec::new(),
        };
        let packets = PacketSizes {
            payload: u32::from(config.maximum_segment),
            header: u32::from(config.overhead()),
        };
        let scatter = entry.scatter.map(|volume| Scatter {
            volume: volume(parameters),
            duplicate_threshold: self.duplicate_threshold(flow.source, flow.destination),
        });
        let ecn_echo = build::ecn_echo(entry, parameters, config.ecn);
        self.begin_capture(number, &config, ecn_echo.is_some());
        let flow = &self.flows[number as usize];
        let connection = self.endpoints.add(Opening {
            config,
            controller: (entry.build)(parameters),
            ecn_echo,
            subflows: flow.subflows,
            size: flow.size,
            subflow_starts: listed.map_or_else(Vec::new, |l| l.subflow_starts.clone()),
            join_delays,
            established: flow.established,
            scatter,
        });
        let paths = self.lay_routes(number, connection);
        let flow = &mut self.flows[number as usize];
        flow.connection = Some(connection);
        flow.ideal = flow
            .size
            .map(|size| ideal_fct(&self.plan.fabric, &paths, size, packets));
        let place = connection.0 as usize;
        if self.flow_of.len() <= place {
            self.flow_of.resize(place + 1, u32::MAX);
        }
        self.flow_of[place] = number;
        let stop = flow.stop;
        let (endpoints, mut out) = self.outlet(now);
        endpoints.start(connection, now, &mut out);
        if stop.is_some_and(|stop| stop <= now) {
            endpoints.stop(connection, &mut out); // jitter put the start off to its end
        }
    }

    /// Gives each subflow its routes. Returns the data paths.
    pub(super) fn lay_routes(&mut self, number: u32, connection: ConnectionId) -> Vec<Vec<LinkId>> {
        let captured = self.captures.contains_key(&number);
        let flow = &self.flows[number as usize];
        let plan = &self.plan.groups[flow.group as usize];
        let pinned = flow
            .listed
            .map_or(&[][..], |entry| &plan.listed[entry as usize].paths[..]);
        let mut paths = Vec::with_capacity(flow.subflows as usize);
        for (subflow, SubflowIndex(place)) in self.endpoints.subflows(connection).enumerate() {
            let place = place as usize;
            let request = PathRequest {
                source: flow.source,
                destination: flow.destination,
                connection: u64::from(number),
                subflow: subflow as u32,
                pinned: pinned.get(subflow % pinned.len().max(1)).map(Vec::as_slice),
            };
            let (mut forward, mut back) = (Vec::new(), Vec::new());
            self.router.data_path(&request, &mut forward);
            self.router.ack_path(&request, &forward, &mut back);
            if self.routes.len() <= place {
                self.routes.resize(place + 1, None);
                self.path_of.resize(place + 1, 0);
                self.series.received_before.resize(place + 1, 0);
                self.series.window_before.resize(place + 1, f64::NAN);
                self.series.rtts_before.resize(place + 1, None);
            }
            let scattered = subflow == 0 && controller_of(plan, flow.listed).0.scatter.is_some();
            let spray = *self.router.kind() == RoutingKind::Spray;
            let sprayed = (spray && pinned.is_empty()) || scattered;
            if sprayed {
                let spread = self.router.spread(flow.source, flow.destination);
                let all = spread.iter().map(|path| {
                    let back: Vec<LinkId> = path.iter().rev().map(|link| link.reverse()).collect();
                    add_routes(&mut self.network.routes, path, &back, true)
                });
                self.sprays.set(SubflowIndex(place as u32), all.collect());
            }
            let routes = match self.sprays.of(SubflowIndex(place as u32)).first() {
                Some(routes) => *routes,
                None => add_routes(&mut self.network.routes, &forward, &back, false),
            };
            self.routes[place] = Some(SubflowRoutes { captured, ..routes });
            self.series.received_before[place] = 0;
            self.series.window_before[place] = f64::NAN;
            self.series.rtts_before[place] = None;
            // Packets that are spread have no path that could be named.
            let named = if sprayed { &[][..] } else { &forward[..] };
            let known = self.paths.get(named).copied();
            self.path_of[place] = known.unwrap_or_else(|| {
                let index = self.path_list.len() as u32;
                self.paths.insert(named.to_vec(), index);
                self.path_list.push(named.to_vec());
                index
            });
            paths.push(forward);
        }
        paths
    }

    /// Duplicate acknowledgements that make a scattered packet lost: overtaking makes up to as many as
    /// there are paths.
    fn duplicate_threshold(&self, source: u32, destination: u32) -> u32 {
        let paths = self.router.path_count(source, destination);
        3 + if paths > 1 { paths as u32 } else { 0 }
    }

    pub(super) fn on_finished(&mut self, connection: ConnectionId, now: Time) {
        let number = self.flow_of[connection.0 as usize];
        self.active.remove(&number);
        let flow = &mut self.flows[number as usize];
        flow.end = Some(now);
        flow.delivered = self.endpoints.delivered(connection);
        let (group, tag) = (flow.group as usize, flow.tag);
        let count = &mut self.counts[group];
        count.finished += 1;
        count.finished_bytes += flow.delivered.get();
        let in_job = flow.job;
        self.tell_traffic(group, TrafficEvent::Finished { tag });
        if let Some(job) = in_job
            && self.programs[group].jobs()[job as usize].end == Some(now)
        {
            self.counts[group].finished_jobs += 1;
        }
        self.check_amounts_finished(group);
        self.end_if_nothing_can_happen();
    }

    /// Nothing of a finished flow is left: its counters become rows, its places are free.
    pub(super) fn on_gone(&mut self, connection: ConnectionId) {
        let number = self.flow_of[connection.0 as usize];
        self.collect(number, connection);
        for SubflowIndex(place) in self.endpoints.subflows(connection) {
            let own = self.routes[place as usize].take();
            let own = own.filter(|routes| !routes.sprayed);
            for routes in own.into_iter().chain(self.sprays.take(SubflowIndex(place))) {
                self.network.routes.remove(routes.forward);
                self.network.routes.remove(routes.back);
            }
        }
        self.endpoints.release(connection);
    }

    /// Takes over the counters of a flow's connection.
    pub(super) fn collect(&mut self, number: u32, connection: ConnectionId) {
        let now = self.scheduler.now();
        for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
            let place = index.0 as usize;
            let view = self.endpoints.subflow(index);
            let row = SubflowRow::new(number, subflow as u32, &view, self.path_of[place]);
            let bytes = row.received - self.series.received_before[place];
            if self.rate_beat.interval() < Time::MAX && bytes > 0 {
                let subflow = subflow as u32;
                self.series.remainders.push(RateRow {
                    at: now,
                    flow: number,
                    subflow,
                    bytes,
                });
            }
            self.subflow_rows.push(row);
        }
        let flow = &mut self.flows[number as usize];
        flow.totals = totals(&self.endpoints, connection, &mut self.rtts);
        flow.connection = None;
    }

    pub(super) fn collect_unfinished(&mut self) {
        for number in 0..self.flows.len() as u32 {
            let flow = &self.flows[number as usize];
            let Some(connection) = flow.connection else {
                continue;
            };
            let unfinished = flow.end.is_none();
            if unfinished {
                let delivered = self.endpoints.delivered(connection);
                let stalled = self
                    .endpoints
                    .is_stuck(connection, |subflow| self.has_live_path(subflow));
                let flow = &mut self.flows[number as usize];
                flow.delivered = delivered;
                flow.stalled = stalled;
            }
            self.collect(number, connection);
        }
        self.subflow_rows.sort_by_key(|row| (row.flow, row.subflow));
    }
}

/// The controller of a group's flow: a listed flow may have its own.
fn controller_of(plan: &GroupPlan, listed: Option<u32>) -> (&'static Entry, &Parameters) {
    let own = listed.and_then(|entry| plan.listed[entry as usize].controller.as_ref());
    match own {
        Some((entry, parameters)) => (*entry, parameters),
        None => (plan.controller, &plan.parameters),
    }
}

fn add_routes(
    routes: &mut Routes,
    forward: &[LinkId],
    back: &[LinkId],
    sprayed: bool,
) -> SubflowRoutes {
    let mut add = |path: &[LinkId]| routes.add(path.iter().map(|link| link.0));
    SubflowRoutes {
        forward: add(forward),
        back: add(back),
        sprayed,
        captured: false,
    }
}
