#![no_main]

libfuzzer_sys::fuzz_target!(
    init: aerofed_fuzz::stay_in_this_thread(),
    |data: &[u8]| aerofed_fuzz::targets::images(data)
);
