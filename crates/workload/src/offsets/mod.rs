//! Where the next I/O falls: one after another, or drawn.

mod law;
mod listed;
mod sequential;
mod zoned;

pub(crate) use law::{Law, file_law};
pub(crate) use listed::Listed;
pub(crate) use sequential::sequential;
pub(crate) use zoned::Zones;

use iosonde_base::{DIRS, Dir};

use crate::file::FileState;
use crate::random::Lfsr;
use crate::random_map::RandomMap;
use crate::spec::{Distribution, Generator, MapMode, SourceFile, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};

/// Where random I/Os of one direction may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Bytes from one place to the next.
    pub unit: u64,
    /// How many places there are.
    pub places: u64,
}

impl SourceSpec {
    /// What random places of `dir` are multiples of, in bytes.
    pub(crate) fn unit(&self, dir: Dir) -> u64 {
        match self.align[dir] {
            0 => self.least_of(dir),
            align => align,
        }
    }

    fn least_of(&self, dir: Dir) -> u64 {
        u64::from(self.sizes[dir].min())
    }

    /// The least size of the directions that are used, in bytes.
    pub(crate) fn least(&self) -> u64 {
        self.used().map(|dir| self.least_of(dir)).min().unwrap_or(1)
    }

    /// The directions that are used.
    pub(crate) fn used(&self) -> impl Iterator<Item = Dir> + use<> {
        let used = [self.directions.read, self.directions.write, self.directions.trim];
        DIRS.into_iter().filter(move |dir| used[*dir as usize])
    }

    /// Whether places are multiples of the least size in each direction, used
    /// or not.
    pub(crate) fn units_are_least(&self) -> bool {
        DIRS.into_iter().all(|dir| self.unit(dir) == self.least_of(dir))
    }

    /// Whether a map sees to it that each block comes once.
    fn mapped(&self) -> bool {
        self.directions.random
            && self.map != MapMode::Off
            && self.distribution == Distribution::Random
            && self.units_are_least()
    }

    /// Whether places are drawn by a law, or listed: a shift register is then not
    /// asked for any. Zones take their numbers from it, as in fio.
    fn has_law(&self) -> bool {
        let zoned = matches!(self.distribution, Distribution::Zoned(_) | Distribution::ZonedAbs(_));
        !(zoned || self.distribution == Distribution::Random)
    }

    /// Bytes of a file, or of a zone, that places are counted in.
    fn counted(&self, file: &SourceFile) -> u64 {
        self.strided.map_or(file.size.min(file.end), |zone| zone.range)
    }

    /// Where random I/Os of `dir` may begin in `file`.
    pub(crate) fn grid(&self, dir: Dir, file: &SourceFile) -> Grid {
        let unit = self.unit(dir).max(1);
        // The last I/O fits even where places are closer than its least size.
        let beyond = self.least_of(dir).saturating_sub(unit);
        Grid { unit, places: self.counted(file).saturating_sub(beyond) / unit }
    }

    /// Whether streams are drawn 64 bits at a time, because the job asks for it.
    pub(crate) fn is_wide(&self) -> bool {
        self.generator == Generator::Tausworthe64
    }
}

/// Whether offsets are drawn 64 bits at a time.
pub(crate) fn wide(spec: &SourceSpec, notes: &mut Vec<String>) -> bool {
    let large = spec.files.iter().any(|file| spec.counted(file) / spec.least().max(1) > 1 << 32);
    if spec.directions.random
        && large
        && spec.generator == Generator::Tausworthe
        && !spec.generator_chosen
    {
        notes.push("a file has more than 2^32 blocks: random_generator is tausworthe64".to_owned());
        return true;
    }
    spec.is_wide()
}

/// The files at their starts, each with its map, register or distribution.
pub(crate) fn files(
    spec: &SourceSpec,
    seeds: &Seeds,
    notes: &mut Vec<String>,
) -> Result<Vec<FileState>, SpecError> {
    let seed = seeds.of(Stream::Offset);
    let mut states: Vec<FileState> =
        spec.files.iter().map(|file| FileState::new(spec, file, seed)).collect();
    if !spec.directions.random {
        return Ok(states);
    }
    for (state, file) in states.iter_mut().zip(&spec.files) {
        state.listed = Listed::for_file(spec, file)?;
        if spec.generator == Generator::Lfsr && !spec.has_law() {
            state.lfsr = register(spec, file, state, seed)?;
        } else if spec.mapped() {
            state.map = map(spec, file, notes)?;
        } else {
            state.law = Law::for_file(spec, seeds, file)?;
        }
    }
    Ok(states)
}

/// A register over the blocks of a file, as far as each has a place; none for a
/// file without any.
fn register(
    spec: &SourceSpec,
    file: &SourceFile,
    state: &FileState,
    seed: u64,
) -> Result<Option<Lfsr>, SpecError> {
    let places = |dir: Dir| state.grids[dir as usize].places;
    let least = DIRS.map(|dir| spec.least_of(dir)).into_iter().min().unwrap_or(1).max(1);
    let blocks = spec.used().map(places).min().unwrap_or(0).min(spec.counted(file) / least);
    if blocks == 0 {
        return Ok(None);
    }
    Lfsr::new(blocks, seed).map(Some).ok_or(SpecError::LfsrTooLarge { blocks })
}

fn map(
    spec: &SourceSpec,
    file: &SourceFile,
    notes: &mut Vec<String>,
) -> Result<Option<RandomMap>, SpecError> {
    let blocks = spec.counted(file) / spec.least().max(1);
    match (RandomMap::new(blocks), spec.map) {
        (None, MapMode::Soft) => {
            notes.push(format!("no memory for the random map of {}: going without it", file.name));
            Ok(None)
        }
        (None, _) => Err(SpecError::NoMemory { name: file.name.clone(), blocks }),
        (map, _) => Ok(map),
    }
}
