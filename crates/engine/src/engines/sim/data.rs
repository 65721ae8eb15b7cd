//! The data of a simulated device: what was never written, or was trimmed, is zeroes.
#![allow(unsafe_code)]

use crate::Io;
use std::collections::HashMap;

/// Memory is taken in pieces of so many bytes, where anything is written.
const PIECE: usize = 64 << 10;

/// Bytes by their offset.
#[derive(Debug, Default)]
pub(super) struct SimulatedData {
    pieces: HashMap<u64, Box<[u8]>>,
}

impl SimulatedData {
    /// Write `bytes` at `offset`.
    pub fn put_slice(&mut self, offset: u64, bytes: &[u8]) {
        for (at, number, start, count) in parts(offset, bytes.len()) {
            self.piece(number)[start..start + count].copy_from_slice(&bytes[at..at + count]);
        }
    }

    /// Write the first `len` bytes of an I/O, or all if it has fewer.
    pub fn put(&mut self, io: &Io, len: u32) {
        for (at, number, start, count) in parts(io.offset, len.min(io.len) as usize) {
            let room = &mut self.piece(number)[start..start + count];
            // SAFETY: `io.len` bytes from `io.buffer` may be read until the I/O completes (see
            // `Io`), `at + count` is at most that, and `room` is memory of this device alone.
            unsafe { std::ptr::copy_nonoverlapping(io.buffer.add(at), room.as_mut_ptr(), count) };
        }
    }

    fn piece(&mut self, number: u64) -> &mut [u8] {
        self.pieces.entry(number).or_insert_with(|| vec![0; PIECE].into_boxed_slice())
    }

    /// Read the first `len` bytes of an I/O, or all if it has fewer.
    pub fn get(&self, io: &Io, len: u32) {
        for (at, number, start, count) in parts(io.offset, len.min(io.len) as usize) {
            // SAFETY: `io.len` bytes from `io.buffer` are the I/O's until it completes (see
            // `Io`), and `at + count` is at most that.
            let out = unsafe { io.buffer.add(at) };
            match self.pieces.get(&number) {
                // SAFETY: as above; the piece is memory of this device alone.
                Some(piece) => unsafe {
                    std::ptr::copy_nonoverlapping(piece[start..start + count].as_ptr(), out, count);
                },
                // SAFETY: as above.
                None => unsafe { out.write_bytes(0, count) },
            }
        }
    }

    /// `bytes` from `offset` on are zeroes.
    pub fn discard(&mut self, offset: u64, bytes: u64) {
        let end = offset.saturating_add(bytes);
        self.pieces.retain(|number, piece| {
            let start = number * PIECE as u64;
            let from = offset.clamp(start, start + PIECE as u64) - start;
            let to = end.clamp(start, start + PIECE as u64) - start;
            // Within a piece, so they fit.
            piece[from as usize..to as usize].fill(0);
            to - from < PIECE as u64
        });
    }
}

/// The parts of a span in the pieces: where each begins in the span, the piece's
/// number, where it begins in that, and its bytes.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (usize, u64, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let here = offset + at as u64;
        // Below `PIECE`, so it fits.
        let start = (here % PIECE as u64) as usize;
        let count = (PIECE - start).min(len - at);
        let part = (at, here / PIECE as u64, start, count);
        at += count;
        (count > 0).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{FileId, Op};

    fn read(data: &SimulatedData, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![9; len];
        let (buffer, len) = (bytes.as_mut_ptr(), len as u32);
        let io = Io { offset, buffer, len, op: Op::Read, file: FileId(0), fd: -1 };
        data.get(&io, u32::MAX);
        bytes
    }

    #[test]
    fn bytes_read_back_over_pieces_and_are_zeroes_where_none_were_written() {
        let mut data = SimulatedData::default();
        let bytes: Vec<u8> = (0..3 * PIECE).map(|at| at as u8 | 1).collect();
        let offset = PIECE as u64 - 100;
        data.put_slice(offset, &bytes);
        assert_eq!(read(&data, offset, bytes.len()), bytes);
        assert_eq!(read(&data, offset - 4, 8)[..4], [0; 4]);
        assert_eq!(read(&data, 1 << 50, 3), [0; 3]);
        assert_eq!(read(&data, offset, 0), [0; 0]);
    }

    #[test]
    fn what_is_discarded_is_zeroes_and_takes_no_memory() {
        let mut data = SimulatedData::default();
        data.put_slice(0, &vec![7; 3 * PIECE]);
        data.discard(10, 2 * PIECE as u64);
        assert_eq!(data.pieces.len(), 2, "the piece in the middle is gone");
        assert_eq!(read(&data, 8, 4), [7, 7, 0, 0]);
        assert_eq!(read(&data, 2 * PIECE as u64 + 8, 4), [0, 0, 7, 7]);
        data.discard(0, u64::MAX);
        assert!(data.pieces.is_empty());
    }
}
