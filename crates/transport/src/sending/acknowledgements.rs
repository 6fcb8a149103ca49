//! Acknowledgements arrive: the controller hears of them, and a connection that has everything acknowledged closes.

use super::Sending;
use super::by_time::Measured;
use super::connection::Connection;
use super::cut_round::CutRound;
use super::repair::{Outcome, Repair};
use super::scheduling::send_plainly;
use super::small_queue::try_again;
use super::subflow::{Phase, Progress, RecoveryState, Sender};
use crate::Config;
use crate::ends::SendingId;
use crate::output::Output;
use crate::segment::{SackBlocks, Segment};
use pathweave_control::{Ack, Change, Feedback, Loss, Path, PathState, Paths};
use pathweave_units::Time;

/// What an acknowledgement that may have to do with a cut brings, in packets.
#[derive(Clone, Copy)]
struct Brings {
    /// In flight before it.
    in_flight_before: u32,
    /// That it shows to have arrived.
    delivered: u32,
}

/// An acknowledgement as a subflow meets it.
struct Met {
    /// The subflow's place.
    index: u32,
    segment: Segment,
    feedback: Feedback,
    now: Time,
}

impl Sending {
    /// An acknowledgement has come to this subflow, which is not closed.
    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        index: u32,
        (segment, blocks): (Segment, &SackBlocks),
        feedback: Feedback,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        if !sender.expects(&segment) {
            let met = Met {
                index,
                segment: segment.copy(),
                feedback,
                now,
            };
            self.on_unusual_ack(met, blocks, &mut out.lend());
            return;
        }
        let met = Met {
            index,
            segment,
            feedback,
            now,
        };
        let take = |sender: &mut Sender, _: Measured, _: &Config| sender.take_expected(&segment);
        if connection.follows_linux {
            take_expected_ack_as_linux(sender, connection, met, &mut out.lend());
        } else {
            take_ack::<false, _>(sender, connection, met, take, out);
        }
        if connection.data_acked == connection.total
            || !send_plainly(sender, connection, index, now, out)
        {
            self.close_or_send(index, now, &mut out.lend());
        } else {
            if !connection.is_accounted_for(sender) {
                self.account_for_ack(index, now);
            }
            #[cfg(feature = "checks")]
            {
                let place = self.senders[index as usize].connection;
                self.check_blocked(place, now);
            }
        }
    }

    /// The same for one that is out of order, or when something has gone astray.
    #[cold]
    #[inline(never)]
    fn on_unusual_ack(&mut self, met: Met, blocks: &SackBlocks, out: &mut impl Output) {
        let Met {
            index,
            segment,
            now,
            ..
        } = met;
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let take = |sender: &mut Sender, measured: Measured, config: &Config| {
            sender.take_unusual(&segment, segment.sack_blocks(blocks), measured, config)
        };
        let progress = take_ack::<true, _>(sender, connection, met, take, out);
        let place = sender.connection;
        let new_first = sender
            .repair
            .as_deref_mut()
            .is_some_and(Repair::takes_new_first);
        if new_first && connection.data_acked != connection.total {
            if !connection.is_plain {
                // The receive window has moved with what has been acknowledged.
                self.follow_connection(index, now, out);
            }
            self.send_new_first(index, now, out);
        }
        let connection = &self.connections[place as usize];
        if progress.send_first && connection.data_acked != connection.total {
            self.send_lost(index, now, out);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        if connection.data_acked == connection.total
            || !send_plainly(sender, connection, index, now, out)
        {
            self.close_or_send(index, now, out);
        } else {
            self.account_for_ack(index, now);
        }
    }

    /// A connection has everything acknowledged, or more than windows have to be looked at.
    #[cold]
    #[inline(never)]
    fn close_or_send(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let place = self.senders[index as usize].connection;
        let connection = &self.connections[place as usize];
        if connection.data_acked == connection.total {
            return self.close_if_acknowledged(place, out);
        }
        if !connection.is_plain {
            self.follow_connection(index, now, out);
        }
        if !self.send_on_subflow(index, now, out) {
            self.send_what_may_be_sent(place, now, out);
        }
        self.account_for_ack(index, now);
    }

    /// After an ACK on a subflow: what does not follow from windows alone.
    fn follow_connection(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &self.senders[index as usize];
        let (place, number) = (sender.connection, sender.number);
        let connection = &mut self.connections[place as usize];
        connection.note_packet(number, now);
        let first = connection.first as usize;
        let senders = &self.senders[first..first + connection.paths.len()];
        connection.tune_receive_window(senders, now);
        if connection.joins_await_data() && connection.data_acked > 0 {
            self.open_joins(place, now, out);
        }
    }

    pub(super) fn close_if_acknowledged(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if connection.closed || connection.data_acked != connection.total {
            return;
        }
        connection.closed = true;
        let (first, count) = (connection.first, connection.count());
        for index in first..first + count {
            let sender = &mut self.senders[index as usize];
            if sender.phase == Phase::Open {
                self.connections[place as usize].change(sender.number, Change::Closed);
            }
            if sender.phase == Phase::Unopened {
                sender.opened = Time::MAX; // it never opens: the timer finds another time here
            } else {
                sender.phase = Phase::Closed;
            }
            // Timers still set find this when they fire, even if another connection has taken this one's place.
            sender.deadline = Time::MAX;
            sender.pace_timer_at = Time::MAX;
            if let Some(queue) = &mut sender.small_queue {
                queue.wake_at = Time::MAX;
            }
        }
        out.closed(SendingId(place));
    }
}

