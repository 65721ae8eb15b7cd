//! The part of a file that one of several hosts uses.

use super::files::{FileRange, Named};
use iosonde_options::Diagnostic;

/// One host's place among those that share files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankShare {
    /// Its place, from 0.
    pub rank: u32,
    /// How many hosts there are.
    pub ranks: u32,
    /// The job's own options (`zonemode=strided`) take its blocks, all over the file.
    pub is_interleaved: bool,
}

impl RankShare {
    /// Cut a range to this host's part of whole blocks; the end of the range as it was.
    pub(super) fn cut(
        self,
        range: &mut FileRange,
        block: u64,
        named: &Named,
    ) -> Result<Option<u64>, Diagnostic> {
        let (block, ranks) = (block.max(1), u64::from(self.ranks));
        if self.is_interleaved {
            return Ok(Some(range.offset.saturating_add(range.bytes)));
        }
        let blocks = range.bytes / block;
        if blocks < ranks {
            let message = format!(
                "{}: {} bytes cannot be split between {ranks} ranks in blocks of {block}",
                named.path.display(),
                range.bytes
            );
            return Err(Diagnostic::error(message).help("give a larger size= or a smaller bs="));
        }
        let end = range.offset.saturating_add(range.bytes);
        let (first, own) = iosonde_base::part_of(blocks, self.ranks, self.rank);
        range.offset += first * block;
        range.later_offset += first * block;
        range.bytes = own * block;
        Ok(Some(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::FileKind;

    fn cut(rank: u32, ranks: u32, bytes: u64) -> Result<(u64, u64), Diagnostic> {
        let named = Named {
            name: "f".to_owned(),
            path: "f".into(),
            kind: FileKind::Regular,
            bytes_now: None,
        };
        let mut range = FileRange { offset: 8192, later_offset: 8192, bytes, end: 0 };
        RankShare { rank, ranks, is_interleaved: false }.cut(&mut range, 4096, &named)?;
        assert_eq!(range.later_offset, range.offset);
        Ok((range.offset, range.bytes))
    }

    #[test]
    fn parts_are_whole_blocks_that_follow_each_other() {
        for (ranks, blocks) in [(1, 1), (2, 7), (3, 3), (7, 100)] {
            let mut at = 8192;
            for rank in 0..ranks {
                let (offset, bytes) = cut(rank, ranks, blocks * 4096 + 100).unwrap();
                assert_eq!((offset, bytes % 4096), (at, 0), "{rank} of {ranks}");
                at += bytes;
            }
            assert_eq!(at, 8192 + blocks * 4096);
        }
    }

    #[test]
    fn fewer_blocks_than_ranks_are_refused() {
        let refused = cut(0, 3, 8192).unwrap_err();
        assert!(refused.message.contains("between 3 ranks in blocks of 4096"), "{refused}");
    }
}
