//! Linux.

mod blkid;
mod closed;
mod connections;
mod counters;
mod cpu;
mod extents;
mod files;
mod loops;
mod machine;
mod memory;
mod numa;
mod priority;
mod process;
mod rings;
mod uses;
mod zones;

pub(crate) use blkid::blkid_type;
pub(crate) use closed::standard_output_was_closed;
pub(crate) use connections::OpenConnections;
pub(crate) use counters::{clock_ticks_per_second, disk_counters};
pub(crate) use cpu::{allowed_cpus, pin_to_cpus};
pub(crate) use extents::{attributes, extents, places};
pub(crate) use files::{
    advise_unneeded, is_disk, is_disk_at, is_of_memory, is_overlaid, link_unnamed, open_alone,
    open_unnamed, path_of, reserve, sync_file_system, unnamed, zero_range,
};
pub(crate) use machine::{clock_counter_is_trusted, machine};
pub(crate) use memory::{
    allocate_from_one_arena, available_memory_bytes, leave_zeroed_memory_untouched, page_bytes,
    total_memory_bytes,
};
pub(crate) use numa::set_memory_policy;
pub(crate) use priority::{add_nice, run_only_when_idle, set_io_priority};
pub(crate) use process::{
    become_group, become_user, end_with_parent, has_thread, other_clock, outlast, own_path,
    own_program, set_thread_name, set_timer_slack, thread_id, unshare_files, usage_of_process,
    usage_of_thread, wait_while, wake_all,
};
pub(crate) use rings::{io_uring_disabled, is_filtered, try_io_uring, try_libaio};
pub(crate) use uses::{Uses, is_harmless_character_device, shows_text};
pub(crate) use zones::{finish_zone, report_zones, reset_zone, write_all_at};
