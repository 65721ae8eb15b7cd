//! getrlimit(2).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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

/// The limit of open files, now and at most.
pub(crate) fn open_files_limit() -> Option<(u64, Option<u64>)> {
    let limit = getrlimit(Resource::Nofile);
    limit.current.map(|current| (current, limit.maximum))
}

pub(crate) fn raise_open_files_limit() -> std::io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
