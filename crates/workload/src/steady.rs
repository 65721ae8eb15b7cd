//! I/Os chosen one by one, for jobs with nothing between them but syncs: without the questions
//! that a step of the general path asks for each.

use iosonde_base::{Dir, FileId, Op, Planned, RING, Ring};

use crate::mix::Mix;
use crate::source::{STEP_MOST, Source};
use crate::spec::{Sequencer, SyncEvery};

/// Whether the steps of a job are all alike, as long as no file ends and no sync is due.
pub(crate) fn is_steady(source: &Source) -> bool {
    let spec = &source.spec;
    syncs_are_foreseen(source)
        && !spec.directions.trim_then_write
        && source.zbd.is_none()
        && source.sprandom.is_none()
        && source.replaying.is_none()
        && !source.mix.depends_on_time()
        && !source.picker.limited()
}

/// Whether so many writes follow each other before a sync as [`crate::syncs::Syncs::room`] says.
pub(crate) fn syncs_are_foreseen(source: &Source) -> bool {
    let every = source.spec.sync_every;
    let SyncEvery { fsync, fdatasync, range, after_last } = every;
    // A sync is of what was written last, and counts the writes: of one direction they follow each other.
    every == SyncEvery::default()
        || (fsync != 1 && fdatasync != 1 && range == 0 && !after_last && !source.mix.is_mixed())
}

impl Source {
    /// Bytes of each I/O of a job that follow one another, all of them or those of a run; zero where
    /// there are gaps, or not one size.
    pub(crate) fn len_in_order(&self) -> u32 {
        let spec = &self.spec;
        let fixed = |dir| self.sizes[dir].fixed().unwrap_or(0);
        let len = spec.used().next().map_or(0, fixed);
        let alike = spec.used().all(|dir| fixed(dir) == len) && !spec.bs_is_seq_rand;
        let follow = if spec.directions.random {
            spec.sequencer == Sequencer::Sequential
        } else {
            spec.seq_add == 0
        };
        if alike && follow && spec.strided.is_none() { len } else { 0 }
    }

    /// Plan up to the next sync, end of a file or return to its start.
    #[inline(never)]
    pub(crate) fn fill_steady(&mut self, ring: &mut Ring) {
        let (mut planned, mut bytes) = (0, 0);
        for _ in 0..self.steady_room() {
            let Some(file) = self.picker.next_usable(&self.files, |file| !file.done) else { break };
            let dir = self.mix.next(&self.issued);
            let (offset, len) = match self.next_in_order(file, dir) {
                Some(offset) => (offset, self.in_order),
                None => match (self.choose_in(file, dir), self.invalidate) {
                    (Some(entry), None) => (entry.offset, entry.len),
                    (chosen, _) => {
                        self.note_steady(ring, planned, bytes);
                        return match chosen {
                            Some(entry) => self.issue(entry, ring),
                            None => self.none_chosen(file, ring),
                        };
                    }
                },
            };
            let state = &mut self.files[file];
            state.last_start[dir as usize] = offset;
            state.last_end[dir as usize] = offset + u64::from(len);
            self.issued[dir as usize] += 1;
            self.zone_bytes += u64::from(len);
            self.tried_in_order = false;
            (planned, bytes) = (planned + 1, bytes + u64::from(len));
            ring.push(Planned { offset, len, file: FileId(file as u32), op: Op::from(dir) });
        }
        self.note_steady(ring, planned, bytes);
    }

    /// Where in `file` the next I/O of `dir` is, if it follows the last one and nothing else is to
    /// be asked.
    #[inline(always)]
    fn next_in_order(&mut self, file: usize, dir: Dir) -> Option<u64> {
        let drawn = self.spec.directions.random;
        if self.in_order == 0 || (drawn && self.run_left == 0) {
            return None;
        }
        let state = &self.files[file];
        let last = state.last_end[dir as usize];
        let begins_again = self.begins_again && last >= state.range.saturating_add(state.first);
        let within = last.wrapping_sub(state.start) < state.range;
        if begins_again || !within || last + u64::from(self.in_order) > state.end {
            return None;
        }
        self.run_left -= u32::from(drawn);
        Some(last)
    }

