//! Distributions under which some blocks are hotter than others.

use crate::spec::{Distribution, FilePick, SourceFile, SourceSpec, SpecError};
use crate::streams::Seeds;

/// Draws from a distribution that is not even.
#[derive(Debug)]
pub(crate) struct Skew {}

impl Skew {
    pub fn for_file(
        spec: &SourceSpec,
        _seeds: &Seeds,
        _file: &SourceFile,
    ) -> Result<Option<Skew>, SpecError> {
        match spec.distribution {
            Distribution::Random | Distribution::Zoned(_) | Distribution::ZonedAbs(_) => Ok(None),
            _ => Err(SpecError::BadDistribution),
        }
    }
    pub fn restart(&mut self) {}
    pub fn draw(&mut self) -> u64 {
        0
    }
}

pub(crate) fn file_skew(spec: &SourceSpec, _seeds: &Seeds) -> Result<Option<Skew>, SpecError> {
    match spec.file_service.pick {
        FilePick::RoundRobin | FilePick::Sequential | FilePick::Random => Ok(None),
        _ => Err(SpecError::BadDistribution),
    }
}
