//! Blocks: written with headers and checksums, read back and checked.

use crate::checksum::{BlockType, hex};
use crate::content::BlockContent;
use crate::header::{HEADER_BYTES, Header, HeaderError, MAGIC, VERSION};
use std::fmt;

/// How the blocks of a job are made and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFormat {
    block_type: BlockType,
    /// Bytes with one header (`verify_interval`); 0: the I/O.
    interval: usize,
    /// Where in an interval header and checksum are moved to (`verify_offset`).
    header_offset: usize,
    content: BlockContent,
    /// Bytes of header and checksum.
    taken: usize,
    /// Each I/O is one interval, its header in front, with a CRC-32C: the cheapest of checks, so
    /// that what is around it would show.
    is_whole_crc32c: bool,
}

/// Why blocks cannot be made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// A pattern type without a pattern.
    NoPattern(BlockType),
    /// Header and checksum fill the interval, or more.
    IntervalTooSmall {
        /// Bytes of the interval.
        interval: usize,
        /// The least that leaves a byte of content.
        needed: usize,
    },
    /// `verify_offset` would move the header onto itself.
    OffsetOverlaps {
        /// `verify_offset`.
        offset: usize,
        /// The least that does not overlap.
        needed: usize,
    },
    /// `verify_offset` would move the header out of the interval.
    OffsetBeyondInterval {
        /// `verify_offset`.
        offset: usize,
        /// The greatest that fits.
        greatest: usize,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NoPattern(block_type) => {
                write!(f, "verify={block_type} needs a pattern: set verify_pattern")
            }
            FormatError::IntervalTooSmall { interval, needed } => write!(
                f,
                "an interval of {interval} bytes has no room for the header and the checksum: \
                 use a verify_interval (or bs) of at least {needed} that divides the block sizes"
            ),
            FormatError::OffsetOverlaps { offset, needed } => write!(
                f,
                "verify_offset={offset} overlaps the header's own place: use at least {needed}"
            ),
            FormatError::OffsetBeyondInterval { offset, greatest } => {
                write!(f, "verify_offset={offset} leaves the interval: use at most {greatest}")
            }
        }
    }
}

impl std::error::Error for FormatError {}

/// The identity of one write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockIdentity {
    /// Seed of its content. Written as 0 where the content is a pattern.
    pub seed: u64,
    /// Byte offset of the I/O in its file.
    pub offset: u64,
    /// Number of the write within its job, from 0.
    pub number: u64,
    /// Number of the job, from 1.
    pub thread: u16,
    /// When it was made, on the job's clock.
    pub time_sec: u32,
    /// Nanoseconds of it.
    pub time_nsec: u32,
}

/// The expected header fields of a block that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Byte offset of the I/O in its file.
    pub offset: u64,
    /// The seed, if it is known and is to be compared (`verify_header_seed`).
    pub seed: Option<u64>,
    /// The number of the write, if it is known and is to be compared
    /// (`verify_write_sequence`).
    pub number: Option<u64>,
}

/// An interval that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Byte offset of the interval in its file.
    pub offset: u64,
    /// Bytes of the interval.
    pub len: usize,
    /// What is wrong with the first interval that is wrong.
    pub kind: MismatchKind,
    /// How many intervals of the I/O are wrong.
    pub intervals: usize,
}

/// What is wrong with an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// Its header.
    Header(HeaderError),
    /// The checksum in it is not that of its content.
    Checksum {
        /// The job's type.
        block_type: BlockType,
        /// The type in the header, if that is another one.
        other_type: Option<u8>,
        /// As it lies on the medium, in hexadecimal.
        stored: String,
        /// Of the content that was read, in hexadecimal.
        calculated: String,
    },
    /// A byte that is not the pattern's, or not the seed's.
    Content {
        /// The job's type.
        block_type: BlockType,
        /// Bytes from the beginning of the interval, or of the pattern's
        /// interval.
        at: usize,
        /// As read.
        found: u8,
        /// As written.
        wanted: u8,
    },
    /// A byte of a trimmed block that is not zero.
    NotZero {
        /// Bytes from the beginning of the block.
        at: usize,
    },
}

impl BlockFormat {
    /// Blocks of `block_type` with a header for each `interval` bytes (0: for
    /// each I/O), moved to `header_offset` of the interval.
    ///
    /// `shortest` is the shortest I/O of the job: what does not fit it is
    /// refused.
    pub fn new(
        block_type: BlockType,
        interval: usize,
        header_offset: usize,
        content: BlockContent,
        shortest: usize,
    ) -> Result<BlockFormat, FormatError> {
        let wants_pattern = matches!(block_type, BlockType::Pattern | BlockType::PatternHeader);
        if wants_pattern && content.uses_seed() {
            return Err(FormatError::NoPattern(block_type));
        }
        let taken = HEADER_BYTES + block_type.trailer_bytes();
        let is_whole_crc32c =
            interval == 0 && header_offset == 0 && block_type == BlockType::Crc32c;
        let format =
            BlockFormat { block_type, interval, header_offset, content, taken, is_whole_crc32c };
        format.fits(shortest)?;
        Ok(format)
    }

