//! What is recorded when packets arrive at their hosts.

use super::outlet::{Notice, Straddling};
use super::{Carried, Notification, Region, Straddler};
use crate::measurement::extent::{Course, Extent};
use crate::measurement::series::{RttRow, SuspensionRow, WindowRow};
use pathweave_network::{Header, PacketLabel, PortId, Ports};
use pathweave_scenario::Sampling;
use pathweave_transport::{End, Kind, SendingId, SendingSubflow};
use pathweave_units::Time;

impl<P: Ports> Region<P> {
    /// A packet has arrived at its host over this port's link: captures it, and asks for a look at what it will change.
    /// The look comes by a notice, so that runs in which nothing is recorded pay one branch.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(
        &mut self,
        port: Option<PortId>,
        (header, label): (Header, &P::Label),
        now: Time,
    ) {
        let Some(port) = port else {
            return;
        };
        let link = self.network.places().link_of(port);
        let Carried(segment) = self.network.look_at(header);
        let end = segment.destination();
        if let End::Receiving(subflow) = end
            && segment.kind == Kind::Data
            && self.recorder.may_straddle(now)
        {
            self.outgoing.notices.push(Notice::Straddling(Straddling {
                link,
                size: header.size(),
                subflow,
                first_bytes: self.receiving.subflow(subflow).first_bytes,
            }));
        }
        self.outgoing.notices.push(Notice::Arrived(end));
        if !self.recorder.captures.is_empty() {
            self.capture_arrival(&segment, (&header, label.feedback()), now);
        }
    }

    /// Everything before a time has happened: packets are looked at only as long as there is a reason.
    #[inline]
    pub(super) fn stop_watching(&mut self, now: Time) {
        if self.recorder.watches_packets {
            self.decide_what_to_watch(now);
        }
    }

    /// Whether packets that arrive from now on are looked at.
    pub fn decide_what_to_watch(&mut self, now: Time) {
        self.recorder
            .decide_what_to_watch(self.recoveries.any_pending(), now);
    }

    /// A data packet has arrived that may have begun to arrive before an interval ended.
    pub(super) fn report_straddler(&mut self, packet: Straddling, now: Time) {
        let payload = self.receiving.subflow(packet.subflow).first_bytes - packet.first_bytes;
        if payload == 0 {
            return; // its data had come before
        }
        let (flow, subflow) = self.receiving.owner(packet.subflow);
        self.reports.push(Notification::Straddled(Straddler {
            at: now,
            link: packet.link,
            size: packet.size,
            flow,
            subflow,
            receiving: packet.subflow,
            payload,
        }));
    }

    /// A packet has arrived at this end of a subflow: records what it changed there.
    pub(super) fn record_changes(&mut self, end: End, now: Time) {
        match end {
            End::Sending(subflow) => {
                match self.recorder.windows {
                    Some(Sampling::OnChange) => self.record_window_if_changed(subflow, now),
                    Some(Sampling::Every(_)) => self.follow_window(subflow, now),
                    None => {}
                }
                if self.recorder.rtts.is_some() {
                    self.record_rtt_if_sampled(subflow, now);
                }
                self.controller_has_acted(self.sending.connection(subflow), now);
            }
            End::Receiving(subflow) => {
                if self.recoveries.any_pending() {
                    let connection = self.receiving.connection(subflow);
                    let delivered = self.receiving.delivered(connection);
                    let flow = self.receiving.flow(connection);
                    self.recoveries.on_delivered(flow, delivered, now);
                }
            }
        }
    }

    /// Records which subflows of a connection its controller has suspended or resumed since the last call. Called
    /// whenever the controller may have acted: after packets and timers, at the start and at the end.
    #[cold]
    #[inline(never)]
    pub(super) fn record_suspensions(&mut self, connection: SendingId, now: Time) {
        for index in self.sending.subflows(connection) {
            let path = self.sending.subflow(index).path;
            let suspended = path.state.is_open() && !path.may_send;
            let record = self.recorder.sending(index);
            if record.suspended != suspended {
                record.suspended = suspended;
                let (flow, subflow) = self.sending.owner(index);
                self.recorder.suspension_rows.push(SuspensionRow {
                    at: now,
                    flow,
                    subflow,
                    suspended,
                });
            }
        }
    }

    /// A row with the present window, which since the last row was as `extent` says.
    pub fn window_row(&self, index: SendingSubflow, extent: Extent, now: Time) -> WindowRow {
        let (flow, subflow) = self.sending.owner(index);
        let path = self.sending.subflow(index).path;
        WindowRow {
            at: now,
            flow,
            subflow,
            window: path.window,
            extent,
            ssthresh: path.ssthresh,
            smoothed_rtt: path.smoothed_rtt,
        }
    }

    fn record_window_if_changed(&mut self, index: SendingSubflow, now: Time) {
        let path = self.sending.subflow(index).path;
        let record = self.recorder.sending(index);
        if path.state.is_open() && path.window != record.window {
            record.window = path.window;
            let row = self.window_row(index, Extent::constant(path.window), now);
            self.recorder.window_rows.push(row);
        }
    }

    fn follow_window(&mut self, index: SendingSubflow, now: Time) {
        let path = self.sending.subflow(index).path;
        if path.state.is_open() {
            match &mut self.recorder.sending(index).course {
                Some(course) => course.note(now, path.window),
                none => *none = Some(Course::begin(now, path.window)),
            }
        }
    }

    fn record_rtt_if_sampled(&mut self, index: SendingSubflow, now: Time) {
        let view = self.sending.subflow(index);
        let samples = Some(view.rtts.samples());
        let every_sample = self.recorder.rtts == Some(Sampling::OnChange);
        let record = self.recorder.sending(index);
        // The handshake's sample comes before all others and is not among the counted ones.
        if view.path.has_rtt() && samples != record.rtts {
            record.rtts = samples;
            let rtt = view.path.latest_rtt.as_secs_f64();
            if !every_sample {
                record.samples.add(rtt);
                return;
            }
            let (flow, subflow) = self.sending.owner(index);
            self.recorder.rtt_rows.push(RttRow {
                at: now,
                flow,
                subflow,
                latest: view.path.latest_rtt,
                extent: Extent::constant(rtt),
                smoothed: view.path.smoothed_rtt,
            });
        }
    }
}
