//! open(2).

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::OpenOptions;
use crate::lock::{LockError, LockKind, Patience, lock};

/// One attempt at opening `path` with exactly these options.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let locks = options.exclusive && !options.create;
    // Nothing is cut off a file that another has locked.
    let cut_later = locks && options.truncate;
    let first = if cut_later { &options.clone().truncate(false) } else { options };
    let descriptor = rustix::fs::open(path, flags(first), Mode::from_raw_mode(options.mode))?;
    let file = File::from(descriptor);
    // O_EXCL without O_CREAT holds a block device, and does nothing for a file.
    if locks && file.metadata()?.is_file() {
        lock(&file, LockKind::Exclusive, Patience::Try).map_err(|error| match error {
            // One kind of error on all systems.
            LockError::Held => io::Error::new(io::ErrorKind::ResourceBusy, error),
            error => error.into(),
        })?;
    }
    if cut_later {
        file.set_len(0)?;
    }
    Ok(file)
}

fn flags(options: &OpenOptions) -> OFlags {
    let access = match (options.read, options.write || options.append) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    // The numbers are libc's: rustix 1.1 gives DSYNC the value of O_SYNC.
    let mut flags = access | libc::O_CLOEXEC | libc::O_NOCTTY;
    for (requested, flag) in [
        (options.create, libc::O_CREAT),
        (options.exclusive, libc::O_EXCL),
        (options.append, libc::O_APPEND),
        (options.truncate, libc::O_TRUNC),
        (options.direct, libc::O_DIRECT),
        (options.data_sync, libc::O_DSYNC),
        (options.sync, libc::O_SYNC),
        (options.keep_access_time, libc::O_NOATIME),
    ] {
        if requested {
            flags |= flag;
        }
    }
    // A set of bits; no sign is meant.
    OFlags::from_bits_retain(flags as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sync_and_sync_are_two_things() {
        let data = flags(&OpenOptions::new().write(true).dsync(true)).bits();
        let all = flags(&OpenOptions::new().write(true).sync(true)).bits();
        assert_eq!(data & libc::O_SYNC as u32, libc::O_DSYNC as u32);
        assert_eq!(all & libc::O_SYNC as u32, libc::O_SYNC as u32);
        assert_ne!(data, all);
    }

    #[test]
    fn appending_opens_for_writing() {
        let bits = flags(&OpenOptions::new().append(true)).bits();
        assert_eq!(bits & libc::O_ACCMODE as u32, libc::O_WRONLY as u32);
        assert_ne!(bits & libc::O_APPEND as u32, 0);
    }
}
