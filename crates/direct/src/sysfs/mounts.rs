//! Mounts and swap: /proc/self/mountinfo, /proc/swaps.

use std::path::{Path, PathBuf};

use crate::platform::os_string;
use crate::stack::{DeviceId, Mount};

/// The mounts in the text of /proc/self/mountinfo, in the order they were made.
/// A malformed line is skipped.
pub fn parse_mounts(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&byte| byte == b'\n').filter_map(parse_mount).collect()
}

/// `36 35 98:0 /root /point options [optional ...] - type source options`
fn parse_mount(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|&byte| byte == b' ');
    let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let device = DeviceId::parse(std::str::from_utf8(words.nth(1)?).ok()?)?;
    let root = path(words.next()?);
    let point = path(words.next()?);
    let options = text(words.next()?);
    let mut after = words.skip_while(|&word| word != b"-").skip(1);
    let filesystem = text(after.next()?);
    let source = os_string(unescape(after.next()?));
    // Old kernels and test trees may end here.
    let super_options = after.next().map(text).unwrap_or_default();
    if !point.is_absolute() || filesystem.is_empty() {
        return None;
    }
    Some(Mount { id, device, point, filesystem, source, root, options, super_options })
}

fn path(word: &[u8]) -> PathBuf {
    PathBuf::from(os_string(unescape(word)))
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(word)).into_owned()
}

/// The paths in the text of /proc/swaps.
pub fn parse_swaps(swaps: &[u8]) -> Vec<PathBuf> {
    let lines = swaps.split(|&byte| byte == b'\n').skip(1);
    let first = |line: &[u8]| {
        let word = line.split(u8::is_ascii_whitespace).next()?;
        (!word.is_empty()).then(|| PathBuf::from(os_string(unescape(word))))
    };
    lines.filter_map(first).collect()
}

/// The mount that `path` (absolute, without links) lies on: the deepest, and
/// of several at one place the last, which hides the others.
pub fn mount_below<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    // `max_by_key` takes the last of equals.
    let holds = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    holds.max_by_key(|mount| mount.point.components().count())
}

/// Undo the kernel's `\040` for a space, and the like.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match octal(rest) {
            Some(escaped) => {
                plain.push(escaped);
                rest = &rest[4..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

fn octal(text: &[u8]) -> Option<u8> {
    let [b'\\', digits @ ..] = text.get(..4)? else { return None };
    let digit = |sum: u32, byte: &u8| char::from(*byte).to_digit(8).map(|value| sum * 8 + value);
    u8::try_from(digits.iter().try_fold(0, digit)?).ok()
}

#[cfg(test)]
#[cfg(unix)] // The mounts are of Unix, as are the names in them.
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &[u8] = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        36 27 8:1 /sub /mnt/my\\040disk rw master:1 shared:7 - xfs /dev/disk/by\\134id rw\n\
        24 27 0:6 / /dev rw - devtmpfs devtmpfs rw\n\
        25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n\
        30 25 0:27 / /dev/shm rw - tmpfs again rw\n";

    #[test]
    fn a_mount_is_read_with_its_escapes_and_optional_fields() {
        let mounts = parse_mounts(TEXT);
        assert_eq!(mounts.len(), 6);
        let disk = &mounts[2];
        assert_eq!(disk.device, DeviceId { major: 8, minor: 1 });
        assert_eq!(disk.point, Path::new("/mnt/my disk"));
        assert_eq!(disk.filesystem, "xfs");
        assert_eq!(disk.source, "/dev/disk/by\\id");
        assert_eq!(disk.id, 36);
        assert_eq!(disk.root, Path::new("/sub"));
        assert_eq!(disk.options, "rw");
        assert_eq!(mounts[1].super_options, "rw,discard");
        assert!(mounts[1].has_option("discard") && !mounts[1].has_option("disc"));
        assert_eq!(mounts[0].option("relatime"), Some(""));
    }

    #[test]
    fn the_deepest_and_last_mount_is_the_one_below() {
        let mounts = parse_mounts(TEXT);
        let source = |path: &str| mount_below(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/dev/shm/file"), "again");
        assert_eq!(source("/dev/shmfile"), "devtmpfs");
        assert_eq!(source("/dev"), "devtmpfs");
        assert_eq!(source("/home/user"), "/dev/vda");
        assert_eq!(mount_below(&[], Path::new("/")), None);
    }

    #[test]
    fn swaps_are_the_first_words_below_the_heading() {
        let text = b"Filename\tType\tSize\tUsed\tPriority\n\
            /dev/loop0     partition\t8188\t0\t-2\n/swap\\040file file 1 0 -3\n\n";
        assert_eq!(parse_swaps(text), [Path::new("/dev/loop0"), Path::new("/swap file")]);
        assert!(parse_swaps(b"").is_empty());
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(unescape(b"a\\"), b"a\\");
        assert_eq!(unescape(b"\\04"), b"\\04");
        assert_eq!(unescape(b"\\777"), b"\\777");
        assert_eq!(unescape(b"\\049"), b"\\049");
        assert_eq!(unescape(b"\\134\\040"), b"\\ ");
    }

    proptest! {
        #[test]
        fn mutated_text_yields_mounts_or_nothing_but_no_panic(
            edits in proptest::collection::vec((0..TEXT.len(), any::<u8>()), 1..12),
            end in 0..TEXT.len(),
        ) {
            let mut text = TEXT.to_vec();
            for (at, byte) in edits {
                text[at] = byte;
            }
            text.truncate(end);
            let lines = text.split(|&byte| byte == b'\n').count();
            let mounts = parse_mounts(&text);
            prop_assert!(mounts.len() <= lines);
            prop_assert!(mounts.iter().all(|mount| mount.point.is_absolute()));
            prop_assert!(parse_swaps(&text).len() <= lines);
        }
    }
}
