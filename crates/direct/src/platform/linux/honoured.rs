//! Whether direct I/O is honoured, by the descriptor's flags, statx(2), and
//! what is known of each filesystem.

use std::fs::File;
use std::io;

use rustix::fs::{IFlags, OFlags};

use super::facts::{kind_of, mount_of};
use super::{probe, stack};
use crate::stack::{LayerKind, Mount};
use crate::sysfs::Tree;
use crate::{Answer, Honoured, Known, PathKind};

pub(crate) fn honoured(file: &File) -> io::Result<Honoured> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    let mut answers = judge(file, flags)?;
    let access = flags & OFlags::RWMODE;
    if access == OFlags::WRONLY {
        answers.reads = None;
    } else if access == OFlags::RDONLY {
        answers.writes = None;
    }
    Ok(answers)
}

fn judge(file: &File, flags: OFlags) -> io::Result<Honoured> {
    if flags.contains(OFlags::PATH) {
        return Ok(Honoured::both(Answer::no("it is open as a path only (O_PATH)")));
    }
    if !flags.contains(OFlags::DIRECT) {
        return Ok(Honoured::both(Answer::no("it is not open with O_DIRECT")));
    }
    let tree = Tree::here();
    match kind_of(&rustix::fs::fstat(file)?) {
        PathKind::BlockDevice => {
            let device = crate::platform::device_id(rustix::fs::fstat(file)?.st_rdev);
            let mut answers = Honoured::both(Answer::yes("a block device refuses what it cannot"));
            answers.cache_below = cache_below(&tree, [stack::layer_of(&tree, device)].iter());
            Ok(answers)
        }
        PathKind::File => judge_file(&tree, file),
        _ => Ok(Honoured::both(Answer::no("it is neither a file nor a block device"))),
    }
}

fn judge_file(tree: &Tree, file: &File) -> io::Result<Honoured> {
    let mount = mount_of(tree, file);
    let filesystem = Filesystem::of(file, mount.as_ref())?;
    let mut answers = match filesystem {
        Filesystem::Memory(name) => {
            Honoured::both(Answer::no(format!("{name} keeps its files in memory")))
        }
        Filesystem::Btrfs => btrfs(file, mount.as_ref()),
        Filesystem::Remote(name) => Honoured::both(Answer::unknown(format!(
            "{name}: it passes this machine's page cache, the server may have its own"
        ))),
        Filesystem::Fuse(name) => Honoured::both(Answer::unknown(format!(
            "{name} is served by a program (FUSE), which may go through memory"
        ))),
        Filesystem::Zfs => Honoured::both(Answer::unknown(
            "ZFS takes O_DIRECT always, and does it since 2.3 if the dataset's property \
             `direct` is not disabled",
        )),
        Filesystem::Other(name) => by_statx(file, &name)?,
    };
    if let Some(mount) = &mount {
        let below = stack::below_mount(tree, mount);
        answers.cache_below = cache_below(tree, below.iter());
    }
    Ok(answers)
}

/// A filesystem that states the alignment of direct I/O does it, or refuses:
/// it states zero for files that it reads and writes through memory only
/// (ext4 with data=journal, encrypted or inline files).
fn by_statx(file: &File, name: &str) -> io::Result<Honoured> {
    let needs = probe::direct_io(file)?;
    let answer = match needs.known {
        Known::Stated if needs.possible => {
            Answer::yes(format!("{name} states its alignment: {} bytes", needs.offset_alignment))
        }
        Known::Stated => Answer::no(format!("{name} states that this file takes no direct I/O")),
        _ => Answer::unknown(format!("{name} took O_DIRECT and states nothing (statx)")),
    };
    Ok(Honoured::both(answer))
}

/// btrfs reads what is compressed through memory. Since Linux 6.14 it also
/// writes through memory what it has checksums of, as a buffer that changes
/// under way would not fit its sum.
fn btrfs(file: &File, mount: Option<&Mount>) -> Honoured {
    let flags = rustix::fs::ioctl_getflags(file).ok();
    let mounted = |option: &str| mount.is_some_and(|mount| mount.has_option(option));
    let compressed = flags.is_some_and(|flags| flags.contains(IFlags::COMPRESSED))
        || ["compress", "compress-force"].into_iter().any(mounted);
    let reads = if compressed {
        Answer::unknown("btrfs reads through memory what is compressed, which some of it may be")
    } else {
        Answer::yes("btrfs reads directly what is aligned (and the rest through memory)")
    };
    let writes = match flags {
        None => Answer::unknown("btrfs does not report whether the file has checksums"),
        Some(flags) if flags.contains(IFlags::NOCOW) => {
            Answer::yes("btrfs keeps no checksums of this file (No_COW)")
        }
        Some(_) if mounted("nodatasum") => {
            Answer::unknown("btrfs, mounted nodatasum: only files made since are without checksums")
        }
        Some(_) => match release() {
            Some(release) if release >= (6, 14) => Answer::no(
                "btrfs writes files with checksums through memory since Linux 6.14 \
                 (chattr +C on the empty file takes them off)",
            ),
            Some(_) => Answer::unknown(
                "btrfs before Linux 6.14 writes files with checksums directly, unless the \
                 distribution took the change over",
            ),
            None => Answer::unknown("btrfs, on a Linux of unknown release"),
        },
    };
    Honoured { reads: Some(reads), writes: Some(writes), cache_below: None }
}

