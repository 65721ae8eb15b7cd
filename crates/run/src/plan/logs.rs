//! From a job's options to its logs.

use super::clone_of::CloneOf;
use crate::job::JobPlan;
use crate::logs::{HistogramPlan, LogColumns, LogKind, LogsPlan, Value, epoch_clock};
use iosonde_base::{DIRS, Nanos, PerDir};
use iosonde_options::Diagnostic;
use iosonde_report::MeasuredKinds;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::LogWindowValue;
use iosonde_sys::cpu::CpuList;
use iosonde_sys::priority::IoPriority;
use iosonde_workload::Sizes;
use std::path::PathBuf;

/// Bytes that records of all jobs may take before they are written.
const MEMORY: usize = 96 << 20;

/// The logs of one clone.
pub(super) fn logs(
    of: &CloneOf<'_>,
    depth: u32,
    measured: MeasuredKinds,
    sizes: &PerDir<Sizes>,
    priority: Option<IoPriority>,
) -> Result<Option<LogsPlan>, Diagnostic> {
    let &CloneOf { job, engine, number, .. } = of;
    let log = &job.spec.log;
    // Without a queue the null engine knows no submission.
    let slat = measured.slat && !(engine.caps.diskless && depth == 1);
    let (files, empty) = files(job, number, MeasuredKinds { slat, ..measured });
    let histogram = log.write_hist_log.get().as_ref().map(|prefix| HistogramPlan {
        path: path(job, number, prefix, "clat_hist"),
        every: log.log_hist_msec.get().nanos(),
        coarseness: (*log.log_hist_coarseness.get()).min(11),
        block: PerDir(DIRS.map(|dir| sizes[dir].max())),
    });
    if files.is_empty() && empty.is_empty() && histogram.is_none() {
        return Ok(None);
    }
    if *log.log_issue_time.get() && !(*log.log_offset.get() && log.write_lat_log.is_set()) {
        let diagnostic = Diagnostic::error("takes log_offset and write_lat_log as well");
        return Err(diagnostic.about("log_issue_time", log.log_issue_time.origin()));
    }
    Ok(Some(LogsPlan {
        files,
        empty,
        every: log.log_avg_msec.get().nanos(),
        value: match log.log_window_value.get() {
            LogWindowValue::Average => Value::Average,
            LogWindowValue::Max => Value::Max,
            LogWindowValue::Both => Value::Both,
        },
        columns: LogColumns {
            offset: *log.log_offset.get(),
            issue_time: *log.log_issue_time.get(),
            priority: priority.map_or(0, IoPriority::raw),
            whole_priority: *log.log_prio.get(),
        },
        histogram,
        append: !*log.per_job_logs.get(),
        compressed: *log.log_store_compressed.get(),
        epoch: epoch(job)?,
        cpus: cpus(job)?,
        memory: MEMORY,
    }))
}

/// The log of a kind of job number `number`.
fn path(job: &ParsedJob, number: u32, prefix: &str, kind: &str) -> PathBuf {
    let log = &job.spec.log;
    let prefix = if prefix == "$jobname" { job.name.as_str() } else { prefix };
    let number = if *log.per_job_logs.get() { format!(".{number}") } else { String::new() };
    let ending = if *log.log_store_compressed.get() { ".fz" } else { "" };
    format!("{prefix}_{kind}{number}.log{ending}").into()
}

/// Logs with a line for each I/O or window, and logs that stay empty.
fn files(
    job: &ParsedJob,
    number: u32,
    measured: MeasuredKinds,
) -> (Vec<(LogKind, PathBuf)>, Vec<PathBuf>) {
    let (log, stat) = (&job.spec.log, &job.spec.measure);
    let path = |prefix: &str, kind: LogKind| path(job, number, prefix, kind.word());
    let (mut files, mut empty) = (Vec::new(), Vec::new());
    let rates = [(&log.write_bw_log, LogKind::Bandwidth), (&log.write_iops_log, LogKind::Iops)];
    for (option, kind) in rates {
        if let Some(prefix) = option.get() {
            files.push((kind, path(prefix, kind)));
        }
    }
    let Some(prefix) = log.write_lat_log.get() else { return (files, empty) };
    let reduced = *stat.gtod_reduce.get();
    let kinds = [
        (LogKind::Slat, *stat.disable_slat.get(), measured.slat),
        (LogKind::Clat, *stat.disable_clat.get(), measured.clat),
        (LogKind::Lat, *stat.disable_lat.get(), measured.lat),
    ];
    for (kind, disabled, measured) in kinds {
        match (reduced || disabled, measured) {
            (true, _) => {}
            (false, true) => files.push((kind, path(prefix, kind))),
            (false, false) => empty.push(path(prefix, kind)),
        }
    }
    (files, empty)
}

fn epoch(job: &ParsedJob) -> Result<Option<u32>, Diagnostic> {
    let log = &job.spec.log;
    if !*log.log_alternate_epoch.get() {
        return Ok(None);
    }
    let id = *log.log_alternate_epoch_clock_id.get();
    match epoch_clock(id) {
        Some(_) => Ok(Some(id)),
        None => {
            let diagnostic =
                Diagnostic::error(format!("{id} is no clock of clock_gettime(2) known here"))
                    .help("0 is CLOCK_REALTIME, 1 CLOCK_MONOTONIC, 7 CLOCK_BOOTTIME");
            let origin = log.log_alternate_epoch_clock_id.origin();
            Err(diagnostic.about("log_alternate_epoch_clock_id", origin))
        }
    }
}

fn cpus(job: &ParsedJob) -> Result<Option<CpuList>, Diagnostic> {
    let option = &job.spec.log.log_compression_cpus;
    let Some(cpus) = option.get() else { return Ok(None) };
    let list = CpuList::from_numbers(cpus.0.clone());
    list.map(Some).map_err(|error| {
        Diagnostic::error(error.to_string()).about("log_compression_cpus", option.origin())
    })
}

/// Share the memory for records among the jobs that keep them.
pub(super) fn share_memory(jobs: &mut [JobPlan]) {
    let each_io = |job: &JobPlan| job.measure.logs.as_ref().is_some_and(LogsPlan::each_io);
    let sharing = jobs.iter().filter(|job| each_io(job)).count().max(1);
    for logs in jobs.iter_mut().filter_map(|job| job.measure.logs.as_mut()) {
        logs.memory = MEMORY / sharing;
    }
}

/// Windows in which the report samples a rate: those of its log, where they are
/// shorter, as fio has it.
pub(super) fn sample_every(asked: Nanos, logged: bool, logs: Option<&LogsPlan>) -> Nanos {
    match logs {
        Some(logs) if logged && logs.every > Nanos(0) => asked.min(logs.every),
        _ => asked,
    }
}
