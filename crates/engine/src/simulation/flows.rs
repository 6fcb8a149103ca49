//! Flows come and go: traffic asks for them, they get routes, and leave their counters behind.

use super::{RunError, Simulation};
use crate::build;
use crate::extent::Samples;
use crate::flows::{SubflowRow, totals};
use crate::ideal::{Ways, ideal};
use crate::outlet::SubflowRoutes;
use crate::results::Verdict;
use crate::workload::controller_of;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_random::Stream;
use pathweave_transport::{ConnectionId, Joins, Opening, PacketKey, Scatter, SubflowIndex};
use pathweave_units::Time;
use std::sync::Arc;

/// Flows that are gone through between two looks whether the run shall end early.
pub(super) const FLOWS_BETWEEN_LOOKS: u32 = 1 << 12;

impl<P: Ports> Simulation<'_, P> {
    /// A group starts nothing new, and its flows stop sending.
    pub(super) fn stop_group(&mut self, group: u32, now: Time) {
        for number in self.workload.stop_group(group) {
            if let Some(connection) = self.workload.flows[number as usize].connection {
                let (endpoints, mut out) = self.outlet(now);
                endpoints.stop(connection, &mut out);
            }
        }
        self.end_if_nothing_can_happen();
    }

    /// Not part of the run loop, which would get slower.
    #[inline(never)]
    pub(super) fn start_flow(&mut self, number: u32, now: Time) {
        if !self.workload.start(number, now) {
            return;
        }
        let flow = &self.workload.flows[number as usize];
        let group = flow.group as usize;
        let plan = &self.plan.groups[group];
        let listed = flow.listed.map(|entry| &plan.listed[entry as usize]);
        let (entry, parameters) = controller_of(plan, flow.listed);
        let config = Arc::clone(&self.configs[group]);
        let most = config.largest_flow();
        if let Some(size) = flow.size.filter(|&size| size > most) {
            self.refused = Some(RunError::Plan(format!(
                "a flow of group \"{}\" has drawn {size}, more packets than can be numbered; give its sizes a maximum of {most} or less",
                plan.name
            )));
            self.workload.ended = Some(Verdict::Stopped);
            return;
        }
        let join_delays = match config.joins {
            Joins::WithinAfterHandshake(longest) => {
                let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
                (0..flow.subflows)
                    .map(|_| Time::from_picos(stream.between(0, longest.as_picos())))
                    .collect()
            }
            Joins::AfterHandshake => Vec::new(),
        };
        let scatter = entry.scatter.map(|volume| Scatter {
            volume: volume(parameters),
            duplicate_threshold: self.duplicate_threshold(flow.source, flow.destination),
        });
        let ecn_echo = build::ecn_echo(entry, parameters, config.ecn);
        self.begin_capture(number, &config, entry.scheme, ecn_echo.is_some());
        let flow = &self.workload.flows[number as usize];
        let controller = build::controller(entry, parameters, config.ecn);
        let connection = self.endpoints.add(Opening {
            config,
            controller,
            ecn_echo,
            subflows: flow.subflows,
            size: flow.size,
            packet_key: PacketKey::new(self.plan.seed, number),
            subflow_starts: listed.map_or_else(Vec::new, |l| l.subflow_starts.clone()),
            join_delays,
            established: flow.established,
            scatter,
            scheme: entry.scheme,
        });
        let ways = self.lay_routes(number, connection);
        let flow = &mut self.workload.flows[number as usize];
        flow.connection = Some(connection);
        flow.ideal = ideal(self.plan, number, flow, &ways);
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
            self.workload.stop(number);
        }
    }

    /// Gives each subflow its routes. Returns the data paths that packets may take.
    pub(super) fn lay_routes(&mut self, number: u32, connection: ConnectionId) -> Ways {
        let captured = self.captures.contains_key(&number);
        let mut ways = Ways::default();
        for (subflow, SubflowIndex(place)) in (0..).zip(self.endpoints.subflows(connection)) {
            let place = place as usize;
            let flow = &self.workload.flows[number as usize];
            let paths = self.routing.paths(self.plan, number, flow, subflow);
            if self.routes.len() <= place {
                self.routes.resize(place + 1, None);
                self.path_of.resize(place + 1, 0);
                self.series.received_before.resize(place + 1, 0.0);
                self.series.window_before.resize(place + 1, f64::NAN);
                self.series.rtts_before.resize(place + 1, None);
                self.series.window_courses.resize(place + 1, None);
                self.series
                    .rtt_samples
                    .resize(place + 1, Samples::default());
            }
            let routes = if paths.by_switches {
                self.add_fmp_routes(number, subflow)
            } else {
                self.add_subflow_routes(SubflowIndex(place as u32), &paths)
            };
            self.routes[place] = Some(SubflowRoutes { captured, ..routes });
            self.series.received_before[place] = 0.0;
            self.series.window_before[place] = f64::NAN;
            self.series.rtts_before[place] = None;
            self.series.window_courses[place] = None;
            self.series.rtt_samples[place] = Samples::default();
            self.path_of[place] = self.path_list.place(&paths);
            if let Some(spread) = &paths.spread {
                ways.add_spread(spread);
            } else if paths.by_switches {
                let flow = &self.workload.flows[number as usize];
                let router = self.routing.intact();
                ways.add_choice(router.spread(flow.source, flow.destination));
            } else {
                ways.add_path(paths.forward);
            }
        }
        ways
    }

    /// Routes of flow `number`'s subflow, there and back, whose links the switches choose.
    fn add_fmp_routes(&mut self, number: u32, subflow: u32) -> SubflowRoutes {
        let flow = &self.workload.flows[number as usize];
        let (source, destination) = (flow.source, flow.destination);
        let mut add = |hosts| {
            self.network
                .add_fmp_route(hosts, u64::from(number), subflow)
        };
        SubflowRoutes {
            forward: add((source, destination)),
            back: add((destination, source)),
            sprayed: false,
            captured: false,
        }
    }

    /// The path that the switches have chosen for a subflow so far.
    fn chosen_path(&mut self, SubflowIndex(place): SubflowIndex) {
        if self.network.fmp().is_some()
            && let Some(routes) = self.routes[place as usize].filter(|routes| !routes.sprayed)
        {
            let links = self.network.links_of(routes.forward);
            let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
            self.path_of[place as usize] = self.path_list.place_of(&links);
        }
    }

    /// Duplicate acknowledgements that make a scattered packet lost: overtaking makes up to as many as
    /// there are paths.
    fn duplicate_threshold(&self, source: u32, destination: u32) -> u32 {
        let paths = self.routing.intact().path_count(source, destination);
        3 + if paths > 1 { paths as u32 } else { 0 }
    }

    pub(super) fn on_finished(&mut self, connection: ConnectionId) {
        let number = self.flow_of[connection.0 as usize];
        let delivered = self.endpoints.delivered(connection);
        if self.rate_beat.interval() < Time::MAX {
            self.keep_remainders(number, connection);
        }
        self.workload
            .finished(number, delivered, &mut self.scheduler);
        self.end_if_nothing_can_happen();
    }

    /// Nothing of a finished flow is left: its counters become rows, its places are free.
    pub(super) fn on_gone(&mut self, connection: ConnectionId) {
        let number = self.flow_of[connection.0 as usize];
        self.collect(number, connection);
        for SubflowIndex(place) in self.endpoints.subflows(connection) {
            let own = self.routes[place as usize].take();
            let own = own.filter(|routes| !routes.sprayed);
            let retired = self.retired.get_mut(place as usize);
            let retired = retired.map(std::mem::take).unwrap_or_default();
            let sprayed = self.sprays.take(SubflowIndex(place));
            for routes in own.into_iter().chain(sprayed).chain(retired) {
                self.network.remove_route(routes.forward);
                self.network.remove_route(routes.back);
            }
        }
        self.endpoints.release(connection);
    }

    /// Takes over the counters of a flow's connection.
    pub(super) fn collect(&mut self, number: u32, connection: ConnectionId) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
            let place = index.0 as usize;
            self.chosen_path(index);
            let view = self.endpoints.subflow(index);
            let row = SubflowRow::new(number, subflow as u32, &view, self.path_of[place]);
            rows.push(row);
        }
        let totals = totals(&self.endpoints, connection, &mut self.rtts);
        self.ended.push(number, &rows, &totals);
        self.rows = rows;
        self.workload.flows[number as usize].connection = None;
    }

    pub(super) fn collect_unfinished(&mut self) -> Result<(), RunError> {
        for number in 0..self.workload.flows.len() as u32 {
            if number % FLOWS_BETWEEN_LOOKS == 0 {
                self.stop_if_cancelled()?;
            }
            let flow = &self.workload.flows[number as usize];
            let Some(connection) = flow.connection else {
                continue;
            };
            let unfinished = flow.end.is_none();
            if unfinished {
                let delivered = self.endpoints.delivered(connection);
                let stalled = self
                    .endpoints
                    .is_stuck(connection, |subflow| self.has_live_path(subflow));
                let flow = &mut self.workload.flows[number as usize];
                flow.delivered = delivered;
                flow.stalled = stalled;
            }
            self.collect(number, connection);
        }
        Ok(())
    }
}
