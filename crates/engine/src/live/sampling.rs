//! Time series, from what the hosts' counters say now and then.

use super::hosts::Hosts;
use super::run::Run;
use crate::series::{Beat, RttRow, WindowRow};
use pathweave_scenario::Sampling;
use pathweave_units::Time;

/// Whether a beat is due, however many have passed unheard.
fn is_due(beat: &mut Beat, now: Time) -> bool {
    let mut due = false;
    while beat.is_due(now) {
        due = true;
    }
    due
}

impl Run<'_> {
    /// Takes the samples that are due.
    pub(super) fn sample(&mut self, now: Time, hosts: &mut impl Hosts) {
        let windows = is_due(&mut self.window_beat, now);
        let rtts = is_due(&mut self.rtt_beat, now);
        let looks = is_due(&mut self.look_beat, now);
        if !(windows || rtts || looks) {
            return;
        }
        let record = &self.plan.record;
        let on_change = Some(Sampling::OnChange);
        for (&flow, live) in &mut self.live {
            let view = hosts.look(flow);
            for (place, seen) in view.subflows.iter().enumerate() {
                let subflow = place as u32;
                let (window_before, rtt_before) = live.recorded[place];
                let Some(rtt) = seen.smoothed_rtt.filter(|_| seen.opened.is_some()) else {
                    continue;
                };
                if looks {
                    live.rtts[place].add(rtt);
                }
                if windows && (record.windows != on_change || seen.window != window_before) {
                    live.recorded[place].0 = seen.window;
                    self.series.windows.push(WindowRow {
                        at: now,
                        flow,
                        subflow,
                        window: seen.window,
                        ssthresh: seen.ssthresh,
                        smoothed_rtt: rtt,
                    });
                }
                if rtts && (record.rtts != on_change || Some(rtt) != rtt_before) {
                    live.recorded[place].1 = Some(rtt);
                    self.series.rtts.push(RttRow {
                        at: now,
                        flow,
                        subflow,
                        latest: rtt,
                        smoothed: rtt,
                    });
                }
            }
        }
    }
}
