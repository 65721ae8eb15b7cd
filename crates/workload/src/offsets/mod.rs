//! Where the next I/O falls: one after another, or drawn.

mod file_law;
mod law;
mod listed;
mod sequential;
mod zoned;

pub(crate) use file_law::FileLaw;
pub use law::Law;
pub(crate) use listed::Listed;
pub(crate) use sequential::sequential;
pub(crate) use zoned::Zones;

use iosonde_base::{DIRS, Dir};

use crate::spec::{Distribution, Generator, MapMode, SourceFile, SourceSpec};

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

    pub(crate) fn least_of(&self, dir: Dir) -> u64 {
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
    pub(crate) fn mapped(&self) -> bool {
        self.directions.random
            && self.map != MapMode::Off
            && self.distribution == Distribution::Random
            && self.units_are_least()
    }

    /// Whether places are drawn by a law, or listed: a shift register is then not
    /// asked for any. Zones take their numbers from it, as in fio.
    pub(crate) fn has_law(&self) -> bool {
        let zoned = matches!(self.distribution, Distribution::Zoned(_) | Distribution::ZonedAbs(_));
        !(zoned || self.distribution == Distribution::Random)
    }

    /// Bytes of a file, or of a zone, that places are counted in.
    pub(crate) fn counted(&self, file: &SourceFile) -> u64 {
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
