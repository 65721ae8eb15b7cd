//! The phases of a run: their order, and what each is done to.

use iosonde_engine::tree::TreeOperation;

/// All phases, in the order in which they run.
pub const PHASES: [TreeOperation; 12] = [
    TreeOperation::MakeParents,
    TreeOperation::MakeDir,
    TreeOperation::Create,
    TreeOperation::StatDir,
    TreeOperation::Stat,
    TreeOperation::Open,
    TreeOperation::Read,
    TreeOperation::Rename,
    TreeOperation::SyncDir,
    TreeOperation::Unlink,
    TreeOperation::RemoveDir,
    TreeOperation::RemoveParents,
];

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
pub const REMOVING: [TreeOperation; 3] =
    [TreeOperation::Unlink, TreeOperation::RemoveDir, TreeOperation::RemoveParents];

/// Whether it changes the file system.
pub fn changes(operation: TreeOperation) -> bool {
    !matches!(
        operation,
        TreeOperation::Stat | TreeOperation::StatDir | TreeOperation::Open | TreeOperation::Read
    )
}
