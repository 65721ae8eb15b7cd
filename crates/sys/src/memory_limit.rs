//! How much more memory the limits of control groups leave to this process.
//!
//! Both hierarchies count: `memory.max` and `memory.high` of version 2,
//! `memory.limit_in_bytes` of version 1, of the process's group and of all
//! groups above it.

use iosonde_direct::stack::Mount;
use iosonde_direct::sysfs::{self, parse_mounts};
use std::fs;
use std::path::{Path, PathBuf};

/// The memory that a limit leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRoom {
    /// Bytes that can be used on top of what is used now.
    pub bytes: u64,
    /// The file with the limit, `/sys/fs/cgroup/a/memory.max`.
    pub limit: PathBuf,
}

/// The memory that the tightest limit leaves to this process; `None` without a limit.
pub fn memory_room() -> Option<MemoryRoom> {
    room_in(sysfs::root())
}

/// The same with `/proc` and the mounts below `root`.
fn room_in(root: &Path) -> Option<MemoryRoom> {
    let mounts = parse_mounts(&fs::read(root.join("proc/self/mountinfo")).ok()?);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let rooms = VERSIONS.iter().filter_map(|version| {
        let mount = mounts.iter().find(|mount| version.is_mounted_by(mount))?;
        let group = version.group(&groups)?;
        Some(version.rooms(root, mount, group))
    });
    rooms.flatten().min_by_key(|room| room.bytes)
}

/// What differs between the versions of control groups.
struct GroupVersion {
    filesystem: &'static str,
    /// The controller in the mount's options and in /proc/self/cgroup; empty
    /// in version 2.
    controller: &'static str,
    limits: &'static [&'static str],
    usage: &'static str,
    /// Of memory.stat: page cache of the group and those below it that the
    /// kernel takes back first.
    reclaimable: &'static str,
}

const VERSIONS: [GroupVersion; 2] = [
    GroupVersion {
        filesystem: "cgroup2",
        controller: "",
        limits: &["memory.max", "memory.high"],
        usage: "memory.current",
        reclaimable: "inactive_file",
    },
    GroupVersion {
        filesystem: "cgroup",
        controller: "memory",
        limits: &["memory.limit_in_bytes"],
        usage: "memory.usage_in_bytes",
        reclaimable: "total_inactive_file",
    },
];

impl GroupVersion {
    fn is_mounted_by(&self, mount: &Mount) -> bool {
        mount.filesystem == self.filesystem
            && (self.controller.is_empty()
                || mount.super_options.split(',').any(|option| option == self.controller))
    }

