//! fio's variants of SHA-1, SHA-256 and SHA-512.

use sha1::{Digest, Sha1};
use sha2::Sha512;
use sha2::block_api::compress256;

/// The SHA-1 digest (FIPS 180-4), each of its five words little-endian.
pub(super) fn sha1(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&Sha1::digest(data));
    for word in out.chunks_exact_mut(4) {
        word.reverse();
    }
}

/// Start values of SHA-256 (FIPS 180-4, 5.3.3).
const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// SHA-256's compression over a message with its bit count padded in
/// little-endian order; of the result, the low byte of each of the eight words
/// and then bytes 8 to 63 of the last padded block.
pub(super) fn sha256(data: &[u8], out: &mut [u8]) {
    let (blocks, rest) = data.as_chunks::<64>();
    let mut state = SHA256_START;
    compress256(&mut state, blocks);
    // What is left, the mark, zeroes, the length: one block or two.
    let mut tail = [[0u8; 64]; 2];
    let used = if rest.len() < 56 { 1 } else { 2 };
    tail[0][..rest.len()].copy_from_slice(rest);
    tail[0][rest.len()] = 0x80;
    tail[used - 1][56..].copy_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    compress256(&mut state, &tail[..used]);
    for (byte, word) in out.iter_mut().zip(state) {
        *byte = word as u8;
    }
    out[8..].copy_from_slice(&tail[used - 1][8..]);
}

/// The SHA-512 digest (FIPS 180-4), then the second half of the last padded
/// block of 128 bytes.
pub(super) fn sha512(data: &[u8], out: &mut [u8]) {
    let (digest, end) = out.split_at_mut(64);
    digest.copy_from_slice(&Sha512::digest(data));
    // The last block as padded: the data's end (if it reaches here), the mark, zeroes, the
    // number of bits in 16 bytes, big-endian.
    let rest = &data[data.len() / 128 * 128..];
    let mut last = [0u8; 128];
    if rest.len() < 112 {
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x80;
    }
    last[112..].copy_from_slice(&(data.len() as u128 * 8).to_be_bytes());
    end.copy_from_slice(&last[64..]);
}
