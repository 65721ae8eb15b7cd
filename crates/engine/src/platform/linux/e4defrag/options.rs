//! Options of e4defrag.

use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic, options};
use std::path::PathBuf;

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<E4DefragOptions>(E4DefragOptions::OPTIONS);

options! {
    /// e4defrag
    pub(super) struct E4DefragOptions in Category::Engine {
        /// The file whose blocks are exchanged with those of the job's files.
        donorname: Option<String> = "" as "donorname" {
            good: &["donor"],
        }
        /// The donor's blocks are allocated at each I/O and freed after it.
        ///
        /// Without it they are allocated once, at the start.
        inplace: u32 = "0" as "inplace" {
            min: Some(0),
            max: Some(1),
            with: &["donorname=donor"],
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

/// The donor, and when it gets its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct E4DefragSettings {
    /// The donor's path; created if it is not there.
    pub donor: PathBuf,
    /// It gets blocks for each I/O, and loses them afterwards.
    pub inplace: bool,
}

impl OwnSettings for E4DefragSettings {
    fn changes_also(&self) -> Option<PathBuf> {
        Some(self.donor.clone()).filter(|donor| !donor.as_os_str().is_empty())
    }
}

impl OwnOptions for E4DefragOptions {
    type Settings = E4DefragSettings;

    fn settings(&self, _: &JobContext) -> Result<E4DefragSettings, Diagnostic> {
        let donor = self.donorname.get().as_deref().map(PathBuf::from).unwrap_or_default();
        Ok(E4DefragSettings { donor, inplace: *self.inplace.get() == 1 })
    }
}
