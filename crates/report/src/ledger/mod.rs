//! Where the bytes of a run went, what it ran on, and what follows from both:
//! plain data, which is also the shape of `iosonde.ledger` in documents.
//!
//! What could not be measured is [`Fact::Unknown`] with the reason, never a
//! number. Bytes, nanoseconds and shares from 0 to 1 throughout.

mod device;
mod job;
mod machine;
mod traffic;

pub use device::{DeviceDescription, DeviceLedger, DeviceUse};
pub use iosonde_direct::Fact;
pub use job::{
    CpuLedger, DepthLedger, DirectLedger, FilesLedger, JobLedger, LatencySummary, LedgerOptions,
    PaceKept, SyncLedger,
};
pub use machine::{Environment, FilesystemFacts, MachineLedger, PressureShares, Throttling};
pub use traffic::{Reads, Writes};

use crate::derived::with_derived_members;
use crate::finding::{Finding, with_pages};
use crate::fingerprint::Fingerprint;
use crate::series::{RateChange, RunSeries};
use serde::{Deserialize, Serialize};

/// Everything that was measured about a run beside its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = Ledger::describe_derived))]
pub struct Ledger {
    /// Reads of all jobs together; `null` where none read.
    pub reads: Option<Reads>,
    /// Of those, the ones that checked what was written (`verify`); `null` if none
    /// did.
    pub verify_reads: Option<Reads>,
    /// Writes of all jobs together; `null` where none wrote.
    pub writes: Option<Writes>,
    /// Each job that ran, in the order of their numbers.
    pub jobs: Vec<JobLedger>,
    /// Bytes that the I/Os may fall on, each byte of a file once.
    pub span_bytes: SpanBytes,
    /// Devices below the files, each before what it is made of.
    pub devices: Vec<DeviceLedger>,
    /// Traffic on the devices right below the files that was not from the run.
    pub other_traffic: OtherTraffic,
    /// What the run did besides the jobs' own phases: layout, watching data
    /// become durable.
    pub phases: Vec<JobPhase>,
    /// What the machine did while the jobs ran.
    pub machine: MachineLedger,
    /// What it ran on.
    pub environment: Environment,
    /// What measuring cost.
    pub tool: Tool,
    /// The findings, worst first.
    #[serde(serialize_with = "with_pages")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::finding::PagedFinding>"))]
    pub verdict: Vec<Finding>,
    /// The run over time. This and what follows stands beside the ledger in
    /// documents.
    #[serde(skip)]
    pub series: RunSeries,
    /// Where the rate changed, of jobs that run freely and together.
    #[serde(skip)]
    pub changes: Vec<RateChange>,
    /// What the run was, and what on, in parts that two runs may be compared by.
    #[serde(skip)]
    pub fingerprint: Fingerprint,
}

with_derived_members! {
    Ledger:
    "unknown" = unknown_statements: Vec<String>, after "verdict",
        "What the verdict needs and this system does not show; without findings the run is then not clean.";
}

/// A stretch of a job's life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPhase {
    /// `lay out`, `ramp`, `run`, `verify` ...
    pub name: String,
    /// How long it took.
    #[serde(rename = "ns")]
    pub duration_ns: u64,
    /// When it began, from the beginning of the first phase of all jobs; missing where that is
    /// not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
}

/// `part` of `whole`; `None` of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Bytes that I/Os may fall on, each byte of a file once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanBytes {
    /// Of jobs through the page cache.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "bytes")))]
    pub buffered: u64,
    /// Of direct ones.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "bytes")))]
    pub direct: u64,
}

/// Traffic of other programs on the devices right below the files, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherTraffic {
    /// Read, and not by the run.
    pub read_bytes: Fact<u64>,
    /// Written, and not by the run.
    pub written_bytes: Fact<u64>,
    /// Both as a share of all that the devices moved.
    pub share: Fact<f64>,
}

/// The tool itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// The cost of reading the clock once.
    pub clock_read_ns: Fact<f64>,
    /// Time spent on reading counters, all threads together, outside the
    /// jobs' clocks.
    pub counter_read_ns: u64,
}
