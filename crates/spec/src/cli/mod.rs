//! fio's command line: flags of the program, options of jobs, job files, in any order.

pub mod flag_table;
pub mod flags;
pub mod getopt;
