//! The fuzz target `scenario`: see [`pathweave_fuzz::scenario`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::scenario(input));
