//! Bytes that repeat, and the place in the file among them.

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
    let (front, back) = buffer[..head].split_at_mut(head.min(pattern.len() - phase));
    front.copy_from_slice(&pattern[phase..phase + front.len()]);
    back.copy_from_slice(&pattern[..back.len()]);
    double(buffer, head);
}

/// Copy the first `done` bytes of `buffer`, whole periods or all of them, over the rest of it.
fn double(buffer: &mut [u8], mut done: usize) {
    // What is there, twice as long each time, keeps the phase.
    while done < buffer.len() {
        let more = done.min(buffer.len() - done);
        buffer.copy_within(..more, done);
        done += more;
    }
}

/// Bytes that repeat through a block, among which its offset may stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    /// Where in `bytes` an offset of 8 bytes starts, in order.
    offsets: Vec<usize>,
}

/// Bytes of an offset.
const OFFSET: usize = 8;

impl From<Vec<u8>> for Pattern {
    /// Without an offset.
    fn from(bytes: Vec<u8>) -> Pattern {
        Pattern::new(bytes, Vec::new())
    }
}

impl Pattern {
    /// `bytes`, where at each of `offsets` 8 of them are replaced by the
    /// block's offset in its file, little-endian. None at all is zeroes.
    ///
    /// # Panics
    /// If an offset does not end within the bytes.
    pub fn new(bytes: Vec<u8>, offsets: Vec<usize>) -> Pattern {
        let ends = |at: &usize| at.checked_add(OFFSET).is_some_and(|end| end <= bytes.len());
        assert!(offsets.iter().all(ends), "an offset past the end of the pattern");
        Pattern { bytes, offsets }
    }

    /// Whether blocks at different places differ.
    pub fn has_offset(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Fill a part of a block that begins `phase` bytes after the block's
    /// first. The block goes to `offset` of its file.
    pub fn fill(&self, buffer: &mut [u8], phase: usize, offset: u64) {
        if self.offsets.is_empty() {
            return repeat(buffer, &self.bytes, phase as u64);
        }
        let head = buffer.len().min(self.bytes.len());
        repeat(&mut buffer[..head], &self.bytes, phase as u64);
        self.put_offset(&mut buffer[..head], phase, offset);
        double(buffer, head);
    }

    /// Put the offset in its places of a part of a block.
    fn put_offset(&self, part: &mut [u8], phase: usize, offset: u64) {
        let (period, end) = (self.bytes.len(), phase + part.len());
        let number = offset.to_le_bytes();
        for start in (phase / period * period..end).step_by(period) {
            for at in &self.offsets {
                // What lies before the part or after it belongs to others.
                let (from, to) = ((start + at).max(phase), (start + at + OFFSET).min(end));
                if from < to {
                    let inside = &number[from - start - at..to - start - at];
                    part[from - phase..to - phase].copy_from_slice(inside);
                }
            }
        }
    }

    /// Whether `block` is what [`Pattern::fill`] makes of it from its first byte on. `scratch` is
    /// memory for one period.
    pub fn is_in(&self, block: &[u8], offset: u64, scratch: &mut Vec<u8>) -> bool {
        let head = block.len().min(self.bytes.len().max(1));
        scratch.resize(head, 0);
        self.fill(scratch, 0, offset);
        // What is equal to itself a period further on repeats.
        block[..head] == scratch[..] && block[head..] == block[..block.len() - head]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_offset_stands_in_each_period() {
        let mut bytes = b"ab".to_vec();
        bytes.extend([0; 8]);
        bytes.push(b'c');
        let pattern = Pattern::new(bytes, vec![2]);
        let mut block = vec![0; 4096];
        pattern.fill(&mut block, 0, 0x1234_5678_9abc_def0);
        let period = [b"ab", &0x1234_5678_9abc_def0_u64.to_le_bytes()[..], b"c"].concat();
        assert!(block.iter().zip(period.iter().cycle()).all(|(a, b)| a == b));
    }

    #[test]
    fn parts_of_a_block_are_as_the_block() {
        let pattern = Pattern::new((0..37).collect(), vec![0, 20]);
        let mut block = vec![0; 1000];
        pattern.fill(&mut block, 0, 0x0102_0304_0506_0708);
        for from in 0..60 {
            for len in [0, 1, 3, 7, 8, 9, 40, 100] {
                let mut part = vec![0; len];
                pattern.fill(&mut part, from, 0x0102_0304_0506_0708);
                assert_eq!(part, block[from..from + len], "{from} {len}");
            }
        }
    }

    #[test]
    fn a_block_is_compared_as_if_it_were_filled() {
        let with_offsets = Pattern::new((0..37).collect(), vec![0, 20]);
        let mut scratch = Vec::new();
        for pattern in [Pattern::default(), Pattern::from(b"abcde".to_vec()), with_offsets] {
            for len in [0, 1, 4, 5, 36, 37, 38, 200] {
                let mut block = vec![0; len];
                pattern.fill(&mut block, 0, 0x0102_0304_0506_0708);
                assert!(pattern.is_in(&block, 0x0102_0304_0506_0708, &mut scratch), "{len}");
                for at in 0..len {
                    block[at] ^= 1;
                    assert!(!pattern.is_in(&block, 0x0102_0304_0506_0708, &mut scratch), "{at}");
                    block[at] ^= 1;
                }
            }
        }
    }
}
