use super::*;
use crate::Value;
use crate::{PathState, find};
use proptest::prelude::*;
use std::string::ToString;
use std::vec::Vec;

const R: SubflowId = SubflowId(0);

/// A flow with 10 packets of 1500 bytes in 120 us: 1 Gbps at first, 12 us between packets.
struct Flow {
    controller: Box<dyn Controller>,
    paths: [Path; 1],
}

impl Flow {
    fn new(pace: &str) -> Flow {
        Flow::with(&[("pace".to_string(), Value::Text(pace.to_string()))])
    }

    fn with(given: &[(std::string::String, Value)]) -> Flow {
        let entry = find("decn").expect("in the registry");
        let parameters = entry.parameters(given).expect("valid");
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_micros(120);
        path.minimum_rtt = path.smoothed_rtt;
        path.state = PathState::Active;
        let mut controller = (entry.build)(&parameters);
        let mut paths = [path];
        controller.on_subflow(&mut Paths::new(&mut paths), R, Change::Opened);
        Flow { controller, paths }
    }

    /// A new packet leaves; what it carries: nothing outside of a unit, else whether it is the first.
    fn send(&mut self, micros: u64) -> Option<bool> {
        self.paths[0].sent += 1;
        self.send_again(micros)
    }

    fn send_again(&mut self, micros: u64) -> Option<bool> {
        let paths = Paths::new(&mut self.paths);
        match self
            .controller
            .on_send(&paths, R, Time::from_micros(micros))
        {
            Feedback::Decn { first, in_unit, .. } => in_unit.then_some(first),
            _ => panic!("another scheme's field"),
        }
    }

    fn ack(&mut self, micros: u64, acked: u64, feedback: Feedback) {
        self.paths[0].acked = acked;
        let ack = Ack {
            now: Time::from_micros(micros),
            packets: 1,
            ce: 0,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback,
        };
        self.controller
            .on_ack(&mut Paths::new(&mut self.paths), R, &ack);
    }

    /// A unit's packets, acknowledged one after another from `acked` on.
    fn ack_unit(&mut self, micros: u64, acked: u64, units: f64) {
        let difference = Difference::new(units);
        for packet in 0..PACKETS {
            let field = carried(difference.nibble(packet), packet == 0);
            self.ack(micros, acked + u64::from(packet), field);
        }
    }

    fn lose(&mut self, loss: Loss, micros: u64) {
        let now = Time::from_micros(micros);
        self.controller
            .on_loss(&mut Paths::new(&mut self.paths), R, loss, now);
    }

    fn mbps(&self) -> u64 {
        self.paths[0].pacing_rate.expect("paced").as_bps() / 1_000_000
    }
}

fn carried(nibble: u8, first: bool) -> Feedback {
    Feedback::Decn {
        nibble,
        first,
        in_unit: true,
    }
}

/// Sends packet 1 at zero and a unit, packets 2 to 4, as soon as it may: at 212 us.
fn with_unit() -> Flow {
    let mut flow = Flow::new("stable");
    assert_eq!(flow.send(0), None);
    assert_eq!(flow.send(212), Some(true));
    assert_eq!((flow.send(213), flow.send(214)), (Some(false), Some(false)));
    flow
}

#[test]
fn the_rate_starts_as_the_initial_window_per_rtt() {
    assert_eq!(Flow::new("stable").mbps(), 1000);
}

#[test]
fn a_whole_unit_changes_the_rate_by_what_it_brings() {
    let mut flow = with_unit();
    flow.ack(300, 1, outside());
    flow.ack_unit(320, 2, -400.0);
    assert_eq!(flow.mbps(), 600);
    // Two RTTs of 600 Mbps.
    assert!((flow.paths[0].window - 12.0).abs() < 1e-9);
}

