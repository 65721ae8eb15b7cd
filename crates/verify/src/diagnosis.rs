//! How an interval is wrong: the first question of a storage engineer.

use crate::block::MismatchKind;
use crate::checksum::BlockType;
use crate::content::{ROUND, SeededBytes};
use crate::header::{HEADER_BYTES, Header, MAGIC, VERSION};
use std::fmt;

/// The unit in which devices write: a tear lies on a multiple of it.
const SECTOR: usize = 512;

/// At most so many wrong bits are called bit flips.
const FLIPS_MOST: u32 = 64;

/// How an interval came to be wrong, as far as its bytes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// Only zeroes: never written, trimmed, or lost with its metadata.
    Zeroes,
    /// A sound block of the same place, from another write.
    OtherVersion {
        /// Number of the write that it is from.
        number: u64,
    },
    /// A sound block that belongs to another place.
    OtherPlace {
        /// Byte offset that its header names.
        offset: u64,
        /// Number of the write that it is from.
        number: u64,
    },
    /// The right block, but some bytes later or earlier than it should be.
    Shifted {
        /// Where in the interval its header was found.
        by: usize,
    },
    /// The content is right but for a few bits.
    BitFlips {
        /// How many.
        bits: u32,
        /// Byte of the interval that holds the first.
        at: usize,
    },
    /// Right up to a sector, then something else.
    Torn {
        /// Bytes from the start of the interval that are right: a multiple of
        /// 512.
        at: usize,
        /// Whether the rest is zeroes.
        zeroes: bool,
    },
    /// Something else up to a sector, then right.
    TornFront {
        /// Bytes from the start of the interval that are not right: a multiple
        /// of 512.
        at: usize,
        /// Whether they are zeroes.
        zeroes: bool,
    },
    /// The beginning of a block of another place, then something else.
    FrontOfAnother {
        /// Bytes that are of that block: a multiple of 512.
        at: usize,
        /// Byte offset that its header names.
        offset: u64,
        /// Number of the write that it is from.
        number: u64,
    },
    /// The header is damaged, and the content is right.
    HeaderDamaged,
    /// None of these.
    Unknown,
}

impl Diagnosis {
    /// Its name for programs.
    pub fn id(&self) -> &'static str {
        match self {
            Diagnosis::Zeroes => "zeroes",
            Diagnosis::OtherVersion { .. } => "other-version",
            Diagnosis::OtherPlace { .. } => "other-place",
            Diagnosis::Shifted { .. } => "shifted",
            Diagnosis::BitFlips { .. } => "bit-flips",
            Diagnosis::Torn { .. }
            | Diagnosis::TornFront { .. }
            | Diagnosis::FrontOfAnother { .. } => "torn",
            Diagnosis::HeaderDamaged => "header-damaged",
            Diagnosis::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Diagnosis::Zeroes => f.write_str("only zeroes"),
            Diagnosis::OtherVersion { number } => {
                write!(f, "the block of write {number} to the same offset")
            }
            Diagnosis::OtherPlace { offset, number } => {
                write!(f, "the block of write {number}, which belongs to offset {offset}")
            }
            Diagnosis::Shifted { by } => write!(f, "the right block, shifted by {by} bytes"),
            Diagnosis::BitFlips { bits, at } => {
                let s = if *bits == 1 { "" } else { "s" };
                write!(f, "{bits} bit{s} flipped, the first in byte {at}")
            }
            Diagnosis::Torn { at, zeroes } => {
                let rest = if *zeroes { "zeroes" } else { "other data" };
                write!(f, "torn: {at} bytes are right, then {rest}")
            }
            Diagnosis::TornFront { at, zeroes } => {
                let front = if *zeroes { "zeroes" } else { "other data" };
                write!(f, "torn: {at} bytes of {front}, the rest is right")
            }
            Diagnosis::FrontOfAnother { at, offset, number } => write!(
                f,
                "torn: {at} bytes of write {number}, which belong to offset {offset}, then other \
                 data"
            ),
            Diagnosis::HeaderDamaged => f.write_str("the header is damaged, the content is right"),
            Diagnosis::Unknown => f.write_str("other data: no block of this job, whole or damaged"),
        }
    }
}

