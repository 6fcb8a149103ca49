//! Flows come and go: traffic asks for them, they get routes, and leave their counters behind.

use super::Simulation;
use crate::build;
use crate::flows::{Halves, SubflowEnds};
use crate::ideal::ideal;
use crate::listed::controller_of;
use crate::outcome::{RunError, Verdict};
use crate::region::{Departure, SubflowRoutes};
use crate::rows::{Rtts, SubflowRow};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_random::Stream;
use pathweave_transport::{
    End, Joins, Opening, PacketKey, ReceivingSubflow, RttHistogram, Scatter, SendingSubflow,
};
use pathweave_units::Time;
use std::sync::Arc;

/// Flows that are gone through between two looks whether the run shall end early.
pub(super) const FLOWS_BETWEEN_LOOKS: u32 = 1 << 12;

/// Flows that are on their way out and that are looked at when a flow starts: more than one, so that they do
/// not become ever more.
const LEAVING_LOOKED_AT: usize = 4;

impl<P: Ports> Simulation<'_, P> {
    /// Not part of the run loop, which would get slower.
    #[inline(never)]
    pub(super) fn start_flow(&mut self, number: u32, now: Time) {
        if !self.workload.start(number, now) {
            return;
        }
        // Where switches keep tables, flows leave them with the period of feedback.
        if self.regions.first().network.fmp().is_none() {
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
            // There is nothing to join a lone subflow.
            Joins::WithinAfterHandshake(longest) if flow.subflows > 1 => {
                let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
                (0..flow.subflows)
                    .map(|_| Time::from_picos(stream.between(0, longest.as_picos())))
                    .collect()
            }
            Joins::WithinAfterHandshake(_) | Joins::AfterHandshake => Vec::new(),
        };
        let scatter = entry.scatter.map(|volume| Scatter {
            volume: volume(parameters),
            duplicate_threshold: self.duplicate_threshold(flow.source, flow.destination),
        });
        let ecn_echo = build::ecn_echo(entry, parameters, config.ecn);
        self.begin_capture(number, &config, entry.scheme, ecn_echo.is_some());
        let established = self.workload.flows[number as usize].established;
        let flow = &self.workload.flows[number as usize];
        let controller = build::controller(entry, parameters, config.ecn);
        let packet_key = match config.packets {
            Some(_) => PacketKey::new(self.plan.seed, number),
            None => PacketKey::default(),
        };
        let opening = Opening {
            flow: number,
            config,
            controller,
            ecn_echo,
            subflows: flow.subflows,
            size: flow.size,
            packet_key,
            subflow_starts: listed.map_or_else(Vec::new, |l| l.subflow_starts.clone()),
            join_delays,
            established,
            scatter,
            scheme: entry.scheme,
        };
        let halves = self.open(number, opening);
        self.lay_routes(number, halves);
        let flow = &mut self.workload.flows[number as usize];
        flow.halves = Some(halves);
        if flow.size.is_some() && self.regions.has_windows() {
            self.finishes.watch(number);
        }
        flow.ideal = ideal(self.plan, number, flow, &self.ways);
        let (sending, _, mut out) = self.regions[halves.source].halves(now);
        sending.start(halves.sending, now, &mut out);
    }

    /// Opens both halves of a flow and tells each where the other is.
    fn open(&mut self, number: u32, opening: Opening) -> Halves {
        let flow = &self.workload.flows[number as usize];
        let source = self.regions.of_host(flow.source);
        let destination = self.regions.of_host(flow.destination);
        let receiver = &mut self.regions[destination].receiving;
        let receiving = receiver.open(opening.reception());
        let to = receiver.subflows(receiving).next().unwrap_or_default();
        let sender = &mut self.regions[source].sending;
        let sending = sender.open(opening, to);
        let back = sender.subflows(sending).next().unwrap_or_default();
        self.regions[destination].receiving.answer(receiving, back);
        Halves {
            source,
            destination,
            sending,
            receiving,
            first_sending: back,
            first_receiving: to,
        }
    }

    /// The ends of a flow's subflows.
    pub(super) fn ends(
        &self,
        number: u32,
        halves: Halves,
    ) -> impl Iterator<Item = SubflowEnds> + use<P> {
        let subflows = 0..self.workload.flows[number as usize].subflows;
        subflows.map(move |subflow| SubflowEnds {
            flow: number,
            subflow,
            source: halves.source,
            destination: halves.destination,
            sending: SendingSubflow(halves.first_sending.0 + subflow),
            receiving: ReceivingSubflow(halves.first_receiving.0 + subflow),
        })
    }

    /// Gives each subflow its routes, and finds out which data paths packets may take.
    fn lay_routes(&mut self, number: u32, halves: Halves) {
        let captures = &self.regions[halves.source].recorder.captures;
        let captured = captures.contains_key(&number);
        let mut ways = std::mem::take(&mut self.ways);
        let mut paths = std::mem::take(&mut self.paths);
        ways.clear();
        let hosts = &self.plan.fabric.hosts;
        let flow = &self.workload.flows[number as usize];
        let [source, destination] =
            [flow.source, flow.destination].map(|host| hosts[host as usize].0);
        for ends in self.ends(number, halves) {
            let flow = &self.workload.flows[number as usize];
            self.routing
                .find(self.plan, number, flow, ends.subflow, &mut paths);
            let routes = self.add_subflow_routes(ends, &paths);
            let departure = Departure {
                route: routes.forward,
                to: ends.destination,
                host: source,
                subflow: self.subflows_started,
                sprayed: routes.sprayed,
                captured,
            };
            self.subflows_started = self.subflows_started.wrapping_add(1);
            let source = &mut self.regions[ends.source];
            source.recorder.begin_sending(ends.sending);
            source.departures.set(End::Sending(ends.sending), departure);
            let departure = Departure {
                route: routes.back,
                to: ends.source,
                host: destination,
                captured: false,
                ..departure
            };
            let destination = &mut self.regions[ends.destination];
            destination.recorder.begin_receiving(ends.receiving);
            destination
                .departures
                .set(End::Receiving(ends.receiving), departure);
            if let Some(spread) = &paths.spread {
                ways.add_spread(spread);
            } else if paths.by_switches {
                let flow = &self.workload.flows[number as usize];
                let router = self.routing.intact();
                ways.add_choice(&router.spread(flow.source, flow.destination));
            } else {
                ways.add_path(&paths.forward);
            }
        }
        self.paths = paths;
        self.ways = ways;
    }

    /// Routes of a subflow, there and back, whose links the switches choose.
    pub(super) fn add_fmp_routes(&mut self, ends: SubflowEnds) -> SubflowRoutes {
        let flow = &self.workload.flows[ends.flow as usize];
        let (source, destination) = (flow.source, flow.destination);
        let network = &mut self.regions.first_mut().network;
        let mut add = |hosts| network.add_fmp_route(hosts, u64::from(ends.flow), ends.subflow);
        SubflowRoutes {
            forward: add((source, destination)),
            back: add((destination, source)),
            sprayed: false,
        }
    }

    /// The path that the switches have chosen for a subflow so far.
    fn chosen_path(&mut self, ends: SubflowEnds) {
        let region = &self.regions[ends.source];
        if region.network.fmp().is_some()
            && let Some(routes) = region.laid.own(ends.sending)
            && !routes.sprayed
        {
            let links = region.network.links_of(routes.forward);
            let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
            let path = self.path_list.place_of(&links);
            self.regions[ends.source].laid.set_path(ends.sending, path);
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
        let receiving = &self.regions[halves.destination].receiving;
        let sent = self.regions[halves.source]
            .sending
            .in_network(halves.sending);
        let back = receiving.in_network(halves.receiving);
        sent.wrapping_add(back) == 0
            && receiving.is_idle(halves.receiving)
            && self.workload.flows[number as usize].end.is_some()
    }

    /// Nothing of a flow is left: its counters become rows, its places are free.
    fn release(&mut self, number: u32, halves: Halves) {
        self.collect(number, halves);
        for ends in self.ends(number, halves) {
            let source = &mut self.regions[ends.source];
            let mut laid = std::mem::take(&mut source.laid);
            source.sprays.end(End::Sending(ends.sending));
            let destination = &mut self.regions[ends.destination];
            destination.sprays.end(End::Receiving(ends.receiving));
            laid.end(ends.sending, |routes| {
                let forward = &mut self.regions[ends.source].network;
                forward.remove_route(routes.forward);
                let back = &mut self.regions[ends.destination].network;
                back.remove_route(routes.back);
            });
            self.regions[ends.source].laid = laid;
        }
        self.regions[halves.source].sending.release(halves.sending);
        let destination = &mut self.regions[halves.destination];
        destination.receiving.release(halves.receiving);
    }

    /// Takes over the counters of a flow's two halves.
    pub(super) fn collect(&mut self, number: u32, halves: Halves) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for ends in self.ends(number, halves) {
            self.chosen_path(ends);
            let source = &self.regions[ends.source];
            let path = source.laid.path(ends.sending);
            let view = source.sending.subflow(ends.sending);
            let destination = &self.regions[ends.destination];
            let arrived = destination.receiving.subflow(ends.receiving);
            rows.push(SubflowRow {
                flow: number,
                subflow: ends.subflow,
                opened: view.is_open.then_some(view.opened),
                received: arrived.received_bytes,
                first: arrived.first_bytes,
                sent_packets: view.sent_packets,
                retransmits: view.retransmits,
                reinjected: view.reinjected,
                timeouts: view.timeouts,
                marks: view.marks,
                rtts: rtts(view.rtts),
                path,
            });
        }
        let together = match rows.as_slice() {
            [row] => row.rtts,
            _ => self.rtts_of_all(halves),
        };
        self.ended.push(number, &rows, together);
        self.rows = rows;
        self.workload.flows[number as usize].halves = None;
    }

    /// The RTTs of all subflows of a flow.
    fn rtts_of_all(&mut self, halves: Halves) -> Rtts {
        let sending = &self.regions[halves.source].sending;
        self.rtts.clear();
        for subflow in sending.subflows(halves.sending) {
            self.rtts.merge(sending.subflow(subflow).rtts);
        }
        rtts(&self.rtts)
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
                let Halves {
                    sending, receiving, ..
                } = halves;
                let senders = &self.regions[halves.source].sending;
                let receivers = &self.regions[halves.destination].receiving;
                let is_consistent = receivers.is_consistent(receiving)
                    && senders.agrees_with(sending, receivers, receiving);
                if !is_consistent {
                    return Err(RunError::Check(format!(
                        "flow {number}: data was not delivered once and in order"
                    )));
                }
                let delivered = receivers.delivered(receiving);
                let stalled = self.is_stuck(halves);
                let flow = &mut self.workload.flows[number as usize];
                flow.delivered = delivered;
                flow.stalled = stalled;
            }
            self.collect(number, halves);
        }
        Ok(())
    }
}

/// What tables say of these RTTs.
fn rtts(histogram: &RttHistogram) -> Rtts {
    Rtts {
        mean: histogram.mean(),
        p99: histogram.percentile(0.99),
    }
}
