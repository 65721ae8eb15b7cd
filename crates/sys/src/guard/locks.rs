//! Locks by which other programs say that they use a file or device: those of fcntl(2), which
//! belong to a process or to an open file, as qemu, libvirt and many databases take them.
//!
//! Locks of flock(2) are not looked for: who holds one may be flock(1) or `udevadm lock`, which
//! started this program to write there.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{Guard, Reason, WriteRefusal};
use crate::files::{status, without_waiting};
use crate::stack::DeviceId;
use iosonde_direct::lock::{ByteRange, Conflict, LockKind, conflict};

/// A lock that another program has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignLock {
    /// What it has locked: the file or device requested, or one that shares its bytes.
    pub place: PathBuf,
    /// Its process, if the system says it: locks that belong to open files have none.
    pub process: Option<u32>,
}

impl fmt::Display for ForeignLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in use: ", self.place.display())?;
        match self.process {
            Some(process) => write!(f, "process {process} has locked it"),
            None => write!(f, "another program has locked it"),
        }
    }
}

impl Guard {
    /// The lock of another program on a file, on a device, or on what shares its bytes: a
    /// disk and its partitions, a loop device and what it shows. `None` where there is none,
    /// or nobody can tell.
    pub fn lock_on(&self, path: &Path) -> Option<ForeignLock> {
        let found = status(path).ok()?;
        let mut places = vec![path.to_owned()];
        if found.file_type().is_block_device() {
            places.extend(self.uses.places_beside(DeviceId::from_raw(found.rdev())));
        } else if found.is_file() {
            let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let loops = self.uses.loops_over_file(&resolved, (found.dev(), found.ino()));
            places.extend(loops.iter().map(|name| self.uses.path_of(name).into()));
        } else {
            return None;
        }
        places.into_iter().find_map(lock_at)
    }

    /// Nobody else has a lock on `path`, as [`Guard::lock_on`] sees it.
    ///
    /// # Errors
    /// Somebody has.
    pub fn is_unlocked(&self, path: &Path) -> Result<(), WriteRefusal> {
        match self.lock_on(path) {
            None => Ok(()),
            Some(lock) => Err(WriteRefusal { path: path.to_owned(), reason: Reason::Locked(lock) }),
        }
    }
}

fn lock_at(place: PathBuf) -> Option<ForeignLock> {
    let Conflict { process, .. } = conflict_at(&place).ok()??;
    Some(ForeignLock { place, process })
}

/// Any lock is in the way of one that nobody shares, of all bytes.
fn conflict_at(place: &Path) -> io::Result<Option<Conflict>> {
    let open = |options: &mut std::fs::OpenOptions| without_waiting(options).open(place);
    let file: File = match open(File::options().read(true)) {
        // It may be written to, and not read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open(File::options().write(true))?
        }
        opened => opened?,
    };
    Ok(conflict(&file, LockKind::Exclusive, ByteRange::WHOLE)?)
}
