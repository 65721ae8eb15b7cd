//! When the next I/O of each direction is due.
//!
//! The schedule follows from the caps, the sizes of the I/Os that were issued before
//! and a seed alone: no clock is asked, so an I/O that comes late does not make
//! those after it late. That is what response times are measured from.

mod gaps;

use iosonde_base::{DIRS, Dir, PerDir, RING, Ring};

use crate::streams::{Seeds, Stream};
use gaps::{Exponential, LONGEST_DRAW};

/// The most that a direction may do (`rate`, `rate_iops`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cap {
    /// As much as it can.
    #[default]
    Free,
    /// Bytes per second: an I/O takes its place in the schedule by its size.
    Bytes(u64),
    /// I/Os per second, of whatever size.
    Ios(u64),
}

impl Cap {
    /// Whether there is a cap.
    pub fn is_set(self) -> bool {
        !matches!(self, Cap::Free | Cap::Bytes(0) | Cap::Ios(0))
    }
}

/// How the gaps between I/Os of a direction are spread (`rate_process`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    /// All alike, in proportion to the size where bytes are capped.
    #[default]
    Even,
    /// Exponentially, with the same mean: arrivals of a Poisson process.
    Poisson,
}

/// The pace of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaceSpec {
    /// Of each direction by itself.
    pub caps: PerDir<Cap>,
    /// Of all directions.
    pub process: Process,
}

impl PaceSpec {
    /// Whether any direction is capped.
    pub fn is_set(&self) -> bool {
        self.caps.0.into_iter().any(Cap::is_set)
    }
}

/// Bits behind the point of a moment in ticks: what rounding loses is then one
/// part in ten million at the fastest rates, 1 TB/s, and less below.
const FRACTION: u32 = 32;

/// The schedule of a job, in ticks; it begins at zero, or where it is put off to.
#[derive(Clone, Debug)]
pub struct Pace {
    lanes: [DirectionPace; 3],
}

/// The schedule of one direction.
#[derive(Clone, Debug, Default)]
struct DirectionPace {
    /// When the next is due: ticks, with [`FRACTION`] bits behind the point.
    /// For ever the beginning where there is no cap.
    due: u128,
    /// What each byte and each I/O takes; one of them, or both, are zero.
    per_byte: u128,
    per_io: u128,
    /// What the last I/O took, and its size: the next has the same mostly.
    gap: u128,
    len: u32,
    gaps: Option<Exponential>,
}

impl DirectionPace {
    /// What an I/O of `len` bytes takes.
    #[inline(always)]
    fn gap_of(&mut self, len: u32) -> u128 {
        if len != self.len {
            self.len = len;
            self.gap = self.per_io + self.per_byte * u128::from(len);
        }
        self.gap
    }

    /// An I/O of `len` bytes takes its place: when that is.
    #[inline(always)]
    fn issued(&mut self, len: u32) -> u64 {
        let (due, gap) = (self.due, self.gap_of(len));
        self.due += match &mut self.gaps {
            None => gap,
            Some(gaps) => gaps.stretch(gap),
        };
        // 96 bits before the point: what is cut off would take 190 years.
        (due >> FRACTION) as u64
    }

    /// The same for I/Os of `len` bytes, as many as `dues`, which are no more
    /// than a ring holds. The state is lent by value, so that it stays in
    /// registers.
    #[inline(never)]
    fn plan_alike(&mut self, len: u32, dues: &mut [u64]) {
        // So short that all of them together are 64 bits.
        const SHORT: u64 = 1 << (64 - 6 - LONGEST_DRAW);
        let gap = u64::try_from(self.gap_of(len)).unwrap_or(u64::MAX);
        if gap > SHORT || dues.len() > RING {
            return dues.iter_mut().for_each(|due| *due = self.issued(len));
        }
        let whole = (self.due >> FRACTION) as u64;
        let first = self.due as u64 & (u64::MAX >> (64 - FRACTION));
        let mut part = first;
        match &mut self.gaps {
            None => {
                for due in dues {
                    *due = whole.wrapping_add(part >> FRACTION);
                    part += gap;
                }
            }
            Some(gaps) => {
                let mut own = gaps.clone();
                for due in dues {
                    *due = whole.wrapping_add(part >> FRACTION);
                    part += own.stretch_short(gap);
                }
                *gaps = own;
            }
        }
        self.due += u128::from(part - first);
    }
}

