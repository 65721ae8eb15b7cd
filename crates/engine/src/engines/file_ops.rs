//! Engines that make, look up and remove files and directories.
//!
//! A file's first I/O does the operation on its name, and its time is the
//! latency that is reported; that I/O and the others of the file move nothing and
//! are only counted, as in fio.

use super::always;
use super::stepwise::{EngineStep, Stepwise, StepwiseLoop};
use crate::drive::Failure;
use crate::platform;
use crate::{
    Accounting, Caps, Drive, EngineDef, EngineOptionTable, JobContext, LaysOut, Loop, NameChange,
    OpenWith, OwnOptions, OwnSettings,
};
use iosonde_base::{Errno, FileId, Planned};
use iosonde_options::{Category, Diagnostic, options, words};
use std::fs::File;
use std::path::Path;

/// What engines of names can do.
const CAPS: Caps = Caps { sync: true, trim: true, by_name: true, ..Caps::NONE };

/// Catalogue entry.
pub(crate) static FILECREATE: EngineDef = EngineDef {
    name: "filecreate",
    aliases: &[],
    summary: "creates files",
    doc: "Creates the files, by open(2), and does no I/O to them. I/Os are counted all the same: \
          one for each file, unless filesize is given.",
    caps: Caps { lays_out: LaysOut::Nothing, names: NameChange::Makes, ..CAPS },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(engine(Act::CreateFile, with, accounting)),
};

/// Catalogue entry.
pub(crate) static FILESTAT: EngineDef = EngineDef {
    name: "filestat",
    aliases: &[],
    summary: "stats files",
    doc: "Asks for the attributes of files, which are laid out first; no I/O.",
    caps: CAPS,
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        Ok(engine(Act::Stat(with.settings.of::<StatSettings>().0), with, accounting))
    },
};

/// Catalogue entry.
pub(crate) static FILEDELETE: EngineDef = EngineDef {
    name: "filedelete",
    aliases: &[],
    summary: "deletes files",
    doc: "Removes files, by unlink(2), which are laid out first; no I/O.",
    caps: Caps { names: NameChange::Removes, ..CAPS },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(engine(Act::DeleteFile, with, accounting)),
};

/// Catalogue entry.
pub(crate) static DIRCREATE: EngineDef = EngineDef {
    name: "dircreate",
    aliases: &[],
    summary: "creates directories",
    doc: "Creates a directory for each file, by mkdir(2). I/Os are counted all the same: one for \
          each directory, unless filesize is given.",
    caps: Caps { lays_out: LaysOut::Nothing, names: NameChange::Makes, ..CAPS },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(engine(Act::CreateDirectory, with, accounting)),
};

/// Catalogue entry.
pub(crate) static DIRSTAT: EngineDef = EngineDef {
    name: "dirstat",
    aliases: &[],
    summary: "stats directories",
    doc: "Asks for the attributes of directories, which are made first.",
    caps: Caps { lays_out: LaysOut::Directories, ..CAPS },
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        Ok(engine(Act::Stat(with.settings.of::<StatSettings>().0), with, accounting))
    },
};

/// Catalogue entry.
pub(crate) static DIRDELETE: EngineDef = EngineDef {
    name: "dirdelete",
    aliases: &[],
    summary: "deletes directories",
    doc: "Removes directories, by rmdir(2), which are made first.",
    caps: Caps { lays_out: LaysOut::Directories, names: NameChange::Removes, ..CAPS },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(engine(Act::DeleteDirectory, with, accounting)),
};

words! {
    /// A call that asks for a file's attributes.
    pub enum StatType {
        Stat = "stat" : "stat(2)",
        Lstat = "lstat" : "lstat(2)",
        Statx = "statx" : "statx(2)",
    }
}

options! {
    /// filestat
    struct StatOptions in Category::Engine {
        /// The call that asks for a file's attributes.
        stat_type: StatType = "stat" as "stat_type" {
            good: &["stat", "lstat", "statx"],
        }
    }
}

