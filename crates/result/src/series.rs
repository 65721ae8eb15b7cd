//! The run over time, its changes, conclusion and fingerprint read back.

use crate::member::{count, list, number, text, whole};
use iosonde_base::DIRS;
use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::ledger::{Conclusion, Ledger, LimitedBy};
use iosonde_report::series::{
    DeviceCounts, JobSeries, RateChange, RunSeries, SeriesWindow, WINDOWS_MOST, WindowCounts,
};
use iosonde_stats::CoarseCounts;
use serde_json::Value;

/// A ledger with what stands beside it in the document.
pub(crate) fn with_run(ledger: Ledger, ours: &Value) -> Ledger {
    Ledger {
        series: series(&ours["series"]),
        changes: list(ours, "changes").iter().map(change).collect(),
        fingerprint: fingerprint(&ours["fingerprint"]),
        conclusion: conclusion(&ours["conclusion"]),
        ..ledger
    }
}

fn series(value: &Value) -> RunSeries {
    // A document of anybody's may say any number.
    let windows = whole(&value["windows"]).map_or(0, |count| count.min(WINDOWS_MOST as u64));
    let windows = (0..windows as usize).map(|at| window(value, at));
    RunSeries {
        interval_ns: count(value, "interval_ns"),
        windows: windows.collect(),
        jobs: list(value, "jobs").iter().map(job).collect(),
    }
}

/// The window at a place in each of the columns.
fn window(value: &Value, at: usize) -> SeriesWindow {
    let columns = DIRS.map(|dir| &value[dir.name()]);
    // A column of a direction that did nothing is not there.
    let is_sampled = |column: &&Value| column.is_null() || !column["bytes"][at].is_null();
    let mut window = SeriesWindow {
        sampled: columns.iter().all(is_sampled),
        dirty_bytes: whole(&value["dirty_bytes"][at]),
        device: device(&value["device"], at),
        steal_share: value["steal_share"][at].as_f64(),
        ..SeriesWindow::default()
    };
    for (dir, column) in DIRS.into_iter().zip(columns) {
        let cell = |name: &str| whole(&column[name][at]).unwrap_or(0);
        window.dirs[dir] = WindowCounts {
            bytes: cell("bytes"),
            ios: cell("ios"),
            errors: cell("errors"),
            latency: latency(&column["latency"][at]),
        };
    }
    window
}

/// What the devices did in the window at a place.
fn device(columns: &Value, at: usize) -> Option<DeviceCounts> {
    let cell = |name: &str| whole(&columns[name][at]);
    Some(DeviceCounts {
        read_bytes: cell("read_bytes")?,
        written_bytes: cell("written_bytes")?,
        flushes: cell("flushes")?,
    })
}

/// `[first bucket, counts...]`.
fn latency(cell: &Value) -> CoarseCounts {
    let cell = cell.as_array().map(Vec::as_slice).unwrap_or_default();
    let numbers: Vec<u64> = cell.iter().filter_map(whole).collect();
    match numbers.split_first() {
        Some((&first, counts)) => CoarseCounts::new(first as usize, counts),
        None => CoarseCounts::default(),
    }
}

fn job(job: &Value) -> JobSeries {
    JobSeries {
        name: text(job, "jobname"),
        interval_ns: count(job, "interval_ns"),
        bytes: list(job, "bytes").iter().filter_map(whole).collect(),
    }
}

fn change(change: &Value) -> RateChange {
    RateChange {
        at_ns: count(change, "at_ns"),
        at_bytes: count(change, "at_bytes"),
        before_bytes_per_s: number(change, "before_bytes_per_s"),
        after_bytes_per_s: number(change, "after_bytes_per_s"),
        stat: number(change, "stat"),
    }
}

fn fingerprint(value: &Value) -> Fingerprint {
    let part = |name: &str| text(&value[name], "text");
    Fingerprint {
        job: part("job"),
        machine: part("machine"),
        kernel: part("kernel"),
        device: part("device"),
        filesystem: part("filesystem"),
        tool: part("tool"),
    }
}

fn conclusion(value: &Value) -> Option<Conclusion> {
    let word = value["limited_by"].as_str()?;
    let limit = LimitedBy::ALL.into_iter().find(|limit| limit.word() == word)?;
    Some(Conclusion { limit, text: text(value, "text") })
}
