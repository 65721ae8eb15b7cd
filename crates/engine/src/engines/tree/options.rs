//! Options of tree, and what they mean.

use super::found::FindMatch;
use super::listed::TreeList;
use super::shape::{TreeShape, TreeSubject};
use super::sizes::TreeFileSizes;
use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Bytes, Category, Diagnostic, FioSupport, options, words};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What O_DIRECT wants offsets, lengths and memory to be multiples of, at most.
pub(crate) const DIRECT_BLOCK: u64 = 4096;

/// For the catalogue.
pub(crate) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<TreeOptions>(TreeOptions::OPTIONS);

words! {
    /// What is done to each name.
    pub enum TreeOperation {
        MakeParents = "mkparents" : "make the top directory and those above the last level",
        MakeDir = "mkdir" : "make the directories that hold the files",
        Create = "create" : "create files and write their data",
        Stat = "stat" : "read the attributes of files",
        StatDir = "statdir" : "read the attributes of directories",
        ReadDir = "readdir" : "list the directories that hold the files",
        Find = "find" : "list the directories that hold the files, and look up files with tree_match in their names",
        Open = "open" : "open and close files",
        Read = "read" : "open files, read all their data, close them",
        Chmod = "chmod" : "change the mode of files",
        Utimens = "utimens" : "change the times of files",
        SetXattr = "setxattr" : "give files an extended attribute, user.iosonde, of 64 bytes",
        GetXattr = "getxattr" : "read that attribute",
        Link = "link" : "make a hard link beside each file",
        Symlink = "symlink" : "make a symbolic link to each file, beside it",
        ReadLink = "readlink" : "read where the symbolic links lead",
        Churn = "churn" : "create a file beside each, write its data, remove it again",
        Rename = "rename" : "rename files within their directory",
        SyncDir = "syncdir" : "fsync(2) the directories that hold the files",
        RemoveLink = "rmlink" : "remove the hard links",
        RemoveSymlink = "rmsymlink" : "remove the symbolic links",
        Unlink = "unlink" : "remove files",
        RemoveDir = "rmdir" : "remove the directories that held the files",
        RemoveParents = "rmparents" : "remove those above the last level, and the top",
    }
}

words! {
    /// Whether threads share a tree.
    pub enum TreeSharing {
        Thread = "thread" : "each thread (clone of the job) has a tree",
        Shared = "shared" : "all threads work in one tree; offset= gives each its part",
    }
}

impl TreeOperation {
    /// Whether it makes, changes or removes anything.
    pub fn changes(self) -> bool {
        !matches!(
            self,
            TreeOperation::Stat
                | TreeOperation::StatDir
                | TreeOperation::ReadDir
                | TreeOperation::Find
                | TreeOperation::Open
                | TreeOperation::Read
                | TreeOperation::GetXattr
                | TreeOperation::ReadLink
                | TreeOperation::SyncDir
        )
    }

    /// What it is done to.
    pub fn subject(self) -> TreeSubject {
        match self {
            TreeOperation::MakeParents | TreeOperation::RemoveParents => TreeSubject::Parents,
            TreeOperation::MakeDir
            | TreeOperation::StatDir
            | TreeOperation::ReadDir
            | TreeOperation::Find
            | TreeOperation::SyncDir
            | TreeOperation::RemoveDir => TreeSubject::Directories,
            _ => TreeSubject::Files,
        }
    }
}

