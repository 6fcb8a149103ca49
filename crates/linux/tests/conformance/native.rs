//! The kernel's controllers, compiled for this program: what `bpf/native.h` exports of each.

use super::side::{Acknowledgement, Event, Facts, Outcome, Side, grows_by_marked_acks};
use pathweave_control::{Change, Loss};
use pathweave_linux::kernel::{SUBFLOWS, Settings};
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// PACKET and UNLIMITED in `bpf/numbers.h`.
const PACKET: f64 = (1_u64 << 24) as f64;
const UNLIMITED: u64 = u64::MAX;

/// `struct subflow` up to the controller's own state.
#[repr(C)]
pub struct Row {
    owner: u64,
    window: u64,
    ssthresh: u64,
    acked: u64,
    sent: u64,
    srtt: u32,
    min_rtt: u32,
    packets: u64,
    marks: u64,
    losses: u32,
    timeouts: u32,
    cuts: u32,
    minimum_window: u32,
    number: u32,
    path: u8,
    suppressed: u8,
    in_recovery: u8,
    family: u8,
    local: [u32; 4],
    remote: [u32; 4],
    local_port: u16,
    remote_port: u16,
    netns: u32,
    segment: u32,
    growth_by_marked_acks: u8,
    fraction: u64,
}

/// `struct acknowledgement`.
#[repr(C)]
pub struct Seen {
    packets: u32,
    marks: u32,
    recovery: bool,
    window_limited: bool,
}

/// `enum loss`.
const FAST_RETRANSMIT: u32 = 0;
const TIMEOUT: u32 = 1;

/// `enum change`.
fn change_of(change: Change) -> u32 {
    match change {
        Change::Opened => 0,
        Change::Failed => 1,
        Change::Recovered => 2,
        Change::Closed => 3,
        other => panic!("the kernel's subflows have no {other:?}"),
    }
}

/// What one controller exports.
pub struct Functions {
    pub name: &'static str,
    /// Bytes of a connection, a subflow and the parameters.
    pub sizes: *const [u64; 3],
    pub settings: *mut u64,
    pub subflow: unsafe extern "C" fn(*mut c_void, u32) -> *mut Row,
    pub open: unsafe extern "C" fn(*mut c_void, u32),
    pub change: unsafe extern "C" fn(*mut c_void, u32, u32),
    pub acknowledge: unsafe extern "C" fn(*mut c_void, u32, *const Seen),
    pub lose: unsafe extern "C" fn(*mut c_void, u32, u32),
    /// The settings are a global of the controller: one connection at a time.
    pub in_use: Mutex<()>,
}

// SAFETY: `sizes` is constant, and `settings` is written and read only while `in_use` is held.
unsafe impl Sync for Functions {}

/// A connection with a controller of the kernel.
pub struct Native {
    functions: &'static Functions,
    /// `struct connection`.
    connection: Vec<u64>,
    _in_use: MutexGuard<'static, ()>,
}

impl Native {
    /// Waits until no other connection has this controller, and loads the settings.
    pub fn new(functions: &'static Functions, settings: &Settings) -> Native {
        // A test that failed with it leaves nothing behind: settings are written again.
        let in_use = functions
            .in_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a constant of the C file that has this type.
        let sizes = unsafe { *functions.sizes };
        let [connection, subflow, parameters] = sizes.map(|bytes| bytes as usize);
        assert!(
            subflow >= size_of::<Row>(),
            "rows begin with what this file has of them"
        );
        assert_eq!(
            parameters,
            size_of_val(&settings.values[..]),
            "settings.rs sets every parameter of {}",
            functions.name
        );
        // SAFETY: `settings` is a `struct parameters`, so as many u64 as were just counted, and
        // nobody else uses it while `in_use` is held.
        unsafe {
            functions
                .settings
                .copy_from_nonoverlapping(settings.values.as_ptr(), settings.values.len());
        }
        Native {
            functions,
            // A struct of u64 and what is smaller is as well aligned as its u64.
            connection: vec![0; connection.div_ceil(size_of::<u64>())],
            _in_use: in_use,
        }
    }

