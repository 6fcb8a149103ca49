//! Where a connection's time goes: an account of what its oldest undelivered data waits for.
//!
//! A subflow is in one [`Wait`] at a time. A connection is charged for the subflow that holds its lowest undelivered data, as
//! far as the sender knows, so that its waits add up to its completion time. Only changes are written down: while
//! all open subflows wait for the same thing, it does not matter which of them holds that data.

use super::Sending;
use super::connection::Connection;
use super::subflow::{Phase, RecoveryState, Sender};
use pathweave_control::{Path, SubflowId};
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

/// Charges that the end of a flow may still shorten: its receiver is done half a round trip before the sender knows, or
/// several timeouts before where acknowledgements are lost.
const REMEMBERED: usize = 8;
/// Timeouts in a row that are remembered one by one. Those that follow are one charge, so that the row leaves room for what was
/// before it.
const TIMEOUTS_REMEMBERED: usize = REMEMBERED - 2;

/// What there is to send, whatever congestion windows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataLeft {
    /// Some data.
    Some,
    /// None, for all has been sent.
    None,
    /// None, for the application has not written any more.
    Unwritten,
    /// None that the receive window lets go.
    BeyondReceiveWindow,
}

/// The account of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// What it waits for now.
    pub wait: Wait,
    /// Open subflows wait for different things, so that it matters which of them holds the lowest undelivered data.
    pub differs: bool,
    /// A subflow has opened, or has been given what another one holds: all have to be looked at.
    pub has_new_holder: bool,
    /// Whether there was data to send.
    data: DataLeft,
    /// The subflow that holds the lowest undelivered data, where that matters and there is one. It stays that while no data is
    /// acknowledged, even if another one sends a copy that it had been given before.
    holder: Option<SubflowId>,
    /// `data_acked` when that was looked up.
    looked_up_at: u32,
    /// Since when it waits for that.
    since: Time,
    /// When data was last acknowledged.
    pub progressed: Time,
    /// What it has waited for before, if [`Account::has_changed`].
    charges: Option<Box<Charges>>,
    has_changed: bool,
}

/// What a connection has waited for, but for what it waits for now.
#[derive(Clone, Debug, Default)]
struct Charges {
    waits: Waits,
    /// The last ones, the latest first; zero if there were none.
    last: [Charge; REMEMBERED],
}

/// Time that a connection has been charged for.
#[derive(Clone, Copy, Debug, Default)]
struct Charge {
    /// What for: a place in [`Wait::ALL`].
    wait: u8,
    /// The same, had a timer not expired at its end.
    without_timer: u8,
    time: Time,
}

impl Charges {
    fn add(&mut self, charge: Charge) {
        self.waits[charge.wait as usize] += charge.time;
        let first = self.last[0];
        let is_same = first.wait == charge.wait && first.without_timer == charge.without_timer;
        let is_timeout = |one: &Charge| one.wait == Wait::Timeout as u8 && one.time > Time::ZERO;
        let row = self.last.iter().take_while(|one| is_timeout(one)).count();
        if is_same && (row == 0 || row >= TIMEOUTS_REMEMBERED) {
            self.last[0].time += charge.time;
        } else {
            self.last.rotate_right(1);
            self.last[0] = charge;
        }
    }
}

