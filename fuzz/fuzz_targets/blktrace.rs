//! See `blktrace` in `src/recordings.rs`.
#![no_main]

#[path = "../src/recordings.rs"]
mod recordings;

libfuzzer_sys::fuzz_target!(|data: &[u8]| recordings::blktrace(data));
