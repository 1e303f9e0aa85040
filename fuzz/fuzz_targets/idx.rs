#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| aerofed_fuzz::targets::idx(data));
