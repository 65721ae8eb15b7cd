//! Why a path may not be written to, in words.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::ForeignLock;
use iosonde_base::Errno;

/// How a device is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// Mounted there.
    Mounted(PathBuf),
    /// Swap space.
    Swap,
    /// Another device is made of it; which one, and what that is used for.
    Held(String),
    /// A loop device, or several, show it.
    Looped(String),
}

/// A device in use, and what it has to do with the one requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// Which device: `/dev/loop3p1`.
    pub device: String,
    /// What it is to the device requested (`a partition of /dev/loop3`);
    /// `None` if it is that.
    pub relation: Option<String>,
    /// How it is used.
    pub by: Use,
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)?;
        if let Some(relation) = &self.relation {
            write!(f, ", {relation},")?;
        }
        match &self.by {
            Use::Mounted(point) => write!(f, " is mounted on {}", point.display()),
            Use::Swap => write!(f, " is swap"),
            Use::Held(by) => write!(f, " is held by {by}"),
            Use::Looped(by) => write!(f, " is shown by {by}"),
        }
    }
}

/// Why a path may not be written to.
#[derive(Debug)]
pub enum Reason {
    /// Its device, or one that shares its data, is in use.
    InUse(InUse),
    /// The system, or another program, has the device for itself; its name.
    Busy(String),
    /// It is not there, and it is no place to make a file.
    MissingDevice,
    /// It is a regular file among device nodes.
    FileAmongDevices,
    /// It is a character device; writing to it is not I/O.
    CharacterDevice,
    /// It is a block device, and what is written is a text of this program.
    OutputOnDevice,
    /// A job reads or writes it, and a text of this program would replace it.
    OutputOnJobFile,
    /// The run is read from it (a job file, a recording), and would overwrite it.
    ReadByRun,
    /// It lies in a file system of the kernel's own, such as /proc or /sys.
    KernelFile(&'static str),
    /// It is the file that ends the run once it appears, is there already, and holds data.
    TriggerHoldsData,
    /// It is no file, or lies among device nodes, and its name would be removed.
    NameOfDevice,
    /// A loop device shows it, and may not be asked whether it is in use.
    LoopUnknown {
        /// `/dev/loop3`.
        device: String,
        /// Why not.
        error: io::Error,
    },
    /// It carries a signature, and its owner has not agreed to lose what it holds.
    HoldsData {
        /// `it holds an ext4 file system`.
        holds: String,
        /// What to do.
        remedy: String,
    },
    /// Another program has locked it, or what shares its bytes.
    Locked(ForeignLock),
    /// The system does not let us look.
    Unknown(io::Error),
}

/// A path that may not be written to.
#[derive(Debug)]
pub struct WriteRefusal {
    /// The path requested.
    pub path: PathBuf,
    /// Why not.
    pub reason: Reason,
}

impl fmt::Display for WriteRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write to {}: ", self.path.display())?;
        match &self.reason {
            Reason::InUse(user) => write!(f, "{user}; {}", remedy(&user.by)),
            Reason::Busy(device) => write!(
                f,
                "{device} is held by another program or by the system; \
                 look for mounts in containers, volumes, and other testers"
            ),
            Reason::MissingDevice => {
                write!(f, "there is no such device, and no file is made among devices")
            }
            Reason::FileAmongDevices => write!(
                f,
                "it is a regular file among device nodes, perhaps a mistyped name; \
                 remove it, or use /dev/shm for files in memory"
            ),
            Reason::CharacterDevice => write!(
                f,
                "it is a character device; of those only null, zero and full are written, and \
                 texts also to terminals"
            ),
            Reason::OutputOnDevice => {
                write!(f, "it is a block device, and reports and logs go to files: name a file")
            }
            Reason::OutputOnJobFile => {
                write!(f, "a job uses this file, and an output would replace it: name another")
            }
            Reason::ReadByRun => {
                write!(f, "the run is read from it (a job file, a recording): name another")
            }
            Reason::KernelFile(kind) => {
                write!(
                    f,
                    "it is a file of {kind}, whose files are settings and states of the system"
                )
            }
            Reason::TriggerHoldsData => write!(
                f,
                "it would end the run at once and be removed, and it holds data: name a file that \
                 is not there yet"
            ),
            Reason::NameOfDevice => {
                write!(f, "it is a device node or lies among them, and no job removes such a name")
            }
            Reason::LoopUnknown { device, error } => write!(
                f,
                "{device} shows it, and whether that is mounted cannot be seen: {error}; detach it \
                 with losetup -d first, or run as root where it has its node"
            ),
            Reason::HoldsData { holds, remedy } => write!(f, "{holds}; {remedy}"),
            Reason::Locked(lock) => write!(
                f,
                "{lock}; end that program first, or name another file (a run of jobs writes there \
                 all the same with --force)"
            ),
            Reason::Unknown(error) => write!(f, "{error}"),
        }
    }
}

fn remedy(by: &Use) -> &'static str {
    match by {
        Use::Mounted(_) => "unmount it, or set allow_mounted_write=1 if what is on it may be lost",
        Use::Swap => "turn that off with swapoff first",
        Use::Held(_) => "write to that, or take it apart first",
        Use::Looped(_) => "write to that, or detach it with losetup -d first",
    }
}

/// The system's error, or EBUSY where the guard itself refuses.
impl From<WriteRefusal> for io::Error {
    fn from(refusal: WriteRefusal) -> io::Error {
        match refusal.reason {
            Reason::Unknown(error) => error,
            _ => Errno::EBUSY.into(),
        }
    }
}

impl std::error::Error for WriteRefusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Unknown(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_reads_as_a_sentence() {
        let mut used =
            InUse { device: "/dev/vda".into(), relation: None, by: Use::Mounted("/".into()) };
        assert_eq!(used.to_string(), "/dev/vda is mounted on /");
        used.relation = Some("the disk of /dev/vda1".into());
        used.by = Use::Swap;
        assert_eq!(used.to_string(), "/dev/vda, the disk of /dev/vda1, is swap");
        used.relation = None;
        used.by = Use::Held("dm-0".into());
        assert_eq!(used.to_string(), "/dev/vda is held by dm-0");
    }
}
