//! The types of the C interface, as `pathweave_controller.h` has them.

use pathweave_control::{Change, Loss, PathState};
use pathweave_units::Time;
use std::ffi::{c_char, c_void};

/// The version of the interface.
pub(crate) const ABI: u32 = 1;

/// `pathweave_path`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CPath {
    pub window: f64,
    pub ssthresh: f64,
    pub minimum_window: f64,
    pub loss_limit: f64,
    pub smoothed_rtt: u64,
    pub minimum_rtt: u64,
    pub latest_rtt: u64,
    pub sent: u64,
    pub acked: u64,
    pub packet_bytes: u64,
    pub in_flight: u32,
    pub slow_start_limit: u32,
    pub state: u8,
    pub in_recovery: u8,
    pub growth_by_marked_acks: u8,
    pub may_send: u8,
    pub reserved: [u8; 4],
}

/// `pathweave_ack`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CAck {
    pub now: u64,
    pub rtt: u64,
    pub packets: u32,
    pub ce: u32,
    pub recovery: u8,
    pub window_limited: u8,
    pub reserved: [u8; 6],
}

/// `pathweave_connection`.
#[repr(C)]
pub(crate) struct CConnection {
    pub paths: *mut CPath,
    pub count: u32,
    pub flow: u32,
    pub parameters: *const f64,
    pub state: *mut c_void,
    pub subflows: *mut c_void,
}

/// `pathweave_parameter`.
#[repr(C)]
pub(crate) struct CParameter {
    pub name: *const c_char,
    pub help: *const c_char,
    pub default_value: f64,
    pub minimum: f64,
    pub maximum: f64,
    pub integer: u32,
    pub reserved: u32,
    pub choices: *const *const c_char,
}

/// `pathweave_controller`.
#[repr(C)]
pub(crate) struct CController {
    pub abi: u32,
    pub coupled: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub source: *const c_char,
    pub explanation: *const c_char,
    pub parameters: *const CParameter,
    pub parameter_count: u32,
    pub marks: u32,
    pub state_size: u64,
    pub subflow_size: u64,
    pub open: Option<Open>,
    pub close: Option<Close>,
    pub on_ack: Option<OnAck>,
    pub on_loss: Option<OnLoss>,
    pub on_subflow: Option<OnSubflow>,
}

pub(crate) type Open = unsafe extern "C" fn(*const CConnection) -> i32;
pub(crate) type Close = unsafe extern "C" fn(*const CConnection);
pub(crate) type OnAck = unsafe extern "C" fn(*const CConnection, u32, *const CAck) -> i32;
pub(crate) type OnLoss = unsafe extern "C" fn(*const CConnection, u32, u32, u64) -> i32;
pub(crate) type OnSubflow = unsafe extern "C" fn(*const CConnection, u32, u32) -> i32;

// What the header promises, and what compiled Python relies on.
const _: () = assert!(size_of::<CPath>() == 96 && size_of::<CAck>() == 32);
const _: () = assert!(size_of::<CConnection>() == 40 || size_of::<usize>() != 8);

impl CPath {
    /// A copy of what the transport has.
    #[inline]
    pub fn of(path: &pathweave_control::Path) -> CPath {
        CPath {
            window: path.window,
            ssthresh: path.ssthresh,
            minimum_window: path.minimum_window,
            loss_limit: path.loss_limit,
            smoothed_rtt: path.smoothed_rtt.as_picos(),
            minimum_rtt: path.minimum_rtt.as_picos(),
            latest_rtt: path.latest_rtt.as_picos(),
            sent: path.sent,
            acked: path.acked,
            packet_bytes: path.packet.get(),
            in_flight: path.in_flight,
            slow_start_limit: path.slow_start_limit,
            state: match path.state {
                PathState::Opening => 0,
                PathState::Active => 1,
                PathState::Standby => 2,
                PathState::Failed => 3,
                _ => 4,
            },
            in_recovery: u8::from(path.in_recovery),
            growth_by_marked_acks: u8::from(path.growth_by_marked_acks),
            may_send: u8::from(path.may_send),
            reserved: [0; 4],
        }
    }
}

impl CAck {
    /// A copy.
    #[inline]
    pub fn of(ack: &pathweave_control::Ack) -> CAck {
        CAck {
            now: ack.now.as_picos(),
            rtt: ack.rtt.map_or(0, Time::as_picos),
            packets: ack.packets,
            ce: ack.ce,
            recovery: u8::from(ack.recovery),
            window_limited: u8::from(ack.window_limited),
            reserved: [0; 6],
        }
    }
}

/// The number of a loss.
pub(crate) fn loss_number(loss: Loss) -> u32 {
    match loss {
        Loss::FastRetransmit => 0,
        // Only a transport without timeouts tells of the latter, and the window starts again in either case.
        Loss::Timeout | Loss::PersistentCongestion => 1,
    }
}

/// The number of a change.
pub(crate) fn change_number(change: Change) -> u32 {
    match change {
        // To the controller a subflow begins in either case.
        Change::Opened | Change::Migrated => 0,
        Change::StoodBy => 1,
        Change::Failed => 2,
        Change::Recovered => 3,
        _ => 4,
    }
}
