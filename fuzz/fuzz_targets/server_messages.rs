//! See `server_messages` in `src/host_messages.rs`.
#![no_main]

#[path = "../src/host_messages.rs"]
mod host_messages;

libfuzzer_sys::fuzz_target!(|data: &[u8]| host_messages::server_messages(data));