options! {
    /// tree
    pub(crate) struct TreeOptions in Category::Engine {
        /// The directory that holds the tree.
        ///
        /// Nothing but `iosonde-tree` and `iosonde-tree.N` in it is made, changed or removed.
        tree_root: Option<String> = "" as "tree_root" {
            fio: FioSupport::OursAlone,
            good: &["/mnt/test"],
        }
        /// What is done to each file or directory.
        ///
        /// One block (`bs`) stands for one of them: with `bs=1`, `size` is how many the job does
        /// it to, `offset` the first one, and `rw=randread` or `randwrite` a random order.
        tree_op: TreeOperation = "stat" as "tree_op" {
            fio: FioSupport::OursAlone,
            with: &["tree_root=/mnt/test"],
            good: &["create", "stat", "unlink"],
        }
        /// How many files the tree has.
        tree_files: u64 = "1" as "tree_files" {
            fio: FioSupport::OursAlone,
            min: Some(1),
            good: &["1", "100000"],
            bad: &["0"],
        }
        /// How many directories hold them.
        tree_dirs: u64 = "1" as "tree_dirs" {
            fio: FioSupport::OursAlone,
            min: Some(1),
            good: &["1", "100"],
            bad: &["0"],
        }
        /// How many levels of directories there are.
        tree_depth: u32 = "1" as "tree_depth" {
            fio: FioSupport::OursAlone,
            min: Some(1),
            max: Some(32),
            good: &["1", "4"],
            bad: &["0", "33"],
        }
        /// Whether each thread has a tree, or all work in one.
        tree_sharing: TreeSharing = "thread" as "tree_sharing" {
            fio: FioSupport::OursAlone,
            good: &["thread", "shared"],
        }
        /// The number of a thread's tree; without it, that of the clone (`numjobs`).
        tree_thread: Option<u32> = "" as "tree_thread" {
            fio: FioSupport::OursAlone,
            good: &["0", "7"],
        }
        /// The bytes of a file: a size, or sizes with weights.
        ///
        /// `4k/3:1m/1` makes three files of 4 KiB for each of 1 MiB. Which file has which size
        /// follows from its number.
        tree_size: TreeFileSizes = "0" as "tree_size" {
            fio: FioSupport::OursAlone,
            good: &["0", "4k", "4k/3:1m/1"],
            bad: &["4k:", "4k/0", "large"],
        }
        /// A file that lists the tree: a line `f SIZE PATH` for each file, `d PATH` for a directory.
        ///
        /// Paths are below the top directory. Directories that files are in need no line; `#`
        /// begins a comment. Takes the place of tree_files, tree_dirs, tree_depth and tree_size.
        tree_list: Option<String> = "" as "tree_list" {
            fio: FioSupport::OursAlone,
            good: &["/mnt/tree.list"],
        }
        /// Create and read files with O_DIRECT.
        ///
        /// Sizes must be multiples of 4096 bytes.
        tree_direct: bool = "0" as "tree_direct" {
            fio: FioSupport::OursAlone,
        }
        /// Write content that says where it belongs, and check it as it is read.
        ///
        /// Making and checking it are a part of the time of each operation.
        tree_verify: bool = "0" as "tree_verify" {
            fio: FioSupport::OursAlone,
        }
        /// Find: a part of the names that are looked up; empty for all.
        tree_match: String = "" as "tree_match" {
            fio: FioSupport::OursAlone,
            good: &["01"],
        }
        /// Find: the bytes of a file that matches; without it, any.
        tree_match_size: Option<Bytes> = "" as "tree_match_size" {
            fio: FioSupport::OursAlone,
            good: &["3901"],
            bad: &["large"],
        }
        /// Readdir: a directory may hold fewer names than the tree has, as create was ended early.
        tree_partial: bool = "0" as "tree_partial" {
            fio: FioSupport::OursAlone,
        }
        /// Create: fsync(2) each file before it is closed.
        tree_fsync: bool = "0" as "tree_fsync" {
            fio: FioSupport::OursAlone,
        }
        /// The files have the names that `tree_op=rename` gave them.
        tree_renamed: bool = "0" as "tree_renamed" {
            fio: FioSupport::OursAlone,
        }
    }
}

/// What tree works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSettings {
    /// The directory that holds the tree.
    pub root: PathBuf,
    /// What is done.
    pub operation: TreeOperation,
    /// The shape.
    pub shape: TreeShape,
    /// The number of the thread's tree; `None` for the one that all share.
    pub thread: Option<u32>,
    /// The bytes of files.
    pub sizes: TreeFileSizes,
    /// fsync(2) each file that is created.
    pub fsync: bool,
    /// Files have been renamed.
    pub renamed: bool,
    /// The names and sizes, where a list has them.
    pub list: Option<Arc<TreeList>>,
    /// O_DIRECT.
    pub direct: bool,
    /// Content is made to be checked, and checked.
    pub verify: bool,
    /// What find looks for.
    pub wanted: FindMatch,
    /// Directories may hold less than the shape says.
    pub partial: bool,
}

