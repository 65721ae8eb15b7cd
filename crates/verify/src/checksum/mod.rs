//! The checksums of `verify=`, byte for byte as fio 3.42 stores them behind a
//! block's header. Several of them are not the standard digest of that name:
//! each module says how it differs.

mod crc;
mod sha;
mod standard;

use std::fmt;

/// The type of a block (`verify=TYPE`): what its header is followed by, and
/// how its content is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BlockType {
    /// A header alone; the content is checked only against a pattern, if one
    /// was given.
    Meta = 1,
    /// MD5.
    Md5 = 2,
    /// CRC-64/REDIS.
    Crc64 = 3,
    /// CRC-32/CKSUM without the length and without the final inversion.
    Crc32 = 4,
    /// CRC-32C without the final inversion. Also written for `crc32c-intel`.
    Crc32c = 5,
    /// What old versions of fio wrote for `crc32c-intel`: read like
    /// [`BlockType::Crc32c`], never written.
    Crc32cIntel = 6,
    /// CRC-16/ARC.
    Crc16 = 7,
    /// CRC-7/MMC.
    Crc7 = 8,
    /// fio's own variant of SHA-256.
    Sha256 = 9,
    /// SHA-512 and the end of the last padded block.
    Sha512 = 10,
    /// SHA3-224.
    Sha3_224 = 11,
    /// SHA3-256.
    Sha3_256 = 12,
    /// SHA3-384.
    Sha3_384 = 13,
    /// SHA3-512.
    Sha3_512 = 14,
    /// XXH32 with seed 1.
    XxHash = 15,
    /// SHA-1, its words little-endian.
    Sha1 = 16,
    /// A header, and a pattern as content.
    PatternHeader = 17,
    /// A pattern alone: nothing but the pattern is on the medium.
    Pattern = 18,
    /// Nothing is written or checked; the verify reads are done.
    Null = 19,
}

use BlockType::*;

/// The longest trailer of any type: that of sha512.
pub(crate) const TRAILER_BYTES_MAX: usize = 128;

/// All types with their names as in `verify=`. `crc32c-intel` names
/// [`BlockType::Crc32c`], as in fio.
pub const TYPES: [(&str, BlockType); 19] = [
    ("md5", Md5),
    ("crc64", Crc64),
    ("crc32", Crc32),
    ("crc32c", Crc32c),
    ("crc32c-intel", Crc32c),
    ("crc16", Crc16),
    ("crc7", Crc7),
    ("sha1", Sha1),
    ("sha256", Sha256),
    ("sha512", Sha512),
    ("sha3-224", Sha3_224),
    ("sha3-256", Sha3_256),
    ("sha3-384", Sha3_384),
    ("sha3-512", Sha3_512),
    ("xxhash", XxHash),
    ("meta", Meta),
    ("pattern", Pattern),
    ("pattern_hdr", PatternHeader),
    ("null", Null),
];

/// All types at their numbers.
const BY_NUMBER: [Option<BlockType>; 20] = {
    let mut types = [None; 20];
    let mut at = 0;
    while at < TYPES.len() {
        types[TYPES[at].1 as usize] = Some(TYPES[at].1);
        at += 1;
    }
    types[Crc32cIntel as usize] = Some(Crc32cIntel);
    types
};

impl BlockType {
    /// The type with this name in `verify=`.
    pub fn from_name(name: &str) -> Option<BlockType> {
        TYPES.iter().find(|(known, _)| *known == name).map(|(_, block_type)| *block_type)
    }

