//! Options of tree, and what they mean.

use super::shape::{TreeShape, TreeSubject};
use super::sizes::TreeFileSizes;
use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic, FioSupport, options, words};
use std::path::PathBuf;

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
        Open = "open" : "open and close files",
        Read = "read" : "open files, read all their data, close them",
        Chmod = "chmod" : "change the mode of files",
        Utimens = "utimens" : "change the times of files",
        SetXattr = "setxattr" : "give files an extended attribute, user.iosonde, of 64 bytes",
        GetXattr = "getxattr" : "read that attribute",
        Link = "link" : "make a hard link beside each file",
        Symlink = "symlink" : "make a symbolic link to each file, beside it",
        ReadLink = "readlink" : "read where the symbolic links lead",
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
        let shape = TreeShape {
            files: *self.tree_files.get(),
            dirs: *self.tree_dirs.get(),
            depth: *self.tree_depth.get(),
        };
        if shape.dirs > shape.files {
            return Err(Diagnostic::error(format!(
                "{} directories for {} files: some would be empty",
                shape.dirs, shape.files
            ))
            .about("tree_dirs", self.tree_dirs.origin())
            .help("ask for fewer by tree_dirs=, or for more files by tree_files="));
        }
        Ok(TreeSettings {
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
        })
    }
}
