//! getrlimit(2).

use rustix::process::{Resource, getrlimit};

/// The limit of the main thread's stack, in bytes; `None` without one.
pub(crate) fn stack_limit() -> Option<u64> {
    getrlimit(Resource::Stack).current
}

/// Limits of addresses in bytes, each with the line of /proc/self/status that says how much of it is taken.
pub(crate) fn limits_of_addresses() -> Vec<(u64, &'static str)> {
    [(Resource::As, "VmSize:"), (Resource::Data, "VmData:")]
        .into_iter()
        .filter_map(|(limit, used)| Some((getrlimit(limit).current?, used)))
        .collect()
}
