//! The time of one of the system's clocks, as jobs and logs name them.

use rustix::time::ClockId;

/// Time of a clock, in milliseconds (`job_start_clock_id`, `log_alternate_epoch_clock_id`).
pub fn clock_ms(clock: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    let (seconds, ns) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap_or(0) * 1000 + ns.unwrap_or(0) / 1_000_000
}