/// Takes RTT samples: since the first packet that an acknowledgement covers was sent, for the smoothed
/// RTT and the timeout (RFC 7323, section 4), and since the last one, which knows of no delayed
/// acknowledgement.
#[inline(always)]
pub(super) fn take_rtt(
    sender: &mut Sender,
    path: &mut Path,
    minimum_rto: Time,
    of_first: Time,
    of_last: Time,
) {
    path.smoothed_rtt = sender.timeout.sample(of_first, minimum_rto);
    path.latest_rtt = of_last;
    path.minimum_rtt = path.minimum_rtt.min(of_last);
}

/// [`take_ack`] for an acknowledgement in order at a Linux host. It is a function of its own: other hosts need the registers.
#[inline(never)]
fn take_expected_ack_as_linux(
    sender: &mut Sender,
    connection: &mut Connection,
    met: Met,
    out: &mut impl Output,
) {
    let segment = met.segment.copy();
    let take = |sender: &mut Sender, _: Measured, _: &Config| sender.take_expected(&segment);
    take_ack::<true, _>(sender, connection, met, take, out);
}

/// A subflow takes an acknowledgement: all that comes of it, but nothing is sent. `LINUX` says whether what only Linux
/// hosts do has to be looked at.
#[inline(always)]
fn take_ack<const LINUX: bool, Take: FnOnce(&mut Sender, Measured, &Config) -> Progress>(
    sender: &mut Sender,
    connection: &mut Connection,
    met: Met,
    take: Take,
    out: &mut impl Output,
) -> Progress {
    let Met {
        index,
        segment,
        feedback,
        now,
    } = met;
    let number = sender.number;
    if LINUX {
        try_again(sender, connection);
    }
    let bytes_limit = connection.segmentation.is_some() && connection.bytes_limit(sender);
    let path = &mut connection.paths[number.0 as usize];
    // Whether its receive window is what limits the subflow.
    let receiver_limits = if connection.segmentation.is_some() {
        bytes_limit
    } else {
        path.window > f64::from(connection.subflow_window)
    };
    let window_before = path.window;
    let in_flight_before = sender.board.in_flight();
    let delivered_before = sender.board.delivered();
    // The acknowledgement that ends the recovery from a timeout still belongs to it.
    let after_timeout = matches!(sender.recovery, RecoveryState::Timeout(_));
    let measured = Measured::of(path, now);
    let progress = take(sender, measured, &connection.config);
    if segment.data_number > connection.data_acked {
        connection.data_acked = segment.data_number;
        connection.account.progressed = now;
    }
    let keeps_backoff = LINUX && connection.keeps_backoff && sender.keeps_backoff(segment.number);
    let mut rtt = None;
    if segment.gives_rtt_sample() && !keeps_backoff {
        let sample = now - segment.sent;
        sender.rtts.add(sample);
        rtt = Some(sample);
        let of_first = now - segment.first_sent;
        take_rtt(sender, path, connection.minimum_rto, of_first, sample);
        if LINUX && connection.floor_on_variance {
            sender.set_timeout_by_variance(path, of_first, connection.minimum_rto);
        }
    }
    path.acked = u64::from(sender.board.una());
    if progress.clean {
        path.in_flight = sender.board.outstanding();
        path.in_recovery = false;
    } else {
        path.in_flight = sender.in_flight(connection.duplicates_hold);
        path.in_recovery = matches!(sender.recovery, RecoveryState::Fast(_));
    }
    let has_failed = path.state == PathState::Failed;
    if connection.segmentation.is_some() {
        connection.open_receive_window();
    }
    if progress.advanced {
        if keeps_backoff {
            sender.timeout.end_row_backed_off();
        } else {
            sender.timeout.end_row();
        }
        if sender.board.outstanding() == 0 {
            sender.deadline = Time::MAX;
        } else if !(LINUX && connection.finds_losses_by_time) {
            sender.start_retransmission_timer(index, now, connection.maximum_rto, out);
        }
    }
    if LINUX && connection.finds_losses_by_time {
        let came = Came {
            index,
            number: segment.number,
            sent: segment.sent,
            clean: progress.clean,
            advanced: progress.advanced,
            marked: segment.ce_echo > 0,
        };
        follow_by_time(sender, connection, came, now, &mut out.lend());
    }
    sender.end_cut_round_if_over();
    sender.marks += u64::from(segment.ce_echo);
    if progress.advanced && has_failed {
        connection.change(number, Change::Recovered);
    }
    if progress.loss {
        let flight = sender.board.outstanding();
        sender.remember_for_undo(&connection.paths[number.0 as usize]);
        connection.lose(number, Loss::FastRetransmit, flight, now);
    }
    let packets = if connection.count_acks {
        connection.packets_to_count(number, progress.packets)
    } else {
        progress.packets
    };
    if packets > 0 || segment.ce_echo > 0 || feedback != Feedback::None {
        let growth_waits = !connection.growth_in_cut_round && sender.cut_round.is_some();
        let mut window_limited = if connection.is_plain {
            connection.window_limited
        } else {
            connection.was_limited_by_window(number)
        };
        window_limited &= !receiver_limits;
        if LINUX
            && connection.tracks_use
            && connection.config.window_validation
            && let Some(window_use) = &sender.window_use
        {
            window_limited = window_use.lets_grow(&connection.paths[number.0 as usize]);
        }
        let ack = Ack {
            now,
            packets,
            ce: u32::from(segment.ce_echo),
            rtt,
            // Before recovery a duplicate acknowledgement lets a packet go but not the window
            // grow (RFC 3042): what it reports counts, as marks and packets, and no more.
            recovery: progress.in_recovery || progress.loss || !progress.advanced || growth_waits,
            window_limited,
            feedback,
        };
        let paths = &mut Paths::new(&mut connection.paths);
        connection.controller.on_ack(paths, number, &ack);
        if paths.changed_beyond(number) {
            connection.blocked = false;
        }
    }
    let marked = segment.ce_echo > 0;
    if connection.has_cut_rounds && (marked || progress.loss || sender.cut_round.is_some()) {
        let shows = Shows {
            marked,
            loss: progress.loss,
            in_good_order: progress.advanced && !progress.found_lost,
        };
        let brings = if progress.clean {
            Brings {
                in_flight_before: sender.board.outstanding() + progress.packets,
                delivered: progress.packets,
            }
        } else {
            Brings {
                in_flight_before,
                delivered: sender.board.delivered().saturating_sub(delivered_before),
            }
        };
        follow_cut(sender, connection, brings, window_before, shows);
    }
    // The acknowledgement that ends the recovery was still counted as one of it.
    if after_timeout {
        end_slow_start_after_timeout(sender, connection);
    }
    progress
}