#[test]
fn the_size_of_a_unit_can_be_given() {
    let mut flow = Flow::with(&[("unit".to_string(), Value::Number(4.0))]);
    assert_eq!(flow.send(0), Some(true));
    assert_eq!((flow.send(12), flow.send(24)), (Some(false), Some(false)));
    // Nothing had been measured when it left.
    flow.ack_unit(140, 1, 100.0);
    assert_eq!(flow.mbps(), 400);
}

#[test]
fn a_unit_that_arrives_incomplete_makes_room_for_the_next() {
    let mut flow = with_unit();
    flow.ack(300, 2, carried(Difference::new(100.0).nibble(0), true));
    assert_eq!(flow.send(301), None, "one unit at a time");
    // Its second packet came without its nibble: it never will be complete.
    flow.ack(302, 3, outside());
    assert_eq!(flow.send(304), Some(true));
    assert_eq!(flow.mbps(), 1000);
}

#[test]
fn before_the_first_rtt_nothing_is_set() {
    let entry = find("decn").expect("in the registry");
    let mut controller = (entry.build)(&entry.defaults());
    let mut paths = [Path::new(10.0, 2.0, f64::INFINITY)];
    let mut all = Paths::new(&mut paths);
    controller.on_subflow(&mut all, R, Change::Opened);
    controller.on_loss(&mut all, R, Loss::FastRetransmit, Time::ZERO);
    assert_eq!((all[R].window, all[R].pacing_rate), (10.0, None));
    controller.on_loss(&mut all, R, Loss::Timeout, Time::ZERO);
    assert_eq!((all[R].window, all[R].pacing_rate), (1.0, None));
}

#[test]
fn the_least_is_a_packet_per_rtt_and_follows_the_rtt() {
    let mut flow = with_unit();
    flow.ack_unit(320, 2, -2047.0);
    assert_eq!(flow.mbps(), 100);
    flow.paths[0].smoothed_rtt = Time::from_micros(240);
    flow.ack(400, 5, outside());
    assert_eq!(flow.mbps(), 50);
}

#[test]
fn a_unit_waits_for_two_periods_and_a_packet_after_a_change() {
    let mut flow = Flow::new("stable");
    assert_eq!((flow.send(0), flow.send(211)), (None, None));
    assert_eq!(flow.send(212), Some(true));
    assert_eq!((flow.send(213), flow.send(214)), (Some(false), Some(false)));
    // One at a time.
    assert_eq!(flow.send(900), None);
    flow.ack_unit(1000, 3, 500.0);
    // The first packet at the new rate leaves later; 8 us a packet at 1.5 Gbps.
    assert_eq!(flow.send(1010), None);
    assert_eq!((flow.send(1217), flow.send(1218)), (None, Some(true)));
}

#[test]
fn two_periods_begin_with_the_first_packet() {
    let mut flow = Flow::new("stable");
    assert_eq!(flow.send(100), None);
    assert_eq!((flow.send(311), flow.send(312)), (None, Some(true)));
}

/// A flow of 1 Gbps for 240 us, whose two units leave with packets 1 and 10: nothing has been measured when the first one
/// leaves, and 1 Gbps when the second one does.
fn with_two_units() -> Flow {
    let mut flow = Flow::new("mean");
    let sent: Vec<Option<bool>> = (0..20).map(|packet| flow.send(12 * packet)).collect();
    let starts = |packet: &usize| sent[*packet] == Some(true);
    assert_eq!((0..20).filter(starts).collect::<Vec<_>>(), [0, 9, 18]);
    flow
}

#[test]
fn a_difference_is_added_to_the_rate_that_it_was_measured_against() {
    let mut flow = with_two_units();
    flow.ack_unit(240, 1, 500.0);
    assert_eq!(flow.mbps(), 500);
    for packet in 4..10 {
        flow.ack(240 + packet, packet, outside());
    }
    // Measured while R was 1 Gbps: it is not added to the 500 Mbps that R is now.
    flow.ack_unit(260, 10, -500.0);
    assert_eq!(flow.mbps(), 500);
}

