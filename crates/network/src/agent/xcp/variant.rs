//! What variants of XCP do in their own way.

use crate::setup::LinkSetup;
use pathweave_units::Time;
use std::fmt::Debug;

/// A variant of XCP, with what it keeps at a port. A method without a body of its own does nothing that the paper does not say.
pub trait Variant: Clone + Debug {
    /// Bytes of state that it keeps beyond what all variants have.
    const STATE_BYTES: u64;
    /// xi_p before the first interval has ended, byte/s^2.
    const FIRST_XI_P: f64 = 0.0;
    /// By what xi_p and xi_n are larger.
    const FACTOR: f64 = 1.0;

    /// Of a port.
    fn new(setup: &LinkSetup) -> Self;

    /// The first control interval of a port, which is also its first d, seconds.
    fn first_interval(setup: &LinkSetup) -> f64;

    /// When an interval of its own ends; `Time::MAX` if there is none.
    #[inline(always)]
    fn interval_ends(&self) -> Time {
        Time::MAX
    }

    /// Ends its own intervals that are over; `queue` bytes wait all the while. `rtt` is d in seconds, `capacity` C in byte/s.
    fn catch_up(&mut self, _now: Time, _queue: u32, _rtt: f64, _capacity: f64) {}

    /// Q, bytes, at the end of a control interval.
    fn persistent_queue(&self) -> u32;

    /// A control interval begins, while this many bytes wait.
    fn begin_interval(&mut self, _queue: u32) {}

    /// In the control interval that begins this many bytes of windows may be added and taken away.
    fn set_budgets(&mut self, positive: f64, negative: f64);

    /// This many bytes wait before a packet joins the queue, or once one has been taken out.
    #[inline(always)]
    fn see(&mut self, _queue: u32) {}

    /// A packet is about to be taken out of a queue of this many bytes, its own among them.
    #[inline(always)]
    fn see_before_service(&mut self, _queue: u32) {}

    /// How much of an increase and a decrease in bytes a packet gets that other ports have granted `elsewhere` so far.
    /// `intervals` is how many control intervals pass between two packets of its flow.
    fn grant(
        &mut self,
        positive: f64,
        negative: f64,
        elsewhere: f64,
        intervals: impl FnOnce() -> f64,
    ) -> (f64, f64);
}
