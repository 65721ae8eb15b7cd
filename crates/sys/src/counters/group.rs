//! Limits of the caller's control groups, and how often they throttled it.
//!
//! Both versions: in version 1 each controller has its own tree, in
//! version 2 there is one. A limit holds for all groups below, so each level up
//! to the root of what is visible is read.

use iosonde_direct::sysfs;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the groups that one thread is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    cpu: Option<GroupFolders>,
    memory: Option<GroupFolders>,
    io: Option<GroupFolders>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct GroupFolders {
    version: CgroupVersion,
    /// From the group itself up to the root of the tree.
    folders: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

/// Limits of the groups; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupLimits {
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Bytes of memory, the page cache included.
    pub memory_bytes: Option<u64>,
    /// Limits of I/O, as written there: `254:0 wbps=1048576`.
    pub io: Vec<String>,
}

/// How often the groups took the processor away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which the allowance was used up.
    pub periods: u64,
    /// Time spent waiting for the next, in microseconds, of all threads.
    pub us: u64,
}

impl Groups {
    /// Of the calling thread.
    pub fn of_thread() -> Groups {
        let membership = sysfs::text("proc/thread-self/cgroup").unwrap_or_default();
        let mountinfo = sysfs::text("proc/self/mountinfo").unwrap_or_default();
        Groups::parse(&membership, &mountinfo)
    }

    /// From the texts of /proc/self/cgroup and /proc/self/mountinfo.
    pub fn parse(membership: &str, mountinfo: &str) -> Groups {
        let of = |controller: &str| place(controller, membership, mountinfo);
        Groups { cpu: of("cpu"), memory: of("memory"), io: of("blkio") }
    }

    /// The limits now.
    pub fn limits(&self) -> GroupLimits {
        let mut limits = GroupLimits::default();
        for (version, folder) in levels(&self.cpu) {
            let cpus = match version {
                CgroupVersion::Two => read(folder, "cpu.max").and_then(|text| quota(&text)),
                CgroupVersion::One => {
                    let figure = |name| read(folder, name)?.trim().parse::<f64>().ok();
                    let quota = figure("cpu.cfs_quota_us").filter(|&quota| quota > 0.0);
                    Some((quota, figure("cpu.cfs_period_us")))
                        .and_then(|(quota, period)| Some(quota? / period.filter(|&p| p > 0.0)?))
                }
            };
            limits.cpus = least(limits.cpus, cpus);
        }
        for (version, folder) in levels(&self.memory) {
            let name = match version {
                CgroupVersion::Two => "memory.max",
                CgroupVersion::One => "memory.limit_in_bytes",
            };
            // Version 1 says "none" by a number near the largest.
            let bytes = read(folder, name).and_then(|text| text.trim().parse::<u64>().ok());
            limits.memory_bytes = least(limits.memory_bytes, bytes.filter(|&b| b < 1 << 60));
        }
        for (version, folder) in levels(&self.io) {
            match version {
                CgroupVersion::Two => limits.io.extend(lines(read(folder, "io.max"), "")),
                CgroupVersion::One => {
                    for (name, short) in V1_THROTTLES {
                        limits.io.extend(lines(read(folder, name), short));
                    }
                }
            }
        }
        limits
    }

    /// How often the processor was taken away; `None` where it is not reported.
    pub fn throttled(&self) -> Option<Throttled> {
        let place = self.cpu.as_ref()?;
        let mut sum = None;
        for folder in &place.folders {
            if let Some(one) = read(folder, "cpu.stat").as_deref().and_then(Throttled::parse) {
                let all = sum.get_or_insert(Throttled::default());
                *all = Throttled { periods: all.periods + one.periods, us: all.us + one.us };
            }
        }
        sum
    }
}

impl Throttled {
    /// From the text of cpu.stat.
    pub fn parse(text: &str) -> Option<Throttled> {
        let field = |name: &str| -> Option<u64> {
            text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        let ns = || field("throttled_time ").map(|ns| ns / 1000);
        let us = field("throttled_usec ").or_else(ns)?;
        Some(Throttled { periods: field("nr_throttled ")?, us })
    }

    /// The difference since `earlier`.
    pub fn since(&self, earlier: &Throttled) -> Throttled {
        Throttled {
            periods: self.periods.saturating_sub(earlier.periods),
            us: self.us.saturating_sub(earlier.us),
        }
    }
}

/// Limits of version 1, with the words of version 2 for them.
const V1_THROTTLES: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps="),
    ("blkio.throttle.write_bps_device", "wbps="),
    ("blkio.throttle.read_iops_device", "riops="),
    ("blkio.throttle.write_iops_device", "wiops="),
];

