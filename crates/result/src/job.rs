//! A job of a document, and its directions.

use crate::ReadError;
use crate::era::FioEra;
use crate::latency;
use crate::member::{count, note, number, option_texts, rounded, times, whole};
use iosonde_base::{Errno, PerDir};
use iosonde_report::{
    CpuUse, DepthReport, DirReport, ErrorCount, JobFailure, JobReport, LatencyTarget, PrioReport,
    SyncReport, Unified, WindowReport,
};
use serde_json::Value;

const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
const CLASSES: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// An entry of `jobs`, or of `client_stats`, where it has a host.
pub(crate) fn report(
    job: &Value,
    globals: &Value,
    place: &str,
    era: FioEra,
    notes: &mut Vec<String>,
) -> Result<JobReport, ReadError> {
    let direction = |name: &str, notes: &mut Vec<String>| match &job[name] {
        Value::Null => Ok(None),
        value => dir(value, &format!("{place}.{name}"), era, notes).map(Some),
    };
    let alone = [direction("read", notes)?, direction("write", notes)?, direction("trim", notes)?];
    let mixed = direction("mixed", notes)?;
    let unified = match (&mixed, alone.iter().any(Option::is_some)) {
        (None, true) => Unified::None,
        (Some(_), false) => Unified::Mixed,
        (Some(_), true) => Unified::Both,
        (None, false) => {
            return Err(ReadError::missing(&format!("{place}.read"), "or write, trim or mixed"));
        }
    };
    let dirs = PerDir(alone.map(Option::unwrap_or_default));
    let runs = dirs.0.iter().chain(&mixed);
    let longest_ms = runs.map(|dir| dir.runtime_ms).max().unwrap_or(0);
    let mut options = option_texts(&job["job options"]);
    if globals.is_object() && job["hostname"].is_string() {
        let own = options.clone();
        let more = option_texts(globals).into_iter();
        options.extend(more.filter(|(name, _)| own.iter().all(|(known, _)| known != name)));
    }
    let mut report = JobReport {
        name: name(job),
        group: count(job, "groupid") as u32,
        clones: 1,
        start_unix_ms: count(job, "job_start"),
        failure: failure(job),
        elapsed_s: count(job, "elapsed"),
        eta_s: count(job, "eta"),
        options,
        description: job["desc"].as_str().map(str::to_owned),
        unified,
        significant_figures: 4,
        cpu: cpu(job, longest_ms),
        errors: errors(job),
        latency: target(job, era),
        sync: sync(job, era, notes),
        dirs,
        mixed,
        ..JobReport::default()
    };
    report.depth = depth(job, report.issued_ios());
    report.latency_classes = classes(job, report.issued_ios());
    let prios = ["read", "write", "trim", "mixed"].map(|dir| &job[dir]["prios"][0]["lat_ns"]);
    report.prios_by_lat = prios.iter().any(|latency| latency.is_object());
    Ok(report)
}

/// The job's name, with its host where it ran on another machine.
fn name(job: &Value) -> String {
    let own = job["jobname"].as_str().unwrap_or("?");
    match job["hostname"].as_str() {
        Some(host) => format!("{host}: {own}"),
        None => own.to_owned(),
    }
}

fn failure(job: &Value) -> Option<JobFailure> {
    let errno = job["error"].as_i64().filter(|&errno| errno != 0)?;
    // A tolerated error stands here too, and is counted.
    if job.get("total_err").is_some() && job["first_error"].as_i64() == Some(errno) {
        return None;
    }
    let errno = Errno(i32::try_from(errno).unwrap_or(0));
    Some(JobFailure { errno, place: String::new(), doing: "run".to_owned() })
}

fn errors(job: &Value) -> Option<ErrorCount> {
    let total = whole(job.get("total_err")?)?;
    Some(ErrorCount { total, first_errno: job["first_error"].as_i64().unwrap_or(0) as i32 })
}

/// Shares of the wall time as times.
fn cpu(job: &Value, longest_ms: u64) -> CpuUse {
    let wall_ms = whole(&job["job_runtime"]).unwrap_or(longest_ms);
    let ns = |key: &str| rounded(number(job, key) * wall_ms as f64 * 1e4);
    CpuUse {
        wall_ms,
        user_ns: ns("usr_cpu"),
        system_ns: ns("sys_cpu"),
        ctx: count(job, "ctx"),
        majf: count(job, "majf"),
        minf: count(job, "minf"),
    }
}

/// Depths as counts; the document has shares of the I/Os in percent.
fn depth(job: &Value, ios: u64) -> DepthReport {
    let of = |list: &str, keys: [&str; 7]| {
        keys.map(|key| rounded(number(&job[list], key) / 100.0 * ios as f64))
    };
    DepthReport {
        level: of("iodepth_level", DEPTHS),
        submit: of("iodepth_submit", BATCHES),
        complete: of("iodepth_complete", BATCHES),
        // How often is not in the document: the shares are of the I/Os.
        submits: ios,
        completes: ios,
    }
}

