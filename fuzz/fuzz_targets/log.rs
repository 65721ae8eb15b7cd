//! See `log` in `src/logs.rs`.
#![no_main]

#[path = "../src/logs.rs"]
mod logs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| logs::log(data));
