//! Reads and writes of any length, at any offset, from any memory, of a file that is open for
//! direct I/O: the part that is aligned goes as it is, the ends through a separate buffer.

use std::fs::File;
use std::io;

use crate::durability::{CallError, ReadCaching, WriteFlags, read_with, write_with};
use crate::{AlignedBuf, DirectIo, platform};

/// What is copied at a time where the caller's memory is not aligned.
const BOUNCE_BYTES: usize = 64 << 10;

/// `read_exact` and `write_all` for a file that is open for direct I/O.
///
/// Direct I/O takes whole blocks only ([`DirectIo`]). A request that begins or ends within one is
/// extended to it here:
///
/// - a read fetches the whole block and copies the part that was asked for;
/// - a write first reads the block, changes the part and writes the whole block back. The file must
///   then be open for reading too. **This is not atomic**: whoever writes another part of the same
///   block meanwhile may lose it, so keep writers of one block apart ([`lock`](crate::lock)). After
///   a loss of power the block holds the old or the new bytes as far as the device writes a block
///   whole.
/// - a write that ends within a block beyond the end of a file writes the block with zeros behind
///   the data, then sets the file's length to the end of the data. If the program ends between the
///   two, the file is longer by these zeros.
///
/// Whole blocks in memory that is aligned are transferred in place; from other memory they are
/// copied, 64 KiB at a time. A file that is not open for direct I/O is read and written as it is.
///
/// ```
/// use iosonde_direct::{ExactIo, OpenOptions};
///
/// let path = std::env::temp_dir().join(format!("doc-exact-{}", std::process::id()));
/// let options = OpenOptions::new().read(true).write(true).create(true).direct(true);
/// let file = match options.open(&path) {
///     Ok(file) => file,
///     Err(error) => return Ok(println!("{error}")), // No direct I/O there.
/// };
/// let mut exact = ExactIo::of(&file)?;
/// exact.write_all(b"a record of some length", 1000)?;
/// let mut record = [0; 6];
/// exact.read_exact(&mut record, 1002)?;
/// assert_eq!(&record, b"record");
/// assert_eq!(file.metadata()?.len(), 1023);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExactIo<'file> {
    file: &'file File,
    /// What the offset and the length of a request must be multiples of.
    block: usize,
    /// What its address must be a multiple of.
    memory: usize,
    /// At least one block.
    bounce: AlignedBuf,
}

