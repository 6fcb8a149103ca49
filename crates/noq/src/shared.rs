//! What the paths of one connection share.

use noq_proto::PathStatus;
use pathweave_control::{Connection, Ecn, PathId, PathState};
use pathweave_units::{Bytes, Time};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) fn time(duration: Duration) -> Time {
    Time::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// The congestion control of one connection, and the factory of its paths' controllers.
#[derive(Debug)]
pub struct Shared {
    /// Times are counted from it.
    start: Instant,
    pub(crate) ecn: Ecn,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) connection: Connection,
    next: u64,
    /// The paths whose status is backup.
    backups: BTreeSet<PathId>,
}

impl State {
    /// Notes the status of a path.
    pub(crate) fn set_status(&mut self, id: PathId, status: PathStatus) {
        match status {
            PathStatus::Backup if self.is_open(id) => {
                self.backups.insert(id);
            }
            PathStatus::Backup => {}
            PathStatus::Available => {
                self.backups.remove(&id);
                if self.connection.state(id) == Some(PathState::Standby) {
                    self.connection.resume(id);
                }
            }
        }
        self.let_backups_stand_by();
    }

    /// A path that noq has abandoned.
    pub(crate) fn abandon(&mut self, id: PathId) {
        self.connection.abandon(id);
        self.backups.remove(&id);
        self.let_backups_stand_by();
    }

    pub(crate) fn close(&mut self, id: PathId) {
        self.connection.close(id);
        self.backups.remove(&id);
        self.let_backups_stand_by();
    }

    fn is_open(&self, id: PathId) -> bool {
        let state = self.connection.state(id);
        state.is_some_and(|state| state != PathState::Abandoned)
    }

    /// Backups stand by as long as noq has another path to send on, one that has failed included. Else it sends on the
    /// backups, and they are coupled.
    pub(crate) fn let_backups_stand_by(&mut self) {
        if self.backups.is_empty() {
            return;
        }
        let has_another = self.connection.ids().any(|id| {
            let state = self.connection.state(id);
            let takes_data = matches!(state, Some(PathState::Active | PathState::Failed));
            takes_data && !self.backups.contains(&id)
        });
        for &id in &self.backups {
            match self.connection.state(id) {
                Some(PathState::Active) if has_another => self.connection.stand_by(id),
                Some(PathState::Standby) if !has_another => self.connection.resume(id),
                _ => {}
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(connection: Connection, ecn: Ecn) -> Shared {
        let state = Mutex::new(State {
            connection,
            next: 0,
            backups: BTreeSet::new(),
        });
        Shared {
            start: Instant::now(),
            ecn,
            state,
        }
    }

    /// A panic while it was held leaves windows as they were then: the other paths go on with them.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn at(&self, now: Instant) -> Time {
        time(now.saturating_duration_since(self.start))
    }

    /// Opens a path with packets of this size.
    pub(crate) fn open(&self, packet: Bytes, now: Instant) -> PathId {
        let mut state = self.lock();
        let id = PathId(state.next);
        state.next += 1;
        state
            .connection
            .open(id, packet, self.at(now))
            .expect("the number of a path is new");
        id
    }

    /// The windows of the paths that are alive, in bytes, by the order in which they came.
    pub fn windows(&self) -> Vec<(PathId, Bytes)> {
        let state = self.lock();
        let mut windows: Vec<_> = state
            .connection
            .ids()
            .filter_map(|id| Some((id, state.connection.window(id)?)))
            .collect();
        windows.sort_by_key(|(id, _)| id.0);
        windows
    }

    /// The paths that the others take into account, by the order in which they came: those that have carried data and are
    /// neither a backup that stands by nor failed nor abandoned.
    pub fn coupled(&self) -> Vec<PathId> {
        let state = self.lock();
        let is_active = |id: &PathId| state.connection.state(*id) == Some(PathState::Active);
        let mut coupled: Vec<_> = state.connection.ids().filter(is_active).collect();
        coupled.sort();
        coupled
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;
    use crate::{Coupled, PathHandle};
    use noq_proto::PathStatus;
    use noq_proto::congestion::{Controller, ControllerFactory};
    use pathweave_control::{Acknowledged, PathId, PathState};
    use pathweave_units::{Bytes, Time};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::time::Instant;

    const SIZE: Bytes = Bytes::new(1200);

    #[test]
    fn a_panic_under_the_lock_leaves_the_paths_going() {
        let shared = Coupled::with_defaults("lia").unwrap().connection();
        let now = Instant::now();
        let mut path = shared.clone().build(now, 1200);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _held = shared.lock();
            panic!("under the lock");
        }));
        assert!(panicked.is_err() && shared.state.is_poisoned());
        path.on_packet_sent(now, 1200, 0);
        path.on_congestion_event(now, now, false, false, 1200, 0);
        assert_eq!(path.window(), 6_000, "the path still answers a loss");
        let second = shared.clone().build(now, 1200);
        assert_eq!(shared.windows().len(), 2);
        drop((path, second));
        assert_eq!(shared.windows().len(), 0);
    }

    /// Two paths of one connection, which end slow start by a loss.
    struct TwoPaths {
        shared: Arc<Shared>,
        paths: [Box<dyn Controller>; 2],
        now: Time,
    }

