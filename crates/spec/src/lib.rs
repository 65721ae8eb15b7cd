//! The job language: fio's job files and command line, as typed topics of options.
//!
//! A [`JobSpec`] is a job as it was asked for; [`rules::resolve`] turns it into the job as it
//! is meant. Parsing opens no file but job files, and plans nothing. Of the engines it reads only
//! the catalogue: names, what they can do, and their own options.

#![forbid(unsafe_code)]

pub mod cli;
mod effective;
pub mod engine_options;
mod job;
pub mod print;
pub mod rules;
pub mod text;
pub mod topics;
pub mod values;

pub use engine_options::PrivateOption;
pub use job::{JobSpec, SetError, TypedOption, all, lookup, nearest_option};
pub use rules::{Caps, OptionRule, resolve};
pub use topics::engines::EngineTable;
