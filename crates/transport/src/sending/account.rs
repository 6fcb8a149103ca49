//! Where a connection's time goes: an account of what its oldest undelivered data waits for.
//!
//! A subflow is in one [`Wait`] at a time. A connection is charged for the subflow that holds its lowest undelivered data, as
//! far as the sender knows, so that its waits add up to its completion time. Only changes are written down: while
//! all open subflows wait for the same thing, it does not matter which of them holds that data.

use super::Sending;
use super::connection::Connection;
use super::subflow::{Phase, RecoveryState, Sender};
use pathweave_control::Path;
use pathweave_units::Time;

/// What a connection waits for. Where several of these hold, it is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Wait {
    /// No subflow is open yet.
    Handshake,
    /// A timer of loss recovery that then expired: the retransmission timeout, the tail loss probe, or the end of the
    /// reordering window. It counts from the connection's last progress or, if that is later, its last change of state.
    Timeout,
    /// The repair of losses: fast recovery, and after a timeout until what was outstanding has been acknowledged.
    Recovery,
    /// The receive window.
    ReceiveWindow,
    /// The send buffer.
    SendWindow,
    /// The pace: a packet would fit into the congestion window.
    Pace,
    /// The host's own port, which holds packets back or has no place: a packet would fit into the congestion window.
    OwnPort,
    /// The congestion window, or the controller that suspends a subflow.
    Window,
    /// The network: everything there is has been sent.
    Network,
    /// The application: everything that it has written has been delivered.
    Data,
}

impl Wait {
    /// All of them, in the order in which they are asked for.
    pub const ALL: [Wait; WAITS] = [
        Wait::Handshake,
        Wait::Timeout,
        Wait::Recovery,
        Wait::ReceiveWindow,
        Wait::SendWindow,
        Wait::Pace,
        Wait::OwnPort,
        Wait::Window,
        Wait::Network,
        Wait::Data,
    ];
}

/// Number of waits.
pub const WAITS: usize = 10;

/// How long a connection has waited for each, by [`Wait::ALL`].
pub type Waits = [Time; WAITS];

/// Charges that the end of a flow may still shorten: its receiver is done half a round trip before the sender knows.
const REMEMBERED: usize = 4;

/// The account of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// What it waits for now.
    pub wait: Wait,
    /// Open subflows wait for different things, so that it matters which of them holds the lowest undelivered data.
    pub differs: bool,
    /// Since when it waits for that.
    since: Time,
    /// When data was last acknowledged.
    pub progressed: Time,
    waits: Waits,
    /// The last charges, the latest first.
    last: [(Wait, Time); REMEMBERED],
}

impl Account {
    pub fn new() -> Account {
        Account {
            wait: Wait::Handshake,
            differs: false,
            since: Time::ZERO,
            progressed: Time::ZERO,
            waits: [Time::ZERO; WAITS],
            last: [(Wait::Handshake, Time::ZERO); REMEMBERED],
        }
    }

    /// The connection starts.
    pub fn begin(&mut self, now: Time) {
        self.since = now;
        self.progressed = now;
    }

    /// From now on the connection waits for this.
    #[inline]
    fn wait_for(&mut self, wait: Wait, now: Time) {
        if wait != self.wait {
            self.charge(self.wait, now);
            self.wait = wait;
        }
    }

    /// A timer has expired for which the lowest undelivered data waited.
    fn expire(&mut self, now: Time) {
        let from = self.progressed.max(self.since);
        self.charge(self.wait, from);
        self.charge(Wait::Timeout, now);
    }

    #[cold]
    #[inline(never)]
    fn charge(&mut self, wait: Wait, until: Time) {
        let time = until - self.since;
        if time == Time::ZERO {
            return;
        }
        self.since = until;
        self.waits[wait as usize] += time;
        self.last.rotate_right(1);
        self.last[0] = (wait, time);
    }

    /// The waits of a connection whose last data was delivered at `end`, or of one that is not over `now`.
    pub fn over(&self, end: Option<Time>, now: Time) -> Waits {
        let mut account = self.clone();
        account.charge(self.wait, now.max(self.since));
        let Some(end) = end else {
            return account.waits;
        };
        let mut beyond = now.max(self.since).saturating_sub(end);
        for (wait, time) in account.last {
            let cut = beyond.min(time);
            if cut == Time::ZERO {
                break;
            }
            account.waits[wait as usize] -= cut;
            beyond -= cut;
            if wait == Wait::Timeout {
                // The data was delivered before the timer expired.
                account.waits[Wait::Timeout as usize] -= time - cut;
                account.waits[Wait::Network as usize] += time - cut;
            }
        }
        for waited in account.waits.iter_mut().rev() {
            let cut = beyond.min(*waited);
            *waited -= cut;
            beyond -= cut;
        }
        account.waits
    }
}

