//! A cell's figure: slices of one length, as many as it takes to be sure of
//! their median, within bounds of time.

use crate::cell::{Access, ReadPath};
use crate::median::{Median, SAMPLES_LEAST};
use crate::sheet::{Measured, NoFigure, ResultCell};
use crate::slice::Sliced;
use iosonde_session::RunEnd;
use std::time::Duration;

/// A median is settled when the true one is within this share of it.
pub const CLOSE: f64 = 0.05;

/// Retries of slices that are no samples of their mode are limited. The first
/// warm slice does not count: it read its data from storage.
const DOUBTS_MOST: usize = 3;

/// A shorter slice would be as much about the start of its thread, a
/// millisecond or two, as about its I/O.
const SLICE_LEAST: Duration = Duration::from_millis(20);

/// How long a cell may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The planned length of one slice.
    pub slice: Duration,
    /// Samples are taken for this long at least.
    pub floor: Duration,
    /// And not begun after this, if there is one already.
    pub ceiling: Duration,
}

impl Bounds {
    /// Of a cell of this kind, when each is to take at most `time`.
    ///
    /// Twenty slices fit; where a sync is shared, eight longer ones, in twice
    /// the time: the more writes share it, the less it weighs.
    pub fn of(kind: Access, time: Duration) -> Bounds {
        match kind {
            Access::Write(mode, _) if mode.is_amortized() => {
                Bounds { slice: time / 4, floor: time / 5, ceiling: time * 2 }
            }
            _ => Bounds { slice: (time / 20).max(SLICE_LEAST), floor: time / 5, ceiling: time },
        }
    }
}

/// A stretch of blocks: the first, and how many.
pub type Stretch = (u64, u64);

/// The blocks that slices may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How many there are.
    blocks: u64,
    /// How many are left out between a slice and the next: what the kernel
    /// has read ahead, and perhaps still reads, is not read again at once.
    gap: u64,
}

impl Room {
    /// For a kind, in a span of so many bytes.
    pub fn of(kind: Access, size: u32, span: u64) -> Room {
        /// More than the kernel reads ahead (read_ahead_kb) on most devices.
        const AHEAD: u64 = 4 << 20;
        let gap = match kind {
            Access::Read(ReadPath::Cold) => AHEAD.div_ceil(u64::from(size)),
            _ => 0,
        };
        Room { blocks: span / u64::from(size), gap }
    }
}

/// Measure one cell. `run` runs one slice over a stretch of the room that there
/// is. The flag is whether a signal stopped it.
pub fn measure(
    kind: Access,
    bounds: &Bounds,
    room: Room,
    run: &mut dyn FnMut(Stretch) -> Result<Sliced, RunEnd>,
) -> (ResultCell, bool) {
    let mut taking = CellMeasurement {
        stays: kind == Access::Read(ReadPath::Warm),
        bounds: *bounds,
        room,
        blocks: 1,
        next: 0,
        spent: Duration::ZERO,
        sampled: Duration::ZERO,
        rates: Vec::new(),
        doubts: Vec::new(),
    };
    match taking.take(run) {
        Ok(()) => (taking.cell(NoFigure::Failed("no slice was completed".into())), false),
        Err(RunEnd::Stopped { .. }) => (taking.cell(NoFigure::Stopped), true),
        Err(end) => (ResultCell::Not(NoFigure::Failed(end.to_string())), false),
    }
}

struct CellMeasurement {
    /// The same blocks again and again: reads that shall find theirs in memory.
    stays: bool,
    bounds: Bounds,
    room: Room,
    /// Blocks of a slice.
    blocks: u64,
    /// The block that the next slice begins with.
    next: u64,
    /// With all that is around the slices.
    spent: Duration,
    /// Since the length of a slice is known.
    sampled: Duration,
    rates: Vec<f64>,
    /// Why slices are not samples of their mode.
    doubts: Vec<String>,
}

