//! Studies: many runs of the same jobs, or of known ones, and what follows from them.
//!
//! `trials` has what they share: runs that are kept as they end and go on where they were
//! interrupted, what is done between two, the figures of a result. Each study is a module
//! with its entry in the program's table of commands. What differs and what is the same is
//! decided in `iosonde-judge`; the runs are those of `iosonde-session`.

#![forbid(unsafe_code)]

pub mod compare;
pub mod like;
pub mod plot;
pub mod sweep;
pub mod trials;
