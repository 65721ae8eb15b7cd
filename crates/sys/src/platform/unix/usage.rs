//! getrusage(2).
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

use crate::counters::Usage;

/// Of the thread or the process: `RUSAGE_THREAD`, `RUSAGE_SELF`.
pub(crate) fn usage(target: libc::c_int) -> io::Result<Usage> {
    let mut answer = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, which the call fills.
    if unsafe { libc::getrusage(target, answer.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all its fields are integers: zeroed above, filled by the call.
    let answer = unsafe { answer.assume_init() };
    Ok(Usage {
        user_ns: nanoseconds(answer.ru_utime),
        system_ns: nanoseconds(answer.ru_stime),
        voluntary_switches: count(answer.ru_nvcsw),
        involuntary_switches: count(answer.ru_nivcsw),
        major_faults: count(answer.ru_majflt),
        minor_faults: count(answer.ru_minflt),
    })
}

fn nanoseconds(time: libc::timeval) -> u64 {
    #[allow(clippy::useless_conversion)] // 32 bits on small machines.
    let (seconds, micros) = (i64::from(time.tv_sec), i64::from(time.tv_usec));
    seconds.unsigned_abs() * 1_000_000_000 + micros.unsigned_abs() * 1_000
}

#[allow(clippy::useless_conversion)] // 32 bits on small machines.
fn count(value: libc::c_long) -> u64 {
    // The kernel counts up from zero.
    i64::from(value).unsigned_abs()
}
