//! A core of its own and real-time priority for the thread that plays the fabric.

use crate::Failure;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The cores that the process may use, divided: one for the fabric, the others for everything else.
#[derive(Clone, Debug)]
pub struct Cores {
    /// The fabric's.
    pub fabric: usize,
    others: CpuSet,
}

impl Cores {
    /// The last of those that the process may use is the fabric's: interrupts prefer the first.
    ///
    /// # Errors
    /// With less than two.
    pub fn divide() -> Result<Cores, Failure> {
        let mut others = sched_getaffinity(None)
            .map_err(|error| Failure::new(format!("cannot see which cores there are: {error}")))?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|&core| others.is_set(core));
        match last {
            Some(fabric) if others.count() > 1 => {
                others.unset(fabric);
                Ok(Cores { fabric, others })
            }
            _ => Err(
                Failure::refused("the testbed takes two cores, and there is one")
                    .hint("one plays the fabric, the other the hosts"),
            ),
        }
    }

    /// This thread is the fabric's. Gives a remark when it gets no real-time priority.
    pub fn take_fabric(&self) -> Option<String> {
        let mut own = CpuSet::new();
        own.set(self.fabric);
        let pinned = sched_setaffinity(None, &own).map_err(io::Error::from);
        let prior = pinned.and_then(|()| come_before_all().or_else(|_| come_before_most()));
        prior.err().map(|error| {
            format!("the fabric ran without real-time priority on a core of its own ({error}): expect packets to be late")
        })
    }

    /// This thread keeps off the fabric's core and comes before others on its own: a host whose sender
    /// waits for a processor while its window is open sends less than its congestion control lets it.
    pub fn take_others(&self) {
        // Without the right to either it runs as it is; how late packets are says the rest.
        let _ = sched_setaffinity(None, &self.others);
        let _ = come_before_most();
    }
}

/// A deadline that is always near. Ordinary threads that have had nothing of a core for long get 50 ms
/// of every second from a server in the kernel (since Linux 6.12, whatever the throttling of real-time
/// threads is set to), which comes before SCHED_FIFO; a nearer deadline comes before the server. The
/// time that the thread may have is the whole of its period, which is shorter than the kernel's tick, so
/// that it never waits for more.
fn come_before_all() -> io::Result<()> {
    const PERIOD: u64 = 1_000_000; // ns
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_DEADLINE as u32,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: PERIOD,
        sched_deadline: PERIOD,
        sched_period: PERIOD,
    };
    // SAFETY: the call reads one `sched_attr`, whose size is in it and which lives across it, and
    // changes this thread only.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The lowest real-time priority is above all that is not real-time.
fn come_before_most() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the call reads one `sched_param`, which lives across it, and changes this thread only.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
