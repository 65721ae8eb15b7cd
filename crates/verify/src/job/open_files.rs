//! Files that verify opens for its own reads, where a job has more files than
//! may be open at a time (`openfiles`): the source only opens those that its
//! own I/O is for.

use iosonde_base::{FileId, Op, Planned};
use std::collections::VecDeque;

/// Which files of a job are open.
#[derive(Debug)]
pub(super) struct OpenFiles {
    by_source: Vec<bool>,
    /// Opened for checks, the longest unused first.
    ours: VecDeque<FileId>,
    most: usize,
}

impl OpenFiles {
    /// None is open. `None` if all may be, as then nobody has to ask.
    pub fn new([files, most]: [usize; 2]) -> Option<OpenFiles> {
        let ours = VecDeque::new();
        (most < files).then(|| OpenFiles { by_source: vec![false; files], ours, most: most.max(1) })
    }

    /// The source opens or closes a file.
    pub fn note(&mut self, entry: &Planned) {
        if let Some(open) = self.by_source.get_mut(entry.file.0 as usize) {
            *open = match entry.op {
                Op::Open => true,
                Op::Close => false,
                _ => *open,
            };
        }
    }

    /// Whether the source has this file open.
    pub fn has(&self, file: FileId) -> bool {
        self.by_source.get(file.0 as usize).copied().unwrap_or(false)
    }

    /// What comes before a read in the verify phase, in which the source has
    /// nothing open: the file stays open for the next.
    pub(crate) fn before_check(&mut self, file: FileId) -> Vec<Planned> {
        if let Some(at) = self.ours.iter().position(|open| *open == file) {
            self.ours.remove(at);
            self.ours.push_back(file);
            return Vec::new();
        }
        let mut controls = Vec::new();
        if self.ours.len() == self.most {
            controls.extend(self.ours.pop_front().map(|old| control(Op::Close, old)));
        }
        self.ours.push_back(file);
        controls.push(control(Op::Open, file));
        controls
    }

    /// All files were closed, between two phases.
    pub(crate) fn all_closed(&mut self) {
        self.by_source.fill(false);
        self.ours.clear();
    }
}

/// Opening or closing a file.
pub(super) fn control(op: Op, file: FileId) -> Planned {
    Planned { op, file, ..Planned::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_files_are_open_than_may_be() {
        assert!(OpenFiles::new([3, 3]).is_none());
        let mut files = OpenFiles::new([3, 2]).unwrap();
        let ops = |controls: Vec<Planned>| -> Vec<(Op, u32)> {
            controls.iter().map(|entry| (entry.op, entry.file.0)).collect()
        };
        assert_eq!(ops(files.before_check(FileId(0))), [(Op::Open, 0)]);
        assert_eq!(ops(files.before_check(FileId(1))), [(Op::Open, 1)]);
        assert_eq!(ops(files.before_check(FileId(0))), []);
        assert_eq!(ops(files.before_check(FileId(2))), [(Op::Close, 1), (Op::Open, 2)]);
        files.all_closed();
        assert_eq!(ops(files.before_check(FileId(2))), [(Op::Open, 2)]);
        files.note(&control(Op::Open, FileId(1)));
        assert!(files.has(FileId(1)) && !files.has(FileId(2)));
    }
}