/// Find out how an interval is wrong. `bytes` is the interval with its header
/// in front, `wanted` what it should hold (its header included), if that can
/// be made again; `kind` what the check said; `offset` its place.
pub fn diagnose(
    bytes: &[u8],
    wanted: Option<&[u8]>,
    kind: &MismatchKind,
    offset: u64,
) -> Diagnosis {
    if bytes.iter().all(|byte| *byte == 0) {
        return Diagnosis::Zeroes;
    }
    if let Some(found) = misplaced(bytes, kind, offset) {
        return found;
    }
    match wanted {
        Some(wanted) if wanted.len() == bytes.len() => {
            let found = compared(bytes, wanted);
            // What was made again from a header of another place is not what belongs here.
            match (found, sound_header(wanted)) {
                (Diagnosis::Torn { at, .. }, Some(header)) if header.offset != offset => {
                    let Header { offset, number, .. } = header;
                    Diagnosis::FrontOfAnother { at, offset, number }
                }
                _ => found,
            }
        }
        _ => shifted(bytes, offset).unwrap_or(Diagnosis::Unknown),
    }
}

/// A sound header with the wrong number or place, and a sound checksum: the
/// block is whole, and not the one.
fn misplaced(bytes: &[u8], kind: &MismatchKind, offset: u64) -> Option<Diagnosis> {
    let MismatchKind::Header(_) = kind else { return None };
    let header = sound_header(bytes)?;
    let block_type = BlockType::from_number(header.block_type)?;
    let taken = HEADER_BYTES + block_type.trailer_bytes();
    let stored = bytes.get(HEADER_BYTES..taken)?;
    if block_type.checksum(&bytes[taken..]).as_bytes() != stored {
        return None;
    }
    Some(if header.offset == offset {
        Diagnosis::OtherVersion { number: header.number }
    } else {
        Diagnosis::OtherPlace { offset: header.offset, number: header.number }
    })
}

/// The header in front of `bytes`, if it is one and its checksum holds.
fn sound_header(bytes: &[u8]) -> Option<Header> {
    if bytes.len() < HEADER_BYTES {
        return None;
    }
    let header = Header::decode(bytes);
    let sound =
        header.magic == MAGIC && header.version == VERSION && header.crc == Header::crc_of(bytes);
    sound.then_some(header)
}

/// The sound header of this place somewhere else in the interval.
fn shifted(bytes: &[u8], offset: u64) -> Option<Diagnosis> {
    (1..bytes.len().saturating_sub(HEADER_BYTES))
        .find(|&by| sound_header(&bytes[by..]).is_some_and(|header| header.offset == offset))
        .map(|by| Diagnosis::Shifted { by })
}

fn compared(bytes: &[u8], wanted: &[u8]) -> Diagnosis {
    // Time, padding and so the checksum of a header made again are others.
    let skip = if sound_header(wanted).is_some() { HEADER_BYTES } else { 0 };
    let Some(first) = (skip..bytes.len()).find(|&at| bytes[at] != wanted[at]) else {
        return Diagnosis::HeaderDamaged;
    };
    let bits: u32 = (skip..bytes.len())
        .map(|at| (bytes[at] ^ wanted[at]).count_ones())
        .fold(0, u32::saturating_add);
    if bits <= FLIPS_MOST {
        return Diagnosis::BitFlips { bits, at: first };
    }
    if let Some(torn) = torn(bytes, wanted, first, skip) {
        return torn;
    }
    let offset = sound_header(wanted).map_or(0, |header| header.offset);
    shifted(bytes, offset).unwrap_or(Diagnosis::Unknown)
}

/// A write of which only the sectors before or after one place arrived.
/// `first` is the first byte that differs; the first `skip` are not compared.
fn torn(bytes: &[u8], wanted: &[u8], first: usize, skip: usize) -> Option<Diagnosis> {
    let differs = |sector: usize| {
        let end = (sector + SECTOR).min(bytes.len());
        let from = sector.max(skip).min(end);
        bytes[from..end] != wanted[from..end]
    };
    let mut sectors = (0..bytes.len()).step_by(SECTOR);
    let at = first / SECTOR * SECTOR;
    if at > 0 {
        let zeroes = bytes[at..].iter().all(|byte| *byte == 0);
        return sectors
            .skip_while(|sector| *sector < at)
            .all(differs)
            .then_some(Diagnosis::Torn { at, zeroes });
    }
    let at = sectors.find(|&sector| !differs(sector))?;
    let zeroes = bytes[..at].iter().all(|byte| *byte == 0);
    sectors.all(|sector| !differs(sector)).then_some(Diagnosis::TornFront { at, zeroes })
}