#[test]
fn the_paper_s_pace_is_a_unit_every_period() {
    let mut flow = Flow::new("paper");
    assert_eq!(flow.send(0), Some(true));
    assert_eq!((flow.send(10), flow.send(20)), (Some(false), Some(false)));
    assert_eq!((flow.send(99), flow.send(100)), (None, Some(true)));
    assert_eq!((flow.send(110), flow.send(120)), (Some(false), Some(false)));
    // Both differences are added.
    flow.ack_unit(130, 1, 100.0);
    flow.ack(140, 4, outside());
    flow.ack_unit(150, 5, 100.0);
    assert_eq!(flow.mbps(), 1200);
}

#[test]
fn packets_sent_again_belong_to_no_unit() {
    let mut flow = Flow::new("stable");
    assert_eq!(flow.send(0), None);
    assert_eq!(flow.send_again(300), None);
    assert_eq!((flow.send(301), flow.send_again(302)), (Some(true), None));
    // The unit is broken, and the next may start.
    assert_eq!(flow.send(303), Some(true));
}

#[test]
fn losses_cut_and_a_unit_on_its_way_overrides() {
    let mut flow = with_unit();
    flow.lose(Loss::FastRetransmit, 300);
    assert_eq!(flow.mbps(), 500);
    assert!((flow.paths[0].window - 10.0).abs() < 1e-9);
    flow.ack_unit(320, 2, -100.0);
    assert_eq!(flow.mbps(), 900);
}

#[test]
fn a_timeout_leaves_a_packet_per_rtt_and_no_unit() {
    let mut flow = with_unit();
    flow.lose(Loss::Timeout, 300);
    assert_eq!((flow.mbps(), flow.paths[0].window), (100, 1.0));
    flow.ack_unit(320, 2, 2047.0);
    assert_eq!(flow.mbps(), 100);
}

proptest! {
    /// A few switches, a path that loses and reorders, and a receiver that acknowledges in order.
    #[test]
    fn broken_units_change_nothing(
        offered in prop::collection::vec(-900..=2047_i16, 1..4),
        order in Just([1_u64, 2, 3, 4, 5]).prop_shuffle(),
        arrive in prop::array::uniform5(prop::bool::weighted(0.9)),
        acks in prop::array::uniform5(prop::bool::weighted(0.9)),
        shuffled in any::<bool>(),
    ) {
        let mut flow = with_unit();
        prop_assert_eq!(flow.send(215), None);
        let mut path: Vec<Passing> = offered
            .iter()
            .map(|&units| Passing::new(Difference::new(f64::from(units))))
            .collect();
        let mut field = |number: u64| match number {
            2..=4 => {
                let nibble = path.iter_mut().fold(UNTOUCHED, |nibble, at| at.pass(nibble));
                carried(nibble, number == 2)
            }
            _ => outside(),
        };
        // Packets pass the switches in order and are shuffled behind them.
        let fields: Vec<Feedback> = (1..=5).map(&mut field).collect();
        let order = if shuffled { order } else { [1, 2, 3, 4, 5] };
        let (mut there, mut next) = ([false; 5], 1);
        for number in order {
            let index = number as usize - 1;
            if !arrive[index] {
                continue;
            }
            there[index] = true;
            while next <= 5 && there[next as usize - 1] {
                next += 1;
            }
            if acks[index] {
                flow.ack(400, next - 1, fields[index]);
            }
        }
        let smallest = *offered.iter().min().expect("a switch");
        let rate = flow.paths[0].pacing_rate.expect("paced");
        let followed = Rate::from_bps((1e9 + 1e6 * f64::from(smallest)) as u64);
        prop_assert!(rate == Rate::from_gbps(1) || rate == followed, "{rate}");
        let whole = order == [1, 2, 3, 4, 5] && arrive[..4] == [true; 4] && acks[1..4] == [true; 3];
        if whole {
            prop_assert_eq!(rate, followed);
        }
    }
}
