//! See `fuzz::request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::check_request(data));