static OPTIONS: EngineOptionTable = EngineOptionTable::of::<StatOptions>(StatOptions::OPTIONS);

/// The call that filestat and dirstat make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatSettings(pub StatType);

impl Default for StatSettings {
    fn default() -> StatSettings {
        StatSettings(StatType::Stat)
    }
}

impl OwnSettings for StatSettings {}

impl OwnOptions for StatOptions {
    type Settings = StatSettings;

    fn settings(&self, _: &JobContext) -> Result<StatSettings, Diagnostic> {
        Ok(StatSettings(*self.stat_type.get()))
    }
}

/// What is done to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    CreateFile,
    Stat(StatType),
    DeleteFile,
    CreateDirectory,
    DeleteDirectory,
}

impl Act {
    /// Do it; what stays open afterwards.
    fn perform(self, path: &Path) -> Result<Option<File>, Errno> {
        match self {
            Act::CreateFile => return platform::create_file(path).map(Some),
            Act::Stat(call) => platform::stat(call, path)?,
            Act::DeleteFile => platform::remove_file(path)?,
            Act::CreateDirectory => platform::make_dir(path)?,
            Act::DeleteDirectory => platform::remove_dir(path)?,
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
        match (self, errno) {
            (Act::CreateDirectory, Errno::EEXIST) => {
                Some("it must not be there yet; each pass of loops or time_based makes it again")
            }
            (Act::DeleteFile | Act::DeleteDirectory, Errno::ENOENT) => {
                Some("each name can be removed only once; a second pass finds nothing")
            }
            (Act::CreateFile, Errno::EMFILE) => {
                Some("files stay open; ask for fewer by openfiles=")
            }
            _ => None,
        }
    }
}

/// What became of a name in this pass.
enum OperationName {
    Untouched,
    Touched(#[allow(dead_code, reason = "closed when dropped")] Option<File>),
}

/// The engine.
struct FileOps {
    act: Act,
    names: Vec<OperationName>,
}

fn engine(act: Act, with: &OpenWith, accounting: Accounting) -> Box<dyn Loop> {
    let names = (0..with.files).map(|_| OperationName::Untouched).collect();
    StepwiseLoop::boxed(FileOps { act, names }, accounting)
}

impl Stepwise for FileOps {
    fn step(&mut self, drive: &mut Drive, entry: &Planned) -> Result<EngineStep, Failure> {
        let name = &mut self.names[entry.file.0 as usize];
        if matches!(name, OperationName::Touched(_)) {
            return Ok(EngineStep::Done(None));
        }
        let path = &drive.files.setup(entry.file).path;
        let start = drive.clock.now();
        let result = self.act.perform(path);
        let took = drive.clock.now().wrapping_sub(start);
        match result {
            Ok(open) => {
                *name = OperationName::Touched(open);
                Ok(EngineStep::Done(Some(took)))
            }
            Err(errno) => {
                let failure = Failure {
                    file: Some(entry.file),
                    detail: self.act.explain(errno),
                    ..Failure::engine(self.act.word(), errno)
                };
                drive.tolerate(entry, failure).map(|()| EngineStep::Tolerated)
            }
        }
    }

    fn close(&mut self, file: FileId) {
        self.names[file.0 as usize] = OperationName::Untouched;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_names_say_what_helps() {
        for (act, errno, word) in [
            (Act::CreateDirectory, Errno::EEXIST, "must not be there"),
            (Act::DeleteFile, Errno::ENOENT, "only once"),
            (Act::DeleteDirectory, Errno::ENOENT, "only once"),
            (Act::CreateFile, Errno::EMFILE, "openfiles="),
        ] {
            let words = act.explain(errno).unwrap_or_default();
            assert!(words.contains(word), "{word}: {words:?}");
        }
        for (act, errno) in [
            (Act::CreateFile, Errno::EEXIST),
            (Act::CreateDirectory, Errno::ENOENT),
            (Act::DeleteFile, Errno::EMFILE),
        ] {
            assert_eq!(act.explain(errno), None, "{errno:?}");
        }
    }
}
