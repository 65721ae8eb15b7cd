//! The I/O of a job, which most of its plan depends on.

use super::replay::Replay;
use super::source;
use iosonde_base::{DIRS, PerDir};
use iosonde_engine::EngineDef;
use iosonde_spec::JobSpec;
use iosonde_workload::Sizes;

/// The I/O of a job: what most of its plan depends on.
pub(super) struct JobIo {
    pub replay: Option<Replay>,
    pub dirs: PerDir<bool>,
    pub sizes: PerDir<Sizes>,
    pub min_bs: u64,
    pub max_bs: u32,
}

impl JobIo {
    pub fn new(spec: &JobSpec, engine: &EngineDef, replay: Option<Replay>) -> JobIo {
        let dirs = match &replay {
            Some(replay) => replay.dirs(),
            // What such an engine counts are reads.
            None if engine.caps.no_io => PerDir([true, false, false]),
            None => spec.dirs(),
        };
        let sizes = replay.as_ref().map_or_else(|| source::sizes(spec), Replay::sizes);
        let min_bs = u64::from(DIRS.map(|dir| sizes[dir].min()).into_iter().min().unwrap_or(1));
        let max_bs = DIRS.map(|dir| sizes[dir].max()).into_iter().max().unwrap_or(1);
        JobIo { replay, dirs, sizes, min_bs, max_bs }
    }

    /// It keeps to the times of its recording.
    pub fn is_timed(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.timed)
    }
}
