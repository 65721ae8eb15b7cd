//! Signatures on storage: file systems, partition tables, volumes, swap.
//!
//! A signature shows that somebody's data may be there. What carries none may
//! still hold data: raw volumes of databases mostly do not.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes at the start that are searched: ZFS' labels are 256 KiB long.
const HEAD: u64 = 264 << 10;
/// Bytes at the end: the superblock of md 0.90 lies in the last 128 KiB.
const TAIL: u64 = 128 << 10;

/// A constant at a fixed offset from the start.
struct Magic {
    name: &'static str,
    at: usize,
    bytes: &'static [u8],
}

const fn magic(name: &'static str, at: usize, bytes: &'static [u8]) -> Magic {
    Magic { name, at, bytes }
}

const SWAP: &str = "swap space";
const HIBERNATED: &str = "a hibernated system's memory";
const LVM: &str = "an LVM physical volume";
const RAID: &str = "a member of a Linux RAID (md)";
const LUKS: &str = "a LUKS encrypted volume";
const OCFS2: &str = "an OCFS2 file system";
const REISERFS: &str = "a ReiserFS file system";

/// The formats of libblkid that are found by a constant. Offsets are those of
/// the formats' specifications. Magics of two bytes are not in this list: random
/// data would match them, so their formats are checked further.
const MAGICS: &[Magic] = &[
    magic("an XFS file system", 0, b"XFSB"),
    magic("a Btrfs file system", 0x1_0040, b"_BHRfS_M"),
    magic("an F2FS file system", 1024, &0xf2f5_2010_u32.to_le_bytes()),
    magic("a NILFS2 file system", 1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34]),
    magic("an EROFS file system", 1024, &0xe0f5_e1e2_u32.to_le_bytes()),
    magic("a SquashFS file system", 0, b"hsqs"),
    magic("a cramfs file system", 0, &0x28cd_3d45_u32.to_le_bytes()),
    magic("a romfs file system", 0, b"-rom1fs-"),
    magic("a JFS file system", 0x8000, b"JFS1"),
    magic(REISERFS, 0x1_0034, b"ReIsEr"),
    magic(REISERFS, 0x2034, b"ReIsEr"),
    magic("a Reiser4 file system", 0x1_0000, b"ReIsEr4"),
    magic("a GFS2 file system", 0x1_0000, &0x0116_1970_u32.to_be_bytes()),
    magic(OCFS2, 1024, b"OCFSV2"),
    magic(OCFS2, 2048, b"OCFSV2"),
    magic(OCFS2, 4096, b"OCFSV2"),
    magic(OCFS2, 8192, b"OCFSV2"),
    magic("an NTFS file system", 3, b"NTFS    "),
    magic("an exFAT file system", 3, b"EXFAT   "),
    magic("a ReFS file system", 3, b"ReFS\0\0\0\0"),
    magic("a BitLocker encrypted volume", 3, b"-FVE-FS-"),
    magic("an APFS container", 32, b"NXSB"),
    magic("an HFS+ file system", 1024, b"H+\0\x04"),
    magic("an HFS+ file system", 1024, b"HX\0\x05"),
    magic("an ISO 9660 file system", 0x8001, b"CD001"),
    magic("a UDF file system", 0x8001, b"BEA01"),
    magic("a bcachefs or bcache device", 4096 + 24, b"\xc6\x85\x73\xf6"),
    magic("a Ceph BlueStore device", 0, b"bluestore block device"),
    magic("an Oracle ASM disk", 32, b"ORCLDISK"),
    magic("a Stratis pool", 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    magic(LUKS, 0, b"LUKS\xba\xbe"),
    magic(LUKS, 0x4000, b"SKUL\xba\xbe"),
    magic("a dm-integrity volume", 0, b"integrt\0"),
    magic("a dm-verity volume", 0, b"verity\0\0"),
    magic("a VDO volume", 0, b"dmvdo001"),
    magic("an LVM snapshot", 0, b"SnAp"),
    magic(RAID, 0, &0xa92b_4efc_u32.to_le_bytes()),
    magic(RAID, 4096, &0xa92b_4efc_u32.to_le_bytes()),
    magic(LVM, 0, b"LABELONE"),
    magic(LVM, 512, b"LABELONE"),
    magic(LVM, 1024, b"LABELONE"),
    magic(LVM, 1536, b"LABELONE"),
    magic("a partition table (GPT)", 512, b"EFI PART"),
    magic("a partition table (GPT)", 4096, b"EFI PART"),
    magic("a BSD disk label", 512, &0x8256_4557_u32.to_le_bytes()),
    magic("an Apple partition map", 512, b"PM\0\0"),
];

/// Swap's words stand at the end of its first page, however large pages are there.
const PAGES: [usize; 4] = [4 << 10, 8 << 10, 16 << 10, 64 << 10];
const SWAP_WORDS: [(&str, &[u8; 10]); 6] = [
    (SWAP, b"SWAPSPACE2"),
    (SWAP, b"SWAP-SPACE"),
    (HIBERNATED, b"S1SUSPEND\0"),
    (HIBERNATED, b"S2SUSPEND\0"),
    (HIBERNATED, b"ULSUSPEND\0"),
    (HIBERNATED, b"LINHIB0001"),
];

