//! What the buffers hold: random bytes, zeroes, a pattern; and the cheap change
//! that keeps written blocks from being alike.

/// Fills memory with random bytes, fast. Not for secrets.
#[derive(Clone, Debug)]
pub struct Noise {
    streams: [u64; 4],
}

/// Odd, near 2^64 divided by the golden ratio: each multiple is far from the
/// ones before it.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An odd constant with well mixed bits (Steele and Vigna, "Computationally
/// easy, spectrally good multipliers", 2021).
const MULTIPLIER: u64 = 0xd134_2543_de82_ef95;

impl Noise {
    /// Noise that is the same for the same seed.
    pub fn new(seed: u64) -> Noise {
        let mut x = seed;
        Noise {
            streams: std::array::from_fn(|_| {
                x = x.wrapping_add(GOLDEN);
                mix(x)
            }),
        }
    }

    /// Fill `buffer` with random bytes: no two words of a block alike, nothing
    /// that compresses.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        // Four congruential streams side by side, their high bits folded onto
        // the low ones, which alone would repeat early.
        let mut chunks = buffer.chunks_exact_mut(32);
        for chunk in &mut chunks {
            for (word, bytes) in self.step().iter().zip(chunk.chunks_exact_mut(8)) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            let mut last = [0; 32];
            for (word, bytes) in self.step().iter().zip(last.chunks_exact_mut(8)) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }

    #[inline(always)]
    fn step(&mut self) -> [u64; 4] {
        for (i, stream) in (0..).zip(&mut self.streams) {
            // An odd step of its own keeps each stream apart from the others.
            *stream = stream.wrapping_mul(MULTIPLIER).wrapping_add(GOLDEN ^ (i << 1));
        }
        self.streams.map(|stream| stream ^ (stream >> 32))
    }
}

/// A word with all its bits mixed (the finalizer of splitmix64).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Fill `buffer` with zeroes.
pub fn zero(buffer: &mut [u8]) {
    buffer.fill(0);
}

/// Fill `buffer` with `pattern`, over and over, as if the file had it from its
/// first byte and the buffer began at `offset`. An empty pattern is zeroes.
pub fn repeat(buffer: &mut [u8], pattern: &[u8], offset: u64) {
    if pattern.is_empty() {
        return zero(buffer);
    }
    // Below the length of a slice, so it fits.
    let phase = (offset % pattern.len() as u64) as usize;
    let head = buffer.len().min(pattern.len());
    for (byte, from) in buffer[..head].iter_mut().zip(pattern.iter().cycle().skip(phase)) {
        *byte = *from;
    }
    // Then double what is there: copies of whole periods keep the phase.
    let mut done = head;
    while done < buffer.len() {
        let more = done.min(buffer.len() - done);
        buffer.copy_within(..more, done);
        done += more;
    }
}

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
    for (i, sector) in (0u64..).zip(buffer.chunks_mut(SECTOR)) {
        let place = offset.wrapping_add(i * SECTOR as u64);
        let at = if at + 16 <= sector.len() { at } else { 0 };
        let words = place.to_le_bytes().into_iter().chain(stamp.to_le_bytes());
        for (byte, from) in sector[at..].iter_mut().zip(words) {
            *byte = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn noise_replays_and_does_not_repeat() {
        let (mut a, mut b) = (vec![0; 1 << 20], vec![1; 1 << 20]);
        let mut noise = Noise::new(42);
        noise.fill(&mut a);
        Noise::new(42).fill(&mut b);
        assert_eq!(a, b);
        noise.fill(&mut b);
        assert_ne!(a, b);
        let words: HashSet<&[u8]> = a.chunks(8).chain(b.chunks(8)).collect();
        assert_eq!(words.len(), 2 * a.len() / 8);
    }

    #[test]
    fn noise_uses_every_byte_value_alike() {
        let mut buffer = vec![0; 1 << 20];
        Noise::new(1).fill(&mut buffer);
        for lane in 0..8 {
            let mut counts = [0u32; 256];
            for word in buffer.chunks(8) {
                counts[usize::from(word[lane])] += 1;
            }
            // 512 expected, six deviations of 22.6 allowed.
            assert!(
                counts.iter().all(|count| (376..=648).contains(count)),
                "byte {lane}: {counts:?}"
            );
        }
    }

    #[test]
    fn any_length_is_filled_to_its_end() {
        for len in 0..200 {
            let mut buffer = vec![0; len];
            let mut noise = Noise::new(len as u64);
            let mut seen = vec![false; len];
            // A byte may be drawn zero, not each time.
            for _ in 0..10 {
                noise.fill(&mut buffer);
                seen.iter_mut().zip(&buffer).for_each(|(seen, byte)| *seen |= *byte != 0);
            }
            assert!(seen.iter().all(|seen| *seen), "{len}");
        }
    }

    #[test]
    fn a_pattern_keeps_its_phase_across_buffers() {
        let pattern = b"abcde";
        let mut whole = vec![0; 1000];
        repeat(&mut whole, pattern, 0);
        assert!(whole.iter().zip(pattern.iter().cycle()).all(|(a, b)| a == b));
        for cut in [1, 4, 5, 6, 333, 512] {
            let mut part = vec![0; 1000 - cut];
            repeat(&mut part, pattern, cut as u64);
            assert_eq!(part, whole[cut..]);
        }
        repeat(&mut whole, b"", 3);
        assert_eq!(whole, vec![0; 1000]);
    }

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
