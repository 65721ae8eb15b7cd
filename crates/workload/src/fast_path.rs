//! The plain kinds of job, planned a ring at a time without asking for each I/O what
//! kind of job it is.
//!
//! A fast path plans only what cannot end, wrap or sync on the way; at such a
//! point it plans nothing, and the general path takes the step.

use iosonde_base::{Dir, FileId, Op, PerDir, Planned, RING, Ring};

use crate::file::FileState;
use crate::mix::Mix;
use crate::plain::{FastPath, Places, Plain};
use crate::random::{Draws, SCALE_MOST, scale};
use crate::random_map::RandomMap;
use crate::source::Source;
use crate::spec::{Distribution, SyncEvery};
use crate::steady::{is_steady, syncs_are_foreseen};

impl FastPath {
    /// The kind of a job.
    pub fn of(source: &mut Source) -> FastPath {
        let kind = match FastPath::of_plain(source) {
            FastPath::None => FastPath::of_files(source),
            kind => kind,
        };
        match kind {
            // Of what is left, one step.
            FastPath::Numbered(plain, places) => FastPath::of_numbers(source, plain, places),
            kind => kind,
        }
        .or_steady(source)
    }

    fn or_steady(self, source: &Source) -> FastPath {
        if self == FastPath::None && is_steady(source) { FastPath::Steady } else { self }
    }

    fn of_plain(source: &Source) -> FastPath {
        let spec = &source.spec;
        let dir = match &source.mix {
            Mix::One(dir) => *dir,
            mix if !spec.directions.random || mix.depends_on_time() => return FastPath::None,
            _ if !alike(source) => return FastPath::None,
            Mix::ReadWrite(_) => Dir::Read,
        };
        let sizes_of = match (spec.bs_is_seq_rand, spec.directions.random) {
            (false, _) => dir,
            (true, true) => Dir::Write,
            (true, false) => Dir::Read,
        };
        let [file] = &source.files[..] else { return FastPath::None };
        let plain = !spec.directions.trim_then_write
            && (spec.strided.is_none() || spec.directions.random)
            && spec.zbd.is_none()
            && spec.sprandom.is_none()
            && syncs_are_foreseen(source)
            && file.first == file.start
            && file.start + file.range <= file.end;
        if !plain {
            return FastPath::None;
        }
        let sizes = &source.sizes[sizes_of];
        match (sizes.fixed(), spec.directions.random) {
            (None, true) => FastPath::of_drawn(source, file, dir, sizes_of),
            (Some(_), true) if file.law.is_some() => {
                FastPath::of_drawn(source, file, dir, sizes_of)
            }
            (Some(len), true) => FastPath::of_random(source, file, Plain { dir, len }),
            (Some(len), false) if spec.seq_add == 0 && has_no_syncs(source) => {
                FastPath::Sequential(Plain { dir, len })
            }
            (_, false) => FastPath::None,
        }
    }

    fn of_random(source: &Source, file: &FileState, plain: Plain) -> FastPath {
        let places = Places::of(file, plain.dir);
        let even = source.spec.distribution == Distribution::Random
            && file.lfsr.is_none()
            && matches!(source.offset_draws, Draws::Narrow(_))
            && places.blocks <= SCALE_MOST;
        let once =
            |map: &RandomMap| map.blocks() == places.blocks && places.unit == u64::from(plain.len);
        let halts = !has_no_syncs(source) || source.spec.strided.is_some();
        let fit = each_has_a_draw(source)
            && places.blocks > 0
            && places.all_fit(file.end, plain.len)
            && file.map.as_ref().is_none_or(once);
        match &file.map {
            _ if !fit => FastPath::None,
            _ if !even || halts => FastPath::Numbered(plain, places),
            Some(_) => FastPath::UniformOnce(plain, places),
            None => FastPath::Uniform(plain, places),
        }
    }

