//! Flows come and go: traffic asks for them, they get routes, and leave their counters behind.

use super::{RunError, Simulation};
use crate::build;
use crate::extent::Samples;
use crate::flows::{Halves, SubflowRow, totals};
use crate::ideal::{Ways, ideal};
use crate::outlet::{Departure, SubflowRoutes};
use crate::results::Verdict;
use crate::spray::SubflowEnds;
use crate::workload::controller_of;
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_random::Stream;
use pathweave_transport::{End, Joins, Opening, PacketKey, Scatter, SendingSubflow, open};
use pathweave_units::Time;
use std::sync::Arc;

/// Flows that are gone through between two looks whether the run shall end early.
pub(super) const FLOWS_BETWEEN_LOOKS: u32 = 1 << 12;

/// Flows that are on their way out and that are looked at when a flow starts: more than one, so that they do
/// not become ever more.
const LEAVING_LOOKED_AT: usize = 4;

impl<P: Port> Simulation<'_, P> {
    /// Not part of the run loop, which would get slower.
    #[inline(never)]
    pub(super) fn start_flow(&mut self, number: u32, now: Time) {
        if !self.workload.start(number, now) {
            return;
        }
        // Where switches keep tables, flows leave them with the period of feedback.
        if self.network.fmp().is_none() {
            self.release_the_gone(LEAVING_LOOKED_AT);
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
        let opening = Opening {
            flow: number,
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
        };
        let (sending, receiving) = open(&mut self.sending, &mut self.receiving, opening);
        let halves = Halves { sending, receiving };
        let ways = self.lay_routes(number, halves);
        let flow = &mut self.workload.flows[number as usize];
        flow.halves = Some(halves);
        flow.ideal = ideal(self.plan, number, flow, &ways);
        let (sending, _, mut out) = self.halves(now);
        sending.start(halves.sending, now, &mut out);
    }

    /// The ends of a flow's subflows.
    pub(super) fn ends(
        &self,
        number: u32,
        halves: Halves,
    ) -> impl Iterator<Item = SubflowEnds> + use<P> {
        let sending = self.sending.subflows(halves.sending);
        let receiving = self.receiving.subflows(halves.receiving);
        let ends = sending.zip(receiving).enumerate();
        ends.map(move |(subflow, (sending, receiving))| SubflowEnds {
            flow: number,
            subflow: subflow as u32,
            sending,
            receiving,
        })
    }

    /// Gives each subflow its routes. Returns the data paths that packets may take.
    pub(super) fn lay_routes(&mut self, number: u32, halves: Halves) -> Ways {
        let captured = self.captures.contains_key(&number);
        let mut ways = Ways::default();
        for ends in self.ends(number, halves) {
            let subflow = ends.subflow;
            let place = ends.sending.0 as usize;
            let arriving = ends.receiving.0 as usize;
            if self.series.received_before.len() <= arriving {
                self.series.received_before.resize(arriving + 1, 0.0);
            }
            self.series.received_before[arriving] = 0.0;
            let flow = &self.workload.flows[number as usize];
            let paths = self.routing.paths(self.plan, number, flow, subflow);
            if self.routes.len() <= place {
                self.routes.resize(place + 1, None);
                self.path_of.resize(place + 1, 0);
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
                self.add_subflow_routes(ends, &paths)
            };
            self.routes[place] = Some(routes);
            let departure = Departure {
                route: routes.forward,
                subflow: self.subflows_started,
                sprayed: routes.sprayed,
                captured,
            };
            self.subflows_started = self.subflows_started.wrapping_add(1);
            self.departures.set(End::Sending(ends.sending), departure);
            let departure = Departure {
                route: routes.back,
                captured: false,
                ..departure
            };
            self.departures
                .set(End::Receiving(ends.receiving), departure);
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
        }
    }

    /// The path that the switches have chosen for a subflow so far.
    fn chosen_path(&mut self, SendingSubflow(place): SendingSubflow) {
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

    /// Flows of which nothing is left give their counters and places back, if they are among the first so many
    /// that are leaving. When that is done changes no result but what the switches' tables hold.
    pub(super) fn release_the_gone(&mut self, first: usize) {
        for _ in 0..self.leaving.len().min(first) {
            let Some(number) = self.leaving.pop_front() else {
                return;
            };
            match self.workload.flows[number as usize].halves {
                Some(halves) if self.is_gone(number, halves) => self.release(number, halves),
                Some(_) => self.leaving.push_back(number),
                None => {}
            }
        }
    }

    /// Whether nothing of a flow is left to happen in hosts or network.
    fn is_gone(&self, number: u32, halves: Halves) -> bool {
        let sent = self.sending.in_network(halves.sending);
        let back = self.receiving.in_network(halves.receiving);
        sent.wrapping_add(back) == 0
            && self.receiving.is_idle(halves.receiving)
            && self.workload.flows[number as usize].end.is_some()
    }

    /// Nothing of a flow is left: its counters become rows, its places are free.
    fn release(&mut self, number: u32, halves: Halves) {
        self.collect(number, halves);
        for ends in self.ends(number, halves) {
            let place = ends.sending.0 as usize;
            let own = self.routes[place].take();
            let own = own.filter(|routes| !routes.sprayed);
            let retired = self.retired.get_mut(place);
            let retired = retired.map(std::mem::take).unwrap_or_default();
            let sprayed = self.sprays.take(ends.sending);
            self.sprays.end(ends);
            for routes in own.into_iter().chain(sprayed).chain(retired) {
                self.network.remove_route(routes.forward);
                self.network.remove_route(routes.back);
            }
        }
        self.sending.release(halves.sending);
        self.receiving.release(halves.receiving);
    }

    /// Takes over the counters of a flow's two halves.
    pub(super) fn collect(&mut self, number: u32, halves: Halves) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for ends in self.ends(number, halves) {
            self.chosen_path(ends.sending);
            let path = self.path_of[ends.sending.0 as usize];
            let view = self.sending.subflow(ends.sending);
            let arrived = self.receiving.subflow(ends.receiving);
            rows.push(SubflowRow::new(number, ends.subflow, &view, &arrived, path));
        }
        let totals = totals(&self.sending, halves.sending, &mut self.rtts);
        self.ended.push(number, &rows, &totals);
        self.rows = rows;
        self.workload.flows[number as usize].halves = None;
    }

    pub(super) fn collect_unfinished(&mut self) -> Result<(), RunError> {
        for number in 0..self.workload.flows.len() as u32 {
            if number % FLOWS_BETWEEN_LOOKS == 0 {
                self.stop_if_cancelled()?;
            }
            let flow = &self.workload.flows[number as usize];
            let Some(halves) = flow.halves else {
                continue;
            };
            let unfinished = flow.end.is_none();
            if unfinished {
                let Halves { sending, receiving } = halves;
                let is_consistent = self.receiving.is_consistent(receiving)
                    && self
                        .sending
                        .agrees_with(sending, &self.receiving, receiving);
                if !is_consistent {
                    return Err(RunError::Check(format!(
                        "flow {number}: data was not delivered once and in order"
                    )));
                }
                let delivered = self.receiving.delivered(receiving);
                let stalled = self
                    .sending
                    .is_stuck(sending, |subflow| self.has_live_path(subflow));
                let flow = &mut self.workload.flows[number as usize];
                flow.delivered = delivered;
                flow.stalled = stalled;
            }
            self.collect(number, halves);
        }
        Ok(())
    }
}
