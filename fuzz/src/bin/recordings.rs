//! The fuzz target `recordings`: see [`pathweave_fuzz::recordings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::recordings(input));