impl TreeSettings {
    /// The bytes of file `index`.
    pub(crate) fn bytes_of(&self, index: u64) -> u64 {
        match &self.list {
            None => self.sizes.of(index),
            Some(list) => list.files()[index as usize].1,
        }
    }

    /// The bytes of the largest file.
    pub(crate) fn largest(&self) -> u64 {
        match &self.list {
            None => self.sizes.largest(),
            Some(list) => list.files().iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
        }
    }

    /// How many names directory `index` must hold at least.
    pub(crate) fn entries_of(&self, index: u64) -> u64 {
        match &self.list {
            _ if self.partial => 0,
            None => self.shape.files_of(index),
            Some(list) => list.entries_of(index),
        }
    }

    fn fit_direct(&self) -> bool {
        match &self.list {
            None => self.sizes.are_multiples_of(DIRECT_BLOCK),
            Some(list) => list.files().iter().all(|(_, bytes)| bytes.is_multiple_of(DIRECT_BLOCK)),
        }
    }
}

impl Default for TreeSettings {
    fn default() -> TreeSettings {
        TreeSettings {
            root: PathBuf::from("."),
            operation: TreeOperation::Stat,
            shape: TreeShape::default(),
            thread: Some(0),
            sizes: TreeFileSizes::default(),
            fsync: false,
            renamed: false,
            list: None,
            direct: false,
            verify: false,
            wanted: FindMatch::default(),
            partial: false,
        }
    }
}

impl OwnSettings for TreeSettings {
    fn changes_also(&self) -> Option<PathBuf> {
        self.operation.changes().then(|| self.root.join(super::top_name(self.thread)))
    }
}

impl OwnOptions for TreeOptions {
    type Settings = TreeSettings;

    fn settings(&self, job: &JobContext) -> Result<TreeSettings, Diagnostic> {
        let list = self.tree_list.get().as_ref().map(|path| TreeList::read(Path::new(path)));
        let list = list
            .transpose()
            .map_err(|why| Diagnostic::error(why).about("tree_list", self.tree_list.origin()))?;
        let shape = match &list {
            Some(list) => TreeShape::of_list(list),
            None => self.shape()?,
        };
        let settings = TreeSettings {
            root: PathBuf::from(self.tree_root.get().as_deref().unwrap_or(".")),
            operation: *self.tree_op.get(),
            shape,
            thread: match self.tree_sharing.get() {
                TreeSharing::Thread => Some(self.tree_thread.get().unwrap_or(job.clone)),
                TreeSharing::Shared => None,
            },
            sizes: self.tree_size.get().clone(),
            fsync: *self.tree_fsync.get(),
            renamed: *self.tree_renamed.get(),
            list,
            direct: *self.tree_direct.get(),
            verify: *self.tree_verify.get(),
            wanted: FindMatch {
                name: self.tree_match.get().clone(),
                bytes: self.tree_match_size.get().map(|size| size.0),
            },
            partial: *self.tree_partial.get(),
        };
        if settings.direct && !settings.fit_direct() {
            let why = format!("O_DIRECT needs files of a multiple of {DIRECT_BLOCK} bytes");
            return Err(Diagnostic::error(why)
                .about("tree_direct", self.tree_direct.origin())
                .help("give such sizes, or leave tree_direct out"));
        }
        Ok(settings)
    }
}

impl TreeOptions {
    fn shape(&self) -> Result<TreeShape, Diagnostic> {
        let shape = TreeShape {
            files: *self.tree_files.get(),
            dirs: *self.tree_dirs.get(),
            depth: *self.tree_depth.get(),
        };
        if shape.dirs <= shape.files {
            return Ok(shape);
        }
        Err(Diagnostic::error(format!(
            "{} directories for {} files: some would be empty",
            shape.dirs, shape.files
        ))
        .about("tree_dirs", self.tree_dirs.origin())
        .help("ask for fewer by tree_dirs=, or for more files by tree_files="))
    }
}
