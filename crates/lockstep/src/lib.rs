//! Rounds of work that several threads share.
//!
//! In each round a leader lends every follower something to work on, does a part of the work itself, and gets all of
//! it back when the last follower is done. A round may be as short as a few microseconds, so both sides look for each
//! other for a while before they sleep.
//!
//! ```
//! use pathweave_lockstep::Lockstep;
//!
//! let lockstep = Lockstep::new(1);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| lockstep.follow(0, |numbers: &mut Vec<u32>| numbers.push(1)));
//!     let mut lead = lockstep.lead();
//!     let mut lent = vec![vec![7]];
//!     for _ in 0..3 {
//!         lead.round(&mut lent, || { /* the leader's own part */ });
//!     }
//!     assert_eq!(lent, [[7, 1, 1, 1]]);
//! });
//! ```

#![forbid(unsafe_code)]

mod signal;
mod sync;

use signal::Signal;
use sync::Mutex;

/// What a leader and its followers share.
pub struct Lockstep<T> {
    /// What each follower is lent.
    lent: Box<[Mutex<Option<T>>]>,
    /// Rounds that have begun; [`OVER`] when there are no more.
    begun: Signal,
    /// Followers that have done their part, in all rounds.
    done: Signal,
}

/// There will be no more rounds.
const OVER: u64 = u64::MAX;

impl<T> Lockstep<T> {
    /// For this many followers, each of which has to call [`Lockstep::follow`].
    pub fn new(followers: usize) -> Lockstep<T> {
        Lockstep {
            lent: (0..followers).map(|_| Mutex::new(None)).collect(),
            begun: Signal::new(),
            done: Signal::new(),
        }
    }

    /// The follower with this number works on what it is lent, round by round, until the leader has no more. If it
    /// panics, so does the leader.
    pub fn follow(&self, follower: usize, mut work: impl FnMut(&mut T)) {
        let mut round = 1;
        while self.begun.wait(round) != OVER {
            // The leader is told in any case, or it would wait for ever.
            let _done = Done(&self.done);
            let lent = self.lent[follower]
                .lock()
                .ok()
                .and_then(|mut lent| lent.take());
            if let Some(mut own) = lent {
                work(&mut own);
                if let Ok(mut lent) = self.lent[follower].lock() {
                    *lent = Some(own);
                }
            }
            round += 1;
        }
    }

    /// Begins to lead. The rounds are over when what is returned is dropped.
    pub fn lead(&self) -> Lead<'_, T> {
        Lead {
            lockstep: self,
            round: 0,
        }
    }
}

struct Done<'a>(&'a Signal);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// The leader of rounds.
pub struct Lead<'a, T> {
    lockstep: &'a Lockstep<T>,
    round: u64,
}

impl<T> Lead<'_, T> {
    /// Number of followers.
    pub fn followers(&self) -> usize {
        self.lockstep.lent.len()
    }

    /// A round: each follower gets one of these, in the order of their numbers, and the leader works, too. All are
    /// back when it returns.
    ///
    /// # Panics
    /// When there are more or fewer than followers, and when a follower has panicked.
    pub fn round(&mut self, lent: &mut Vec<T>, own: impl FnOnce()) {
        let followers = self.lockstep.lent.len();
        assert_eq!(lent.len(), followers, "each follower is lent one");
        for (place, thing) in self.lockstep.lent.iter().zip(lent.drain(..)) {
            *place.lock().expect("nobody panics while holding it") = Some(thing);
        }
        self.round += 1;
        self.lockstep.begun.raise();
        own();
        self.lockstep.done.wait(self.round * followers as u64);
        for place in &self.lockstep.lent {
            let back = place.lock().expect("nobody panics while holding it").take();
            lent.push(back.expect("a follower has panicked"));
        }
    }
}

impl<T> Drop for Lead<'_, T> {
    fn drop(&mut self) {
        self.lockstep.begun.set(OVER);
    }
}
