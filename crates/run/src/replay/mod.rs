//! Recordings that jobs replay (`read_iolog`): read, checked, merged.

pub(crate) mod merge;
pub(crate) mod recording;
