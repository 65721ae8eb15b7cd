//! fio's normal text.
//!
//! Layout, widths and units are those of fio 3.33, read off its output; where
//! fio 3.42 differs (priority hints, sectors of disks, syncfs), as 3.42 has
//! them.

mod clients;
mod direction;
mod disks;
mod latency;
mod opening;

pub use clients::fio_all_clients;
pub use opening::{Opening, opening_lines, starting_line};

use super::{BATCH_LABELS, CLASS_LABELS, DEPTH_LABELS};
use crate::report::*;
use crate::scale::{PrefixBase, PrefixedUnit, date, human, percent};
use iosonde_base::Errno;
use std::fmt::Write;

/// The report as fio's `--output-format=normal`: from the first job's line to
/// the end. What comes before is in [`opening_lines`].
pub fn fio_normal(report: &Report) -> String {
    let mut text = String::from("\n");
    let when = date(report.time_unix_ms, report.utc_offset_s);
    for job in &report.jobs {
        add_job(job, &when, &mut text);
    }
    for group in &report.groups {
        add_group(group, &mut text);
    }
    if !report.disks.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
        report.disks.iter().for_each(|disk| disks::add_disk(disk, &mut text));
    }
    if let Some(idle) = &report.cpu_idle {
        add_idle(idle, &mut text);
    }
    text
}

/// Writes a line; writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($form:tt)*) => {
        writeln!($text, $($form)*).expect("a String takes every write")
    };
}
use line;

fn add_job(job: &JobReport, when: &str, text: &mut String) {
    let failure = match &job.failure {
        None => match job.shown_errno() {
            0 => " 0".into(),
            errno => format!("{errno:2} (func=io, error={})", errno_words(errno)),
        },
        Some(failure) => {
            let JobFailure { errno, place, doing } = failure;
            let words = errno_words(errno.0);
            format!("{:2} (file:{place}, func={doing}, error={words})", errno.0)
        }
    };
    let JobReport { name, group, clones, pid, .. } = job;
    line!(text, "{name}: (groupid={group}, jobs={clones}): err={failure}: pid={pid}: {when}");
    if let Some(description) = &job.description {
        line!(text, "  Description  : [{description}]");
    }
    for (name, dir) in job.shown() {
        if dir.runtime_ms > 0 {
            direction::add_direction(name, dir, job, text);
        }
    }
    add_classes(job, text);
    if job.sync.total_ios > 0 && job.unified != Unified::Mixed {
        line!(text, "  fsync/fdatasync/sync_file_range/syncfs:");
        latency::add_line("  sync", &job.sync.lat, text);
        latency::add_table("    sync percentiles", &job.sync.lat, text);
    }
    add_processor(job, text);
    add_depths(job, text);
    add_rare(job, text);
}

/// The system's words for an error, and for none.
fn errno_words(errno: i32) -> String {
    if errno == 0 { "Success".into() } else { Errno(errno).to_string() }
}

/// How I/Os spread over fio's latency classes, five to a line; empty classes
/// are left out.
fn add_classes(job: &JobReport, text: &mut String) {
    let classes = &job.latency_classes;
    let parts = [("nsec", &classes[..10]), ("usec", &classes[10..20]), ("msec", &classes[20..])];
    for (unit, counts) in parts {
        let shares: Vec<String> = CLASS_LABELS
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(label, count)| {
                format!("{label}={:3.2}%", percent(*count, job.issued_ios(), 0.01))
            })
            .collect();
        for five in shares.chunks(5) {
            line!(text, "  lat ({unit})   : {}", five.join(", "));
        }
    }
}

fn add_processor(job: &JobReport, text: &mut String) {
    let cpu = &job.cpu;
    let (user, system) = (cpu.user_percent(), cpu.system_percent());
    let CpuUse { ctx, majf, minf, .. } = cpu;
    line!(
        text,
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={ctx}, majf={majf}, minf={minf}"
    );
}

fn add_depths(job: &JobReport, text: &mut String) {
    let shares = |labels: &[&str], counts: &[u64], whole: u64| {
        let share =
            |(label, count): (&&str, &u64)| format!("{label}={:3.1}%", percent(*count, whole, 0.1));
        labels.iter().zip(counts).map(share).collect::<Vec<_>>().join(", ")
    };
    let DepthReport { level, submit, complete, submits, completes } = &job.depth;
    line!(text, "  IO depths    : {}", shares(&DEPTH_LABELS, level, job.issued_ios()));
    line!(text, "     submit    : {}", shares(&BATCH_LABELS, submit, *submits));
    line!(text, "     complete  : {}", shares(&BATCH_LABELS, complete, *completes));
    let list = |numbers: [u64; 3], syncs: u64| {
        let [reads, writes, trims] = numbers;
        // fio counts the sum as reads when directions are reported together.
        if job.unified == Unified::Mixed {
            format!("{},0,0,{syncs}", reads + writes + trims)
        } else {
            format!("{reads},{writes},{trims},{syncs}")
        }
    };
    let each = |number: fn(&DirReport) -> u64| job.dirs.0.each_ref().map(number);
    line!(
        text,
        "     issued rwts: total={} short={} dropped={}",
        list(each(|dir| dir.issued_ios + dir.gone_over_ios), job.sync.total_ios),
        list(each(|dir| dir.short_ios), 0),
        list(each(|dir| dir.drop_ios), 0)
    );
}

