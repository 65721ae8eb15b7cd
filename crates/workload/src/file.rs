//! Where one file stands: its range, the ends of its last I/Os, its random map.

use iosonde_base::{DIRS, Dir, Planned};

use crate::offsets::{Grid, Law, Listed};
use crate::random::Lfsr;
use crate::random_map::RandomMap;
use crate::spec::{SourceFile, SourceSpec};

/// One file of a job.
#[derive(Debug)]
pub(crate) struct FileState {
    /// First byte used; strided zones move it.
    pub start: u64,
    /// Where a pass begins from the second one on. Drawn sizes are held to the
    /// range as counted from here, in the first pass too, as in fio.
    pub first: u64,
    /// Bytes used from `start` on.
    pub range: u64,
    /// Size of the file: no I/O reaches past it.
    pub end: u64,
    /// Where random I/Os of each direction may begin.
    pub grids: [Grid; 3],
    /// Where the last I/O of each direction ended.
    pub last_end: [u64; 3],
    /// Where it began.
    pub last_start: [u64; 3],
    /// Blocks visited in this pass.
    pub map: Option<RandomMap>,
    /// The shift register, instead of draws and map.
    pub lfsr: Option<Lfsr>,
    /// A distribution that is not even.
    pub law: Option<Law>,
    /// Blocks in the order listed.
    pub listed: Option<Listed>,
    /// Nothing more to do in this pass.
    pub done: bool,
    /// The ring has opened it.
    pub open: bool,
    /// The last trim, if its write has yet to follow.
    pub trimmed: Option<Planned>,
    /// First and last byte written since the last `SyncRange`.
    pub written: Option<(u64, u64)>,
    lfsr_seed: u64,
}

impl FileState {
    /// At the start of `file`.
    pub fn new(spec: &SourceSpec, file: &SourceFile, lfsr_seed: u64) -> FileState {
        FileState {
            start: file.offset,
            first: file.later_offset.unwrap_or(file.offset),
            range: file.size,
            end: file.end,
            grids: DIRS.map(|dir| spec.grid(dir, file)),
            last_end: [file.offset; 3],
            last_start: [file.offset; 3],
            map: None,
            lfsr: None,
            law: None,
            listed: None,
            done: false,
            open: false,
            trimmed: None,
            written: None,
            lfsr_seed,
        }
    }

    /// For the next pass.
    pub(crate) fn begin_pass(&mut self) {
        self.start = self.first;
        self.rewind();
        self.trimmed = None;
        self.done = false;
    }

    /// No I/O has been done in the range at hand, and no block has been visited.
    pub fn rewind(&mut self) {
        self.last_end = [self.start; 3];
        self.last_start = [self.start; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(lfsr) = &mut self.lfsr {
            lfsr.restart(self.lfsr_seed);
        }
        if let Some(listed) = &mut self.listed {
            listed.restart();
        }
    }

    /// Move on by one strided zone, or back to the first where the file has no
    /// further one.
    pub(crate) fn next_zone(&mut self, bytes: u64, dir: Dir) {
        self.start += bytes;
        if self.start >= self.end {
            self.start = self.first;
        }
        self.last_end[dir as usize] = self.start;
    }

    /// Note an I/O that has been planned.
    #[inline]
    pub fn issued(&mut self, entry: &Planned) {
        if let Some(dir) = entry.op.dir() {
            let end = entry.offset + u64::from(entry.len);
            self.last_start[dir as usize] = entry.offset;
            self.last_end[dir as usize] = end;
            if dir == Dir::Write {
                self.written = Some(match self.written {
                    Some((first, last)) => (first.min(entry.offset), last.max(end)),
                    None => (entry.offset, end),
                });
            }
        }
    }
}
