//! CRCs of 7, 16, 32 and 64 bits, by tables.

use crc::{Algorithm, Crc, Table};

/// CRC-7/MMC: polynomial 0x09, in the low seven bits.
pub(super) fn crc7(data: &[u8]) -> u8 {
    static CRC7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&crc::CRC_7_MMC);
    CRC7.checksum(data)
}

/// CRC-16/ARC: polynomial 0x8005 reflected, starting at 0.
pub(super) fn crc16(data: &[u8]) -> u16 {
    static CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&crc::CRC_16_ARC);
    CRC16.checksum(data)
}

/// Polynomial 0x04c11db7, not reflected, starting at 0, not inverted:
/// CRC-32/CKSUM without its length and inversion.
const CRC_32_PLAIN: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

/// See [`CRC_32_PLAIN`].
pub(super) fn crc32(data: &[u8]) -> u32 {
    static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_PLAIN);
    CRC32.checksum(data)
}

/// CRC-64/REDIS: polynomial 0xad93d23594c935a9 reflected, starting at 0.
pub(super) fn crc64(data: &[u8]) -> u64 {
    static CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&crc::CRC_64_REDIS);
    CRC64.checksum(data)
}