    impl TwoPaths {
        fn new() -> TwoPaths {
            let shared = Coupled::with_defaults("lia").unwrap().connection();
            let paths = [(); 2].map(|()| shared.clone().build(Instant::now(), 1200));
            let now = Time::from_secs(1);
            let mut two = TwoPaths { shared, paths, now };
            for path in 0..2 {
                two.acknowledge(path);
                let lost = two.now;
                let id = two.handle(path).id();
                two.shared.lock().connection.on_loss(id, lost, false, lost);
            }
            two
        }

        fn handle(&self, path: usize) -> PathHandle {
            PathHandle::of(&*self.paths[path]).expect("a path of this crate")
        }

        /// Sends a window of a path and gets it acknowledged. noq gives the controller an RTT estimator that others cannot
        /// make, so that this calls what the controller calls.
        fn acknowledge(&mut self, path: usize) {
            let id = self.handle(path).id();
            let sent = self.now + Time::from_millis(1);
            self.now = sent + Time::from_millis(10);
            let packets = self.paths[path].window() / 1200;
            let mut state = self.shared.lock();
            for _ in 0..packets {
                state.connection.on_packet_sent(id, SIZE, sent);
            }
            for _ in 0..packets {
                state.connection.on_packet_acked(id, SIZE, sent);
            }
            let acknowledged = Acknowledged {
                now: self.now,
                rtt: Some(Time::from_millis(10)),
                ..Acknowledged::default()
            };
            state.connection.on_ack(id, &acknowledged);
            state.let_backups_stand_by();
        }

        /// By how many bytes the window of the first path grows in ten rounds.
        fn growth(mut self) -> u64 {
            let before = self.paths[0].window();
            for _ in 0..10 {
                self.acknowledge(0);
            }
            self.paths[0].window() - before
        }
    }

    #[test]
    fn a_path_that_is_a_backup_or_given_up_does_not_count_for_the_others() {
        let coupled = TwoPaths::new().growth();
        let mut alone = TwoPaths::new();
        alone.paths[1] = alone.paths[0].clone_box();
        assert_eq!(alone.shared.windows().len(), 1);
        let alone = alone.growth();
        assert!(2 * coupled < alone, "{coupled} coupled, {alone} alone");
        let changes: [fn(&PathHandle); 3] = [
            |path| path.set_status(PathStatus::Backup),
            PathHandle::fail,
            PathHandle::abandon,
        ];
        for change in changes {
            let two = TwoPaths::new();
            change(&two.handle(1));
            assert_eq!(two.shared.coupled(), [PathId(0)]);
            assert_eq!(two.growth(), alone);
        }
        let two = TwoPaths::new();
        two.handle(1).set_status(PathStatus::Backup);
        two.handle(1).set_status(PathStatus::Available);
        assert_eq!(two.growth(), coupled);
    }

    #[test]
    fn backups_are_coupled_where_there_is_nothing_else() {
        let mut two = TwoPaths::new();
        let [first, second] = [two.handle(0), two.handle(1)];
        first.set_status(PathStatus::Backup);
        assert_eq!(two.shared.coupled(), [PathId(1)]);
        second.set_status(PathStatus::Backup);
        assert_eq!(two.shared.coupled(), [PathId(0), PathId(1)]);
        second.set_status(PathStatus::Available);
        assert_eq!(two.shared.coupled(), [PathId(1)]);
        // noq goes on sending on a path that has failed, and not on its backup.
        second.fail();
        assert_eq!(two.shared.coupled(), []);
        two.acknowledge(1);
        assert_eq!(two.shared.coupled(), [PathId(1)]);
        second.abandon();
        assert_eq!(two.shared.coupled(), [PathId(0)]);
        // A third opens, and the backup stands by once data has come over it.
        two.paths[1] = two.shared.clone().build(Instant::now(), 1200);
        assert_eq!(two.shared.coupled(), [PathId(0)]);
        two.acknowledge(1);
        assert_eq!(two.shared.coupled(), [PathId(2)]);
        two.paths[1] = two.paths[0].clone_box();
        assert_eq!(two.shared.coupled(), [PathId(0)]);
    }

    #[test]
    fn a_backup_that_opens_stands_by_from_its_first_acknowledgement_on() {
        let mut two = TwoPaths::new();
        two.paths[1] = two.shared.clone().build(Instant::now(), 1200);
        let handle = two.handle(1);
        handle.set_status(PathStatus::Backup);
        assert_eq!(handle.state(), Some(PathState::Opening));
        two.acknowledge(1);
        assert_eq!(handle.state(), Some(PathState::Standby));
        assert_eq!(two.shared.coupled(), [PathId(0)]);
    }

    #[test]
    fn what_is_said_of_a_path_that_is_gone_changes_nothing() {
        let mut two = TwoPaths::new();
        let gone = two.handle(1);
        two.paths[1] = two.paths[0].clone_box();
        gone.set_status(PathStatus::Backup);
        gone.fail();
        gone.abandon();
        assert_eq!(gone.state(), None);
        assert_eq!(two.shared.coupled(), [PathId(0)]);
    }
}
