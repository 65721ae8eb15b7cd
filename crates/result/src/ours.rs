//! The `iosonde` object of a document: what fio does not write.

use crate::fio::FioEra;
use crate::job::{direction, section_name};
use crate::member::{count, list, text, texts, whole};
use crate::{ReadError, ResultSource, SCHEMA, latency, ledger};
use iosonde_base::PerDir;
use iosonde_report::{JobPhase, LatencyReport, OurJob, Report, VerifyReport};
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
    if ours["ledger"].is_object() {
        report.ours.ledger = Some(Box::new(ledger::read(&ours["ledger"])));
    }
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
        phases: phases(job),
        response,
        lateness: lateness.is_object().then(|| in_ns(lateness, notes)),
        what: text(job, "summary"),
        verify: job["verify"].is_object().then(|| verify(&job["verify"])),
    }
}

/// A latency whose object stands by itself.
fn in_ns(value: &Value, notes: &mut Vec<String>) -> LatencyReport {
    let named = serde_json::json!({"lat_ns": value});
    latency::report(&named, "lat", 0, FioEra::Three, notes)
}

/// Phases of a job, or of the run.
pub(crate) fn phases(of: &Value) -> Vec<JobPhase> {
    let phase =
        |phase: &Value| JobPhase { name: text(phase, "name"), duration_ns: count(phase, "ns") };
    list(of, "phases").iter().map(phase).collect()
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
    }
}
