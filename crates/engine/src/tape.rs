//! Every I/O as it completes, for logs with one entry an I/O.

/// One I/O that was done whole. 32 bytes serve every kind of log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// When it came back, in ticks.
    pub end: u64,
    /// Its first byte in the file.
    pub offset: u64,
    /// Start to issue, in nanoseconds; see [`Record::TOO_LONG`].
    pub slat: u32,
    /// Issue to completion, in nanoseconds; see [`Record::TOO_LONG`].
    pub clat: u32,
    /// Bytes.
    pub len: u32,
    /// 0 read, 1 write, 2 trim.
    pub dir: u16,
    /// The priority it was given, as ioprio_set(2) has it; 0 for the job's own.
    pub prio: u16,
}

impl Record {
    /// In place of `clat`: a latency does not fit, and the next record holds
    /// both, `slat` as its `end` and `clat` as its `offset`.
    pub const TOO_LONG: u32 = u32::MAX;
}

/// Takes a full chunk, gives an empty one with room.
pub type TapeConsumer = Box<dyn FnMut(Vec<Record>) -> Vec<Record> + Send>;

/// Where the loop leaves a record of each I/O.
pub struct Tape {
    chunk: Vec<Record>,
    turn: TapeConsumer,
}

impl Tape {
    /// A tape that takes chunks from `turn` and gives them back.
    pub fn new(mut turn: TapeConsumer) -> Tape {
        Tape { chunk: turn(Vec::new()), turn }
    }

    /// Hand over what there is, full or not.
    pub fn hand_over(&mut self) {
        if !self.chunk.is_empty() {
            self.chunk = (self.turn)(std::mem::take(&mut self.chunk));
        }
    }

    /// Let somebody else see each chunk before it is handed over.
    pub fn seen_by(self, mut see: impl FnMut(&[Record]) + Send + 'static) -> Tape {
        let Tape { chunk, mut turn } = self;
        let turn = Box::new(move |full: Vec<Record>| {
            see(&full);
            turn(full)
        });
        Tape { chunk, turn }
    }

    /// Record an I/O whose latencies are in nanoseconds. Above the lower half
    /// of its direction lies its priority, if it has its own.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        end: u64,
        offset: u64,
        len: u32,
        dir: u32,
        [slat, clat]: [u64; 2],
    ) {
        if self.chunk.len() == self.chunk.capacity() {
            self.full();
        }
        if too_long([slat, clat]) {
            return self.add_long(end, offset, len, dir, [slat, clat]);
        }
        let (slat, clat) = (slat as u32, clat as u32);
        let (dir, prio) = (dir as u16, (dir >> 16) as u16);
        self.chunk.push(Record { end, offset, slat, clat, len, dir, prio });
    }

    /// Record each of `ios`, in one direction and with these latencies; `about`
    /// returns the offset, the bytes and the priority of each.
    #[inline(always)]
    pub(crate) fn add_all<T>(
        &mut self,
        end: u64,
        dir: u32,
        latencies: [u64; 2],
        ios: &[T],
        about: impl Fn(&T) -> (u64, u32, u16),
    ) {
        if too_long(latencies) {
            for io in ios {
                let (offset, len, prio) = about(io);
                self.add(end, offset, len, dir | u32::from(prio) << 16, latencies);
            }
            return;
        }
        let [slat, clat] = latencies.map(|ns| ns as u32);
        let dir = dir as u16;
        let mut rest = ios;
        while !rest.is_empty() {
            if self.chunk.len() == self.chunk.capacity() {
                self.full();
            }
            let fit = rest.len().min(self.chunk.capacity() - self.chunk.len());
            let (now, later) = rest.split_at(fit);
            self.chunk.extend(now.iter().map(|io| {
                let (offset, len, prio) = about(io);
                Record { end, offset, slat, clat, len, dir, prio }
            }));
            rest = later;
        }
    }

    #[cold]
    #[inline(never)]
    fn full(&mut self) {
        self.hand_over();
        self.chunk.reserve(1);
    }

    #[cold]
    #[inline(never)]
    fn add_long(&mut self, end: u64, offset: u64, len: u32, dir: u32, [slat, clat]: [u64; 2]) {
        let latency = Record::TOO_LONG;
        let (dir, prio) = (dir as u16, (dir >> 16) as u16);
        self.chunk.push(Record { end, offset, slat: latency, clat: latency, len, dir, prio });
        self.chunk.push(Record { end: slat, offset: clat, ..Record::default() });
    }
}

/// Whether one of the latencies does not fit in a record, or may look as if it
/// did not: one question for both.
#[inline(always)]
fn too_long([slat, clat]: [u64; 2]) -> bool {
    slat | clat >= Record::TOO_LONG.into()
}

/// Where a stretch of I/Os is recorded: a tape, or nothing, which costs
/// nothing.
pub(crate) trait Taping {
    /// Whether there is a tape.
    const TAPES: bool;

    fn add(&mut self, end: u64, offset: u64, len: u32, dir: u32, latencies: [u64; 2]);
}

impl Taping for () {
    const TAPES: bool = false;

    #[inline(always)]
    fn add(&mut self, _: u64, _: u64, _: u32, _: u32, _: [u64; 2]) {}
}

impl Taping for Tape {
    const TAPES: bool = true;

    #[inline(always)]
    fn add(&mut self, end: u64, offset: u64, len: u32, dir: u32, latencies: [u64; 2]) {
        Tape::add(self, end, offset, len, dir, latencies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn chunks_are_handed_over_full_and_long_latencies_take_two_records() {
        assert_eq!(size_of::<Record>(), 32);
        let (out, handed) = channel();
        let turn = move |full: Vec<Record>| {
            if !full.is_empty() {
                out.send(full).unwrap();
            }
            Vec::with_capacity(4)
        };
        let mut tape = Tape::new(Box::new(turn));
        for n in 0..5 {
            tape.add(n, 0, 512, 1, [1, 2]);
        }
        assert_eq!(handed.try_recv().unwrap().len(), 4);
        tape.add(9, 4096, 512, 0, [7, 5 << 32]);
        tape.hand_over();
        let last = handed.try_recv().unwrap();
        assert_eq!(last.len(), 3);
        assert_eq!((last[1].clat, last[1].end), (Record::TOO_LONG, 9));
        assert_eq!((last[2].end, last[2].offset), (7, 5 << 32));
        tape.hand_over();
        assert!(handed.try_recv().is_err(), "nothing is handed over twice");

        tape.add(2, 9, 512, 1 | 3 << 16, [1, 2]);
        tape.add_all(3, 1, [5, 6], &[10, 11, 12, 13, 14, 15], |&at| (at, 512, at as u16));
        tape.add_all(4, 1, [6 << 32, 6 << 32], &[20], |&at| (at, 512, 5));
        tape.hand_over();
        let all: Vec<Record> = handed.try_iter().flatten().collect();
        let offsets: Vec<u64> = all.iter().map(|record| record.offset).collect();
        assert_eq!(offsets, [9, 10, 11, 12, 13, 14, 15, 20, 6 << 32]);
        let Record { end, slat, clat, len, dir, prio, .. } = all[6];
        assert_eq!((end, slat, clat, len, dir, prio), (3, 5, 6, 512, 1, 15));
        let given = [0, 7].map(|at| (all[at].dir, all[at].prio));
        assert_eq!(given, [(1, 3), (1, 5)], "short and long ones have their priority");
    }
}
