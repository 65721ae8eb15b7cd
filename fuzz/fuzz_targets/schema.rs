//! See `schema` in `src/results.rs`.
#![no_main]

#[path = "../src/results.rs"]
mod results;

libfuzzer_sys::fuzz_target!(|data: &[u8]| results::schema(data));
