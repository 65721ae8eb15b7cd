//! Hosts as JSON: `iosonde.host` of one result, `iosonde.hosts` and `iosonde.overlap` of a
//! merged one.

use super::ledger_json::{known, reads, writes};
use crate::hosts::*;
use iosonde_base::{DIRS, PerDir};
use serde_json::{Map, Value, json};

/// The object of one host's result.
pub(super) fn stamp(stamp: &HostStamp) -> Value {
    let group = |span: &GroupSpan| {
        json!({
            "group": span.group,
            "began_unix_ns": span.began_unix_ns,
            "first_done_unix_ns": span.first_done_unix_ns,
            "ended_unix_ns": span.ended_unix_ns,
        })
    };
    json!({
        "name": stamp.name,
        "rank": stamp.rank,
        "ranks": stamp.ranks,
        "start": stamp.start,
        "groups": stamp.groups.iter().map(group).collect::<Value>(),
        "clock": stamp.clock.map(clock),
        "job": stamp.job,
        "ended_early": stamp.ended_early,
    })
}

fn clock(clock: ClockOffset) -> Value {
    json!({"offset_ns": clock.offset_ns, "error_ns": clock.error_ns})
}

/// Add the hosts of a merged result to its object.
pub(super) fn add(hosts: &HostsReport, ours: &mut Value) {
    ours["hosts"] = hosts.hosts.iter().map(host).collect();
    ours["overlap"] = hosts.groups.iter().map(together).collect();
    ours["hosts_findings"] = hosts.findings.iter().map(finding).collect();
    if let Some(bytes) = hosts.bytes() {
        ours["hosts_bytes"] = json!({
            "read": bytes.read,
            "read_device": known(&bytes.read_device),
            "read_cache": known(&bytes.read_cache),
            "written": bytes.written,
            "dirty_at_end": known(&bytes.dirty_at_end),
        });
    }
}

fn host(host: &HostRow) -> Value {
    json!({
        "name": host.name,
        "rank": host.rank,
        "failure": host.failure,
        "clock": host.clock.map(clock),
        "groups": host.groups.iter().map(group).collect::<Value>(),
        "reads": host.reads.as_ref().map(reads),
        "writes": host.writes.as_ref().map(writes),
    })
}

fn group(group: &HostGroup) -> Value {
    let mut value = json!({
        "group": group.group,
        "began_ns": group.began_ns,
        "first_done_ns": group.first_done_ns,
        "ended_ns": group.ended_ns,
    });
    add_dirs(&group.dirs, |dir| dir.ios > 0, rates, &mut value);
    value
}

fn together(group: &GroupTogether) -> Value {
    let mut value = json!({
        "group": group.group,
        "common_ns": group.common_ns,
        "share": group.overlap,
        "start_skew_ns": group.start_skew_ns,
        "end_skew_ns": group.end_skew_ns,
        "clock_error_ns": group.clock_error_ns,
        "from_series": group.from_series,
        "slowest": group.slowest.as_ref()
            .map(|slowest| json!({"name": slowest.name, "of_median": slowest.of_median})),
    });
    let one = |dir: &TotalDir| {
        let mut value = rates(&dir.sum);
        value["p999_ns"] = dir.p999_ns.into();
        value
    };
    match &group.total {
        Ok(total) => {
            let mut dirs = Value::Object(Map::new());
            add_dirs(total, |dir| dir.sum.ios > 0 || dir.sum.max_ns > 0, one, &mut dirs);
            value["total"] = dirs;
        }
        Err(why) => value["refused"] = why.as_str().into(),
    }
    value
}

fn rates(dir: &DirRates) -> Value {
    json!({
        "bytes": dir.bytes,
        "ios": dir.ios,
        "bytes_per_s": dir.bytes_per_s,
        "iops": dir.iops,
        "p50_ns": dir.p50_ns,
        "p99_ns": dir.p99_ns,
        "max_ns": dir.max_ns,
    })
}

fn finding(finding: &SharedFinding) -> Value {
    json!({
        "id": finding.id,
        "severity": finding.severity.word(),
        "statement": finding.statement,
        "hosts": finding.hosts,
    })
}

/// The directions that did something, by name.
fn add_dirs<T>(
    dirs: &PerDir<T>,
    is_shown: impl Fn(&T) -> bool,
    value: impl Fn(&T) -> Value,
    to: &mut Value,
) {
    for dir in DIRS {
        if is_shown(&dirs[dir]) {
            to[dir.name()] = value(&dirs[dir]);
        }
    }
}
