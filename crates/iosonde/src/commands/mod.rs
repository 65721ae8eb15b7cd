//! Commands of our own beside running jobs, each in a file or folder.

pub mod cache;
mod words;
