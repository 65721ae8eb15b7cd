//! The bytes of files: written and read in pieces, with O_DIRECT or checked where that is asked.

use crate::engines::tree::{DIRECT_BLOCK, TreeOperation, TreeSettings, mixed};
use iosonde_direct::AlignedBuf;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Bytes that one write(2) or read(2) moves at most.
const PIECE: u64 = 1 << 20;
/// Content is made of words that say where they are.
const WORD: usize = 8;

/// Writes and reads the data of files.
pub(super) struct FileData {
    /// Data to write, or room for what is read; none where nothing is moved.
    buffer: Option<AlignedBuf>,
    flags: OFlags,
    /// Differs from tree to tree, where content is checked.
    check: Option<u64>,
}

impl FileData {
    /// For files of a tree; without memory, if that is not to be had.
    pub(super) fn new(settings: &TreeSettings) -> FileData {
        use TreeOperation::{Churn, Create, Read};
        let moves = matches!(settings.operation, Create | Read | Churn);
        // One more than a file holds, to see its end.
        let bytes = (settings.largest() + 1).min(PIECE).next_multiple_of(DIRECT_BLOCK);
        let buffer =
            if moves { AlignedBuf::new(bytes as usize, DIRECT_BLOCK as usize).ok() } else { None };
        let tree = settings.thread.map_or(0, |thread| u64::from(thread) + 1);
        let mut data = FileData {
            buffer,
            flags: if settings.direct { OFlags::DIRECT } else { OFlags::empty() },
            check: settings.verify.then_some(mixed(tree)),
        };
        data.buffer.iter_mut().for_each(|buffer| noise(buffer));
        data
    }

    /// More flags of open(2).
    pub(super) fn flags(&self) -> OFlags {
        self.flags
    }

    /// Write the data of file `index`.
    pub(super) fn write(&mut self, file: &OwnedFd, index: u64, bytes: u64) -> Result<(), Errno> {
        let check = self.check;
        let room = self.buffer.as_mut().ok_or(Errno::NOMEM)?;
        let mut done = 0;
        while done < bytes {
            let piece = (bytes - done).min(room.len() as u64) as usize;
            if let Some(tree) = check {
                fill(&mut room[..piece], tree ^ mixed(index), done);
            }
            match rustix::io::write(file, &room[..piece]) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(written) => done += written as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Read file `index` to its end: it must be as long as it was written, and hold what was.
    pub(super) fn read(&mut self, file: &OwnedFd, index: u64, bytes: u64) -> Result<(), Errno> {
        let check = self.check;
        let room = self.buffer.as_mut().ok_or(Errno::NOMEM)?;
        let mut found = 0;
        loop {
            let count = match rustix::io::read(file, &mut room[..]) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            if check.is_some_and(|tree| !holds(&room[..count], tree ^ mixed(index), found)) {
                return Err(Errno::ILSEQ);
            }
            found += count as u64;
            // There is room for more than the file is said to have, or for a piece of it.
            if count < room.len() {
                break;
            }
        }
        if found == bytes { Ok(()) } else { Err(Errno::NODATA) }
    }
}

/// The content of a file from an offset, a multiple of a word's bytes: each word is the file's
/// number, mixed, plus its offset.
fn fill(room: &mut [u8], file: u64, offset: u64) {
    for (at, word) in (offset..).step_by(WORD).zip(room.chunks_mut(WORD)) {
        word.copy_from_slice(&file.wrapping_add(at).to_le_bytes()[..word.len()]);
    }
}

/// Whether that is what bytes are.
fn holds(found: &[u8], file: u64, offset: u64) -> bool {
    let words = (offset..).step_by(WORD).zip(found.chunks(WORD));
    let is_right =
        |(at, word): (u64, &[u8])| *word == file.wrapping_add(at).to_le_bytes()[..word.len()];
    words.into_iter().all(is_right)
}

/// Bytes that do not compress (xorshift64).
fn noise(room: &mut [u8]) {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    for word in room.chunks_mut(WORD) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes()[..word.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_says_which_file_it_is_of_and_where() {
        let mut room = [0; 30];
        fill(&mut room, 7, 4096);
        assert!(holds(&room, 7, 4096) && !holds(&room, 7, 0) && !holds(&room, 8, 4096));
        room[29] ^= 1;
        assert!(!holds(&room, 7, 4096));
    }
}