/// At most so many bytes of an I/O are made again to find where in it an
/// interval lies.
const REMAKE_BYTES: usize = 16 << 20;

/// What an interval should hold by its own header, for a reader who knows
/// nothing of the job: the content that follows from the seed in it. The
/// trailer is made anew, the header is kept as it was read. None if the header
/// is not sound, or the content is not from a seed.
pub fn remake(bytes: &[u8]) -> Option<Vec<u8>> {
    let header = sound_header(bytes)?;
    let block_type = BlockType::from_number(header.block_type)?;
    if header.seed == 0 {
        return None;
    }
    let taken = HEADER_BYTES + block_type.trailer_bytes();
    let content = nearest_content(bytes, taken, &header)?;
    let mut wanted = content;
    wanted[..HEADER_BYTES].copy_from_slice(&bytes[..HEADER_BYTES]);
    let sum = block_type.checksum(&wanted[taken..]);
    wanted[HEADER_BYTES..taken].copy_from_slice(sum.as_bytes());
    Some(wanted)
}

/// The content of the interval, which may be any of its I/O: the one that
/// differs least from what was read, among those of which a word is right.
fn nearest_content(bytes: &[u8], taken: usize, header: &Header) -> Option<Vec<u8>> {
    let len = bytes.len();
    bytes.get(taken..)?;
    // An interval cannot lie farther into its I/O than into its file.
    let before = usize::try_from(header.offset).unwrap_or(usize::MAX) / len;
    let intervals = before.saturating_add(1).min((REMAKE_BYTES / len).max(1));
    let seeded = SeededBytes::new(header.seed);
    let whole = |interval: usize| {
        // Whole rounds, as of an I/O that goes on.
        let (begin, end) = (interval * len, (interval + 1) * len);
        let first = begin / ROUND;
        let mut rounds = vec![0; (end - first * ROUND).next_multiple_of(ROUND)];
        SeededBytes::new(seeded.first_word(first)).fill(&mut rounds);
        rounds[begin - first * ROUND..][..len].to_vec()
    };
    // The end of the shortest I/O.
    let mut nearest = vec![0; len];
    seeded.fill(&mut nearest);
    let bits = |content: &[u8]| -> u64 {
        let pairs = bytes[taken..].iter().zip(&content[taken..]);
        pairs.map(|(one, other)| u64::from((one ^ other).count_ones())).sum()
    };
    let mut least = bits(&nearest);
    let has_right_word = |interval: &usize| has_right_word(bytes, taken, *interval, seeded);
    for interval in (0..intervals).filter(has_right_word) {
        let content = whole(interval);
        let wrong = bits(&content);
        if wrong < least {
            (least, nearest) = (wrong, content);
        }
    }
    Some(nearest)
}

