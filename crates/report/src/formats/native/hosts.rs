//! Several hosts in our own report: what they did together, a row for each, and where
//! they differ.

use crate::formats::style::{Mark, Style, add_labelled, add_narrow_row, paint};
use crate::hosts::*;
use crate::ledger::Fact;
use iosonde_base::text::{bytes, count, counted, duration, fit, percent, percent_of, rate};
use iosonde_base::{DIRS, Dir};
use std::cmp::Ordering;

/// Columns that are not the host's name: direction, IOPS, bandwidth, p50, p99, first done,
/// last done.
const OTHER_COLUMNS: usize = 7 + 8 + 12 + 9 + 9 + 12 + 12;
/// Columns of a host's name at least.
const NAME_COLUMNS_MIN: usize = 10;
/// More hosts than this have no row each, unless all figures are wanted.
const ROWS_MOST: usize = 48;
/// Of those that have one the slowest, and the fastest.
const SLOWEST_SHOWN: usize = 24;
const FASTEST_SHOWN: usize = 8;

pub(super) fn add_hosts(hosts: &HostsReport, style: &Style, text: &mut String) {
    let several = hosts.groups.len() > 1;
    for group in &hosts.groups {
        if several {
            let began = match hosts.began_ns(group.group) {
                0 => String::new(),
                ns => format!(", {} after the first", duration(ns)),
            };
            let heading = format!("group {}{began}", group.group);
            text.push_str(&paint(heading, Mark::Heading, style));
            text.push('\n');
        }
        add_group(group, hosts, style, text);
        text.push('\n');
    }
    for host in &hosts.hosts {
        if let Some(failure) = &host.failure {
            let words = format!("{}: {failure}", host.name);
            add_labelled("failed", &words, Mark::Error, style, text);
        }
    }
    add_bytes(hosts, style, text);
    for finding in &hosts.findings {
        let words = match finding.hosts.as_slice() {
            [one] => format!("{one}: {} [{}]", finding.statement, finding.id),
            some => format!(
                "{} of {}: {} (figures of {}) [{}]",
                some.len(),
                counted(hosts.hosts.len() as u64, "host"),
                finding.statement,
                some[0],
                finding.id
            ),
        };
        add_labelled(finding.severity.word(), &words, Mark::Note, style, text);
    }
}

fn add_group(group: &GroupTogether, hosts: &HostsReport, style: &Style, text: &mut String) {
    let rows = rows(group.group, hosts, style);
    let longest = rows.iter().map(|(host, _)| host.name.chars().count()).max().unwrap_or(0);
    let room = style.columns.saturating_sub(OTHER_COLUMNS);
    let columns = (longest + 1).clamp(NAME_COLUMNS_MIN, room.max(NAME_COLUMNS_MIN));
    let is_wide = style.columns >= NAME_COLUMNS_MIN + OTHER_COLUMNS;
    if is_wide {
        let heads = ["IOPS", "bandwidth", "p50", "p99", "first done", "last done"];
        let head = row("host", columns, "", heads.map(str::to_owned));
        text.push_str(&paint(head.trim_end(), Mark::Label, style));
        text.push('\n');
    }
    let began = hosts.began_ns(group.group);
    if let Ok(total) = &group.total {
        for dir in DIRS.into_iter().filter(|&dir| total[dir].sum.ios > 0) {
            let cells = cells(&total[dir].sum, [String::new(), String::new()]);
            add_row("all", (dir, cells), (is_wide, columns), style, text);
        }
    }
    if group.shows_whole() {
        let first = rows.iter().map(|(_, own)| own.first_done_ns).min().unwrap_or(0);
        for dir in DIRS.into_iter().filter(|&dir| group.whole.dirs[dir].ios > 0) {
            let done = [first.saturating_sub(began), group.whole.ns].map(duration);
            let cells = cells(&group.whole.dirs[dir], done);
            add_row("whole", (dir, cells), (is_wide, columns), style, text);
        }
    }
    for (host, one) in &rows {
        let mut name = host.name.as_str();
        for dir in DIRS.into_iter().filter(|&dir| one.dirs[dir].ios > 0) {
            let done =
                [one.first_done_ns, one.ended_ns].map(|ns| duration(ns.saturating_sub(began)));
            let cells = cells(&one.dirs[dir], done);
            add_row(name, (dir, cells), (is_wide, columns), style, text);
            name = "";
        }
        if !name.is_empty() {
            text.push_str(&format!("{}no I/O\n", fit(name, columns)));
        }
    }
    let took_part = hosts.hosts.iter().filter(|host| host.of_group(group.group).is_some()).count();
    if rows.len() < took_part {
        let words = format!(
            "{} of {took_part} hosts: the slowest {SLOWEST_SHOWN} and the fastest {FASTEST_SHOWN}; \
             --verbose prints all",
            rows.len()
        );
        add_labelled("shown", &words, Mark::Label, style, text);
    }
    add_words(group, style, text);
}