    /// Sizes or places are drawn by a law: what is drawn must always fit.
    fn of_drawn(source: &Source, file: &FileState, dir: Dir, sizes_of: Dir) -> FastPath {
        let sizes = &source.sizes[sizes_of];
        let Some((least, len)) = sizes.menu.drawn().or(sizes.fixed().map(|len| (len, len))) else {
            return FastPath::None;
        };
        if !each_is_drawn(source) || !has_no_syncs(source) || source.spec.strided.is_some() {
            return FastPath::None;
        }
        if file.map.is_some() {
            return FastPath::of_drawn_once(source, file, dir, [least, len]);
        }
        let even = Places::of(file, dir);
        let blocks = file.law.as_ref().map_or(even.blocks, |law| law.numbers());
        let places = Places { blocks, ..even };
        let plain = matches!(source.mix, Mix::One(_))
            && file.lfsr.is_none()
            && file.listed.is_none()
            && source.zones.is_none()
            && matches!(sizes.draws, Draws::Narrow(_))
            && (1..=SCALE_MOST).contains(&blocks)
            && places.all_fit(file.start + file.range, least);
        if plain { FastPath::Drawn(Plain { dir, len }, places) } else { FastPath::None }
    }
}

fn has_no_syncs(source: &Source) -> bool {
    source.spec.sync_every == SyncEvery::default()
}

/// Whether each I/O has a separate place, drawn 32 bits at a time.
pub(crate) fn each_is_drawn(source: &Source) -> bool {
    matches!(source.offset_draws, Draws::Narrow(_)) && each_has_a_draw(source)
}

/// Whether each I/O has a separate place.
fn each_has_a_draw(source: &Source) -> bool {
    source.spec.seq_nr == 1 && source.spec.percentage_random == PerDir::all(100)
}

/// Whether reads and writes have one size and fall on the same places.
pub(crate) fn alike(source: &Source) -> bool {
    let (read, write) = (&source.sizes[Dir::Read], &source.sizes[Dir::Write]);
    read.fixed() == write.fixed() && source.spec.unit(Dir::Read) == source.spec.unit(Dir::Write)
}

impl Source {
    /// Plan as far as nothing but plain I/Os come.
    pub(crate) fn fill_fast(&mut self, ring: &mut Ring) {
        let (plain, planned) = match self.fast_path {
            FastPath::None => return,
            FastPath::Steady => return self.fill_steady(ring),
            FastPath::Files(plain) => {
                self.fill_files(ring, plain);
                return self.mix_in(ring, plain);
            }
            FastPath::Drawn(plain, places) => {
                let planned = self.fill_drawn(ring, plain, places);
                return self.issued_drawn(ring, plain, planned);
            }
            FastPath::DrawnOnce(plain, places) => {
                let planned = self.fill_drawn_once(ring, plain, places);
                return self.issued_drawn(ring, plain, planned);
            }
            FastPath::Sequential(plain) => (plain, self.fill_sequential(ring, plain)),
            FastPath::Uniform(plain, places) => (plain, self.fill_uniform(ring, plain, places)),
            FastPath::UniformOnce(plain, places) => (plain, self.fill_once(ring, plain, places)),
            FastPath::Numbered(plain, places) => {
                self.fill_numbered(ring, plain, places);
                return self.mix_in(ring, plain);
            }
        };
        let Some(last) = ring.as_slice().last() else { return };
        self.issued_all(plain.dir, planned, planned * u64::from(plain.len), last);
        self.mix_in(ring, plain);
    }

    /// Note the entries of a plan whose sizes were drawn: how many, and of how many bytes.
    #[inline(always)]
    fn issued_drawn(&mut self, ring: &Ring, plain: Plain, (count, bytes): (u64, u64)) {
        if let Some(last) = ring.as_slice().last() {
            self.issued_all(plain.dir, count, bytes, last);
        }
    }

