//! What a few header bits carry: DECN's differences and MLCP's levels and classes.

use pathweave_control::decn::{Difference, PACKETS, Passing, UNTOUCHED};
use pathweave_control::mlcp_coding::{HIGHEST_LEVEL, LONGEST_CLASS, level, load, rtt_class};
use pathweave_units::Time;

/// Codes and decodes numbers made of bytes.
///
/// # Panics
/// When a number does not come back as the coding says.
pub fn codecs(input: &[u8]) {
    for bytes in input.chunks_exact(8) {
        let bytes = <[u8; 8]>::try_from(bytes).expect("chunks of eight");
        let number = f64::from_le_bytes(bytes);
        mlcp(number, u64::from_le_bytes(bytes));
        decn(number, bytes);
    }
}

fn mlcp(number: f64, picoseconds: u64) {
    let code = level(number);
    assert!(code <= HIGHEST_LEVEL);
    // A level is taken for the upper end of its range: no load of it is above.
    if (0.0..1.5).contains(&number) {
        assert!(
            load(code) >= number && load(code) <= number + 0.1 + 1e-12,
            "{number}"
        );
    }
    let (rtt, t_p) = (
        Time::from_picos(picoseconds >> 32),
        Time::from_picos(picoseconds & 0xffff_ffff),
    );
    let class = rtt_class(rtt, t_p);
    assert!(class <= LONGEST_CLASS);
    let reaches = |class: u8| rtt >= t_p.saturating_mul(1 << class);
    assert!(
        class == 0 || reaches(class - 1),
        "{rtt} in {class} of {t_p}"
    );
    assert!(
        class == LONGEST_CLASS || !reaches(class),
        "{rtt} in {class} of {t_p}"
    );
}

/// A unit passes switches, each with a difference of its own: what arrives is the smallest.
fn decn(number: f64, bytes: [u8; 8]) {
    let own = Difference::new(number);
    let nibbles = |difference: Difference| [0, 1, 2].map(|packet| difference.nibble(packet));
    assert_eq!(Difference::from_nibbles(nibbles(own)), Some(own));
    if number.abs() < 2047.0 {
        // Just below a whole number the difference of 1 is rounded up to it.
        assert!(f64::from(own.units()) <= number && number - f64::from(own.units()) <= 1.0);
    }
    let arbitrary = [bytes[0], bytes[1], bytes[2]].map(|byte| byte & UNTOUCHED);
    if let Some(difference) = Difference::from_nibbles(arbitrary) {
        assert_eq!(nibbles(difference), arbitrary);
    }
    let mut carried = [UNTOUCHED; PACKETS as usize];
    let mut smallest = Difference::new(f64::INFINITY);
    for pair in bytes.chunks_exact(2) {
        let units = f64::from(i16::from_le_bytes([pair[0], pair[1]]));
        let switch = Difference::new(units);
        smallest = smallest.min(switch);
        let mut passing = Passing::new(switch);
        carried = carried.map(|nibble| passing.pass(nibble));
        assert!(passing.is_over());
        assert_eq!(Difference::from_nibbles(carried), Some(smallest));
    }
}
