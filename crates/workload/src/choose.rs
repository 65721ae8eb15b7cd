//! Choosing one I/O: fio's steps, in fio's order.
//!
//! A step that finds nothing ends the file for this pass. Each step is checked,
//! with the others, against recordings of fio 3.42
//! (`crates/iosonde/tests/fio/exact.rs`).

use iosonde_base::{Dir, FileId, Op, Planned};

use crate::file::FileState;
use crate::offsets::{self, Grid};
use crate::source::Source;
use crate::spec::Sequencer;
use crate::sprandom::Sprandom;

/// Where the next I/O begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenStart {
    pub offset: u64,
    /// Its block in the random map, if it is to be noted there.
    pub block: Option<u64>,
    /// Drawn, not one after another.
    pub random: bool,
}

impl Source {
    /// The next I/O in `file`; none if there is nothing more in this pass.
    pub(crate) fn choose(&mut self, file: usize) -> Option<Planned> {
        if let Some(trimmed) = self.files[file].trimmed.take() {
            return Some(Planned { op: Op::Write, ..trimmed });
        }
        let dir = self.mix.next(&self.issued);
        let entry = self.choose_one(file, dir)?;
        if self.spec.directions.trim_then_write {
            self.files[file].trimmed = Some(entry);
        }
        Some(entry)
    }

    #[inline(never)]
    fn choose_one(&mut self, file: usize, dir: Dir) -> Option<Planned> {
        self.choose_in(file, dir)
    }

    /// The next I/O of `dir` in `file`; none if there is nothing more in this pass.
    #[inline(always)]
    pub(crate) fn choose_in(&mut self, file: usize, dir: Dir) -> Option<Planned> {
        self.enter_zone(file, dir);
        let start = self.start(file, dir)?;
        let len = self.size(file, dir, &start)?;
        let len = self.note_in_map(file, dir, &start, len);
        Some(Planned { offset: start.offset, len, file: FileId(file as u32), op: dir.into() })
    }

    /// The next write of a pass of `sprandom`, in the job's only file.
    pub(crate) fn choose_sprandom(&mut self, file: usize) -> Option<Planned> {
        let mut pass = self.sprandom.take()?;
        let chosen = self.chosen_by(&mut pass, file);
        self.sprandom = Some(pass);
        chosen
    }

    fn chosen_by(&mut self, pass: &mut Sprandom, file: usize) -> Option<Planned> {
        if pass.is_done() {
            return None;
        }
        let unit = self.files[file].grids[Dir::Write as usize].unit;
        let again = pass.rewrite();
        let (offset, len) = match again {
            Some(block) => {
                let offset = self.files[file].start + block * unit;
                (offset, u32::try_from(unit).ok()?)
            }
            None => {
                let start = self.start(file, Dir::Write)?;
                let len = self.drawn_size(file, Dir::Write, &start)?;
                (start.offset, self.note_in_map(file, Dir::Write, &start, len))
            }
        };
        pass.wrote((offset - self.files[file].start) / unit);
        Some(Planned { offset, len, file: FileId(file as u32), op: Op::Write })
    }

    /// In a strided job, go to the next zone once this one has had its bytes,
    /// and begin it again where it wants more than it has.
    #[inline(always)]
    fn enter_zone(&mut self, file: usize, dir: Dir) {
        let Some(zone) = self.spec.strided else { return };
        let state = &mut self.files[file];
        if self.zone_bytes >= zone.size {
            self.zone_bytes = 0;
            state.next_zone(zone.range + zone.skip, dir);
        }
        if state.last_end[dir as usize] >= state.start + zone.range {
            state.last_end[dir as usize] = state.start;
        }
        if self.zone_bytes.is_multiple_of(zone.range) {
            state.rewind();
        }
    }

    /// Where in `file` the next I/O of `dir` begins: within the range, and
    /// before the end of the file.
    #[inline(always)]
    pub(crate) fn start(&mut self, file: usize, dir: Dir) -> Option<ChosenStart> {
        let (place, block, random) = self.place(file, dir)?;
        let state = &self.files[file];
        let offset = state.start.checked_add(place)?;
        (place < state.range && offset < state.end).then_some(ChosenStart { offset, block, random })
    }

