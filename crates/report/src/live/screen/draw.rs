//! The overview, and the frame around each view.

use super::{LiveRate, LiveRun, LiveView, ScreenStyle, jobs, series};
use crate::finding::Severity;
use iosonde_base::DIRS;
use iosonde_base::text::{bytes, count, counted, duration, percent, significant};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

/// A terminal of fewer columns shows a line instead ...
pub const COLUMNS_LEAST: u16 = 60;
/// ... and one of fewer rows, too.
pub const ROWS_LEAST: u16 = 16;
/// A line that is longer is hard to read.
const COLUMNS_MOST: u16 = 100;
/// Rows of a frame; the jobs and the heat map take as many as there are.
const ROWS_MOST: u16 = 24;

/// The phase of a run that has ended: there is nothing left to do with keys.
pub const FINISHED: &str = "end";

/// Draw a run into a buffer; how many rows it took. Nothing is drawn past the
/// buffer's end.
pub fn draw(run: &LiveRun, view: LiveView, style: &ScreenStyle, buffer: &mut Buffer) -> u16 {
    let area = buffer.area;
    let columns = area.width.min(COLUMNS_MOST);
    let rows = area.height.min(ROWS_MOST);
    // The cursor has a row of its own below the buffer.
    let is_small = area.width < COLUMNS_LEAST || area.height.saturating_add(1) < ROWS_LEAST;
    if is_small && run.phase != FINISHED {
        return draw_small(run, style, buffer);
    }
    let mut lines = head(run, columns, style);
    let room = usize::from(rows).saturating_sub(lines.len() + 1);
    let mut body = match view {
        LiveView::Overview => overview(run, columns, style, room),
        LiveView::Jobs => jobs::table(&run.jobs, columns.into(), room),
        LiveView::HeatMap => series::heat_map(&run.windows, columns.into(), room, style),
        LiveView::Help => help(),
    };
    body.truncate(room);
    lines.append(&mut body);
    lines.truncate(usize::from(rows).saturating_sub(1));
    if run.phase != FINISHED {
        lines.push(keys(style));
    }
    let shown = lines.len().min(rows.into());
    for (row, line) in (area.y..).zip(lines.iter().take(shown)) {
        put(buffer, row, line, columns, style);
    }
    shown as u16
}

/// Draw into a terminal that has become too small since the run began: a line for the time,
/// one for each direction.
fn draw_small(run: &LiveRun, style: &ScreenStyle, buffer: &mut Buffer) -> u16 {
    let area = buffer.area;
    let left = run.left_s.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let mut lines = vec![format!("{} {}{left}", run.phase, clock(run.elapsed_s))];
    let dirs = DIRS.into_iter().filter_map(|dir| Some((dir.name(), run.dirs[dir].as_ref()?)));
    for (name, rate) in dirs.chain(run.syncs.as_ref().map(|rate| ("sync", rate))) {
        let p99 = rate
            .percentiles_ns
            .map_or(String::new(), |[_, p99, _]| format!(", p99 {}", duration(p99)));
        lines.push(format!("{name} {} IOPS{p99}", count(rate.iops)));
    }
    let shown = lines.len().min(area.height.into());
    for (row, line) in (area.y..).zip(lines.iter().take(shown)) {
        put(buffer, row, &Line::from(line.as_str()), area.width, style);
    }
    shown as u16
}

/// Put a line into a row, without colours where there are none.
fn put(buffer: &mut Buffer, row: u16, line: &Line<'_>, columns: u16, style: &ScreenStyle) {
    let x = buffer.area.x;
    buffer.set_line(x, row, line, columns);
    if !style.colour {
        let area = Rect { x, y: row, width: buffer.area.width, height: 1 };
        buffer.set_style(area, Style::reset());
    }
}

