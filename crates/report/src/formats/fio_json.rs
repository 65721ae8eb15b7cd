//! fio's JSON: the document. Its keys, types, order, units and spacing.
//!
//! What is ours stands under one key at the top level, `iosonde`; inside
//! `jobs` there is nothing that fio does not write, because programs store
//! whatever they find there.

use super::disk_json::add_disk;
use super::job_json::{job_value, option_texts};
use super::latency_json::Bins;
use super::{client_json, json_text};
use crate::document::OurDocument;
use crate::report::*;
use crate::scale::date;
use serde_json::{Map, Value, json};

/// What to put into a document beside fio's own keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// Add `iosonde`: diagnostics, notes, phases, response latencies.
    pub ours: bool,
}

/// The report as fio's `--output-format=json`.
pub fn fio_json(report: &Report, options: &JsonOptions) -> String {
    json_text::document(&document(report, options, Bins::Omitted))
}

/// The document as a value.
pub(super) fn document(report: &Report, options: &JsonOptions, bins: Bins) -> Value {
    let mut top = Map::new();
    top.insert("fio version".into(), report.version.as_str().into());
    top.insert("timestamp".into(), (report.time_unix_ms / 1000).into());
    top.insert("timestamp_ms".into(), report.time_unix_ms.into());
    top.insert("time".into(), date(report.time_unix_ms, report.utc_offset_s).into());
    if let Some(globals) = &report.global_options {
        top.insert("global options".into(), option_texts(globals));
    }
    if let Some(clients) = report.ours.hosts.as_ref().and_then(|hosts| hosts.clients.as_ref()) {
        return client_json::finish(top, clients, bins);
    }
    let jobs: Vec<Value> = report.jobs.iter().map(|job| job_value(job, bins)).collect();
    top.insert("jobs".into(), jobs.into());
    if !report.disks.is_empty() {
        let mut disks = Vec::new();
        report.disks.iter().for_each(|disk| add_disk(disk, &mut disks));
        top.insert("disk_util".into(), disks.into());
    }
    if let Some(idle) = &report.cpu_idle {
        top.insert("cpu_idleness".into(), idle_value(idle));
    }
    if options.ours {
        top.insert("iosonde".into(), json!(OurDocument::of(report, bins)));
    }
    Value::Object(top)
}

fn idle_value(idle: &CpuIdle) -> Value {
    let mut value = Map::new();
    value.insert("system".into(), idle.system_percent.into());
    for (cpu, percent) in idle.per_cpu_percent.iter().enumerate() {
        value.insert(format!("cpu-{cpu}"), (*percent).into());
    }
    value.insert("unit_mean".into(), idle.unit_mean_us.into());
    value.insert("unit_stddev".into(), idle.unit_stddev_us.into());
    Value::Object(value)
}
