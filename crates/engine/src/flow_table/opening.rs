//! Flows start: both halves open, and their subflows get routes.

use super::routes::add_subflow_routes;
use super::{FlowTable, Halves, Room};
use crate::build;
use crate::flows::flow::Flow;
use crate::flows::ideal::ideal;
use crate::outcome::RunError;
use crate::regions::Regions;
use crate::regions::region::Departure;
use pathweave_control::Seat;
use pathweave_network::Ports;
use pathweave_random::Stream;
use pathweave_transport::{Config, End, Opening, PacketKey, Scatter, Tick, TickPhase};
use pathweave_units::Time;
use std::sync::Arc;

impl FlowTable<'_> {
    /// Refuses a flow that has drawn more than can be sent.
    #[inline]
    pub fn check(&self, flow: &Flow) -> Result<(), RunError> {
        let group = flow.group as usize;
        let most = self.config_of(flow).largest_flow();
        match flow.size.filter(|&size| size > most) {
            None => Ok(()),
            Some(size) => Err(RunError::Plan(format!(
                "a flow of group \"{}\" has drawn {size}, more packets than can be numbered; give its sizes a maximum of {most} or less",
                self.plan.groups[group].name
            ))),
        }
    }

    /// The transport of a flow.
    #[inline]
    fn config_of(&self, flow: &Flow) -> Arc<Config> {
        let group = flow.group as usize;
        let own = flow
            .listed
            .map(|entry| &self.listed_configs[group][entry as usize]);
        Arc::clone(own.unwrap_or(&self.configs[group]))
    }

    /// How a flow is to be opened that has been checked.
    #[inline]
    pub fn opening(&mut self, number: u32, flow: &Flow) -> Opening {
        let group = flow.group as usize;
        let plan = &self.plan.groups[group];
        let listed = flow.listed.map(|entry| &plan.listed[entry as usize]);
        let (entry, parameters) = plan.controller_of(flow.listed);
        let seat = || Seat {
            flow: number,
            start: flow.start,
            faults: Arc::clone(&self.faults),
        };
        let config = self.config_of(flow);
        let longest = config.join_spread;
        // There is nothing to join a lone subflow.
        let join_delays = if longest > Time::ZERO && flow.subflows > 1 {
            let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
            (0..flow.subflows)
                .map(|_| Time::from_picos(stream.between(0, longest.as_picos())))
                .collect()
        } else {
            Vec::new()
        };
        let scatter = entry.scatter().map(|volume| Scatter {
            volume: volume(parameters),
            duplicate_threshold: self.duplicate_threshold(flow.source, flow.destination),
        });
        let used = match flow.listed {
            None => self.controllers[group].pop(),
            Some(_) => None,
        };
        let ticks = [flow.source, flow.destination].map(|host| match config.tick_phase {
            _ if config.tick == Time::ZERO => Tick::default(),
            TickPhase::Shared(phase) => Tick::new(config.tick, phase),
            TickPhase::ByHost => {
                let mut stream = Stream::new(self.plan.seed, "tick", u64::from(host));
                let last = Tick::phases(config.tick).as_picos() - 1;
                let phase = Time::from_picos(stream.between(0, last));
                Tick::new(config.tick, phase)
            }
        });
        let packet_key = match config.packets {
            Some(_) => PacketKey::new(self.plan.seed, number),
            None => PacketKey::default(),
        };
        let port = self.host_rates[flow.source as usize];
        let send_bundle = config.send_bundle.packets(port);
        Opening {
            flow: number,
            controller: used
                .unwrap_or_else(|| build::controller(entry, parameters, config.ecn, seat)),
            ecn_echo: build::ecn_echo(entry, parameters, config.ecn),
            config,
            subflows: flow.subflows,
            size: flow.size,
            packet_key,
            subflow_starts: listed.map_or_else(Vec::new, |l| l.subflow_starts.clone()),
            join_delays,
            established: flow.established,
            scatter,
            scheme: entry.scheme(),
            ticks,
            host_port_is_limited: self
                .limited_hosts
                .get(flow.source as usize)
                .is_some_and(|&limited| limited),
            send_bundle,
        }
    }

    /// Duplicate acknowledgements that make a scattered packet lost: overtaking makes up to as many as
    /// there are paths.
    fn duplicate_threshold(&self, source: u32, destination: u32) -> u32 {
        let paths = self.routing.intact().path_count(source, destination);
        3 + if paths > 1 { paths as u32 } else { 0 }
    }

    /// Opens a flow and gives it routes, so that it can start.
    #[inline]
    pub fn open<P: Ports>(
        &mut self,
        number: u32,
        flow: &mut Flow,
        opening: Opening,
        regions: &mut Regions<P>,
    ) -> Halves {
        let halves = open(flow, opening, regions);
        self.lay_routes(number, flow, halves, regions);
        let place = number as usize;
        if self.halves.len() <= place {
            self.halves.resize(place + 1, None);
        }
        self.halves[place] = Some(halves);
        flow.ideal = ideal(self.plan, number, flow, &self.room.ways);
        halves
    }

    /// Gives each subflow its routes, and finds out which data paths packets may take.
    fn lay_routes<P: Ports>(
        &mut self,
        number: u32,
        flow: &Flow,
        halves: Halves,
        regions: &mut Regions<P>,
    ) {
        let captures = &regions[halves.source].recorder.captures;
        let captured = captures.contains_key(&number);
        let Room { paths, ways, .. } = &mut self.room;
        ways.clear();
        let hosts = &self.plan.fabric.hosts;
        let [source, destination] =
            [flow.source, flow.destination].map(|host| hosts[host as usize].0);
        for ends in halves.ends(number, flow.subflows) {
            self.routing
                .find(self.plan, number, flow, ends.subflow, paths);
            let routes = add_subflow_routes(&mut self.path_list, flow, ends, paths, regions);
            let departure = Departure {
                route: routes.forward,
                to: ends.destination,
                host: source,
                subflow: self.subflows_started,
                sprayed: routes.sprayed,
                captured,
            };
            self.subflows_started = self.subflows_started.wrapping_add(1);
            let source = &mut regions[ends.source];
            source.recorder.begin_sending(ends.sending);
            source.set_departure(End::Sending(ends.sending), departure);
            let departure = Departure {
                route: routes.back,
                to: ends.source,
                host: destination,
                captured: false,
                ..departure
            };
            let destination = &mut regions[ends.destination];
            destination.recorder.begin_receiving(ends.receiving);
            destination.set_departure(End::Receiving(ends.receiving), departure);
            if let Some(spread) = &paths.spread {
                ways.add_spread(spread);
            } else if paths.by_switches {
                let router = self.routing.intact();
                ways.add_choice(&router.spread(flow.source, flow.destination));
            } else {
                ways.add_path(&paths.forward);
            }
        }
    }
}

/// Opens both halves of a flow and tells each where the other is.
fn open<P: Ports>(flow: &Flow, opening: Opening, regions: &mut Regions<P>) -> Halves {
    let source = regions.of_host(flow.source);
    let destination = regions.of_host(flow.destination);
    let receiver = &mut regions[destination].receiving;
    let receiving = receiver.open(opening.reception());
    let to = receiver.subflows(receiving).next().unwrap_or_default();
    let sender = &mut regions[source].sending;
    let sending = sender.open(opening, to);
    let back = sender.subflows(sending).next().unwrap_or_default();
    regions[destination].receiving.answer(receiving, back);
    Halves {
        source,
        destination,
        sending,
        receiving,
        first_sending: back,
        first_receiving: to,
    }
}