/// What runs, and how much of it is done.
fn head(run: &LiveRun, columns: u16, style: &ScreenStyle) -> Vec<Line<'static>> {
    let paused = if style.paused { "paused  " } else { "" };
    let right = match run.left_s {
        Some(left) => {
            format!(
                "{paused}{}  {} / {}",
                run.phase,
                clock(run.elapsed_s),
                clock(run.elapsed_s + left)
            )
        }
        None => format!("{paused}{}  {}", run.phase, clock(run.elapsed_s)),
    };
    let title = sides(&run.title, &format!("{}   {right}", run.target), &right, columns.into());
    let mut lines = vec![Line::styled(title, Modifier::BOLD)];
    if let Some(done) = run.done {
        let done = done.clamp(0.0, 1.0);
        let tail = format!(" {:3.0} %", done * 100.0);
        let cells = usize::from(columns).saturating_sub(tail.len() + 3);
        let full = (cells as f64 * done) as usize;
        let (bar, rest) = ("#".repeat(full), " ".repeat(cells - full));
        lines.push(Line::from(format!(" [{bar}{rest}]{tail}")));
    }
    lines.extend(failed(run, columns));
    lines
}

/// A time: `01:05`, `2:01:05`.
fn clock(s: u64) -> String {
    match s / 3600 {
        0 => format!("{:02}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// Jobs that failed; the report says why.
fn failed(run: &LiveRun, columns: u16) -> Option<Line<'static>> {
    let names: Vec<&str> =
        run.jobs.iter().filter(|job| job.has_failed).map(|job| job.name.as_str()).collect();
    let all = counted(run.jobs.len() as u64, "job");
    let words = format!(" FAILED: {} of {all}: {}", names.len(), names.join(", "));
    let words: String = words.chars().take(columns.into()).collect();
    (!names.is_empty()).then(|| Line::styled(words, Color::Red))
}

/// Text at the left and at the right; the shorter right where both do not fit.
fn sides(left: &str, right: &str, shorter: &str, columns: usize) -> String {
    let room = columns.saturating_sub(2);
    let width = |text: &str| text.chars().count();
    let right = if width(left) + width(right) + 2 <= room { right } else { shorter };
    let left: String = left.chars().take(room.saturating_sub(width(right) + 2)).collect();
    let gap = room.saturating_sub(width(&left) + width(right));
    format!(" {left}{}{right}", " ".repeat(gap))
}

fn overview(run: &LiveRun, columns: u16, style: &ScreenStyle, room: usize) -> Vec<Line<'static>> {
    let mut lines = rates(run, columns);
    lines.extend(series::sparks(&run.windows, columns.into(), style));
    lines.extend(places(run, columns));
    let narrow = columns < 70;
    if !narrow {
        lines.push(depth(run));
    }
    // The least that is left of each list, findings before jobs.
    let left = room.saturating_sub(lines.len());
    let findings = run.findings.len().min(left);
    lines.extend(run.findings.iter().take(findings).map(|finding| finding_line(finding, columns)));
    if run.jobs.len() > 1 && columns >= 74 && left > findings {
        lines.push(jobs::summary(&run.jobs, run.jobs_running, columns.into()));
    }
    lines
}

/// The rates and percentiles of the last second. Narrow terminals leave out
/// p99.9, then the longest.
fn rates(run: &LiveRun, columns: u16) -> Vec<Line<'static>> {
    let (with_tail, with_max) = (columns >= 80, columns >= 76);
    let titles = ["IOPS", "MiB/s", "p50", "p99", "p99.9", "max", "errors"];
    let shown = [true, true, true, true, with_tail, with_max, true];
    let row = |name: &str, cells: [String; 7]| {
        let mut text = format!(" {name:<7}");
        for (cell, _) in cells.iter().zip(shown).filter(|(_, shown)| *shown) {
            text.push_str(&format!("{cell:>10}"));
        }
        text
    };
    let title = row("", titles.map(str::to_owned));
    let mut lines = vec![Line::styled(title, Modifier::DIM)];
    for dir in DIRS {
        if let Some(rate) = &run.dirs[dir] {
            let mib = significant(rate.bytes_per_s / f64::from(1 << 20));
            lines.push(Line::from(row(dir.name(), cells(rate, mib))));
        }
    }
    if let Some(rate) = &run.syncs {
        lines.push(Line::from(row("sync", cells(rate, String::new()))));
    }
    lines
}

