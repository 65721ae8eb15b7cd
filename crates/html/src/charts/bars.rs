//! Bars with numbers: where the bytes went, depth, processor time.

use super::frame::{Chart, LEFT, RIGHT, at, cut, width};
use iosonde_base::text::{bytes, count, duration, percent_of};
use iosonde_report::ledger::{Fact, Ledger, Reads, Writes};
use maud::{Markup, html};

/// A part of a bar: its class, its words, its bytes.
struct BarPart {
    class: &'static str,
    name: String,
    bytes: u64,
}

/// Where the bytes went: did the device see them?
pub(crate) fn bytes_chart(ledger: &Ledger) -> Option<Markup> {
    let mut bars: Vec<(&str, u64, Vec<BarPart>)> = Vec::new();
    if let Some(reads) = ledger.reads.as_ref().filter(|reads| reads.completed_bytes > 0) {
        bars.push(("reads", reads.completed_bytes, read_parts(reads)));
    }
    if let Some(writes) = ledger.writes.as_ref().filter(|writes| writes.completed_bytes > 0) {
        bars.push(("writes", writes.completed_bytes, write_parts(writes)));
    }
    if bars.is_empty() {
        return None;
    }
    let finding = bars
        .iter()
        .map(|(name, all, parts)| {
            let share = |part: &BarPart| format!("{} {}", percent_of(part.bytes, *all), part.name);
            format!(
                "{} of {name}: {}",
                bytes(*all),
                parts.iter().map(share).collect::<Vec<_>>().join(", ")
            )
        })
        .collect::<Vec<_>>()
        .join(". ");
    let mut height = 8.0;
    let mut tops = Vec::new();
    for (_, _, parts) in &bars {
        tops.push(height);
        height += BAR + KEY_LINE * parts.len() as f64;
    }
    let drawing = html! {
        @for (top, (name, all, parts)) in tops.iter().zip(&bars) {
            (stacked(*top, name, *all, parts))
        }
    };
    let chart = Chart {
        id: "bytes",
        title: "Where the bytes went",
        finding: format!("{finding}."),
        height,
        drawing,
        table: (Vec::new(), Vec::new()),
    };
    Some(chart.markup())
}

fn part(class: &'static str, name: impl Into<String>, bytes: u64) -> BarPart {
    BarPart { class, name: name.into(), bytes }
}