/// What loss detection by time needs to know of an ACK.
#[derive(Clone, Copy)]
struct Came {
    /// The subflow's place.
    index: u32,
    /// The next number the receiver expects.
    number: u32,
    /// When the last packet it covers was sent.
    sent: Time,
    clean: bool,
    advanced: bool,
    marked: bool,
}

/// Does what loss detection by time needs after an ACK. Takes everything by value: references would keep the segment in
/// memory for all connections.
#[inline(never)]
fn follow_by_time(
    sender: &mut Sender,
    connection: &mut Connection,
    came: Came,
    now: Time,
    out: &mut impl Output,
) {
    let mut wait = Time::ZERO;
    if came.marked {
        // A cut by a mark is not undone (tcp_enter_cwr).
        sender.forget_probe();
        if let Some(repair) = sender.repair.as_deref_mut() {
            repair.undo = None;
            repair.outcome.undone = None;
            repair.outcome.repaired = false;
        }
    }
    if came.clean {
        if let Some(repair) = &mut sender.repair {
            let rtt = now - came.sent;
            repair.rack.arrive_in_order(came.number, came.sent, rtt);
        }
    } else if let Some(repair) = sender.repair.as_deref_mut() {
        let outcome = repair.take_outcome();
        wait = outcome.wait;
        undo_or_cut(sender, connection, outcome, now);
    }
    if sender.board.outstanding() > 0 {
        let due = (came.advanced, wait);
        sender.set_loss_timer(came.index, connection, due, now, out);
    }
}