impl<'file> ExactIo<'file> {
    /// For a file, with the alignment that it needs.
    ///
    /// # Errors
    /// If the system cannot report what the file is, or there is no memory.
    pub fn of(file: &'file File) -> io::Result<ExactIo<'file>> {
        let needs = DirectIo::of(file)?;
        let (block, memory) = if platform::is_direct(file) {
            (needs.offset_alignment.max(needs.read_offset_alignment), needs.memory_alignment)
        } else {
            (1, 1)
        };
        let (block, memory) = (block.max(1) as usize, memory.max(1) as usize);
        let bytes = BOUNCE_BYTES.next_multiple_of(block);
        let alignment = memory.max(block).next_power_of_two();
        let bounce = AlignedBuf::new(bytes, alignment).map_err(io::Error::other)?;
        Ok(ExactIo { file, block, memory, bounce })
    }

    /// Fill `data` from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before; otherwise the error of the system. What `data` holds
    /// then is not defined.
    pub fn read_exact(&mut self, data: &mut [u8], offset: u64) -> Result<(), CallError> {
        let end = end_of(data.len(), offset)?;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let rest = &mut data[done..];
            let read = match self.in_place(rest.as_ptr(), rest.len(), at) {
                0 => self.read_bounced(rest, at, end)?,
                whole => {
                    retried(|| read_with(self.file, &mut rest[..whole], at, ReadCaching::Cached))?
                }
            };
            if read == 0 {
                return Err(CallError::System(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!("the file ends at {at}, before all {} bytes were read", data.len()),
                )));
            }
            done += read;
        }
        Ok(())
    }

    /// Write all of `data` at `offset`. The file becomes no longer than `data` makes it.
    ///
    /// # Errors
    /// The error of the system; how much was written then is not known. If a block must be read
    /// first and cannot be, the error says so.
    pub fn write_all(&mut self, data: &[u8], offset: u64) -> Result<(), CallError> {
        end_of(data.len(), offset)?;
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let rest = &data[done..];
            let within = (at % self.block as u64) as usize;
            let written = match self.in_place(rest.as_ptr(), rest.len(), at) {
                0 if within == 0 && rest.len() >= self.block => self.write_bounced(rest, at)?,
                0 => self.change_block(rest, at, within)?,
                whole => retried(|| write_with(self.file, &rest[..whole], at, WriteFlags::new()))?,
            };
            if written == 0 {
                return Err(CallError::System(io::ErrorKind::WriteZero.into()));
            }
            done += written;
        }
        Ok(())
    }

    /// How many bytes from here can be transferred as they are.
    fn in_place(&self, start: *const u8, bytes: usize, at: u64) -> usize {
        let aligned =
            start.addr().is_multiple_of(self.memory) && at.is_multiple_of(self.block as u64);
        if aligned { bytes - bytes % self.block } else { 0 }
    }

    /// Read the blocks around what is wanted, as many as there is room for, and copy it.
    fn read_bounced(&mut self, rest: &mut [u8], at: u64, end: u64) -> Result<usize, CallError> {
        let within = (at % self.block as u64) as usize;
        let first = at - within as u64;
        let blocks = usize::try_from(end - first).unwrap_or(usize::MAX).min(self.bounce.len());
        let bytes = blocks.next_multiple_of(self.block).min(self.bounce.len());
        let fetched = &mut self.bounce[..bytes];
        let read = retried(|| read_with(self.file, fetched, first, ReadCaching::Cached))?;
        let taken = read.saturating_sub(within).min(rest.len());
        rest[..taken].copy_from_slice(&self.bounce[within..within + taken]);
        Ok(taken)
    }

    /// Write whole blocks from memory that is not aligned.
    fn write_bounced(&mut self, rest: &[u8], at: u64) -> Result<usize, CallError> {
        let bytes = (rest.len() - rest.len() % self.block).min(self.bounce.len());
        self.bounce[..bytes].copy_from_slice(&rest[..bytes]);
        retried(|| write_with(self.file, &self.bounce[..bytes], at, WriteFlags::new()))
    }

    /// Write a part of one block: read it, change it, write it back.
    fn change_block(&mut self, rest: &[u8], at: u64, within: usize) -> Result<usize, CallError> {
        let first = at - within as u64;
        let taken = rest.len().min(self.block - within);
        let old = self.read_block(first)?;
        self.bounce[old..self.block].fill(0);
        self.bounce[within..within + taken].copy_from_slice(&rest[..taken]);
        let mut written = 0;
        while written < self.block {
            // A write that ends early ends at a block: the rest begins at one.
            let block = &self.bounce[written..self.block];
            let offset = first + written as u64;
            written += match retried(|| write_with(self.file, block, offset, WriteFlags::new()))? {
                0 => return Err(CallError::System(io::ErrorKind::WriteZero.into())),
                bytes => bytes,
            };
        }
        let length = old.max(within + taken);
        if length < self.block && self.file.metadata()?.is_file() {
            self.file.set_len(first + length as u64)?;
        }
        Ok(taken)
    }

    /// The block at `first`, into the bounce buffer: how many bytes of it the file has.
    fn read_block(&mut self, first: u64) -> Result<usize, CallError> {
        let block = &mut self.bounce[..self.block];
        retried(|| read_with(self.file, block, first, ReadCaching::Cached)).map_err(|error| {
            let error = io::Error::from(error);
            CallError::System(io::Error::new(
                error.kind(),
                format!(
                    "read the block of {} bytes at {first} to write a part of it (the file must \
                     be open for reading too): {error}",
                    self.block
                ),
            ))
        })
    }
}

/// Where a request ends.
fn end_of(bytes: usize, offset: u64) -> io::Result<u64> {
    let end = offset.checked_add(bytes as u64).filter(|&end| i64::try_from(end).is_ok());
    end.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("no file reaches to {bytes} bytes from the offset {offset}"),
        )
    })
}

/// Again, where a signal interrupted it.
fn retried(mut transfer: impl FnMut() -> Result<usize, CallError>) -> Result<usize, CallError> {
    loop {
        match transfer() {
            Err(CallError::System(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_that_a_signal_interrupts_is_done_again_and_other_errors_are_not() {
        let mut interruptions = 3;
        let moved = retried(|| match interruptions {
            0 => Ok(7),
            _ => {
                interruptions -= 1;
                Err(CallError::System(io::ErrorKind::Interrupted.into()))
            }
        });
        assert_eq!(moved.unwrap(), 7);
        let mut calls = 0;
        let refused = retried(|| {
            calls += 1;
            Err(CallError::System(io::ErrorKind::StorageFull.into()))
        });
        assert_eq!(io::Error::from(refused.unwrap_err()).kind(), io::ErrorKind::StorageFull);
        assert_eq!(calls, 1);
    }
}
