//! The `iosonde` object of a document: what fio does not write.

use crate::culprit;
use crate::era::FioEra;
use crate::member::{number_of_ios, whole};
use crate::{ReadError, ResultSource, latency};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::document::{BinPairs, LatencyBins, OurDocument, OurJobDocument, SCHEMA};
use iosonde_report::formats::LatencyDocument;
use iosonde_report::hosts::HostsReport;
use iosonde_report::ledger::Ledger;
use iosonde_report::{JobReport, LatencyReport, OurJob, Report};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Add it to a report; what wrote it.
pub(crate) fn add(
    ours: Value,
    report: &mut Report,
    notes: &mut Vec<String>,
) -> Result<ResultSource, ReadError> {
    let version = ours["version"].as_str().ok_or_else(|| {
        ReadError::missing("iosonde.version", "the program that wrote the result")
    })?;
    let version = version.to_owned();
    let schema = whole(&ours["schema"]).unwrap_or(0);
    if schema > SCHEMA {
        return Err(ReadError::new(format!(
            "it has schema {schema} of {version}; this program reads schemas up to {SCHEMA}"
        )));
    }
    let document = document(ours)?;
    if document.jobs.len() != report.jobs.len() {
        return Err(ReadError::missing(
            &format!("iosonde.jobs[{}]", document.jobs.len()),
            "one for each entry of jobs",
        ));
    }
    fill(report, document, notes);
    Ok(ResultSource::Iosonde { version, schema })
}

/// The object by its types. `null` in place of a value is as good as no member, and a whole
/// number may be written as 5.0: other programs do so.
fn document(mut ours: Value) -> Result<OurDocument<'static>, ReadError> {
    simplify(&mut ours);
    OurDocument::deserialize(&ours).map_err(|error| {
        let why = error.to_string();
        let fails = |part: &Value| {
            OurDocument::deserialize(part).is_err_and(|error| error.to_string() == why)
        };
        let path = culprit::path(&ours, fails);
        ReadError::new(format!("iosonde.{path} cannot be read: {why}"))
    })
}

fn simplify(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Number(number) if number.is_f64() => {
            // What fits is a whole number of both types.
            let float = number.as_f64().unwrap_or_default();
            if float >= 0.0 && float as u64 as f64 == float {
                *value = Value::from(float as u64);
            }
        }
        _ => {}
    }
}

fn fill(report: &mut Report, document: OurDocument<'static>, notes: &mut Vec<String>) {
    let OurDocument {
        schema: _,
        version,
        diagnostics,
        notes: remarks,
        conclusion,
        settings,
        jobs,
        fingerprint,
        changes,
        ledger,
        series,
        host,
        hosts,
        overlap,
        hosts_findings,
        hosts_bytes: _,
    } = document;
    report.tool = version.into_owned();
    report.diagnostics = diagnostics.into_owned();
    let ours = &mut report.ours;
    ours.notes = remarks.into_owned();
    ours.jobs = jobs
        .into_iter()
        .zip(&mut report.jobs)
        .map(|(job, counted)| one_job(job, counted, notes))
        .collect();
    ours.conclusion = conclusion.map(Cow::into_owned);
    ours.settings = settings.map(Cow::into_owned);
    ours.ledger = ledger.map(|ledger| {
        let mut ledger = Ledger {
            series: series.map(Cow::into_owned).unwrap_or_default(),
            changes: changes.map(Cow::into_owned).unwrap_or_default(),
            fingerprint: fingerprint.map(Cow::into_owned).unwrap_or_default(),
            ..ledger.into_owned()
        };
        // The document has the percentiles of each direction, not of all.
        for job in &mut ledger.jobs {
            job.latency.ios = number_of_ios(job.cpu.iops, job.runtime_ns);
        }
        Box::new(ledger)
    });
    ours.host = host.map(|host| Box::new(host.into_owned()));
    let hosts = hosts.map(Cow::into_owned).filter(|hosts| !hosts.is_empty());
    ours.hosts = hosts.map(|hosts| {
        Box::new(HostsReport {
            hosts,
            groups: overlap.map(Cow::into_owned).unwrap_or_default(),
            findings: hosts_findings.map(Cow::into_owned).unwrap_or_default(),
            clients: None,
        })
    });
}

/// A job; its bins go to the latencies that have none, which is outside of json+.
fn one_job(
    job: OurJobDocument<'static>,
    counted: &mut JobReport,
    notes: &mut Vec<String>,
) -> OurJob {
    let OurJobDocument {
        jobname,
        summary,
        phases,
        response_ns,
        lateness_ns,
        latency_bins,
        verify,
        failure,
    } = job;
    if let (Some(failed), Some(failure)) = (&mut counted.failure, failure) {
        failed.doing = failure.doing.into_owned();
        failed.place = failure.place.into_owned();
    }
    let mut response: PerDir<Option<LatencyReport>> =
        response_ns.unwrap_or_default().options().map(|one| one.map(|one| in_ns(&one, notes)));
    let LatencyBins { service, read_response, write_response, trim_response, sync } =
        latency_bins.unwrap_or_default();
    let due: [(Dir, BinPairs); 3] =
        [(Dir::Read, read_response), (Dir::Write, write_response), (Dir::Trim, trim_response)];
    for (dir, bins) in due {
        if let Some(latency) = &mut response[dir] {
            latency::add_bins(latency, bins);
        }
    }
    let service = service.options();
    for (dir, bins) in DIRS.into_iter().zip(service.0) {
        let report = &mut counted.dirs[dir];
        let shows_lat = report.clat.n == 0 || report.lat.quick.is_some();
        let latency = if shows_lat { &mut report.lat } else { &mut report.clat };
        latency::add_bins(latency, bins.unwrap_or_default());
    }
    latency::add_bins(&mut counted.sync.lat, sync);
    OurJob {
        name: jobname.into_owned(),
        phases: phases.into_owned(),
        response,
        lateness: lateness_ns.map(|one| in_ns(&one, notes)),
        what: summary.into_owned(),
        verify: verify.map(Cow::into_owned),
    }
}

/// A latency with an object of its direction.
fn in_ns(latency: &LatencyDocument, notes: &mut Vec<String>) -> LatencyReport {
    latency::report(&json!({ "lat_ns": latency }), "lat", 0, FioEra::Three, notes)
}
