//! Several jobs in our own report: a row for each job and direction, and the
//! sums of each group.

use super::spark;
use crate::formats::style::{Mark, Style, add_labelled, add_narrow_row, paint};
use crate::percentile_of_all;
use crate::report::*;
use iosonde_base::text::{count, counted, duration, fit, percent, rate};

/// Columns that are not the job's name: direction, IOPS, bandwidth, p50, p99,
/// maximum.
const OTHER_COLUMNS: usize = 7 + 9 + 12 + 10 + 10 + 10;

/// Columns of a job's name at least.
const NAME_COLUMNS_MIN: usize = 10;

/// Whether the table fits.
fn fits(style: &Style) -> bool {
    style.columns >= NAME_COLUMNS_MIN + OTHER_COLUMNS
}

pub(super) fn add_jobs(jobs: &[JobReport], report: &Report, style: &Style, text: &mut String) {
    let longest = jobs.iter().map(|job| job_name(job).chars().count()).max().unwrap_or(0);
    let name_columns = (longest + 2)
        .clamp(NAME_COLUMNS_MIN, style.columns.saturating_sub(OTHER_COLUMNS).max(NAME_COLUMNS_MIN));
    if fits(style) {
        let heads = ["IOPS", "bandwidth", "p50", "p99", "max"];
        let head = row(&name_cell("job", name_columns), "", heads);
        text.push_str(&paint(head.trim_end(), Mark::Label, style));
        text.push('\n');
    }
    for job in jobs {
        add_rows(job, name_columns, style, text);
    }
    for group in &report.groups {
        let members: Vec<_> = jobs.iter().filter(|job| job.group == group.id).collect();
        add_sum(group, &members, report.groups.len() > 1, name_columns, style, text);
    }
    if let Some(ledger) = &report.ours.ledger {
        spark::add(&ledger.series, style, text);
    }
    text.push('\n');
    for job in jobs {
        if let Some(failure) = &job.failure {
            let words = format!("{}: {}", job.name, failure.words());
            add_labelled("failed", &words, Mark::Error, style, text);
        }
    }
    for job in jobs {
        if let Some(errors) = job.errors.filter(|errors| errors.total > 0) {
            let words = format!("{}: {} tolerated", job.name, errors.total);
            add_labelled("errors", &words, Mark::Error, style, text);
        }
    }
    for job in &report.ours.jobs {
        let quick = job.lateness.as_ref().and_then(|late| Some((late.quick?, late.max_ns)));
        if let Some((quick, max_ns)) = quick {
            let [p50, p99, max] = [quick.p50_ns, quick.p99_ns, max_ns].map(duration);
            let words = format!("{}: started p50 {p50}, p99 {p99}, max {max} late", job.name);
            add_labelled("replay", &words, Mark::Label, style, text);
        }
    }
    add_processor(jobs, style, text);
}

fn job_name(job: &JobReport) -> String {
    if job.clones > 1 { format!("{} x{}", job.name, job.clones) } else { job.name.clone() }
}

/// A name and the blank after it.
fn name_cell(name: &str, columns: usize) -> String {
    fit(name, columns - 1) + " "
}

fn row(name: &str, dir: &str, cells: [&str; 5]) -> String {
    let [iops, bandwidth, p50, p99, max] = cells;
    format!("{name}{dir:<7}{iops:>9}{bandwidth:>12}{p50:>10}{p99:>10}{max:>10}")
}

fn add_rows(job: &JobReport, name_columns: usize, style: &Style, text: &mut String) {
    let mut name = job_name(job);
    for (dir_name, dir) in job.shown() {
        if dir.issued_ios > 0 {
            let latency = dir.shown_latency();
            let numbers = Numbers {
                iops: dir.iops(),
                bytes_per_s: Some(dir.bw_bytes_per_s()),
                p50_ns: latency.quick.map(|quick| quick.p50_ns),
                p99_ns: latency.quick.map(|quick| quick.p99_ns),
                max_ns: (latency.n > 0).then_some(latency.max_ns),
            };
            numbers.add_row(&name_cell(&name, name_columns), dir_name, style, text);
            name.clear();
        }
    }
    if job.sync.total_ios > 0 {
        let latency = &job.sync.lat;
        let runtime_ms = job.shown().iter().map(|(_, dir)| dir.runtime_ms).max().unwrap_or(0);
        let numbers = Numbers {
            iops: job.sync.total_ios as f64 * 1000.0 / runtime_ms.max(1) as f64,
            bytes_per_s: None,
            p50_ns: latency.quick.map(|quick| quick.p50_ns),
            p99_ns: latency.quick.map(|quick| quick.p99_ns),
            max_ns: (latency.n > 0).then_some(latency.max_ns),
        };
        numbers.add_row(&name_cell(&name, name_columns), "sync", style, text);
        name.clear();
    }
    if !name.is_empty() {
        text.push_str(&format!("{}no I/O\n", fit(&name, name_columns)));
    }
}