impl Pace {
    /// No caps: everything is due at once.
    pub fn free() -> Pace {
        Pace { lanes: Default::default() }
    }

    /// The schedule of job number `thread_number` (from 1), on a clock of
    /// `ticks_per_second`. The first I/O of an even schedule is due at once,
    /// the first of a Poisson process after a drawn gap.
    pub fn new(spec: &PaceSpec, ticks_per_second: u64, randseed: u64, thread_number: u32) -> Pace {
        let seeds = Seeds::new(randseed, thread_number);
        let streams = [Stream::GapOfReads, Stream::GapOfWrites, Stream::GapOfTrims];
        let second = u128::from(ticks_per_second) << FRACTION;
        let lanes = DIRS.map(|dir| {
            let (per_byte, per_io) = match spec.caps[dir] {
                Cap::Bytes(bytes) if bytes > 0 => (second / u128::from(bytes), 0),
                Cap::Ios(ios) if ios > 0 => (0, second / u128::from(ios)),
                _ => (0, 0),
            };
            let capped = per_byte + per_io > 0;
            let gaps = (spec.process == Process::Poisson && capped)
                .then(|| Exponential::new(seeds.of(streams[dir as usize])));
            DirectionPace { per_byte, per_io, gap: per_io, gaps, ..DirectionPace::default() }
        });
        Pace { lanes }
    }

    /// Everything is due so many ticks later.
    pub fn put_off(&mut self, ticks: u64) {
        for lane in &mut self.lanes {
            lane.due = lane.due.saturating_add(u128::from(ticks) << FRACTION);
        }
    }

    /// When the next I/O of this direction is due, in ticks; for ever the
    /// beginning where there is no cap.
    #[inline(always)]
    pub fn due(&self, dir: Dir) -> u64 {
        // 96 bits before the point: what is cut off would take 190 years.
        (self.lanes[dir as usize].due >> FRACTION) as u64
    }

    /// An I/O of `len` bytes takes its place; the next is due after it.
    #[inline(always)]
    pub fn issued(&mut self, dir: Dir, len: u32) {
        self.lanes[dir as usize].issued(len);
    }

