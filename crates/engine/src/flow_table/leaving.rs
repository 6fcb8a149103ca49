//! Flows leave: their counters become rows, and their places are free.

use super::{FlowTable, Halves};
use crate::flows::ended::EndedFlows;
use crate::flows::flow::Flow;
use crate::flows::list::FlowList;
use crate::flows::rows::{Rtts, SubflowRow};
use crate::regions::Regions;
use pathweave_network::Ports;
use pathweave_transport::{End, RttHistogram};

impl FlowTable<'_> {
    /// Nothing more is to come from a flow's source.
    pub fn expect_to_leave(&mut self, flow: u32) {
        self.leaving.push_back(flow);
    }

    /// Flows of which nothing is left give their counters and places back, if they are among the first `first`
    /// that are leaving. When that is done changes no result but what the switches' tables hold.
    pub fn release_the_gone<P: Ports>(
        &mut self,
        first: usize,
        flows: &FlowList,
        regions: &mut Regions<P>,
        ended: &mut EndedFlows,
    ) {
        for _ in 0..self.leaving.len().min(first) {
            let Some(number) = self.leaving.pop_front() else {
                return;
            };
            let flow = &flows[number as usize];
            match self.halves(number) {
                Some(halves) if is_gone(flow, halves, regions) => {
                    self.release(number, flow, halves, regions, ended);
                }
                Some(_) => self.leaving.push_back(number),
                None => {}
            }
        }
    }

    /// Nothing of a flow is left.
    fn release<P: Ports>(
        &mut self,
        number: u32,
        flow: &Flow,
        halves: Halves,
        regions: &mut Regions<P>,
        ended: &mut EndedFlows,
    ) {
        self.collect(number, flow, halves, regions, ended);
        for ends in halves.ends(number, flow.subflows) {
            let source = &mut regions[ends.source];
            let had = source.laid.end(ends.sending);
            source.outgoing.sprays.end(End::Sending(ends.sending));
            let destination = &mut regions[ends.destination];
            destination
                .outgoing
                .sprays
                .end(End::Receiving(ends.receiving));
            for routes in had {
                regions[ends.source].network.remove_route(routes.forward);
                regions[ends.destination].network.remove_route(routes.back);
            }
        }
        let mut controller = regions[halves.source].sending.release(halves.sending);
        // Listed flows may have controllers of their own.
        if flow.listed.is_none() && controller.restart() {
            self.controllers[flow.group as usize].push(controller);
        }
        regions[halves.destination]
            .receiving
            .release(halves.receiving);
    }

    /// Takes over the counters of a flow's two halves, which are looked for no more.
    pub fn collect<P: Ports>(
        &mut self,
        number: u32,
        flow: &Flow,
        halves: Halves,
        regions: &mut Regions<P>,
        ended: &mut EndedFlows,
    ) {
        let mut leaving = ended.begin(number, flow.subflows);
        for ends in halves.ends(number, flow.subflows) {
            self.note_chosen_path(ends, regions);
            let source = &regions[ends.source];
            let path = source.laid.path(ends.sending);
            let view = source.sending.subflow(ends.sending);
            let destination = &regions[ends.destination];
            let arrived = destination.receiving.subflow(ends.receiving);
            leaving.add(&SubflowRow {
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
                held: view.held,
                rtts: rtts(view.rtts),
                path,
            });
        }
        if flow.subflows != 1 {
            leaving.add_rtts(self.rtts_of_all(halves, regions));
        }
        let sending = &regions[halves.source].sending;
        let now = regions.now();
        leaving.add_waits(|add| {
            if flow.started {
                sending.waits(halves.sending, flow.end, now, add);
            }
        });
        self.halves[number as usize] = None;
    }

    /// The RTTs of all subflows of a flow.
    fn rtts_of_all<P: Ports>(&mut self, halves: Halves, regions: &Regions<P>) -> Rtts {
        let sending = &regions[halves.source].sending;
        let all = &mut self.room.rtts;
        all.clear();
        for subflow in sending.subflows(halves.sending) {
            all.merge(sending.subflow(subflow).rtts);
        }
        rtts(all)
    }
}

/// Whether nothing of a flow is left to happen in hosts or network.
fn is_gone<P: Ports>(flow: &Flow, halves: Halves, regions: &Regions<P>) -> bool {
    if flow.end.is_none() {
        return false;
    }
    let sent = regions[halves.source].sending.in_network(halves.sending);
    let receiving = &regions[halves.destination].receiving;
    // What has been sent and has not come, there and back.
    let back = receiving.in_network(halves.receiving);
    sent.wrapping_add(back) == 0 && receiving.is_idle(halves.receiving)
}

/// What tables say of these RTTs.
fn rtts(histogram: &RttHistogram) -> Rtts {
    Rtts {
        mean: histogram.mean(),
        p99: histogram.percentile(0.99),
    }
}
