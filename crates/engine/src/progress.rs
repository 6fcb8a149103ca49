//! How far a run is, readable from another thread, and the wish to end it early.

use crate::faults::FirstFault;
use crate::flows::events::FlowEvent;
use pathweave_control::Faults;
use pathweave_units::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// CPU time of the present thread.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Shared between a run and whoever watches it.
#[derive(Debug, Default)]
pub struct Progress {
    time: AtomicU64,
    packet_hops: AtomicU64,
    started: AtomicU64,
    finished: AtomicU64,
    /// Share of the run that is done, in millionths.
    done: AtomicU64,
    /// CPU time of the run's other threads in nanoseconds.
    others_cpu: AtomicU64,
    cancelled: AtomicBool,
    faults: Arc<FirstFault>,
    /// What has happened to the flow that is watched, and has not been taken.
    events: Mutex<Vec<FlowEvent>>,
}

impl Progress {
    /// Asks the run to end; it then returns [`crate::RunError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }
    /// Whether the run was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
    /// Simulated time.
    pub fn time(&self) -> Time {
        Time::from_picos(self.time.load(Relaxed))
    }
    /// Packets that reached the far end of a link.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops.load(Relaxed)
    }
    /// Flows that have started.
    pub fn flows_started(&self) -> u64 {
        self.started.load(Relaxed)
    }
    /// Flows that have finished.
    pub fn flows_finished(&self) -> u64 {
        self.finished.load(Relaxed)
    }
    /// Estimated share of the run that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.done.load(Relaxed) as f64 * 1e-6
    }
    /// CPU time of the threads that the run has started and that are over.
    pub fn others_cpu(&self) -> Duration {
        Duration::from_nanos(self.others_cpu.load(Relaxed))
    }

    /// What has happened to the flow that the plan watches, since this was last called.
    pub fn take_events(&self) -> Vec<FlowEvent> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
    pub(crate) fn add_events(&self, events: &mut Vec<FlowEvent>) {
        let mut all = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        all.append(events);
    }

    /// Where the run's controllers say that they cannot go on.
    pub(crate) fn faults(&self) -> Arc<dyn Faults> {
        Arc::clone(&self.faults) as Arc<dyn Faults>
    }
    /// What they have said.
    pub(crate) fn first_fault(&self) -> Option<pathweave_control::Fault> {
        self.faults.get()
    }

    pub(crate) fn add_other_cpu(&self, time: Duration) {
        self.others_cpu.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    pub(crate) fn set(&self, time: Time, hops: u64, started: u64, finished: u64, done: f64) {
        self.time.store(time.as_picos(), Relaxed);
        self.packet_hops.store(hops, Relaxed);
        self.started.store(started, Relaxed);
        self.finished.store(finished, Relaxed);
        self.done
            .store((done.clamp(0.0, 1.0) * 1e6) as u64, Relaxed);
    }
}