impl Account {
    /// A new one, in the memory of one that is over.
    pub fn new(before: Option<Account>) -> Account {
        Account {
            wait: Wait::Handshake,
            differs: false,
            has_new_holder: false,
            data: DataLeft::Some,
            holder: None,
            looked_up_at: 0,
            since: Time::ZERO,
            progressed: Time::ZERO,
            charges: before.and_then(|account| account.charges),
            has_changed: false,
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

    /// The time until then is charged for this.
    #[cold]
    #[inline(never)]
    fn charge(&mut self, wait: Wait, until: Time) {
        let time = until - self.since;
        if time == Time::ZERO {
            return;
        }
        self.since = until;
        let charges = self.charges.get_or_insert_default();
        if !self.has_changed {
            **charges = Charges::default();
            self.has_changed = true;
        }
        // A timer expires in the state that the connection is in.
        charges.add(Charge {
            wait: wait as u8,
            without_timer: self.wait as u8,
            time,
        });
    }

    /// Hands the waits of a connection to `each`, by [`Wait::ALL`]: its last data was delivered at `end`, or it is not over
    /// `now`.
    pub fn over(&self, end: Option<Time>, now: Time, mut each: impl FnMut(usize, Time)) {
        let end = end.unwrap_or(now);
        let Some(charges) = self.charges.as_deref().filter(|_| self.has_changed) else {
            each(self.wait as usize, end.saturating_sub(self.since));
            return;
        };
        let mut waits = charges.waits;
        if end >= self.since {
            waits[self.wait as usize] += end - self.since;
        } else {
            // The data was delivered before the sender wrote this down.
            shorten(&mut waits, charges, self.since - end);
        }
        for (wait, time) in waits.into_iter().enumerate() {
            if time != Time::ZERO {
                each(wait, time);
            }
        }
    }
}

/// Takes time off the last charges.
fn shorten(waits: &mut Waits, charges: &Charges, mut beyond: Time) {
    for charge in charges.last {
        let cut = beyond.min(charge.time);
        if cut == Time::ZERO {
            break;
        }
        // Where a timer ended it, that had not expired yet.
        waits[charge.wait as usize] -= charge.time;
        waits[charge.without_timer as usize] += charge.time - cut;
        beyond -= cut;
    }
    for waited in waits.iter_mut().rev() {
        let cut = beyond.min(*waited);
        *waited -= cut;
        beyond -= cut;
    }
}

impl Connection {
    #[inline]
    fn data_left(&self) -> DataLeft {
        if self.has_data() {
            DataLeft::Some
        } else if self.next_data == self.total {
            DataLeft::None
        } else if self.has_sent_all_written() {
            DataLeft::Unwritten
        } else {
            DataLeft::BeyondReceiveWindow
        }
    }

    /// What an open subflow waits for.
    fn wait_of(&self, sender: &Sender, path: &Path) -> Wait {
        if sender.recovery != RecoveryState::None || sender.board.lost() > 0 {
            return Wait::Recovery;
        }
        if !self.has_data_for(sender.number) {
            return match self.data_left() {
                DataLeft::None | DataLeft::Unwritten if self.data_acked == self.next_data => {
                    Wait::Data
                }
                DataLeft::None | DataLeft::Unwritten => Wait::Network,
                DataLeft::BeyondReceiveWindow => Wait::ReceiveWindow,
                DataLeft::Some => Wait::SendWindow,
            };
        }
        let fits_receiver =
            sender.board.outstanding() < self.subflow_window || self.fits_subflow_window(sender);
        if !fits_receiver {
            Wait::ReceiveWindow
        } else if sender.room(path) == 0 || !path.may_send || !path.is_active() {
            Wait::Window
        } else if sender.pace_timer_at != Time::MAX {
            Wait::Pace
        } else if sender.is_held_by_port() {
            Wait::OwnPort
        } else {
            Wait::Window
        }
    }

    /// The lowest undelivered data that a subflow holds, if it is open and holds some. It is the first in the order of
    /// sending: what a subflow is given is in order, but for copies of what others hold, and copies are lower than anything
    /// that has not been given to a subflow yet. So the one that was given the lowest data of all has it first.
    fn lowest_held(&self, sender: &Sender) -> Option<u32> {
        if sender.phase != Phase::Open {
            return None;
        }
        let is_undelivered = |&data: &u32| data >= self.data_acked;
        let sent = sender.board.outstanding_data().find(is_undelivered);
        sent.or_else(|| {
            let queues = self.queues.as_ref()?;
            let mut queued = queues.of[sender.number.0 as usize].data();
            queued.find(is_undelivered)
        })
    }

    /// The subflow that holds the lowest undelivered data. Where another one sends a copy of it, this is the one whose wait
    /// comes first in [`Wait::ALL`]: the copy is a repair, whatever the numbers of the two.
    fn holder(&self, senders: &[Sender]) -> Option<SubflowId> {
        let held = senders.iter().filter_map(|sender| {
            let data = self.lowest_held(sender)?;
            Some((data, sender.wait, sender.number.0))
        });
        held.min().map(|(_, _, number)| SubflowId(number))
    }

    /// Whether an ACK on a subflow, and what it let go, has left the account as it was.
    fn is_unchanged_by_ack(&self, sender: &Sender) -> bool {
        let may_others_change = self.account.has_new_holder
            || self.queues.is_some()
            || self.segmentation.is_some()
            || self.holds_back
            || self.explicit;
        if may_others_change {
            return false;
        }
        let wait = self.wait_of(sender, &self.paths[sender.number.0 as usize]);
        wait == sender.wait
            && self.data_left() == self.account.data
            && (!self.account.differs || self.account.looked_up_at == self.data_acked)
    }

    /// Writes down what a connection waits for that has one subflow.
    fn account_for_only(&mut self, sender: &mut Sender, now: Time) {
        let mut wait = Wait::Handshake;
        if sender.phase == Phase::Open {
            wait = self.wait_of(sender, &self.paths[0]);
            sender.wait = wait;
        }
        self.account.wait_for(wait, now);
    }

    /// Writes down what the connection waits for.
    fn account_for_all(&mut self, senders: &mut [Sender], now: Time) {
        let mut common = None;
        let mut differs = false;
        for (sender, path) in senders.iter_mut().zip(&self.paths) {
            if sender.phase == Phase::Open {
                let wait = self.wait_of(sender, path);
                sender.wait = wait;
                differs |= common.is_some_and(|common| common != wait);
                common.get_or_insert(wait);
            }
        }
        let account = &self.account;
        let is_known =
            account.differs && !account.has_new_holder && account.looked_up_at == self.data_acked;
        let holder = match account.holder {
            Some(holder) if differs && is_known => Some(holder),
            _ if differs => self.holder(senders),
            _ => None,
        };
        let of_holder = holder.map(|holder| senders[holder.0 as usize].wait);
        let wait = of_holder.or(common).unwrap_or(Wait::Handshake);
        self.account.differs = differs;
        self.account.holder = holder;
        // Where no subflow holds the lowest undelivered data, one will be the first to send it.
        self.account.has_new_holder = differs && holder.is_none();
        self.account.data = self.data_left();
        self.account.looked_up_at = self.data_acked;
        self.account.wait_for(wait, now);
    }

    /// The account agrees with what subflows wait for.
    ///
    /// # Errors
    /// What does not hold.
    #[cfg(feature = "checks")]
    pub fn check_account(&self, senders: &[Sender]) -> Result<(), String> {
        if self.closed {
            return Ok(());
        }
        for (sender, path) in senders.iter().zip(&self.paths) {
            if sender.phase != Phase::Open {
                continue;
            }
            let wait = self.wait_of(sender, path);
            if wait != sender.wait {
                let number = sender.number.0;
                return Err(format!(
                    "{number} waits for {wait:?}, not {:?}",
                    sender.wait
                ));
            }
        }
        let held = senders.iter().filter(|one| one.phase == Phase::Open);
        let held = held.flat_map(|one| {
            let queues = self.queues.iter();
            let queued = queues.flat_map(|queues| queues.of[one.number.0 as usize].data());
            one.board.outstanding_data().chain(queued)
        });
        let lowest = held.filter(|&data| data >= self.data_acked).min();
        let found = senders.iter().filter_map(|one| self.lowest_held(one)).min();
        if lowest != found {
            return Err(format!(
                "holds {lowest:?} as its lowest data, not {found:?}"
            ));
        }
        let account = &self.account;
        let any = senders.iter().find(|sender| sender.phase == Phase::Open);
        let holder = account.holder.map(|holder| &senders[holder.0 as usize]);
        match holder.or(any).map(|sender| sender.wait) {
            Some(wait) if wait != account.wait => {
                Err(format!("waits for {wait:?}, not {:?}", account.wait))
            }
            _ => Ok(()),
        }
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
        let senders = &mut self.senders[first..first + connection.paths.len()];
        match senders {
            [sender] => connection.account_for_only(sender, now),
            _ => connection.account_for_all(senders, now),
        }
    }

    /// The same after an ACK on this subflow.
    pub(super) fn account_for_ack(&mut self, index: u32, now: Time) {
        let sender = &self.senders[index as usize];
        let place = sender.connection;
        let connection = &self.connections[place as usize];
        if !connection.closed && !connection.is_unchanged_by_ack(sender) {
            self.account_for(place, now);
        }
    }

    /// A timer of this subflow's loss recovery has expired: if the subflow holds the lowest undelivered data, the connection
    /// has waited for it.
    #[cold]
    #[inline(never)]
    pub(super) fn account_for_timer(&mut self, index: u32, now: Time) {
        let sender = &self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let first = connection.first as usize;
        let senders = &self.senders[first..first + connection.paths.len()];
        let lowest = senders.iter().filter_map(|one| connection.lowest_held(one));
        if let Some(lowest) = lowest.min()
            && connection.lowest_held(sender) == Some(lowest)
        {
            connection.account.expire(now);
        }
    }
}