/// Errors let pass, the latency target, block lifetimes, steady state.
fn add_rare(job: &JobReport, text: &mut String) {
    if let Some(ErrorCount { total, first_errno }) = job.errors {
        let words = errno_words(first_errno);
        line!(text, "     errors    : total={total}, first_error={first_errno}/<{words}>");
    }
    let LatencyTarget { depth, target_ns, window_ns, percentile } = job.latency;
    line!(
        text,
        "     latency   : target={}, window={}, percentile={percentile:.2}%, depth={depth}",
        two_places(target_ns),
        two_places(window_ns)
    );
    if let Some(life) = &job.block_life {
        line!(text, "  block lifetime percentiles :");
        latency::add_rows(&life.percentiles, 1, "    ", text);
        let states = life.states.iter().map(|state| format!("{}={}", state.name, state.blocks));
        let states: Vec<_> = states.collect();
        line!(text, "   |        states               : {}", states.join(", "));
    }
    if let Some(steady) = &job.steady {
        add_steady(job, steady, text);
    }
}

/// A time in the largest unit that it fills: `0.00ns`, `1.50ms`.
fn two_places(ns: u64) -> String {
    let (unit, name) = match ns {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    format!("{:.2}{name}", ns as f64 / f64::from(unit))
}

fn add_steady(job: &JobReport, steady: &SteadyResult, text: &mut String) {
    let count = steady.samples.len().max(1) as u128;
    let mean = |part: fn(&SteadySample) -> u64| {
        (steady.samples.iter().map(|sample| u128::from(part(sample))).sum::<u128>() / count) as u64
    };
    let rate =
        RateText::new(mean(|sample| sample.bw_bytes_per_s), job.units, job.significant_figures);
    let iops =
        human(mean(|s| s.iops), job.significant_figures, PrefixBase::Decimal, PrefixedUnit::Plain);
    let (what, how) = match steady.what.strip_suffix("_slope") {
        Some(what) => (what, "slope"),
        None => (steady.what.as_str(), "mean dev"),
    };
    let attained = if steady.attained { "yes" } else { "no" };
    let sign = if steady.limit_is_percent { "%" } else { "" };
    line!(
        text,
        "  steadystate  : attained={attained}, bw={} ({}), iops={iops}, {what} {how}={:.3}{sign}",
        rate.first,
        rate.second,
        steady.criterion
    );
}

/// A rate in the job's own units, and in the other base.
struct RateText {
    first: String,
    second: String,
}

impl RateText {
    fn new(bytes_per_s: u64, units: TextUnits, figures: u32) -> RateText {
        let unit =
            if units.bits { PrefixedUnit::BitsPerSecond } else { PrefixedUnit::BytesPerSecond };
        let base = PrefixBase::of(units.kb_base);
        RateText {
            first: human(bytes_per_s, figures, base, unit),
            second: human(bytes_per_s, figures, base.other(), unit),
        }
    }
}

fn add_group(group: &GroupReport, text: &mut String) {
    line!(text, "\nRun status group {} (all jobs):", group.id);
    let figures = group.significant_figures;
    let rate = |bytes_per_s| RateText::new(bytes_per_s, group.units, figures);
    for (name, dir) in group.shown() {
        let [agg, least, most] =
            [dir.agg_bytes_per_s, dir.min_bytes_per_s, dir.max_bytes_per_s].map(rate);
        let base = PrefixBase::of(group.units.kb_base);
        line!(
            text,
            "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
            agg.first,
            agg.second,
            least.first,
            most.first,
            least.second,
            most.second,
            human(dir.io_bytes, figures, base, PrefixedUnit::Bytes),
            human(dir.io_bytes, figures, base.other(), PrefixedUnit::Bytes),
            dir.min_run_ms,
            dir.max_run_ms
        );
    }
}

fn add_idle(idle: &CpuIdle, text: &mut String) {
    line!(text, "\nCPU idleness:");
    line!(text, "  system: {:.2}%", idle.system_percent);
    if !idle.per_cpu_percent.is_empty() {
        let each: Vec<_> = idle.per_cpu_percent.iter().map(|cpu| format!("{cpu:.2}%")).collect();
        line!(text, "  percpu: {}", each.join(", "));
    }
    let (mean, deviation) = (idle.unit_mean_us, idle.unit_stddev_us);
    line!(text, "  unit work: mean={mean:.2}us, stddev={deviation:.2}");
}
