//! Trees of files and directories: makes, looks up, reads, renames and removes
//! them, one for each I/O of the job.
//!
//! A block of the job stands for one name, so that the job language says how
//! many there are (`size`), where a thread begins (`offset`), in which order
//! they come (`rw`) and how fast (`rate_iops`).

mod attributes;
mod data;
mod find;

use super::{always, errno, shared_one_shot};
use crate::engines::tree::{
    OPTIONS, TreeNames, TreeOperation, TreeSettings, TreeSubject, top_name,
};
use crate::{Caps, EngineDef, Io, OneShot};
use attributes::FileAttribute;
use data::FileData;
use iosonde_base::{Errno, Op};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir};
use rustix::io::Errno as SystemError;
use std::cell::OnceCell;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Catalogue entry.
pub(crate) static TREE: EngineDef = EngineDef {
    name: "tree",
    aliases: &[],
    summary: "iosonde's own: operations on the names of a tree of files",
    doc: "Makes, looks up, opens, reads, renames and removes the files and directories of a tree \
          below tree_root: tree_op says which of these a job does. Each I/O is one operation, and \
          its latency is that of the operation; one block (bs=1) stands for one name. What is \
          there already is never overwritten: creating fails if the name exists. `iosonde meta` \
          runs the operations one after the other and prints a table.",
    caps: Caps { sync: true, diskless: true, ..Caps::NONE },
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| Ok(shared_one_shot(TreeEngine::new(with.settings.of()), accounting)),
};

/// Bytes that one getdents64(2) gives at most, as many as of the C library's readdir(3).
const LISTED: usize = 32 << 10;
/// Where a link leads is a file's name: a letter and a number.
const LINK_BYTES: usize = 32;

/// What the names of links begin with; those of files are `f`, once renamed `r`.
const HARD_LINK: u8 = b'l';
const SYMBOLIC_LINK: u8 = b's';
/// And those of files that churn makes.
const CHURNED: u8 = b'c';

/// The engine.
struct TreeEngine {
    settings: TreeSettings,
    names: TreeNames,
    /// The top directory, once it is needed and there.
    top: Option<OwnedFd>,
    /// Room for names.
    buffer: Vec<u8>,
    data: FileData,
    attribute: FileAttribute,
    /// Where the first error was, and what it means.
    explained: OnceCell<&'static str>,
}

impl TreeEngine {
    fn new(settings: TreeSettings) -> TreeEngine {
        let bytes = match settings.operation {
            TreeOperation::ReadDir | TreeOperation::Find => LISTED,
            TreeOperation::ReadLink => LINK_BYTES,
            _ => 0,
        };
        TreeEngine {
            names: TreeNames::new(settings.shape, settings.list.clone()),
            top: None,
            buffer: vec![0; bytes],
            data: FileData::new(&settings),
            attribute: FileAttribute::new(&settings.root.join(top_name(settings.thread))),
            explained: OnceCell::new(),
            settings,
        }
    }

    /// Do it to name `index`.
    fn operate(&mut self, index: u64) -> Result<(), SystemError> {
        let operation = self.settings.operation;
        let is_top = match operation {
            TreeOperation::MakeParents => index == 0,
            TreeOperation::RemoveParents => index == self.settings.shape.parents(),
            _ => false,
        };
        if is_top {
            return at_root(&self.settings, operation);
        }
        if self.top.is_none() {
            self.top = Some(open_top(&self.settings)?);
        }
        match operation.subject() {
            TreeSubject::Files => self.on_file(index),
            TreeSubject::Directories | TreeSubject::Parents => self.on_directory(index),
        }
    }

