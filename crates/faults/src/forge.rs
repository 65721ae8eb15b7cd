//! Headers of verified blocks with one field changed and a checksum that is right again:
//! only who compares that field finds such a block.
//!
//! The layout is that of docs/verify.md, written here a second time on purpose: a mistake
//! in the program's own must not hide itself.

/// Bytes of a header.
const HEADER_BYTES: usize = 48;
/// Where its own checksum lies; it covers what is before that.
const CHECKSUM_AT: usize = 44;
/// A header begins so.
const MAGIC: [u8; 2] = [0xca, 0xac];

/// A field of a header that each block of a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeaderField {
    /// Bytes of the block.
    Length,
    /// The seed of its content.
    Seed,
    /// Where it belongs.
    Offset,
    /// Which write of the job it was.
    Number,
    /// The header's own checksum; the other fields are as they were.
    Checksum,
}

impl HeaderField {
    /// All of them.
    pub const ALL: [HeaderField; 5] = [
        HeaderField::Length,
        HeaderField::Seed,
        HeaderField::Offset,
        HeaderField::Number,
        HeaderField::Checksum,
    ];

    fn at(self) -> usize {
        match self {
            HeaderField::Length => 4,
            HeaderField::Seed => 8,
            HeaderField::Offset => 16,
            HeaderField::Number => 32,
            HeaderField::Checksum => CHECKSUM_AT,
        }
    }
}

/// Change one field of the header that `block` begins with; whether it begins with one.
pub(crate) fn forge(block: &mut [u8], field: HeaderField) -> bool {
    let Some(header) = block.first_chunk_mut::<HEADER_BYTES>() else { return false };
    if header[..2] != MAGIC {
        return false;
    }
    // The second byte: another block's offset, a length that could be, a later write.
    header[field.at() + 1] ^= 0x10;
    if field != HeaderField::Checksum {
        let checksum = checksum(&header[..CHECKSUM_AT]).to_le_bytes();
        header[CHECKSUM_AT..].copy_from_slice(&checksum);
    }
    true
}

/// CRC-32C, not inverted at its end.
fn checksum(bytes: &[u8]) -> u32 {
    /// The polynomial of Castagnoli, its bits in reverse.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    bytes.iter().fold(!0, |before, byte| {
        let step = |rest: u32, _| (rest >> 1) ^ if rest & 1 == 1 { POLYNOMIAL } else { 0 };
        (0..8).fold(before ^ u32::from(*byte), step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard_without_the_last_inversion() {
        // RFC 3720, B.4: 32 bytes of zero.
        assert_eq!(!checksum(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn one_field_is_changed_and_the_checksum_holds() {
        for field in HeaderField::ALL {
            let mut block = vec![0; 512];
            block[..2].copy_from_slice(&MAGIC);
            let right = checksum(&block[..CHECKSUM_AT]);
            block[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&right.to_le_bytes());
            let before = block.clone();
            assert!(forge(&mut block, field));
            let stored = block[CHECKSUM_AT..HEADER_BYTES].to_vec();
            let holds = stored == checksum(&block[..CHECKSUM_AT]).to_le_bytes();
            assert_eq!(holds, field != HeaderField::Checksum, "{field:?}");
            let differing = (0..CHECKSUM_AT).filter(|&at| block[at] != before[at]).count();
            assert_eq!(differing, usize::from(holds), "{field:?}");
        }
        assert!(!forge(&mut [0; 512], HeaderField::Seed), "no header");
        assert!(!forge(&mut [0xca; 8], HeaderField::Seed), "too short for one");
    }
}
