//! Display: the text a person would have written, and always the exact value.

use pathweave_units::{Bytes, Rate, Time};
use proptest::prelude::*;

#[test]
fn times() {
    for (picos, text) in [
        (0, "0 ps"),
        (999, "999 ps"),
        (1_000, "1 ns"),
        (1_500_000, "1.5 us"),
        (20_000_000, "20 us"),
        (20_001_000, "20.001 us"),
        (20_000_100, "20000.1 ns"),
        (1_234_567, "1234.567 ns"),
        (200_000_000_000, "200 ms"),
        (1_000_000_000_000, "1 s"),
        (u64::MAX, "18446744073709551.615 ns"),
    ] {
        assert_eq!(Time::from_picos(picos).to_string(), text);
    }
}

#[test]
fn rates() {
    for (bps, text) in [
        (0, "0 bps"),
        (1_500, "1.5 Kbps"),
        (300_000_000, "300 Mbps"),
        (1_000_000_000, "1 Gbps"),
        (2_500_000_000, "2.5 Gbps"),
        (1_600_000_000_000, "1.6 Tbps"),
    ] {
        assert_eq!(Rate::from_bps(bps).to_string(), text);
    }
}

#[test]
fn sizes_are_decimal_unless_binary_is_shorter() {
    for (size, text) in [
        (0, "0 B"),
        (512, "512 B"),
        (1_000, "1 KB"),
        (1_024, "1 KiB"),
        (1_460, "1.46 KB"),
        (2_560, "2.56 KB"),
        (16_000, "16 KB"),
        (64_000, "64 KB"),
        (65_535, "65.535 KB"),
        (65_536, "64 KiB"),
        (1_048_576, "1 MiB"),
        (2_000_000, "2 MB"),
        (512_000_000, "512 MB"),
        (1_073_741_824, "1 GiB"),
        (600_000_000_000, "600 GB"),
    ] {
        assert_eq!(Bytes::new(size).to_string(), text);
    }
}

#[test]
fn padding_applies_to_the_whole_text() {
    assert_eq!(format!("{:>8}|", Time::from_micros(20)), "   20 us|");
    assert_eq!(format!("{:<8}|", Bytes::new(64_000)), "64 KB   |");
    assert_eq!(format!("{:^8}|", Rate::from_gbps(1)), " 1 Gbps |");
}

fn any_size() -> impl Strategy<Value = u64> {
    // Round numbers and powers of two too, which a uniform u64 never is.
    prop_oneof![
        any::<u64>(),
        (0..20_000_u64, 0..16_u32).prop_map(|(n, e)| n.saturating_mul(10_u64.pow(e))),
        (0..20_000_u64, 0..50_u32).prop_map(|(n, e)| n.saturating_mul(1 << e)),
    ]
}

proptest! {
    #[test]
    fn what_is_displayed_parses_to_the_same(value in any_size()) {
        let time = Time::from_picos(value);
        prop_assert_eq!(time.to_string().parse::<Time>(), Ok(time));
        let rate = Rate::from_bps(value);
        prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        let bytes = Bytes::new(value);
        prop_assert_eq!(bytes.to_string().parse::<Bytes>(), Ok(bytes));
    }
}
