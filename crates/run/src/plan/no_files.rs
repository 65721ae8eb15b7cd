//! Jobs of engines that move no file's bytes: programs, processor time,
//! connections.

use super::files::Parts;
use crate::job::{FileKind, FilePlan, Need};
use iosonde_engine::EngineDef;
use iosonde_options::{Diagnostic, Origin};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use std::path::PathBuf;

/// What stands for the files of a job without any: the source wants one.
pub(super) fn no_files(job: &ParsedJob, min_bs: u64) -> Parts {
    let (name, path) = (job.name.clone(), PathBuf::new());
    let (kind, need) = (FileKind::None, Need::Nothing);
    let file = FilePlan { name, path, kind, offset: 0, bytes: min_bs, need, shared_end: None };
    let (size_bytes, total_bytes) = (min_bs, min_bs);
    Parts { files: vec![file], ends: vec![min_bs], size_bytes, total_bytes, ..Parts::default() }
}

/// A connection goes one way, in order.
///
/// # Errors
/// Any other direction.
pub(super) fn one_way(spec: &JobSpec, engine: &EngineDef) -> Result<(), Diagnostic> {
    let word = spec.order.rw.get().word;
    let mixed = word.reads() && word.writes();
    if !(engine.caps.one_way && (word.is_random() || word.trims() || mixed)) {
        return Ok(());
    }
    let message = format!("engine {} goes one way, in order", engine.name);
    let origin = spec.origin("rw").unwrap_or(Origin::Default);
    Err(Diagnostic::error(message).about("rw", &origin).help("use rw=read or rw=write"))
}