impl CellMeasurement {
    fn take(
        &mut self,
        run: &mut dyn FnMut(Stretch) -> Result<Sliced, RunEnd>,
    ) -> Result<(), RunEnd> {
        loop {
            let slice = run((self.next, self.blocks))?;
            self.spent += slice.wall;
            if slice.wall < self.bounds.slice / 2 && self.blocks < self.room.blocks {
                self.lengthen(slice.wall);
                continue;
            }
            self.sampled += slice.wall;
            self.advance();
            match slice.doubt {
                None => self.rates.push(slice.rate),
                Some(words) => self.doubts.push(words),
            }
            if self.is_enough(slice.wall) {
                return Ok(());
            }
        }
    }

    /// A slice took `wall`, which is too short: the next is longer, but not by
    /// more than so short a time can show.
    fn lengthen(&mut self, wall: Duration) {
        let ratio = self.bounds.slice.as_secs_f64() / wall.as_secs_f64().max(1e-6);
        let wanted = self.blocks as f64 * ratio.clamp(2.0, 16.0);
        self.blocks = (wanted as u64).clamp(1, self.room.blocks);
        self.wrap();
    }

    fn advance(&mut self) {
        if !self.stays {
            self.next += self.blocks + self.room.gap;
            self.wrap();
        }
    }

    fn wrap(&mut self) {
        if self.next + self.blocks > self.room.blocks {
            self.next = 0;
        }
    }

    fn is_enough(&self, last: Duration) -> bool {
        if self.rates.is_empty() {
            return self.doubts.len() >= DOUBTS_MOST;
        }
        if self.spent + last > self.bounds.ceiling {
            return true;
        }
        self.sampled >= self.bounds.floor
            && self.rates.len() >= SAMPLES_LEAST
            && Median::of(&self.rates).is_some_and(|median| median.is_within(CLOSE))
    }