    /// All entries that wait in the ring take their places: `dues` is when each
    /// is due, in ticks. What moves no data is always due.
    ///
    /// # Panics
    /// If there are fewer places than entries.
    pub fn plan(&mut self, ring: &Ring, dues: &mut [u64]) {
        let entries = ring.as_slice();
        let dues = &mut dues[..entries.len()];
        match entries.first().and_then(|first| first.op.dir().zip(Some(first.len))) {
            Some((dir, len)) if ring.is_alike() => self.lanes[dir as usize].plan_alike(len, dues),
            _ => {
                for (entry, due) in entries.iter().zip(dues) {
                    let lane = entry.op.dir().map(|dir| &mut self.lanes[dir as usize]);
                    *due = lane.map_or(0, |lane| lane.issued(entry.len));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directions, Share, Sizes, Source, SourceFile, SourceSpec};
    use iosonde_base::{Op, Planned};

    /// 2.9 GHz and a bit, as a counter that was calibrated gives.
    const HZ: u64 = 2_904_003_817;

    /// Bytes, I/Os and seconds of what falls due in `seconds`, by direction.
    fn rates(spec: &SourceSpec, seconds: u64) -> PerDir<(f64, f64)> {
        let pace = &mut Pace::new(&spec.pace, HZ, spec.randseed, spec.thread_number);
        let mut source = Source::new(spec.clone()).unwrap();
        let mut ring = Ring::default();
        let mut counts = PerDir::<(f64, f64)>::default();
        loop {
            source.refill(&mut ring);
            while let Some(entry) = ring.pop() {
                let Some(dir) = entry.op.dir() else { continue };
                if pace.due(dir) >= seconds * HZ {
                    return PerDir(counts.0.map(|(b, n)| (b / seconds as f64, n / seconds as f64)));
                }
                pace.issued(dir, entry.len);
                counts[dir].0 += f64::from(entry.len);
                counts[dir].1 += 1.0;
            }
        }
    }

    fn spec(directions: Directions, caps: [Cap; 3], process: Process) -> SourceSpec {
        let size = 1 << 40;
        SourceSpec {
            directions,
            time_based: true,
            files: vec![SourceFile {
                name: "f".into(),
                offset: 0,
                size,
                end: size,
                later_offset: None,
            }],
            pace: PaceSpec { caps: PerDir(caps), process },
            ..SourceSpec::default()
        }
    }

    fn reads() -> Directions {
        Directions { read: true, ..Directions::default() }
    }

    fn both() -> Directions {
        Directions { read: true, write: true, ..Directions::default() }
    }

    fn near(got: f64, want: f64) -> bool {
        (got - want).abs() <= want / 100.0
    }

    #[test]
    fn without_a_cap_everything_is_due_at_once() {
        let mut pace = Pace::new(&PaceSpec::default(), HZ, 1, 1);
        for _ in 0..1000 {
            pace.issued(Dir::Write, u32::MAX);
        }
        assert_eq!(pace.due(Dir::Write), 0);
        assert!(!PaceSpec::default().is_set());
    }

    #[test]
    fn an_even_pace_keeps_to_the_tick_for_ever() {
        let caps = PerDir([Cap::Ios(3), Cap::Bytes(7_000_000_001), Cap::Free]);
        let mut pace = Pace::new(&PaceSpec { caps, ..PaceSpec::default() }, HZ, 1, 1);
        for n in 0..3_000_000u64 {
            let exact = u128::from(n) * u128::from(HZ) / 3;
            assert!(exact - u128::from(pace.due(Dir::Read)) <= 1, "{n}");
            pace.issued(Dir::Read, 4096);
            pace.issued(Dir::Write, 65536);
        }
        let exact = u128::from(HZ) * 3_000_000 * 65536 / 7_000_000_001;
        let off = exact as f64 / pace.due(Dir::Write) as f64 - 1.0;
        assert!(off.abs() < 1e-6, "{off}");
    }

    #[test]
    fn planning_a_ring_is_planning_one_by_one() {
        let drawn = Sizes::Range { min: 512, max: 65536 };
        let caps = [Cap::Ios(70_000), Cap::Bytes(300_000_000), Cap::Free];
        let slow = [Cap::Ios(3), Cap::Bytes(5), Cap::Free];
        let one_size = Sizes::Fixed(4096);
        for (directions, sizes) in [
            (both(), drawn.clone()),
            (reads(), drawn),
            (both(), one_size.clone()),
            (reads(), one_size),
        ] {
            for (caps, process) in
                [(caps, Process::Even), (caps, Process::Poisson), (slow, Process::Poisson)]
            {
                let mut spec = spec(directions, caps, process);
                spec.sizes = PerDir::all(sizes.clone());
                let new = || Pace::new(&spec.pace, HZ, spec.randseed, spec.thread_number);
                let (mut one, mut all) = (new(), new());
                [&mut one, &mut all].into_iter().for_each(|pace| pace.put_off(1000));
                let mut source = Source::new(spec.clone()).unwrap();
                let (mut ring, mut dues) = (Ring::default(), [0; RING]);
                for _ in 0..500 {
                    source.refill(&mut ring);
                    all.plan(&ring, &mut dues);
                    for &due in &dues[..ring.waiting() as usize] {
                        let entry = ring.pop().unwrap();
                        let dir = entry.op.dir().unwrap();
                        assert_eq!(due, one.due(dir), "{sizes:?} {caps:?} {process:?}");
                        one.issued(dir, entry.len);
                    }
                }
            }
        }
    }

    #[test]
    fn slow_and_fast_extremes_stay_in_order() {
        for cap in [Cap::Bytes(1), Cap::Ios(1), Cap::Bytes(u64::MAX), Cap::Ios(u64::MAX)] {
            let spec = PaceSpec { caps: PerDir::all(cap), process: Process::Poisson };
            let mut pace = Pace::new(&spec, 5_000_000_000, 1, 1);
            let mut last = 0;
            for _ in 0..1000 {
                pace.issued(Dir::Trim, 1 << 20);
                assert!(pace.due(Dir::Trim) >= last);
                last = pace.due(Dir::Trim);
            }
        }
    }

    #[test]
    fn bytes_per_second_are_those_of_the_sizes_that_came() {
        let share = |bytes, percent| Share { bytes, percent };
        let split = Sizes::Split(vec![share(4096, 60), share(16384, 30), share(1 << 20, 10)]);
        for sizes in [Sizes::Range { min: 512, max: 65536 }, split] {
            for process in [Process::Even, Process::Poisson] {
                let mut spec = spec(reads(), [Cap::Bytes(400_000_000); 3], process);
                spec.sizes = PerDir::all(sizes.clone());
                let (bytes, _) = rates(&spec, 100)[Dir::Read];
                assert!(near(bytes, 4e8), "{sizes:?} {process:?}: {bytes}");
            }
        }
    }

    #[test]
    fn ios_per_second_do_not_depend_on_sizes() {
        for process in [Process::Even, Process::Poisson] {
            let mut spec = spec(reads(), [Cap::Ios(1000); 3], process);
            spec.sizes = PerDir::all(Sizes::Range { min: 512, max: 65536 });
            let (_, ios) = rates(&spec, 100)[Dir::Read];
            assert!(near(ios, 1000.0), "{process:?}: {ios}");
        }
    }

    #[test]
    fn both_directions_of_a_mix_keep_their_own_pace() {
        for process in [Process::Even, Process::Poisson] {
            let spec = spec(both(), [Cap::Ios(4000), Cap::Bytes(1 << 20), Cap::Free], process);
            let rates = rates(&spec, 200);
            assert!(near(rates[Dir::Read].1, 4000.0), "{process:?} {rates:?}");
            assert!(near(rates[Dir::Write].0, f64::from(1 << 20)), "{process:?} {rates:?}");
        }
    }

    #[test]
    fn a_free_direction_goes_on_while_the_other_waits() {
        let spec = spec(both(), [Cap::Free, Cap::Ios(100), Cap::Free], Process::Even);
        let mut source = Source::new(spec).unwrap();
        let (mut ring, mut counts) = (Ring::default(), [0, 0]);
        // A device that takes 1 ms for each I/O.
        for ms in 0..10_000 {
            if ring.waiting() == 0 {
                source.set_elapsed(ms * 1_000_000);
                source.refill(&mut ring);
            }
            counts[ring.pop().unwrap().op as usize] += 1;
        }
        assert_eq!(counts, [9000, 1000]);
    }

    #[test]
    fn what_is_planned_ahead_is_due_as_one_by_one_at_any_size_and_after_a_delay() {
        const SECOND: u64 = 1 << 30;
        let spec = PaceSpec {
            caps: PerDir([Cap::Bytes(1 << 20), Cap::Ios(1 << 10), Cap::Free]),
            process: Process::Even,
        };
        assert!(spec.is_set() && !PaceSpec::default().is_set());
        let mut pace = Pace::new(&spec, SECOND, 1, 0);
        let (read, write) = (Dir::Read, Dir::Write);
        // A block of 4 KiB takes 1/256 s, one of 512 bytes 1/2048 s; a write 1/1024 s.
        for (len, due) in [(4096, 0), (512, 8), (512, 9), (4096, 10), (512, 18), (512, 19)] {
            assert_eq!(pace.due(read), due * SECOND / 2048);
            pace.issued(read, len);
        }
        pace.put_off(3 * SECOND);
        assert_eq!(
            [read, write].map(|dir| pace.due(dir)),
            [3 * SECOND + SECOND / 2048 * 20, 3 * SECOND]
        );
        for lens in [[512; 6], [4096, 512, 512, 4096, 512, 512], [512, 512, 512, 512, 512, 4096]] {
            let mut ring = Ring::default();
            for (at, len) in lens.into_iter().enumerate() {
                let op = if at == 1 && len == 512 && lens[0] != 512 { Op::Write } else { Op::Read };
                ring.push(Planned { op, len, ..Planned::default() });
            }
            let one_by_one: Vec<u64> = {
                let mut pace = pace.clone();
                let each = ring.as_slice().iter().map(|entry| {
                    let dir = entry.op.dir().unwrap();
                    let due = pace.due(dir);
                    pace.issued(dir, entry.len);
                    due
                });
                each.collect()
            };
            let mut dues = [0; 6];
            pace.plan(&ring, &mut dues);
            assert_eq!(dues[..], one_by_one, "{lens:?}");
        }
    }
}
