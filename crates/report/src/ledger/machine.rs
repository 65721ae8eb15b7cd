//! The machine: what it did while jobs ran, and what it is.

use super::Fact;
use serde::{Deserialize, Serialize};

/// What the machine did while jobs ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineLedger {
    /// For how long.
    pub wall_ns: u64,
    /// Share of processor time that the hypervisor took.
    pub steal_share: Fact<f64>,
    /// Share of the time that some task waited (PSI).
    pub pressure: PressureShares,
    /// A control group took the processor away.
    pub throttled: Fact<Throttling>,
    /// For how long the process was stopped (SIGSTOP, Ctrl-Z) and continued, at least.
    pub stopped_ns: u64,
}

/// Share of the time that some task waited (PSI).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PressureShares {
    /// For a processor.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "share, 0 to 1")))]
    pub cpu: Fact<f64>,
    /// For memory.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "share, 0 to 1")))]
    pub memory: Fact<f64>,
    /// For storage.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "share, 0 to 1")))]
    pub io: Fact<f64>,
}

/// How a control group took the processor away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throttling {
    /// How often.
    pub periods: u64,
    /// For how long.
    pub ns: u64,
}

/// The system that a run used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The program and its version.
    pub tool: String,
    /// The name of the machine in its network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The kernel's release.
    pub kernel: String,
    /// The processors' model.
    pub cpu_model: Option<String>,
    /// How many processors.
    pub cpus: u32,
    /// The frequency governor.
    pub governor: Option<String>,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Of that available when the run began.
    pub available_memory_bytes: Option<u64>,
    /// The hypervisor.
    pub virtual_machine: Option<String>,
    /// The container's kind.
    pub container: Option<String>,
    /// Limit of processors by control groups.
    pub cgroup_cpus: Option<f64>,
    /// Limit of memory by control groups.
    pub cgroup_memory_bytes: Option<u64>,
    /// Limits of I/O by control groups.
    pub cgroup_io: Vec<String>,
    /// What drops idle pages of files from memory without being asked: DAMON.
    pub pages_out: Option<String>,
    /// File systems that the files are on.
    pub filesystems: Vec<FilesystemFacts>,
    /// A hash of all of this that does not change between runs (not what is
    /// available or free): if it differs, the runs were on different systems.
    pub fingerprint: String,
}

/// A file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesystemFacts {
    /// `ext4`, `xfs` ...
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted.
    pub source: String,
    /// Mount options.
    pub options: String,
    /// Its size.
    pub bytes: u64,
    /// Share that is taken.
    pub fill_share: Fact<f64>,
}