    /// Give each entry its direction, where there are two.
    #[inline(always)]
    fn mix_in(&mut self, ring: &mut Ring, plain: Plain) {
        if let Mix::ReadWrite(_) = self.mix {
            self.issued[plain.dir as usize] -= u64::from(ring.waiting());
            self.mix_in_each(ring);
        }
    }

    #[inline(never)]
    fn mix_in_each(&mut self, ring: &mut Ring) {
        for entry in ring.as_mut_slice() {
            let dir = self.mix.next(&self.issued);
            self.issued[dir as usize] += 1;
            entry.op = Op::from(dir);
        }
    }

    // Each of these is a separate function, so that what its loop needs
    // stays in registers.

    #[inline(never)]
    fn fill_sequential(&mut self, ring: &mut Ring, plain: Plain) -> u64 {
        let file = &self.files[0];
        let first = file.last_end[plain.dir as usize];
        let len = u64::from(plain.len);
        // An I/O begins inside what is used and ends inside the file.
        let begin = (file.start + file.range).saturating_sub(first).div_ceil(len);
        let fit = file.end.saturating_sub(first) / len;
        let count = self.most(len).min(begin).min(fit);
        let mut next = first;
        let offsets = std::iter::repeat_with(|| {
            let offset = next;
            next += len;
            offset
        });
        ring.fill_alike(count as usize, entry(plain, 0), offsets);
        count
    }

    #[inline(never)]
    fn fill_uniform(&mut self, ring: &mut Ring, plain: Plain, places: Places) -> u64 {
        let count = self.most(u64::from(plain.len));
        let drawn = draw(&mut self.offset_draws, count);
        let offsets = drawn.iter().map(|number| places.offset(scale(places.blocks, *number)));
        ring.fill_alike(count as usize, entry(plain, 0), offsets);
        count
    }

    #[inline(never)]
    fn fill_once(&mut self, ring: &mut Ring, plain: Plain, places: Places) -> u64 {
        let most = self.most(u64::from(plain.len));
        let Some(map) = &mut self.files[0].map else { return 0 };
        // No more than are free: a draw that finds none is the general path's.
        let count = most.min(map.free());
        let mut drawn = [0; RING];
        let drawn = &mut drawn[..count as usize];
        let words = map.words();
        let mut mixed = 0;
        for (block, number) in drawn.iter_mut().zip(draw(&mut self.offset_draws, count)) {
            *block = scale(places.blocks, number);
            mixed ^= words[RandomMap::word_of(*block)];
        }
        // Only so that the words are read: see `RandomMap::words`.
        std::hint::black_box(mixed);
        map.visit_all(drawn);
        let offsets = drawn.iter().map(|block| places.offset(*block));
        ring.fill_alike(count as usize, entry(plain, 0), offsets);
        count
    }

    /// How many were planned, and their bytes.
    #[inline(never)]
    fn fill_drawn(&mut self, ring: &mut Ring, plain: Plain, places: Places) -> (u64, u64) {
        let count = self.most(u64::from(plain.len));
        let file = &mut self.files[0];
        let end = file.start + file.range;
        let sizes_of = if !self.spec.bs_is_seq_rand { plain.dir } else { Dir::Write };
        let sizes = &mut self.sizes[sizes_of];
        let Draws::Narrow(taus) = &sizes.draws else { return (0, 0) };
        let (menu, mut draws) = (&sizes.menu, taus.clone());
        // Places first, then sizes: each generator stays in registers.
        let mut drawn = [0; RING];
        let drawn = &mut drawn[..count as usize];
        match &mut file.law {
            Some(law) => drawn.iter_mut().for_each(|block| *block = law.draw()),
            None => {
                let numbers = draw(&mut self.offset_draws, count);
                for (block, number) in drawn.iter_mut().zip(numbers) {
                    *block = scale(places.blocks, number);
                }
            }
        }
        let mut bytes = 0;
        if let Some(len) = menu.fixed() {
            let offsets = drawn.iter().map(|block| places.offset(*block));
            ring.fill_alike(count as usize, entry(plain, 0), offsets);
            return (count, count * u64::from(len));
        }
        // The least always fits: `FastPath::of_drawn` saw to that.
        if menu.is_split() {
            fill_sized(ring, plain, places, drawn, |offset| {
                let len = menu.share_fitting(&mut draws, end - offset);
                bytes += u64::from(len);
                len
            });
        } else {
            fill_sized(ring, plain, places, drawn, |offset| {
                let len = menu.draw_fitting(&mut draws, end - offset);
                bytes += u64::from(len);
                len
            });
        }
        sizes.draws = Draws::Narrow(draws);
        (count, bytes)
    }

