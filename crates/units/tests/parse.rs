//! Parsing: exact values, and errors that say what would be accepted.

use pathweave_units::{Bytes, Rate, Time, UnitError};
use proptest::prelude::*;

fn time(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Time::as_picos)
}

fn rate(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Rate::as_bps)
}

fn bytes(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Bytes::get)
}

#[test]
fn every_time_unit() {
    for (text, picos) in [
        ("3 ps", 3),
        ("3 ns", 3_000),
        ("3 us", 3_000_000),
        ("3 ms", 3_000_000_000),
        ("3 s", 3_000_000_000_000),
    ] {
        assert_eq!(time(text), Ok(picos));
    }
}

#[test]
fn every_rate_unit() {
    for (text, bps) in [
        ("3 bps", 3),
        ("3 kbps", 3_000),
        ("3 Kbps", 3_000),
        ("3 Mbps", 3_000_000),
        ("3 Gbps", 3_000_000_000),
        ("3 Tbps", 3_000_000_000_000),
    ] {
        assert_eq!(rate(text), Ok(bps));
    }
}

#[test]
fn every_size_unit() {
    for (text, size) in [
        ("3 B", 3),
        ("3 KB", 3_000),
        ("3 MB", 3_000_000),
        ("3 GB", 3_000_000_000),
        ("3 TB", 3_000_000_000_000),
        ("64 KB", 64_000),
        ("64 KiB", 65_536),
        ("3 MiB", 3_145_728),
        ("3 GiB", 3_221_225_472),
    ] {
        assert_eq!(bytes(text), Ok(size));
    }
}

#[test]
fn decimals_are_exact() {
    for (text, picos) in [
        ("1.5 us", 1_500_000),
        ("0.1 ns", 100),
        (".5 us", 500_000),
        ("5. us", 5_000_000),
        ("1.500000000000000000000000 us", 1_500_000),
        ("0.123456789012 s", 123_456_789_012),
        ("18446744.073709551615 s", u64::MAX),
    ] {
        assert_eq!(time(text), Ok(picos), "{text}");
    }
    assert_eq!(bytes("0.5 KiB"), Ok(512));
    assert_eq!(bytes("18446744073709551615 B"), Ok(u64::MAX));
}

#[test]
fn spaces_signs_and_separators() {
    for text in ["20us", " 20 us ", "20   us", "+20 us", "2_0 us", "20\tus"] {
        assert_eq!(time(text), Ok(20_000_000), "{text}");
    }
    assert_eq!(bytes("1_000_000 B"), Ok(1_000_000));
}

#[test]
fn zero_needs_no_unit() {
    for text in ["0", "0.0", ".0", "0.", "00", "0 us", "+0"] {
        assert_eq!(time(text), Ok(0), "{text}");
    }
    assert_eq!(bytes("0").map(Bytes::new), Ok(Bytes::ZERO));
    assert_eq!(rate("0 Gbps").map(Rate::from_bps), Ok(Rate::ZERO));
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, problem) in [
        ("", "it has no number"),
        ("   ", "it has no number"),
        ("us", "it has no number"),
        ("-1 us", "it is negative"),
        ("-0.5us", "it is negative"),
        ("5", "it has no unit"),
        ("1.5", "it has no unit"),
        ("5 parsecs", "\"parsecs\" is not a unit of it"),
        ("0 parsecs", "\"parsecs\" is not a unit of it"),
        ("5 US", "\"US\" is not a unit of it"),
        ("1e3 us", "\"e3 us\" is not a unit of it"),
        ("1 us 5 ns", "\"us 5 ns\" is not a unit of it"),
        (". us", "its number cannot be read"),
        (".", "its number cannot be read"),
        ("_ us", "its number cannot be read"),
        ("+ us", "its number cannot be read"),
        ("+-1 us", "its number cannot be read"),
        ("1-2 us", "its number cannot be read"),
        ("1.2.3 us", "its number cannot be read"),
        ("1.-2 us", "its number cannot be read"),
        (
            "0.0001 ns",
            "it is finer than this quantity's smallest step",
        ),
        ("0.5 ps", "it is finer than this quantity's smallest step"),
        (
            "1.000000000000000001 s",
            "it is finer than this quantity's smallest step",
        ),
        ("1.0000000000000000001 s", "it has too many decimals"),
        ("18446744.073709551616 s", "it is too large"),
        ("18446745 s", "it is too large"),
        (
            "340282366920938463463374607431768211455 s",
            "it is too large",
        ),
        (
            "340282366920938463463374607431768211456 s",
            "it is too large",
        ),
        (
            "340282366920938463463374607431768211455.5 ps",
            "it is too large",
        ),
    ] {
        let error = time(text).expect_err(text);
        let expected = format!(
            "\"{text}\" is not a time: {problem}; write a number and a unit \
             (s, ms, us, ns, ps), for example \"20 us\""
        );
        assert_eq!(error.message(), expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn errors_name_the_quantity_and_its_units() {
    assert_eq!(
        rate("10 Gb/s").unwrap_err().message(),
        "\"10 Gb/s\" is not a rate: \"Gb/s\" is not a unit of it; write a number and a unit \
         (Tbps, Gbps, Mbps, Kbps, kbps, bps), for example \"1 Gbps\""
    );
    assert_eq!(
        bytes("64 kB").unwrap_err().message(),
        "\"64 kB\" is not a size: \"kB\" is not a unit of it; write a number and a unit \
         (TB, GiB, GB, MiB, MB, KiB, KB, B), for example \"64 KB\""
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = (time(&text), rate(&text), bytes(&text));
    }

    #[test]
    fn no_quantity_like_text_makes_it_panic(text in "[-+]?[0-9_.]{0,60} ?(ps|s|TB|KiB|Tbps)?") {
        let _ = (time(&text), rate(&text), bytes(&text));
    }

    #[test]
    fn three_decimals_of_a_unit_are_exact(whole in 0..1_000_000_u64, decimals in 0..1000_u64) {
        prop_assert_eq!(
            time(&format!("{whole}.{decimals:03} us")),
            Ok(whole * 1_000_000 + decimals * 1000)
        );
    }
}
