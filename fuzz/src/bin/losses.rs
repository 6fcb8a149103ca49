//! The fuzz target `losses`: see [`pathweave_fuzz::losses`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::losses(input));
