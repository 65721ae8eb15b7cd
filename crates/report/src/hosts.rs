//! Several hosts: where and when one of them measured, and what all of them did
//! while they ran together. Plain data.

use crate::by_dir::{self, ByDir};
use crate::finding::Severity;
use crate::ledger::{Fact, Reads, Writes};
use crate::{DiskReport, JobReport, OptionTexts};
use iosonde_base::PerDir;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where and when a result was measured that is one of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostStamp {
    /// The host's name.
    pub name: String,
    /// Its place among the hosts, from 0.
    pub rank: u32,
    /// How many hosts there are.
    pub ranks: u32,
    /// The machine: the identity of its running kernel. Ranks with the same share devices, and a
    /// clock.
    pub machine: String,
    /// What started the jobs of all hosts together: `mpi`, `time`, or `alone`.
    pub start: String,
    /// When the jobs of each reporting group ran, by the host's clock of the day.
    pub groups: Vec<GroupSpan>,
    /// How far that clock is from the one of rank 0, where it was measured.
    pub clock: Option<ClockOffset>,
    /// The job as all hosts have it: the fingerprint's text.
    pub job: String,
    /// Why the host ended before its jobs did, if it did.
    pub ended_early: Option<String>,
}

/// When the jobs of a reporting group ran on a host, in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupSpan {
    /// The group.
    pub group: u32,
    /// When the first of its jobs began to count.
    pub began_unix_ns: u64,
    /// When the first of its jobs ended.
    pub first_done_unix_ns: u64,
    /// When the last of its jobs ended.
    pub ended_unix_ns: u64,
}

/// How far a clock is from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockOffset {
    /// This clock less the other.
    pub offset_ns: i64,
    /// The offset is right within this.
    pub error_ns: u64,
}

/// Results of several hosts, merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostsReport {
    /// Each host, by rank.
    pub hosts: Vec<HostRow>,
    /// All hosts together, by reporting group.
    pub groups: Vec<GroupTogether>,
    /// Findings of the hosts, each once, the most severe first.
    pub findings: Vec<SharedFinding>,
    /// The jobs of each host, where they are to be printed: as fio's client does.
    pub clients: Option<ClientJobs>,
}

/// Jobs of hosts as fio's client prints them: each by itself, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientJobs {
    /// Each host, as the rows of the report.
    pub hosts: Vec<HostJobs>,
    /// All jobs of all hosts as one.
    pub sum: JobReport,
}

/// The jobs of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostJobs {
    /// The host's name.
    pub host: String,
    /// The port of its server; 0 where MPI or a file carried the result.
    pub port: u16,
    /// Options before the first job, if there were any.
    pub global_options: Option<OptionTexts>,
    /// Each job.
    pub jobs: Vec<JobReport>,
    /// Its disks under the files.
    pub disks: Vec<DiskReport>,
}

/// One host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostRow {
    /// Its name.
    pub name: String,
    /// Its rank, where the result has one.
    pub rank: Option<u32>,
    /// Why it failed or ended early, if it did.
    pub failure: Option<String>,
    /// How far its clock is from that of rank 0, where that was measured.
    pub clock: Option<ClockOffset>,
    /// What it measured, by reporting group.
    pub groups: Vec<HostGroup>,
    /// Where its reads came from, where that was looked for.
    pub reads: Option<Reads>,
    /// Where its writes went, where that was looked for.
    pub writes: Option<Writes>,
}

/// What the jobs of a reporting group did on one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostGroup {
    /// The group.
    pub group: u32,
    /// When its first job began, since the first job of any host.
    pub began_ns: u64,
    /// When its first job ended, since then.
    pub first_done_ns: u64,
    /// When its last job ended, since then.
    pub ended_ns: u64,
    /// Each direction.
    #[serde(flatten, with = "by_dir")]
    #[cfg_attr(feature = "schema", schemars(with = "ByDir<DirRates>"))]
    pub dirs: PerDir<DirRates>,
}

/// What was done in one direction: by a group on one host, or by all hosts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirRates {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes per second of that time.
    pub bytes_per_s: f64,
    /// I/Os per second of that time.
    pub iops: f64,
    /// The median latency, where bins are known.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, where bins are known.
    pub p99_ns: Option<u64>,
    /// The largest latency.
    pub max_ns: u64,
}

/// A reporting group on all hosts together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupTogether {
    /// The group.
    pub group: u32,
    /// Time in which all hosts ran.
    #[serde(default)]
    pub common_ns: u64,
    /// That as a share of the longest run of a host; below 0.5 there is no total.
    #[serde(rename = "share", default)]
    pub overlap: f64,
    /// From the first to the last host's start.
    #[serde(default)]
    pub start_skew_ns: u64,
    /// From the first to the last host's end.
    #[serde(default)]
    pub end_skew_ns: u64,
    /// The largest error of a clock's offset; `null` where clocks were not compared.
    pub clock_error_ns: Option<u64>,
    /// Bytes of the common time were taken from the runs over time, not from mean rates.
    #[serde(default)]
    pub from_series: bool,
    /// The host with the lowest rate, and that rate as a share of the median host's.
    pub slowest: Option<SlowestHost>,
    /// All work of all hosts, over the time from the first start to the last end: the total of
    /// jobs with a fixed amount of work.
    #[serde(default)]
    pub whole: WholeWork,
    /// The sums in the common time, or why there are none.
    #[serde(flatten, with = "total")]
    #[cfg_attr(feature = "schema", schemars(with = "total::Form"))]
    pub total: Result<PerDir<TotalDir>, String>,
}

