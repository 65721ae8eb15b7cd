//! The top of a document: version, moment, options, jobs, disks.

use crate::ReadError;
use crate::era::FioEra;
use crate::job;
use crate::member::{count, list, number, option_texts, text, whole};
use iosonde_report::{DiskCounts, DiskReport, OptionTexts, Report, groups_of};
use serde_json::Value;

/// What fio's keys say, and fio's version.
pub(crate) fn report(
    document: &Value,
    notes: &mut Vec<String>,
) -> Result<(Report, String), ReadError> {
    let version = document["fio version"].as_str().ok_or_else(|| {
        ReadError::missing("\"fio version\"", "every result of fio or iosonde has it")
    })?;
    let era = FioEra::of(version);
    let (jobs, global) = jobs(document, era, notes)?;
    let seconds = || Some(whole(&document["timestamp"])?.saturating_mul(1000));
    let report = Report {
        version: version.to_owned(),
        time_unix_ms: whole(&document["timestamp_ms"]).or_else(seconds).unwrap_or(0),
        global_options: global,
        groups: groups_of(&jobs),
        jobs,
        disks: list(document, "disk_util").iter().map(disk).collect(),
        ..Report::default()
    };
    Ok((report, version.to_owned()))
}

/// The jobs, and the options before the first of them.
fn jobs(
    document: &Value,
    era: FioEra,
    notes: &mut Vec<String>,
) -> Result<(Vec<iosonde_report::JobReport>, Option<OptionTexts>), ReadError> {
    let (key, entries) = match (&document["jobs"], &document["client_stats"]) {
        (Value::Array(jobs), _) => ("jobs", jobs),
        (_, Value::Array(clients)) => ("client_stats", clients),
        _ => return Err(ReadError::missing("\"jobs\"", "a list of jobs, or client_stats")),
    };
    if entries.is_empty() {
        return Err(ReadError::new(format!("it is not a whole result: {key} is empty")));
    }
    let globals = &document["global options"];
    // Of several clients each has its own options.
    let of_client = |host: &Value| {
        let all = globals.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().find(|options| options["hostname"] == *host).unwrap_or(globals)
    };
    let mut jobs = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        // The sum over clients repeats what the others say.
        let is_sum = key == "client_stats" && entry["jobname"] == "All clients";
        if is_sum && entries.len() > 1 {
            continue;
        }
        let place = format!("{key}[{at}]");
        jobs.push(job::report(entry, of_client(&entry["hostname"]), &place, era, notes)?);
    }
    let global = globals.is_object().then(|| option_texts(globals));
    Ok((jobs, global))
}

fn disk(disk: &Value) -> DiskReport {
    let pair = |read: &str, write: &str| [count(disk, read), count(disk, write)];
    // fio before 3.38 counts requests and no sectors, which is not none.
    let known = |read: &str, write: &str| {
        let is_there = disk.get(read).is_some() || disk.get(write).is_some();
        is_there.then(|| pair(read, write))
    };
    let counts = DiskCounts {
        ios: pair("read_ios", "write_ios"),
        sectors: known("read_sectors", "write_sectors"),
        merges: pair("read_merges", "write_merges"),
        ticks_ms: pair("read_ticks", "write_ticks"),
        in_queue_ms: count(disk, "in_queue"),
        util_percent: number(disk, "util"),
    };
    let aggregate = disk.get("aggr_util").map(|_| DiskCounts {
        ios: pair("aggr_read_ios", "aggr_write_ios"),
        sectors: known("aggr_read_sectors", "aggr_write_sectors"),
        merges: pair("aggr_read_merges", "aggr_write_merge"),
        ticks_ms: pair("aggr_read_ticks", "aggr_write_ticks"),
        in_queue_ms: count(disk, "aggr_in_queue"),
        util_percent: number(disk, "aggr_util"),
    });
    DiskReport { name: text(disk, "name"), counts, aggregate, slaves: Vec::new() }
}
