//! The cheap change that keeps blocks from being alike.

use super::noise::mix;

/// The unit of change, in bytes: devices that look for equal blocks look no closer.
const SECTOR: usize = 512;

/// Change `buffer` a little in each sector of 512 bytes, so that a buffer
/// written again is not what was written before, nor what lies elsewhere:
/// `offset` is where in the file it goes, `stamp` anything that differs from
/// one write to the next.
///
/// Two words of each sector are replaced, where in the sector depends on the
/// stamp; a short sector at the end gets what fits.
pub fn scramble(buffer: &mut [u8], offset: u64, stamp: u64) {
    let at = (mix(stamp) as usize % (SECTOR / 16)) * 16;
    let mut words = [0; 16];
    words[8..].copy_from_slice(&stamp.to_le_bytes());
    let mut place = offset;
    let mut sectors = buffer.chunks_exact_mut(SECTOR);
    for sector in &mut sectors {
        words[..8].copy_from_slice(&place.to_le_bytes());
        sector[at..at + 16].copy_from_slice(&words);
        place = place.wrapping_add(SECTOR as u64);
    }
    let rest = sectors.into_remainder();
    if !rest.is_empty() {
        words[..8].copy_from_slice(&place.to_le_bytes());
        let at = if at + 16 <= rest.len() { at } else { 0 };
        for (byte, from) in rest[at..].iter_mut().zip(words) {
            *byte = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn scrambled_sectors_all_differ() {
        let mut sectors = HashSet::new();
        for stamp in 0..100 {
            for offset in [0, 4096, 8192] {
                let mut buffer = vec![7; 4096];
                scramble(&mut buffer, offset, stamp);
                for sector in buffer.chunks(SECTOR) {
                    assert!(sectors.insert(sector.to_vec()), "{offset} {stamp}");
                }
            }
        }
    }

    #[test]
    fn scrambling_leaves_nearly_all_as_it_was() {
        let mut buffer = vec![7; 1024 + 10];
        scramble(&mut buffer, 12345, 678);
        assert!(buffer.iter().filter(|byte| **byte != 7).count() <= 16 * 3);
        scramble(&mut [], 0, 0);
        scramble(&mut [1], 0, 0);
    }
}
