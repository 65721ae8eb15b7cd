//! The header of a verified block: 48 bytes, little-endian.

use iosonde_sys::processor::crc32c_of_few;
use std::fmt;

/// The first two bytes of a header.
pub const MAGIC: u16 = 0xacca;

/// The layout that fio 3.42 writes and reads.
pub const VERSION: u8 = 0x81;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 48;

/// Bytes that its own checksum covers.
const COVERED: usize = 44;

/// A header, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u16,
    /// [`VERSION`].
    pub version: u8,
    /// Number of the [`BlockType`](crate::BlockType).
    pub block_type: u8,
    /// Bytes of the interval that this header begins.
    pub len: u32,
    /// Seed of the I/O's content; 0 where the content is a pattern.
    pub seed: u64,
    /// Byte offset of the interval in its file.
    pub offset: u64,
    /// When it was written, seconds on the job's clock: not the time of day.
    pub time_sec: u32,
    /// Nanoseconds of it.
    pub time_nsec: u32,
    /// Number of the write within its job, from 0.
    pub number: u64,
    /// Number of the job, from 1, over all jobs and clones.
    pub thread: u16,
    /// Whatever the content had here: covered by the checksum, never compared.
    pub pad: u16,
    /// CRC-32C, not inverted, of the 44 bytes before it.
    pub crc: u32,
}

/// Why a header is not the expected one. The order is that of the checks: the
/// first that fails is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Not a header at all.
    Magic {
        /// The first two bytes.
        found: u16,
    },
    /// Written by a version with another layout.
    Version {
        /// The version byte.
        found: u8,
    },
    /// Another length than the interval's.
    Length {
        /// As read.
        found: u32,
        /// As it should be.
        wanted: u32,
    },
    /// Content of another write.
    Seed {
        /// As read.
        found: u64,
        /// As it should be.
        wanted: u64,
    },
    /// A block that belongs elsewhere.
    Offset {
        /// As read.
        found: u64,
        /// As it should be.
        wanted: u64,
    },
    /// A block of another write to this place, most often an older one.
    Number {
        /// As read.
        found: u64,
        /// As it should be.
        wanted: u64,
    },
    /// The header itself is damaged.
    Crc {
        /// As read.
        found: u32,
        /// Of the bytes as read.
        calculated: u32,
    },
}

impl fmt::Display for HeaderError {
    /// As fio words it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Magic { found } => {
                write!(f, "bad magic header {found:x}, wanted {MAGIC:x}")
            }
            HeaderError::Version { found } => write!(
                f,
                "unsupported header version {found:x}, wanted {VERSION:x}. Are you trying to verify across versions of fio?"
            ),
            HeaderError::Length { found, wanted } => {
                write!(f, "bad header length {found}, wanted {wanted}")
            }
            HeaderError::Seed { found, wanted } => {
                write!(f, "bad header rand_seed {found}, wanted {wanted}")
            }
            HeaderError::Offset { found, wanted } => {
                write!(f, "bad header offset {found}, wanted {wanted}")
            }
            HeaderError::Number { found, wanted } => {
                write!(f, "bad header numberio {found}, wanted {wanted}")
            }
            HeaderError::Crc { found, calculated } => {
                write!(f, "bad header crc {found:x}, calculated {calculated:x}")
            }
        }
    }
}

impl std::error::Error for HeaderError {}

impl Header {
    /// The header that `bytes` begin with, whatever it says.
    ///
    /// # Panics
    /// If there are fewer than [`HEADER_BYTES`].
    #[inline]
    pub fn decode(bytes: &[u8]) -> Header {
        let bytes = bytes.first_chunk::<HEADER_BYTES>().expect("an interval holds a header");
        fn at<const N: usize>(bytes: &[u8; HEADER_BYTES], from: usize) -> [u8; N] {
            *bytes[from..].first_chunk().expect("fields lie within the header")
        }
        Header {
            magic: u16::from_le_bytes(at(bytes, 0)),
            version: bytes[2],
            block_type: bytes[3],
            len: u32::from_le_bytes(at(bytes, 4)),
            seed: u64::from_le_bytes(at(bytes, 8)),
            offset: u64::from_le_bytes(at(bytes, 16)),
            time_sec: u32::from_le_bytes(at(bytes, 24)),
            time_nsec: u32::from_le_bytes(at(bytes, 28)),
            number: u64::from_le_bytes(at(bytes, 32)),
            thread: u16::from_le_bytes(at(bytes, 40)),
            pad: u16::from_le_bytes(at(bytes, 42)),
            crc: u32::from_le_bytes(at(bytes, COVERED)),
        }
    }

    /// Write it over the beginning of `bytes`, with the checksum that it needs;
    /// [`Header::crc`] is not looked at. The two bytes of padding stay what
    /// they are.
    ///
    /// # Panics
    /// If there are fewer than [`HEADER_BYTES`].
    #[inline]
    pub fn encode(&self, bytes: &mut [u8]) {
        let bytes = bytes.first_chunk_mut::<HEADER_BYTES>().expect("an interval holds a header");
        bytes[0..2].copy_from_slice(&self.magic.to_le_bytes());
        bytes[2] = self.version;
        bytes[3] = self.block_type;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.time_sec.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.time_nsec.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.number.to_le_bytes());
        bytes[40..42].copy_from_slice(&self.thread.to_le_bytes());
        let crc = Header::crc_of(bytes);
        bytes[COVERED..].copy_from_slice(&crc.to_le_bytes());
    }

    /// The checksum that the header of `bytes` should carry.
    ///
    /// # Panics
    /// If there are fewer than [`HEADER_BYTES`].
    #[inline]
    pub fn crc_of(bytes: &[u8]) -> u32 {
        crc32c_of_few(bytes.first_chunk::<COVERED>().expect("an interval holds a header"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_reads_back_as_written(
            len: u32, seed: u64, offset: u64, time_sec: u32, time_nsec: u32, number: u64,
            thread: u16, pad: u16, block_type: u8,
        ) {
            let mut bytes = [0; 60];
            bytes[42..44].copy_from_slice(&pad.to_le_bytes());
            let header = Header {
                magic: MAGIC, version: VERSION, block_type, len, seed, offset, time_sec,
                time_nsec, number, thread, pad, crc: 0,
            };
            header.encode(&mut bytes);
            let read = Header::decode(&bytes);
            prop_assert_eq!(read.crc, Header::crc_of(&bytes));
            prop_assert_eq!(Header { crc: 0, ..read }, header);
            prop_assert_eq!(&bytes[48..], &[0; 12]);
        }
    }
}
