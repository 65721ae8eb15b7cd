//! Blocks in an order that is listed (`random_distribution=sequence`).

use crate::spec::{Distribution, SourceFile, SourceSpec, SpecError};

/// Where one file stands in the list.
#[derive(Debug)]
pub(crate) struct Listed {
    blocks: Vec<u64>,
    next: usize,
    /// What is added to each block after a pass through the list.
    stride: u64,
    /// What is added to each block in this pass.
    shift: u64,
}

impl Listed {
    /// The list for `file`; none if its places are found another way.
    pub(crate) fn for_file(
        spec: &SourceSpec,
        file: &SourceFile,
    ) -> Result<Option<Listed>, SpecError> {
        let Distribution::Sequence(listed) = &spec.distribution else { return Ok(None) };
        if listed.is_empty() {
            return Err(SpecError::BadDistribution);
        }
        let range = spec.strided.map_or(file.size, |zone| zone.range.min(file.size));
        let blocks = spec.used().map(|dir| range / spec.unit(dir).max(1)).min().unwrap_or(0);
        match listed.iter().find(|&&block| block >= blocks) {
            Some(&block) => Err(SpecError::NoSuchBlock { name: file.name.clone(), block, blocks }),
            None => {
                let stride = if spec.sequence_stride { listed.len() as u64 } else { 0 };
                Ok(Some(Listed { blocks: listed.clone(), next: 0, stride, shift: 0 }))
            }
        }
    }

    /// From the first block again.
    pub fn restart(&mut self) {
        (self.next, self.shift) = (0, 0);
    }

    /// The next block; after the last, the first, shifted by the stride. Shifted
    /// blocks come to lie past the end of the file: the pass is then over.
    #[inline]
    pub fn next(&mut self) -> u64 {
        let block = self.blocks[self.next].saturating_add(self.shift);
        self.next += 1;
        if self.next == self.blocks.len() {
            self.next = 0;
            self.shift = self.shift.saturating_add(self.stride);
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directions, Refill, Sizes, Source};
    use iosonde_base::{PerDir, Ring};

    fn spec(listed: &[u64], files: u32) -> SourceSpec {
        let file = |n| SourceFile {
            name: format!("f{n}"),
            offset: 8192,
            size: 16384,
            end: 24576,
            ..SourceFile::default()
        };
        SourceSpec {
            directions: Directions { read: true, random: true, ..Directions::default() },
            sizes: PerDir::all(Sizes::Fixed(4096)),
            distribution: Distribution::Sequence(listed.to_vec()),
            files: (0..files).map(file).collect(),
            total_bytes: 10 * 4096,
            io_size_given: true,
            ..SourceSpec::default()
        }
    }

    /// Files and blocks in the order in which they come.
    fn order(spec: SourceSpec) -> Vec<(u32, u64)> {
        let (mut source, mut ring) = (Source::new(spec).unwrap(), Ring::default());
        let mut order = Vec::new();
        while source.refill(&mut ring) == Refill::Planned {
            let entries = std::iter::from_fn(|| ring.pop());
            order.extend(entries.map(|entry| (entry.file.0, (entry.offset - 8192) / 4096)));
        }
        order
    }

    #[test]
    fn blocks_come_in_the_order_listed_over_and_over() {
        let blocks: Vec<u64> = order(spec(&[2, 0, 3], 1)).iter().map(|(_, block)| *block).collect();
        assert_eq!(blocks, [2, 0, 3, 2, 0, 3, 2, 0, 3, 2]);
    }

    #[test]
    fn with_a_stride_each_pass_is_shifted_up_to_the_end_of_the_file() {
        let strided = |listed: &[u64], blocks: u64| {
            let mut spec = SourceSpec {
                sequence_stride: true,
                total_bytes: u64::MAX,
                io_size_given: false,
                ..spec(listed, 1)
            };
            (spec.files[0].size, spec.files[0].end) = (blocks * 4096, 8192 + blocks * 4096);
            order(spec).iter().map(|(_, block)| *block).collect::<Vec<u64>>()
        };
        assert_eq!(strided(&[2, 0, 1], 9), [2, 0, 1, 5, 3, 4, 8, 6, 7]);
        // The first block past the end ends the job, also where others would fit.
        assert_eq!(strided(&[2, 0, 1], 8), [2, 0, 1, 5, 3, 4]);
        assert_eq!(strided(&[0], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn each_file_goes_through_the_list_by_itself() {
        let wanted = [(0, 1), (1, 1), (0, 3), (1, 3), (0, 1), (1, 1)];
        assert_eq!(order(spec(&[1, 3], 2))[..6], wanted);
    }

    #[test]
    fn a_block_past_the_end_is_named() {
        let refused = Source::new(spec(&[0, 4], 1)).unwrap_err();
        let wanted = SpecError::NoSuchBlock { name: "f0".into(), block: 4, blocks: 4 };
        assert_eq!(refused, wanted);
        assert!(Source::new(spec(&[3], 1)).is_ok());
        assert_eq!(Source::new(spec(&[], 1)).unwrap_err(), SpecError::BadDistribution);
    }
}
