//! See `arithmetic` in `src/bodies.rs`.
#![no_main]

#[path = "../src/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::arithmetic(data));
