//! The store as a FUSE file system: files and directories.

use crate::script::Target;
use crate::store::{Answer, Caching, EIO, ENOENT, ENOSPC, Store};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, WriteFlags,
};
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The kernel asks again each time: sizes change behind its back.
const TTL: Duration = Duration::ZERO;
const BLOCK: u64 = 4096;
const NAME_LENGTH: u32 = 255;
/// fallocate(2): space without a change of the length.
const KEEP_SIZE: i32 = 1;

pub(crate) struct FaultFiles {
    pub(crate) store: Arc<Mutex<Store>>,
    pub(crate) caching: Caching,
}

impl FaultFiles {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, id: u64) -> Option<FileAttr> {
        let is_directory = id == INodeNo::ROOT.0 || self.store().is_directory(id);
        let size = if is_directory { 0 } else { self.store().bytes(id)? };
        Some(FileAttr {
            ino: INodeNo(id),
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_directory { FileType::Directory } else { FileType::RegularFile },
            perm: if is_directory { 0o755 } else { 0o644 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: BLOCK as u32,
            flags: 0,
        })
    }

    /// The entry of a name, with what is at `id`; an error where there is nothing.
    fn reply_entry(&self, id: Option<u64>, otherwise: i32, reply: ReplyEntry) {
        match id.and_then(|id| self.attributes(id)) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(errno(otherwise)),
        }
    }

    fn path(&self, parent: INodeNo, name: &OsStr) -> String {
        self.store().path_of(parent.0, &name.to_string_lossy())
    }

    fn flags(&self) -> FopenFlags {
        match self.caching {
            Caching::None => FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            Caching::Pages => FopenFlags::empty(),
        }
    }
}

/// In a handle, beside the number of its file.
const MAY_WRITE: u64 = 1 << 63;

/// The handle of a file that is opened with these flags.
fn handle(id: u64, flags: i32) -> FileHandle {
    /// O_ACCMODE; O_RDONLY is none of its bits.
    const ACCESS: i32 = 3;
    FileHandle(if flags & ACCESS == 0 { id } else { id | MAY_WRITE })
}

fn errno(number: i32) -> Errno {
    Errno::from_i32(number)
}

/// A request that takes this long longer; another thread serves the others.
fn wait(milliseconds: u64) {
    if milliseconds > 0 {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

impl Filesystem for FaultFiles {
    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let path = self.path(parent, name);
        let found = self.store().find(&path);
        self.reply_entry(found, ENOENT, reply);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        let allowed = self.store().may(ino.0, Target::Attributes);
        match (allowed, self.attributes(ino.0)) {
            (Err(number), _) => reply.error(errno(number)),
            (Ok(()), Some(attributes)) => reply.attr(&TTL, &attributes),
            (Ok(()), None) => reply.error(errno(ENOENT)),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resize = |bytes| {
            let mut store = self.store();
            store.may(ino.0, Target::Resize).and_then(|()| store.resize(ino.0, bytes))
        };
        let resized = size.map_or(Ok(()), resize);
        match resized {
            Ok(()) => match self.attributes(ino.0) {
                Some(attributes) => reply.attr(&TTL, &attributes),
                None => reply.error(errno(ENOENT)),
            },
            Err(number) => reply.error(errno(number)),
        }
    }

    fn create(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let path = self.path(parent, name);
        let allowed = self.store().may_by_name(&path, Target::Open);
        if let Err(number) = allowed {
            return reply.error(errno(number));
        }
        let id = self.store().create(&path);
        match self.attributes(id) {
            Some(attributes) => {
                let handle = handle(id, flags);
                reply.created(&TTL, &attributes, Generation(0), handle, self.flags())
            }
            None => reply.error(errno(EIO)),
        }
    }

    fn mkdir(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let path = self.path(parent, name);
        let id = self.store().make_directory(&path);
        self.reply_entry(Some(id), EIO, reply);
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let path = self.path(parent, name);
        if self.store().remove_directory(&path) { reply.ok() } else { reply.error(errno(ENOENT)) }
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let path = self.path(parent, name);
        match self.store().unlink(&path) {
            Some(_) => reply.ok(),
            None => reply.error(errno(ENOENT)),
        }
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = (self.path(parent, name), self.path(newparent, newname));
        let mut store = self.store();
        match store.find(&from) {
            Some(id) => {
                store.rename(id, &to);
                reply.ok();
            }
            None => reply.error(errno(ENOENT)),
        }
    }

    fn forget(&self, _req: &Request, ino: INodeNo, _nlookup: u64) {
        self.store().forget(ino.0);
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let allowed = self.store().may(ino.0, Target::Open);
        match allowed {
            Ok(()) => reply.opened(handle(ino.0, flags.0), self.flags()),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let answer = self.store().read(ino.0, offset, size as usize);
        match answer {
            Answer::Done(data, milliseconds) => {
                wait(milliseconds);
                reply.data(&data);
            }
            Answer::Errno(number) => reply.error(errno(number)),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let answer = self.store().write(ino.0, offset, data);
        match answer {
            Answer::Done(written, milliseconds) => {
                wait(milliseconds);
                reply.written(u32::try_from(written).expect("a request is below 4 GiB"));
            }
            Answer::Errno(number) => reply.error(errno(number)),
        }
    }

    fn flush(
        &self,
        _req: &Request,
        ino: INodeNo,
        fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        let may_write = fh.0 & MAY_WRITE != 0;
        let allowed = if may_write { self.store().may(ino.0, Target::Close) } else { Ok(()) };
        match allowed {
            Ok(()) => reply.ok(),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn fsync(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        let answer = self.store().sync(ino.0);
        match answer {
            Answer::Done((), milliseconds) => {
                wait(milliseconds);
                reply.ok();
            }
            Answer::Errno(number) => reply.error(errno(number)),
        }
    }

    fn fsyncdir(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let root = INodeNo::ROOT.0;
        let dots = [(root, ".", FileType::Directory), (root, "..", FileType::Directory)];
        let dots = dots.map(|(id, name, kind)| (id, name.to_owned(), kind));
        let files = self.store().list(ino.0).into_iter().map(|(id, name, is_directory)| {
            let kind = if is_directory { FileType::Directory } else { FileType::RegularFile };
            (id, name, kind)
        });
        let entries = dots.into_iter().chain(files).zip(1..);
        for ((id, name, kind), next) in entries.skip(usize::try_from(offset).unwrap_or(usize::MAX))
        {
            if reply.add(INodeNo(id), next, kind, &name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let store = self.store();
        let (all, free) = (store.capacity, store.capacity.saturating_sub(store.used()));
        let block = BLOCK as u32;
        reply.statfs(
            all / BLOCK,
            free / BLOCK,
            free / BLOCK,
            1000,
            1000,
            block,
            NAME_LENGTH,
            block,
        );
    }

    fn fallocate(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mut store = self.store();
        if let Err(number) = store.may(ino.0, Target::Reserve) {
            return reply.error(errno(number));
        }
        let (end, now) = (offset + length, store.bytes(ino.0).unwrap_or(0));
        let grown = match mode {
            0 => store.resize(ino.0, end.max(now)),
            KEEP_SIZE if store.used() - now + end <= store.capacity => Ok(()),
            KEEP_SIZE => Err(ENOSPC),
            _ => Err(rustix::io::Errno::OPNOTSUPP.raw_os_error()),
        };
        match grown {
            Ok(()) => reply.ok(),
            Err(number) => reply.error(errno(number)),
        }
    }
}
