//! The `iosonde` object of a document: its members, their order and their names.
//! docs/json.md and the schema are made from the types.

use crate::by_dir::ByDir;
use crate::conclusion::Conclusion;
use crate::fingerprint::Fingerprint;
use crate::formats::{Bins, LatencyDocument};
use crate::hosts::{GroupTogether, HostRow, HostStamp, HostsBytes, SharedFinding};
use crate::latency::LatencyReport;
use crate::ledger::Ledger;
use crate::report::{JobPhase, JobReport, OurJob, Report, VerifyReport};
use crate::series::{RateChange, RunSeries};
use crate::settings::RunSettings;
use iosonde_base::Dir;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the object: a key that is renamed or means another thing
/// raises it, a new key does not.
pub const SCHEMA: u64 = 1;

/// What iosonde adds to fio's document.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OurDocument<'a> {
    /// The version of this object.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = [SCHEMA])))]
    pub schema: u64,
    /// The program and its version.
    pub version: Cow<'a, str>,
    /// Notes and warnings about options.
    pub diagnostics: Cow<'a, [String]>,
    /// Remarks.
    pub notes: Cow<'a, [String]>,
    /// How the run came out, in one sentence; missing in interim results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Cow<'a, Conclusion>>,
    /// What was asked for, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Cow<'a, RunSettings>>,
    /// As many as fio's `jobs`, in their order.
    pub jobs: Vec<OurJobDocument<'a>>,
    /// What the run was and what on; equal parts are the same thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Cow<'a, Fingerprint>>,
    /// Where the rate changed, of jobs that run freely and together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Cow<'a, [RateChange]>>,
    /// Where the bytes went; missing with --ledger=no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Cow<'a, Ledger>>,
    /// The run over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::series::SeriesColumns>"))]
    pub series: Option<Cow<'a, RunSeries>>,
    /// Where and when it was measured, of one of several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Cow<'a, HostStamp>>,
    /// Each host of a merged result, by rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Cow<'a, [HostRow]>>,
    /// All hosts of a merged result together, by reporting group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Cow<'a, [GroupTogether]>>,
    /// Findings of the hosts, each once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_findings: Option<Cow<'a, [SharedFinding]>>,
    /// Bytes of all hosts, by where they came from and went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_bytes: Option<HostsBytes>,
}

impl<'a> OurDocument<'a> {
    /// The object of a report.
    pub(crate) fn of(report: &'a Report, bins: Bins) -> OurDocument<'a> {
        let ours = &report.ours;
        let ledger = ours.ledger.as_deref();
        let hosts = ours.hosts.as_deref();
        let jobs = ours.jobs.iter().zip(&report.jobs);
        OurDocument {
            schema: SCHEMA,
            version: report.tool.as_str().into(),
            diagnostics: report.diagnostics.as_slice().into(),
            notes: ours.notes.as_slice().into(),
            conclusion: ours.conclusion.as_ref().map(Cow::Borrowed),
            settings: ours.settings.as_ref().map(Cow::Borrowed),
            jobs: jobs.map(|(ours, job)| OurJobDocument::of(ours, job, bins)).collect(),
            fingerprint: ledger.map(|run| Cow::Borrowed(&run.fingerprint)),
            changes: ledger.map(|run| run.changes.as_slice().into()),
            ledger: ledger.map(Cow::Borrowed),
            series: ledger.map(|run| Cow::Borrowed(&run.series)),
            host: ours.host.as_deref().map(Cow::Borrowed),
            hosts: hosts.map(|all| all.hosts.as_slice().into()),
            overlap: hosts.map(|all| all.groups.as_slice().into()),
            hosts_findings: hosts.map(|all| all.findings.as_slice().into()),
            hosts_bytes: hosts.and_then(|all| all.bytes()),
        }
    }
}

/// What fio does not report of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OurJobDocument<'a> {
    /// The job's name.
    pub jobname: Cow<'a, str>,
    /// The job in words: `randrw 4k, psync, depth 1`.
    pub summary: Cow<'a, str>,
    /// What it did, one after the other.
    pub phases: Cow<'a, [JobPhase]>,
    /// Of paced jobs, by direction: from the moment an I/O was due to its completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<ByDir<LatencyDocument>>,
    /// Of recordings: from the moment an I/O was due to its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ns: Option<LatencyDocument>,
    /// The bins of the latencies that reports show: pairs of the middle in nanoseconds and
    /// the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_bins: Option<LatencyBins>,
    /// What was written and checked (`verify`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Cow<'a, VerifyReport>>,
    /// What failed, where fio's key `error` has a number only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureDocument<'a>>,
}

/// Why a job failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureDocument<'a> {
    /// What was being done: `write`, `verify`, `open` ...
    pub doing: Cow<'a, str>,
    /// The file or place concerned; empty for none.
    pub place: Cow<'a, str>,
    /// Both and the reason, in words.
    pub text: Cow<'a, str>,
}

impl<'a> OurJobDocument<'a> {
    fn of(job: &'a OurJob, counted: &'a JobReport, bins: Bins) -> OurJobDocument<'a> {
        let latency = |latency: &LatencyReport| LatencyDocument::of(latency, bins);
        let response = ByDir::from_fn(|dir| job.response[dir].as_ref().map(latency));
        let latency_bins = LatencyBins::of(job, counted);
        OurJobDocument {
            jobname: job.name.as_str().into(),
            summary: job.what.as_str().into(),
            phases: job.phases.as_slice().into(),
            response_ns: (response != ByDir::default()).then_some(response),
            lateness_ns: job.lateness.as_ref().map(latency),
            latency_bins: (latency_bins != LatencyBins::default()).then_some(latency_bins),
            verify: job.verify.as_ref().map(Cow::Borrowed),
            failure: counted.failure.as_ref().map(|failure| FailureDocument {
                doing: failure.doing.as_str().into(),
                place: failure.place.as_str().into(),
                text: failure.words().into(),
            }),
        }
    }
}

/// Pairs of the middle of a bin in nanoseconds and the count.
pub type BinPairs = Vec<(u64, u64)>;

/// The bins of a job's latencies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyBins {
    /// Those of the latency of each direction.
    #[serde(flatten)]
    pub service: ByDir<BinPairs>,
    /// Of reads, from the moment they were due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_response: BinPairs,
    /// Of writes, from the moment they were due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_response: BinPairs,
    /// Of trims, from the moment they were due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trim_response: BinPairs,
    /// Of syncs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sync: BinPairs,
}

impl LatencyBins {
    fn of(job: &OurJob, counted: &JobReport) -> LatencyBins {
        let some =
            |latency: &LatencyReport| (!latency.bins.is_empty()).then(|| latency.bins.clone());
        let response = |dir: Dir| job.response[dir].as_ref().and_then(some).unwrap_or_default();
        LatencyBins {
            service: ByDir::from_fn(|dir| some(counted.dirs[dir].shown_latency())),
            read_response: response(Dir::Read),
            write_response: response(Dir::Write),
            trim_response: response(Dir::Trim),
            sync: counted.sync.lat.bins.clone(),
        }
    }
}

/// The schema of the object, as it is written.
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<OurDocument>()
}