    /// Whether header and checksum fit an I/O of `len` bytes.
    fn fits(&self, len: usize) -> Result<(), FormatError> {
        if !self.block_type.has_header() {
            return Ok(());
        }
        let (interval, taken) = (self.step(len), self.taken);
        if interval <= taken {
            return Err(FormatError::IntervalTooSmall { interval, needed: taken + 1 });
        }
        let offset = self.header_offset;
        if offset > 0 && offset < taken {
            return Err(FormatError::OffsetOverlaps { offset, needed: taken });
        }
        if offset > 0 && offset + taken > interval {
            let greatest = interval - taken;
            return Err(FormatError::OffsetBeyondInterval { offset, greatest });
        }
        Ok(())
    }

    /// The type of the blocks.
    pub fn block_type(&self) -> BlockType {
        self.block_type
    }

    /// What they hold.
    pub fn content(&self) -> &BlockContent {
        &self.content
    }

    /// Bytes with one header in an I/O of `len` bytes.
    #[inline]
    fn step(&self, len: usize) -> usize {
        match self.interval {
            0 => len,
            interval => interval.min(len),
        }
    }

    /// Make the block of a write: content over all of `io`, headers and
    /// checksums over that.
    #[inline]
    pub fn make(&self, io: &mut [u8], identity: &BlockIdentity) {
        if self.block_type == BlockType::Null {
            return;
        }
        self.content.fill(io, identity.seed, identity.offset);
        if !self.block_type.has_header() {
            return;
        }
        let seed = if self.content.uses_seed() { identity.seed } else { 0 };
        match self.interval {
            0 => self.make_interval(io, seed, identity.offset, identity),
            step => self.make_intervals(step, io, seed, identity),
        }
    }

    #[inline(never)]
    fn make_intervals(&self, step: usize, io: &mut [u8], seed: u64, identity: &BlockIdentity) {
        let mut offset = identity.offset;
        for interval in io.chunks_mut(step) {
            self.make_interval(interval, seed, offset, identity);
            offset += step as u64;
        }
    }

