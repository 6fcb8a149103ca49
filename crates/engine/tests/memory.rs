//! What a flow that has ended keeps of the memory, counted byte by byte.

use crate::plans::{self, fixed, group, queue};
use pathweave_engine::{Progress, run};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::ManyToOne;
use pathweave_units::Time;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Counts the bytes in use by the thread of the run, because other tests allocate in the same process.
struct Counting;

static IN_USE: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count(bytes: i64) {
    if IS_COUNTED.get() {
        IN_USE.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that each ended flow adds while a run of flows with this many subflows goes on.
fn bytes_of_a_flow(subflows: u32) -> f64 {
    const FLOWS: u64 = 40_000;
    let pattern = Pattern::ManyToOne(ManyToOne {
        destination: 4,
        sources: Some(vec![0, 1, 2, 3]),
        concurrency: 8,
        gap: Time::ZERO,
        count: Some(FLOWS),
    });
    let mut flows = group("xmp", &[], pattern, fixed(40_000));
    flows.subflows = subflows;
    // Timers that are not wanted any more stay in the schedule until they are due.
    flows.transport.minimum_rto = Time::from_millis(2);
    flows.transport.initial_rto = Time::from_millis(2);
    flows.transport.ack_timeout = Time::from_millis(1);
    let fabric = plans::dumbbell(4, Time::from_micros(10));
    let plan = plans::plan(fabric, queue(100, Some(10)), vec![flows], None);
    let progress = Arc::new(Progress::default());
    let watched = Arc::clone(&progress);
    let mut seen: Vec<(u64, i64)> = Vec::new();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || {
            IS_COUNTED.set(true);
            run(&plan, &progress).expect("a run without defects")
        });
        // Results are built when the last flows have ended.
        while !running.is_finished() {
            let (ended, bytes) = (watched.flows_finished(), IN_USE.load(Relaxed));
            let new = seen.last().is_none_or(|&(last, _)| ended > last);
            if new && ended < FLOWS - FLOWS / 10 {
                seen.push((ended, bytes));
            }
            std::thread::yield_now();
        }
        let output = running.join().expect("no panic");
        assert_eq!(output.counters.flows_finished, FLOWS);
    });
    let at = |share: f64| {
        let wanted = (FLOWS as f64 * share) as u64;
        let found = seen.iter().find(|&&(ended, _)| ended >= wanted);
        *found.expect("the run is watched all the time")
    };
    let ((first, before), (last, after)) = (at(0.2), at(0.8));
    (after - before) as f64 / (last - first) as f64
}

/// One test, because there is one count.
#[test]
fn a_flow_that_has_ended_keeps_little() {
    for subflows in [1, 4] {
        let bytes = bytes_of_a_flow(subflows);
        println!("{subflows} subflows: {bytes:.0} B a flow");
        assert!(
            bytes > 50.0 && bytes <= 400.0,
            "{subflows} subflows: {bytes} B"
        );
    }
}
