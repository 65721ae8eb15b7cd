//! The job language: fio's job files and command line, as typed topics of options.
pub mod cli;
pub mod text;
