//! A tree that a list describes: the paths of its directories and files, with their sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// A longer file is no list of names.
const BYTES_MOST: u64 = 4 << 30;

/// The directories and files of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TreeList {
    /// Each after the one that it is in.
    dirs: Vec<String>,
    /// How many names each holds.
    entries: Vec<u64>,
    files: Vec<(String, u64)>,
}

/// The list that was read last: each thread of a run is a job that asks for the same.
static LAST: Mutex<Option<ReadList>> = Mutex::new(None);

/// A list that was read: from where, as it was changed then.
struct ReadList {
    path: PathBuf,
    changed: Option<SystemTime>,
    list: Arc<TreeList>,
}

impl TreeList {
    /// Read a list: a line `f SIZE PATH` for each file, `d PATH` for a directory; those that files
    /// are in need no line. `#` begins a comment.
    ///
    /// # Errors
    /// It cannot be read, or a line is not of that form.
    pub fn read(path: &Path) -> Result<Arc<TreeList>, String> {
        let refused = |error: std::io::Error| format!("{}: {error}", path.display());
        let about = std::fs::metadata(path).map_err(refused)?;
        if !about.is_file() || about.len() > BYTES_MOST {
            return Err(format!("{}: it is not a file of lines `f SIZE PATH`", path.display()));
        }
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = about.modified().ok();
        if let Some(known) = &*last
            && known.path == path
            && known.changed == changed
        {
            return Ok(known.list.clone());
        }
        let text = std::fs::read_to_string(path).map_err(refused)?;
        let list = TreeList::parse(&text).map_err(|why| format!("{}:{why}", path.display()))?;
        let list = Arc::new(list);
        *last = Some(ReadList { path: path.to_owned(), changed, list: list.clone() });
        Ok(list)
    }

    fn parse(text: &str) -> Result<TreeList, String> {
        let mut dirs: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut files: BTreeMap<String, u64> = BTreeMap::new();
        let mut in_order = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |why: &str| format!("{number}: {why}");
            let line = line.trim_end_matches('\r');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let path = match line.split_once(' ') {
                Some(("d", path)) => {
                    let path = usable(path).map_err(|why| wrong(&why))?;
                    add_with_parents(&mut dirs, path);
                    continue;
                }
                Some(("f", rest)) => rest.split_once(' '),
                _ => None,
            };
            let (size, path) =
                path.ok_or_else(|| wrong("write `f SIZE PATH` or `d PATH`, one in each line"))?;
            let size: u64 = size.parse().map_err(|_| wrong("the size is a number of bytes"))?;
            let path = usable(path).map_err(|why| wrong(&why))?;
            if files.insert(path.to_owned(), size).is_some() {
                return Err(wrong("the file is in the list already"));
            }
            if let Some((dir, _)) = path.rsplit_once('/') {
                add_with_parents(&mut dirs, dir);
            }
            in_order.push(path.to_owned());
        }
        let dirs: Vec<String> = dirs.into_iter().map(|(_, path)| path).collect();
        if let Some(both) = dirs.iter().find(|dir| files.contains_key(*dir)) {
            return Err(format!(" {both} is a file and a directory"));
        }
        if files.is_empty() {
            return Err(" it names no file (`f SIZE PATH`)".to_owned());
        }
        let mut entries: BTreeMap<&str, u64> = BTreeMap::new();
        for path in dirs.iter().chain(&in_order) {
            *entries.entry(path.rsplit_once('/').map_or("", |(dir, _)| dir)).or_default() += 1;
        }
        let entries = dirs.iter().map(|dir| entries.get(dir.as_str()).copied().unwrap_or(0));
        Ok(TreeList {
            entries: entries.collect(),
            files: in_order
                .into_iter()
                .map(|path| {
                    let bytes = files[&path];
                    (path, bytes)
                })
                .collect(),
            dirs,
        })
    }

    /// The directories below the top, each after the one that it is in.
    pub fn dirs(&self) -> &[String] {
        &self.dirs
    }

    /// How many names directory `index` holds.
    pub(super) fn entries_of(&self, index: u64) -> u64 {
        self.entries.get(index as usize).copied().unwrap_or(0)
    }

    /// The files, with their sizes in bytes, in the order of the list.
    pub fn files(&self) -> &[(String, u64)] {
        &self.files
    }
}

fn add_with_parents(dirs: &mut BTreeSet<(usize, String)>, path: &str) {
    let mut path = path;
    loop {
        let depth = path.matches('/').count();
        if !dirs.insert((depth, path.to_owned())) {
            return;
        }
        match path.rsplit_once('/') {
            Some((above, _)) => path = above,
            None => return,
        }
    }
}

/// A path inside the tree, without what would lead out of it.
fn usable(path: &str) -> Result<&str, String> {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if path.split('/').all(is_part) {
        Ok(path)
    } else {
        Err(format!("{path:?}: use paths below the tree, without . and .."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_before_what_is_in_them() {
        let list = TreeList::parse("# mine\nf 10 a/b/c/x\nd e/\nf 0 ./y\n\nf 7 a/z z\n").unwrap();
        assert_eq!(list.dirs(), ["a", "e", "a/b", "a/b/c"]);
        let files: Vec<(&str, u64)> =
            list.files().iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
        assert_eq!(files, [("a/b/c/x", 10), ("y", 0), ("a/z z", 7)]);
        assert_eq!([0, 1, 2, 3].map(|dir| list.entries_of(dir)), [2, 0, 1, 1]);
    }

    #[test]
    fn what_leads_out_of_the_tree_or_is_no_line_is_refused() {
        for (text, why) in [
            ("f 1 ../x", "1: \"../x\": use paths below"),
            ("d /etc", "1: \"/etc\": use paths below"),
            ("f 1 a\nf 2 a", "2: the file is in the list already"),
            ("f 1 a\nf 2 a/b", "a is a file and a directory"),
            ("f x a", "1: the size is a number"),
            ("x", "1: write `f SIZE PATH`"),
            ("d a", "names no file"),
        ] {
            let found = TreeList::parse(text).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}
