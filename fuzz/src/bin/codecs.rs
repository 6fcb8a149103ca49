//! The fuzz target `codecs`: see [`pathweave_fuzz::codecs`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pathweave_fuzz::codecs(input));