    /// Its result; `why` if it has none.
    fn cell(&self, why: NoFigure) -> ResultCell {
        let mostly_doubtful =
            self.doubts.len() >= DOUBTS_MOST && self.doubts.len() > self.rates.len();
        if let Some(words) = self.doubts.last().filter(|_| mostly_doubtful) {
            return ResultCell::Not(NoFigure::NotHonoured(words.clone()));
        }
        let Some(median) = Median::of(&self.rates) else { return ResultCell::Not(why) };
        ResultCell::Measured(Measured {
            rate: median.value,
            low: median.low,
            high: median.high,
            settled: median.is_within(CLOSE),
            slices: self.rates.len(),
            blocks: self.blocks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{WritePath, WriteSync};

    const FSYNC: Access = Access::Write(WriteSync::Fsync, WritePath::Direct);
    fn room(blocks: u64) -> Room {
        Room { blocks, gap: 0 }
    }

    const MILLI: Duration = Duration::from_millis(1);

    /// A disk that takes `each` for a block, and 1 ms around a slice; the rates
    /// are off by `noise` of them in turns.
    fn disk(
        each: Duration,
        noise: f64,
        seen: &mut Vec<Stretch>,
    ) -> impl FnMut(Stretch) -> Result<Sliced, RunEnd> {
        move |stretch| {
            seen.push(stretch);
            let time = each * stretch.1 as u32;
            let off = 1.0 + noise * (seen.len() % 5) as f64;
            let rate = 4096.0 * stretch.1 as f64 / time.as_secs_f64() * off;
            Ok(Sliced { rate, wall: time + MILLI, doubt: None })
        }
    }

    fn figure(cell: ResultCell) -> Measured {
        match cell {
            ResultCell::Measured(measured) => measured,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_steady_disk_is_known_after_the_floor() {
        let bounds = Bounds::of(FSYNC, Duration::from_secs(1));
        let mut seen = Vec::new();
        let (cell, stopped) =
            measure(FSYNC, &bounds, room(32768), &mut disk(MILLI / 10, 0.0, &mut seen));
        let found = figure(cell);
        assert!(found.settled && !stopped);
        assert_eq!(found.rate.round(), 40_960_000.0);
        assert!(found.slices >= SAMPLES_LEAST && found.slices < 12, "{found:?}");
        // About 50 ms each, one after the other.
        assert!((250..=800).contains(&found.blocks), "{found:?}");
        let last = &seen[seen.len() - 2..];
        assert_eq!(last[1].0, last[0].0 + last[0].1);
    }

    #[test]
    fn a_noisy_disk_takes_all_the_time_and_is_not_settled() {
        let bounds = Bounds::of(FSYNC, Duration::from_secs(1));
        let mut seen = Vec::new();
        let (cell, _) = measure(FSYNC, &bounds, room(32768), &mut disk(MILLI, 0.5, &mut seen));
        let found = figure(cell);
        assert!(!found.settled && found.low < found.rate && found.rate < found.high);
        assert!((15..=40).contains(&found.slices), "{found:?}");
    }

    #[test]
    fn one_slice_is_enough_where_it_is_longer_than_all_the_time() {
        let bounds = Bounds::of(FSYNC, MILLI * 100);
        let mut seen = Vec::new();
        let (cell, _) = measure(FSYNC, &bounds, room(4), &mut disk(MILLI * 300, 0.0, &mut seen));
        let found = figure(cell);
        assert_eq!((found.slices, found.blocks, found.settled), (1, 1, false));
        assert_eq!(seen, [(0, 1)]);
    }

    #[test]
    fn slices_never_reach_past_the_last_block() {
        let bounds = Bounds::of(FSYNC, Duration::from_secs(1));
        let mut seen = Vec::new();
        let _ = measure(FSYNC, &bounds, room(100), &mut disk(MILLI, 0.0, &mut seen));
        assert!(seen.iter().all(|(first, blocks)| first + blocks <= 100), "{seen:?}");
        assert!(seen.iter().any(|&(first, _)| first > 0), "{seen:?}");
    }

    #[test]
    fn warm_reads_stay_where_they_are() {
        let warm = Access::Read(ReadPath::Warm);
        let bounds = Bounds::of(warm, Duration::from_secs(1));
        let mut seen = Vec::new();
        let _ = measure(warm, &bounds, room(32768), &mut disk(MILLI / 10, 0.0, &mut seen));
        assert!(seen.iter().all(|&(first, _)| first == 0), "{seen:?}");
    }

    #[test]
    fn cold_reads_leave_out_what_may_have_been_read_ahead() {
        let cold = Access::Read(ReadPath::Cold);
        let bounds = Bounds::of(cold, Duration::from_secs(1));
        let mut seen = Vec::new();
        let room = Room::of(cold, 4096, 128 << 20);
        assert_eq!(room, Room { blocks: 32768, gap: 1024 });
        let _ = measure(cold, &bounds, room, &mut disk(MILLI / 10, 0.0, &mut seen));
        let last = &seen[seen.len() - 2..];
        assert_eq!(last[1].0, last[0].0 + last[0].1 + 1024);
    }

    #[test]
    fn what_is_not_as_named_has_no_figure() {
        let bounds = Bounds::of(FSYNC, Duration::from_secs(1));
        let mut count = 0;
        let (cell, _) = measure(FSYNC, &bounds, room(1), &mut |_| {
            count += 1;
            Ok(Sliced { rate: 1.0, wall: MILLI, doubt: Some("from memory".into()) })
        });
        assert_eq!(cell, ResultCell::Not(NoFigure::NotHonoured("from memory".into())));
        assert_eq!(count, 3);
    }

    #[test]
    fn a_stop_keeps_what_was_sampled_and_an_error_does_not() {
        let bounds = Bounds::of(FSYNC, Duration::from_secs(1));
        for (after, halt) in [
            (0, RunEnd::Stopped { twice: false }),
            (3, RunEnd::Stopped { twice: false }),
            (3, RunEnd::failed("EIO")),
        ] {
            let mut left = after;
            let (cell, stopped) = measure(FSYNC, &bounds, room(1), &mut |_| {
                if left == 0 {
                    return Err(halt.clone());
                }
                left -= 1;
                Ok(Sliced { rate: 7.0, wall: MILLI, doubt: None })
            });
            assert_eq!(stopped, halt == RunEnd::Stopped { twice: false });
            match (after, &halt) {
                (0, _) => assert_eq!(cell, ResultCell::Not(NoFigure::Stopped)),
                (_, RunEnd::Stopped { .. }) => assert_eq!(figure(cell).slices, 3),
                _ => assert_eq!(cell, ResultCell::Not(NoFigure::Failed("EIO".into()))),
            }
        }
    }
}