/// The hosts of a group that have a row: all, or of many the slowest and the fastest.
fn rows<'a>(
    group: u32,
    hosts: &'a HostsReport,
    style: &Style,
) -> Vec<(&'a HostRow, &'a HostGroup)> {
    let of = |host: &'a HostRow| host.of_group(group).map(|own| (host, own));
    let mut all: Vec<_> = hosts.hosts.iter().filter_map(of).collect();
    if all.len() > ROWS_MOST && !style.verbose {
        let rate = |one: &HostGroup| one.dirs.0.iter().map(|dir| dir.bytes_per_s).sum::<f64>();
        let order = |a: &(&HostRow, &HostGroup), b: &(&HostRow, &HostGroup)| -> Ordering {
            rate(a.1).total_cmp(&rate(b.1))
        };
        iosonde_base::sort_by(&mut all, order);
        all.drain(SLOWEST_SHOWN..all.len() - FASTEST_SHOWN);
    }
    all
}

/// Rate and latencies of a row, and when its first and its last job were done.
fn cells(rates: &DirRates, [first, last]: [String; 2]) -> [String; 6] {
    let DirRates { iops, bytes_per_s, p50_ns, p99_ns, .. } = *rates;
    [count(iops), rate(bytes_per_s), latency(p50_ns), latency(p99_ns), first, last]
}

fn row(name: &str, columns: usize, dir: &str, cells: [String; 6]) -> String {
    let [iops, bandwidth, p50, p99, first, last] = cells;
    let name = fit(name, columns - 1) + " ";
    format!("{name}{dir:<7}{iops:>8}{bandwidth:>12}{p50:>9}{p99:>9}{first:>12}{last:>12}")
}

fn add_row(
    name: &str,
    (dir, cells): (Dir, [String; 6]),
    (is_wide, columns): (bool, usize),
    style: &Style,
    text: &mut String,
) {
    if is_wide {
        text.push_str(row(name, columns, dir.name(), cells).trim_end());
        text.push('\n');
        return;
    }
    let [iops, bandwidth, p50, p99, first, last] = cells;
    let mut words =
        vec![format!("{iops} IOPS"), bandwidth, format!("p50 {p50}"), format!("p99 {p99}")];
    if !last.is_empty() {
        words.push(format!("done {first} to {last}"));
    }
    add_narrow_row(&format!("{name} {}", dir.name()), &words, style, text);
}

fn latency(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".to_owned(), duration)
}

/// The verdict on the overlap, the skew and the slowest host.
fn add_words(group: &GroupTogether, style: &Style, text: &mut String) {
    match &group.total {
        Ok(_) => {
            let basis = if group.from_series {
                ""
            } else {
                "; the total is the sum of mean rates, as not all results have a series"
            };
            let words = format!(
                "all hosts ran together for {} ({} of the longest run){basis}",
                duration(group.common_ns),
                percent(group.overlap)
            );
            add_labelled("together", &words, Mark::Label, style, text);
        }
        Err(why) => add_labelled("no total", why, Mark::Error, style, text),
    }
    if group.shows_whole() {
        let words = format!(
            "all work of all hosts, over {} from the first start to the last end",
            duration(group.whole.ns)
        );
        add_labelled("whole", &words, Mark::Label, style, text);
    }
    let clocks = match group.clock_error_ns {
        Some(error) => format!("clocks compared within {}", duration(error)),
        None => "clocks not compared: limited by clock synchronisation between hosts".to_owned(),
    };
    let words = format!(
        "start {}, end {}; {clocks}",
        duration(group.start_skew_ns),
        duration(group.end_skew_ns)
    );
    add_labelled("skew", &words, Mark::Label, style, text);
    if let Some(slowest) = &group.slowest {
        let words =
            format!("{}: {} of the median host's rate", slowest.name, percent(slowest.of_median));
        add_labelled("slowest", &words, Mark::Label, style, text);
    }
}

/// Where the bytes of all hosts came from and went.
fn add_bytes(hosts: &HostsReport, style: &Style, text: &mut String) {
    let Some(all) = hosts.bytes() else { return };
    if all.read > 0 {
        let words = match (&all.read_device, &all.read_cache) {
            (Fact::Known(device), Fact::Known(cache)) => format!(
                "{}: {} ({}) from devices, {} from page caches",
                bytes(all.read),
                bytes((*device).min(all.read)),
                percent_of((*device).min(all.read), all.read),
                bytes(*cache)
            ),
            (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => {
                format!("{}: from where is unknown of one host at least: {why}", bytes(all.read))
            }
        };
        add_labelled("reads", &words, Mark::Label, style, text);
    }
    if all.written > 0 {
        let words = match &all.dirty_at_end {
            Fact::Known(dirty) => format!(
                "{}: {} still dirty in page caches at the end of the run",
                bytes(all.written),
                bytes(*dirty)
            ),
            Fact::Unknown(why) => {
                format!(
                    "{}: state at the end unknown of one host at least: {why}",
                    bytes(all.written)
                )
            }
        };
        add_labelled("writes", &words, Mark::Label, style, text);
    }
}
