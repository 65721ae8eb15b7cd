//! The check of a block that was read: a value that can go to another
//! thread together with the block.

use crate::block::{BlockFormat, Expected, Mismatch};

/// The check of one I/O that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCheck {
    /// The expected header fields.
    pub expected: Expected,
    /// The block was trimmed: it must be zeroes.
    pub trimmed: bool,
}

impl BlockCheck {
    /// Check `io`. Headers are put back in front of their intervals: `io` is
    /// not what was read any more. `scratch` is memory for what should be
    /// there.
    ///
    /// # Errors
    /// If it is not what was written.
    #[inline]
    pub fn run(
        &self,
        format: &BlockFormat,
        io: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), Mismatch> {
        if self.trimmed {
            BlockFormat::check_trimmed(io, self.expected.offset)
        } else {
            format.check(io, &self.expected, scratch)
        }
    }
}
