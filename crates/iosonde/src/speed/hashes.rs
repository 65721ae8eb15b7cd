//! The checksums that `--crctest` measures: those of verify, and three hashes
//! that fio measures beside them.

use iosonde_verify::BlockType;

/// Goes over data; what comes out is only kept from being left out.
pub type Hash = fn(&[u8]) -> u64;

/// By name, in the order in which fio measures them.
pub const HASHES: [(&str, Hash); 17] = [
    ("md5", |data| block(BlockType::Md5, data)),
    ("crc64", |data| block(BlockType::Crc64, data)),
    ("crc32", |data| block(BlockType::Crc32, data)),
    ("crc32c", |data| block(BlockType::Crc32c, data)),
    ("crc16", |data| block(BlockType::Crc16, data)),
    ("crc7", |data| block(BlockType::Crc7, data)),
    ("sha1", |data| block(BlockType::Sha1, data)),
    ("sha256", |data| block(BlockType::Sha256, data)),
    ("sha512", |data| block(BlockType::Sha512, data)),
    ("xxhash", |data| block(BlockType::XxHash, data)),
    ("murmur3", |data| murmur3(data).into()),
    ("jhash", |data| jhash(data).into()),
    ("fnv", fnv),
    ("sha3-224", |data| block(BlockType::Sha3_224, data)),
    ("sha3-256", |data| block(BlockType::Sha3_256, data)),
    ("sha3-384", |data| block(BlockType::Sha3_384, data)),
    ("sha3-512", |data| block(BlockType::Sha3_512, data)),
];

fn block(block_type: BlockType, data: &[u8]) -> u64 {
    u64::from(block_type.checksum(data).as_bytes()[0])
}

/// MurmurHash3_x86_32 with seed 0, Austin Appleby, public domain.
fn murmur3(data: &[u8]) -> u32 {
    let mix = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut words = data.chunks_exact(4);
    let mut hash = 0u32;
    for word in &mut words {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        hash = (hash ^ mix(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = words.remainder().iter().rev().fold(0, |rest, byte| rest << 8 | u32::from(*byte));
    hash ^= mix(rest);
    // Blocks are far shorter than 4 GiB.
    hash ^= data.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Jenkins's one-at-a-time, Dr. Dobb's Journal, September 1997.
fn jhash(data: &[u8]) -> u32 {
    let mut hash = data.iter().fold(0u32, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(*byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// FNV-1a with 64 bits, Fowler, Noll and Vo: RFC 9923.
fn fnv(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_their_published_values() {
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"hello"), 0x248b_fa47);
        assert_eq!(murmur3(b"hello, world"), 0x149b_bb7f);
        assert_eq!(jhash(b"a"), 0xca2e_9442);
        assert_eq!(jhash(b"The quick brown fox jumps over the lazy dog"), 0x519e_91f5);
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
