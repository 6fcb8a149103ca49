//! The fuzz target `schedule`: see [`pathweave_fuzz::schedule`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::schedule(input));
