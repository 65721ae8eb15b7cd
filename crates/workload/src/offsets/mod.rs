//! Where the next I/O falls: one after another, or drawn.

mod listed;
mod sequential;
mod skew;
mod zoned;

pub(crate) use listed::Listed;
pub(crate) use sequential::{sequential, sequential_in_zone};
pub(crate) use skew::{Skew, file_skew};
pub(crate) use zoned::Zones;

use crate::cover::Cover;
use crate::files::Place;
use crate::random::Lfsr;
use crate::spec::{Distribution, Generator, MapMode, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};

impl SourceSpec {
    /// What random places of `dir` are multiples of, in bytes.
    pub(crate) fn unit(&self, dir: iosonde_base::Dir) -> u64 {
        match self.align[dir] {
            0 => u64::from(self.sizes[dir].min()),
            align => align,
        }
    }

    /// The least size of the directions that are used, in bytes.
    fn least(&self) -> u64 {
        self.used().map(|dir| u64::from(self.sizes[dir].min())).min().unwrap_or(1)
    }

    /// The directions that are used.
    pub(crate) fn used(&self) -> impl Iterator<Item = iosonde_base::Dir> + use<> {
        let used = [self.directions.read, self.directions.write, self.directions.trim];
        iosonde_base::DIRS.into_iter().filter(move |dir| used[*dir as usize])
    }

    /// Whether a map (or register) sees to it that each block comes once.
    fn mapped(&self) -> bool {
        self.directions.random
            && self.map != MapMode::Off
            && self.distribution == Distribution::Random
            && self.used().all(|dir| self.unit(dir) == u64::from(self.sizes[dir].min()))
    }

    /// Blocks of a file (or of its zone) of `size` bytes.
    fn blocks(&self, size: u64) -> u64 {
        size.min(self.strided.map_or(u64::MAX, |zone| zone.range)) / self.least()
    }
}

/// Whether offsets are drawn 64 bits at a time.
pub(crate) fn wide(spec: &SourceSpec, notes: &mut Vec<String>) -> bool {
    let large = spec.files.iter().any(|file| spec.blocks(file.size) > 1 << 32);
    if spec.directions.random
        && large
        && spec.generator == Generator::Tausworthe
        && !spec.generator_chosen
    {
        notes.push("a file has more than 2^32 blocks: random_generator is tausworthe64".to_owned());
        return true;
    }
    spec.generator == Generator::Tausworthe64
}

/// The files at their starts, each with its map, register or distribution.
pub(crate) fn places(
    spec: &SourceSpec,
    seeds: &Seeds,
    notes: &mut Vec<String>,
) -> Result<Vec<Place>, SpecError> {
    let mut places: Vec<Place> = spec
        .files
        .iter()
        .map(|file| Place::new(file, iosonde_base::DIRS.map(|dir| spec.unit(dir)), spec.strided))
        .collect();
    for (place, file) in places.iter_mut().zip(&spec.files) {
        if file.size < spec.least() {
            return Err(SpecError::FileTooSmall {
                name: file.name.clone(),
                size: file.size,
                needs: spec.least(),
            });
        }
        if !spec.directions.random {
            continue;
        }
        place.listed = Listed::for_file(spec, file)?;
        let blocks = spec.blocks(file.size);
        if spec.generator == Generator::Lfsr && spec.distribution == Distribution::Random {
            let lfsr = Lfsr::new(blocks, seeds.of(Stream::Offset));
            place.lfsr = Some(lfsr.ok_or(SpecError::LfsrTooLarge { blocks })?);
        } else if spec.mapped() {
            match (Cover::new(blocks), spec.map) {
                (Some(cover), _) => place.cover = Some(cover),
                (None, MapMode::Soft) => {
                    notes.push(format!(
                        "no memory for the random map of {}: going without it",
                        file.name
                    ));
                }
                (None, _) => return Err(SpecError::NoMemory { name: file.name.clone(), blocks }),
            }
        } else {
            place.skew = Skew::for_file(spec, seeds, file)?;
        }
    }
    Ok(places)
}
