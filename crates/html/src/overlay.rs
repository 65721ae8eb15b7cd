//! Several runs: a row for each, and their charts over one another.

use crate::PageRun;
use crate::charts::lines::{ChartLine, LinePoint, LineStyle, LinesChart};
use crate::charts::{lines, percentiles};
use crate::figures::{NamedLatency, latencies, ledger, series, totals};
use crate::unit::FigureUnit;
use iosonde_base::text::{bytes, count, counted, duration, rate};
use iosonde_base::{DIRS, Dir};
use iosonde_report::finding::Finding;
use iosonde_report::series::{RunSeries, SeriesWindow};
use iosonde_report::{JobReport, Report};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// Runs whose lines differ to the eye.
const LINES_MOST: usize = 10;
/// Windows that are drawn at most.
const WINDOWS_MOST: usize = 300;
/// Below this no cache of a drive shows.
const WRITTEN_LEAST: u64 = 1 << 30;
/// Settings that are named of a run at most.
const SETTINGS_MOST: usize = 12;

/// The runs, their names without the folder that all have in common.
pub fn with_short_names<'a>(runs: &[PageRun<'a>]) -> Vec<PageRun<'a>> {
    let folder = |name: &str| name.rfind('/').map_or(0, |at| at + 1);
    let mut common = runs.first().map_or("", |run| &run.name[..folder(run.name)]);
    while !runs.iter().all(|run| run.name.starts_with(common)) {
        common = &common[..folder(common.trim_end_matches('/'))];
    }
    let cut = if runs.len() > 1 { common.len() } else { 0 };
    runs.iter().map(|run| PageRun { name: &run.name[cut..], ..*run }).collect()
}

/// `3 runs: read IOPS from 12.9k (a.json) to 47.9k (c.json).`: the answer to what one compares
/// runs for.
fn sentence(runs: &[PageRun<'_>]) -> String {
    let mut words = Vec::new();
    let is_bad = |run: &&PageRun| {
        let conclusion = run.report.ours.conclusion.as_ref();
        conclusion.is_some_and(crate::parts::is_bad)
    };
    let bad = runs.iter().filter(is_bad).count() as u64;
    if bad > 0 {
        words.push(format!(
            "{} failed or {} stopped",
            counted(bad, "run"),
            if bad == 1 { "was" } else { "were" }
        ));
    }
    for dir in DIRS {
        let iops = |run: &PageRun| {
            let totals = totals(run.report);
            let (_, total) = totals.into_iter().find(|(name, _)| *name == dir.name())?;
            Some((run.name.to_owned(), total.iops()))
        };
        let all: Vec<(String, f64)> = runs.iter().filter_map(iops).collect();
        let order = |one: &&(String, f64), other: &&(String, f64)| one.1.total_cmp(&other.1);
        if let (Some(least), Some(most), true) =
            (all.iter().min_by(order), all.iter().max_by(order), all.len() > 1)
        {
            words.push(format!(
                "{} IOPS from {} ({}) to {} ({})",
                dir.name(),
                count(least.1),
                least.0,
                count(most.1),
                most.0
            ));
        }
    }
    if words.is_empty() { String::new() } else { format!("{}.", words.join("; ")) }
}

/// The part of all runs together.
pub(crate) fn section(runs: &[PageRun<'_>]) -> Markup {
    let more = runs.len().saturating_sub(LINES_MOST);
    html! {
        section.overview {
            h1 { (counted(runs.len() as u64, "run")) }
            @let sentence = sentence(runs);
            @if !sentence.is_empty() { p.conclusion { (sentence) } }
            (results(runs))
            (figures(runs))
            @if more > 0 { p.note { "The charts have the first " (LINES_MOST) " runs." } }
            div.charts { (charts(&runs[..runs.len().min(LINES_MOST)])) }
        }
    }
}

/// How each came out, and what it was set to.
fn results(runs: &[PageRun<'_>]) -> Markup {
    let settings = differing(runs);
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { @for head in ["run", "conclusion", "findings", "settings that differ"] {
                    th scope="col" class=(if head == "run" { "" } else { "words" }) { (head) }
                } } }
                tbody { @for (number, (run, own)) in runs.iter().zip(&settings).enumerate() {
                    @let conclusion = run.report.ours.conclusion.as_ref();
                    tr {
                        th scope="row" { a href={ "#run-" (number + 1) } { (run.name) } }
                        @match conclusion {
                            Some(conclusion) => td.words class=[crate::parts::is_bad(conclusion).then_some("fail")] {
                                (conclusion.text)
                            },
                            None => td.words { "none: not a result of iosonde" },
                        }
                        td.words { (finding_ids(run)) }
                        td.words { (own) }
                    }
                } }
            }
        }
    }
}

