//! The file or device with the block: reading it, and looking for a header.

use iosonde_sys::files::FileExt;
use iosonde_verify::{HEADER_BYTES, Header, MAGIC, VERSION};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

/// Headers lie at multiples of this, but for odd intervals.
const SECTOR: u64 = 512;

/// No header lies farther before a byte of its interval.
const INTERVAL_MAX: u64 = 4 << 20;

/// Lengths of intervals that are believed: one is read as a whole.
const LENGTHS: RangeInclusive<u32> = HEADER_BYTES as u32 + 1..=1 << 30;

/// A file or device, open for reading, and the offset that was named.
#[derive(Debug)]
pub struct Medium {
    file: File,
    bytes: u64,
    /// The byte that was named.
    pub offset: u64,
}

impl Medium {
    /// Open it.
    ///
    /// # Errors
    /// It cannot be opened or is no file or block device, or ends before the
    /// offset.
    pub fn open(path: &Path, offset: u64) -> Result<Medium, String> {
        let shown = path.display();
        let failed = |error: io::Error| format!("cannot read {shown}: {error}");
        let kind = iosonde_sys::files::status(path).map_err(failed)?.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(format!("{shown} is neither a file nor a block device"));
        }
        let file = File::open(path).map_err(failed)?;
        let bytes = if kind.is_file() {
            file.metadata().map_err(failed)?.len()
        } else {
            iosonde_direct::device::size(&file).map_err(failed)?
        };
        if offset >= bytes {
            return Err(format!(
                "--offset: {offset} lies beyond the end of {shown}, which has {bytes} bytes"
            ));
        }
        Ok(Medium { file, bytes, offset })
    }

    /// `len` bytes from `at` on, fewer at the end of the medium.
    ///
    /// # Errors
    /// An I/O error, with the place.
    pub fn read(&self, at: u64, len: usize) -> Result<Vec<u8>, String> {
        let left = usize::try_from(self.bytes.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len.min(left)];
        match self.file.read_exact_at(&mut bytes, at) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(format!("cannot read {} bytes at {at}: {error}", bytes.len())),
        }
    }

    /// The interval around the offset, by the sound header in front of it:
    /// where it begins, and its length.
    pub fn interval(&self) -> Option<(u64, usize)> {
        let exact = std::iter::once(self.offset);
        let sector = self.offset / SECTOR * SECTOR;
        let before = (0..=INTERVAL_MAX / SECTOR).map_while(|n| sector.checked_sub(n * SECTOR));
        exact.chain(before).find_map(|at| {
            let header = self.header(at)?;
            let covers = at.saturating_add(u64::from(header.len)) > self.offset;
            covers.then_some((at, header.len as usize))
        })
    }

    /// The interval that begins at the offset, by what looks like a header
    /// that is damaged.
    pub fn damaged_interval(&self) -> Option<(u64, usize)> {
        let bytes = self.read(self.offset, HEADER_BYTES).ok()?;
        if bytes.len() < HEADER_BYTES {
            return None;
        }
        let header = Header::decode(&bytes);
        let looks = header.magic == MAGIC && LENGTHS.contains(&header.len);
        looks.then_some((self.offset, header.len as usize))
    }

    /// The sound header at `at`.
    fn header(&self, at: u64) -> Option<Header> {
        let bytes = self.read(at, HEADER_BYTES).ok()?;
        if bytes.len() < HEADER_BYTES {
            return None;
        }
        let header = Header::decode(&bytes);
        let sound = header.magic == MAGIC
            && header.version == VERSION
            && header.crc == Header::crc_of(&bytes)
            && LENGTHS.contains(&header.len);
        sound.then_some(header)
    }

    /// The number of the job that wrote the block around the offset, by its
    /// header.
    pub fn thread_number(&self) -> Option<u32> {
        let (at, _) = self.interval()?;
        self.header(at).map(|header| header.thread.into())
    }
}
