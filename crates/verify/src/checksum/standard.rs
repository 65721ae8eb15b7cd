//! Digests that are the standard ones.

use md5::Digest;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// MD5 (RFC 1321).
pub(super) fn md5(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&md5::Md5::digest(data));
}

/// SHA3-224 (FIPS 202).
pub(super) fn sha3_224(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&Sha3_224::digest(data));
}

/// SHA3-256 (FIPS 202).
pub(super) fn sha3_256(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&Sha3_256::digest(data));
}

/// SHA3-384 (FIPS 202).
pub(super) fn sha3_384(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&Sha3_384::digest(data));
}

/// SHA3-512 (FIPS 202).
pub(super) fn sha3_512(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&Sha3_512::digest(data));
}

/// XXH32 with seed 1.
pub(super) fn xxhash(data: &[u8]) -> u32 {
    xxhash_rust::xxh32::xxh32(data, 1)
}
