//! The timer that sends a connection's oldest data again on another subflow, and finds stale subflows
//! (mptcp_subflow_get_retrans and mptcp_pm_subflow_chk_stale in Linux).

use super::Sending;
use super::connection::Connection;
use super::subflow::{Phase, Sender};
use crate::output::{Output, TimerKind};
use pathweave_control::{Change, SubflowId};
use pathweave_units::Time;

/// The wait where no subflow has a timer (TCP_RTO_MIN).
const WITHOUT_TIMERS: Time = Time::from_millis(200);
/// A subflow is stale when the timer has expired more often than this without a packet from it (stale_loss_cnt).
const SILENCES: u32 = 4;

/// The timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReinjectionTimer {
    /// When it is due; `Time::MAX` when it is not.
    deadline: Time,
    /// When it will fire; `Time::MAX` when it is not set. It may fire early, as the retransmission timer does.
    fires_at: Time,
    /// Everything below this had been acknowledged when it was last started.
    acknowledged: u32,
}

impl Default for ReinjectionTimer {
    fn default() -> ReinjectionTimer {
        ReinjectionTimer {
            deadline: Time::MAX,
            fires_at: Time::MAX,
            acknowledged: 0,
        }
    }
}

impl Connection {
    /// Whether a subflow has anything to send or outstanding.
    fn is_busy(&self, sender: &Sender) -> bool {
        sender.board.outstanding() > 0 || !self.queue_is_empty(sender.number)
    }

    fn queue_is_empty(&self, number: SubflowId) -> bool {
        let queues = self.queues.as_ref();
        queues.is_none_or(|queues| queues.of[number.0 as usize].is_empty())
    }

    /// The timer has found data on a subflow. Returns whether it has become stale.
    fn count_silence(&mut self, number: SubflowId, senders: &[Sender]) -> bool {
        let Some(queues) = &mut self.queues else {
            return false;
        };
        let queue = queues.queue(number);
        if queue.silences > 0 && queue.heard_at_first != queue.heard {
            queue.silences = 0;
            return false;
        }
        queue.heard_at_first = queue.heard;
        queue.silences += 1;
        if queue.is_stale || queue.silences <= SILENCES {
            return false;
        }
        let is_better = |other: &Sender| {
            let path = &self.paths[other.number.0 as usize];
            let silences = queues.of[other.number.0 as usize].silences;
            other.number != number && path.is_active() && silences < SILENCES - 1
        };
        let is_stale = senders.iter().any(is_better);
        queues.queue(number).is_stale = is_stale;
        is_stale
    }
}

impl Sending {
    /// Starts the connection's timer if there was progress, or if it does not run and should.
    #[cold]
    #[inline(never)]
    pub(super) fn update_reinjection_timer(
        &mut self,
        place: u32,
        now: Time,
        out: &mut impl Output,
    ) {
        let connection = &mut self.connections[place as usize];
        let data_acked = connection.data_acked;
        let is_outstanding = data_acked < connection.next_data && !connection.closed;
        let Some(queues) = &mut connection.queues else {
            return;
        };
        let Some(timer) = &mut queues.timer else {
            return;
        };
        let progress = data_acked > timer.acknowledged;
        timer.acknowledged = data_acked;
        if !is_outstanding {
            timer.deadline = Time::MAX;
            return;
        }
        if timer.deadline != Time::MAX && !progress {
            return;
        }
        let first = connection.first as usize;
        let senders = &self.senders[first..first + queues.of.len()];
        // Those that may be stale do not count.
        let deadlines = senders
            .iter()
            .zip(&queues.of)
            .filter(|(sender, queue)| sender.phase == Phase::Open && queue.silences == 0)
            .map(|(sender, _)| sender.deadline);
        let latest = deadlines.filter(|&at| at != Time::MAX).max();
        let wait = latest.map_or(Time::ZERO, |at| at.saturating_sub(now));
        let wait = if wait > Time::ZERO {
            wait
        } else {
            WITHOUT_TIMERS
        };
        let sender = &senders[0];
        timer.deadline = sender.tick.due(now, wait);
        if timer.fires_at > timer.deadline {
            timer.fires_at = timer.deadline;
            out.wake(
                sender.timer(TimerKind::Reinjection, first as u32),
                timer.fires_at,
            );
        }
    }

    /// The connection's timer fired; it belongs to its first subflow, which is at this place.
    pub(super) fn on_reinjection_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let closed = connection.closed;
        let queues = connection.queues.as_mut();
        let Some(timer) = queues.and_then(|queues| queues.timer.as_mut()) else {
            return;
        };
        if closed || connection.first != index || timer.fires_at != now {
            return; // set again for an earlier time, or the timer of a connection that was here before
        }
        timer.fires_at = Time::MAX;
        if timer.deadline == Time::MAX {
            return;
        }
        if timer.deadline > now {
            timer.fires_at = timer.deadline;
            let at = timer.fires_at;
            return out.wake(sender.timer(TimerKind::Reinjection, index), at);
        }
        timer.deadline = Time::MAX;
        self.send_oldest_again(place);
        self.connections[place as usize].blocked = false;
        self.send_what_may_be_sent(place, now, out);
    }

    /// Gives the oldest fragment of data to a subflow that has nothing else to send, if there is one, and counts the silence of
    /// those that have. If one becomes stale, all that it holds is to be sent again instead.
    fn send_oldest_again(&mut self, place: u32) {
        let connection = &mut self.connections[place as usize];
        let (first, count) = (connection.first as usize, connection.paths.len());
        let mut idle = None;
        let mut are_all_sent_again = false;
        for number in (0..count as u32).map(SubflowId) {
            let senders = &mut self.senders[first..first + count];
            let sender = &senders[number.0 as usize];
            if sender.phase != Phase::Open {
                continue;
            }
            if !connection.is_busy(sender) {
                idle = idle.or(Some(number));
            } else if connection.count_silence(number, senders) {
                if connection.paths[number.0 as usize].is_active() {
                    connection.change(number, Change::Failed);
                }
                connection.reinject_all_of(&mut senders[number.0 as usize]);
                are_all_sent_again = true;
            }
        }
        let Some(idle) = idle.filter(|_| !are_all_sent_again) else {
            return;
        };
        let fragment = connection.fragment();
        let start = connection.data_acked;
        let end = (start / fragment + 1).saturating_mul(fragment);
        let oldest = start..end.min(connection.next_data);
        if let Some(queues) = &mut connection.queues {
            let senders = &mut self.senders[first..first + count];
            for (sender, queue) in senders.iter_mut().zip(&queues.of) {
                let all = sender.board.unacknowledged_data().chain(queue.data());
                sender.reinjected += all.filter(|data| oldest.contains(data)).count() as u64;
            }
            let queue = queues.queue(idle);
            oldest.for_each(|data| queue.push(data));
        }
    }
}
