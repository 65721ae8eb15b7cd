//! The run over time in a document: `iosonde.series` and `iosonde.changes`.
//!
//! Columns instead of an object a window: a list of bytes, one of I/Os, for each
//! direction that did any. A window that was not sampled is `null` in each.

use crate::series::{DeviceCounts, JobSeries, RateChange, RunSeries, SeriesWindow, WindowCounts};
use iosonde_base::{DIRS, Dir};
use serde_json::{Map, Value, json};

/// The series.
pub(super) fn value(series: &RunSeries) -> Value {
    let mut value = Map::new();
    value.insert("interval_ns".into(), series.interval_ns.into());
    value.insert("windows".into(), series.windows.len().into());
    for dir in DIRS {
        if series.windows.iter().any(|window| window.dirs[dir] != WindowCounts::default()) {
            value.insert(dir.name().into(), direction(&series.windows, dir));
        }
    }
    if series.windows.iter().any(|window| window.dirty_bytes.is_some()) {
        let dirty = series.windows.iter().map(|window| Value::from(window.dirty_bytes));
        value.insert("dirty_bytes".into(), dirty.collect());
    }
    let windows = &series.windows;
    if windows.iter().any(|window| window.device.is_some()) {
        let column = |of: fn(&DeviceCounts) -> u64| -> Value {
            windows.iter().map(|window| Value::from(window.device.as_ref().map(of))).collect()
        };
        value.insert(
            "device".into(),
            json!({
                "read_bytes": column(|device| device.read_bytes),
                "written_bytes": column(|device| device.written_bytes),
                "flushes": column(|device| device.flushes),
            }),
        );
    }
    if windows.iter().any(|window| window.steal_share.is_some()) {
        let steal = windows.iter().map(|window| Value::from(window.steal_share));
        value.insert("steal_share".into(), steal.collect());
    }
    value.insert("jobs".into(), series.jobs.iter().map(job).collect());
    Value::Object(value)
}

fn direction(windows: &[SeriesWindow], dir: Dir) -> Value {
    let column = |of: &dyn Fn(&WindowCounts) -> Value| -> Value {
        let cell = |window: &SeriesWindow| {
            if window.sampled { of(&window.dirs[dir]) } else { Value::Null }
        };
        windows.iter().map(cell).collect()
    };
    let latency = |counts: &WindowCounts| -> Value {
        let (first, buckets) = counts.latency.parts();
        if buckets.is_empty() {
            json!([])
        } else {
            std::iter::once(first as u64).chain(buckets.iter().copied()).collect()
        }
    };
    json!({
        "bytes": column(&|counts| counts.bytes.into()),
        "ios": column(&|counts| counts.ios.into()),
        "errors": column(&|counts| counts.errors.into()),
        "latency": column(&latency),
    })
}

fn job(job: &JobSeries) -> Value {
    json!({"jobname": job.name, "interval_ns": job.interval_ns, "bytes": job.bytes})
}

/// A change of the rate.
pub(super) fn change(change: &RateChange) -> Value {
    json!({
        "at_ns": change.at_ns,
        "at_bytes": change.at_bytes,
        "before_bytes_per_s": change.before_bytes_per_s,
        "after_bytes_per_s": change.after_bytes_per_s,
        "stat": change.stat,
    })
}
