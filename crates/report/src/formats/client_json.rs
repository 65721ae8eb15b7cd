//! Several hosts as the JSON of fio's client: `client_stats` instead of `jobs`, whose entries
//! end with `hostname` and `port`, and `All clients`, their sum.

use super::disk_json::add_disk;
use super::job_json::{job_value, option_texts};
use super::latency_json::Bins;
use crate::hosts::{ClientJobs, HostJobs};
use serde_json::{Map, Value};

/// There is none: MPI or a file carried the result. fio's readers expect a number.
const NO_PORT: u64 = 0;
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
        several => several.iter().map(|host| of_host(options(host), &host.host)).collect(),
    };
    top.insert("global options".into(), globals);
    let mut stats: Vec<Value> = Vec::new();
    for host in &clients.hosts {
        stats.extend(host.jobs.iter().map(|job| of_host(job_value(job, bins), &host.host)));
    }
    if stats.len() > 1 {
        let mut sum = job_value(&clients.sum, bins);
        if let Some(members) = sum.as_object_mut() {
            NOT_OF_THE_SUM.iter().for_each(|key| drop(members.shift_remove(*key)));
        }
        // fio has the last client's name there.
        let last = clients.hosts.last().map_or("", |host| host.host.as_str());
        stats.push(of_host(sum, last));
    }
    top.insert("client_stats".into(), stats.into());
    let mut disks = Vec::new();
    for host in &clients.hosts {
        let mut own = Vec::new();
        host.disks.iter().for_each(|disk| add_disk(disk, &mut own));
        disks.extend(own.into_iter().map(|disk| of_host(disk, &host.host)));
    }
    if !disks.is_empty() {
        top.insert("disk_util".into(), disks.into());
    }
    Value::Object(top)
}

/// The object with its host at the end.
fn of_host(mut value: Value, host: &str) -> Value {
    value["hostname"] = host.into();
    value["port"] = NO_PORT.into();
    value
}