    fn on_directory(&mut self, index: u64) -> Result<(), SystemError> {
        let TreeEngine { settings, names, top, buffer, .. } = self;
        let top = top.as_ref().ok_or(SystemError::BADF)?;
        match settings.operation {
            TreeOperation::MakeParents => {
                rustix::fs::mkdirat(top, names.parent(index - 1, false), directory_mode())
            }
            TreeOperation::RemoveParents => {
                rustix::fs::unlinkat(top, names.parent(index, true), AtFlags::REMOVEDIR)
            }
            TreeOperation::MakeDir => rustix::fs::mkdirat(top, names.dir(index), directory_mode()),
            TreeOperation::RemoveDir => {
                // Of a list the last first: it may be in those before.
                let last = settings.list.as_ref().map(|_| settings.shape.dirs - 1);
                let index = last.map_or(index, |last| last - index);
                rustix::fs::unlinkat(top, names.dir(index), AtFlags::REMOVEDIR)
            }
            TreeOperation::StatDir => stat(top, names.dir(index)),
            TreeOperation::ReadDir => {
                list(top, names.dir(index), buffer, settings.entries_of(index))
            }
            TreeOperation::Find => {
                find::look_through(top, names.dir(index), buffer, &settings.wanted)
            }
            TreeOperation::SyncDir => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let dir = rustix::fs::openat(top, names.dir(index), flags, Mode::empty())?;
                rustix::fs::fsync(dir)
            }
            _ => Err(SystemError::INVAL),
        }
    }

    fn on_file(&mut self, index: u64) -> Result<(), SystemError> {
        let TreeEngine { settings, names, top, buffer, data, attribute, .. } = self;
        let top = top.as_ref().ok_or(SystemError::BADF)?;
        let letter = if settings.renamed { b'r' } else { b'f' };
        match settings.operation {
            TreeOperation::Create => create(top, names.file(index, letter), settings, data, index),
            TreeOperation::Churn => {
                let path = names.file(index, CHURNED);
                create(top, path, settings, data, index)?;
                remove(top, path)
            }
            TreeOperation::Stat => stat(top, names.file(index, letter)),
            TreeOperation::Open => close(rustix::fs::openat(
                top,
                names.file(index, letter),
                read_only(),
                Mode::empty(),
            )?),
            TreeOperation::Read => {
                let path = names.file(index, letter);
                let flags = read_only() | data.flags();
                let file = rustix::fs::openat(top, path, flags, Mode::empty())?;
                data.read(&file, index, settings.bytes_of(index))?;
                close(file)
            }
            TreeOperation::Chmod => {
                let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP;
                rustix::fs::chmodat(top, names.file(index, letter), mode, AtFlags::empty())
            }
            TreeOperation::Utimens => attributes::set_times(top, names.file(index, letter), index),
            TreeOperation::SetXattr => attribute.set(names.file(index, letter)),
            TreeOperation::GetXattr => attribute.check(names.file(index, letter)),
            TreeOperation::Rename => {
                let from = CString::from(names.file(index, b'f'));
                rustix::fs::renameat(top, &from, top, names.file(index, b'r'))
            }
            TreeOperation::Unlink => remove(top, names.file(index, letter)),
            _ => on_link(settings.operation, top, names, (index, letter), buffer),
        }
    }

    /// Where operation `index` failed, and what that means.
    fn explanation(&mut self, index: u64, error: SystemError) -> String {
        let TreeEngine { settings, names, .. } = self;
        let letter = match settings.operation {
            TreeOperation::Link | TreeOperation::RemoveLink => HARD_LINK,
            TreeOperation::Symlink | TreeOperation::ReadLink | TreeOperation::RemoveSymlink => {
                SYMBOLIC_LINK
            }
            TreeOperation::Churn => CHURNED,
            _ if settings.renamed => b'r',
            _ => b'f',
        };
        let parents = settings.shape.parents();
        let upwards = settings.operation == TreeOperation::RemoveParents;
        let name = match settings.operation.subject() {
            TreeSubject::Parents if index == if upwards { parents } else { 0 } => None,
            TreeSubject::Parents => {
                Some(names.parent(if upwards { index } else { index - 1 }, upwards))
            }
            TreeSubject::Directories => Some(names.dir(index)),
            TreeSubject::Files => Some(names.file(index, letter)),
        };
        let mut path: PathBuf = settings.root.join(top_name(settings.thread));
        path.extend(name.map(|name| name.to_string_lossy().into_owned()));
        format!("{} of {}{}", settings.operation.word(), path.display(), meaning(settings, error))
    }
}

impl OneShot for TreeEngine {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let index = io.offset / u64::from(io.len.max(1));
        if index >= self.settings.shape.count(self.settings.operation.subject()) {
            self.explained.get_or_init(|| {
                "the job asks for more names than the tree has: size= is how many, in blocks of bs="
            });
            return Err(Errno::EINVAL);
        }
        match self.operate(index) {
            Ok(()) => Ok(io.len),
            Err(error) => {
                if self.explained.get().is_none() {
                    // One text for a job, kept as long as the program.
                    let words: &'static str = self.explanation(index, error).leak();
                    self.explained.get_or_init(|| words);
                }
                Err(errno(error))
            }
        }
    }

    fn explain(&self, _: Op, _: Errno) -> Option<&'static str> {
        self.explained.get().copied()
    }
}

