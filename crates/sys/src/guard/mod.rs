//! Whether a path may be written to: not where that would destroy what
//! somebody else is using, under whatever name.
//!
//! Names are resolved and device and inode numbers compared, so links such as those
//! in /dev/disk/by-id, other nodes of the same device and other paths to the file of
//! a loop device make no difference. What
//! cannot be seen from here (a mount in another namespace, ZFS) still shows
//! when the device is opened exclusively, which a [`Hold`] does.

mod hold;
mod locks;
mod refusal;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{FileKind, status, status_of};
use crate::platform::{self, Uses};
use crate::stack::DeviceId;

pub use hold::Hold;
use hold::hold;
pub use locks::ForeignLock;
pub use refusal::{InUse, Reason, Use, WriteRefusal};

/// Whether a mounted device may be written to (fio's `allow_mounted_write`).
/// It passes mounts only: swap, volumes and RAIDs are refused in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MountedWrite {
    /// It may not.
    #[default]
    Refuse,
    /// It may: its owner says so.
    Allow,
}

/// The state of the machine, read once, to ask about many paths.
#[derive(Debug)]
pub struct Guard {
    uses: Uses,
    mounted: MountedWrite,
}

/// Whether `path` may be written to, as things are now. To ask about many,
/// make one [`Guard`].
///
/// # Errors
/// If it may not.
pub fn may_write(path: &Path, mounted: MountedWrite) -> Result<Hold, WriteRefusal> {
    Guard::now(mounted).may_write(path)
}

impl Guard {
    /// Look at what is mounted, swapped on, and made of what.
    pub fn now(mounted: MountedWrite) -> Guard {
        Guard { uses: Uses::now(), mounted }
    }

    /// Whether `path` may be written to, or created.
    ///
    /// # Errors
    /// If it may not, or that cannot be found out.
    pub fn may_write(&self, path: &Path) -> Result<Hold, WriteRefusal> {
        self.judge(path).map_err(|reason| WriteRefusal { path: path.to_owned(), reason })
    }

    /// Whether the name `path` may be removed: a file or a directory, that may be
    /// written to as well.
    ///
    /// # Errors
    /// It is a device node, a link to one, or lies among them; or as
    /// [`Guard::may_write`].
    pub fn may_remove(&self, path: &Path) -> Result<Hold, WriteRefusal> {
        let judged = self.judge_name(path).and_then(|()| self.judge(path));
        judged.map_err(|reason| WriteRefusal { path: path.to_owned(), reason })
    }

