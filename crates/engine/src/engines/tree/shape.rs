//! The shape of a tree: which directories and files it has, and their names.
//!
//! Every name follows from a number, so that no list of names is kept: a tree of
//! a hundred million files takes no memory.

use super::listed::TreeList;
use std::ffi::{CStr, CString};
use std::io::Write;
use std::sync::Arc;

/// What an operation is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeSubject {
    /// Directories above the last level, and the top.
    Parents,
    /// Directories that hold files.
    Directories,
    /// Files.
    Files,
}

/// A tree of directories; files are in those of the last level only, evenly, and
/// in order: all of the first directory, then all of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Files in all; at least 1.
    pub files: u64,
    /// Directories of the last level; at least 1.
    pub dirs: u64,
    /// Levels of directories; at least 1.
    pub depth: u32,
}

impl Default for TreeShape {
    fn default() -> TreeShape {
        TreeShape { files: 1, dirs: 1, depth: 1 }
    }
}

impl TreeShape {
    /// That of a list, of which each directory is made by itself.
    pub fn of_list(list: &TreeList) -> TreeShape {
        TreeShape { files: list.files().len() as u64, dirs: list.dirs().len() as u64, depth: 1 }
    }

    /// Subdirectories of a directory at most: the fewest that hold `dirs` at
    /// this depth.
    pub fn fanout(&self) -> u64 {
        let holds = |fanout: u64| {
            (0..self.depth).try_fold(1u64, |all, _| all.checked_mul(fanout)).unwrap_or(u64::MAX)
        };
        let (mut low, mut high) = (1, self.dirs);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle) >= self.dirs { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Directories of a level, counted from 1.
    fn dirs_at(&self, level: u32, fanout: u64) -> u64 {
        self.dirs.div_ceil(below(self.depth - level, fanout))
    }

    /// Directories above the last level.
    pub fn parents(&self) -> u64 {
        let fanout = self.fanout();
        (1..self.depth).map(|level| self.dirs_at(level, fanout)).sum()
    }

    /// How many names there are of what an operation is done to; the top is one more
    /// parent.
    pub fn count(&self, subject: TreeSubject) -> u64 {
        match subject {
            TreeSubject::Parents => self.parents() + 1,
            TreeSubject::Directories => self.dirs,
            TreeSubject::Files => self.files,
        }
    }

    /// Files of directory `index` of the last level.
    pub fn files_of(&self, index: u64) -> u64 {
        let before = index.saturating_mul(self.files_per_dir());
        self.files.saturating_sub(before).min(self.files_per_dir())
    }

    /// Files of a directory; the last one may have fewer.
    pub fn files_per_dir(&self) -> u64 {
        self.files.div_ceil(self.dirs.max(1))
    }
}

/// Directories of the last level below one that is `levels` above it.
fn below(levels: u32, fanout: u64) -> u64 {
    fanout.saturating_pow(levels)
}

/// Writes names of a tree, relative to its top directory.
#[derive(Debug)]
pub(crate) struct TreeNames {
    shape: TreeShape,
    fanout: u64,
    files_per_dir: u64,
    name: Vec<u8>,
    /// The directory that `name` begins with, and how many bytes it takes.
    dir: Option<(u64, usize)>,
    /// Names are those of a list.
    list: Option<Arc<TreeList>>,
}

impl TreeNames {
    pub(crate) fn new(shape: TreeShape, list: Option<Arc<TreeList>>) -> TreeNames {
        let (fanout, files_per_dir) = (shape.fanout(), shape.files_per_dir());
        TreeNames { shape, fanout, files_per_dir, name: Vec::with_capacity(256), dir: None, list }
    }

    /// Directory `index` of the last level.
    pub(crate) fn dir(&mut self, index: u64) -> &CStr {
        if let Some(list) = &self.list {
            self.name.clear();
            self.name.extend_from_slice(list.dirs()[index as usize].as_bytes());
            return self.end();
        }
        self.chain(self.shape.depth, index);
        self.dir = None;
        self.end()
    }

    /// Directory `index` of those above the last level, from the top down; the
    /// last one first if `upwards`.
    pub(crate) fn parent(&mut self, index: u64, upwards: bool) -> &CStr {
        let mut left = if upwards { self.shape.parents() - 1 - index } else { index };
        let mut level = 1;
        while left >= self.shape.dirs_at(level, self.fanout) {
            left -= self.shape.dirs_at(level, self.fanout);
            level += 1;
        }
        self.chain(level, left);
        self.dir = None;
        self.end()
    }

