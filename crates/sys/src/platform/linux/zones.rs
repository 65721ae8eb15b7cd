//! The requests of zoned block devices (linux/blkzoned.h). The kernel counts in sectors of 512
//! bytes, whatever the device's are.
#![allow(unsafe_code)]

use iosonde_base::{ZoneCondition, ZoneKind, ZoneReport};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `_IOWR(0x12, 130, struct blk_zone_report)`.
const BLKREPORTZONE: u32 = 0xc010_1282;
/// `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: u32 = 0x4010_1283;
/// `_IOW(0x12, 136, struct blk_zone_range)`.
const BLKFINISHZONE: u32 = 0x4010_1288;

const SECTOR: u64 = 512;
/// `struct blk_zone_report` without its zones, in words of eight bytes.
const HEADER_WORDS: usize = 2;
/// `struct blk_zone`, in words of eight bytes.
const ZONE_WORDS: usize = 8;
/// `BLK_ZONE_REP_CAPACITY`: zones report their capacity.
const HAS_CAPACITY: u64 = 1;

/// The zones from the one that holds the byte at `from` on, `most` at most.
pub(crate) fn report_zones(
    file: BorrowedFd<'_>,
    from: u64,
    most: usize,
) -> io::Result<Vec<ZoneReport>> {
    let room = u32::try_from(most).unwrap_or(u32::MAX);
    let mut words = vec![0_u64; HEADER_WORDS + most * ZONE_WORDS];
    words[0] = from / SECTOR;
    words[1] = from_halves(room, 0);
    // SAFETY: the kernel reads the header and writes it and at most `room` zones behind it,
    // for which `words` has space; it lives until the call returns, as does the descriptor.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), BLKREPORTZONE as _, words.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let (count, flags) = halves(words[1]);
    let zones = words[HEADER_WORDS..].chunks_exact(ZONE_WORDS).take(count as usize);
    Ok(zones.map(|zone| decode(zone, u64::from(flags) & HAS_CAPACITY != 0)).collect())
}

/// Empty a zone.
pub(crate) fn reset_zone(file: BorrowedFd<'_>, start: u64, bytes: u64) -> io::Result<()> {
    command(file, BLKRESETZONE, start, bytes)
}

/// Make a zone full.
pub(crate) fn finish_zone(file: BorrowedFd<'_>, start: u64, bytes: u64) -> io::Result<()> {
    command(file, BLKFINISHZONE, start, bytes)
}

/// Write all of `data` at `offset`.
pub(crate) fn write_all_at(file: BorrowedFd<'_>, data: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < data.len() {
        let (rest, at) = (&data[done..], (offset + done as u64) as libc::off_t);
        // SAFETY: the kernel reads `rest`, which lives until the call returns.
        let result =
            unsafe { libc::pwrite(file.as_raw_fd(), rest.as_ptr().cast(), rest.len(), at) };
        match usize::try_from(result) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => done += more,
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

fn command(file: BorrowedFd<'_>, request: u32, start: u64, bytes: u64) -> io::Result<()> {
    let range = [start / SECTOR, bytes / SECTOR];
    // SAFETY: the request reads two u64 through the pointer, and `range` lives until the call
    // returns, as does the descriptor.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), request as _, range.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A zone from its words; the numbers are those of `enum blk_zone_type` and `blk_zone_cond`.
fn decode(words: &[u64], has_capacity: bool) -> ZoneReport {
    let [kind, condition, ..] = words[3].to_ne_bytes();
    let len = words[1].saturating_mul(SECTOR);
    ZoneReport {
        start: words[0].saturating_mul(SECTOR),
        len,
        capacity: if has_capacity { words[4].saturating_mul(SECTOR) } else { len },
        write_pointer: words[2].saturating_mul(SECTOR),
        // Zones that only prefer sequential writes take any: as in fio, they have no pointer.
        kind: if kind == 2 { ZoneKind::Sequential } else { ZoneKind::Conventional },
        condition: match (kind, condition) {
            (_, 13) => ZoneCondition::ReadOnly,
            (_, 15) => ZoneCondition::Offline,
            (1 | 3, _) | (_, 0) => ZoneCondition::NotWritePointer,
            (_, 2) => ZoneCondition::ImplicitlyOpen,
            (_, 3) => ZoneCondition::ExplicitlyOpen,
            (_, 4) => ZoneCondition::Closed,
            (_, 14) => ZoneCondition::Full,
            _ => ZoneCondition::Empty,
        },
    }
}

/// Two u32 that lie one behind the other.
fn from_halves(first: u32, second: u32) -> u64 {
    let (a, b) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
}

fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_zone_is_read_from_where_the_kernel_puts_it() {
        let mut bytes = [0_u8; 64];
        bytes[0..8].copy_from_slice(&256_u64.to_ne_bytes());
        bytes[8..16].copy_from_slice(&128_u64.to_ne_bytes());
        bytes[16..24].copy_from_slice(&264_u64.to_ne_bytes());
        (bytes[24], bytes[25]) = (2, 4);
        bytes[32..40].copy_from_slice(&96_u64.to_ne_bytes());
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let zone = ZoneReport {
            start: 131_072,
            len: 65536,
            capacity: 49152,
            write_pointer: 135_168,
            kind: ZoneKind::Sequential,
            condition: ZoneCondition::Closed,
        };
        assert_eq!(decode(&words, true), zone);
        assert_eq!(decode(&words, false), ZoneReport { capacity: 65536, ..zone });
    }

    #[test]
    fn the_requests_have_the_numbers_of_the_header() {
        // Direction, size, type and number, as _IOC composes them.
        let request = |direction: u32, number: u32| direction << 30 | 16 << 16 | 0x12 << 8 | number;
        assert_eq!(BLKREPORTZONE, request(3, 130));
        assert_eq!(BLKRESETZONE, request(1, 131));
        assert_eq!(BLKFINISHZONE, request(1, 136));
    }

    #[test]
    fn what_has_no_zones_answers_with_an_error() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let file = null.as_fd();
        assert!(report_zones(file, 0, 4).is_err());
        assert!(reset_zone(file, 0, 65536).is_err());
        assert!(finish_zone(file, 0, 65536).is_err());
    }
}
