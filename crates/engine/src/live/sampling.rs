//! Time series, from what the hosts' counters say now and then.

use super::hosts::Hosts;
use super::run::Run;
use crate::measurement::extent::{Course, Extent};
use crate::measurement::series::{RttRow, WindowRow};
use crate::schedule::beat::Beat;
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
                let before = &mut live.recorded[place];
                let Some(rtt) = seen.smoothed_rtt.filter(|_| seen.opened.is_some()) else {
                    continue;
                };
                if looks {
                    live.rtts[place].add(rtt);
                    before.samples.add(rtt.as_secs_f64());
                    match &mut before.course {
                        Some(course) => course.note(now, seen.window),
                        none => *none = Some(Course::begin(now, seen.window)),
                    }
                }
                if windows && (record.windows != on_change || Some(seen.window) != before.window) {
                    before.window = Some(seen.window);
                    let course = before.course.get_or_insert(Course::begin(now, seen.window));
                    let extent = course.end(now, seen.window);
                    self.series.windows.push(WindowRow {
                        at: now,
                        flow,
                        subflow,
                        window: seen.window,
                        extent: if record.windows == on_change {
                            Extent::constant(seen.window)
                        } else {
                            extent
                        },
                        ssthresh: seen.ssthresh,
                        smoothed_rtt: rtt,
                    });
                }
                if rtts && (record.rtts != on_change || Some(rtt) != before.rtt) {
                    before.rtt = Some(rtt);
                    let extent = before.samples.take();
                    self.series.rtts.push(RttRow {
                        at: now,
                        flow,
                        subflow,
                        latest: rtt,
                        extent: if record.rtts == on_change {
                            Extent::constant(rtt.as_secs_f64())
                        } else {
                            extent
                        },
                        smoothed: rtt,
                    });
                }
            }
        }
    }
}
