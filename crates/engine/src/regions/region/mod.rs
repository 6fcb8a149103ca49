//! A part of the fabric with its hosts: what happens to packets there.
//!
//! A region owns its ports, the packets in them, its hosts' ends of connections, their timers, and what is recorded
//! when packets arrive. Other regions hear of it by packets on links ([`crate::regions`]), and what concerns the whole
//! run is a [`Notification`].

mod by_node;
mod capturing;
mod carried;
mod departures;
mod laid;
mod listed_timers;
mod notification;
mod outlet;
mod page_order;
mod ports_out;
mod prefetch;
mod recorder;
mod recording;
mod spray;
mod watching;

pub(crate) use by_node::{ByNode, window};
pub(crate) use carried::{Carried, RegionId};
pub(crate) use departures::Departure;
use departures::Departures;
pub(crate) use laid::{Laid, SubflowRoutes};
pub(crate) use notification::{Notification, Straddler};
use outlet::{Notice, Outgoing, Outlet};
pub(crate) use recorder::RegionRecorder;
pub(crate) use spray::{SprayName, Sprays};

use crate::measurement::recovery::Recoveries;
use crate::regions::reactions::Reactions;
use crate::schedule::alarm::Alarm;
use crate::schedule::scheduler::{Event, Scheduler};
use pathweave_control::Feedback;
use pathweave_network::{
    Arrival, Crossings, Header, LinkEvent, Network, PacketLabel, PortId, Ports,
};
use pathweave_scenario::Plan;
use pathweave_transport::{Arrived, End, Kind, NO_BLOCKS, Receiving, Segment, Sending, SendingId};
use pathweave_units::Time;

/// Events of a window between two looks at their number.
const MOST_AT_ONCE: u32 = 1 << 30;

/// Packets on their way to another region.
pub(crate) type Crossers<P> = Crossings<Carried, <P as Ports>::Label>;

pub(crate) struct Region<P: Ports> {
    pub id: RegionId,
    pub network: Network<Carried, P>,
    pub sending: Sending,
    pub receiving: Receiving,
    pub scheduler: Scheduler,
    pub outgoing: Outgoing,
    /// The routes of subflows, by the places of their sending halves.
    pub laid: Laid,
    pub recorder: RegionRecorder,
    pub recoveries: Recoveries,
    /// What the run has to hear of.
    pub reports: Vec<Notification>,
    reactions: Reactions,
    /// Whether packets go no further than to the time at which traffic hears that a flow has ended.
    pub heeds_ends: bool,
    /// What happens to packets is carried out up to here; what is reported may be due earlier than was said.
    limit: Time,
    /// Switches whose next feedback is scheduled.
    pub feedback_scheduled: usize,
    /// Nothing but feedback is left to happen.
    pub feedback_over: bool,
    by_node: Option<Box<ByNode>>,
    /// Whether what packets need is fetched from memory before they come in the order of times.
    fetches_in_order: bool,
    pub packet_hops: u64,
    /// Packets that leave for other regions, by region, and those that have come from there.
    pub leaving: Vec<Crossers<P>>,
    pub coming: Vec<Crossers<P>>,
}

impl<P: Ports> Region<P> {
    /// Of this many, without any connection.
    pub fn new(
        plan: &Plan,
        (id, count): (RegionId, usize),
        network: Network<Carried, P>,
        scheduler: Scheduler,
        by_node: Option<Box<ByNode>>,
        reactions: Reactions,
    ) -> Region<P> {
        let nothing = || {
            std::iter::repeat_with(Crossers::<P>::default)
                .take(count)
                .collect()
        };
        Region {
            id,
            by_node,
            fetches_in_order: false,
            network,
            sending: Sending::default(),
            receiving: Receiving::default(),
            scheduler,
            outgoing: Outgoing {
                departures: Departures::default(),
                sprays: Sprays::new(plan.seed),
                notices: Vec::new(),
                last_special: Default::default(),
            },
            laid: Laid::default(),
            recorder: RegionRecorder::new(&plan.record),
            recoveries: Recoveries::default(),
            reports: Vec::new(),
            reactions,
            heeds_ends: true,
            limit: Time::ZERO,
            feedback_scheduled: 0,
            feedback_over: false,
            packet_hops: 0,
            leaving: nothing(),
            coming: nothing(),
        }
    }

    /// Handles what happens to packets before a time, until something is due earlier because of what is reported, but
    /// no more events than this. Returns the events that were left, or `None` if all have been handled.
    pub fn run(&mut self, limit: Time, most: u32) -> Option<u32> {
        self.limit = limit;
        self.stop_watching(self.scheduler.now());
        let mut left = most;
        loop {
            // Almost all events are packets that go on from one switch to the next. They are not reported.
            let limit = self.limit;
            while left > 0
                && let Some((now, port, event)) = self.scheduler.pop_port(limit)
            {
                left -= 1;
                if self.handle_port(port, event, now) {
                    break;
                }
            }
            if left == 0 {
                return None;
            }
            self.prefetch_in_order(self.limit);
            let Some((now, event)) = self.scheduler.pop_before(self.limit) else {
                return Some(left);
            };
            left -= 1;
            match event {
                Event::Link(port, event) => {
                    self.handle_port(port, event, now);
                }
                Event::Timer(alarm) => {
                    self.on_alarm(alarm, now);
                    self.on_notices(now);
                }
            }
        }
    }