    /// How many I/Os of `len` bytes the ring holds and the limits allow.
    #[inline]
    fn most(&self, len: u64) -> u64 {
        self.limits.room(RING as u64, len)
    }
}

impl Places {
    pub(crate) fn of(file: &FileState, dir: Dir) -> Places {
        let grid = file.grids[dir as usize];
        Places { start: file.start, unit: grid.unit, blocks: grid.places }
    }

    /// Whether an I/O of `len` bytes at any of the places ends before `end`.
    pub(crate) fn all_fit(&self, end: u64, len: u32) -> bool {
        let last = self.blocks.saturating_sub(1).checked_mul(self.unit);
        let end_of_last = last.and_then(|last| last.checked_add(self.start + u64::from(len)));
        end_of_last.is_some_and(|last| last <= end)
    }

    #[inline(always)]
    pub(crate) fn offset(&self, block: u64) -> u64 {
        self.start + block * self.unit
    }
}

/// Fill the ring with these blocks; `len` is asked for each by its offset.
#[inline(always)]
fn fill_sized(
    ring: &mut Ring,
    plain: Plain,
    places: Places,
    blocks: &[u64],
    mut len: impl FnMut(u64) -> u32,
) {
    let mut blocks = blocks.iter();
    ring.fill(blocks.len(), |_| {
        let offset = places.offset(blocks.next().copied().unwrap_or(0));
        entry(Plain { len: len(offset), ..plain }, offset)
    });
}

#[inline(always)]
pub(crate) fn entry(plain: Plain, offset: u64) -> Planned {
    Planned { offset, len: plain.len, file: FileId(0), op: Op::from(plain.dir) }
}

