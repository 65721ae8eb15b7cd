//! What is ours in a document: the `iosonde` object. docs/json.md describes it.

use super::latency_json::{Bins, latency_value};
use super::{hosts_json, ledger_json, series_json};
use crate::fingerprint::Fingerprint;
use crate::ledger::Ledger;
use crate::report::*;
use crate::settings::RunSettings;
use serde_json::{Map, Value, json};

/// The version of the object: a key that is renamed or means another thing
/// raises it, a new key does not.
pub const SCHEMA: u64 = 1;

/// The object.
pub(super) fn value(report: &Report, bins: Bins) -> Value {
    let jobs = report.ours.jobs.iter().zip(&report.jobs);
    let mut ours = json!({
        "schema": SCHEMA,
        "version": report.tool,
        "diagnostics": report.diagnostics,
        "notes": report.ours.notes,
    });
    let ledger = report.ours.ledger.as_deref();
    if let Some(conclusion) = ledger.and_then(|ledger| ledger.conclusion.as_ref()) {
        ours["conclusion"] =
            json!({"limited_by": conclusion.limit.word(), "text": conclusion.text});
    }
    if let Some(settings) = &report.ours.settings {
        ours["settings"] = settings_value(settings);
    }
    ours["jobs"] = jobs.map(|(ours, job)| job_value(ours, job, bins)).collect();
    if let Some(ledger) = ledger {
        add_run(ledger, &mut ours);
    }
    if let Some(host) = &report.ours.host {
        ours["host"] = hosts_json::stamp(host);
    }
    if let Some(hosts) = &report.ours.hosts {
        hosts_json::add(hosts, &mut ours);
    }
    ours
}

/// What is known of a run that was looked at.
fn add_run(ledger: &Ledger, ours: &mut Value) {
    ours["fingerprint"] = fingerprint(&ledger.fingerprint);
    ours["changes"] = ledger.changes.iter().map(series_json::change).collect();
    ours["ledger"] = ledger_json::value(ledger);
    ours["series"] = series_json::value(&ledger.series);
}

fn fingerprint(fingerprint: &Fingerprint) -> Value {
    let part = |(name, text): (&str, &str)| {
        (name.to_owned(), json!({"hash": Fingerprint::hash(text), "text": text}))
    };
    Value::Object(fingerprint.parts().map(part).into_iter().collect())
}

fn settings_value(settings: &RunSettings) -> Value {
    let option = |option: &crate::settings::SetOption| json!({"name": option.name, "value": option.value, "origin": option.origin});
    let job = |job: &crate::settings::JobSettings| {
        json!({
            "jobname": job.name,
            "seed": job.seed,
            "options": job.options.iter().map(option).collect::<Value>(),
        })
    };
    json!({"argv": settings.argv, "jobs": settings.jobs.iter().map(job).collect::<Value>()})
}

fn job_value(job: &OurJob, counted: &JobReport, bins: Bins) -> Value {
    let mut value = Map::new();
    value.insert("jobname".into(), job.name.as_str().into());
    value.insert("summary".into(), job.what.as_str().into());
    let phase = |phase: &JobPhase| json!({"name": phase.name, "ns": phase.duration_ns});
    value.insert("phases".into(), job.phases.iter().map(phase).collect());
    let named = ["read", "write", "trim"].into_iter().zip(&job.response.0);
    let response: Map<String, Value> = named
        .filter_map(|(name, latency)| Some((name.into(), latency_value(latency.as_ref()?, bins))))
        .collect();
    if !response.is_empty() {
        value.insert("response_ns".into(), response.into());
    }
    if let Some(lateness) = &job.lateness {
        value.insert("lateness_ns".into(), latency_value(lateness, bins));
    }
    let latency_bins = latency_bins(job, counted);
    if !latency_bins.is_empty() {
        value.insert("latency_bins".into(), latency_bins.into());
    }
    if let Some(verify) = &job.verify {
        value.insert("verify".into(), verify_value(verify));
    }
    Value::Object(value)
}

/// The bins of the latencies that are reported: pairs of the middle in
/// nanoseconds and the count.
fn latency_bins(job: &OurJob, counted: &JobReport) -> Map<String, Value> {
    let names = ["read", "write", "trim"];
    let service = names.into_iter().zip(&counted.dirs.0);
    let service = service.map(|(name, dir)| (name.to_owned(), dir.shown_latency()));
    let response = names.into_iter().zip(&job.response.0);
    let response = response
        .filter_map(|(name, latency)| Some((format!("{name}_response"), latency.as_ref()?)));
    let sync = [("sync".to_owned(), &counted.sync.lat)];
    let all = service.chain(response).chain(sync);
    let some = all.filter(|(_, latency)| !latency.bins.is_empty());
    let pairs = |latency: &LatencyReport| {
        latency.bins.iter().map(|(ns, count)| json!([ns, count])).collect::<Value>()
    };
    some.map(|(name, latency)| (name, pairs(latency))).collect()
}

fn verify_value(verify: &VerifyReport) -> Value {
    let mut value = json!({
        "written": verify.written,
        "checked": verify.checked,
        "wrong": verify.wrong,
        "unreadable": verify.unreadable,
        "replaced": verify.replaced,
        "failed_writes": verify.failed,
        "trimmed": verify.trimmed,
        "unsynced": verify.unsynced,
        "unchecked": verify.unchecked,
        "wrong_kinds": wrong_kinds(&verify.wrong_blocks),
        "first_wrong": verify.wrong_blocks.first.as_ref().map(wrong_place),
        "last_wrong": verify.wrong_blocks.last.as_ref().map(wrong_place),
    });
    if let Some(reason) = &verify.unchecked_reason {
        value["unchecked_reason"] = reason.as_str().into();
    }
    value
}

/// How many blocks were wrong in which way.
fn wrong_kinds(wrong: &WrongBlocks) -> Value {
    let kinds = wrong.kinds.iter().map(|(kind, number)| (kind.clone(), (*number).into()));
    Value::Object(kinds.collect())
}

fn wrong_place(place: &WrongPlace) -> Value {
    json!({
        "file": place.file,
        "offset": place.offset,
        "bytes": place.bytes,
        "kind": place.kind,
        "text": place.words,
    })
}
