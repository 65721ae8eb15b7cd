//! A job as an object of fio's JSON.

use super::latency_json::{Bins, latency_value, percentiles};
use super::{BATCH_LABELS, CLASS_LABELS, DEPTH_LABELS};
use crate::report::*;
use crate::scale::percent;
use iosonde_base::Dir;
use serde_json::{Map, Value, json};

pub(super) fn option_texts(options: &OptionTexts) -> Value {
    options.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect()
}

pub(super) fn job_value(job: &JobReport, bins: Bins) -> Value {
    let mut value = Map::new();
    let mut put = |key: &str, member: Value| value.insert(key.into(), member);
    put("jobname", job.name.as_str().into());
    put("groupid", job.group.into());
    put("job_start", job.start_unix_ms.into());
    put("error", job.shown_errno().into());
    put("eta", job.eta_s.into());
    put("elapsed", job.elapsed_s.into());
    // fio leaves the key out of a section without options.
    if !job.options.is_empty() {
        put("job options", option_texts(&job.options));
    }
    for (name, dir) in job.shown() {
        if name == "mixed" && job.unified == Unified::Both {
            put("sync", sync_value(&job.sync, bins));
        }
        put(name, dir_value(dir, job, bins));
    }
    if job.unified == Unified::None {
        put("sync", sync_value(&job.sync, bins));
    }
    put("job_runtime", job.cpu.wall_ms.into());
    put("usr_cpu", job.cpu.user_percent().into());
    put("sys_cpu", job.cpu.system_percent().into());
    put("ctx", job.cpu.ctx.into());
    put("majf", job.cpu.majf.into());
    put("minf", job.cpu.minf.into());
    let DepthReport { level, submit, complete, submits, completes } = job.depth;
    put("iodepth_level", shares(&DEPTH_LABELS, &level, job.issued_ios(), 0.1));
    put("iodepth_submit", shares(&BATCH_LABELS, &submit, submits, 0.1));
    put("iodepth_complete", shares(&BATCH_LABELS, &complete, completes, 0.1));
    let ios = job.issued_ios();
    put("latency_ns", shares(&CLASS_LABELS[..10], &job.latency_classes[..10], ios, 0.01));
    put("latency_us", shares(&CLASS_LABELS[..10], &job.latency_classes[10..20], ios, 0.01));
    put("latency_ms", shares(&CLASS_LABELS, &job.latency_classes[20..], ios, 0.01));
    put_rare(job, &mut put);
    Value::Object(value)
}

/// The keys at the end, most of which are there only when asked for.
fn put_rare(job: &JobReport, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    if let Some(errors) = &job.errors {
        put("total_err", errors.total.into());
        put("first_error", errors.first_errno.into());
    }
    put("latency_depth", job.latency.depth.into());
    put("latency_target", job.latency.target_ns.into());
    put("latency_target_ns", job.latency.target_ns.into());
    put("latency_percentile", job.latency.percentile.into());
    put("latency_window", (job.latency.window_ns / 1000).into());
    put("latency_window_us", (job.latency.window_ns / 1000).into());
    if let Some(description) = &job.description {
        put("desc", description.as_str().into());
    }
    if let Some(life) = &job.block_life {
        let states = life.states.iter().map(|state| (state.name.clone(), state.blocks.into()));
        let states: Value = Value::Object(states.collect());
        put("block", json!({"percentiles": percentiles(&life.percentiles), "states": states}));
    }
    if let Some(steady) = &job.steady {
        put("steadystate", steady_value(steady));
    }
    if let Some(resets) = job.dirs[Dir::Write].zone_resets {
        put("zone_resets", resets.into());
    }
}

fn shares(labels: &[&str], counts: &[u64], whole: u64, least: f64) -> Value {
    let share = |(label, count): (&&str, &u64)| {
        (label.to_string(), Value::from(percent(*count, whole, least)))
    };
    labels.iter().zip(counts).map(share).collect()
}

fn dir_value(dir: &DirReport, job: &JobReport, bins: Bins) -> Value {
    let mut value = Map::new();
    let mut put = |key: &str, member: Value| value.insert(key.into(), member);
    put("io_bytes", dir.io_bytes.into());
    put("io_kbytes", (dir.io_bytes / 1024).into());
    put("bw_bytes", dir.bw_bytes_per_s().into());
    put("bw", (dir.bw_bytes_per_s() / 1024).into());
    put("iops", dir.iops().into());
    put("runtime", dir.runtime_ms.into());
    put("total_ios", (dir.issued_ios + dir.gone_over_ios).into());
    put("short_ios", dir.short_ios.into());
    put("drop_ios", dir.drop_ios.into());
    put("slat_ns", latency_value(&dir.slat, bins));
    put("clat_ns", latency_value(&dir.clat, bins));
    put("lat_ns", latency_value(&dir.lat, bins));
    if !dir.prios.is_empty() {
        let key = if job.prios_by_lat { "lat_ns" } else { "clat_ns" };
        let prio = |prio: &PrioReport| {
            json!({
                "prioclass": prio.class,
                "prio": prio.level,
                "priohint": prio.hint,
                key: latency_value(&prio.latency, bins),
            })
        };
        put("prios", dir.prios.iter().map(prio).collect());
    }
    put("bw_min", dir.bw_kib.min.into());
    put("bw_max", dir.bw_kib.max.into());
    put("bw_agg", dir.bw_agg_percent.into());
    put("bw_mean", dir.bw_kib.mean.into());
    put("bw_dev", dir.bw_kib.stddev.into());
    put("bw_samples", dir.bw_kib.samples.into());
    put("iops_min", dir.iops_windows.min.into());
    put("iops_max", dir.iops_windows.max.into());
    put("iops_mean", dir.iops_windows.mean.into());
    put("iops_stddev", dir.iops_windows.stddev.into());
    put("iops_samples", dir.iops_windows.samples.into());
    if let Some(hits) = dir.cachehit_percent {
        put("cachehit", hits.into());
    }
    Value::Object(value)
}

fn sync_value(sync: &SyncReport, bins: Bins) -> Value {
    json!({"total_ios": sync.total_ios, "lat_ns": latency_value(&sync.lat, bins)})
}

fn steady_value(steady: &SteadyResult) -> Value {
    let sign = if steady.limit_is_percent { "%" } else { "" };
    let mean = |part: fn(&SteadySample) -> u64| {
        let sum: u128 = steady.samples.iter().map(|sample| u128::from(part(sample))).sum();
        (sum / steady.samples.len().max(1) as u128) as u64
    };
    let all = |part: fn(&SteadySample) -> u64| {
        steady.samples.iter().map(|sample| Value::from(part(sample))).collect::<Value>()
    };
    let mut data = Map::new();
    data.insert("bw_mean".into(), mean(|sample| sample.bw_bytes_per_s).into());
    data.insert("iops_mean".into(), mean(|sample| sample.iops).into());
    if steady.what.starts_with("lat") {
        data.insert("lat_mean".into(), mean(|sample| sample.lat_ns).into());
        data.insert("lat_ns".into(), all(|sample| sample.lat_ns));
    }
    data.insert("iops".into(), all(|sample| sample.iops));
    data.insert("bw".into(), all(|sample| sample.bw_bytes_per_s));
    json!({
        "ss": format!("{}:{:.6}{sign}", steady.what, steady.limit),
        "duration": steady.duration_s,
        "attained": u8::from(steady.attained),
        "criterion": format!("{:.6}{sign}", steady.criterion),
        "max_deviation": steady.max_deviation,
        "slope": steady.slope,
        "data": data,
    })
}
