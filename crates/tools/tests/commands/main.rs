//! The commands of this crate, asked as the program asks them, without the program.

mod ask;
mod audit;
mod cache;
mod probe;
