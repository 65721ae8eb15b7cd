//! The devices of a file system's journal or log, where those are not its own.

use iosonde_direct::sysfs::{self, Tree};
use iosonde_sys::stack::{Layer, Mount, Stack};
use std::path::{Path, PathBuf};

/// The devices besides `layers` that the file system writes its journal, log or
/// realtime section to.
pub(super) fn journals(mount: &Mount, layers: &[Layer]) -> Vec<Layer> {
    let paths = match mount.filesystem.as_str() {
        "xfs" => of_xfs(mount),
        "ext4" | "ext3" => {
            layers.first().and_then(|own| of_ext4(own.name.as_str())).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let devices = paths.iter().filter_map(|path| Stack::under(path).ok());
    let others = devices.flat_map(|stack| stack.devices);
    others.filter(|layer| layers.iter().all(|own| own.id != layer.id)).collect()
}

/// By the options of the mount.
fn of_xfs(mount: &Mount) -> Vec<PathBuf> {
    let devices = ["logdev", "rtdev"].map(|name| mount.option(name));
    devices.into_iter().flatten().map(PathBuf::from).filter(|path| is_device(path)).collect()
}

fn is_device(path: &Path) -> bool {
    iosonde_direct::sysfs::block_device_at(path).is_some()
}

/// By the name of the thread that writes the journal, which is not known outside of
/// the first process namespace.
fn of_ext4(own: &str) -> Option<PathBuf> {
    let task = sysfs::text(&format!("sys/fs/ext4/{own}/journal_task")).ok()?;
    let thread = sysfs::text(&format!("proc/{}/comm", task.trim())).ok()?;
    let name = journal_device(own, thread.trim_end())?;
    // Older kernels cut names short.
    Tree::here().id(name)?;
    Some(Path::new("/dev").join(name))
}

/// The device in the name of a journal's thread: `jbd2/loop1`, and of a journal on
/// the file system's own device `jbd2/loop0-8`.
fn journal_device<'a>(own: &str, thread: &'a str) -> Option<&'a str> {
    let name = thread.strip_prefix("jbd2/")?;
    let inode = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
    let is_own = inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()));
    (!is_own && name != own).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_name_says_where_a_journal_is() {
        assert_eq!(journal_device("loop0", "jbd2/loop0-8"), None);
        assert_eq!(journal_device("loop0", "jbd2/loop2"), Some("loop2"));
        assert_eq!(journal_device("dm-0", "jbd2/dm-0-8"), None);
        assert_eq!(journal_device("dm-0", "jbd2/dm-1"), Some("dm-1"));
        assert_eq!(journal_device("loop0", "kworker/0:1"), None);
    }

    #[test]
    fn options_of_xfs_name_devices_that_are_there() {
        let mount = |options: &str| {
            let line = format!("1 1 7:0 / /mnt rw - xfs /dev/loop0 {options}");
            iosonde_direct::sysfs::parse_mounts(line.as_bytes()).remove(0)
        };
        assert!(of_xfs(&mount("rw,attr2")).is_empty());
        assert!(of_xfs(&mount("rw,logdev=/dev/no-such-device")).is_empty());
    }
}