/// The running kernel's release: `(6, 14)`.
fn release() -> Option<(u32, u32)> {
    let name = rustix::system::uname();
    parse_release(name.release().to_str().ok()?)
}

fn parse_release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A loop device, at any depth, that goes through its file's page cache.
fn cache_below<'a>(
    tree: &Tree,
    layers: impl Iterator<Item = &'a crate::stack::Layer>,
) -> Option<String> {
    let mut all = layers.flat_map(|layer| layer.walk());
    all.find_map(|layer| match &layer.kind {
        LayerKind::Loop(backing)
            if tree.attribute(&layer.name, "loop/dio").as_deref() != Some("1") =>
        {
            let (name, backing) = (&layer.name, backing.display());
            Some(format!("{name} goes through the page cache of {backing}"))
        }
        _ => None,
    })
}

/// How a filesystem deals with direct I/O, as far as it is known.
enum Filesystem {
    Memory(&'static str),
    Btrfs,
    Zfs,
    Fuse(String),
    Remote(&'static str),
    Other(String),
}

/// `f_type` of statfs(2): <linux/magic.h>, and each filesystem's own.
const MAGIC: [(u64, &str); 11] = [
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x9584_58f6, "hugetlbfs"),
    (0x9123_683e, "btrfs"),
    (0x2fc1_2fc1, "zfs"),
    (0x6573_5546, "fuse"),
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "Ceph"),
];

impl Filesystem {
    fn of(file: &File, mount: Option<&Mount>) -> io::Result<Filesystem> {
        // A magic number has 32 bits, whatever sign the field has.
        let magic = rustix::fs::fstatfs(file)?.f_type as u64 & 0xffff_ffff;
        let reported = mount.map(|mount| mount.filesystem.clone());
        let known = MAGIC.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name);
        Ok(match known {
            Some(name @ ("tmpfs" | "ramfs" | "hugetlbfs")) => Filesystem::Memory(name),
            Some("btrfs") => Filesystem::Btrfs,
            Some("zfs") => Filesystem::Zfs,
            Some("fuse") => {
                Filesystem::Fuse(reported.unwrap_or_else(|| "the filesystem".to_owned()))
            }
            Some(name) => Filesystem::Remote(name),
            None => {
                Filesystem::Other(reported.unwrap_or_else(|| format!("the filesystem {magic:#x}")))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenOptions, Tristate};

    #[test]
    fn a_release_is_two_numbers_whatever_follows() {
        assert_eq!(parse_release("6.18.44-fc-v669"), Some((6, 18)));
        assert_eq!(parse_release("6.14-rc1"), Some((6, 14)));
        assert_eq!(parse_release("5.10.0+"), Some((5, 10)));
        for text in ["", "6", "six.one", ".1"] {
            assert_eq!(parse_release(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_not_asked_for_is_not_honoured() {
        let file = File::open("/proc/self/exe").unwrap();
        let answers = honoured(&file).unwrap();
        assert_eq!(answers.overall().verdict, Tristate::No);
        assert_eq!(answers.writes, None, "it is open for reading");
    }

    #[test]
    fn shared_memory_takes_the_flag_and_is_not_direct() {
        let path = format!("/dev/shm/iosonde-honoured-{}", std::process::id());
        let options = OpenOptions::new().read(true).write(true).create(true).direct(true);
        let Ok(file) = options.open(&path) else {
            iosonde_testing::skip!("/dev/shm takes no direct files");
        };
        std::fs::remove_file(&path).unwrap();
        let answers = honoured(&file).unwrap();
        assert_eq!(answers.overall(), Answer::no("tmpfs keeps its files in memory"));
        assert!(answers.reads.is_some() && answers.writes.is_some());
    }
}