    #[inline]
    fn make_interval(&self, interval: &mut [u8], seed: u64, offset: u64, identity: &BlockIdentity) {
        // Only the end of an I/O that no interval divides may be too short
        // for a header: it stays content.
        if interval.len() <= self.taken {
            return;
        }
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            block_type: self.block_type as u8,
            // An I/O is at most 4 GiB less one byte: `Planned::len`.
            len: interval.len() as u32,
            seed,
            offset,
            time_sec: identity.time_sec,
            time_nsec: identity.time_nsec,
            number: identity.number,
            thread: identity.thread,
            pad: 0,
            crc: 0,
        };
        header.encode(interval);
        let (front, data) = interval.split_at_mut(self.taken);
        self.block_type.put_checksum(data, &mut front[HEADER_BYTES..]);
        self.swap_header(interval);
    }

    /// Bytes of the intervals of an I/O of `len` bytes; its last may be shorter.
    pub fn interval_bytes(&self, len: usize) -> usize {
        self.step(len).max(1)
    }

    /// Where in an interval header and checksum lie (`verify_offset`).
    pub fn header_offset(&self) -> usize {
        self.header_offset
    }

    /// Put the header of an interval that was read in front of it, from where
    /// `verify_offset` has it.
    pub fn header_to_front(&self, interval: &mut [u8]) {
        if self.block_type.has_header() {
            self.swap_header(interval);
        }
    }

    /// Exchange header and checksum with the bytes at `verify_offset`; twice
    /// is as if never.
    #[inline]
    fn swap_header(&self, interval: &mut [u8]) {
        if self.header_offset > 0 {
            self.swap_header_with_offset(interval);
        }
    }

    #[inline(never)]
    fn swap_header_with_offset(&self, interval: &mut [u8]) {
        let (at, taken) = (self.header_offset, self.taken);
        // `fits` has seen to both for whole intervals; a shorter rest keeps
        // its header in front.
        if at >= taken && at + taken <= interval.len() {
            let (front, back) = interval.split_at_mut(at);
            front[..taken].swap_with_slice(&mut back[..taken]);
        }
    }

    /// Check all intervals of an I/O that was read. Headers are put back in
    /// front of their intervals: `io` is not what was read any more.
    /// `scratch` is memory for what should be there.
    ///
    /// Each interval is looked at, also after one that is wrong: the first
    /// that is wrong is described, all are counted.
    #[inline]
    pub fn check(
        &self,
        io: &mut [u8],
        expected: &Expected,
        scratch: &mut Vec<u8>,
    ) -> Result<(), Mismatch> {
        if self.is_whole_crc32c && self.is_as_written(io, expected) {
            return Ok(());
        }
        self.check_parts(io, expected, scratch)
    }

    /// Whether an I/O with one CRC-32C is what was written. Where it is not, the parts say why.
    #[inline]
    fn is_as_written(&self, io: &[u8], expected: &Expected) -> bool {
        const TAKEN: usize = HEADER_BYTES + BlockType::Crc32c.trailer_bytes();
        let Some((front, data)) = io.split_first_chunk::<TAKEN>() else { return false };
        let header = Header::decode(front);
        let seed =
            if self.content.uses_seed() { expected.seed } else { expected.seed.and(Some(0)) };
        let known = header.magic == MAGIC
            && header.version == VERSION
            && header.block_type == BlockType::Crc32c as u8
            && header.len == io.len() as u32
            && header.offset == expected.offset
            && seed.is_none_or(|seed| header.seed == seed)
            && expected.number.is_none_or(|number| header.number == number);
        known
            && !data.is_empty()
            && header.crc == Header::crc_of(front)
            && BlockType::Crc32c.has_checksum(data, &front[HEADER_BYTES..])
    }

    #[inline(never)]
    fn check_parts(
        &self,
        io: &mut [u8],
        expected: &Expected,
        scratch: &mut Vec<u8>,
    ) -> Result<(), Mismatch> {
        if self.block_type == BlockType::Null {
            return Ok(());
        }
        let len = io.len();
        // Without headers it is all pattern; what should be there is made only where it is not.
        if !self.block_type.has_header() && self.content.is_pattern_in(io, expected.offset, scratch)
        {
            return Ok(());
        }
        let wanted: &[u8] = match &self.content {
            BlockContent::Pattern { .. } if self.compares_content() => {
                scratch.resize(len, 0);
                self.content.fill(scratch, 0, expected.offset);
                scratch
            }
            _ => &[],
        };
        if self.interval == 0 {
            let wanted = (!wanted.is_empty()).then_some(wanted);
            let offset = expected.offset;
            let checked = self.check_interval(io, 0, wanted, expected);
            return checked.map_err(|kind| Mismatch { offset, len, kind, intervals: 1 });
        }
        self.check_intervals(io, wanted, expected)
    }

    #[inline(never)]
    fn check_intervals(
        &self,
        io: &mut [u8],
        wanted: &[u8],
        expected: &Expected,
    ) -> Result<(), Mismatch> {
        let mut first: Option<Mismatch> = None;
        let step = self.step(io.len()).max(1);
        for (index, interval) in io.chunks_mut(step).enumerate() {
            let start = index * step;
            let wanted = wanted.get(start..start + interval.len());
            let Err(kind) = self.check_interval(interval, start, wanted, expected) else {
                continue;
            };
            match &mut first {
                Some(mismatch) => mismatch.intervals += 1,
                None => {
                    let offset = expected.offset + start as u64;
                    let len = interval.len();
                    first = Some(Mismatch { offset, len, kind, intervals: 1 });
                }
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Whether the content is compared byte for byte.
    fn compares_content(&self) -> bool {
        use BlockType::{Meta, Pattern, PatternHeader};
        matches!(self.block_type, Pattern | PatternHeader | Meta)
    }

    fn check_interval(
        &self,
        interval: &mut [u8],
        start: usize,
        wanted: Option<&[u8]>,
        expected: &Expected,
    ) -> Result<(), MismatchKind> {
        if !self.block_type.has_header() || interval.len() <= self.taken {
            return self.compare(interval, wanted, 0, start);
        }
        self.swap_header(interval);
        let header = Header::decode(interval);
        self.check_header(&header, interval, start, expected).map_err(MismatchKind::Header)?;
        let found_type = BlockType::from_number(header.block_type);
        let taken = HEADER_BYTES + found_type.map_or(0, BlockType::trailer_bytes);
        if self.compares_content() {
            return self.compare(interval, wanted, taken, start);
        }
        let trailer = self.block_type.trailer_bytes();
        let data = interval.get(taken..).unwrap_or_default();
        let stored = &interval[HEADER_BYTES..HEADER_BYTES + trailer];
        if found_type.is_some() && self.block_type.has_checksum(data, stored) {
            return Ok(());
        }
        Err(self.wrong_checksum(header.block_type, data, stored))
    }

    #[cold]
    fn wrong_checksum(&self, found_type: u8, data: &[u8], stored: &[u8]) -> MismatchKind {
        let is_old_name =
            self.block_type == BlockType::Crc32c && found_type == BlockType::Crc32cIntel as u8;
        let is_other = found_type != self.block_type as u8 && !is_old_name;
        MismatchKind::Checksum {
            block_type: self.block_type,
            other_type: is_other.then_some(found_type),
            stored: hex(stored),
            calculated: hex(self.block_type.checksum(data).as_bytes()),
        }
    }

    fn check_header(
        &self,
        header: &Header,
        interval: &[u8],
        start: usize,
        expected: &Expected,
    ) -> Result<(), HeaderError> {
        if header.magic != MAGIC {
            return Err(HeaderError::Magic { found: header.magic });
        }
        if header.version != VERSION {
            return Err(HeaderError::Version { found: header.version });
        }
        let wanted = interval.len() as u32;
        if header.len != wanted {
            return Err(HeaderError::Length { found: header.len, wanted });
        }
        if let Some(wanted) = expected.seed {
            let wanted = if self.content.uses_seed() { wanted } else { 0 };
            if header.seed != wanted {
                return Err(HeaderError::Seed { found: header.seed, wanted });
            }
        }
        let wanted = expected.offset + start as u64;
        if header.offset != wanted {
            return Err(HeaderError::Offset { found: header.offset, wanted });
        }
        if let Some(wanted) = expected.number
            && header.number != wanted
        {
            return Err(HeaderError::Number { found: header.number, wanted });
        }
        let calculated = Header::crc_of(interval);
        if header.crc != calculated {
            return Err(HeaderError::Crc { found: header.crc, calculated });
        }
        Ok(())
    }

    /// Compare what follows the first `skip` bytes with what should be there,
    /// if that is known.
    fn compare(
        &self,
        interval: &[u8],
        wanted: Option<&[u8]>,
        skip: usize,
        start: usize,
    ) -> Result<(), MismatchKind> {
        let Some(wanted) = wanted else { return Ok(()) };
        let skip = skip.min(interval.len());
        if interval[skip..] == wanted[skip..] {
            return Ok(());
        }
        let at = (skip..interval.len())
            .find(|&at| interval[at] != wanted[at])
            .expect("slices that differ have a byte that differs");
        // fio counts within the piece of `verify_pattern_interval`.
        let counted = match &self.content {
            BlockContent::Pattern { interval: step, .. } if *step > 0 => (start + at) % step,
            _ => at,
        };
        Err(MismatchKind::Content {
            block_type: self.block_type,
            at: counted,
            found: interval[at],
            wanted: wanted[at],
        })
    }

    /// Check a block that was trimmed: it must read as zeroes.
    pub(crate) fn check_trimmed(io: &[u8], offset: u64) -> Result<(), Mismatch> {
        match io.iter().position(|byte| *byte != 0) {
            None => Ok(()),
            Some(at) => Err(Mismatch {
                offset,
                len: io.len(),
                kind: MismatchKind::NotZero { at },
                intervals: 1,
            }),
        }
    }

    /// What `io` held as it was written, from the header that was read with
    /// it, for a dump beside what was read. Its time and number are those of
    /// `identity`.
    pub fn expected_bytes(&self, len: usize, identity: &BlockIdentity) -> Vec<u8> {
        let mut io = vec![0; len];
        self.make(&mut io, identity);
        io
    }
}

impl Mismatch {
    /// fio's messages for this, a line each, without an end of line.
    /// `requested` is the I/O (offset and length) that was read, `flags` fio's
    /// number for the kind of read.
    pub fn lines(&self, file: &str, requested: (u64, usize), flags: u32) -> Vec<String> {
        let (offset, len) = (self.offset, self.len);
        let (from, bytes) = requested;
        let failed = |block_type: BlockType| {
            // fio keeps eight characters of a name.
            let name = &block_type.name()[..block_type.name().len().min(8)];
            format!(
                "{name}: verify failed at file {file} offset {offset}, length {len} (requested block: offset={from}, length={bytes}, flags={flags:x})"
            )
        };
        match &self.kind {
            MismatchKind::Header(error) => vec![format!(
                "verify: {error} at file {file} offset {offset}, length {len} (requested block: offset={from}, length={bytes})"
            )],
            MismatchKind::Checksum { block_type, other_type, stored, calculated } => {
                let mut lines = vec![
                    failed(*block_type),
                    format!("       Expected CRC: {stored}"),
                    format!("       Received CRC: {calculated}"),
                ];
                if let Some(other) = other_type {
                    let given = *block_type as u8;
                    lines.push(format!("fio: verify type mismatch ({other} media, {given} given)"));
                }
                lines
            }
            MismatchKind::Content { block_type, at, found, wanted } => {
                let bits = (found ^ wanted).count_ones();
                vec![
                    format!(
                        "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}"
                    ),
                    format!("fio: bad pattern block offset {at}"),
                    failed(*block_type),
                ]
            }
            MismatchKind::NotZero { at } => vec![format!(
                "verify failed for zeroed data at file {file} offset {offset}, length {len}, block offset {at}"
            )],
        }
    }
}
