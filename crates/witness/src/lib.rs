//! Where the bytes of a run went, and what its figures may be used for.
//!
//! [`reading`] reads the kernel's signals, before and after; what was read is
//! [`Evidence`], plain data; [`ledger()`] makes a [`Ledger`] of it; [`judge`]
//! holds the ledger against the rules of [`checks`]. Only the first of these
//! touches the machine, and none of them is in a hot path.

#![forbid(unsafe_code)]

pub mod checks;
mod evidence;
mod ledger;
pub mod reading;

pub use checks::{judge, judge_while_running, page, rules};
pub use evidence::{
    DurableAfter, Evidence, HolesBelow, JobEvidence, ResidencySample, VerifyEvidence, Wave,
};
pub use iosonde_report::ledger::{Fact, Ledger};
pub use ledger::ledger;