/// What an error means here, where its number says too little.
fn meaning(settings: &TreeSettings, error: SystemError) -> &'static str {
    use TreeOperation as Operation;
    let renamed = settings.operation == Operation::Rename;
    match (settings.operation, error) {
        (
            Operation::MakeParents | Operation::MakeDir | Operation::Create | Operation::Churn,
            SystemError::EXIST,
        ) => ": what is there is not touched; remove it, or choose another tree_root",
        (_, SystemError::NOENT) if renamed => ": create the files first; each is renamed once",
        (_, SystemError::NOENT) => {
            ": an earlier job must make it (tree_op=mkparents, mkdir, create)"
        }
        (Operation::RemoveDir | Operation::RemoveParents, SystemError::NOTEMPTY) => {
            ": it holds other files, which are left alone"
        }
        (Operation::Read, SystemError::NODATA) => ": it is not as long as tree_size says",
        (Operation::Read, SystemError::ILSEQ) => ": it holds other bytes than were written",
        (Operation::Create | Operation::Read | Operation::Churn, SystemError::INVAL)
            if settings.direct =>
        {
            ": this file system does not take O_DIRECT: leave tree_direct out"
        }
        (Operation::ReadDir, SystemError::NODATA) => ": it holds fewer names than files were made",
        (Operation::ReadLink, SystemError::NODATA) => ": it does not lead to its file",
        (Operation::GetXattr, SystemError::NODATA) => {
            ": the attribute is not what was set (tree_op=setxattr)"
        }
        (Operation::SetXattr | Operation::GetXattr, SystemError::OPNOTSUPP) => {
            ": this file system has no extended attributes of users: leave the operation out"
        }
        (Operation::Link | Operation::Symlink, SystemError::PERM | SystemError::OPNOTSUPP) => {
            ": this file system has no such links: leave the operation out"
        }
        (Operation::Link | Operation::Symlink, SystemError::EXIST) => {
            ": what is there is not touched; remove it, or choose another tree_root"
        }
        (_, SystemError::LOOP) => ": a symbolic link is not followed",
        _ => "",
    }
}

/// The top directory is made, or removed.
fn at_root(settings: &TreeSettings, operation: TreeOperation) -> Result<(), SystemError> {
    let root = open_root(&settings.root)?;
    let name = top_name(settings.thread);
    match operation {
        TreeOperation::RemoveParents => rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR),
        _ => rustix::fs::mkdirat(root, name, directory_mode()),
    }
}

fn open_root(root: &Path) -> Result<OwnedFd, SystemError> {
    rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn open_top(settings: &TreeSettings) -> Result<OwnedFd, SystemError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = open_root(&settings.root)?;
    rustix::fs::openat(root, top_name(settings.thread), flags, Mode::empty())
}

fn directory_mode() -> Mode {
    Mode::RWXU
}

fn read_only() -> OFlags {
    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// What is done with the links of file `index`.
fn on_link(
    operation: TreeOperation,
    top: &OwnedFd,
    names: &mut TreeNames,
    (index, letter): (u64, u8),
    room: &mut [u8],
) -> Result<(), SystemError> {
    match operation {
        TreeOperation::Link => {
            let from = CString::from(names.file(index, letter));
            rustix::fs::linkat(top, &from, top, names.file(index, HARD_LINK), AtFlags::empty())
        }
        TreeOperation::Symlink => {
            let target = names.last_of_file(index, letter);
            rustix::fs::symlinkat(&*target, top, names.file(index, SYMBOLIC_LINK))
        }
        TreeOperation::ReadLink => {
            let link = names.file(index, SYMBOLIC_LINK);
            let bytes = rustix::fs::readlinkat_raw(top, link, &mut room[..])?;
            let target = names.last_of_file(index, b'f');
            if room[..bytes] == *target.as_bytes() { Ok(()) } else { Err(SystemError::NODATA) }
        }
        TreeOperation::RemoveLink => remove(top, names.file(index, HARD_LINK)),
        TreeOperation::RemoveSymlink => remove(top, names.file(index, SYMBOLIC_LINK)),
        _ => Err(SystemError::INVAL),
    }
}

/// List a directory: it must hold as many names as files were made there.
fn list(top: impl AsFd, path: &CStr, room: &mut Vec<u8>, files: u64) -> Result<(), SystemError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(top, path, flags, Mode::empty())?;
    room.clear();
    let mut entries = RawDir::new(&dir, room.spare_capacity_mut());
    let mut found = 0;
    while let Some(entry) = entries.next() {
        let name = entry?.file_name().to_bytes().first().copied();
        found += u64::from(name != Some(b'.'));
    }
    close(dir)?;
    if found >= files { Ok(()) } else { Err(SystemError::NODATA) }
}

/// Make a file with its data.
fn create(
    top: &OwnedFd,
    path: &CStr,
    settings: &TreeSettings,
    data: &mut FileData,
    index: u64,
) -> Result<(), SystemError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | data.flags();
    let file = rustix::fs::openat(top, path, flags, Mode::RUSR | Mode::WUSR)?;
    data.write(&file, index, settings.bytes_of(index))?;
    if settings.fsync {
        rustix::fs::fsync(&file)?;
    }
    close(file)
}

fn remove(top: impl AsFd, path: &CStr) -> Result<(), SystemError> {
    rustix::fs::unlinkat(top, path, AtFlags::empty())
}

fn stat(top: impl AsFd, path: &CStr) -> Result<(), SystemError> {
    rustix::fs::statat(top, path, AtFlags::SYMLINK_NOFOLLOW).map(drop)
}

fn close(file: OwnedFd) -> Result<(), SystemError> {
    super::close(file.into()).map_err(|error| SystemError::from_raw_os_error(error.0))
}
