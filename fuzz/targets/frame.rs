//! See `fuzz::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::check_frame(data));