    fn judge_name(&self, path: &Path) -> Result<(), Reason> {
        let is_file = |kind: FileKind| kind.is_file() || kind.is_dir();
        let leads_to = match status(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.map_err(Reason::Unknown)?.file_type()),
        };
        let place = std::path::absolute(path).map_err(Reason::Unknown)?;
        let folder = place.parent().and_then(|folder| folder.canonicalize().ok());
        let name = folder.zip(place.file_name()).map(|(folder, name)| folder.join(name));
        let is_among_devices = name.is_some_and(|name| self.uses.is_among_devices(&name));
        if leads_to.is_some_and(|kind| !is_file(kind)) || leads_to.is_some() && is_among_devices {
            return Err(Reason::NameOfDevice);
        }
        Ok(())
    }

    /// Whether a report or a log may be written to `path`, or created there. Unlike
    /// the data of a job it may go to a terminal or a pipe, and never to another
    /// device.
    ///
    /// # Errors
    /// If it may not, or that cannot be found out.
    pub fn may_put_output(&self, path: &Path) -> Result<(), WriteRefusal> {
        let judged = match status(path) {
            Ok(found) if found.file_type().is_char_device() => {
                let id = DeviceId::from_raw(found.rdev());
                if platform::shows_text(id) { Ok(()) } else { Err(Reason::CharacterDevice) }
            }
            Ok(found) if found.file_type().is_block_device() => Err(Reason::OutputOnDevice),
            _ => self.judge(path).map(drop),
        };
        judged.map_err(|reason| WriteRefusal { path: path.to_owned(), reason })
    }

    /// Create a file for output, or empty the one that is there.
    ///
    /// # Errors
    /// As [`Guard::may_put_output`]; or the file cannot be created.
    pub fn create_output(&self, path: &Path) -> Result<File, WriteRefusal> {
        self.may_put_output(path)?;
        open_output(path).map_err(|reason| WriteRefusal { path: path.to_owned(), reason })
    }

    fn judge(&self, path: &Path) -> Result<Hold, Reason> {
        let status = match status(path) {
            Ok(status) => status,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.judge_new(path),
            Err(error) => return Err(Reason::Unknown(error)),
        };
        let kind = status.file_type();
        if kind.is_block_device() {
            self.judge_device(path, DeviceId::from_raw(status.rdev()))
        } else if kind.is_char_device() {
            judge_character(DeviceId::from_raw(status.rdev()))
        } else if kind.is_file() {
            self.judge_file(path, (status.dev(), status.ino()))
        } else {
            // Folders and pipes: opening them says what there is to say.
            Ok(Hold::OF_NOTHING)
        }
    }

    fn judge_new(&self, path: &Path) -> Result<Hold, Reason> {
        let destination = destination(path).map_err(Reason::Unknown)?;
        if self.uses.is_among_devices(&destination) {
            return Err(Reason::MissingDevice);
        }
        if let Some(kind) = self.uses.kernel_files(&destination) {
            return Err(Reason::KernelFile(kind));
        }
        Ok(Hold::OF_NOTHING)
    }

    fn judge_file(&self, path: &Path, file: (u64, u64)) -> Result<Hold, Reason> {
        let (path, has_name) = match path.canonicalize() {
            // It is there, and has no name any more: found by its descriptor.
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), false),
            resolved => (resolved.map_err(Reason::Unknown)?, true),
        };
        if self.uses.is_among_devices(&path) {
            return Err(Reason::FileAmongDevices);
        }
        // What has no name any more is known by a link in /proc, and does not lie there.
        if let Some(kind) = self.uses.kernel_files(&path).filter(|_| has_name) {
            return Err(Reason::KernelFile(kind));
        }
        self.first_forbidden(self.uses.of_file(&path, file))?;
        Ok(Hold { devices: self.hold_loops(self.uses.loops_over_file(&path, file))? })
    }

    /// These loop devices for ourselves: one that is mounted where we do not see it,
    /// or part of something, is unavailable. Of one that is known to be mounted, and
    /// may be written to all the same, there is nothing to find out.
    fn hold_loops(&self, loops: Vec<String>) -> Result<Vec<Arc<File>>, Reason> {
        let mut held = Vec::new();
        for name in loops {
            let Some(id) = self.uses.id(&name) else { continue };
            if !self.uses.of_device(id).is_empty() {
                continue;
            }
            let device = self.uses.path_of(&name);
            match hold(Path::new(&device), id, self.uses.disk_name(id)) {
                Ok(device) => held.extend(device),
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    return Err(Reason::Busy(device));
                }
                Err(error) => return Err(Reason::LoopUnknown { device, error }),
            }
        }
        Ok(held)
    }

    fn judge_device(&self, path: &Path, id: DeviceId) -> Result<Hold, Reason> {
        let uses = self.uses.of_device(id);
        let in_use = !uses.is_empty();
        self.first_forbidden(uses)?;
        if in_use {
            // Mounted, and to be written to all the same: it is unavailable
            // exclusively.
            return Ok(Hold::OF_NOTHING);
        }
        let device =
            hold(path, id, self.uses.disk_name(id)).map_err(|error| match error.kind() {
                io::ErrorKind::ResourceBusy => Reason::Busy(self.uses.node_name(id)),
                _ => Reason::Unknown(error),
            })?;
        let mut devices = self.hold_loops(self.uses.loops_beside(id))?;
        devices.extend(device);
        Ok(Hold { devices })
    }

    fn first_forbidden(&self, uses: Vec<InUse>) -> Result<(), Reason> {
        let allowed =
            |by: &Use| self.mounted == MountedWrite::Allow && matches!(by, Use::Mounted(_));
        match uses.into_iter().find(|user| !allowed(&user.by)) {
            Some(user) => Err(Reason::InUse(user)),
            None => Ok(()),
        }
    }
}

/// Create a file for output, or empty the one that is there, as things are now.
/// To create many, make one [`Guard`].
///
/// # Errors
/// It is a block device, a file that a device in use shows, or cannot be created.
pub fn create_output(path: &Path) -> Result<File, WriteRefusal> {
    Guard::now(MountedWrite::Refuse).create_output(path)
}

