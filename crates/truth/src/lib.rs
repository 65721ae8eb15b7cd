//! The ledger held against what is known without it.
//!
//! [`CASES`] is a table: a set-up, a command line, and statements that the
//! ledger must make, must not make, or whose figures must agree with counters
//! read beside it. [`Bench`] tries them on devices, file systems and control
//! groups of its own. For tests and `cargo xtask ledger` only.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod bench;
mod catalogue;
mod check;
pub mod conclusions;
mod cost;
mod counters;
mod files;
mod liars;
mod meanwhile;
mod places;
mod record;
mod table;
mod value;

pub use bench::Bench;
pub use check::{Check, Outcome};
pub use cost::{LedgerCost, measure as measure_cost};
pub use liars::{Liar, is_noticed};
pub use record::{CaseResult, Record, ShownOutput};
pub use table::{Case, TableFile, cases};

/// The table, file by file.
pub const CASES: &[TableFile] = &[
    TableFile { name: "silences", text: include_str!("../table/silences.txt") },
    TableFile { name: "accusations", text: include_str!("../table/accusations.txt") },
    TableFile { name: "layers", text: include_str!("../table/layers.txt") },
    TableFile { name: "meanwhile", text: include_str!("../table/meanwhile.txt") },
    TableFile { name: "figures", text: include_str!("../table/figures.txt") },
    TableFile { name: "gaps", text: include_str!("../table/gaps.txt") },
    TableFile { name: "ordinary", text: include_str!("../table/ordinary.txt") },
    TableFile { name: "tools", text: include_str!("../table/tools.txt") },
];
