//! Acknowledgements arrive: the controller hears of them, and a connection that has everything acknowledged closes.

use super::Sending;
use super::cut_round::{CutRound, Proportional};
use super::subflow::{Phase, Progress, RecoveryState};
use crate::Reduction;
use crate::output::{Output, SendingId, TimerKind};
use crate::segment::Segment;
use pathweave_control::{Ack, Change, Feedback, Loss, PathState, Paths};
use pathweave_units::Time;

/// A subflow before an acknowledgement was looked at.
#[derive(Clone, Copy)]
struct Before {
    window: f64,
    in_flight: u32,
    delivered: u32,
}

impl Sending {
    /// Takes RTT samples: since the first packet that an acknowledgement covers was sent, for the smoothed
    /// RTT and the timeout (RFC 7323, section 4), and since the last one, which knows of no delayed
    /// acknowledgement.
    #[inline]
    pub(super) fn take_rtt(&mut self, index: u32, of_first: Time, of_last: Time) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let path = &mut connection.paths[sender.number.0 as usize];
        path.smoothed_rtt = sender.timeout.sample(of_first, &connection.config);
        path.latest_rtt = of_last;
        path.minimum_rtt = path.minimum_rtt.min(of_last);
    }

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        index: u32,
        segment: &Segment,
        feedback: Feedback,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let number = sender.number;
        let path = &connection.paths[number.0 as usize];
        let before = Before {
            window: path.window,
            in_flight: sender.board.in_flight(),
            delivered: sender.board.delivered(),
        };
        let receiver_limits = connection.receiver_limits(path, &sender.board);
        // The acknowledgement that ends the recovery from a timeout still belongs to it.
        let after_timeout = matches!(sender.recovery, RecoveryState::Timeout(_));
        let progress = sender.on_ack(segment, &connection.config);
        connection.acknowledge(segment.data_number);
        let mut rtt = None;
        if segment.flag {
            let sample = now - segment.sent;
            sender.rtts.add(sample);
            rtt = Some(sample);
            self.take_rtt(index, now - segment.first_sent, sample);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[place as usize];
        let path = &mut connection.paths[number.0 as usize];
        path.acked = u64::from(sender.board.una());
        path.in_flight = sender.in_flight(&connection.config);
        path.in_recovery = matches!(sender.recovery, RecoveryState::Fast(_));
        path.slow_start_limit = connection.config.packets_in_slow_start(after_timeout);
        if progress.advanced {
            sender.timeout.reset_backoff();
            sender.timeouts_in_row = 0;
            if sender.board.outstanding() == 0 {
                sender.deadline = Time::MAX;
            } else {
                sender.deadline = now + sender.timeout.current(&connection.config);
                if sender.timer_at > sender.deadline {
                    // The timeout has shrunk: after a first sample, or when a backoff ends.
                    sender.timer_at = sender.deadline;
                    out.wake(
                        sender.timer(TimerKind::Retransmission, index),
                        sender.timer_at,
                    );
                }
            }
        }
        sender.end_cut_round_if_over();
        sender.marks += u64::from(segment.ce_echo);
        if progress.advanced && path.state == PathState::Failed {
            connection.change(number, Change::Recovered);
        }
        if progress.loss {
            let flight = sender.board.outstanding();
            connection.lose(number, Loss::FastRetransmit, flight, now);
        }
        let packets = if connection.config.count_acks {
            progress.packets.min(1)
        } else {
            progress.packets
        };
        if packets > 0 || segment.ce_echo > 0 || feedback != Feedback::None {
            let growth_waits = !connection.config.growth_in_cut_round && sender.cut_round.is_some();
            let ack = Ack {
                now,
                packets,
                ce: u32::from(segment.ce_echo),
                rtt,
                // Before recovery a duplicate acknowledgement lets a packet go but not the window
                // grow (RFC 3042): what it reports counts, as marks and packets, and no more.
                recovery: progress.in_recovery
                    || progress.loss
                    || !progress.advanced
                    || growth_waits,
                window_limited: connection.window_limited && !receiver_limits,
                feedback,
            };
            let paths = &mut Paths::new(&mut connection.paths);
            connection.controller.on_ack(paths, number, &ack);
            if paths.changed_beyond(number) {
                connection.blocked = false;
            }
        }
        if connection.config.has_cut_rounds() {
            self.follow_cut(index, before, segment.ce_echo > 0, &progress);
        }
        let connection = &self.connections[place as usize];
        if connection.data_acked == connection.total {
            self.close_if_acknowledged(place, out);
            return;
        }
        if progress.send_first {
            self.send_lost(index, now, out);
        }
        self.send_after_ack(index, place, now, out);
    }

    /// Begins the round of a cut when the acknowledgement has led to one, and brings proportional rate
    /// reduction up to date.
    #[cold]
    #[inline(never)]
    fn follow_cut(&mut self, index: u32, before: Before, marked: bool, progress: &Progress) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        let path = &connection.paths[sender.number.0 as usize];
        // A window at its minimum cannot shrink: a mark begins a round all the same, if none is under way.
        let at_minimum = path.window <= path.minimum_window && sender.cut_round.is_none();
        let cut_by_mark = marked && (path.window < before.window || at_minimum);
        let ends_at = if progress.loss {
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
            let under_way = sender.cut_round.and_then(|round| round.proportional);
            let proportional = (connection.config.reduction == Reduction::Proportional)
                .then(|| under_way.unwrap_or_else(|| Proportional::new(before.in_flight)));
            sender.cut_round = Some(CutRound::new(ends_at, proportional));
        }
        if let Some(CutRound {
            proportional: Some(reduction),
            ..
        }) = &mut sender.cut_round
        {
            let delivered = sender.board.delivered().saturating_sub(before.delivered);
            let in_good_order = progress.advanced && !progress.found_lost;
            reduction.on_ack(delivered, path.in_flight, path.window, in_good_order);
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
            sender.deadline = Time::MAX;
        }
        out.closed(SendingId(place));
    }
}