impl Connection {
    /// What a subflow waits for.
    fn wait_of(&self, sender: &Sender, path: &Path, now: Time) -> Wait {
        if matches!(
            sender.phase,
            Phase::Unopened | Phase::Opening | Phase::Confirming
        ) {
            return Wait::Handshake;
        }
        if sender.recovery != RecoveryState::None || sender.board.lost() > 0 {
            return Wait::Recovery;
        }
        let number = sender.number;
        if !self.has_data_for(number) {
            return if self.data_acked == self.total {
                Wait::Data
            } else if self.next_data == self.total {
                Wait::Network
            } else if self.next_data - self.data_acked >= self.receive_window {
                Wait::ReceiveWindow
            } else {
                Wait::SendWindow
            };
        }
        let fits_receiver =
            sender.board.outstanding() < self.subflow_window || self.fits_subflow_window(sender);
        if !fits_receiver {
            Wait::ReceiveWindow
        } else if sender.room(path) == 0 || !path.may_send || !path.is_active() {
            Wait::Window
        } else if sender.pace.next(path.pacing_rate) > now {
            Wait::Pace
        } else if sender.is_held_by_port(self, path, now) {
            Wait::OwnPort
        } else {
            Wait::Window
        }
    }

    /// The subflow that holds the lowest undelivered data, among those that are open.
    fn holder<'a>(&self, senders: &'a [Sender]) -> Option<&'a Sender> {
        let mut lowest = (u32::MAX, None);
        for sender in senders.iter().filter(|one| one.phase == Phase::Open) {
            let queue = self.queues.as_ref();
            let queue = queue.map(|queues| queues.of[sender.number.0 as usize].data());
            let sent = sender.board.unacknowledged_data();
            let mut held = sent.chain(queue.into_iter().flatten());
            let first = held.find(|&data| data >= self.data_acked);
            if let Some(first) = first.filter(|&first| first < lowest.0) {
                lowest = (first, Some(sender));
            }
        }
        lowest.1
    }

    /// What the connection waits for, and whether that depends on which of its open subflows holds the lowest undelivered
    /// data.
    pub fn wait(&self, senders: &[Sender], now: Time) -> (Wait, bool) {
        let mut common = None;
        let mut differs = false;
        for (sender, path) in senders.iter().zip(&self.paths) {
            if sender.phase == Phase::Open {
                let wait = self.wait_of(sender, path, now);
                differs |= common.is_some_and(|common| common != wait);
                common.get_or_insert(wait);
            }
        }
        let mut wait = common.unwrap_or(Wait::Handshake);
        if differs && let Some(holder) = self.holder(senders) {
            wait = self.wait_of(holder, &self.paths[holder.number.0 as usize], now);
        }
        (wait, differs)
    }

    /// Whether an ACK that sent all that the congestion window lets go has left the account as it was.
    #[inline(always)]
    pub fn is_accounted_for(&self, sender: &Sender) -> bool {
        let wait = if self.window_limited {
            Wait::Window
        } else if self.next_data == self.total {
            Wait::Network
        } else {
            return false;
        };
        wait == self.account.wait
            && !self.account.differs
            && sender.recovery == RecoveryState::None
            && self.subflow_window == u32::MAX
    }
}

impl Sending {
    /// Something has happened to a connection: writes down what it waits for from now on.
    #[inline(never)]
    pub(super) fn account_for(&mut self, place: u32, now: Time) {
        let connection = &mut self.connections[place as usize];
        if connection.closed {
            return;
        }
        let first = connection.first as usize;
        let senders = &self.senders[first..first + connection.paths.len()];
        let (wait, differs) = connection.wait(senders, now);
        connection.account.differs = differs;
        connection.account.wait_for(wait, now);
    }

    /// A timer of this subflow's loss recovery has expired: if the lowest undelivered data is the subflow's, the connection
    /// has waited for it.
    #[cold]
    #[inline(never)]
    pub(super) fn account_for_timer(&mut self, index: u32, now: Time) {
        let sender = &self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let first = connection.first as usize;
        let senders = &self.senders[first..first + connection.paths.len()];
        let holder = connection.holder(senders);
        if holder.is_some_and(|holder| holder.number == sender.number) {
            connection.account.expire(now);
        }
    }
}
