//! Linux.

mod blkid;
mod closed;
mod cpu;
mod extents;
mod loops;
mod memory;
mod numa;
mod priority;
mod process;
mod rings;
mod usage;
mod uses;
mod zones;

pub(crate) use blkid::blkid_type;
pub(crate) use closed::standard_output_was_closed;
pub(crate) use cpu::{allowed_cpus, pin_to_cpus};
pub(crate) use extents::{attributes, extents, places};
pub(crate) use memory::{
    allocate_from_one_arena, leave_zeroed_memory_untouched, lock_memory, meminfo_text,
    total_memory_bytes, unlock_memory,
};
pub(crate) use numa::set_memory_policy;
pub(crate) use priority::{add_nice, run_only_when_idle, set_io_priority};
pub(crate) use process::{
    become_group, become_user, close, hold_signals, let_signals_through, outlast, set_held_signals,
    set_thread_name, set_timer_slack, thread_id, unshare_files, wait_while, wake_all,
};
pub(crate) use rings::{
    host_name, io_uring_disabled, is_filtered, kernel_release, try_io_uring, try_libaio,
};
pub(crate) use usage::{usage_of_process, usage_of_thread};
pub(crate) use uses::{HARMLESS_CHARACTER_DEVICES, Uses};
pub(crate) use zones::{finish_zone, report_zones, reset_zone, write_all_at};