/// Whether temporary files may be made in `folder`: not among device nodes, nor in a file
/// system of the kernel's own.
///
/// # Errors
/// They may not: the refusal in words.
pub fn may_make_files_in(folder: &Path) -> io::Result<()> {
    let guard = Guard::now(MountedWrite::Refuse);
    let judged = guard.judge_new(&folder.join("new"));
    judged.map(drop).map_err(|reason| match reason {
        Reason::Unknown(error) => error,
        reason => io::Error::other(WriteRefusal { path: folder.to_owned(), reason }),
    })
}

/// Emptied only once it is known to be no device: the name may lead to another
/// file than the one that was judged.
fn open_output(path: &Path) -> Result<File, Reason> {
    let mut options = File::options();
    let opened = options.write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(Reason::Unknown)?;
    let kind = status_of(&file).map_err(Reason::Unknown)?.file_type();
    if kind.is_block_device() {
        return Err(Reason::OutputOnDevice);
    }
    if kind.is_file() {
        file.set_len(0).map_err(Reason::Unknown)?;
    }
    Ok(file)
}

/// Writing to these does I/O and nothing else; to a terminal, a disk's control
/// node or a sound card, who knows.
fn judge_character(id: DeviceId) -> Result<Hold, Reason> {
    if platform::is_harmless_character_device(id) {
        Ok(Hold::OF_NOTHING)
    } else {
        Err(Reason::CharacterDevice)
    }
}

/// Where a file would be made if `path`, which leads nowhere yet, were created.
fn destination(path: &Path) -> io::Result<PathBuf> {
    /// As the kernel counts (path_resolution(7)).
    const LINKS_MAX: u32 = 40;
    let mut path = std::path::absolute(path)?;
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(link);
    }
    let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let mut destination = existing.canonicalize()?;
    for part in path.strip_prefix(existing).unwrap_or(&path).components() {
        match part {
            std::path::Component::ParentDir => drop(destination.pop()),
            part => destination.push(part),
        }
    }
    Ok(destination)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str) -> String {
        may_write(Path::new(path), MountedWrite::Refuse).unwrap_err().to_string()
    }

    #[test]
    fn the_harmless_character_devices_are_written_to() {
        for path in ["/dev/null", "/dev/zero", "/dev/full"] {
            let hold = may_write(Path::new(path), MountedWrite::Refuse).unwrap();
            assert!(!hold.is_exclusive());
        }
    }

    #[test]
    fn other_character_devices_are_refused() {
        if Path::new("/dev/tty").exists() {
            assert!(refusal("/dev/tty").contains("character device"));
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_no_file_to_make() {
        for path in ["/dev/sdzz", "/dev/disk/by-id/nothing", "/dev/../dev/sdzz", "/dev/a/../sdzz"] {
            assert!(refusal(path).contains("no such device"), "{path}");
        }
    }

    #[test]
    fn a_link_into_the_devices_does_not_hide_them() {
        let folder = std::env::temp_dir().join(format!("iosonde-guard-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, inner) = (folder.join("file"), folder.join("folder"));
        crate::files::make_link("/dev/sdzz", &file).unwrap();
        crate::files::make_link("/dev", &inner).unwrap();
        let again = folder.join("again");
        crate::files::make_link("file", &again).unwrap();
        for path in [file, again, inner.join("sdzz")] {
            let refused = may_write(&path, MountedWrite::Refuse).unwrap_err();
            assert!(matches!(refused.reason, Reason::MissingDevice), "{refused}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn ordinary_files_new_and_old_are_written_to() {
        let path = std::env::temp_dir().join(format!("iosonde-guard-file-{}", std::process::id()));
        let _ = may_write(&path, MountedWrite::Refuse).unwrap();
        fs::write(&path, "old").unwrap();
        let hold = may_write(&path, MountedWrite::Refuse).unwrap();
        assert!(!hold.is_exclusive());
        fs::remove_file(&path).unwrap();
        let _ = may_write(Path::new("no/such/folder/file"), MountedWrite::Refuse).unwrap();
    }

    #[test]
    fn files_in_shared_memory_are_files() {
        let _ = may_write(Path::new("/dev/shm/iosonde-new"), MountedWrite::Refuse).unwrap();
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(matches!(
            may_write(Path::new("a\0b"), MountedWrite::Refuse).unwrap_err().reason,
            Reason::Unknown(_)
        ));
    }

    #[test]
    fn links_that_go_round_are_refused() {
        let folder = std::env::temp_dir().join(format!("iosonde-round-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("round");
        crate::files::make_link("round", &path).unwrap();
        assert!(may_write(&path, MountedWrite::Refuse).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
