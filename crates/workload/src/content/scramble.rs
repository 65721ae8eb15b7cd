//! The cheap change that keeps blocks from being alike.

use super::noise::mix;

/// The unit of change, in bytes: devices that look for equal blocks look no closer.
const SECTOR: usize = 512;

/// In how many places of a sector, and how far from each other in bytes. What is
/// put there compresses, and what was put elsewhere before stays: in so few
/// places it is as much of the data as with fio 3.33, 9 % of it after many writes.
const PLACES: usize = 5;
const APART: usize = 96;

/// Change `buffer` a little in each sector of 512 bytes, so that a buffer
/// written again is not what was written before, nor what lies elsewhere:
/// `offset` is where in the file it goes, `stamp` anything that differs from
/// one write to the next.
///
/// Two words of each sector are replaced, where in the sector depends on the
/// stamp; a short sector at the end gets what fits.
pub fn scramble(buffer: &mut [u8], offset: u64, stamp: u64) {
    let at = (mix(stamp) as usize % PLACES) * APART;
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
    use super::super::Noise;
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::collections::HashSet;
    use std::io::Write;

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

    /// Bytes that zlib leaves of a hundred.
    fn compressed_percent(bytes: &[u8]) -> usize {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(bytes).unwrap();
        zlib.finish().unwrap().len() * 100 / bytes.len()
    }

    #[test]
    fn data_that_is_written_often_compresses_no_better_than_that_of_fio() {
        let mut buffer = vec![0; 4096];
        Noise::new(3).fill(&mut buffer);
        let mut written = 0;
        // Blocks number 1, 10 and 1000 of fio 3.33, `--rw=write --bs=4k`.
        for (times, fio) in [(1, 98), (10, 92), (1000, 91)] {
            while written < times {
                scramble(&mut buffer, written * 4096, 0x1234_5678_9abc_def0 + written);
                written += 1;
            }
            let ours = compressed_percent(&buffer);
            assert!(ours.abs_diff(fio) <= 2, "after {times} writes {ours} %, fio {fio} %");
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