/// A row's numbers; what was not measured is `None`.
struct Numbers {
    iops: f64,
    bytes_per_s: Option<u64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl Numbers {
    fn add_row(&self, name: &str, dir: &str, style: &Style, text: &mut String) {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let [p50, p99, max] = [self.p50_ns, self.p99_ns, self.max_ns].map(cell);
        let bandwidth = self.bytes_per_s.map_or(String::new(), |bytes| rate(bytes as f64));
        let iops = count(self.iops);
        if !fits(style) {
            let lead = format!("{} {dir}", name.trim_end());
            let latencies = [format!("p50 {p50}"), format!("p99 {p99}"), format!("max {max}")];
            let rates = [format!("{iops} IOPS"), bandwidth].into_iter();
            let cells = rates.filter(|cell| !cell.is_empty()).chain(latencies);
            let cells: Vec<String> = cells.collect();
            return add_narrow_row(lead.trim_start(), &cells, style, text);
        }
        let first = format!("{iops:>9}{bandwidth:>12}");
        let name = paint(name, Mark::Heading, style);
        let first = paint(first, Mark::First, style);
        text.push_str(&format!("{name}{dir:<7}{first}{p50:>10}{p99:>10}{max:>10}\n"));
    }
}

/// The sums of a group, a row for each direction that several jobs took.
fn add_sum(
    group: &GroupReport,
    jobs: &[&JobReport],
    several: bool,
    name_columns: usize,
    style: &Style,
    text: &mut String,
) {
    let mut name = if several { format!("group {}", group.id) } else { "all".into() };
    for (fio_name, sum) in group.shown() {
        let dir_name = fio_name.to_lowercase();
        let shown = jobs.iter().flat_map(|job| job.shown());
        let dirs: Vec<&DirReport> = shown
            .filter(|(name, dir)| *name == dir_name && dir.issued_ios > 0)
            .map(|(_, dir)| dir)
            .collect();
        // The sum of one job is that job.
        if dirs.len() < 2 {
            continue;
        }
        let ios = dirs.iter().map(|dir| dir.total_ios).sum::<u64>();
        let latencies: Vec<&LatencyReport> = dirs.iter().map(|dir| dir.shown_latency()).collect();
        let max_ns = latencies.iter().filter(|lat| lat.n > 0).map(|lat| lat.max_ns).max();
        let numbers = Numbers {
            iops: ios as f64 * 1000.0 / sum.max_run_ms.max(1) as f64,
            bytes_per_s: Some(sum.agg_bytes_per_s),
            p50_ns: percentile_of_all(&latencies, 50.0),
            p99_ns: percentile_of_all(&latencies, 99.0),
            max_ns,
        };
        numbers.add_row(&name_cell(&name, name_columns), &dir_name, style, text);
        name.clear();
    }
}

fn add_processor(jobs: &[JobReport], style: &Style, text: &mut String) {
    let sum = |part: fn(&CpuUse) -> u64| jobs.iter().map(|job| part(&job.cpu)).sum::<u64>();
    let cpu = CpuUse {
        wall_ms: sum(|cpu| cpu.wall_ms),
        user_ns: sum(|cpu| cpu.user_ns),
        system_ns: sum(|cpu| cpu.system_ns),
        ctx: sum(|cpu| cpu.ctx),
        ..CpuUse::default()
    };
    let words = format!(
        "{} user, {} system of each job's time; {}",
        percent(cpu.user_percent() / 100.0),
        percent(cpu.system_percent() / 100.0),
        counted(cpu.ctx, "context switch")
    );
    add_labelled("cpu", &words, Mark::Label, style, text);
}