    /// File `index`; its name begins with `letter`.
    pub(crate) fn file(&mut self, index: u64, letter: u8) -> &CStr {
        if let Some(list) = &self.list {
            self.name.clear();
            self.name.extend_from_slice(list.files()[index as usize].0.as_bytes());
            if letter != b'f' {
                self.name.extend_from_slice(&[b'.', letter]);
            }
            return self.end();
        }
        let dir = index / self.files_per_dir;
        match self.dir {
            // Mostly it is in the same directory as the last one.
            Some((known, bytes)) if known == dir => self.name.truncate(bytes),
            _ => {
                self.chain(self.shape.depth, dir);
                self.name.push(b'/');
                self.dir = Some((dir, self.name.len()));
            }
        }
        self.name.push(letter);
        push_number(&mut self.name, index);
        self.end()
    }

    /// The last part of a file's path.
    pub(crate) fn last_of_file(&mut self, index: u64, letter: u8) -> CString {
        let path = self.file(index, letter).to_bytes();
        let at = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        CString::new(&path[at..]).expect("a name holds no zero")
    }

    /// Directory `index` of a level, with those above it.
    fn chain(&mut self, level: u32, index: u64) {
        self.name.clear();
        for above in (0..level).rev() {
            let of_level = index / below(above, self.fanout);
            // Writing to memory does not fail.
            let _ = write!(self.name, "d{}.{of_level}", level - above);
            if above > 0 {
                self.name.push(b'/');
            }
        }
    }

    fn end(&mut self) -> &CStr {
        self.name.push(0);
        CStr::from_bytes_with_nul(&self.name).expect("a name holds no zero")
    }
}

/// The digits of a number, without the formatting machinery: it is a fifth of a
/// stat(2) that the kernel answers from memory.
fn push_number(name: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    name.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn text(name: &CStr) -> String {
        name.to_str().unwrap().to_owned()
    }

    #[test]
    fn files_are_in_directories_of_the_last_level_one_after_the_other() {
        let mut names = TreeNames::new(TreeShape { files: 10, dirs: 4, depth: 2 }, None);
        assert_eq!(text(names.file(0, b'f')), "d1.0/d2.0/f0");
        assert_eq!(text(names.file(2, b'f')), "d1.0/d2.0/f2");
        assert_eq!(text(names.file(3, b'r')), "d1.0/d2.1/r3");
        assert_eq!(text(names.file(9, b'f')), "d1.1/d2.3/f9");
        assert_eq!(text(names.dir(2)), "d1.1/d2.2");
        assert_eq!(text(names.parent(0, false)), "d1.0");
        assert_eq!(text(names.parent(0, true)), "d1.1");
    }

    proptest! {
        #[test]
        fn each_directory_has_its_parent_before_it_and_no_name_comes_twice(
            files in 1u64..300, dirs in 1u64..120, depth in 1u32..5,
        ) {
            let shape = TreeShape { files, dirs, depth };
            let mut names = TreeNames::new(shape, None);
            let mut made = BTreeSet::from([String::new()]);
            let parents: Vec<String> =
                (0..shape.parents()).map(|index| text(names.parent(index, false))).collect();
            let upwards: Vec<String> =
                (0..shape.parents()).map(|index| text(names.parent(index, true))).rev().collect();
            prop_assert_eq!(&parents, &upwards);
            let leaves: Vec<String> = (0..dirs).map(|index| text(names.dir(index))).collect();
            for name in parents.iter().chain(&leaves) {
                let above = name.rsplit_once('/').map_or("", |(above, _)| above);
                prop_assert!(made.contains(above), "{name}");
                prop_assert!(made.insert(name.clone()), "{name}");
            }
            for index in 0..files {
                let name = text(names.file(index, b'f'));
                let (above, _) = name.rsplit_once('/').unwrap();
                prop_assert!(leaves.iter().any(|leaf| leaf == above), "{name}");
                prop_assert!(made.insert(name.clone()), "{name}");
            }
            let children = |of: &str| {
                let inside = |name: &&String| name.rsplit_once('/').map_or("", |(above, _)| above) == of;
                parents.iter().chain(&leaves).filter(inside).count() as u64
            };
            prop_assert!(parents.iter().all(|parent| children(parent) <= shape.fanout()));
        }
    }
}
