//! Several hosts as the JSON of fio's client: `client_stats` instead of `jobs`, whose entries
//! end with `hostname` and `port`, and `All clients`, their sum.

use super::disk_json::add_disk;
use super::job_json::{job_value, option_texts};
use super::latency_json::Bins;
use crate::hosts::{ClientJobs, HostJobs};
use crate::report::JobReport;
use serde_json::{Map, Value};

/// Keys of a job that fio leaves out of the sum.
const NOT_OF_THE_SUM: [&str; 6] = [
    "latency_depth",
    "latency_target",
    "latency_target_ns",
    "latency_percentile",
    "latency_window",
    "latency_window_us",
];

/// The document that begins with `top`.
pub(super) fn finish(mut top: Map<String, Value>, clients: &ClientJobs, bins: Bins) -> Value {
    top.shift_remove("timestamp_ms");
    top.shift_remove("global options");
    // fio's client has the key also where there are none.
    let options = |host: &HostJobs| match &host.global_options {
        Some(options) => option_texts(options),
        None => Value::Object(Map::new()),
    };
    let globals = match clients.hosts.as_slice() {
        [only] => options(only),
        several => several.iter().map(|host| with_host_first(options(host), host)).collect(),
    };
    top.insert("global options".into(), globals);
    let mut stats: Vec<Value> = Vec::new();
    for host in &clients.hosts {
        stats.extend(host.jobs.iter().map(|job| of_host(client_job(job, bins), host)));
    }
    if stats.len() > 1 {
        let mut sum = client_job(&clients.sum, bins);
        if let Some(members) = sum.as_object_mut() {
            NOT_OF_THE_SUM.iter().for_each(|key| drop(members.shift_remove(*key)));
        }
        // fio has the last client's name there.
        stats.extend(clients.hosts.last().map(|last| of_host(sum, last)));
    }
    top.insert("client_stats".into(), stats.into());
    let mut disks = Vec::new();
    for host in &clients.hosts {
        let mut own = Vec::new();
        host.disks.iter().for_each(|disk| add_disk(disk, &mut own));
        disks.extend(own.into_iter().map(|disk| of_host(disk, host)));
    }
    if !disks.is_empty() {
        top.insert("disk_util".into(), disks.into());
    }
    Value::Object(top)
}

/// A job as fio's client has it: without the times of its run.
fn client_job(job: &JobReport, bins: Bins) -> Value {
    let mut value = job_value(job, bins);
    if let Some(members) = value.as_object_mut() {
        ["eta", "elapsed"].iter().for_each(|key| drop(members.shift_remove(*key)));
    }
    value
}

/// The object with its host at the end.
fn of_host(mut value: Value, host: &HostJobs) -> Value {
    value["hostname"] = host.host.as_str().into();
    value["port"] = host.port.into();
    value
}

/// The object with its host at the beginning, as fio has it for options.
fn with_host_first(value: Value, host: &HostJobs) -> Value {
    let mut first = of_host(Value::Object(Map::new()), host);
    if let (Value::Object(first), Value::Object(rest)) = (&mut first, value) {
        first.extend(rest);
    }
    first
}