fn levels(place: &Option<GroupFolders>) -> impl Iterator<Item = (CgroupVersion, &Path)> {
    place
        .iter()
        .flat_map(|place| place.folders.iter().map(|folder| (place.version, folder.as_path())))
}

fn read(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

/// `max 100000` or `50000 100000`.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then(|| quota / period)
}

/// `254:0 1048576` with the unit's name before the number; as it is without.
fn lines(text: Option<String>, unit: &str) -> Vec<String> {
    let text = text.unwrap_or_default();
    let line = |line: &str| match line.split_once(' ') {
        Some((device, figure)) if !unit.is_empty() => format!("{device} {unit}{figure}"),
        _ => line.to_owned(),
    };
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

fn least<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// Where the group for a controller (by its name in version 1) is.
fn place(controller: &str, membership: &str, mountinfo: &str) -> Option<GroupFolders> {
    let group = |wanted: &dyn Fn(&str) -> bool| {
        membership.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            if wanted(controllers) { parts.next() } else { None }
        })
    };
    let has = |controllers: &str| controllers.split(',').any(|one| one == controller);
    let point = |filesystem: &str, wanted: &dyn Fn(&str) -> bool| {
        mountinfo.lines().find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let mut words = after.split(' ');
            let matches = words.next() == Some(filesystem) && wanted(words.next_back()?);
            matches.then(|| before.split(' ').nth(4)).flatten().map(PathBuf::from)
        })
    };
    let (version, root, group) = match point("cgroup", &has) {
        Some(root) => (CgroupVersion::One, root, group(&has)?),
        None => (
            CgroupVersion::Two,
            point("cgroup2", &|_| true)?,
            group(&|controllers| controllers.is_empty())?,
        ),
    };
    let mut folder = root.join(group.trim_start_matches('/'));
    // A container sees its own part of the tree only.
    if !folder.starts_with(&root) || !folder.is_dir() {
        folder.clone_from(&root);
    }
    let folders = folder.ancestors().take_while(|at| at.starts_with(&root));
    Some(GroupFolders { version, folders: folders.map(Path::to_path_buf).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "30 1 0:5 / /g/cpu rw - cgroup cgroup rw,cpu\n\
                      31 1 0:6 / /g/blkio rw - cgroup cgroup rw,blkio\n\
                      32 1 0:7 / /g/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn each_controller_of_version_one_has_its_place() {
        let groups = Groups::parse("8:blkio:/a/b\n1:cpu:/\n0::/\n", V1);
        assert_eq!(groups.io.as_ref().unwrap().version, CgroupVersion::One);
        assert_eq!(groups.io.unwrap().folders, [Path::new("/g/blkio")], "/a/b is not there");
        assert_eq!(groups.cpu.unwrap().folders, [Path::new("/g/cpu")]);
        let memory = groups.memory.unwrap();
        assert_eq!((memory.version, memory.folders.len()), (CgroupVersion::Two, 1));
    }

    #[test]
    fn limits_are_read_at_each_level_and_the_least_holds() {
        let root = std::env::temp_dir().join(format!("iosonde-groups-{}", std::process::id()));
        let inner = root.join("outer/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(root.join("outer/cpu.max"), "50000 100000\n").unwrap();
        fs::write(inner.join("cpu.max"), "max 100000\n").unwrap();
        fs::write(inner.join("memory.max"), "1048576\n").unwrap();
        fs::write(root.join("outer/memory.max"), "max\n").unwrap();
        fs::write(inner.join("io.max"), "8:0 rbps=1048576 wbps=max riops=max wiops=max\n").unwrap();
        fs::write(inner.join("cpu.stat"), "nr_periods 9\nnr_throttled 3\nthrottled_usec 70\n")
            .unwrap();
        let mounts = format!("30 1 0:5 / {} rw - cgroup2 cgroup2 rw\n", root.display());
        let groups = Groups::parse("0::/outer/inner\n", &mounts);
        let limits = groups.limits();
        let throttled = groups.throttled();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(limits.cpus, Some(0.5));
        assert_eq!(limits.memory_bytes, Some(1 << 20));
        assert_eq!(limits.io, ["8:0 rbps=1048576 wbps=max riops=max wiops=max"]);
        assert_eq!(throttled, Some(Throttled { periods: 3, us: 70 }));
    }

    #[test]
    fn no_text_is_no_limit() {
        assert_eq!(Groups::parse("", "").limits(), GroupLimits::default());
        assert_eq!(quota("max 100000\n"), None);
        assert_eq!(lines(Some("8:0 5\n".into()), "rbps="), ["8:0 rbps=5"]);
        let v1 = Throttled::parse("nr_periods 1\nnr_throttled 2\nthrottled_time 5000\n");
        assert_eq!(v1, Some(Throttled { periods: 2, us: 5 }));
        // Works on any machine.
        let _ = Groups::of_thread().limits();
    }
}
