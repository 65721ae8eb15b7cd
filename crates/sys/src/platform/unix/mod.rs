//! What all Unix systems have alike.

mod files;
mod limits;
mod process;
mod signals;
mod sockets;
mod terminal;
mod time;
mod usage;
mod whole_file;

pub use files::{
    BorrowedHandle, FileExt, OwnedHandle, borrow, make_link, owned_handle, without_waiting,
};
pub(crate) use files::{
    connect, file_system, link_status, make_private_folder, open_folder, private_options,
    public_options, random_bytes, status, status_of, sync_everything, unnamed_by_name,
};
pub(crate) use limits::{
    limits_of_addresses, open_files_limit, raise_open_files_limit, stack_limit,
};
pub(crate) use process::{
    call_it, close, hold_signals, host_name, interrupt, kernel_release, let_signals_through,
    lock_memory, open_globally, send_signal, set_held_signals, shell, standard_error_for_program,
    unlock_memory, user,
};
pub(crate) use signals::{
    ACCOUNT, CONTINUE, Listened, SignalStream, end_on_second, flag_on, flag_until_dropped, hear,
    let_large_writes_fail, signal_name, signals_that_end,
};
pub(crate) use sockets::remove_abandoned_socket;
pub(crate) use terminal::{Stream, draws, shows_unicode, takes_escapes, window_size};
pub(crate) use time::{clock_ns, monotonic_ns, utc_offset_s};
pub(crate) use usage::usage;
pub(crate) use whole_file::{may_be_open_elsewhere, sync_folder, take_after, takes_no_new_file};
