//! Flows get their paths, and leave their counters behind.

use super::hosts::{FlowOrder, Hosts};
use super::run::{Live, Recorded, Run};
use crate::build;
use crate::flows::ideal::{Ways, ideal};
use crate::flows::paths::SubflowPaths;
use crate::flows::rows::{FlowTotals, Rtts, SubflowRow};
use crate::measurement::measurement_windows::{FlowShares, MeasurementWindow};
use crate::measurement::rates::Rates;
use crate::measurement::recovery::{Failure, Hit};
use pathweave_fabric::{LinkId, base_rtt};
use pathweave_random::Stream;
use pathweave_scenario::Change;
use pathweave_transport::RttHistogram;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

impl Run<'_> {
    pub(super) fn start(&mut self, number: u32, now: Time, hosts: &mut impl Hosts) {
        if !self.workload.start(number, now) {
            return;
        }
        let opens = self.opening_times(number, now);
        let flow = &self.workload.flows[number as usize];
        let mut live = Live::default();
        let mut ways = Ways::default();
        for subflow in 0..flow.subflows {
            let mut paths = SubflowPaths::default();
            self.routing
                .find(self.plan, number, flow, subflow, &mut paths);
            hosts.lay(number, subflow, &paths.forward, &paths.back);
            live.named.push(self.path_list.place(&paths));
            ways.add_path(&paths.forward);
            let config = &self.plan.groups[flow.group as usize].transport;
            let rtt = base_rtt(
                &self.plan.fabric,
                &paths.forward,
                &paths.back,
                build::full_packet(self.plan),
                Bytes::new(u64::from(config.ack_packet)),
            );
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |known| known.min(rtt)));
            live.paths.push(paths);
            live.rtts.push(RttHistogram::default());
            live.recorded.push(Recorded::default());
        }
        let ideal = ideal(self.plan, number, flow, &ways);
        let group = &self.plan.groups[flow.group as usize];
        hosts.start(&FlowOrder {
            flow: number,
            group,
            listed: flow.listed,
            source: flow.source,
            destination: flow.destination,
            size: flow.size,
            opens,
        });
        let dead = live.paths.iter().map(|paths| {
            let links = paths.forward.iter().chain(&paths.back).copied();
            links.filter(|&link| self.routing.takes_for_up(link) && !self.is_up[link.0 as usize])
        });
        for hit in self.recoveries.hits_at_start(number, dead) {
            self.recoveries.add(hit);
        }
        self.live.insert(number, live);
        self.workload.flows[number as usize].ideal = ideal;
    }

    /// When a flow's subflows may open at the earliest.
    fn opening_times(&self, number: u32, now: Time) -> Vec<Time> {
        let flow = &self.workload.flows[number as usize];
        let group = &self.plan.groups[flow.group as usize];
        let mut stream = Stream::new(self.plan.seed, "join", u64::from(number));
        let starts = flow.listed.map_or(&[][..], |entry| {
            &group.listed[entry as usize].subflow_starts[..]
        });
        (0..flow.subflows as usize)
            .map(|subflow| {
                let drawn = match group.transport.join_spread {
                    Time::ZERO => Time::ZERO,
                    longest => Time::from_picos(stream.between(0, longest.as_picos())),
                };
                let given = starts.get(subflow).copied();
                given.unwrap_or(now + drawn).max(now)
            })
            .collect()
    }

    pub(super) fn stop(&mut self, number: u32, hosts: &mut impl Hosts) {
        if self.workload.stop(number) {
            hosts.stop(number);
        }
    }

    /// Whether any subflow's links, both ways, all carry something, or switches may still find others.
    pub(super) fn has_live_path(&self, number: u32) -> bool {
        let up = |path: &[LinkId]| path.iter().all(|&link| self.carries(link));
        self.routing.next_detection() < Time::MAX
            || self.live.get(&number).is_some_and(|live| {
                let mut paths = live.paths.iter();
                paths.any(|paths| up(&paths.forward) && up(&paths.back))
            })
    }

    /// Notes whom the links that are about to go down will hit.
    pub(super) fn note_failures(&mut self, due: Time, hosts: &mut impl Hosts) {
        let events = self.plan.events[self.changes_made..].iter();
        let links: Vec<LinkId> = events
            .take_while(|event| event.at <= due)
            .filter(|event| event.change == Change::Down && self.is_up[event.link.0 as usize])
            .map(|event| event.link)
            .collect();
        if links.is_empty() {
            return;
        }
        let failure = self.recoveries.failures.len() as u32;
        for (&flow, live) in &self.live {
            let fails = |path: &[LinkId]| path.iter().any(|link| links.contains(link));
            let hit = live.paths.iter();
            let hit = hit.filter(|paths| fails(&paths.forward) || fails(&paths.back));
            let subflows = hit.count() as u32;
            if subflows > 0 {
                let view = hosts.look(flow);
                self.recoveries.add(Hit {
                    failure,
                    flow,
                    subflows,
                    target: view.sent.max(view.delivered + Bytes::new(1)),
                    recovered: None,
                });
            }
        }
        self.recoveries.failures.push(Failure { at: due, links });
    }

    /// Switches look for new paths. What is under way keeps to the old ones.
    pub(super) fn reroute(&mut self, now: Time, hosts: &mut impl Hosts) {
        let is_up = &self.is_up;
        if !self
            .routing
            .detect(self.plan, now, |link| is_up[link as usize])
        {
            return;
        }
        let mut paths = SubflowPaths::default();
        for (&number, live) in &mut self.live {
            let flow = &self.workload.flows[number as usize];
            for (subflow, present) in (0..).zip(&mut live.paths) {
                self.routing
                    .find(self.plan, number, flow, subflow, &mut paths);
                if paths.forward != present.forward || paths.back != present.back {
                    hosts.lay(number, subflow, &paths.forward, &paths.back);
                    live.named[subflow as usize] = self.path_list.place(&paths);
                    present.clone_from(&paths);
                }
            }
        }
    }

    /// Turns a flow's counters into rows.
    pub(super) fn collect(&mut self, number: u32, hosts: &mut impl Hosts) {
        let Some(live) = self.live.remove(&number) else {
            return;
        };
        let view = hosts.look(number);
        let first = self.subflow_rows.len();
        let mut all = RttHistogram::default();
        for (subflow, seen) in view.subflows.iter().enumerate() {
            let rtts = &live.rtts[subflow];
            all.merge(rtts);
            if let Some(limits) = seen.limits {
                self.sender_limits.push((number, subflow as u32, limits));
            }
            self.subflow_rows.push(SubflowRow {
                flow: number,
                subflow: subflow as u32,
                opened: seen.opened,
                received: seen.received,
                first: seen.received,
                sent_packets: seen.sent_packets,
                retransmits: seen.retransmits,
                reinjected: seen.reinjected,
                timeouts: seen.timeouts,
                marks: seen.marks,
                held: 0,
                rtts: Rtts {
                    mean: rtts.mean(),
                    p99: rtts.percentile(0.99),
                },
                path: live.named[subflow],
            });
        }
        let together = Rtts {
            mean: all.mean(),
            p99: all.percentile(0.99),
        };
        let totals = FlowTotals::new(&self.subflow_rows[first..], together);
        let flows = self.workload.flows.len();
        self.totals.resize(flows, FlowTotals::default());
        self.totals[number as usize] = totals;
    }

    /// What flows did in a window, from what the fabric saw arrive in it: over each flow's time in the window.
    pub(super) fn flow_shares(&self, seen: &MeasurementWindow) -> FlowShares {
        let mut shares = FlowShares::default();
        let Some(closed) = seen.closed else {
            return shares;
        };
        for (number, flow) in (0..).zip(&self.workload.flows) {
            let begun = flow.end.is_some() || self.workload.active.contains(number);
            let from = flow.start.max(seen.from);
            let to = flow.end.unwrap_or(closed).min(closed);
            if !begun || to <= from {
                continue;
            }
            let received = seen.flows.received(number).iter().copied();
            let received = received.chain(std::iter::repeat(0.0));
            shares.push(
                number,
                to - from,
                None,
                received.take(flow.subflows as usize),
            );
        }
        shares
    }

    /// The rates that the fabric saw, with rows for subflows that were under way when an interval ended and of which
    /// nothing arrived in it.
    pub(super) fn rates(&self, seen: &Rates, ends: &[Time]) -> Rates {
        let mut rows: BTreeMap<(Time, u32, u32), f64> = BTreeMap::new();
        for row in seen.rows() {
            *rows.entry((row.at, row.flow, row.subflow)).or_default() += row.bytes;
        }
        for &at in ends {
            for (number, flow) in (0..).zip(&self.workload.flows) {
                let begun = flow.end.is_some() || self.workload.active.contains(number);
                if begun && flow.start < at && flow.end.is_none_or(|end| end > at) {
                    for subflow in 0..flow.subflows {
                        rows.entry((at, number, subflow)).or_default();
                    }
                }
            }
        }
        let mut rates = Rates::default();
        let mut last = None;
        for ((at, flow, subflow), bytes) in rows {
            if last != Some(at) {
                rates.begin_rows(at, Time::MAX);
                last = Some(at);
            }
            rates.add(flow, subflow, bytes);
        }
        rates
    }
}
