//! The round in which a window is cut: what may be sent in it.
//!
//! A controller cuts a window at once. Linux and ns-3 bring the cut into force over a round: they send
//! in proportion to what is delivered, so that packets keep leaving and the flight reaches the new
//! window when the round ends (proportional rate reduction, RFC 6937 and RFC 9937).

/// From the acknowledgement that cut a window until what was in flight then has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutRound {
    /// The round is over when everything below this has been acknowledged.
    ends_at: u32,
    /// What proportional rate reduction counts, if it is in force.
    pub proportional: Option<Proportional>,
}

impl CutRound {
    /// Begins when a window is cut; with proportional rate reduction, `proportional` is its start.
    pub fn new(ends_at: u32, proportional: Option<Proportional>) -> CutRound {
        CutRound {
            ends_at,
            proportional,
        }
    }

    /// Whether everything that was in flight at the cut has been acknowledged.
    #[inline]
    pub fn is_over(&self, una: u32) -> bool {
        una >= self.ends_at
    }
}

/// Proportional rate reduction of one subflow. All counts are in packets.
///
/// The share that may be sent is the new window over what was in flight at the cut, as RFC 9937 has it. Linux
/// divides by the window before the cut, which is the same where the window is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proportional {
    /// RecoverFS: in flight when the window was cut.
    flight: u32,
    /// prr_delivered: delivered since.
    delivered: u32,
    /// prr_out: sent since, retransmissions included.
    pub sent: u32,
    /// How many packets may be in flight until the next acknowledgement.
    pub window: u32,
}

impl Proportional {
    /// Begins with `flight` packets in flight before the acknowledgement that cut the window.
    pub fn new(flight: u32) -> Proportional {
        Proportional {
            flight,
            delivered: 0,
            sent: 0,
            window: flight,
        }
    }

    /// An acknowledgement says that `delivered` packets have arrived and `in_flight` are left, of which
    /// `target`, the new window, is to remain. `in_good_order` says that it acknowledged something
    /// cumulatively and revealed no new loss.
    pub fn on_ack(&mut self, delivered: u32, in_flight: u32, target: f64, in_good_order: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let left = target - f64::from(in_flight);
        let may_send = if left < 0.0 {
            // As many of what has been delivered as the new window is of the old flight.
            let due = (target * f64::from(self.delivered) / f64::from(self.flight.max(1))).ceil();
            (due as u32).saturating_sub(self.sent)
        } else {
            // The flight is below the new window: slow start back to it, by one packet more than what
            // was delivered where that is safe.
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            (owed + u32::from(in_good_order)).min(left as u32)
        };
        // The first packet after the cut, a retransmission if there is one to send, always leaves.
        self.window = in_flight + may_send.max(u32::from(self.sent == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::{CutRound, Proportional};

    /// A round without losses: each acknowledgement delivers a packet and lets go what the reduction
    /// allows. Returns the flight after each.
    fn flights(flight: u32, target: f64) -> Vec<u32> {
        let mut reduction = Proportional::new(flight);
        let mut in_flight = flight;
        (0..flight)
            .map(|_| {
                in_flight -= 1;
                reduction.on_ack(1, in_flight, target, true);
                while in_flight < reduction.window {
                    in_flight += 1;
                    reduction.sent += 1;
                }
                in_flight
            })
            .collect()
    }

    #[test]
    fn a_halved_window_sends_every_second_packet_and_arrives_at_the_new_one() {
        let flights = flights(20, 10.0);
        assert_eq!(&flights[..6], [20, 19, 19, 18, 18, 17]);
        assert_eq!(flights.last(), Some(&10));
        assert!(
            flights.windows(2).all(|pair| pair[0] - pair[1] <= 1),
            "packets keep leaving"
        );
    }

    #[test]
    fn a_small_cut_holds_few_packets_back() {
        for (flight, target) in [(20, 19.0), (40, 37.5), (7, 6.2)] {
            let flights = flights(flight, target);
            let end = *flights.last().expect("a round");
            assert!(
                f64::from(end) <= target + 1.0 && f64::from(end) >= target - 1.0,
                "{end}"
            );
        }
    }

    #[test]
    fn after_many_losses_slow_start_brings_the_flight_back() {
        // 20 in flight, 16 of them found lost: 3 are left.
        let mut reduction = Proportional::new(20);
        reduction.on_ack(1, 3, 10.0, false);
        assert_eq!(reduction.window, 4, "what was delivered");
        reduction.sent = 1;
        reduction.on_ack(1, 3, 10.0, true);
        assert_eq!(reduction.window, 5, "and one more after progress");
        reduction.sent += 2;
        reduction.on_ack(9, 0, 10.0, true);
        assert_eq!(reduction.window, 10, "never above the new window");
    }

    #[test]
    fn the_first_packet_always_leaves_and_nothing_delivered_lets_nothing_go() {
        let mut reduction = Proportional::new(20);
        reduction.on_ack(1, 19, 0.5, false);
        assert_eq!(reduction.window, 20);
        reduction.sent = 1;
        reduction.on_ack(0, 20, 0.5, false);
        assert_eq!(reduction.window, 20);
        reduction.on_ack(1, 19, 0.5, false);
        assert_eq!(reduction.window, 19);
    }

    #[test]
    fn an_acknowledgement_that_delivers_nothing_keeps_the_flight_as_it_is() {
        let mut reduction = Proportional::new(20);
        reduction.on_ack(0, 20, 10.0, false);
        assert_eq!(reduction.window, 20);
    }

    #[test]
    fn the_round_ends_with_what_was_in_flight() {
        let round = CutRound::new(30, None);
        assert!(!round.is_over(29) && round.is_over(30));
    }
}
