//! See `sysfs` in `src/direct_bodies.rs`.
#![no_main]

#[path = "../src/direct_bodies.rs"]
mod direct_bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| direct_bodies::sysfs(data));
