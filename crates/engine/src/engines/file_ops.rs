//! Engines that make, look up and remove files and directories.
//!
//! A file's first I/O does the operation on its name, and its time is the
//! latency that is told; that I/O and the others of the file move nothing and
//! are only counted, as in fio.

use super::always;
use super::stepwise::{Step, Stepwise, StepwiseLoop};
use crate::drive::Failure;
use crate::sync_call::errno;
use crate::{Accounting, Caps, Drive, EngineDef, LaysOut, Loop, OpenWith, StatCall};
use iosonde_base::{Errno, FileId, Planned};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::os::fd::OwnedFd;
use std::path::Path;

/// What engines of names can do.
const CAPS: Caps = Caps { sync: true, trim: true, by_name: true, ..Caps::NONE };

/// Catalogue entry.
pub(crate) static FILECREATE: EngineDef = EngineDef {
    name: "filecreate",
    aliases: &[],
    doc: "Creates the files, by open(2), and does no I/O to them. I/Os are counted all the same: \
          one for each file, unless filesize is given.",
    caps: Caps { lays_out: LaysOut::Nothing, ..CAPS },
    options: &[],
    available: always,
    open: |with, accounting| Ok(engine(Act::CreateFile, with, accounting)),
};

/// Catalogue entry.
pub(crate) static FILESTAT: EngineDef = EngineDef {
    name: "filestat",
    aliases: &[],
    doc: "Asks for the attributes of files, which are laid out first; no I/O.",
    caps: CAPS,
    options: &["stat_type"],
    available: always,
    open: |with, accounting| Ok(engine(Act::Stat(with.knobs.stat), with, accounting)),
};

/// Catalogue entry.
pub(crate) static FILEDELETE: EngineDef = EngineDef {
    name: "filedelete",
    aliases: &[],
    doc: "Removes files, by unlink(2), which are laid out first; no I/O.",
    caps: CAPS,
    options: &[],
    available: always,
    open: |with, accounting| Ok(engine(Act::DeleteFile, with, accounting)),
};

/// Catalogue entry.
pub(crate) static DIRCREATE: EngineDef = EngineDef {
    name: "dircreate",
    aliases: &[],
    doc: "Creates a directory for each file, by mkdir(2). I/Os are counted all the same: one for \
          each directory, unless filesize is given.",
    caps: Caps { lays_out: LaysOut::Nothing, ..CAPS },
    options: &[],
    available: always,
    open: |with, accounting| Ok(engine(Act::CreateDirectory, with, accounting)),
};

/// Catalogue entry.
pub(crate) static DIRSTAT: EngineDef = EngineDef {
    name: "dirstat",
    aliases: &[],
    doc: "Asks for the attributes of directories, which are made first.",
    caps: Caps { lays_out: LaysOut::Directories, ..CAPS },
    options: &["stat_type"],
    available: always,
    open: |with, accounting| Ok(engine(Act::Stat(with.knobs.stat), with, accounting)),
};

/// Catalogue entry.
pub(crate) static DIRDELETE: EngineDef = EngineDef {
    name: "dirdelete",
    aliases: &[],
    doc: "Removes directories, by rmdir(2), which are made first.",
    caps: Caps { lays_out: LaysOut::Directories, ..CAPS },
    options: &[],
    available: always,
    open: |with, accounting| Ok(engine(Act::DeleteDirectory, with, accounting)),
};

/// What is done to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    CreateFile,
    Stat(StatCall),
    DeleteFile,
    CreateDirectory,
    DeleteDirectory,
}

impl Act {
    /// Do it; what stays open afterwards.
    fn perform(self, path: &Path) -> Result<Option<OwnedFd>, rustix::io::Errno> {
        match self {
            Act::CreateFile => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
                return rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map(Some);
            }
            Act::Stat(StatCall::Stat) => drop(rustix::fs::stat(path)?),
            Act::Stat(StatCall::Lstat) => drop(rustix::fs::lstat(path)?),
            Act::Stat(StatCall::Statx) => {
                let _ = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL)?;
            }
            Act::DeleteFile => rustix::fs::unlink(path)?,
            Act::CreateDirectory => rustix::fs::mkdir(path, Mode::from_raw_mode(0o755))?,
            Act::DeleteDirectory => rustix::fs::rmdir(path)?,
        }
        Ok(None)
    }

    fn word(self) -> &'static str {
        match self {
            Act::CreateFile => "create",
            Act::Stat(_) => "stat",
            Act::DeleteFile => "delete",
            Act::CreateDirectory => "mkdir",
            Act::DeleteDirectory => "rmdir",
        }
    }

    /// What an error means here, where its number says too little.
    fn explain(self, errno: Errno) -> Option<&'static str> {
        match (self, errno.0) {
            (Act::CreateDirectory, libc::EEXIST) => {
                Some("it must not be there yet; each pass of loops or time_based makes it anew")
            }
            (Act::DeleteFile | Act::DeleteDirectory, libc::ENOENT) => {
                Some("each name can be removed only once; a second pass finds nothing")
            }
            (Act::CreateFile, libc::EMFILE) => Some("files stay open; ask for fewer by openfiles="),
            _ => None,
        }
    }
}

/// What became of a name in this pass.
enum Name {
    Untouched,
    Touched(#[allow(dead_code, reason = "closed when dropped")] Option<OwnedFd>),
}

/// The engine.
struct FileOps {
    act: Act,
    names: Vec<Name>,
}

fn engine(act: Act, with: &OpenWith, accounting: Accounting) -> Box<dyn Loop> {
    let names = (0..with.files).map(|_| Name::Untouched).collect();
    StepwiseLoop::boxed(FileOps { act, names }, accounting)
}

impl Stepwise for FileOps {
    fn step(&mut self, drive: &mut Drive, entry: &Planned) -> Result<Step, Failure> {
        let name = &mut self.names[entry.file.0 as usize];
        if matches!(name, Name::Touched(_)) {
            return Ok(Step::Done(None));
        }
        let path = &drive.files.setup(entry.file).path;
        let start = drive.clock.now();
        let result = self.act.perform(path);
        let took = drive.clock.now().wrapping_sub(start);
        match result {
            Ok(open) => {
                *name = Name::Touched(open);
                Ok(Step::Done(Some(took)))
            }
            Err(error) => {
                let errno = errno(error);
                let failure = Failure {
                    file: Some(entry.file),
                    detail: self.act.explain(errno),
                    ..Failure::engine(self.act.word(), errno)
                };
                drive.bear(entry, failure).map(|()| Step::Borne)
            }
        }
    }

    fn close(&mut self, file: FileId) {
        self.names[file.0 as usize] = Name::Untouched;
    }
}
