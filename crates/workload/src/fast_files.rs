//! Even draws in several files, all of one size.

use iosonde_base::{Dir, FileId, Op, Planned, RING, Ring};

use crate::fast_path::{alike, each_is_drawn};
use crate::file::FileState;
use crate::mix::Mix;
use crate::plain::{FastPath, Places, Plain};
use crate::random::{Draws, SCALE_MOST, scale};
use crate::random_map::RandomMap;
use crate::source::Source;
use crate::spec::Distribution;
use crate::steady::is_steady;

impl FastPath {
    /// Of a job with several files.
    pub(crate) fn of_files(source: &Source) -> FastPath {
        let spec = &source.spec;
        let dir = match &source.mix {
            Mix::One(dir) => *dir,
            Mix::ReadWrite(_) => Dir::Read,
        };
        let Some(len) = source.sizes[dir].fixed() else { return FastPath::None };
        let fits = |file: &FileState| {
            let places = Places::of(file, dir);
            let once =
                |map: &RandomMap| map.blocks() == places.blocks && places.unit == u64::from(len);
            file.lfsr.is_none()
                && file.first == file.start
                && file.start + file.range <= file.end
                && places.all_fit(file.end, len)
                && (1..=SCALE_MOST).contains(&places.blocks)
                && file.map.as_ref().is_none_or(once)
        };
        let plain = source.files.len() > 1
            && spec.directions.random
            && spec.distribution == Distribution::Random
            && spec.strided.is_none()
            && !spec.bs_is_seq_rand
            && is_steady(source)
            && (!source.mix.is_mixed() || alike(source))
            && each_is_drawn(source)
            && source.picker.is_foreseen()
            && source.files.iter().all(fits);
        if plain { FastPath::Files(Plain { dir, len }) } else { FastPath::None }
    }
}

impl Source {
    /// Plan up to a sync, or an I/O in a file that is done.
    #[inline(never)]
    pub(crate) fn fill_files(&mut self, ring: &mut Ring, plain: Plain) {
        let mut picked = [0; RING];
        let most = self.room_before_halt(u64::from(plain.len)) as usize;
        let (all, op) = (self.files.len(), Op::from(plain.dir));
        let Draws::Ahead(draws) = &mut self.offset_draws else { return };
        let numbers = draws.peek(most);
        let picks = self.picker.peek(all, &mut picked[..numbers.len()]);
        let (picked, files) = (&picked[..picks], &mut self.files[..]);
        let mut next = picked.iter().zip(numbers);
        ring.fill_while(most, || {
            let (file, number) = next.next()?;
            let state = files.get_mut(*file as usize).filter(|state| !state.done)?;
            let grid = state.grids[plain.dir as usize];
            let drawn = scale(grid.places, *number);
            let block = match &mut state.map {
                Some(map) => map.visit_from(drawn)?,
                None => drawn,
            };
            let offset = state.start + block * grid.unit;
            Some(Planned { offset, len: plain.len, file: FileId(*file), op })
        });
        let planned = ring.waiting() as usize;
        draws.take(planned);
        self.picker.take(all, &picked[..planned]);
        self.issued_before_halt(ring, plain);
    }
}
