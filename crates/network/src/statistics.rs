//! What a link counts.

use pathweave_units::Time;

/// Counters of one directed link since the start of the run.
///
/// In the order of use: the first four change with every packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LinkStatistics {
    /// Packets offered to the port.
    pub offered: u64,
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Bytes that reached the far end.
    pub delivered_bytes: u64,
    /// Sum of the times that packets waited for service, in picoseconds: divided by a period it is
    /// the mean number of waiting packets. A long queue before a slow link waits for more than 64 bits: they hold 18
    /// million seconds.
    pub waited: u128,
    /// Packets marked.
    pub marked: u64,
    /// Packets dropped because the queue was full (or unmarkable above K, where that drops).
    pub dropped: u64,
    /// Packets lost because the link went down while they waited.
    pub lost_waiting: u64,
    /// Packets lost because the link went down while they were being sent.
    pub lost_in_service: u64,
    /// Packets lost because the link went down while they were on the wire.
    pub lost_in_flight: u64,
    /// Packets that arrived while the link was down.
    pub refused_down: u64,
    /// Packets of those delivered that the link lost silently on its way: they took its time.
    pub lost_silently: u64,
}

impl LinkStatistics {
    /// Packets that did not reach the far end and never will.
    pub fn lost(&self) -> u64 {
        self.dropped
            + self.lost_waiting
            + self.lost_in_service
            + self.lost_in_flight
            + self.refused_down
    }

    /// What was counted after `earlier`.
    pub fn since(&self, earlier: &LinkStatistics) -> LinkStatistics {
        LinkStatistics {
            offered: self.offered - earlier.offered,
            delivered: self.delivered - earlier.delivered,
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            dropped: self.dropped - earlier.dropped,
            lost_waiting: self.lost_waiting - earlier.lost_waiting,
            lost_in_service: self.lost_in_service - earlier.lost_in_service,
            lost_in_flight: self.lost_in_flight - earlier.lost_in_flight,
            refused_down: self.refused_down - earlier.refused_down,
            lost_silently: self.lost_silently - earlier.lost_silently,
            marked: self.marked - earlier.marked,
            waited: self.waited - earlier.waited,
        }
    }

    /// Mean number of waiting packets over a period in which this was counted.
    pub fn mean_waiting(&self, period: Time) -> f64 {
        if period == Time::ZERO {
            0.0
        } else {
            self.waited as f64 / period.as_picos() as f64
        }
    }
}