    fn row_at(&self, r: usize) -> *mut Row {
        assert!(r < SUBFLOWS, "a connection has {SUBFLOWS} rows");
        let connection = self.connection.as_ptr().cast_mut().cast();
        // SAFETY: the connection has the size and alignment of `struct connection`, and r is one of its
        // rows; the function only calculates an address.
        unsafe { (self.functions.subflow)(connection, r as u32) }
    }

    fn row(&self, r: usize) -> &Row {
        // SAFETY: the address is within `connection`, which lives as long as this borrow and which only
        // `&mut self` changes; a row begins with a `Row`, and any bits are one.
        unsafe { &*self.row_at(r) }
    }

    fn row_mut(&mut self, r: usize) -> &mut Row {
        let place = self.connection.as_mut_ptr().cast();
        assert!(r < SUBFLOWS, "a connection has {SUBFLOWS} rows");
        // SAFETY: as in `row_at` and `row`, from a pointer that may be written through, and nobody else has
        // a reference into `connection` while this one lives.
        unsafe { &mut *(self.functions.subflow)(place, r as u32) }
    }

    fn learn(&mut self, r: usize, facts: &Facts) {
        let row = self.row_mut(r);
        (row.sent, row.acked) = (facts.sent, facts.acked);
        (row.srtt, row.min_rtt) = (facts.srtt, facts.min_rtt);
        row.in_recovery = u8::from(facts.in_recovery);
    }
}

fn to_kernel(packets: f64) -> u64 {
    if packets.is_infinite() {
        UNLIMITED
    } else {
        (packets * PACKET).round() as u64
    }
}

fn from_kernel(number: u64) -> f64 {
    if number == UNLIMITED {
        f64::INFINITY
    } else {
        number as f64 / PACKET
    }
}

impl Side for Native {
    fn happen(&mut self, r: usize, facts: &Facts, event: &Event) {
        self.learn(r, facts);
        if let Event::Open { window, ssthresh } = *event {
            self.set(r, window, ssthresh);
            let grows = grows_by_marked_acks(self.functions.name, r);
            self.row_mut(r).growth_by_marked_acks = u8::from(grows);
        }
        let functions = self.functions;
        let (connection, place) = (self.connection.as_mut_ptr().cast(), r as u32);
        // SAFETY: the connection has the size and alignment of `struct connection`, which begins as zeroes,
        // and `learn` has checked that r is one of its rows. Nothing refers into it meanwhile.
        unsafe {
            match *event {
                Event::Open { .. } => (functions.open)(connection, place),
                Event::Change(change) => {
                    (functions.change)(connection, place, change_of(change));
                }
                Event::Lose(Loss::FastRetransmit) => {
                    (functions.lose)(connection, place, FAST_RETRANSMIT);
                }
                // Linux has timeouts in the place of persistent congestion.
                Event::Lose(Loss::Timeout | Loss::PersistentCongestion) => {
                    (functions.lose)(connection, place, TIMEOUT)
                }
                Event::Acknowledge(Acknowledgement {
                    packets,
                    marks,
                    recovery,
                    window_limited,
                    ..
                }) => {
                    let seen = Seen {
                        packets,
                        marks,
                        recovery,
                        window_limited,
                    };
                    (functions.acknowledge)(connection, place, &raw const seen);
                }
            }
        }
    }

    fn outcome(&self, r: usize) -> Outcome {
        let row = self.row(r);
        Outcome {
            window: from_kernel(row.window),
            ssthresh: from_kernel(row.ssthresh),
            may_send: row.suppressed == 0,
        }
    }

    fn set(&mut self, r: usize, window: f64, ssthresh: f64) {
        let row = self.row_mut(r);
        (row.window, row.ssthresh) = (to_kernel(window), to_kernel(ssthresh));
        row.fraction = 0;
    }
}