    /// Up to when everything has been handled, once [`Region::run`] has returned something; before steps are over, up to
    /// when they may go on.
    pub fn handled_before(&self) -> Time {
        self.limit
    }

    /// Handles a port's event. Returns whether more came of it than a packet that goes on.
    #[inline(always)]
    fn handle_port(&mut self, port: PortId, event: LinkEvent, now: Time) -> bool {
        if event == LinkEvent::Departure {
            self.network.depart(port, now, &mut self.scheduler);
            return false;
        }
        self.packet_hops += 1;
        let arrival = self.network.arrive(port, now, &mut self.scheduler);
        self.follow(port, arrival, now)
    }

    /// Goes on with a packet that has come to the end of a port's link. Returns whether more came of it than a packet
    /// that goes on.
    #[inline(always)]
    fn follow(&mut self, port: PortId, arrival: Arrival<P::Label>, now: Time) -> bool {
        match arrival {
            Arrival::Forwarded | Arrival::Consumed => false,
            Arrival::Dropped(header) => {
                self.on_dropped(header, now);
                true
            }
            Arrival::AtHost(header, label) => {
                self.on_packet(Some(port), header, label, now);
                true
            }
        }
    }

    /// The hosts' ends, and where their packets and wishes go.
    #[inline(always)]
    pub fn halves(&mut self, now: Time) -> (&mut Sending, &mut Receiving, Outlet<'_, P>) {
        let out = Outlet {
            now,
            network: &mut self.network,
            scheduler: &mut self.scheduler,
            outgoing: &mut self.outgoing,
        };
        (&mut self.sending, &mut self.receiving, out)
    }

    /// A packet has come to its host. Apart from the loop, which would otherwise keep its own values in memory.
    #[inline(never)]
    fn on_packet(&mut self, port: Option<PortId>, header: Header, label: P::Label, now: Time) {
        if self.recorder.watches_packets {
            self.watch(port, (header, &label), now);
        }
        let Carried(segment) = self.network.take(header);
        if !matches!(segment.kind, Kind::Data | Kind::Ack) {
            self.on_handshake(segment.copy(), header, now);
            return;
        }
        let arrived = arrived(header, label.feedback());
        if segment.kind == Kind::Data {
            let (_, receiving, mut out) = self.halves(now);
            receiving.on_packet(segment, arrived, now, &mut out);
        } else {
            let own;
            let mut blocks = NO_BLOCKS;
            if segment.has_sack_blocks() {
                own = *self.network.options(header);
                blocks = &own;
            }
            let (sending, _, mut out) = self.halves(now);
            sending.on_packet(segment, blocks, arrived, now, &mut out);
        }
        self.on_notices(now);
    }

    /// A packet of a handshake has come to its host.
    #[cold]
    #[inline(never)]
    fn on_handshake(&mut self, segment: Segment, header: Header, now: Time) {
        let arrived = arrived(header, Feedback::None);
        let (sending, receiving, mut out) = self.halves(now);
        match segment.destination() {
            End::Receiving(_) => receiving.on_packet(segment, arrived, now, &mut out),
            End::Sending(_) => sending.on_packet(segment, NO_BLOCKS, arrived, now, &mut out),
        }
        self.on_notices(now);
    }

    #[cold]
    fn on_dropped(&mut self, header: Header, now: Time) {
        let lost = self.network.take(header);
        self.lose(lost);
        self.on_notices(now);
    }

    /// The network has lost a packet: the half that it was sent to has to know.
    pub fn lose(&mut self, lost: Carried) {
        if lost.region() == self.id {
            self.on_lost(&lost.0);
        } else {
            self.reports.push(Notification::Lost(lost));
        }
    }

    /// The network has lost a packet on its way to a half in this region.
    pub fn on_lost(&mut self, segment: &Segment) {
        match segment.destination() {
            End::Sending(_) => self.sending.on_lost(segment),
            End::Receiving(_) => self.receiving.on_lost(segment),
        }
    }

    fn on_alarm(&mut self, alarm: Alarm, now: Time) {
        match alarm {
            Alarm::Transport(timer) => {
                let (sending, receiving, mut out) = self.halves(now);
                if timer.kind.is_of_receiver() {
                    receiving.on_timer(timer, now, &mut out);
                } else {
                    sending.on_timer(timer, now, &mut out);
                    if self.recorder.follows_controllers()
                        && let End::Sending(subflow) = timer.end()
                    {
                        self.controller_has_acted(self.sending.connection(subflow), now);
                    }
                }
            }
            Alarm::Start(connection, _) => self.start(connection, now),
            Alarm::Feedback(switch) => self.send_feedback(switch, now),
        }
    }

