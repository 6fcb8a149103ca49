//! What the same trace happens to: the simulator's controller, or the kernel's compiled for this program.

use pathweave_control::{Change, Loss};

/// What a transport knows of a subflow when it tells its controller something.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub sent: u64,
    pub acked: u64,
    pub in_flight: u32,
    /// In eighths of a microsecond; 0 before the first sample.
    pub srtt: u32,
    /// In microseconds; `u32::MAX` before the first sample, as in the kernel.
    pub min_rtt: u32,
    /// In microseconds; 0 before the first sample.
    pub latest_rtt: u32,
    pub in_recovery: bool,
}

/// Whether marked acknowledgements grow the window of subflow `r`: of every second one of the controllers that leave it
/// to the transport.
pub fn grows_by_marked_acks(controller: &str, r: usize) -> bool {
    matches!(controller, "dctcp" | "dcm") && r % 2 == 1
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement {
    pub packets: u32,
    pub marks: u32,
    pub recovery: bool,
    pub window_limited: bool,
    /// Whether it gave the latest RTT sample.
    pub sampled: bool,
}

/// Something that a controller is told of a subflow.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// In packets; an infinite ssthresh is none.
    Open {
        window: f64,
        ssthresh: f64,
    },
    /// It failed, recovered or closed.
    Change(Change),
    Acknowledge(Acknowledgement),
    Lose(Loss),
}

/// What a controller decides of a subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// In packets.
    pub window: f64,
    pub ssthresh: f64,
    pub may_send: bool,
}

/// A controller of one connection.
pub trait Side {
    /// Subflow `r`, of which this is known, has this happen to it. Subflows open for the first time in the
    /// order of their numbers.
    fn happen(&mut self, r: usize, facts: &Facts, event: &Event);

    /// What the controller has decided of a subflow that has opened.
    fn outcome(&self, r: usize) -> Outcome;

    /// Gives a subflow another window and ssthresh.
    fn set(&mut self, r: usize, window: f64, ssthresh: f64);
}