/// All that hosts did, in the time from the first start to the last end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WholeWork {
    /// From the first host's start to the last host's end.
    pub ns: u64,
    /// Each direction.
    #[serde(flatten, with = "by_dir")]
    #[cfg_attr(feature = "schema", schemars(with = "ByDir<DirRates>"))]
    pub dirs: PerDir<DirRates>,
}

/// The host that was slowest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowestHost {
    /// Its name.
    pub name: String,
    /// Its rate as a share of the median host's.
    pub of_median: f64,
}

/// One direction of all hosts in the common time. Its latencies are of the hosts' whole runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TotalDir {
    /// What all hosts did together.
    #[serde(flatten)]
    pub sum: DirRates,
    /// The 99.9th percentile, where bins are known.
    pub p999_ns: Option<u64>,
}

/// A finding that one or more hosts have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedFinding {
    /// The rule's id.
    pub id: String,
    /// How bad: `note`, `warning` or `wrong`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub severity: Severity,
    /// The first host's statement.
    #[serde(default)]
    pub statement: String,
    /// Which hosts have it.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// Bytes of all hosts, by where they came from and went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostsBytes {
    /// Bytes read.
    pub read: u64,
    /// Of those, from the device.
    pub read_device: Fact<u64>,
    /// Of those, from the page cache.
    pub read_cache: Fact<u64>,
    /// Bytes written.
    pub written: u64,
    /// Of those, still dirty in the page cache at the end.
    pub dirty_at_end: Fact<u64>,
}

/// A total or why there is none, as documents have it.
mod total {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Form {
        /// The sums in the common time; missing if refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<ByDir<TotalDir>>,
        /// Why there is no total.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    }

    pub fn serialize<S: Serializer>(
        total: &Result<PerDir<TotalDir>, String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let form = match total {
            Ok(total) => Form { total: Some(ByDir::of(total)), refused: None },
            Err(why) => Form { total: None, refused: Some(why.clone()) },
        };
        form.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Result<PerDir<TotalDir>, String>, D::Error> {
        let Form { total, refused } = Form::deserialize(deserializer)?;
        Ok(refused.map_or_else(|| Ok(total.map(ByDir::all).unwrap_or_default()), Err))
    }
}

impl HostRow {
    /// What it did in a group.
    pub fn of_group(&self, group: u32) -> Option<&HostGroup> {
        self.groups.iter().find(|own| own.group == group)
    }
}

/// Above this share of the whole time, work in the common time is the whole work.
const NEARLY_ALL: f64 = 0.99;

impl GroupTogether {
    /// Whether the whole work is a figure of its own: hosts were not all at work all the time.
    pub fn shows_whole(&self) -> bool {
        (self.common_ns as f64) < NEARLY_ALL * self.whole.ns as f64
    }
}

impl HostsReport {
    /// Bytes of all hosts; what one host does not know is unknown of all. `None`
    /// where no host looked.
    pub fn bytes(&self) -> Option<HostsBytes> {
        let reads: Vec<&Reads> = self.hosts.iter().filter_map(|host| host.reads.as_ref()).collect();
        let writes: Vec<&Writes> =
            self.hosts.iter().filter_map(|host| host.writes.as_ref()).collect();
        if reads.is_empty() && writes.is_empty() {
            return None;
        }
        Some(HostsBytes {
            read: reads.iter().map(|reads| reads.completed_bytes).sum(),
            read_device: sum(reads.iter().map(|reads| &reads.device_bytes)),
            read_cache: sum(reads.iter().map(|reads| &reads.cache_bytes)),
            written: writes.iter().map(|writes| writes.completed_bytes).sum(),
            dirty_at_end: sum(writes.iter().map(|writes| &writes.dirty_at_end_bytes)),
        })
    }

    /// When the first job of a group began on any host, since the first job of any group.
    pub fn began_ns(&self, group: u32) -> u64 {
        let groups = self.hosts.iter().flat_map(|host| &host.groups);
        let began = groups.filter(|own| own.group == group).map(|own| own.began_ns);
        began.min().unwrap_or(0)
    }

    /// Whether a group has no total.
    pub fn is_refused(&self) -> bool {
        self.groups.iter().any(|group| group.total.is_err())
    }
}

fn sum<'a>(parts: impl Iterator<Item = &'a Fact<u64>>) -> Fact<u64> {
    let mut all = 0;
    for part in parts {
        match part {
            Fact::Known(bytes) => all += bytes,
            Fact::Unknown(why) => return Fact::Unknown(why.clone()),
        }
    }
    Fact::Known(all)
}