fn cells(rate: &LiveRate, mib: String) -> [String; 7] {
    let percentile =
        |at: usize| rate.percentiles_ns.map_or("-".to_owned(), |all| duration(all[at]));
    [
        count(rate.iops),
        mib,
        percentile(0),
        percentile(1),
        percentile(2),
        rate.max_ns.map_or("-".to_owned(), duration),
        rate.errors.to_string(),
    ]
}

/// Where the bytes went; parts that do not fit are left out.
fn places(run: &LiveRun, columns: u16) -> Option<Line<'static>> {
    let places = &run.places;
    let mut parts = Vec::new();
    if let Some(memory) = places.reads_from_memory {
        let device = percent(1.0 - memory);
        parts.push(format!("reads: device {device}, cache {}", percent(memory)));
    }
    if let Some(dirty) = places.only_in_memory.filter(|_| places.written > 0) {
        let share = percent((dirty as f64 / places.written as f64).min(1.0));
        parts.push(format!("writes: still dirty {share} ({})", bytes(dirty)));
    }
    for (name, [read, written]) in &places.devices {
        parts.push(match (read, written) {
            (0, written) => format!("{name}: {} written", bytes(*written)),
            (read, 0) => format!("{name}: {} read", bytes(*read)),
            (read, written) => {
                format!("{name}: {} read, {} written", bytes(*read), bytes(*written))
            }
        });
    }
    let mut text = " where".to_owned();
    let mut room = usize::from(columns).saturating_sub(text.len());
    for part in &parts {
        let width = part.chars().count() + 2;
        if width > room {
            break;
        }
        text.push_str("  ");
        text.push_str(part);
        room -= width;
    }
    (!parts.is_empty()).then(|| Line::from(text))
}

/// Queue depth and processor time.
fn depth(run: &LiveRun) -> Line<'static> {
    let mut parts = vec![format!("requested {}", run.depth_requested)];
    parts.extend(run.depth_observed.map(|depth| format!("observed {}", significant(depth))));
    parts.extend(run.depth_at_device.map(|depth| format!("at device {}", significant(depth))));
    let mut text = format!(" depth  {}", parts.join("  "));
    if let Some([user, system]) = run.cpu.map(|cpu| cpu.map(|share| share * 100.0)) {
        text.push_str(&format!("   cpu {user:.0} % user {system:.0} % system"));
    }
    Line::from(text)
}

/// `! text   [id]`; what does not fit is left out of the text.
fn finding_line(finding: &super::LiveFinding, columns: u16) -> Line<'static> {
    let colour = match finding.severity {
        Severity::Wrong | Severity::Other(_) => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Note => Color::Reset,
    };
    let id = format!("[{}]", finding.id);
    let room = usize::from(columns).saturating_sub(id.chars().count() + 6);
    let text = iosonde_base::text::fit(&finding.text, room);
    Line::from(vec![
        Span::styled(" ! ", Style::new().fg(colour).add_modifier(Modifier::BOLD)),
        Span::styled(text, Style::new().fg(colour)),
        Span::from(format!("  {id}")),
    ])
}

fn keys(style: &ScreenStyle) -> Line<'static> {
    let text = match (style.keys, style.paused) {
        (false, _) => " Ctrl-C ends the run with its report",
        (true, false) => " q end and report   p pause   j jobs   h heat map   s status   ? help",
        (true, true) => " q end and report   p go on   j jobs   h heat map   s status   ? help",
    };
    Line::styled(text, Modifier::DIM)
}

fn help() -> Vec<Line<'static>> {
    let lines = [
        " q  end the run and print its report, as Ctrl-C does; twice: at once",
        " p  stop drawing, and go on; the run is not paused",
        " j  all jobs, the slowest first; again: back",
        " h  durations of I/Os over time; again: back",
        " s  print the report so far above this view, as SIGUSR1 does",
        " ?  this help; again: back",
        "",
        " Figures are of the last second; percentiles are those of its I/Os.",
        " explain ID prints the meaning of a finding: iosonde explain not-steady",
    ];
    lines.into_iter().map(Line::from).collect()
}
