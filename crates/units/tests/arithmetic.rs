//! Arithmetic and conversions.

use pathweave_units::{Bytes, Rate, Time};
use proptest::prelude::*;

#[test]
fn constructors_agree() {
    assert_eq!(Time::from_nanos(1), Time::from_picos(1_000));
    assert_eq!(Time::from_micros(1), Time::from_nanos(1_000));
    assert_eq!(Time::from_millis(1), Time::from_micros(1_000));
    assert_eq!(Time::from_secs(1), Time::from_millis(1_000));
    assert_eq!(Rate::from_mbps(1), Rate::from_bps(1_000_000));
    assert_eq!(Rate::from_gbps(1), Rate::from_mbps(1_000));
    assert_eq!(
        (Time::default(), Rate::default(), Bytes::default()),
        (Time::ZERO, Rate::ZERO, Bytes::ZERO)
    );
    assert_eq!(
        (Time::MAX.as_picos(), Bytes::MAX.get()),
        (u64::MAX, u64::MAX)
    );
}

#[test]
fn times_add_up() {
    let (long, short) = (Time::from_micros(30), Time::from_micros(20));
    assert_eq!(long + short, Time::from_micros(50));
    assert_eq!(long - short, Time::from_micros(10));
    assert_eq!(short * 3, Time::from_micros(60));
    assert_eq!(long / 4, Time::from_picos(7_500_000));
    let mut time = long;
    time += short;
    assert_eq!(time, Time::from_micros(50));
    time -= long;
    assert_eq!(time, short);
    let mut bytes = Bytes::new(1460) + Bytes::new(40);
    bytes += Bytes::new(500);
    assert_eq!(bytes, Bytes::new(2000));
}

#[test]
fn times_saturate_where_that_is_asked_for() {
    let (long, short) = (Time::from_micros(30), Time::from_micros(20));
    assert_eq!(long.saturating_sub(short), Time::from_micros(10));
    assert_eq!(short.saturating_sub(long), Time::ZERO);
    assert_eq!(long.saturating_add(short), Time::from_micros(50));
    assert_eq!(Time::MAX.saturating_add(short), Time::MAX);
    assert_eq!(short.saturating_mul(2), Time::from_micros(40));
    assert_eq!(Time::MAX.saturating_mul(2), Time::MAX);
}

#[test]
fn seconds_as_floating_point_are_the_nearest() {
    assert_eq!(Time::from_millis(25).as_secs_f64(), 0.025);
    assert_eq!(Time::from_micros(250).as_secs_f64(), 0.00025);
    assert_eq!(Time::from_secs_f64(1.5), Time::from_millis(1_500));
    assert_eq!(Time::from_secs_f64(0.4e-12), Time::ZERO);
    assert_eq!(Time::from_secs_f64(0.6e-12), Time::from_picos(1));
    assert_eq!(Time::from_secs_f64(0.5e-12), Time::from_picos(1));
    assert_eq!(Time::from_secs_f64(1.4e-12), Time::from_picos(1));
}

#[test]
fn seconds_that_are_no_time_give_the_nearest_one() {
    assert_eq!(Time::from_secs_f64(-1.0), Time::ZERO);
    assert_eq!(Time::from_secs_f64(f64::NEG_INFINITY), Time::ZERO);
    assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
    assert_eq!(Time::from_secs_f64(f64::INFINITY), Time::MAX);
    assert_eq!(Time::from_secs_f64(1e9), Time::MAX);
}

#[test]
fn transmission_times() {
    assert_eq!(
        Rate::from_gbps(100).time_for(Bytes::new(1)),
        Time::from_picos(80)
    );
    assert_eq!(
        Rate::from_gbps(1).time_for(Bytes::new(1500)),
        Time::from_micros(12)
    );
    assert_eq!(
        Rate::from_bps(3).time_for(Bytes::new(1)),
        Time::from_picos(2_666_666_666_666)
    );
    assert_eq!(Rate::from_bps(1).time_for(Bytes::MAX), Time::MAX);
    assert_eq!(Rate::from_gbps(1).time_for(Bytes::ZERO), Time::ZERO);
}

#[test]
#[should_panic]
fn nothing_is_ever_sent_at_no_rate() {
    Rate::ZERO.time_for(Bytes::new(1));
}

proptest! {
    #[test]
    fn seconds_keep_every_picosecond_of_an_hour(picos in 0..3_600_000_000_000_000_u64) {
        let time = Time::from_picos(picos);
        prop_assert_eq!(Time::from_secs_f64(time.as_secs_f64()), time);
    }

    #[test]
    fn a_transmission_takes_no_longer_than_its_bits_allow(
        bps in 1..2_000_000_000_000_u64,
        size in 0..100_000_u64,
    ) {
        let picos = u128::from(Rate::from_bps(bps).time_for(Bytes::new(size)).as_picos());
        let bits_picos = u128::from(size) * 8_000_000_000_000;
        prop_assert!(picos * u128::from(bps) <= bits_picos);
        prop_assert!((picos + 1) * u128::from(bps) > bits_picos);
    }
}
