//! The program's own commands, sbk among them.

#[path = "../support/mod.rs"]
mod support;

mod cache;
mod compare;
mod compare_pages;
mod course;
mod diagnose;
mod examples;
mod explain;
mod help;
mod like;
mod matrix;
mod matrix_safety;
mod merge;
mod meta;
mod plot;
mod probe;
mod quick;
mod sbk;
mod sbk_ends;
mod sbk_outputs;
mod selftest;
mod speed;
mod sweep;
mod sweep_pages;
mod write_cache;
