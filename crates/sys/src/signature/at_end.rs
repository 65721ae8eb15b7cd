//! Signatures that are found from the end.

use super::magics::{FIRMWARE_RAID, GPT, RAID};
use super::{checked, has};

const MD: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
const DRBD: &str = "a DRBD device";

/// A constant so many bytes before the end.
const MAGICS: &[(&str, u64, &[u8])] = &[
    (FIRMWARE_RAID, 1024, b"Intel Raid ISM Cfg Sig. "),
    (FIRMWARE_RAID, 512, &0xde11_de11_u32.to_be_bytes()),
    (FIRMWARE_RAID, 512, b"$XIDE$"),
    (FIRMWARE_RAID, 1024, b"NVIDIA"),
    (FIRMWARE_RAID, 11 * 512, &0x5a78_16f3_u32.to_le_bytes()),
    (FIRMWARE_RAID, 11 * 512, &0x5a78_16fd_u32.to_le_bytes()),
    (DRBD, 4096 - 60, &0x8374_026b_u32.to_be_bytes()),
    (DRBD, 4096 - 60, &0x8374_026c_u32.to_be_bytes()),
    (DRBD, 4096 - 60, &0x8374_026d_u32.to_be_bytes()),
    (GPT, 512, b"EFI PART"),
    (GPT, 4096, b"EFI PART"),
    ("a disk image (VHD)", 512, b"conectix"),
];

/// Where a Promise RAID has its words, in sectors before the end: it depends on the
/// size of its disk.
const PROMISE: &[u64] = &[63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087];

/// Superblocks that are found from the end; `tail` holds the last bytes of so many.
pub(super) fn found(tail: &[u8], bytes: u64) -> Vec<&'static str> {
    let start = bytes - tail.len() as u64;
    let index = |at: u64| usize::try_from(at.checked_sub(start)?).ok();
    let has_at =
        |at: Option<u64>, magic: &[u8]| at.and_then(index).is_some_and(|at| has(tail, at, magic));
    let mut found: Vec<&'static str> = Vec::new();
    // md 1.0: 8 KiB from the end, on a border of 4 KiB; 0.90: the last 64 KiB that are whole.
    if has_at(bytes.checked_sub(8 << 10).map(|at| at & !0xfff), &MD)
        || has_at((bytes & !0xffff).checked_sub(64 << 10), &MD)
    {
        found.push(RAID);
    }
    let here = MAGICS.iter().filter(|(_, before, magic)| has_at(bytes.checked_sub(*before), magic));
    found.extend(here.map(|(name, ..)| name));
    let promise = |sectors: &&u64| {
        has_at((bytes & !511).checked_sub(*sectors * 512), b"Promise Technology, Inc.")
    };
    found.extend(PROMISE.iter().find(promise).map(|_| FIRMWARE_RAID));
    if has_at(bytes.checked_sub(512), &0x37fc_4d1e_u32.to_be_bytes())
        && has_at(bytes.checked_sub(256), b"DPTM")
    {
        found.push(FIRMWARE_RAID); // Adaptec.
    }
    // The third and fourth labels of ZFS lie on borders of 256 KiB.
    let labels = [512_u64 << 10, 256 << 10].map(|before| (bytes & !0x3_ffff).checked_sub(before));
    let labels = labels.into_iter().flatten().filter_map(index);
    found.extend(labels.filter_map(|at| checked::zfs(tail.get(at..)?)).next());
    found
}
