//! `iosonde.host` of one host's result, and the hosts of a merged one, read back.

use crate::ledger::{reads, writes};
use crate::member::{count, flag, list, number, some_text, text, texts, whole};
use iosonde_base::{DIRS, PerDir};
use iosonde_report::finding::Severity;
use iosonde_report::hosts::*;
use serde_json::Value;

/// Where and when a result was measured, if it says so.
pub(crate) fn stamp(ours: &Value) -> Option<Box<HostStamp>> {
    let value = &ours["host"];
    let span = |span: &Value| GroupSpan {
        group: count(span, "group") as u32,
        began_unix_ns: count(span, "began_unix_ns"),
        first_done_unix_ns: count(span, "first_done_unix_ns"),
        ended_unix_ns: count(span, "ended_unix_ns"),
    };
    value.is_object().then(|| {
        Box::new(HostStamp {
            name: text(value, "name"),
            rank: count(value, "rank") as u32,
            ranks: count(value, "ranks") as u32,
            start: text(value, "start"),
            groups: list(value, "groups").iter().map(span).collect(),
            clock: clock(value),
            job: text(value, "job"),
            ended_early: some_text(value, "ended_early"),
        })
    })
}

fn clock(of: &Value) -> Option<ClockOffset> {
    let clock = &of["clock"];
    let offset_ns = clock["offset_ns"].as_i64()?;
    Some(ClockOffset { offset_ns, error_ns: count(clock, "error_ns") })
}

/// The hosts of a merged result, if it is one.
pub(crate) fn merged(ours: &Value) -> Option<Box<HostsReport>> {
    let hosts = list(ours, "hosts");
    (!hosts.is_empty()).then(|| {
        Box::new(HostsReport {
            hosts: hosts.iter().map(host).collect(),
            groups: list(ours, "overlap").iter().map(together).collect(),
            findings: list(ours, "hosts_findings").iter().map(finding).collect(),
            clients: None,
        })
    })
}

fn host(value: &Value) -> HostRow {
    HostRow {
        name: text(value, "name"),
        rank: whole(&value["rank"]).map(|rank| rank as u32),
        groups: list(value, "groups").iter().map(group).collect(),
        clock: clock(value),
        failure: some_text(value, "failure"),
        reads: reads(&value["reads"]),
        writes: writes(&value["writes"]),
    }
}

fn group(value: &Value) -> HostGroup {
    HostGroup {
        group: count(value, "group") as u32,
        began_ns: count(value, "began_ns"),
        first_done_ns: count(value, "first_done_ns"),
        ended_ns: count(value, "ended_ns"),
        dirs: PerDir(DIRS.map(|dir| rates(&value[dir.name()]))),
    }
}

fn rates(dir: &Value) -> DirRates {
    DirRates {
        bytes: count(dir, "bytes"),
        ios: count(dir, "ios"),
        bytes_per_s: number(dir, "bytes_per_s"),
        iops: number(dir, "iops"),
        p50_ns: whole(&dir["p50_ns"]),
        p99_ns: whole(&dir["p99_ns"]),
        max_ns: count(dir, "max_ns"),
    }
}

fn together(value: &Value) -> GroupTogether {
    let slowest = &value["slowest"];
    GroupTogether {
        group: count(value, "group") as u32,
        common_ns: count(value, "common_ns"),
        overlap: number(value, "share"),
        start_skew_ns: count(value, "start_skew_ns"),
        end_skew_ns: count(value, "end_skew_ns"),
        clock_error_ns: whole(&value["clock_error_ns"]),
        total: match value["refused"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(PerDir(DIRS.map(|dir| total_dir(&value["total"][dir.name()])))),
        },
        from_series: flag(value, "from_series"),
        slowest: slowest.is_object().then(|| SlowestHost {
            name: text(slowest, "name"),
            of_median: number(slowest, "of_median"),
        }),
    }
}

fn total_dir(dir: &Value) -> TotalDir {
    TotalDir { sum: rates(dir), p999_ns: whole(&dir["p999_ns"]) }
}

fn finding(value: &Value) -> SharedFinding {
    let word = text(value, "severity");
    let all = [Severity::Note, Severity::Warning, Severity::Wrong];
    SharedFinding {
        id: text(value, "id"),
        severity: all.into_iter().find(|one| one.word() == word).unwrap_or(Severity::Note),
        statement: text(value, "statement"),
        hosts: texts(value, "hosts"),
    }
}
