//! The phases of a run: their order, and what each is done to.

use iosonde_engine::tree::TreeOperation;

/// All phases, in the order in which they run.
pub const PHASES: [TreeOperation; 24] = [
    TreeOperation::MakeParents,
    TreeOperation::MakeDir,
    TreeOperation::Create,
    TreeOperation::StatDir,
    TreeOperation::ReadDir,
    TreeOperation::Find,
    TreeOperation::Stat,
    TreeOperation::Open,
    TreeOperation::Read,
    TreeOperation::Chmod,
    TreeOperation::Utimens,
    TreeOperation::SetXattr,
    TreeOperation::GetXattr,
    TreeOperation::Link,
    TreeOperation::Symlink,
    TreeOperation::ReadLink,
    TreeOperation::Churn,
    TreeOperation::Rename,
    TreeOperation::SyncDir,
    TreeOperation::RemoveLink,
    TreeOperation::RemoveSymlink,
    TreeOperation::Unlink,
    TreeOperation::RemoveDir,
    TreeOperation::RemoveParents,
];

/// Phases that run only where they are asked for: not each file system has what they take.
pub const BY_NAME: [TreeOperation; 12] = [
    TreeOperation::ReadDir,
    TreeOperation::Find,
    TreeOperation::Chmod,
    TreeOperation::Utimens,
    TreeOperation::SetXattr,
    TreeOperation::GetXattr,
    TreeOperation::Link,
    TreeOperation::Symlink,
    TreeOperation::ReadLink,
    TreeOperation::Churn,
    TreeOperation::RemoveLink,
    TreeOperation::RemoveSymlink,
];

/// What a phase that is asked for needs before it, or leaves to be removed.
pub fn also(operation: TreeOperation) -> &'static [TreeOperation] {
    match operation {
        TreeOperation::GetXattr => &[TreeOperation::SetXattr],
        TreeOperation::Link | TreeOperation::RemoveLink => {
            &[TreeOperation::Link, TreeOperation::RemoveLink]
        }
        TreeOperation::Symlink | TreeOperation::ReadLink | TreeOperation::RemoveSymlink => {
            &[TreeOperation::Symlink, TreeOperation::RemoveSymlink]
        }
        _ => &[],
    }
}

/// Phases without which there is no tree, or something would be left of it.
pub const ALWAYS: [TreeOperation; 6] = [
    TreeOperation::MakeParents,
    TreeOperation::MakeDir,
    TreeOperation::Create,
    TreeOperation::Unlink,
    TreeOperation::RemoveDir,
    TreeOperation::RemoveParents,
];

/// Phases that empty the tree; `--keep` leaves them out.
pub const REMOVING: [TreeOperation; 5] = [
    TreeOperation::RemoveLink,
    TreeOperation::RemoveSymlink,
    TreeOperation::Unlink,
    TreeOperation::RemoveDir,
    TreeOperation::RemoveParents,
];

/// Whether a sync after it has something to write.
pub fn changes(operation: TreeOperation) -> bool {
    operation.changes() || operation == TreeOperation::SyncDir
}
