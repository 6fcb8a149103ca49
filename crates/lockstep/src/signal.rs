//! A number that rises, and threads that wait for it.

use crate::sync::{AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, fence};

/// Looks for a change at first: about ten microseconds.
#[cfg(not(loom))]
const LOOKS: u32 = 2_000;
#[cfg(loom)]
const LOOKS: u32 = 0;
/// Looks after which any other thread that is ready gets the core, before this one sleeps: about 200 microseconds where
/// there is none. Being woken takes 50 in a virtual machine, at each round of a fabric of a thousand hosts.
#[cfg(not(loom))]
const OFFERS: u32 = 500;
#[cfg(loom)]
const OFFERS: u32 = 0;

pub(crate) struct Signal {
    number: AtomicU64,
    /// Threads that sleep, or are about to.
    sleeping: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Signal {
    /// Zero.
    pub fn new() -> Signal {
        Signal {
            number: AtomicU64::new(0),
            sleeping: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Adds one.
    pub fn raise(&self) {
        self.number.fetch_add(1, Ordering::Release);
        self.wake();
    }

    /// Sets it to a greater number.
    pub fn set(&self, number: u64) {
        self.number.store(number, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        // A thread that is about to sleep counts itself before it looks at the number for the last time. Of its fence
        // and this one, one comes first: either it sees the new number, or it is seen here.
        fence(Ordering::SeqCst);
        if self.sleeping.load(Ordering::Relaxed) > 0 {
            // Once the bed is free that thread sleeps, or has seen the number.
            drop(self.bed.lock());
            self.bell.notify_all();
        }
    }

    /// Waits until the number is at least this, and returns it.
    pub fn wait(&self, least: u64) -> u64 {
        for _ in 0..LOOKS {
            let number = self.number.load(Ordering::Acquire);
            if number >= least {
                return number;
            }
            std::hint::spin_loop();
        }
        for _ in 0..OFFERS {
            std::thread::yield_now();
            let number = self.number.load(Ordering::Acquire);
            if number >= least {
                return number;
            }
        }
        self.sleep(least)
    }

    #[cold]
    fn sleep(&self, least: u64) -> u64 {
        self.sleeping.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut bed = self.bed.lock().expect("nobody panics while holding it");
        let number = loop {
            let number = self.number.load(Ordering::Acquire);
            if number >= least {
                break number;
            }
            bed = self.bell.wait(bed).expect("nobody panics while holding it");
        };
        drop(bed);
        self.sleeping.fetch_sub(1, Ordering::Relaxed);
        number
    }
}
