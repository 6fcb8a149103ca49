//! The fuzz target `subflow`: see [`pathweave_fuzz::subflow`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::subflow(input));
