//! Signatures on storage: file systems, partition tables, volumes, swap.
//!
//! A signature shows that somebody's data may be there. What carries none may
//! still hold data: raw volumes of databases mostly do not.

use crate::files::FileExt;
use crate::platform;
use magics::{MAGICS, Magic};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

mod at_end;
mod checked;
mod magics;

/// Bytes at the start that are searched: ZFS' labels are 256 KiB long.
const HEAD: u64 = 264 << 10;
/// Where else a constant lies, and how many bytes are read there: VMFS.
const FAR: [u64; 2] = [1 << 20, 2 << 20];
/// Bytes at the end: the last two labels of ZFS, on borders of 256 KiB, and the words of
/// firmware RAIDs up to 3087 sectors before it.
const TAIL: u64 = 1600 << 10;

/// The signatures in a range of a device or file, each with its article:
/// `an ext4 file system`. A device is given as a whole or by the range of one of
/// its partitions.
///
/// # Errors
/// The range cannot be read.
pub(crate) fn signatures(file: &File, range: Range<u64>) -> io::Result<Vec<Cow<'static, str>>> {
    let known = known(file, &range)?;
    if known.is_empty() {
        return Ok(platform::blkid_type(file, range).map(Cow::Owned).into_iter().collect());
    }
    Ok(known.into_iter().map(Cow::Borrowed).collect())
}

/// Those of our own list.
fn known(file: &File, range: &Range<u64>) -> io::Result<Vec<&'static str>> {
    let bytes = range.end.saturating_sub(range.start);
    let head = read(file, range.start, bytes.min(HEAD))?;
    let tail = read(file, range.end.saturating_sub(bytes.min(TAIL)), bytes.min(TAIL))?;
    let mut found = Vec::new();
    found.extend(checked::ext(&head));
    found.extend(checked::fat(&head));
    found.extend(MAGICS.iter().filter(|magic| has(&head, magic.at, magic.bytes)).map(|m| m.name));
    for at in FAR.into_iter().filter(|at| *at < bytes) {
        let there = read(file, range.start + at, (bytes - at).min(16))?;
        let here = |magic: &&Magic| magic.at as u64 == at && has(&there, 0, magic.bytes);
        found.extend(MAGICS.iter().filter(here).map(|magic| magic.name));
    }
    for check in
        [checked::hfs, checked::minix, checked::sun, checked::sgi, checked::swap, checked::zfs]
    {
        found.extend(check(&head));
    }
    // A tail that is cut short would be searched at wrong places.
    if tail.len() as u64 == bytes.min(TAIL) {
        found.extend(at_end::found(&tail, bytes));
    }
    found.extend(checked::mbr(&head).filter(|_| checked::fat(&head).is_none()));
    let mut distinct: Vec<&'static str> = Vec::new();
    for name in found {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct)
}

/// So many bytes, or fewer where the storage ends before.
fn read(file: &File, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes as usize]; // At most HEAD.
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(buffer)
}

