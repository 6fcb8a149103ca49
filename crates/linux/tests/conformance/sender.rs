//! One subflow's sender, as the traces imagine it: it fills its window, samples RTTs and recovers from losses.

use super::side::Facts;
use pathweave_control::Loss;

/// Sequence numbers count packets.
#[derive(Clone, Debug)]
pub struct Sender {
    sent: u64,
    acked: u64,
    /// Selectively acknowledged: those after the packet `acked`, which is missing then.
    sacked: u64,
    missing: bool,
    /// In fast recovery until all before this have been acknowledged.
    recovers: Option<u64>,
    srtt: u32,
    min_rtt: u32,
    latest_rtt: u32,
}

impl Sender {
    pub const FRESH: Sender = Sender {
        sent: 0,
        acked: 0,
        sacked: 0,
        missing: false,
        recovers: None,
        srtt: 0,
        min_rtt: u32::MAX,
        latest_rtt: 0,
    };

    pub fn facts(&self) -> Facts {
        Facts {
            sent: self.sent,
            acked: self.acked,
            in_flight: self.unacknowledged() as u32,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            latest_rtt: self.latest_rtt,
            in_recovery: self.recovers.is_some(),
        }
    }

    /// Packets of which it does not know that they have arrived.
    pub fn unacknowledged(&self) -> u64 {
        self.sent - self.acked - self.sacked
    }

    /// Sends what a window of this many packets allows.
    pub fn fill(&mut self, window: f64) {
        let allowed = self.acked + self.sacked + window.max(1.0) as u64;
        self.sent = self.sent.max(allowed);
    }

    /// Takes an RTT sample, in microseconds and at least 1, as the kernel does: with a weight of an eighth.
    pub fn sample(&mut self, rtt: u32) {
        self.latest_rtt = rtt;
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = match self.srtt {
            0 => rtt * 8,
            srtt => srtt - (srtt >> 3) + rtt,
        };
    }

    /// At most `packets` more have arrived; returns how many of those there were. While a packet is missing
    /// the others are acknowledged selectively.
    pub fn acknowledge(&mut self, packets: u32) -> u32 {
        // The missing packet itself.
        let held_back = u64::from(self.missing);
        let arrived = u64::from(packets).min(self.unacknowledged().saturating_sub(held_back));
        if self.missing {
            self.sacked += arrived;
        } else {
            self.acked += arrived;
        }
        self.leave_recovery();
        arrived as u32
    }

    /// The first packet of those on their way is late: those after it are acknowledged selectively until it has arrived.
    pub fn reorder(&mut self) {
        self.missing |= self.unacknowledged() > 1;
    }

    /// The missing packet has arrived, if one is missing.
    pub fn missing_packet_arrives(&mut self) -> u32 {
        if !self.missing {
            return 0;
        }
        self.acked += self.sacked + 1;
        self.sacked = 0;
        self.missing = false;
        self.leave_recovery();
        1
    }

    fn leave_recovery(&mut self) {
        self.recovers = self.recovers.filter(|&end| self.acked < end);
    }

    /// The first packet of those on their way is lost, or all are.
    pub fn lose(&mut self, loss: Loss) {
        self.sacked = 0;
        self.missing = loss == Loss::FastRetransmit;
        self.recovers = self.missing.then_some(self.sent);
    }

    pub fn is_missing_a_packet(&self) -> bool {
        self.missing
    }
}