/// The I/Os of each latency class.
fn classes(job: &Value, ios: u64) -> [u64; 32] {
    let mut classes = [0; 32];
    let lists = [("latency_ns", 0, 10), ("latency_us", 10, 10), ("latency_ms", 20, 12)];
    for (list, first, length) in lists {
        for (class, key) in classes[first..first + length].iter_mut().zip(CLASSES) {
            *class = rounded(number(&job[list], key) / 100.0 * ios as f64);
        }
    }
    classes
}

fn target(job: &Value, era: FioEra) -> LatencyTarget {
    let us = |key: &str| times(count(job, key), 1000);
    let target_ns = match era {
        FioEra::Three if job.get("latency_target_ns").is_some() => count(job, "latency_target_ns"),
        FioEra::Three => count(job, "latency_target"),
        FioEra::Two => us("latency_target"),
    };
    LatencyTarget {
        depth: count(job, "latency_depth").max(1) as u32,
        target_ns,
        window_ns: us("latency_window"),
        percentile: job["latency_percentile"].as_f64().unwrap_or(100.0),
    }
}

fn sync(job: &Value, era: FioEra, notes: &mut Vec<String>) -> SyncReport {
    let sync = &job["sync"];
    let total_ios = count(sync, "total_ios");
    SyncReport { total_ios, lat: latency::report(sync, "lat", total_ios, era, notes) }
}

/// One direction.
fn dir(
    value: &Value,
    place: &str,
    era: FioEra,
    notes: &mut Vec<String>,
) -> Result<DirReport, ReadError> {
    let wanted = |key: &str, what: &str| {
        value[key].as_f64().ok_or_else(|| ReadError::missing(&format!("{place}.{key}"), what))
    };
    wanted("io_bytes", "bytes moved")?;
    let runtime_ms = rounded(wanted("runtime", "milliseconds")?.trunc());
    let iops = wanted("iops", "I/Os per second")?;
    let issued_ios = whole(&value["total_ios"]).unwrap_or_else(|| {
        if iops > 0.0 {
            note(notes, "total_ios is missing: the number of I/Os is derived from iops");
        }
        rounded(iops * runtime_ms as f64 / 1000.0)
    });
    let latency =
        |key: &str, notes: &mut Vec<String>| latency::report(value, key, issued_ios, era, notes);
    Ok(DirReport {
        io_bytes: moved_bytes(value, era),
        runtime_ms,
        issued_ios,
        total_ios: completed(iops, runtime_ms, issued_ios),
        short_ios: count(value, "short_ios"),
        drop_ios: count(value, "drop_ios"),
        slat: latency("slat", notes),
        clat: latency("clat", notes),
        lat: latency("lat", notes),
        prios: priorities(value, era, notes),
        bw_kib: windows(value, "bw", "bw_dev"),
        bw_agg_percent: number(value, "bw_agg"),
        iops_windows: windows(value, "iops", "iops_stddev"),
        cachehit_percent: value["cachehit"].as_f64(),
        zone_resets: None,
        gone_over_ios: 0,
    })
}

/// I/Os that completed: `total_ios` counts those that failed, too, and `iops`
/// does not.
fn completed(iops: f64, runtime_ms: u64, issued_ios: u64) -> u64 {
    let completed = rounded(iops * runtime_ms as f64 / 1000.0);
    // Versions before 3 round iops to whole numbers.
    let is_rounding = times(completed.abs_diff(issued_ios), 1000) <= runtime_ms.max(1000);
    if completed == 0 || is_rounding { issued_ios } else { completed.min(issued_ios) }
}

/// Bytes: fio 3 writes bytes, and KiB beside them; fio 2 writes KiB under the
/// same name, which its bandwidth in KiB/s confirms.
fn moved_bytes(value: &Value, era: FioEra) -> u64 {
    let written = count(value, "io_bytes");
    if era == FioEra::Three || value.get("io_kbytes").is_some() {
        return written;
    }
    let kib = number(value, "bw") * number(value, "runtime") / 1000.0;
    // Within a factor of 32, half of the way between the two on a log scale.
    let is_bytes = kib > 0.0 && written as f64 > kib * 32.0;
    if is_bytes { written } else { times(written, 1024) }
}

fn windows(value: &Value, of: &str, deviation: &str) -> WindowReport {
    let key = |name: &str| format!("{of}_{name}");
    WindowReport {
        min: count(value, &key("min")),
        max: count(value, &key("max")),
        mean: number(value, &key("mean")),
        stddev: number(value, deviation),
        samples: count(value, &key("samples")),
    }
}

fn priorities(value: &Value, era: FioEra, notes: &mut Vec<String>) -> Vec<PrioReport> {
    let one = |prio: &Value| {
        let key = if prio.get("lat_ns").is_some() { "lat" } else { "clat" };
        PrioReport {
            class: count(prio, "prioclass") as u32,
            level: count(prio, "prio") as u32,
            hint: count(prio, "priohint") as u32,
            latency: latency::report(prio, key, 0, era, notes),
        }
    };
    crate::member::list(value, "prios").iter().map(one).collect()
}
