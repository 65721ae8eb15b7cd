//! Windows.

mod counters;
mod cpu;
pub(crate) mod files;
mod machine;
mod memory;
mod process;
mod rest;
mod signals;
mod terminal;
mod time;
mod uses;
mod volumes;

use std::io;

pub(crate) use counters::{attributes, disk_counters, extents, usage_of_process, usage_of_thread};
pub(crate) use cpu::{add_nice, allowed_cpus, pin_to_cpus, run_only_when_idle};
pub(crate) use files::{
    advise_unneeded, connect, file_system, is_of_memory, link_status, make_private_folder,
    may_be_open_elsewhere, open_alone, open_folder, path_of, private_options, public_options,
    random_bytes, remove_abandoned_socket, reserve, status, status_of, sync_everything,
    sync_file_system, sync_folder, take_after, takes_no_new_file, unnamed,
};
pub(crate) use machine::{host_name, kernel_release, machine};
pub(crate) use memory::{
    available_memory_bytes, limits_of_addresses, lock_memory, page_bytes, stack_limit,
    total_memory_bytes, unlock_memory,
};
pub(crate) use process::{
    call_it, close, interrupt, open_files_limit, open_globally, raise_open_files_limit,
    set_thread_name, shell, standard_error_for_program, thread_id, user,
};
pub(crate) use rest::{outlast, wait_while, wake_all};
pub(crate) use signals::{
    ACCOUNT, CONTINUE, Listened, SignalStream, end_on_second, flag_on, flag_until_dropped, hear,
    hold_signals, let_large_writes_fail, let_signals_through, send_signal, set_held_signals,
    signal_name, signals_that_end,
};
pub(crate) use terminal::{
    Stream, draws, shows_unicode, standard_output_was_closed, takes_escapes, window_size,
};
pub(crate) use time::{clock_ns, monotonic_ns, utc_offset_s};
pub(crate) use uses::{Uses, is_harmless_character_device, shows_text};

/// The result of a call that returns 0 on failure.
fn done(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A text for Windows: UTF-16 with a zero at its end.
fn wide(text: &std::ffi::OsStr) -> Vec<u16> {
    use std::os::windows::ffi::OsStrExt;
    text.encode_wide().chain([0]).collect()
}
