//! See `verify_block` in `src/states.rs`.
#![no_main]

#[path = "../src/states.rs"]
mod states;

libfuzzer_sys::fuzz_target!(|data: &[u8]| states::verify_block(data));
