//! Formats whose constants are too short to be believed alone: they are checked further.

use super::magics::{HIBERNATED, SWAP};
use super::{has, u32_at};

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

/// ext2, ext3 and ext4 differ in their features only.
pub(super) fn ext(head: &[u8]) -> Option<&'static str> {
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
pub(super) fn fat(head: &[u8]) -> Option<&'static str> {
    let jumps = matches!(head.first(), Some(0xeb | 0xe9));
    let named = has(head, 54, b"FAT1") || has(head, 82, b"FAT32   ");
    (jumps && named && has(head, 510, &[0x55, 0xaa])).then_some("a FAT file system")
}

/// A partition table of the old kind. Boot code alone does not count: one entry at least
/// has a type and a length, and all have one of the two possible states.
pub(super) fn mbr(head: &[u8]) -> Option<&'static str> {
    if !has(head, 510, &[0x55, 0xaa]) {
        return None;
    }
    let entries = head[446..510].chunks_exact(16);
    let sound = entries.clone().all(|entry| matches!(entry[0], 0 | 0x80));
    let used = |entry: &[u8]| entry[4] != 0 && u32_at(entry, 12) != Some(0);
    (sound && entries.into_iter().any(used)).then_some("a partition table (MBR)")
}

/// Versions 1 and 2 have their magic at byte 16, version 3 at byte 24.
pub(super) fn minix(head: &[u8]) -> Option<&'static str> {
    const OLD: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
    const V3: u16 = 0x4d5a;
    let block = head.get(1024..1056)?;
    let field = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
    let old = OLD.contains(&field(16)) && field(10) == 0 && field(18) <= 3 && field(4) > 0;
    let v3 = field(24) == V3 && field(12) == 0 && field(28) >= 1024 && field(28).is_power_of_two();
    (old || v3).then_some("a Minix file system")
}

/// The halfwords of a Sun label, its checksum among them, give zero together.
pub(super) fn sun(head: &[u8]) -> Option<&'static str> {
    let sector = head.get(..512)?;
    let sum = sector.chunks_exact(2).fold([0, 0], |sum, half| [sum[0] ^ half[0], sum[1] ^ half[1]]);
    (has(sector, 508, &[0xda, 0xbe]) && sum == [0, 0]).then_some("a Sun disk label")
}

pub(super) fn swap(head: &[u8]) -> Option<&'static str> {
    let at = |page: usize| SWAP_WORDS.iter().find(|(_, word)| has(head, page - 10, *word));
    PAGES.into_iter().find_map(at).map(|(name, _)| *name)
}

/// Any uberblock of a label of 256 KiB; each is at least 1 KiB long.
pub(super) fn zfs(label: &[u8]) -> Option<&'static str> {
    const UBERBLOCK: u64 = 0x00ba_b10c;
    let ring = label.get(128 << 10..256 << 10)?;
    let begins = |block: &[u8]| {
        block.starts_with(&UBERBLOCK.to_le_bytes()) || block.starts_with(&UBERBLOCK.to_be_bytes())
    };
    ring.chunks_exact(1024).any(begins).then_some("a member of a ZFS pool")
}

/// The words of an SGI label give zero together.
pub(super) fn sgi(head: &[u8]) -> Option<&'static str> {
    let sector = head.get(..512)?;
    let words = sector
        .chunks_exact(4)
        .map(|word| u32::from_be_bytes(word.try_into().expect("chunks of four bytes")));
    let sum = words.fold(0_u32, u32::wrapping_add);
    (has(sector, 0, &0x0be5_a941_u32.to_be_bytes()) && sum == 0).then_some("an SGI disk label")
}

/// Blocks of HFS are multiples of 512 bytes.
pub(super) fn hfs(head: &[u8]) -> Option<&'static str> {
    let block = u32::from_be_bytes(head.get(1024 + 20..1024 + 24)?.try_into().ok()?);
    let is_sound = block > 0 && block.is_multiple_of(512);
    (has(head, 1024, b"BD") && is_sound).then_some("an HFS file system")
}
