//! What a DECN port knows of one flow: its rate, its packets that wait, and the unit that passes.

use pathweave_control::decn::Passing;
use pathweave_units::Time;

/// One flow at one port.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// When the period that runs began; none before the flow's first packet.
    began: Option<Time>,
    /// Bytes that have arrived in it.
    arrived: u32,
    /// Packets that have arrived in it.
    packets: u32,
    /// Bytes that wait.
    waiting: u32,
    /// The fewest that waited during the period.
    fewest: u32,
    /// CR of the last whole period, bit/s; zero before one is over, as nothing has been counted then.
    rate: f64,
    /// Mean time between packets in that period.
    gap: Time,
    /// The unit of which a first packet has passed.
    pub unit: Option<Passing>,
}

impl Measurement {
    /// A packet arrives; `queued` bytes wait at the port before it.
    pub fn arrive(&mut self, now: Time, bytes: u16, queued: u32, period: Time) {
        // Not more than there is: a port that failed has lost its queue.
        self.waiting = self.waiting.min(queued);
        let began = *self.began.get_or_insert(now);
        self.fewest = self.fewest.min(self.waiting);
        let elapsed = now - began;
        if elapsed >= period {
            let bits = 8.0 * f64::from(self.arrived + self.fewest);
            self.rate = bits / elapsed.as_secs_f64();
            self.gap = elapsed / u64::from(self.packets);
            self.began = Some(now);
            self.arrived = 0;
            self.packets = 0;
            self.fewest = self.waiting;
        }
        self.arrived += u32::from(bytes);
        self.packets += 1;
        self.waiting += u32::from(bytes);
    }

    /// A packet's transmission begins; `queued` bytes are left waiting at the port.
    pub fn serve(&mut self, bytes: u16, queued: u32) {
        self.waiting = self.waiting.saturating_sub(u32::from(bytes)).min(queued);
        self.fewest = self.fewest.min(self.waiting);
    }

    /// CR in bit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Mean time between the flow's packets, as far as it is known.
    pub fn gap(&self) -> Time {
        self.gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Time = Time::from_micros(100);

    /// Packets of 1500 bytes that arrive at these times, in microseconds, and leave at once.
    fn paced(times: &[u64]) -> f64 {
        let mut flow = Measurement::default();
        for &at in times {
            flow.arrive(Time::from_micros(at), 1500, 0, PERIOD);
            flow.serve(1500, 0);
        }
        flow.rate()
    }

    #[test]
    fn a_period_ends_with_the_first_packet_after_it() {
        assert_eq!(paced(&[7]), 0.0);
        assert_eq!(paced(&[7, 106]), 0.0);
        // Two packets in 120 us: 200 Mbps. Twelve kilobits per 100 us are 120 Mbps.
        assert!((paced(&[7, 67, 127]) - 200e6).abs() < 1.0);
        assert!((paced(&[7, 107]) - 120e6).abs() < 1.0);
    }

    #[test]
    fn a_flow_slower_than_a_packet_a_period_has_its_own_rate() {
        // A packet in 600 us.
        assert!((paced(&[0, 600, 1200]) - 20e6).abs() < 1.0);
    }

    #[test]
    fn the_fewest_bytes_that_wait_count() {
        let mut flow = Measurement::default();
        let at = Time::from_micros;
        flow.arrive(at(0), 1500, 0, PERIOD);
        flow.arrive(at(10), 1500, 1500, PERIOD);
        flow.arrive(at(20), 1500, 3000, PERIOD);
        flow.serve(1500, 3000);
        flow.arrive(at(100), 1500, 3000, PERIOD);
        // Nothing waited when the first period began: 4500 bytes in 100 us.
        assert!((flow.rate() - 360e6).abs() < 1.0);
        flow.serve(1500, 3000);
        flow.arrive(at(150), 1500, 3000, PERIOD);
        flow.serve(1500, 3000);
        flow.arrive(at(200), 1500, 3000, PERIOD);
        // 3000 bytes came, and never fewer than 3000 waited: 480 Mbps.
        assert!((flow.rate() - 480e6).abs() < 1.0);
    }

    #[test]
    fn what_a_port_lost_does_not_wait() {
        let mut flow = Measurement::default();
        let at = Time::from_micros;
        for time in [0, 10, 20] {
            flow.arrive(at(time), 1500, 9000, PERIOD);
        }
        // The port failed; two packets come when it is back.
        flow.arrive(at(500), 1500, 0, PERIOD);
        flow.serve(1500, 0);
        flow.arrive(at(600), 1500, 0, PERIOD);
        assert!((flow.rate() - 120e6).abs() < 1.0);
    }
}
