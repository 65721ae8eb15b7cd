//! The account of a run as plain data, and the formats it is written in.
//!
//! [`JobAccount`] is what one job counted, with the facts around it;
//! [`account`] makes the jobs and groups of a [`Report`] out of accounts,
//! merging clones; each file under `formats` turns a `Report` into text.
//! Nothing here runs a job, reads a clock or opens a file.

#![forbid(unsafe_code)]

mod account;
mod by_dir;
pub mod conclusion;
mod derived;
pub mod document;
mod facts;
pub mod finding;
pub mod fingerprint;
pub mod formats;
pub mod hosts;
mod latency;
pub mod ledger;
pub mod live;
pub mod normal;
mod report;
pub mod scale;
pub mod series;
mod settings;
mod spark;
mod unknown_statements;

pub use account::{JobAccount, LatencyCounts, PrioCounts, account, groups_of};
pub use facts::{JobFacts, MeasuredKinds, Percentiles};
pub use latency::{LatencyReport, LatencyTotal, Quick, percentile_of_all};
pub use ledger::JobPhase;
pub use report::{
    BlockLife, BlockState, CpuIdle, CpuUse, DepthReport, DirReport, DiskCounts, DiskReport,
    ErrorCount, GroupDir, GroupReport, JobFailure, JobReport, LatencyTarget, OptionTexts, OurJob,
    Ours, PrioReport, Report, SteadyResult, SteadySample, SyncReport, TextUnits, Unified,
    VerifyCounts, VerifyReport, WindowReport, WrongBlocks, WrongPlace,
};
pub use settings::{JobSettings, RunSettings, SetOption, UsedVariable};
pub use unknown_statements::is_served;
