//! How DECN's units carry a difference of rates: twelve bits, four in each of three packets.
//!
//! A difference of d units of rate is the number d + 2048: its first bit is one unless d is negative,
//! and numbers compare as the differences do. The packet that leaves first carries the highest bits, so
//! two differences are told apart at the first four bits in which they differ, and a switch can write
//! the smaller of the carried difference and its own without having seen the rest.

/// Packets of a unit.
pub const PACKETS: u8 = 3;

/// The largest difference, in units of rate, of either sign; beyond, it saturates.
pub const LARGEST: i16 = 2047;

/// What packets carry when they leave the sender: the four bits of the largest difference.
pub const UNTOUCHED: u8 = 0xf;

const BIAS: i16 = LARGEST + 1;
const NIBBLE_BITS: u32 = 4;

/// A difference of rates, in units of rate from -[`LARGEST`] to [`LARGEST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference(i16);

impl Difference {
    /// This many units of rate, rounded down to whole ones: to follow it never exceeds what was offered.
    pub fn new(units: f64) -> Difference {
        let largest = f64::from(LARGEST);
        Difference(libm::floor(units).clamp(-largest, largest) as i16)
    }

    /// In units of rate.
    pub fn units(self) -> i16 {
        self.0
    }

    /// The four bits that a unit's packet carries, packets numbered from zero.
    pub fn nibble(self, packet: u8) -> u8 {
        let code = (self.0 + BIAS) as u16;
        let shift = NIBBLE_BITS * u32::from(PACKETS - 1 - packet);
        (code >> shift) as u8 & UNTOUCHED
    }

    /// What three packets in order carried; none if no sender or switch writes that.
    pub fn from_nibbles(nibbles: [u8; PACKETS as usize]) -> Option<Difference> {
        let code = nibbles
            .iter()
            .fold(0, |code, &nibble| code << NIBBLE_BITS | i16::from(nibble));
        (1..=BIAS + LARGEST)
            .contains(&code)
            .then_some(Difference(code - BIAS))
    }
}

/// A unit that passes a switch, which lowers it to its own difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    own: Difference,
    passed: u8,
    smaller: Smaller,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Smaller {
    Undecided,
    Own,
    Carried,
}

impl Passing {
    /// A unit whose first packet is here; `own` stands for all three.
    pub fn new(own: Difference) -> Passing {
        Passing {
            own,
            passed: 0,
            smaller: Smaller::Undecided,
        }
    }

    /// What the unit's next packet carries from here on.
    pub fn pass(&mut self, carried: u8) -> u8 {
        let own = self.own.nibble(self.passed);
        self.passed += 1;
        if self.smaller == Smaller::Undecided && own != carried {
            self.smaller = if own < carried {
                Smaller::Own
            } else {
                Smaller::Carried
            };
        }
        match self.smaller {
            Smaller::Own => own,
            Smaller::Undecided | Smaller::Carried => carried,
        }
    }

    /// Whether all of its packets are through.
    pub fn is_over(&self) -> bool {
        self.passed == PACKETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn nibbles(difference: Difference) -> [u8; 3] {
        [0, 1, 2].map(|packet| difference.nibble(packet))
    }

    #[test]
    fn the_first_bit_is_the_sign_and_zero_is_positive() {
        assert_eq!(nibbles(Difference(0)), [0x8, 0, 0]);
        assert_eq!(nibbles(Difference(1)), [0x8, 0, 1]);
        assert_eq!(nibbles(Difference(-1)), [0x7, 0xf, 0xf]);
        assert_eq!(nibbles(Difference(0x123)), [0x9, 2, 3]);
        assert_eq!(nibbles(Difference(LARGEST)), [UNTOUCHED; 3]);
        assert_eq!(nibbles(Difference(-LARGEST)), [0, 0, 1]);
        assert_eq!(Difference::from_nibbles([0, 0, 0]), None);
    }

    #[test]
    fn differences_round_down_and_saturate() {
        let units = |value: f64| Difference::new(value).units();
        assert_eq!((units(1.9), units(-0.1), units(-2.0)), (1, -1, -2));
        assert_eq!(
            (units(2047.9), units(2048.0), units(1e30)),
            (2047, 2047, 2047)
        );
        assert_eq!(
            (units(-2047.0), units(-2047.5), units(-1e30)),
            (-2047, -2047, -2047)
        );
    }

    #[test]
    fn the_first_four_bits_that_differ_decide() {
        // 0x912 passes 0x8ff: own from the first packet on, though later bits of it are larger.
        let mut passing = Passing::new(Difference(0xff));
        assert_eq!(
            [9, 1, 2].map(|carried| passing.pass(carried)),
            [8, 0xf, 0xf]
        );
        assert!(passing.is_over());
        // 0x812 passes 0x840: the carried one, though its last bits are larger.
        let mut passing = Passing::new(Difference(0x40));
        assert_eq!([8, 1, 2].map(|carried| passing.pass(carried)), [8, 1, 2]);
        // Own is smaller only in the last packet.
        let mut passing = Passing::new(Difference(0x11));
        assert_eq!([8, 1].map(|carried| passing.pass(carried)), [8, 1]);
        assert!(!passing.is_over());
        assert_eq!(passing.pass(2), 1);
    }

    proptest! {
        #[test]
        fn the_smallest_difference_of_the_path_comes_back(
            offered in prop::collection::vec(-2047..=2047_i16, 0..8),
        ) {
            let mut path: Vec<Passing> =
                offered.iter().map(|&units| Passing::new(Difference(units))).collect();
            let carried = [UNTOUCHED; 3].map(|nibble| {
                path.iter_mut().fold(nibble, |nibble, switch| switch.pass(nibble))
            });
            let came = Difference::from_nibbles(carried).expect("a difference").units();
            prop_assert_eq!(came, offered.iter().copied().min().unwrap_or(LARGEST));
        }

        #[test]
        fn numbers_compare_as_differences(a in -2047..=2047_i16, b in -2047..=2047_i16) {
            let (a, b) = (Difference(a), Difference(b));
            prop_assert_eq!(nibbles(a).cmp(&nibbles(b)), a.cmp(&b));
            prop_assert_eq!(Difference::from_nibbles(nibbles(a)), Some(a));
        }

        #[test]
        fn what_is_written_is_never_above_what_is_offered(units in -5000.0..5000.0_f64) {
            let written = f64::from(Difference::new(units).units());
            prop_assert!(written <= units.max(-2047.0));
            prop_assert!(units - written < 1.0 || units >= 2047.0);
        }
    }
}
