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

/// The share of `thread` in `all`: as even as may be, the first ones with one
/// more; where it begins, and how many.
pub fn share(all: u64, threads: u32, thread: u32) -> (u64, u64) {
    let (threads, thread) = (u64::from(threads), u64::from(thread));
    let (even, rest) = (all / threads, all % threads);
    (even * thread + rest.min(thread), even + u64::from(thread < rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_leave_nothing_out() {
        assert_eq!([0, 1, 2].map(|thread| share(10, 3, thread)), [(0, 4), (4, 3), (7, 3)]);
        assert_eq!([0, 1, 2].map(|thread| share(2, 3, thread)), [(0, 1), (1, 1), (2, 0)]);
    }
}
