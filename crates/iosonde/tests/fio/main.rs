//! Beside fio: recordings of fio 3.42 and runs of the installed fio.

#[path = "../support/mod.rs"]
mod support;

mod differential;
mod exact;
mod mixes;
mod priorities;
mod replay;
mod seed_jobs;
mod seeds;
mod sequences;
mod small_tools;
mod system_calls;