/// The signatures in a range of a device or file, each with its article:
/// `an ext4 file system`. A device is given as a whole or by the range of one of
/// its partitions.
///
/// # Errors
/// The range cannot be read.
pub(crate) fn signatures(file: &File, range: Range<u64>) -> io::Result<Vec<&'static str>> {
    let bytes = range.end.saturating_sub(range.start);
    let head = read(file, range.start, bytes.min(HEAD))?;
    let tail = read(file, range.end.saturating_sub(bytes.min(TAIL)), bytes.min(TAIL))?;
    let mut found = Vec::new();
    found.extend(ext(&head));
    found.extend(fat(&head));
    found.extend(MAGICS.iter().filter(|magic| has(&head, magic.at, magic.bytes)).map(|m| m.name));
    found.extend(minix(&head));
    found.extend(sun(&head));
    found.extend(swap(&head));
    found.extend(zfs(&head));
    found.extend(at_the_end(&tail, bytes));
    found.extend(mbr(&head).filter(|_| fat(&head).is_none()));
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

/// ext2, ext3 and ext4 differ in their features only.
fn ext(head: &[u8]) -> Option<&'static str> {
    const SUPERBLOCK: usize = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    /// Extents, 64 bits, flexible groups: what ext3 cannot mount.
    const EXT4_ONLY: u32 = 0x40 | 0x80 | 0x200;
    /// Blocks of at most 64 KiB, revision 0 or 1.
    const LOG_BLOCK_MAX: u32 = 6;
    if !has(head, SUPERBLOCK + 0x38, &0xef53_u16.to_le_bytes())
        || u32_at(head, SUPERBLOCK + 0x18)? > LOG_BLOCK_MAX
        || u32_at(head, SUPERBLOCK + 0x4c)? > 1
    {
        return None;
    }
    let (compatible, incompatible) =
        (u32_at(head, SUPERBLOCK + 0x5c)?, u32_at(head, SUPERBLOCK + 0x60)?);
    Some(match (incompatible & EXT4_ONLY, compatible & HAS_JOURNAL) {
        (0, 0) => "an ext2 file system",
        (0, _) => "an ext3 file system",
        _ => "an ext4 file system",
    })
}

/// The boot sector of FAT ends as a partition table does.
fn fat(head: &[u8]) -> Option<&'static str> {
    let jumps = matches!(head.first(), Some(0xeb | 0xe9));
    let named = has(head, 54, b"FAT1") || has(head, 82, b"FAT32   ");
    (jumps && named && has(head, 510, &[0x55, 0xaa])).then_some("a FAT file system")
}

/// A partition table of the old kind. Boot code alone does not count: one entry at least
/// has a type and a length, and all have one of the two possible states.
fn mbr(head: &[u8]) -> Option<&'static str> {
    if !has(head, 510, &[0x55, 0xaa]) {
        return None;
    }
    let entries = head[446..510].chunks_exact(16);
    let sound = entries.clone().all(|entry| matches!(entry[0], 0 | 0x80));
    let used = |entry: &[u8]| entry[4] != 0 && u32_at(entry, 12) != Some(0);
    (sound && entries.into_iter().any(used)).then_some("a partition table (MBR)")
}

/// Versions 1 and 2 have their magic at byte 16, version 3 at byte 24.
fn minix(head: &[u8]) -> Option<&'static str> {
    const OLD: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
    const V3: u16 = 0x4d5a;
    let block = head.get(1024..1056)?;
    let field = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
    let old = OLD.contains(&field(16)) && field(10) == 0 && field(18) <= 3 && field(4) > 0;
    let v3 = field(24) == V3 && field(12) == 0 && field(28) >= 1024 && field(28).is_power_of_two();
    (old || v3).then_some("a Minix file system")
}

/// The halfwords of a Sun label, its checksum among them, give zero together.
fn sun(head: &[u8]) -> Option<&'static str> {
    let sector = head.get(..512)?;
    let sum = sector.chunks_exact(2).fold([0, 0], |sum, half| [sum[0] ^ half[0], sum[1] ^ half[1]]);
    (has(sector, 508, &[0xda, 0xbe]) && sum == [0, 0]).then_some("a Sun disk label")
}

fn swap(head: &[u8]) -> Option<&'static str> {
    let at = |page: usize| SWAP_WORDS.iter().find(|(_, word)| has(head, page - 10, *word));
    PAGES.into_iter().find_map(at).map(|(name, _)| *name)
}

/// Any uberblock of the first label; each is at least 1 KiB long.
fn zfs(head: &[u8]) -> Option<&'static str> {
    const UBERBLOCK: u64 = 0x00ba_b10c;
    let ring = head.get(128 << 10..256 << 10)?;
    let begins = |block: &[u8]| {
        block.starts_with(&UBERBLOCK.to_le_bytes()) || block.starts_with(&UBERBLOCK.to_be_bytes())
    };
    ring.chunks_exact(1024).any(begins).then_some("a member of a ZFS pool")
}

/// Superblocks that are found from the end; `tail` holds the last bytes of so many.
fn at_the_end(tail: &[u8], bytes: u64) -> Option<&'static str> {
    const MD: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
    let start = bytes - tail.len() as u64;
    let has_at = |at: Option<u64>, magic: &[u8]| {
        let at = at.and_then(|at| usize::try_from(at.checked_sub(start)?).ok());
        at.is_some_and(|at| has(tail, at, magic))
    };
    // md 1.0: 8 KiB from the end, on a border of 4 KiB; 0.90: the last 64 KiB that are whole.
    if has_at(bytes.checked_sub(8 << 10).map(|at| at & !0xfff), &MD)
        || has_at((bytes & !0xffff).checked_sub(64 << 10), &MD)
    {
        return Some(RAID);
    }
    if has_at(bytes.checked_sub(1024), b"Intel Raid ISM Cfg Sig. ")
        || has_at(bytes.checked_sub(512), &0xde11_de11_u32.to_be_bytes())
    {
        return Some("a member of a firmware RAID");
    }
    None
}

#[cfg(test)]
mod tests {
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
        signatures(&image(&folder, writes), 0..SIZE).unwrap()
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
        assert_eq!(
            found(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. ")]),
            ["a member of a firmware RAID"]
        );
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