    /// The same as bytes from the start of the range, with the block to note,
    /// and whether it was drawn.
    #[inline(always)]
    fn place(&mut self, file: usize, dir: Dir) -> Option<(u64, Option<u64>, bool)> {
        if !self.spec.directions.random {
            let place = self.sequential_place(file, dir)?;
            return Some((place, None, false));
        }
        let first_of_run = self.run_left == 0;
        if first_of_run {
            self.run_left = self.spec.seq_nr;
        }
        self.run_left -= 1;
        if first_of_run && self.is_random(dir) {
            let (place, block) = self.random_place(file, dir)?;
            return Some((place, block, true));
        }
        if !first_of_run && self.spec.sequencer == Sequencer::Identical {
            let state = &self.files[file];
            return Some((state.last_start[dir as usize].wrapping_sub(state.start), None, false));
        }
        // At the end of the file another place is drawn, though not noted.
        self.tried_in_order = true;
        let place = match self.sequential_place(file, dir) {
            Some(place) => place,
            None => self.random_place(file, dir)?.0,
        };
        Some((place, None, false))
    }

    /// Whether the first I/O of a run is drawn (`percentage_random`).
    #[inline(always)]
    fn is_random(&mut self, dir: Dir) -> bool {
        match self.spec.percentage_random[dir] {
            100 => true,
            0 => false,
            percent => self.seq_rand_draws[dir].percent() <= percent,
        }
    }

    #[inline(always)]
    fn sequential_place(&mut self, file: usize, dir: Dir) -> Option<u64> {
        if self.begins_again {
            self.begin_direction_again(file, dir);
        }
        offsets::sequential(&self.files[file], dir, self.spec.seq_add)
    }

    /// At the end of the range, a job that ends by time, or writes more than its
    /// size, begins again: only in this direction.
    fn begin_direction_again(&mut self, file: usize, dir: Dir) {
        let state = &mut self.files[file];
        if state.last_end[dir as usize] < state.range.saturating_add(state.first) {
            return;
        }
        state.last_end[dir as usize] = state.start;
        if self.spec.time_based {
            self.invalidate = Some(file);
        }
    }

    /// A place drawn at random, with its block if there is a map.
    #[inline(always)]
    fn random_place(&mut self, file: usize, dir: Dir) -> Option<(u64, Option<u64>)> {
        let grid = self.files[file].grids[dir as usize];
        if grid.places == 0 {
            return None;
        }
        let drawn = self.number(file, dir, grid)?;
        match &self.files[file].map {
            None => Some((drawn.checked_mul(grid.unit)?, None)),
            Some(map) => {
                let block = map.free_from(drawn)?;
                Some((block * grid.unit, Some(block)))
            }
        }
    }

    /// A number drawn among the places of `grid`, which there are.
    #[inline(always)]
    pub(crate) fn number(&mut self, file: usize, dir: Dir, grid: Grid) -> Option<u64> {
        let state = &mut self.files[file];
        if let Some(zones) = &mut self.zones {
            zones.draw(dir, grid, |within| match &mut state.lfsr {
                // A number of the file, to which that of the zone is added, as in fio.
                Some(lfsr) => lfsr.draw(),
                None => Some(self.offset_draws.below(within)),
            })
        } else if let Some(lfsr) = &mut state.lfsr {
            lfsr.draw()
        } else if let Some(law) = &mut state.law {
            Some(law.draw())
        } else if let Some(listed) = &mut state.listed {
            Some(listed.next())
        } else {
            Some(self.offset_draws.below(grid.places))
        }
    }

    /// How many bytes the I/O moves: a size that is drawn ends within the range,
    /// any ends within the file.
    #[inline(always)]
    fn size(&mut self, file: usize, dir: Dir, start: &ChosenStart) -> Option<u32> {
        let len = self.drawn_size(file, dir, start)?;
        (start.offset.checked_add(u64::from(len))? <= self.files[file].end).then_some(len)
    }

    /// The same, wherever the file ends.
    #[inline(always)]
    pub(crate) fn drawn_size(&mut self, file: usize, dir: Dir, start: &ChosenStart) -> Option<u32> {
        let sizes_of = match (self.spec.bs_is_seq_rand, start.random) {
            (false, _) => dir,
            (true, false) => Dir::Read,
            (true, true) => Dir::Write,
        };
        let sizes = &mut self.sizes[sizes_of];
        if let Some(bytes) = sizes.fixed() {
            return Some(bytes);
        }
        let FileState { range, first, .. } = self.files[file];
        sizes.draw((range + first).saturating_sub(start.offset))
    }

    /// Note the blocks of an I/O in the random map, and cut it where it meets
    /// one that has been visited. An I/O before which a place in order was
    /// tried is not noted, as in fio.
    #[inline(always)]
    pub(crate) fn note_in_map(
        &mut self,
        file: usize,
        dir: Dir,
        start: &ChosenStart,
        len: u32,
    ) -> u32 {
        let state = &mut self.files[file];
        let (Some(map), Some(block), false) = (&mut state.map, start.block, self.tried_in_order)
        else {
            return len;
        };
        map.note(block, len, state.grids[dir as usize].unit)
    }
}