    /// Starts a connection whose sending half is in this region.
    pub fn start(&mut self, connection: SendingId, now: Time) {
        let (sending, _, mut out) = self.halves(now);
        sending.start(connection, now, &mut out);
        self.controller_has_acted(connection, now);
    }

    /// Deals with what the halves have said.
    #[inline]
    pub fn on_notices(&mut self, now: Time) {
        if !self.outgoing.notices.is_empty() {
            self.heed_notices(now);
        }
    }

    #[cold]
    fn heed_notices(&mut self, now: Time) {
        let mut next = 0;
        while next < self.outgoing.notices.len() {
            let notice = &self.outgoing.notices[next];
            next += 1;
            match *notice {
                Notice::Lost(packet) => self.lose(packet),
                Notice::Arrived(end) => self.record_changes(end, now),
                Notice::Straddling(packet) => self.report_straddler(packet, now),
                Notice::Sent(subflow, packet) => self.capture_sent(subflow, packet, now),
                Notice::Finished(connection) => {
                    let delivered_at = self.receiving.delivered_at(connection);
                    self.reports.push(Notification::Finished {
                        flow: self.receiving.flow(connection),
                        delivered: self.receiving.delivered(connection),
                        // If the last data has not come just now, the news has that the source stopped a reaction
                        // time ago.
                        ended: delivered_at.max(now.saturating_sub(self.reactions.to_flows)),
                        heard: now + self.reactions.to_flows,
                    });
                    if self.heeds_ends {
                        // The agenda follows what happens to packets at that time.
                        let after = now + self.reactions.to_flows + Time::from_picos(1);
                        self.limit = self.limit.min(after);
                    }
                }
                Notice::Failed => {
                    let heard = now + self.reactions.to_failures;
                    self.reports.push(Notification::Failed { heard });
                    self.limit = self.limit.min(heard);
                }
                Notice::Closed(connection) => {
                    // If it was told to stop, no later packet would trigger this.
                    self.controller_has_acted(connection, now);
                    let flow = self.sending.flow(connection);
                    self.reports.push(Notification::Closed { flow });
                }
            }
        }
        self.outgoing.notices.clear();
    }

    /// Wakes each switch at its time to tell its neighbours.
    pub fn wake_for_feedback(&mut self, times: impl Iterator<Item = (u32, Time)>) {
        for (switch, at) in times {
            self.scheduler.wake(Alarm::Feedback(switch), at);
            self.feedback_scheduled += 1;
        }
    }

    /// From now on feedback travels as packets: every switch is woken once a period.
    pub fn carry_feedback(&mut self, now: Time) {
        if let Some(next) = self.network.carry_feedback(now, &mut self.scheduler) {
            // The first switch is woken anyway.
            self.wake_for_feedback((0..).zip(next).skip(1));
        }
    }

    /// A switch tells its neighbours, and will do so again if anything else is still to happen as far as the run
    /// has found.
    fn send_feedback(&mut self, switch: u32, now: Time) {
        self.feedback_scheduled -= 1;
        if self.network.is_crowded_with_feedback() {
            self.carry_feedback(now);
        }
        self.network.send_feedback(switch, now, &mut self.scheduler);
        let Some(fmp) = self.network.fmp() else {
            return;
        };
        if !self.feedback_over {
            let next = now + fmp.period();
            self.scheduler.wake(Alarm::Feedback(switch), next);
            self.feedback_scheduled += 1;
        }
    }

    /// Nothing is due here before this time, or leaves for another region; `Time::MAX` for nothing at all.
    pub fn nothing_before(&self) -> Time {
        let due = self.scheduler.nothing_before();
        due.min(self.network.next_to_leave())
    }

    /// What has been sent to other regions before `now` is made ready. Everything before has happened.
    pub fn hand_over(&mut self, now: Time) {
        self.network.hand_over(now, |_| true, &mut self.leaving);
    }

    /// Takes part in a window that all regions run: handles what happens before its end, with what has come from other
    /// regions, and makes ready what leaves for them. Returns the number of events.
    pub fn run_window(&mut self, end: Time) -> u64 {
        self.take_in();
        let mut handled = 0;
        loop {
            let left = self.run(end, MOST_AT_ONCE);
            handled += u64::from(MOST_AT_ONCE - left.unwrap_or(0));
            if left.is_some() {
                break;
            }
        }
        assert_eq!(
            self.limit, end,
            "what is reported is not due within a window"
        );
        self.hand_over(end);
        handled
    }

    /// Takes in what has come from other regions.
    pub fn take_in(&mut self) {
        for coming in &mut self.coming {
            self.network.receive(coming, &mut self.scheduler);
        }
    }
}

/// What the network has made of a packet.
#[inline(always)]
fn arrived(header: Header, feedback: Feedback) -> Arrived {
    Arrived {
        size: header.size(),
        congestion_experienced: header.congestion_experienced(),
        feedback,
    }
}
