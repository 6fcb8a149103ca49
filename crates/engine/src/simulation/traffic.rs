//! The agenda of traffic is carried out, and what hosts do is put on it.

use super::Simulation;
use crate::outcome::Verdict;
use crate::schedule::traffic_agenda::{Act, Entry, Whose};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::Stopped;
use pathweave_units::Time;

/// Entries that are taken out ahead before it is looked whether the run shall end early.
const MOST_AHEAD: u32 = 1 << 12;

impl<P: Ports> Simulation<'_, P> {
    /// Carries out an entry that is due.
    pub(super) fn follow(&mut self, entry: Entry) {
        for (flow, heard) in self.agenda.traffic.noted_before_entry(&entry) {
            self.workload.note_end(flow, heard);
        }
        let Entry {
            at: now,
            whose,
            act,
        } = entry;
        match act {
            Act::Close => {
                self.workload.close();
                self.end_if_nothing_can_happen(now);
            }
            Act::End => self.workload.ended = Some(Verdict::Stopped),
            Act::Look => self.end_if_nothing_can_happen(now),
            Act::Begin => {
                self.workload
                    .begin(whose.group(), now, &mut self.agenda.traffic);
                self.end_if_nothing_can_happen(now);
            }
            Act::Stop => {
                for number in self.workload.stop_group(whose.group()) {
                    self.stop_flow(number, now);
                }
                self.end_if_nothing_can_happen(now);
            }
            Act::Finished(number) => {
                self.workload
                    .hear_end(number, now, &mut self.agenda.traffic);
                self.end_if_nothing_can_happen(now);
            }
            Act::HearStop(number, stopped) => self.hear_stop(number, stopped, now),
            Act::Wake => self
                .workload
                .wake(whose.group(), now, &mut self.agenda.traffic),
            Act::StartFlow(number) => self.start_flow(number, now),
            Act::StopFlow(number) => {
                if self.workload.stop(number) {
                    self.stop_flow(number, now);
                }
            }
            Act::OpenPath(_) => unreachable!("subflows open by timers"),
        }
        // The others do nothing to hosts.
        if let Act::Stop | Act::HearStop(..) | Act::StartFlow(_) | Act::StopFlow(_) = act {
            self.regions.on_notices(now);
            self.hear_reports();
        }
    }

    /// Flows that start before a time are opened ahead, as far as nothing else happens to traffic before: nodes need not
    /// come to one time for each. Their numbers follow from the order in which they were asked for, which nothing that hosts
    /// do can change.
    pub(super) fn start_ahead(&mut self, limit: Time) {
        let mut left = MOST_AHEAD;
        while !self.heeds_ends
            && left > 0
            && self.refused.is_none()
            && let Some(Entry { at, whose, act }) = self.agenda.traffic.take_start_before(limit)
        {
            left -= 1;
            match act {
                Act::StartFlow(number) => self.start_flow_later(number, at),
                _ => {
                    self.workload
                        .wake(whose.group(), at, &mut self.agenda.traffic);
                    self.heed_ends();
                }
            }
        }
    }

    /// A flow's source sends no new data; its destination hears of it after the reaction time.
    pub(super) fn stop_flow(&mut self, number: u32, now: Time) {
        let group = Whose::Group(self.workload.flows[number as usize].group);
        let Some(halves) = self.flows.halves(number) else {
            return;
        };
        let (sending, _, mut out) = self.regions[halves.source].halves(now);
        if let Some(stopped) = sending.stop(halves.sending, &mut out) {
            if self.heeds_ends {
                // Nobody knows when what is under way will have arrived.
                self.agenda.watch(number);
            }
            self.agenda.expect(
                now + self.agenda.reactions.to_flows,
                group,
                Act::HearStop(number, stopped),
            );
        }
    }

    fn hear_stop(&mut self, number: u32, stopped: Stopped, now: Time) {
        if let Some(halves) = self.flows.halves(number) {
            let (_, receiving, mut out) = self.regions[halves.destination].halves(now);
            receiving.learn_end(halves.receiving, stopped, &mut out);
        }
    }

    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self, now: Time) {
        // A start that was taken out ahead has not come yet, even if the flow will not start.
        if self.agenda.traffic.is_ahead_of(now) {
            return;
        }
        let carries = |LinkId(link): LinkId| self.regions.carries(link);
        let changes_made = self.agenda.changes_made();
        self.workload.ended = self.workload.verdict(changes_made, carries, |number| {
            let is_stuck = |halves| self.flows.is_stuck(halves, &self.regions);
            // Of one that has ended there is news to come.
            let flow = &self.workload.flows[number as usize];
            flow.end.is_none() && self.flows.halves(number).is_none_or(is_stuck)
        });
    }
}
