//! CRCs of 7, 16, 32 and 64 bits: folded by the processor where it can, the rest by tables.

use crc::{Algorithm, Crc, Table};
use iosonde_sys::processor::Divisor;

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

/// A function for one CRC. As they all start at 0, bytes that leave the same remainder have the
/// same sum.
macro_rules! crc {
    ($(#[$doc:meta])* $name:ident, $word:ty, $algorithm:expr) => {
        $(#[$doc])*
        pub(super) fn $name(data: &[u8]) -> $word {
            const ALGORITHM: Algorithm<$word> = $algorithm;
            const { assert!(ALGORITHM.init == 0) };
            static TABLE: Crc<$word, Table<16>> = Crc::<$word, Table<16>>::new(&ALGORITHM);
            static DIVISOR: Divisor =
                Divisor::of(ALGORITHM.width as u32, ALGORITHM.poly as u64, ALGORITHM.refin);
            match DIVISOR.fold(data) {
                Some((head, rest)) => {
                    let mut sum = TABLE.digest();
                    sum.update(&head);
                    sum.update(rest);
                    sum.finalize()
                }
                None => TABLE.checksum(data),
            }
        }
    };
}

crc!(
    /// CRC-7/MMC: polynomial 0x09, in the low seven bits.
    crc7, u8, crc::CRC_7_MMC
);
crc!(
    /// CRC-16/ARC: polynomial 0x8005 reflected, starting at 0.
    crc16, u16, crc::CRC_16_ARC
);
crc!(
    /// See [`CRC_32_PLAIN`].
    crc32, u32, CRC_32_PLAIN
);
crc!(
    /// CRC-64/REDIS: polynomial 0xad93d23594c935a9 reflected, starting at 0.
    crc64, u64, crc::CRC_64_REDIS
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_the_plain_tables(data in prop::collection::vec(any::<u8>(), 0..9000)) {
            prop_assert_eq!(crc7(&data), Crc::<u8>::new(&crc::CRC_7_MMC).checksum(&data));
            prop_assert_eq!(crc16(&data), Crc::<u16>::new(&crc::CRC_16_ARC).checksum(&data));
            prop_assert_eq!(crc32(&data), Crc::<u32>::new(&CRC_32_PLAIN).checksum(&data));
            prop_assert_eq!(crc64(&data), Crc::<u64>::new(&crc::CRC_64_REDIS).checksum(&data));
        }
    }
}