    /// How many I/Os, of the largest size, the limits allow before a sync, and the ring holds with
    /// what may come before the last.
    fn steady_room(&self) -> u64 {
        let most = self.limits.room_of_any((RING - STEP_MOST + 1) as u64);
        if let Mix::One(Dir::Write) = self.mix { self.syncs.room(most) } else { most }
    }

    /// Note for the limits and syncs what was planned; the last of it is that of the ring.
    fn note_steady(&mut self, ring: &Ring, planned: u64, bytes: u64) {
        let Some(last) = ring.as_slice().last().filter(|_| planned > 0) else { return };
        self.last_write = *last;
        self.limits.issued(planned, bytes);
        self.syncs.issued_all(last.op, planned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_path::tests::entries;
    use crate::plain::FastPath;
    use crate::spec::*;
    use iosonde_base::PerDir;
    use proptest::prelude::*;

    fn distributions() -> impl Strategy<Value = Distribution> {
        let zone = |percent, size| Zone { percent, size };
        let zoned = PerDir::all(vec![zone(50, 10), zone(30, 20), zone(20, 70)]);
        let absolute = PerDir::all(vec![zone(60, 8192), zone(40, 24_576)]);
        prop_oneof![
            3 => Just(Distribution::Random),
            1 => Just(Distribution::Zipf { theta: 1.2, center: None }),
            1 => Just(Distribution::Normal { deviation: 20.0, center: Some(0.3) }),
            1 => Just(Distribution::Zoned(zoned)),
            1 => Just(Distribution::ZonedAbs(absolute)),
            1 => Just(Distribution::Sequence(vec![1, 0, 2])),
        ]
    }

    fn sizes() -> impl Strategy<Value = Sizes> {
        let share = |bytes, percent| Share { bytes, percent };
        prop_oneof![
            2 => Just(Sizes::Fixed(4096)),
            1 => Just(Sizes::Range { min: 1024, max: 16_384 }),
            1 => Just(Sizes::Split(vec![share(4096, 60), share(16_384, 40)])),
            1 => Just(Sizes::UpToEnd(8192)),
        ]
    }

    fn picks() -> impl Strategy<Value = FilePick> {
        prop_oneof![
            Just(FilePick::RoundRobin),
            Just(FilePick::Sequential),
            Just(FilePick::Random),
            Just(FilePick::Zipf { theta: 1.1, center: None }),
            Just(FilePick::Normal { deviation: 30.0, center: None }),
        ]
    }

    prop_compose! {
        fn specs()(
            (read, write, random, time_based, queued, repeat) in any::<(bool, bool, bool, bool, bool, bool)>(),
            distribution in distributions(),
            sizes in sizes(),
            pick in picks(),
            (blocks, files, every) in (8u64..60, 1usize..4, 1u32..4),
            (generator, map, strided) in (0usize..3, any::<bool>(), 0u64..4),
            (seq_nr, percent, identical, seq_add) in (1u32..4, 0usize..3, any::<bool>(), 0i64..3),
            (fsync, fdatasync, loops, number_ios, tail) in (0u32..6, 0u32..3, 1u64..3, 0u64..150, 0u64..2),
        ) -> SourceSpec {
            let size = blocks * 4096 + tail * 512;
            let file = |at| SourceFile {
                name: format!("f.{at}"), offset: 8192, size, end: 8192 + size, ..SourceFile::default()
            };
            let every_of = SyncEvery { fsync, fdatasync, ..SyncEvery::default() };
            SourceSpec {
                directions: Directions { read: read || !write, write, random, ..Directions::default() },
                files: (0..files).map(file).collect(),
                file_service: FileService { pick, every },
                sizes: PerDir::all(sizes),
                generator: [Generator::Tausworthe, Generator::Tausworthe64, Generator::Lfsr][generator],
                map: if map { MapMode::On } else { MapMode::Off },
                strided: (strided == 3).then_some(Strided { range: 16_384, size: 20_480, skip: 4096 }),
                percentage_random: PerDir::all([100, 50, 0][percent]),
                sequencer: if identical { Sequencer::Identical } else { Sequencer::Sequential },
                seq_add: if random { 0 } else { seq_add.saturating_sub(1) * 4096 },
                sync_every: if read && write { SyncEvery::default() } else { every_of },
                size_bytes: size * files as u64,
                total_bytes: size * files as u64,
                distribution, seq_nr, time_based, queued, repeat, loops, number_ios,
                ..SourceSpec::default()
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn fast_and_steady_paths_plan_what_the_general_one_does(spec in specs()) {
            let Ok(mut general) = Source::new(spec.clone()) else { return Ok(()) };
            let [fast, mut steady] = [(); 2].map(|()| Source::new(spec.clone()).expect("the same again"));
            general.fast_path = FastPath::None;
            if is_steady(&steady) {
                steady.fast_path = FastPath::Steady;
            }
            let general = entries(general, 700);
            for other in [entries(fast, 700), entries(steady, 700)] {
                let differs = other.iter().zip(&general).position(|(one, other)| one != other);
                prop_assert_eq!(differs.map(|at| (at, other[at], general[at])), None);
                prop_assert_eq!(other.len(), general.len());
            }
        }
    }

    /// One job of each kind that is planned many at once.
    #[test]
    fn jobs_that_are_not_plain_have_a_fast_path_too() {
        let zone = |percent, size| Zone { percent, size };
        let zoned = PerDir::all(vec![zone(60, 10), zone(40, 90)]);
        let share = |bytes, percent| Share { bytes, percent };
        let split = PerDir::all(Sizes::Split(vec![share(4096, 60), share(16_384, 40)]));
        let strided = Strided { range: 1 << 20, size: 1 << 20, skip: 0 };
        let zipf = FilePick::Zipf { theta: 1.2, center: None };
        let size = 4 << 20;
        let file = |at: u32| SourceFile {
            name: format!("f.{at}"),
            size,
            end: size,
            ..SourceFile::default()
        };
        let plain = SourceSpec {
            directions: Directions { write: true, random: true, ..Directions::default() },
            files: vec![file(0)],
            sizes: PerDir::all(Sizes::Fixed(4096)),
            size_bytes: size,
            total_bytes: size,
            map: MapMode::On,
            loops: 3,
            ..SourceSpec::default()
        };
        let files = SourceSpec { files: (0..8).map(file).collect(), ..plain.clone() };
        let by =
            |pick| SourceSpec { file_service: FileService { pick, every: 1 }, ..files.clone() };
        let fsync = SyncEvery { fsync: 32, ..SyncEvery::default() };
        let jobs = [
            SourceSpec { generator: Generator::Lfsr, ..plain.clone() },
            SourceSpec { generator: Generator::Tausworthe64, ..plain.clone() },
            SourceSpec { distribution: Distribution::Zoned(zoned), ..plain.clone() },
            SourceSpec { sizes: split, ..plain.clone() },
            SourceSpec { strided: Some(strided), ..plain.clone() },
            SourceSpec { sync_every: fsync, ..plain },
            by(FilePick::Random),
            by(zipf),
            files,
        ];
        for spec in jobs {
            let mut general = Source::new(spec.clone()).unwrap();
            let fast = Source::new(spec.clone()).unwrap();
            assert!(!matches!(fast.fast_path, FastPath::Steady | FastPath::None), "{spec:?}");
            general.fast_path = FastPath::None;
            assert_eq!(entries(fast, 10_000), entries(general, 10_000), "{spec:?}");
        }
    }
}