/// Undoes a needless cut, or cuts because a probe has repaired a loss.
#[cold]
#[inline(never)]
fn undo_or_cut(sender: &mut Sender, connection: &mut Connection, outcome: Outcome, now: Time) {
    let number = sender.number;
    if let Some(undo) = outcome.undone {
        let path = &mut connection.paths[number.0 as usize];
        path.window = path.window.max(undo.window);
        path.ssthresh = path.ssthresh.max(undo.ssthresh);
        path.in_recovery = false;
        connection.blocked = false;
        let paths = &mut Paths::new(&mut connection.paths);
        connection.controller.on_spurious_loss(paths, number);
    }
    if outcome.repaired && sender.recovery == RecoveryState::None && sender.cut_round.is_none() {
        // The window falls to ssthresh immediately (tcp_process_tlp_ack).
        let flight = sender.board.outstanding();
        connection.lose(number, Loss::FastRetransmit, flight, now);
    }
}

/// If the recovery from a timeout is over, slow start counts as it does otherwise.
#[cold]
#[inline(never)]
fn end_slow_start_after_timeout(sender: &Sender, connection: &mut Connection) {
    if !matches!(sender.recovery, RecoveryState::Timeout(_)) {
        let limit = connection.config.packets_in_slow_start(false);
        connection.paths[sender.number.0 as usize].slow_start_limit = limit;
    }
}

/// What an acknowledgement shows of a cut.
#[derive(Clone, Copy)]
struct Shows {
    /// It echoes marks.
    marked: bool,
    /// A new loss event began.
    loss: bool,
    /// It acknowledged something cumulatively and revealed no new loss.
    in_good_order: bool,
}

/// Begins the round of a cut when the acknowledgement has led to one, and brings proportional rate
/// reduction up to date.
#[inline(never)]
fn follow_cut(
    sender: &mut Sender,
    connection: &Connection,
    brings: Brings,
    window_before: f64,
    shows: Shows,
) {
    let path = &connection.paths[sender.number.0 as usize];
    // A window at its minimum cannot shrink: a mark begins a round all the same, if none is under way.
    let at_minimum = path.window <= path.minimum_window && sender.cut_round.is_none();
    let cut_by_mark = shows.marked && (path.window < window_before || at_minimum);
    let ends_at = if shows.loss {
        Some(sender.board.next())
    } else if sender.board.outstanding() == 0 {
        None
    } else if cut_by_mark && sender.recovery == RecoveryState::None {
        // The round of a mark ends with the first packet that was sent after the cut, as CWR does.
        Some(sender.board.next() + 1)
    } else {
        None
    };
    if let Some(ends_at) = ends_at {
        let reduction = connection.config.reduction;
        sender.begin_cut_round(reduction, ends_at, brings.in_flight_before);
    }
    if let Some(CutRound {
        proportional: Some(reduction),
        ..
    }) = &mut sender.cut_round
    {
        reduction.on_ack(
            brings.delivered,
            path.in_flight,
            path.window,
            shows.in_good_order,
        );
    }
}