/// Whether one word of a sector is the one that this interval of an I/O would have
/// there. Without making the content: an I/O may have thousands of intervals.
fn has_right_word(bytes: &[u8], taken: usize, interval: usize, seeded: SeededBytes) -> bool {
    /// Sectors that are looked at: a tear leaves some of the first or the last.
    const SECTORS: usize = 8;
    let (begin, sectors) = (interval * bytes.len(), bytes.len().div_ceil(SECTOR));
    (0..sectors).step_by(sectors.div_ceil(SECTORS)).any(|sector| {
        // The next round behind the start of the sector, and what is before the content.
        let round = (begin + (sector * SECTOR).max(taken)).div_ceil(ROUND);
        let at = round * ROUND - begin;
        let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
        word.is_some_and(|word| u64::from_le_bytes(word) == seeded.first_word(round))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockContent, BlockFormat, BlockIdentity, Expected};

    fn format() -> BlockFormat {
        BlockFormat::new(BlockType::Crc32c, 0, 0, BlockContent::Seeded, 4096).unwrap()
    }

    fn block(offset: u64, number: u64) -> Vec<u8> {
        let identity = BlockIdentity { seed: 99 + number, offset, number, ..Default::default() };
        format().expected_bytes(4096, &identity)
    }

    /// The diagnosis of what was read in place of write 5 to offset 8192.
    fn of(read: &[u8]) -> Diagnosis {
        let expected = Expected { offset: 8192, seed: Some(104), number: Some(5) };
        let mut checked = read.to_vec();
        let wrong = format().check(&mut checked, &expected, &mut Vec::new());
        diagnose(read, Some(&block(8192, 5)), &wrong.unwrap_err().kind, 8192)
    }

    #[test]
    fn each_kind_of_damage_is_named() {
        let good = block(8192, 5);
        assert_eq!(of(&[0; 4096]), Diagnosis::Zeroes);
        assert_eq!(of(&block(8192, 3)), Diagnosis::OtherVersion { number: 3 });
        let other = Diagnosis::OtherPlace { offset: 4096, number: 5 };
        assert_eq!(of(&block(4096, 5)), other);
        let mut flipped = good.clone();
        flipped[1000] ^= 0b11;
        assert_eq!(of(&flipped), Diagnosis::BitFlips { bits: 2, at: 1000 });
        let mut torn = good.clone();
        torn[1024..].copy_from_slice(&block(8192, 3)[1024..]);
        assert_eq!(of(&torn), Diagnosis::Torn { at: 1024, zeroes: false });
        torn[1024..].fill(0);
        assert_eq!(of(&torn), Diagnosis::Torn { at: 1024, zeroes: true });
        let mut front = good.clone();
        front[..1536].copy_from_slice(&block(8192, 3)[..1536]);
        assert_eq!(of(&front), Diagnosis::TornFront { at: 1536, zeroes: false });
        front[..1536].fill(0);
        assert_eq!(of(&front), Diagnosis::TornFront { at: 1536, zeroes: true });
        let mut header = good.clone();
        header[0] = 0;
        assert_eq!(of(&header), Diagnosis::HeaderDamaged);
        let mut moved = vec![0xee; 4096];
        moved[7..].copy_from_slice(&good[..4089]);
        assert_eq!(of(&moved), Diagnosis::Shifted { by: 7 });
        let noise: Vec<u8> = (0..4096u32).map(|i| (i * 7 + 3) as u8).collect();
        assert_eq!(of(&noise), Diagnosis::Unknown);
    }

    #[test]
    fn a_block_is_made_again_from_its_own_header() {
        let good = block(8192, 5);
        assert_eq!(remake(&good), Some(good.clone()));
        let mut flipped = good.clone();
        flipped[77] ^= 1;
        assert_eq!(remake(&flipped), Some(good.clone()));
        flipped[9] ^= 1;
        assert_eq!(remake(&flipped), None, "the seed cannot be trusted");
    }

    #[test]
    fn an_interval_far_into_a_long_io_is_found_although_some_of_it_is_wrong() {
        let format = BlockFormat::new(BlockType::Crc32c, 4096, 0, BlockContent::Seeded, 8 << 20);
        let offset = 1 << 40;
        let identity = BlockIdentity { seed: 7, offset, number: 1, ..Default::default() };
        let io = format.unwrap().expected_bytes(8 << 20, &identity);
        let good = &io[1999 * 4096..][..4096];
        assert_eq!(remake(good).as_deref(), Some(good));
        // Only the first sectors arrived, and in them a bit is wrong.
        let mut torn = good.to_vec();
        torn[1536..].fill(0);
        torn[700] ^= 4;
        assert_eq!(remake(&torn).as_deref(), Some(good));
        // Nothing of the content is right: whatever is made, it ends soon.
        let mut noise = good.to_vec();
        noise[64..].fill(0xa5);
        assert_ne!(remake(&noise).as_deref(), Some(&noise[..]));
    }

    #[test]
    fn the_front_of_another_block_is_not_called_right() {
        let mut read = block(8192, 5);
        read[..512].copy_from_slice(&block(4096, 3)[..512]);
        // Nobody knows the job: the header that was read says what there should be.
        let wanted = remake(&read);
        let kind = MismatchKind::NotZero { at: 0 };
        let found = diagnose(&read, wanted.as_deref(), &kind, 8192);
        assert_eq!(found, Diagnosis::FrontOfAnother { at: 512, offset: 4096, number: 3 });
    }

    #[test]
    fn a_later_interval_of_an_io_is_made_again_too() {
        let format = BlockFormat::new(BlockType::Md5, 512, 0, BlockContent::Seeded, 4096).unwrap();
        let identity = BlockIdentity { seed: 7, offset: 8192, number: 1, ..Default::default() };
        let io = format.expected_bytes(4096, &identity);
        for interval in io.chunks(512) {
            assert_eq!(remake(interval).as_deref(), Some(interval));
        }
    }
}