    /// The type with this number in a header.
    #[inline]
    pub fn from_number(number: u8) -> Option<BlockType> {
        BY_NUMBER.get(usize::from(number)).copied().flatten()
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Crc32cIntel => "crc32c-intel",
            _ => TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name),
        }
    }

    /// Whether blocks of this type carry a header.
    pub fn has_header(self) -> bool {
        !matches!(self, Pattern | Null)
    }

    /// Bytes of the checksum that follows the header. 0: none.
    #[inline]
    pub const fn trailer_bytes(self) -> usize {
        match self {
            Meta | PatternHeader | Pattern | Null => 0,
            Crc7 => 1,
            Crc16 => 2,
            Crc32 | Crc32c | Crc32cIntel | XxHash => 4,
            Crc64 => 8,
            Md5 => 16,
            Sha1 => 20,
            Sha3_224 => 28,
            Sha3_256 => 32,
            Sha3_384 => 48,
            Sha256 | Sha3_512 => 64,
            Sha512 => 128,
        }
    }

    /// The checksum of `data`. Empty for types without one.
    pub fn checksum(self, data: &[u8]) -> Checksum {
        let mut sum = Checksum { bytes: [0; TRAILER_BYTES_MAX], len: self.trailer_bytes() };
        self.put_checksum(data, &mut sum.bytes[..sum.len]);
        sum
    }

    /// Whether `stored` is the checksum of `data`.
    #[inline]
    pub(crate) fn has_checksum(self, data: &[u8], stored: &[u8]) -> bool {
        match self {
            // The cheapest of them, so that what is around it would show.
            Crc32c | Crc32cIntel => stored == crc32c(data).to_le_bytes(),
            _ => self.has_other_checksum(data, stored),
        }
    }

    #[inline(never)]
    fn has_other_checksum(self, data: &[u8], stored: &[u8]) -> bool {
        let mut bytes = [0; TRAILER_BYTES_MAX];
        let sum = &mut bytes[..self.trailer_bytes()];
        self.put_checksum(data, sum);
        sum == stored
    }

    /// Write the checksum of `data` to `out`, which is as long as a trailer.
    #[inline]
    pub(crate) fn put_checksum(self, data: &[u8], out: &mut [u8]) {
        match self {
            Crc32c | Crc32cIntel => out.copy_from_slice(&crc32c(data).to_le_bytes()),
            _ => self.put_other_checksum(data, out),
        }
    }

    #[inline(never)]
    fn put_other_checksum(self, data: &[u8], out: &mut [u8]) {
        match self {
            Meta | PatternHeader | Pattern | Null | Crc32c | Crc32cIntel => {}
            Crc7 => out[0] = crc::crc7(data),
            Crc16 => out.copy_from_slice(&crc::crc16(data).to_le_bytes()),
            Crc32 => out.copy_from_slice(&crc::crc32(data).to_le_bytes()),
            Crc64 => out.copy_from_slice(&crc::crc64(data).to_le_bytes()),
            XxHash => out.copy_from_slice(&standard::xxhash(data).to_le_bytes()),
            Md5 => standard::md5(data, out),
            Sha1 => sha::sha1(data, out),
            Sha256 => sha::sha256(data, out),
            Sha512 => sha::sha512(data, out),
            Sha3_224 => standard::sha3_224(data, out),
            Sha3_256 => standard::sha3_256(data, out),
            Sha3_384 => standard::sha3_384(data, out),
            Sha3_512 => standard::sha3_512(data, out),
        }
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A checksum as it lies on the medium.
#[derive(Clone, Copy)]
pub struct Checksum {
    bytes: [u8; TRAILER_BYTES_MAX],
    len: usize,
}

impl Checksum {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({})", hex(self.as_bytes()))
    }
}

/// Bytes in hexadecimal, as fio prints checksums.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// CRC-32C without the final inversion, as fio stores it: the complement of
/// the usual value.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    iosonde_sys::processor::crc32c(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the nine bytes "123456789", on which CRC catalogues agree; from
    /// the reference for fio's variants.
    #[test]
    fn checksums_of_the_catalogue_string_are_fios() {
        let sum = |kind: BlockType| hex(kind.checksum(b"123456789").as_bytes());
        assert_eq!(sum(Crc7), "75");
        assert_eq!(sum(Crc16), "3dbb");
        assert_eq!(sum(Crc32), "7f89a189");
        assert_eq!(sum(Crc32c), "7c6df91c");
        assert_eq!(sum(Crc64), "cad9b8c414d9c6e9");
        assert_eq!(sum(Md5), "25f9e794323b453885f5181f1b624d0b");
        let expected = format!("ce5cfcf3bda18ae93980{}4800000000000000", "00".repeat(46));
        assert_eq!(sum(Sha256), expected);
        assert_eq!(sum(Meta), "");
    }

    #[test]
    fn each_checksum_has_the_length_of_its_trailer() {
        for (_, kind) in TYPES {
            let len = kind.checksum(&[7; 1000]).as_bytes().len();
            assert_eq!(len, kind.trailer_bytes(), "{kind}");
        }
    }

    #[test]
    fn names_and_numbers_lead_back_to_the_type() {
        for (name, kind) in TYPES {
            assert_eq!(BlockType::from_name(name), Some(kind));
            assert_eq!(BlockType::from_number(kind as u8), Some(kind));
        }
        assert_eq!(BlockType::from_number(6), Some(Crc32cIntel));
        assert_eq!(BlockType::from_number(0), None);
        assert_eq!(BlockType::from_number(20), None);
        assert_eq!(BlockType::from_name("bogus"), None);
    }

    #[test]
    fn the_checksum_of_every_length_covers_each_byte() {
        for (_, kind) in TYPES.iter().filter(|(_, kind)| kind.trailer_bytes() > 0) {
            for len in [1usize, 7, 55, 56, 63, 64, 111, 112, 128, 1000] {
                let data = vec![0x5a; len];
                let before = kind.checksum(&data);
                for at in [0, len / 2, len - 1] {
                    let mut changed = data.clone();
                    changed[at] ^= 1;
                    let after = kind.checksum(&changed);
                    assert_ne!(after.as_bytes(), before.as_bytes(), "{kind} {len} {at}");
                }
            }
        }
    }
}