    /// The process's group by the lines of /proc/self/cgroup.
    fn group<'a>(&self, lines: &'a str) -> Option<&'a str> {
        lines.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            let is_ours = controllers.split(',').any(|one| one == self.controller);
            if is_ours { parts.next() } else { None }
        })
    }

    /// What each limit leaves, from the group up to the mount.
    fn rooms(&self, root: &Path, mount: &Mount, group: &str) -> Vec<MemoryRoom> {
        let top = below(root, &mount.point);
        // Of a mount of a part of the tree the group's path begins with that part; a group
        // outside of what is mounted is seen at its top.
        let within = Path::new(group).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let plain = within.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let folder = if plain { top.join(within) } else { top.clone() };
        let up = folder.ancestors().take_while(|folder| folder.starts_with(&top));
        up.flat_map(|folder| self.rooms_of(folder)).collect()
    }

    fn rooms_of(&self, folder: &Path) -> Vec<MemoryRoom> {
        let Some(used) = self.used(folder) else { return Vec::new() };
        let room = |name: &&str| {
            let limit = folder.join(name);
            // "max" is no limit.
            let bytes = number(&limit)?.saturating_sub(used);
            Some(MemoryRoom { bytes, limit })
        };
        self.limits.iter().filter_map(room).collect()
    }

    /// The memory that a group and those below it use and the kernel does not take back
    /// readily.
    fn used(&self, folder: &Path) -> Option<u64> {
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let reclaimable = stat.lines().find_map(|line| {
            let (name, value) = line.split_once(' ')?;
            (name == self.reclaimable).then(|| value.trim().parse::<u64>().ok())?
        });
        Some(number(&folder.join(self.usage))?.saturating_sub(reclaimable.unwrap_or(0)))
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    const V2: &str = "39 20 0:35 / /groups rw,relatime - cgroup2 cgroup2 rw\n";
    const V1: &str = "31 20 0:27 / /memory rw,relatime - cgroup cgroup rw,memory\n";

    fn tree(mounts: &str, group: &str, files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new("memory-limit");
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", mounts);
        write("proc/self/cgroup", group);
        files.iter().for_each(|(path, text)| write(path, text));
        folder
    }

    fn room(folder: &Folder) -> Option<(u64, String)> {
        let MemoryRoom { bytes, limit } = room_in(folder.path())?;
        Some((bytes, limit.strip_prefix(folder.path()).unwrap().display().to_string()))
    }

    #[test]
    fn the_tightest_limit_of_a_group_and_those_above_it_counts() {
        let mut files = vec![
            ("groups/a/memory.max", "1000000\n"),
            ("groups/a/memory.high", "max\n"),
            ("groups/a/memory.current", "400000\n"),
            ("groups/a/memory.stat", "anon 5\ninactive_file 100000\nactive_file 7\n"),
            ("groups/a/b/memory.max", "max\n"),
            ("groups/a/b/memory.high", "max\n"),
            ("groups/a/b/memory.current", "300000\n"),
        ];
        let found = room(&tree(V2, "0::/a/b\n", &files));
        assert_eq!(found, Some((700_000, "groups/a/memory.max".into())));
        files[5].1 = "500000\n";
        let found = room(&tree(V2, "0::/a/b\n", &files));
        assert_eq!(found, Some((200_000, "groups/a/b/memory.high".into())));
        // More than the limit is in use.
        files[5].1 = "200000\n";
        assert_eq!(room(&tree(V2, "0::/a/b\n", &files)).map(|(bytes, _)| bytes), Some(0));
    }

    #[test]
    fn limits_of_version_1_count_beside_those_of_version_2() {
        let files = [
            ("memory/box/memory.limit_in_bytes", "800\n"),
            ("memory/box/memory.usage_in_bytes", "500\n"),
            ("memory/box/memory.stat", "inactive_file 9\ntotal_inactive_file 50\n"),
            ("groups/memory.max", "max\n"),
        ];
        let both = format!("{V1}{V2}");
        let group = "4:cpu:/x\n3:pids,memory:/box\n0::/\n";
        let found = room(&tree(&both, group, &files));
        assert_eq!(found, Some((350, "memory/box/memory.limit_in_bytes".into())));
    }

    #[test]
    fn the_path_of_a_group_begins_where_its_tree_is_mounted() {
        let files = [("groups/b/memory.max", "90\n"), ("groups/b/memory.current", "20\n")];
        let mounts = V2.replace("0:35 /", "0:35 /container");
        let found = room(&tree(&mounts, "0::/container/b\n", &files));
        assert_eq!(found.map(|(bytes, _)| bytes), Some(70));
        let top = [("groups/memory.max", "80\n"), ("groups/memory.current", "20\n")];
        for outside in ["0::/elsewhere\n", "0::/container/../x\n"] {
            let found = room(&tree(&mounts, outside, &top));
            assert_eq!(found, Some((60, "groups/memory.max".into())), "{outside}");
        }
    }

    #[test]
    fn without_limits_or_without_groups_nothing_is_limited() {
        let files = [("groups/memory.max", "max\n"), ("groups/memory.current", "20\n")];
        assert_eq!(room(&tree(V2, "0::/\n", &files)), None);
        assert_eq!(room(&tree(V2, "", &files)), None);
        assert_eq!(room(&tree("", "0::/\n", &files)), None);
        assert_eq!(room(&Folder::new("memory-limit-none")), None);
    }
}
