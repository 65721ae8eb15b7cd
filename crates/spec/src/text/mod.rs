//! Job files as plain data: sections of named values, each with the place it was written at.
//!
//! Nothing here knows an option. [`section::read`] opens the job file and what it includes;
//! [`expand`] and [`arithmetic`] turn what is written into what is meant.

pub mod arithmetic;
pub mod expand;
pub mod include;
pub mod lex;
pub mod section;