fn read_parts(reads: &Reads) -> Vec<BarPart> {
    let all = reads.completed_bytes;
    let mut parts = Vec::new();
    match (&reads.device_bytes, &reads.cache_bytes) {
        (Fact::Known(_), Fact::Known(cache)) => {
            let holes = reads.hole_bytes.get().unwrap_or(0).min(all);
            let cache = (*cache).min(all - holes);
            parts.push(part("device", "from the device", all - holes - cache));
            parts.push(part("memory", "from the page cache", cache));
            parts.push(part("hole", "from holes", holes));
        }
        (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => {
            parts.push(part("unknown", format!("from somewhere unknown ({why})"), all));
        }
    }
    parts.retain(|part| part.bytes > 0);
    parts
}

fn write_parts(writes: &Writes) -> Vec<BarPart> {
    let all = writes.completed_bytes;
    let mut parts = Vec::new();
    match &writes.dirty_at_end_bytes {
        Fact::Known(dirty) => {
            let dirty = (*dirty).min(all);
            let (class, name) = match writes.in_volatile_cache {
                Fact::Known(true) => ("cache", "at the device, in its volatile write cache"),
                _ => ("device", "at the device"),
            };
            parts.push(part(class, name, all - dirty));
            parts.push(part("dirty", "still dirty in the page cache", dirty));
        }
        Fact::Unknown(why) => {
            parts.push(part("unknown", format!("somewhere unknown ({why})"), all));
        }
    }
    parts.retain(|part| part.bytes > 0);
    parts
}

/// Height of a bar with the space around it, and of a line of its key.
const BAR: f64 = 42.0;
const KEY_LINE: f64 = 19.0;

/// A bar of parts, and below it a line for each.
fn stacked(top: f64, name: &str, all: u64, parts: &[BarPart]) -> Markup {
    let width = RIGHT - LEFT;
    let mut left = LEFT;
    let placed: Vec<(f64, f64, &BarPart)> = parts
        .iter()
        .map(|part| {
            let wide = width * part.bytes as f64 / all.max(1) as f64;
            let place = (left, wide, part);
            left += wide;
            place
        })
        .collect();
    html! {
        text x=(at(LEFT - 8.0)) y=(at(top + 18.0)) text-anchor="end" { (name) }
        @for (x, wide, part) in &placed {
            rect class={ "part " (part.class) } x=(at(*x)) y=(at(top)) width=(at(*wide)) height="26" {}
        }
        @for (at_word, (_, _, part)) in placed.iter().enumerate() {
            @let y = top + 33.0 + KEY_LINE * at_word as f64;
            rect class={ "part " (part.class) } x=(at(LEFT)) y=(at(y)) width="12" height="12" {}
            text x=(at(LEFT + 18.0)) y=(at(y + 10.0)) {
                (percent_of(part.bytes, all)) " " (cut(shortened(&part.name), 46))
            }
        }
    }
}

/// Words beside a bar; the whole stands in the chart's sentence.
fn shortened(words: &str) -> &str {
    words.split(" (").next().unwrap_or(words)
}

/// A bar with a number.
struct NamedLevel {
    name: &'static str,
    value: f64,
    words: String,
}

/// Depth that was asked for, kept and seen, and the rate against the tester's
/// upper bound.
pub(crate) fn levels_chart(ledger: &Ledger, names: &[String]) -> Option<Markup> {
    // One job, so that its depth and its IOPS belong together.
    let jobs = ledger.jobs.iter().zip(names);
    let (busiest, name) = jobs.max_by(|a, b| a.0.cpu.iops.total_cmp(&b.0.cpu.iops))?;
    let depth = &busiest.depth;
    let level = |name: &'static str, value: f64| NamedLevel { name, value, words: count(value) };
    let mut depths = vec![level("requested", f64::from(depth.requested.max(1)))];
    depths.extend(depth.observed_by_job.get().map(|value| level("observed", value)));
    if ledger.jobs.len() == 1 {
        depths.extend(depth.observed_at_device.get().map(|value| level("at the device", value)));
    }
    let mut rates = vec![level("measured", busiest.cpu.iops)];
    rates.extend(busiest.cpu.upper_bound_iops.get().map(|bound| level("without storage", bound)));
    let cpu = (busiest.cpu.user_ns_per_io + busiest.cpu.system_ns_per_io).round() as u64;
    let drawing = html! {
        (levels(8.0, "depth", &depths))
        (levels(24.0 + 24.0 * depths.len() as f64, "IOPS", &rates))
    };
    let chart = Chart {
        id: "levels",
        title: "Queue depth and the limit of the tester",
        finding: format!(
            "Of job {}{}. Depth: I/Os in flight. IOPS: as measured, and of the same job without \
             storage{}.",
            name,
            if ledger.jobs.len() > 1 { ", the one with the most IOPS" } else { "" },
            if cpu > 0 {
                format!("; {} of CPU time per I/O", duration(cpu))
            } else {
                String::new()
            }
        ),
        height: 40.0 + 24.0 * (depths.len() + rates.len()) as f64,
        drawing,
        table: (Vec::new(), Vec::new()),
    };
    Some(chart.markup())
}

fn levels(top: f64, name: &str, all: &[NamedLevel]) -> Markup {
    let most = all.iter().map(|level| level.value).fold(f64::MIN_POSITIVE, f64::max);
    // Names on the left, numbers behind the longest bar.
    let (left, room) = (LEFT + 110.0, RIGHT - LEFT - 110.0 - 70.0);
    html! {
        text x=(at(LEFT - 8.0)) y=(at(top + 13.0)) text-anchor="end" { (name) }
        @for (row, level) in all.iter().enumerate() {
            @let y = top + 24.0 * row as f64;
            @let wide = (room * level.value / most).max(1.0);
            text x=(at(left - 8.0)) y=(at(y + 13.0)) text-anchor="end" { (level.name) }
            rect.level x=(at(left)) y=(at(y)) width=(at(wide)) height="16" {}
            text x=(at(left + wide + 6.0)) y=(at(y + 13.0)) { (level.words) }
        }
    }
}

/// Letters of a bar's name at most.
const NAME_LETTERS: usize = 26;

/// A bar of a separate chart.
pub(crate) struct NamedBar {
    pub name: String,
    pub value: f64,
    pub words: String,
    /// Its fill: `memory` is hatched.
    pub class: &'static str,
}

/// Bars from 0, each with its name on the left and its number behind it.
pub(crate) fn named_bars(id: &str, title: &str, finding: String, bars: &[NamedBar]) -> Markup {
    let most = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let left =
        bars.iter().map(|bar| width(&cut(&bar.name, NAME_LETTERS))).fold(0.0, f64::max) + 14.0;
    let words = bars.iter().map(|bar| width(&bar.words)).fold(0.0, f64::max) + 10.0;
    let room = (RIGHT - left - words).max(20.0);
    let drawing = html! {
        @for (row, bar) in bars.iter().enumerate() {
            @let y = 6.0 + 26.0 * row as f64;
            @let wide = (room * bar.value / most).max(1.0);
            text x=(at(left - 8.0)) y=(at(y + 14.0)) text-anchor="end" { (cut(&bar.name, NAME_LETTERS)) }
            rect class={ "part " (bar.class) } x=(at(left)) y=(at(y)) width=(at(wide)) height="18" {}
            text x=(at(left + wide + 6.0)) y=(at(y + 14.0)) { (bar.words) }
        }
    };
    let height = 14.0 + 26.0 * bars.len() as f64;
    Chart { id, title, finding, height, drawing, table: (Vec::new(), Vec::new()) }.markup()
}
