//! The agenda of traffic is carried out, and what hosts do is put on it.

use super::Simulation;
use crate::agenda::{Act, Entry, Whose};
use crate::outcome::Verdict;
use pathweave_network::Ports;
use pathweave_transport::Stopped;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    /// Puts something on the agenda; no packet is looked at beyond it.
    pub(super) fn expect(&mut self, at: Time, whose: Whose, act: Act) {
        self.agenda.add(at, whose, act);
        self.limit = self.limit.min(self.agenda.limit());
    }

    /// Carries out an entry that is due.
    pub(super) fn follow(&mut self, entry: Entry) {
        let Entry {
            at: now,
            whose,
            act,
        } = entry;
        match act {
            Act::Close => {
                self.workload.close();
                self.end_if_nothing_can_happen();
            }
            Act::End => self.workload.ended = Some(Verdict::Stopped),
            Act::Look => self.end_if_nothing_can_happen(),
            Act::Begin => {
                self.workload.begin(whose.group(), now, &mut self.agenda);
                self.end_if_nothing_can_happen();
            }
            Act::Stop => {
                for number in self.workload.stop_group(whose.group()) {
                    self.stop_flow(number, now);
                }
                self.end_if_nothing_can_happen();
            }
            Act::Finished(number) => {
                self.workload.hear_end(number, now, &mut self.agenda);
                self.end_if_nothing_can_happen();
            }
            Act::HearStop(number, stopped) => self.hear_stop(number, stopped, now),
            Act::Wake => self.workload.wake(whose.group(), now, &mut self.agenda),
            Act::StartFlow(number) => self.start_flow(number, now),
            Act::StopFlow(number) => {
                if self.workload.stop(number) {
                    self.stop_flow(number, now);
                }
            }
            Act::OpenPath(_) => unreachable!("subflows open by timers"),
        }
        self.regions.on_notices(now);
        self.hear_reports();
    }

    /// A flow's source sends no new data; its destination hears of it after the reaction time.
    pub(super) fn stop_flow(&mut self, number: u32, now: Time) {
        let flow = &self.workload.flows[number as usize];
        let group = Whose::Group(flow.group);
        let Some(halves) = flow.halves else {
            return;
        };
        let (sending, _, mut out) = self.regions[halves.source].halves(now);
        if let Some(stopped) = sending.stop(halves.sending, &mut out) {
            // Nobody knows when what is under way will have arrived.
            self.finishes.watch(number);
            self.expect(
                now + self.reactions.to_flows,
                group,
                Act::HearStop(number, stopped),
            );
        }
    }

    fn hear_stop(&mut self, number: u32, stopped: Stopped, now: Time) {
        if let Some(halves) = self.workload.flows[number as usize].halves {
            let (_, receiving, mut out) = self.regions[halves.destination].halves(now);
            receiving.learn_end(halves.receiving, stopped, &mut out);
        }
    }
}
