//! The files of a job at their starts, each with its map, register or distribution.

use iosonde_base::{DIRS, Dir};

use crate::file::FileState;
use crate::offsets::{Law, Listed};
use crate::random::Lfsr;
use crate::random_map::RandomMap;
use crate::spec::{Generator, MapMode, SourceFile, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};

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