fn has(data: &[u8], at: usize, bytes: &[u8]) -> bool {
    data.get(at..).is_some_and(|rest| rest.starts_with(bytes))
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::magics::{FIRMWARE_RAID, GPT, RAID, SWAP};
    use super::*;
    use iosonde_testing::{Folder, or_skip_part, run};

    const SIZE: u64 = 64 << 20;

    fn image(folder: &Folder, writes: &[(u64, &[u8])]) -> File {
        let path = folder.join("image");
        let options = File::options().read(true).write(true).create(true).truncate(true).open(path);
        let file = options.unwrap();
        file.set_len(SIZE).unwrap();
        writes.iter().for_each(|(at, bytes)| file.write_all_at(bytes, *at).unwrap());
        file
    }

    fn found(writes: &[(u64, &[u8])]) -> Vec<&'static str> {
        let folder = Folder::temporary("signature");
        known(&image(&folder, writes), &(0..SIZE)).unwrap()
    }

    #[test]
    fn what_is_blank_or_ordinary_data_has_no_signature() {
        assert!(found(&[]).is_empty());
        let pattern: Vec<u8> = (0..1_u32 << 20).map(|n| (n * 7 % 251) as u8).collect();
        assert!(found(&[(0, &pattern), (SIZE - (1 << 20), &pattern)]).is_empty());
    }

    #[test]
    fn each_magic_is_found_at_its_place_and_nowhere_else() {
        for magic in MAGICS {
            let at = magic.at as u64;
            assert!(found(&[(at, magic.bytes)]).contains(&magic.name), "{}", magic.name);
            let elsewhere = found(&[(at + 300 * 1024, magic.bytes)]);
            assert!(elsewhere.is_empty(), "{} at another place", magic.name);
        }
    }

    #[test]
    fn superblocks_at_the_end_are_found() {
        let md = 0xa92b_4efc_u32.to_le_bytes();
        assert_eq!(found(&[(SIZE - (8 << 10), &md)]), [RAID]);
        assert_eq!(found(&[(SIZE - (64 << 10), &md)]), [RAID]);
        assert_eq!(found(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. ")]), [FIRMWARE_RAID]);
        assert_eq!(found(&[(SIZE - 3087 * 512, b"Promise Technology, Inc.")]), [FIRMWARE_RAID]);
        for sector in [512, 4096] {
            assert_eq!(found(&[(SIZE - sector, b"EFI PART")]), [GPT], "the backup alone");
        }
        for (bytes, label) in [(SIZE, 2), (SIZE, 1), (SIZE + 100_000, 2), (SIZE + 100_000, 1)] {
            let folder = Folder::temporary("signature-zfs");
            let uberblock = (bytes & !0x3_ffff) - label * (256 << 10) + (128 << 10);
            let file = image(&folder, &[(uberblock, &0x00ba_b10c_u64.to_le_bytes())]);
            file.set_len(bytes).unwrap();
            assert_eq!(known(&file, &(0..bytes)).unwrap(), ["a member of a ZFS pool"]);
        }
    }

    #[test]
    fn a_partition_table_needs_an_entry_and_a_fat_is_not_one() {
        let entry = [0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0];
        let end: (u64, &[u8]) = (510, &[0x55, 0xaa]);
        assert!(found(&[end]).is_empty(), "boot code alone");
        assert_eq!(found(&[end, (446, &entry)]), ["a partition table (MBR)"]);
        assert!(found(&[end, (446, &entry), (462, &[7])]).is_empty(), "no state is 7");
        let fat = [(0, &[0xeb][..]), (82, b"FAT32   "), end, (446, &entry)];
        assert_eq!(found(&fat), ["a FAT file system"]);
    }

    #[test]
    fn two_bytes_alone_are_no_signature() {
        for (at, magic) in [(1080, 0xef53_u16), (1040, 0x137f), (1048, 0x4d5a), (508, 0xbeda)] {
            let random: Vec<u8> = (0..4096_u32).map(|n| (n * n % 253 + 1) as u8).collect();
            let found = found(&[(0, &random), (at, &magic.to_le_bytes())]);
            assert!(found.is_empty(), "{found:?}");
        }
        let mut label = [0; 512];
        label[508..].copy_from_slice(&[0xda, 0xbe, 0xda, 0xbe]);
        assert_eq!(found(&[(0, &label)]), ["a Sun disk label"]);
    }

    #[test]
    fn zfs_is_found_in_either_byte_order() {
        let (at, magic) = ((128 << 10) + 3 * 1024, 0x00ba_b10c_u64);
        assert_eq!(found(&[(at, &magic.to_le_bytes())]), ["a member of a ZFS pool"]);
        assert_eq!(found(&[(at, &magic.to_be_bytes())]), ["a member of a ZFS pool"]);
    }

    #[test]
    fn a_range_is_judged_alone_and_a_tiny_one_too() {
        let folder = Folder::temporary("signature-range");
        let file = image(&folder, &[(1 << 20, b"XFSB")]);
        assert!(signatures(&file, 0..SIZE).unwrap().is_empty());
        assert_eq!(signatures(&file, 1 << 20..SIZE).unwrap(), ["an XFS file system"]);
        for bytes in [0, 1, 3, 511, 513, 1500, 4096, 70_000] {
            let _ = signatures(&file, 0..bytes).unwrap();
        }
        assert!(signatures(&file, SIZE..SIZE + 4096).unwrap().is_empty(), "past the end");
    }

    #[test]
    fn formats_are_found_by_their_documented_bytes_as_by_blkid() {
        type Writes<'w> = &'w [(u64, &'w [u8])];
        const MIB: u64 = 1 << 20;
        let formats: [(&str, Writes<'_>); 27] = [
            ("VMFS_volume_member", &[(MIB, b"\x0d\xd0\x01\xc0")]),
            ("VMFS", &[(2 * MIB, b"\x5e\xf1\xab\x2f")]),
            ("ufs", &[(8192 + 1372, b"\x54\x19\x01\0")]),
            ("ufs", &[(0x1_0000 + 1372, b"\x19\x01\x54\x19")]),
            ("ufs", &[(0x4_0000 + 1372, b"\x19\x01\x54\x19")]),
            ("vxfs", &[(1024, b"\xf5\xfc\x01\xa5")]),
            ("vxfs", &[(8192, b"\xa5\x01\xfc\xf5")]),
            ("drbd", &[(SIZE - 4096 + 60, b"\x83\x74\x02\x6b")]),
            ("drbd", &[(SIZE - 4096 + 60, b"\x83\x74\x02\x6d")]),
            ("hfs", &[(1024, b"BD"), (1044, b"\0\0\x02\0")]),
            ("zonefs", &[(0, b"SFOZ")]),
            ("ubi", &[(0, b"UBI#")]),
            ("ubifs", &[(0, b"\x31\x18\x10\x06")]),
            ("nss", &[(4096, b"SPB5")]),
            ("sgi", &[(0, b"\x0b\xe5\xa9\x41"), (508, b"\xf4\x1a\x56\xbf")]),
            ("promise_fasttrack_raid_member", &[(SIZE - 63 * 512, b"Promise Technology, Inc.")]),
            ("lsi_mega_raid_member", &[(SIZE - 512, b"$XIDE$")]),
            ("nvidia_raid_member", &[(SIZE - 1024, b"NVIDIA")]),
            ("jmicron_raid_member", &[(SIZE - 512, b"JM")]),
            ("hpt45x_raid_member", &[(SIZE - 11 * 512, b"\xf3\x16\x78\x5a")]),
            ("hpt37x_raid_member", &[(9 * 512 + 32, b"\xf0\x16\x78\x5a")]),
            ("adaptec_raid_member", &[(SIZE - 512, b"\x37\xfc\x4d\x1e"), (SIZE - 256, b"DPTM")]),
            ("sysv", &[(1016, b"\x20\x7e\x18\xfd")]),
            ("bfs", &[(0, b"\xce\xfa\xad\x1b")]),
            ("aix", &[(0, b"\xc9\xc2\xd4\xc1")]),
            ("LVM1_member", &[(0, b"HM\x01\0")]),
            ("swsuspend", &[(0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c")]),
        ];
        for (kind, writes) in formats {
            let folder = Folder::temporary("signature-documented");
            let file = image(&folder, writes);
            let found = signatures(&file, 0..SIZE).unwrap();
            let path = folder.join("image");
            let arguments = ["-p", "-o", "export", path.to_str().unwrap()];
            match or_skip_part(run("blkid", &arguments)) {
                Some(blkid) => {
                    let line = |name: &str| blkid.contains(&format!("{name}={kind}"));
                    assert!(line("TYPE") || line("PTTYPE"), "{kind}: {blkid}");
                    assert!(!found.is_empty(), "{kind}: blkid knows it, and we do not");
                }
                None if kind == "jmicron_raid_member" => {} // Two bytes: by libblkid alone.
                None => assert!(!found.is_empty(), "{kind}"),
            }
        }
    }

    #[test]
    fn images_of_disks_on_a_raw_volume_are_found() {
        let images: [(&[u8], u64, &str); 5] = [
            (b"QFI\xfb", 0, "a disk image (qcow2)"),
            (b"KDMV", 0, "a disk image (VMDK)"),
            (b"# Disk DescriptorFile", 0, "a disk image (VMDK)"),
            (b"vhdxfile", 0, "a disk image (VHDX)"),
            (b"conectix", SIZE - 512, "a disk image (VHD)"),
        ];
        for (bytes, at, name) in images {
            assert_eq!(found(&[(at, bytes)]), [name]);
        }
    }

    /// The tools that make these formats, as far as they are installed.
    #[test]
    fn what_mkfs_and_others_make_is_found() {
        let makers: [(&str, &[&str], &str); 8] = [
            ("mkfs.ext4", &["-q", "-F"], "an ext4 file system"),
            ("mkfs.ext2", &["-q", "-F"], "an ext2 file system"),
            ("mkfs.ext3", &["-q", "-F"], "an ext3 file system"),
            ("mkswap", &[], SWAP),
            ("mkfs.vfat", &[], "a FAT file system"),
            ("mkfs.btrfs", &["-q", "-f", "--mixed"], "a Btrfs file system"),
            ("mkfs.f2fs", &["-q", "-f"], "an F2FS file system"),
            ("mkfs.minix", &[], "a Minix file system"),
        ];
        for (maker, more, name) in makers {
            let folder = Folder::temporary("signature-made");
            let file = image(&folder, &[]);
            let path = folder.join("image");
            let arguments = [more, &[path.to_str().unwrap()]].concat();
            if or_skip_part(run(maker, &arguments)).is_some() {
                assert_eq!(signatures(&file, 0..SIZE).unwrap(), [name], "{maker}");
            }
        }
    }
}
