//! The `iosonde` object of a document: what fio does not write.

use crate::era::FioEra;
use crate::job::{direction, section_name};
use crate::member::{count, list, text, texts, whole};
use crate::{ReadError, ResultSource, SCHEMA, hosts, latency, ledger, series};
use iosonde_base::{DIRS, PerDir};
use iosonde_report::{
    JobReport, JobSettings, LatencyReport, OurJob, Report, RunSettings, SetOption, VerifyReport,
    WrongBlocks, WrongPlace,
};
use serde_json::Value;

/// Add it to a report; what wrote it.
pub(crate) fn add(
    ours: &Value,
    report: &mut Report,
    notes: &mut Vec<String>,
) -> Result<ResultSource, ReadError> {
    let version = ours["version"].as_str().ok_or_else(|| {
        ReadError::missing("iosonde.version", "the program that wrote the result")
    })?;
    let schema = whole(&ours["schema"]).unwrap_or(0);
    if schema > SCHEMA {
        return Err(ReadError::new(format!(
            "it has schema {schema} of {version}; this program reads schemas up to {SCHEMA}"
        )));
    }
    report.tool = version.to_owned();
    report.diagnostics = texts(ours, "diagnostics");
    report.ours.notes = texts(ours, "notes");
    let jobs = list(ours, "jobs");
    if jobs.len() != report.jobs.len() {
        return Err(ReadError::missing(
            &format!("iosonde.jobs[{}]", jobs.len()),
            "one for each entry of jobs",
        ));
    }
    report.ours.jobs = jobs.iter().map(|entry| job(entry, notes)).collect();
    for (job, entry) in report.jobs.iter_mut().zip(jobs) {
        add_bins(job, entry);
    }
    for (job, entry) in report.ours.jobs.iter_mut().zip(jobs) {
        add_response_bins(job, entry);
    }
    report.ours.settings = ours["settings"].is_object().then(|| settings(&ours["settings"]));
    if ours["ledger"].is_object() {
        let ledger = ledger::read(&ours["ledger"]);
        report.ours.ledger = Some(Box::new(series::with_run(ledger, ours)));
    }
    report.ours.host = hosts::stamp(ours);
    report.ours.hosts = hosts::merged(ours);
    Ok(ResultSource::Iosonde { version: version.to_owned(), schema })
}

fn job(job: &Value, notes: &mut Vec<String>) -> OurJob {
    let mut response: PerDir<Option<LatencyReport>> = PerDir::default();
    for name in job["response_ns"].as_object().into_iter().flat_map(|all| all.keys()) {
        if let Some(dir) = direction(name) {
            // Its members have no `_ns`: that is in the name of the whole.
            response[dir] = Some(in_ns(&job["response_ns"][name.as_str()], notes));
        }
    }
    let lateness = &job["lateness_ns"];
    OurJob {
        name: section_name(job),
        phases: ledger::phases(job),
        response,
        lateness: lateness.is_object().then(|| in_ns(lateness, notes)),
        what: text(job, "summary"),
        verify: job["verify"].is_object().then(|| verify(&job["verify"])),
    }
}

/// The bins of the latencies that are reported, where the latencies themselves
/// have none: outside of json+.
fn add_bins(job: &mut JobReport, entry: &Value) {
    let bins = &entry["latency_bins"];
    for dir in DIRS {
        let report = &mut job.dirs[dir];
        let shows_lat = report.clat.n == 0 || report.lat.quick.is_some();
        let latency = if shows_lat { &mut report.lat } else { &mut report.clat };
        latency::add_bins(latency, &bins[dir.name()]);
    }
    latency::add_bins(&mut job.sync.lat, &bins["sync"]);
}

fn add_response_bins(job: &mut OurJob, entry: &Value) {
    for dir in DIRS {
        if let Some(latency) = &mut job.response[dir] {
            let name = format!("{}_response", dir.name());
            latency::add_bins(latency, &entry["latency_bins"][name]);
        }
    }
}

fn settings(value: &Value) -> RunSettings {
    let option = |option: &Value| SetOption {
        name: text(option, "name"),
        value: text(option, "value"),
        origin: text(option, "origin"),
    };
    let job = |job: &Value| JobSettings {
        name: section_name(job),
        seed: count(job, "seed"),
        options: list(job, "options").iter().map(option).collect(),
    };
    RunSettings { argv: texts(value, "argv"), jobs: list(value, "jobs").iter().map(job).collect() }
}

/// A latency with an object of its direction.
fn in_ns(value: &Value, notes: &mut Vec<String>) -> LatencyReport {
    let named = serde_json::json!({"lat_ns": value});
    latency::report(&named, "lat", 0, FioEra::Three, notes)
}

fn verify(verify: &Value) -> VerifyReport {
    VerifyReport {
        written: count(verify, "written"),
        checked: count(verify, "checked"),
        wrong: count(verify, "wrong"),
        unreadable: count(verify, "unreadable"),
        replaced: count(verify, "replaced"),
        failed: count(verify, "failed_writes"),
        trimmed: count(verify, "trimmed"),
        unsynced: count(verify, "unsynced"),
        unchecked: count(verify, "unchecked"),
        unchecked_reason: verify["unchecked_reason"].as_str().map(str::to_owned),
        wrong_blocks: wrong_blocks(verify),
    }
}

fn wrong_blocks(verify: &Value) -> WrongBlocks {
    let place = |key: &str| {
        let place = &verify[key];
        place.is_object().then(|| WrongPlace {
            file: text(place, "file"),
            offset: count(place, "offset"),
            bytes: count(place, "bytes"),
            kind: text(place, "kind"),
            words: text(place, "text"),
        })
    };
    let kinds = verify["wrong_kinds"].as_object().into_iter().flatten();
    WrongBlocks {
        first: place("first_wrong"),
        last: place("last_wrong"),
        kinds: kinds.map(|(kind, number)| (kind.clone(), number.as_u64().unwrap_or(0))).collect(),
    }
}
