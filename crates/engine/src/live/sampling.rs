//! Time series, from what the hosts' counters say now and then.

use super::hosts::Hosts;
use super::run::Run;
use crate::series::{Beat, RateRow, RttRow, WindowRow};
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
        let rates = is_due(&mut self.rate_beat, now);
        let windows = is_due(&mut self.window_beat, now);
        let rtts = is_due(&mut self.rtt_beat, now);
        let looks = is_due(&mut self.look_beat, now);
        if !(rates || windows || rtts || looks) {
            return;
        }
        let record = &self.plan.record;
        // Rates are over the time that has really passed since the last sample.
        let passed = (now - self.rates_at).as_secs_f64();
        let scale = record.rates.map_or(1.0, |interval| {
            interval.as_secs_f64() / passed.max(f64::MIN_POSITIVE)
        });
        if rates {
            self.rates_at = now;
            let remainders = std::mem::take(&mut self.series.remainders);
            self.series
                .rates
                .extend(remainders.into_iter().map(|row| RateRow { at: now, ..row }));
        }
        let on_change = Some(Sampling::OnChange);
        for (&flow, live) in &mut self.live {
            let view = hosts.look(flow);
            for (place, seen) in view.subflows.iter().enumerate() {
                let subflow = place as u32;
                if rates {
                    let before = &mut live.received_before[place];
                    let bytes = seen.received.saturating_sub(*before) as f64 * scale;
                    *before = seen.received.max(*before);
                    self.series.rates.push(RateRow {
                        at: now,
                        flow,
                        subflow,
                        bytes: bytes.round() as u64,
                    });
                }
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
