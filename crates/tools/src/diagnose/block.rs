//! The interval that was read, with its header in front.

use super::medium::Medium;
use super::planned::PlannedBlock;
use iosonde_verify::{BlockContent, BlockFormat, BlockType, HEADER_BYTES, Header};

/// Neither a header nor a job gives its length.
const GUESSED_BYTES: usize = 4096;

/// An interval of a block, as it lies on the medium.
#[derive(Clone, Debug)]
pub struct BlockFound {
    /// The byte that was named.
    pub asked: u64,
    /// Where the interval begins.
    pub offset: u64,
    /// Its bytes, the header in front; fewer than `len` where the medium ends.
    pub bytes: Vec<u8>,
    /// How long it should be.
    pub len: usize,
    /// Where its I/O begins, and its bytes.
    pub io: (u64, usize),
    /// Where in the interval its header lies (`verify_offset`).
    pub header_at: usize,
    /// Nothing says how long it is.
    pub guessed: bool,
}

impl BlockFound {
    /// Read the interval around the offset that was named: where the job
    /// wrote it, or where its header says, or a block of 4 KiB.
    ///
    /// # Errors
    /// An I/O error.
    pub fn read(medium: &Medium, planned: Option<&PlannedBlock>) -> Result<BlockFound, String> {
        if let Some(planned) = planned {
            return Self::as_planned(medium, planned);
        }
        let guessed = || (medium.offset / 512 * 512, GUESSED_BYTES);
        let header = medium.interval().or_else(|| medium.damaged_interval());
        let (at, len) = header.unwrap_or_else(guessed);
        let bytes = medium.read(at, len)?;
        let found = BlockFound {
            asked: medium.offset,
            offset: at,
            io: (at, len),
            bytes,
            len,
            header_at: 0,
            guessed: header.is_none(),
        };
        match header {
            Some(_) => Ok(Self::header_moved(medium, &found)?.unwrap_or(found)),
            None => Ok(found),
        }
    }

    fn as_planned(medium: &Medium, planned: &PlannedBlock) -> Result<BlockFound, String> {
        let format = &planned.format;
        let (io, io_len) = match &planned.write {
            Some(write) => (write.offset, write.len),
            None => {
                let (first, len) = planned.grid;
                let before = medium.offset.saturating_sub(first) / len.max(1) as u64;
                (first + before * len as u64, len)
            }
        };
        let step = format.interval_bytes(io_len);
        let within = usize::try_from(medium.offset.saturating_sub(io)).unwrap_or(0) / step * step;
        let offset = io + within as u64;
        let len = step.min(io_len - within);
        let mut bytes = medium.read(offset, len)?;
        format.header_to_front(&mut bytes);
        Ok(BlockFound {
            asked: medium.offset,
            offset,
            bytes,
            len,
            io: (io, io_len),
            header_at: format.header_offset(),
            guessed: false,
        })
    }

    /// The interval as it is with `verify_offset`, if that makes its checksum
    /// right: its header names the place where it begins, and lies behind it.
    fn header_moved(medium: &Medium, found: &BlockFound) -> Result<Option<BlockFound>, String> {
        if found.bytes.len() < HEADER_BYTES {
            return Ok(None);
        }
        let header = Header::decode(&found.bytes);
        let behind = found.offset.checked_sub(header.offset).filter(|behind| *behind > 0);
        let Some(moved) = behind.and_then(|behind| usize::try_from(behind).ok()) else {
            return Ok(None);
        };
        let Some(block_type) = BlockType::from_number(header.block_type) else { return Ok(None) };
        let len = header.len as usize;
        let content = BlockContent::Seeded;
        let Ok(format) = BlockFormat::new(block_type, 0, moved, content, len) else {
            return Ok(None);
        };
        let mut bytes = medium.read(header.offset, len)?;
        format.header_to_front(&mut bytes);
        let taken = HEADER_BYTES + block_type.trailer_bytes();
        let right = bytes.len() == len
            && block_type.checksum(&bytes[taken..]).as_bytes() == &bytes[HEADER_BYTES..taken];
        let offset = header.offset;
        let io = (offset, len);
        let asked = found.asked;
        let found = BlockFound { asked, offset, bytes, len, io, header_at: moved, guessed: false };
        Ok(right.then_some(found))
    }
}
