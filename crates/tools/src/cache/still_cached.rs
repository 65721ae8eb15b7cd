//! Why pages of a file are still cached after dropping.

use super::files::CachedFile;
use std::fs;
use std::path::Path;

/// The reason; `None` if nothing is cached or the state is unknown.
pub fn reason(file: &CachedFile) -> Option<String> {
    if file.failed.is_some() || file.cached().get().unwrap_or(0) == 0 {
        return None;
    }
    if let (true, Some(kind)) = (file.is_memory(), &file.file_system) {
        return Some(format!("{kind} keeps files in memory: there is no other copy"));
    }
    let unwritten = file.dirty().get().unwrap_or(0) + file.writeback().get().unwrap_or(0);
    if unwritten > 0 {
        return Some("a program is writing to it".to_owned());
    }
    Some(match mapped_by(file).as_slice() {
        [] => "a program is reading or has locked these pages (unknown which)".into(),
        programs => format!("it is mapped by {}", programs.join(", ")),
    })
}

/// Programs that map the file, as far as permissions allow to see.
fn mapped_by(file: &CachedFile) -> Vec<String> {
    const MOST: usize = 5;
    let path = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let maps = |number: &u32| {
        let maps = fs::read_to_string(format!("/proc/{number}/maps")).unwrap_or_default();
        maps.lines().any(|line| is_of(line, file.id.1, &path))
    };
    let name = |number: u32| {
        let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
        format!("{} (process {number})", name.trim())
    };
    numbers.filter(maps).take(MOST).map(name).collect()
}

/// Whether a line of /proc/PID/maps is of this file. The device there is not
/// the one that stat(2) gives on btrfs and overlayfs, so the name must do.
fn is_of(line: &str, inode: u64, path: &Path) -> bool {
    let mut fields = line.splitn(6, ' ').skip(4);
    let (Some(number), Some(name)) = (fields.next(), fields.next()) else { return false };
    number.parse() == Ok(inode) && Path::new(name.trim_start()) == path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_known_by_number_and_name() {
        let line = "7f00-7f10 r--s 00000000 fe:00 1234                    /data/a file";
        assert!(is_of(line, 1234, Path::new("/data/a file")));
        assert!(!is_of(line, 1235, Path::new("/data/a file")));
        assert!(!is_of(line, 1234, Path::new("/data/another")));
        assert!(!is_of("7f00-7f10 rw-p 00000000 00:00 0", 0, Path::new("/data/a")));
        assert!(!is_of("", 0, Path::new("")));
    }
}