fn own_findings<'a>(run: &PageRun<'a>) -> &'a [Finding] {
    ledger(run.report).map_or(run.findings, |ledger| &ledger.verdict)
}

/// Which runs have findings, and which; `None` where none has.
pub(crate) fn findings(runs: &[PageRun<'_>]) -> Option<Markup> {
    let doubtful: Vec<&PageRun<'_>> =
        runs.iter().filter(|run| !own_findings(run).is_empty()).collect();
    (!doubtful.is_empty()).then(|| {
        html! {
            h2 { "Findings" }
            div.scroll tabindex="0" {
                table {
                    thead { tr { th scope="col" { "result" } th.words scope="col" { "findings" } } }
                    tbody { @for run in doubtful {
                        tr { th scope="row" { (run.name) } td.words { (finding_ids(run)) } }
                    } }
                }
            }
            p.note { (iosonde_base::text::counted(runs.len() as u64, "result")) " in all." }
        }
    })
}

fn finding_ids(run: &PageRun<'_>) -> String {
    let ids: Vec<String> = own_findings(run)
        .iter()
        .map(|one| format!("{} ({})", one.id, one.severity.word()))
        .collect();
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}

fn figures(runs: &[PageRun<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                thead { tr {
                    @for head in ["run", "direction", "IOPS", "bandwidth", "p50", "p99", "p99.9", "max", "moved"] {
                        th scope="col" { (head) }
                    }
                } }
                tbody {
                    @for (number, run) in runs.iter().enumerate() {
                        @for (name, total) in totals(run.report) {
                            @let at = |percent| total.latency.at(percent).map_or("-".to_owned(), duration);
                            tr {
                                th scope="row" { a href={ "#run-" (number + 1) } { (run.name) } }
                                td { (name) }
                                td { (count(total.iops())) }
                                td { (rate(total.bytes_per_s())) }
                                td { (at(50.0)) }
                                td { (at(99.0)) }
                                td { (at(99.9)) }
                                td { (duration(total.latency.max_ns)) }
                                td { (bytes(total.bytes)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Of each run the settings that are not the same in all.
fn differing(runs: &[PageRun<'_>]) -> Vec<String> {
    let all: Vec<BTreeMap<String, String>> = runs.iter().map(|run| settings(run.report)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let differs = |name: &&&String| all.iter().any(|one| one.get(**name) != all[0].get(**name));
    let names: Vec<&String> = names.iter().filter(differs).copied().collect();
    let words = |one: &BTreeMap<String, String>| {
        let set = names.iter().filter_map(|name| Some(format!("{name}={}", one.get(*name)?)));
        let set: Vec<String> = set.collect();
        match (set.len(), set.len().saturating_sub(SETTINGS_MOST)) {
            (0, _) => "none".to_owned(),
            (_, 0) => set.join(" "),
            (_, more) => format!("{} and {more} more", set[..SETTINGS_MOST].join(" ")),
        }
    };
    all.iter().map(words).collect()
}

/// What a run was set to, and what it ran on.
fn settings(report: &Report) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let several = report.jobs.len() > 1;
    let mut add = |job: &str, name: &str, value: &str| {
        let name =
            if several && !job.is_empty() { format!("{job}.{name}") } else { name.to_owned() };
        all.insert(name, value.to_owned());
    };
    match &report.ours.settings {
        Some(settings) => settings.jobs.iter().for_each(|job| {
            let set = job.options.iter().filter(|option| !option.is_implied());
            set.for_each(|option| add(&job.name, &option.name, &option.value));
        }),
        None => {
            let global = report.global_options.iter().flatten();
            global.for_each(|(name, value)| add("", name, value));
            for job in &report.jobs {
                job.options.iter().for_each(|(name, value)| add(&job.name, name, value));
            }
        }
    }
    if let Some(ledger) = ledger(report) {
        let environment = &ledger.environment;
        add("", "kernel", &environment.kernel);
        environment.host.iter().for_each(|host| add("", "host", host));
        let devices = ledger.devices.iter().filter(|device| device.level == 0);
        let names: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
        add("", "disk", &names.join(","));
    }
    all
}

fn charts(runs: &[PageRun<'_>]) -> Markup {
    html! {
        div { (rates(runs).unwrap_or_default()) (cliffs(runs).unwrap_or_default()) }
        div { (percentile_charts(runs)) }
    }
}

fn named(runs: &[PageRun<'_>], points: impl Fn(&RunSeries) -> Vec<LinePoint>) -> Vec<ChartLine> {
    let line = |(number, run): (usize, &PageRun)| {
        let points = points(&series(run.report)?.in_at_most(WINDOWS_MOST));
        (points.len() > 1).then(|| ChartLine {
            name: run.name.to_owned(),
            style: LineStyle::Series(number),
            points,
            gap: f64::INFINITY,
        })
    };
    runs.iter().enumerate().filter_map(line).collect()
}

fn chart(
    id: &str,
    title: &str,
    finding: &str,
    x: (FigureUnit, &str),
    lines: Vec<ChartLine>,
) -> Option<Markup> {
    lines::chart(&LinesChart {
        id: id.to_owned(),
        title: title.to_owned(),
        finding: finding.to_owned(),
        x: (x.0, x.1.to_owned()),
        y: FigureUnit::BytesPerSecond,
        is_log: false,
        lines,
        range: None,
        table: (Vec::new(), Vec::new()),
    })
}

/// The rate over time of each run.
fn rates(runs: &[PageRun<'_>]) -> Option<Markup> {
    let points = |series: &RunSeries| {
        let windows = series.windows.iter().enumerate();
        let rate = |(at, window): (usize, &SeriesWindow)| {
            let rate = window.bytes()? as f64 / series.rate_seconds(at)?;
            Some(LinePoint::single(series.middle_s(at), rate))
        };
        windows.filter_map(rate).collect()
    };
    let finding = "All directions together, from the start of each run.";
    let x = (FigureUnit::Count, "seconds");
    chart("rates", "Rate over time of all runs", finding, x, named(runs, points))
}

/// The write rate against the bytes written of each run that wrote a GiB or more.
fn cliffs(runs: &[PageRun<'_>]) -> Option<Markup> {
    let points = |series: &RunSeries| {
        let mut written = 0u64;
        let mut points = Vec::new();
        for (at, window) in series.windows.iter().enumerate() {
            let moved = window.dirs[Dir::Write].bytes;
            let middle = written as f64 + moved as f64 / 2.0;
            let seconds = series.rate_seconds(at);
            points.extend(seconds.map(|seconds| LinePoint::single(middle, moved as f64 / seconds)));
            written += moved;
        }
        if written < WRITTEN_LEAST { Vec::new() } else { points }
    };
    let finding = "Where a line falls, a fast cache has ended.";
    let x = (FigureUnit::Bytes, "written");
    chart("cliffs", "Write rate against bytes written of all runs", finding, x, named(runs, points))
}

/// A chart for each kind of latency that a run has.
fn percentile_charts(runs: &[PageRun<'_>]) -> Markup {
    let mut kinds: Vec<(String, Vec<NamedLatency>)> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let jobs: Vec<&JobReport> = run.report.jobs.iter().collect();
        for one in latencies(run.report, &jobs) {
            let kind = one.name.clone();
            let class = LineStyle::Series(number).class();
            let named = NamedLatency { name: run.name.to_owned(), class, ..one };
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, all)) => all.push(named),
                None => kinds.push((kind, vec![named])),
            }
        }
    }
    kinds.retain(|(_, all)| all.len() > 1);
    html! {
        @for (number, (kind, all)) in kinds.iter().enumerate() {
            (percentiles::titled(&format!("latencies-{}", number + 1),
                &format!("Latency by percentile of all runs: {kind}"), all).unwrap_or_default())
        }
    }
}