/// The next numbers of a narrow generator, as many as are to be planned; the rest are
/// zero.
#[inline(always)]
pub(crate) fn draw(draws: &mut Draws, count: u64) -> [u32; RING] {
    let mut numbers = [0; RING];
    if let Draws::Narrow(taus) = draws {
        taus.draw_many(&mut numbers[..count as usize]);
    }
    numbers
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::pace::{Cap, PaceSpec, Process};
    use crate::source::Refill;
    use crate::spec::{Directions, MapMode, Share, Sizes, SourceFile, SourceSpec};

    /// All entries of a job, up to `most`.
    pub(crate) fn entries(mut source: Source, most: usize) -> Vec<Planned> {
        let (mut ring, mut entries) = (Ring::default(), Vec::new());
        while entries.len() < most {
            match source.refill(&mut ring) {
                Refill::Planned => entries.extend(std::iter::from_fn(|| ring.pop())),
                Refill::PassDone => source.next_pass(),
                Refill::Done | Refill::Broken => break,
            }
        }
        entries.truncate(most);
        entries
    }

    #[test]
    fn the_fast_path_plans_what_the_general_one_does() {
        let mut tried = 0;
        let caps = PerDir([Cap::Ios(700), Cap::Bytes(9 << 20), Cap::Free]);
        let both = PaceSpec { caps, process: Process::Poisson };
        for (read, write, pace) in [
            (true, false, PaceSpec::default()),
            (false, true, PaceSpec::default()),
            (true, true, PaceSpec::default()),
            (true, true, both),
        ] {
            for (random, map) in [(false, MapMode::Off), (true, MapMode::On), (true, MapMode::Off)]
            {
                for size in [4096, 4097, 100_000, 1 << 20, (1 << 20) + 512] {
                    for (loops, io_size, number_ios) in
                        [(1, 0, 0), (3, 0, 0), (1, 3 * size, 0), (2, 0, 77)]
                    {
                        for (time_based, repeat) in [(false, true), (false, false), (true, true)] {
                            let spec = SourceSpec {
                                directions: Directions {
                                    read,
                                    write,
                                    random,
                                    ..Directions::default()
                                },
                                files: vec![SourceFile {
                                    name: "f".into(),
                                    offset: 8192,
                                    size,
                                    end: 8192 + size,
                                    ..SourceFile::default()
                                }],
                                sizes: PerDir::all(Sizes::Fixed(4096)),
                                size_bytes: size,
                                queued: repeat,
                                total_bytes: if io_size > 0 { io_size } else { size },
                                io_size_given: io_size > 0,
                                map,
                                loops,
                                number_ios,
                                time_based,
                                repeat,
                                pace,
                                ..SourceSpec::default()
                            };
                            let fast = Source::new(spec.clone()).unwrap();
                            let mut general = Source::new(spec.clone()).unwrap();
                            tried += u32::from(fast.fast_path != FastPath::None);
                            general.fast_path = FastPath::None;
                            assert_eq!(entries(fast, 3000), entries(general, 3000), "{spec:?}");
                        }
                    }
                }
            }
        }
        assert!(tried > 400, "only {tried} were plain");
    }

    #[test]
    fn drawn_sizes_and_places_are_those_of_the_general_path() {
        let share = |bytes, percent| Share { bytes, percent };
        let split = Sizes::Split(vec![share(4096, 60), share(16384, 30), share(65536, 10)]);
        let sizes = [Sizes::Fixed(4096), Sizes::Range { min: 512, max: 65536 }, split];
        let laws = [
            Distribution::Random,
            Distribution::Zipf { theta: 1.2, center: None },
            Distribution::Pareto { h: 0.2, center: Some(0.3) },
            Distribution::Normal { deviation: 20.0, center: None },
        ];
        let mut tried = 0;
        for (read, write) in [(true, false), (false, true), (true, true)] {
            for (law, sizes) in laws.iter().flat_map(|law| sizes.iter().map(move |s| (law, s))) {
                for size in [65536, 70_000, 1 << 20, (1 << 20) + 512] {
                    for (loops, number_ios, seq_rand, align) in [
                        (1, 0, false, 0),
                        (3, 0, true, 0),
                        (2, 77, false, 8192),
                        (1, 50, true, 512),
                    ] {
                        let spec = SourceSpec {
                            directions: Directions {
                                read,
                                write,
                                random: true,
                                ..Directions::default()
                            },
                            files: vec![SourceFile {
                                name: "f".into(),
                                offset: 8192,
                                size,
                                end: 8192 + size,
                                ..SourceFile::default()
                            }],
                            sizes: PerDir::all(sizes.clone()),
                            align: PerDir::all(align),
                            size_bytes: size,
                            queued: loops == 2,
                            total_bytes: size,
                            distribution: law.clone(),
                            map: MapMode::Off,
                            bs_is_seq_rand: seq_rand,
                            loops,
                            number_ios,
                            ..SourceSpec::default()
                        };
                        let fast = Source::new(spec.clone()).unwrap();
                        let mut general = Source::new(spec.clone()).unwrap();
                        tried += u32::from(matches!(fast.fast_path, FastPath::Drawn(..)));
                        general.fast_path = FastPath::None;
                        assert_eq!(entries(fast, 3000), entries(general, 3000), "{spec:?}");
                    }
                }
            }
        }
        assert!(tried > 150, "only {tried} were drawn");
    }
}
