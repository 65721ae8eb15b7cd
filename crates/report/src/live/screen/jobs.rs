//! The jobs of a run: in a line, and in a table.

use super::LiveJob;
use iosonde_base::text::{count, fit, rate};
use ratatui_core::style::Modifier;
use ratatui_core::text::Line;

/// The jobs that run, the slowest first; those that do not, after them.
fn by_rate(jobs: &[LiveJob]) -> Vec<&LiveJob> {
    let mut all: Vec<&LiveJob> = jobs.iter().collect();
    iosonde_base::sort_by(&mut all, |a, b| {
        b.is_running.cmp(&a.is_running).then(a.iops.total_cmp(&b.iops))
    });
    all
}

/// How many run, the fastest ones and the slowest.
pub(super) fn summary(jobs: &[LiveJob], running: usize, columns: usize) -> Line<'static> {
    let mut text = format!(" jobs   {running} of {} run", jobs.len());
    let running: Vec<&LiveJob> = by_rate(jobs).into_iter().filter(|job| job.is_running).collect();
    let cell = |job: &LiveJob| {
        let name: String = job.name.chars().take(16).collect();
        format!("  {name} {}", count(job.iops))
    };
    let Some((slowest, others)) = running.split_first() else { return Line::from(text) };
    let last = format!("{}  <- slowest", cell(slowest));
    for job in others.iter().rev() {
        let one = cell(job);
        if text.chars().count() + one.chars().count() + last.chars().count() > columns {
            break;
        }
        text.push_str(&one);
    }
    Line::from(text + &last)
}

/// Columns of a job in the table.
const CELL: usize = 38;

/// All jobs, the slowest first, in as many columns as fit.
pub(super) fn table(jobs: &[LiveJob], columns: usize, rows: usize) -> Vec<Line<'static>> {
    let across = (columns / CELL).max(1);
    let room = rows.saturating_sub(1) * across;
    let all = by_rate(jobs);
    let title = match all.len().saturating_sub(room) {
        0 => " jobs, the slowest first".to_owned(),
        more => format!(" jobs, the slowest first; {more} more do not fit"),
    };
    let mut lines = vec![Line::styled(title, Modifier::DIM)];
    let shown = &all[..all.len().min(room)];
    let down = shown.len().div_ceil(across).max(1);
    for row in 0..shown.len().min(down) {
        let cells = shown.iter().skip(row).step_by(down).map(|job| {
            let rate = if job.is_running {
                format!("{:>7} {:>11}", count(job.iops), rate(job.bytes_per_s))
            } else {
                format!("{:>19}", "-")
            };
            format!(" {} {rate}", fit(&job.name, 16))
        });
        lines.push(Line::from(cells.collect::<String>()));
    }
    lines
}
