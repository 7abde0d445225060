//! See `fuzz::socket`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::check_socket(data));
