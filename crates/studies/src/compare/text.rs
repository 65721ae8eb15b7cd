//! A comparison as text: what was compared, a table, a conclusion.

use super::comparison::{JudgedFigure, RunDesign, SideComparison};
use super::likeness::RunPart;
use super::side::{CompareSide, SideRun};
use crate::trials::figures::Measure;
use iosonde_base::text::{counted, rough_time, significant};
use iosonde_command::format::{printable, wrapped};
use iosonde_judge::Decision;
use iosonde_report::finding::Severity;
use std::fmt::Write;

/// The comparison for a person.
pub fn text(comparison: &SideComparison, seed: Option<u64>) -> String {
    let mut out = String::new();
    head(&mut out, comparison, seed);
    table(&mut out, comparison);
    for (id, [a, b]) in finding_rows(comparison) {
        let _ = writeln!(out, " {:<18} {a:>11} {b:>11}", format!("[{id}]"));
    }
    job_rows(&mut out, comparison);
    out.push('\n');
    for line in conclusion(comparison) {
        wrapped(&mut out, " ", &line);
    }
    for remark in remarks(comparison) {
        wrapped(&mut out, " ", &remark);
    }
    out
}

/// What was compared, and how it came about.
fn head(out: &mut String, comparison: &SideComparison, seed: Option<u64>) {
    let [a, b] = &comparison.sides;
    let design = design_words(comparison, seed);
    let line = format!("A: {}; B: {}; {design}", printable(&a.name), printable(&b.name));
    wrapped(out, "compare   ", &line);
    let likeness = likeness_words(comparison);
    if !likeness.is_empty() {
        wrapped(out, "          ", &likeness);
    }
    for warning in comparison.likeness.warnings() {
        wrapped(out, "          ", &warning);
    }
    out.push('\n');
}

/// How the results came about.
pub fn design_words(comparison: &SideComparison, seed: Option<u64>) -> String {
    let [a, b] = [0, 1].map(|side: usize| comparison.sides[side].runs.len());
    match &comparison.design {
        RunDesign::Pairs { robust, .. } => {
            let seed = seed.map_or(String::new(), |seed| format!(" (seed {seed})"));
            let robust =
                if *robust && b >= 8 { ", without the smallest and the largest pair" } else { "" };
            format!("{}, random order{seed}{robust}", counted(b as u64, "pair"))
        }
        RunDesign::Unordered => format!("{a} and {b} results, not interleaved"),
        RunDesign::Sessions(sessions) => {
            let stored = counted(sessions.len() as u64, "stored session");
            format!("{stored} and one of {}", counted(b as u64, "run"))
        }
        RunDesign::Single(_) => "one run each".to_owned(),
    }
}

/// What is the same and what differs, as far as it is known.
pub fn likeness_words(comparison: &SideComparison) -> String {
    let likeness = &comparison.likeness;
    let names =
        |parts: &[RunPart]| parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !likeness.same.is_empty() {
        parts.push(format!("same {}", names(&likeness.same)));
    }
    let meant = likeness.differences.iter().filter(|one| one.is_meant);
    let meant: Vec<String> =
        meant.map(|one| format!("{} {} -> {}", one.what, one.a, one.b)).collect();
    if !meant.is_empty() {
        parts.push(format!("the job differs in: {}", meant.join(", ")));
    }
    if !likeness.unknown.is_empty() {
        parts.push(format!(
            "not known to be the same, as a result does not describe it: {}",
            names(&likeness.unknown)
        ));
    }
    parts.join("; ")
}

fn table(out: &mut String, comparison: &SideComparison) {
    let has_intervals = comparison.figures.iter().any(|figure| figure.judged.is_some());
    let interval = if has_intervals { "interval" } else { "" };
    let ratio = ratio_name(comparison);
    let head = format!(" {:<18} {:>11} {:>11} {ratio:>12}   {interval}", "", "A", "B");
    let _ = writeln!(out, "{}", head.trim_end());
    for figure in &comparison.figures {
        row(out, comparison, &label(figure), figure);
    }
}

/// What the ratios are of: of pairs they are the mean of their ratios, not the ratio of the
/// columns.
pub fn ratio_name(comparison: &SideComparison) -> &'static str {
    match comparison.design {
        RunDesign::Pairs { .. } => "B/A in pairs",
        _ => "B against A",
    }
}

fn row(out: &mut String, comparison: &SideComparison, name: &str, figure: &JudgedFigure) {
    let line = format!(
        " {name:<18} {:>11} {:>11} {:>12}   {:<16} {}",
        figure.figure.text(figure.a),
        figure.figure.text(figure.b),
        change(figure.ratio),
        interval_words(figure),
        decision_words(comparison, figure),
    );
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Jobs with rows of their own at most: JSON and the page have all.
const JOBS_MOST: usize = 16;

/// The rates and the p99 of each job, where there are several.
fn job_rows(out: &mut String, comparison: &SideComparison) {
    for job in comparison.jobs.iter().take(JOBS_MOST) {
        let note = job.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let _ = writeln!(out, "\n job {}{note}", printable(&job.name));
        let is_shown = |figure: &&JudgedFigure| {
            matches!(figure.figure.measure, Measure::Iops | Measure::Bandwidth)
                || matches!(figure.figure.measure, Measure::Latency(percent) if percent == 99.0)
        };
        for figure in job.figures.iter().filter(is_shown) {
            row(out, comparison, &format!("  {}", label(figure)), figure);
        }
    }
    if comparison.jobs.len() > JOBS_MOST {
        let more = comparison.jobs.len() - JOBS_MOST;
        let _ = writeln!(out, "\n {more} more jobs: --format=json and --html have all");
    }
}

/// The name of a figure; `*` where it is a median of percentiles.
pub fn label(figure: &JudgedFigure) -> String {
    let mark = if figure.is_median { " *" } else { "" };
    format!("{}{mark}", figure.figure.label())
}

/// A ratio as a change: `+13.3 %`, from twice or half on `3.38 x`.
pub fn change(ratio: f64) -> String {
    match ratio {
        _ if (0.5..2.0).contains(&ratio) => format!("{:+.1} %", (ratio - 1.0) * 100.0),
        _ => format!("{} x", significant(ratio)),
    }
}

/// The ends of an interval: `+6.9 .. +20.1`, `3.25 .. 3.51 x`.
pub fn interval_words(figure: &JudgedFigure) -> String {
    let Some(judged) = figure.judged else { return String::new() };
    let [low, high] = [judged.interval.low.exp(), judged.interval.high.exp()];
    let wide = |ratio: f64| !(0.01..100.0).contains(&ratio);
    match (0.5..2.0).contains(&figure.ratio) {
        _ if wide(low) || wide(high) => "unknown".to_owned(),
        true => format!("{:+.1} .. {:+.1}", (low - 1.0) * 100.0, (high - 1.0) * 100.0),
        false => format!("{} .. {} x", significant(low), significant(high)),
    }
}

/// The decision on a figure, in words.
pub fn decision_words(comparison: &SideComparison, figure: &JudgedFigure) -> String {
    match figure.decision() {
        Decision::Differs if comparison.design == RunDesign::Unordered => {
            "differs, and drift is not excluded".to_owned()
        }
        Decision::Differs => "differs".to_owned(),
        Decision::Same => format!("same within {}", margin(comparison)),
        Decision::CannotTell => "cannot tell".to_owned(),
    }
}

fn margin(comparison: &SideComparison) -> String {
    iosonde_base::text::short_percent(comparison.margin.ratio())
}

fn percent(ratio: f64) -> String {
    iosonde_base::text::percent(ratio)
}

/// The conclusion: a sentence on the deciding figure, and how much such runs
/// can show.
pub fn conclusion(comparison: &SideComparison) -> Vec<String> {
    let primary = comparison.primary();
    let name = primary.figure.label();
    let mut lines: Vec<String> = failed(comparison).into_iter().collect();
    lines.push(match primary.decision() {
        Decision::Differs => {
            let word = if primary.b_is_better { "better" } else { "worse" };
            let drift = if comparison.design == RunDesign::Unordered {
                "; the results were not interleaved, so a drift is not excluded"
            } else {
                ""
            };
            format!(
                "B is {word} in {name}: {} (interval {}){drift}",
                change(primary.ratio),
                interval_words(primary)
            ) + &tainted(comparison).map_or(String::new(), |words| format!("; doubtful: {words}"))
        }
        Decision::Same => {
            format!("A and B are the same in {name} within {}", margin(comparison))
        }
        Decision::CannotTell => cannot_tell(comparison),
    });
    lines.extend(power(comparison));
    lines
}

/// Findings that are more than notes, and in how many runs of each side: `3 of 5`.
pub fn finding_rows(comparison: &SideComparison) -> Vec<(&str, [String; 2])> {
    let runs = || comparison.sides.iter().flat_map(|side| &side.runs);
    let mut ids: Vec<&str> = runs().flat_map(warnings_of).collect();
    iosonde_base::sort(&mut ids);
    ids.dedup();
    let cells = |id: &str| {
        comparison.sides.each_ref().map(|side| {
            format!(
                "{} of {}",
                side.runs.iter().filter(|run| has(run, id)).count(),
                side.runs.len()
            )
        })
    };
    ids.into_iter().map(|id| (id, cells(id))).collect()
}

/// The findings of a run that are more than notes.
fn warnings_of(run: &SideRun) -> impl Iterator<Item = &str> {
    let verdict = run.report().ours.ledger.as_ref().map_or(&[][..], |ledger| &ledger.verdict);
    verdict.iter().filter(|one| one.severity > Severity::Note).map(|one| &*one.id)
}

fn has(run: &SideRun, id: &str) -> bool {
    warnings_of(run).any(|one| one == id)
}

/// Findings that make a difference doubtful: others used the device or the processors.
const TAINTS: [&str; 2] = ["other-traffic", "cpu-taken"];

/// Taints of most runs of a side.
pub fn tainted(comparison: &SideComparison) -> Option<String> {
    let mut parts = Vec::new();
    for (side, letter) in comparison.sides.iter().zip(["A", "B"]) {
        for id in TAINTS {
            let (found, all) =
                (side.runs.iter().filter(|run| has(run, id)).count(), side.runs.len());
            if found * 2 > all {
                let runs = counted(all as u64, "run");
                parts.push(format!("{id} in {found} of {runs} of {letter}"));
            }
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How many runs a side has, and the findings of them that are more than notes.
pub fn side_words(comparison: &SideComparison, side: usize) -> String {
    let runs = counted(comparison.sides[side].runs.len() as u64, "run");
    let rows = finding_rows(comparison).into_iter();
    let found = rows.filter(|(_, cells)| !cells[side].starts_with("0 of "));
    let each = found.map(|(id, cells)| format!("{id} in {}", cells[side]));
    std::iter::once(runs).chain(each).collect::<Vec<_>>().join(", ")
}

/// Runs that failed, which come first.
pub fn failed(comparison: &SideComparison) -> Option<String> {
    let runs = || comparison.sides.iter().flat_map(|side| &side.runs);
    let failed: Vec<&SideRun> = runs().filter(|run| run.has_failed()).collect();
    let first = failed.first()?;
    let why = first.report().ours.conclusion.as_ref().map_or("", |one| one.text.as_str());
    let why = why.strip_prefix("FAILED: ").unwrap_or(why);
    let (some, all) = (failed.len(), counted(runs().count() as u64, "run"));
    Some(format!("FAILED: {some} of {all}: {}: {why}", first.file))
}

fn cannot_tell(comparison: &SideComparison) -> String {
    let primary = comparison.primary();
    let name = primary.figure.label();
    if comparison.is_unreliable {
        return format!(
            "cannot tell whether {name} differs: more than 20 % of the runs are unusable as samples (below)"
        );
    }
    if primary.judged.is_none() {
        return match &comparison.design {
            RunDesign::Single(_) => format!(
                "{name}: one run each: cannot tell; run both in pairs: iosonde compare A.fio B.fio, \
                 or give the known scatter of a run with --noise=4%"
            ),
            RunDesign::Sessions(sessions) => format!(
                "{name}: cannot tell: {} stored sessions; at least 5 show how much sessions differ",
                sessions.len()
            ),
            _ => format!("{name}: cannot tell: at least 2 runs a side are needed"),
        };
    }
    format!("cannot tell whether {name} differs by {} or more", margin(comparison))
}

/// What such runs can show.
fn power(comparison: &SideComparison) -> Vec<String> {
    let primary = comparison.primary();
    let mut lines = Vec::new();
    if let (Some(detectable), RunDesign::Pairs { .. }) = (primary.detectable, &comparison.design) {
        let pairs = counted(comparison.count() as u64, "pair");
        lines.push(if primary.decision() == Decision::CannotTell && !comparison.is_unreliable {
            let advice = advice(comparison, primary.pairs_needed);
            format!(
                "these runs scatter too much: with {pairs} only a difference above {} could be \
                     seen; {advice}",
                size_of(detectable)
            )
        } else {
            format!(
                "runs vary by {}: only differences above {} can be detected with {pairs}",
                percent(primary.scatter.unwrap_or(0.0)),
                percent(detectable)
            )
        });
        lines.push("intervals are of 95 %, for each figure by itself".to_owned());
    } else if let (Some(detectable), true) = (primary.detectable, primary.judged.is_some()) {
        lines.push(format!(
            "only differences above {} can be detected with such results",
            percent(detectable)
        ));
    }
    lines
}

/// A difference as a share; from twice on as a factor.
fn size_of(difference: f64) -> String {
    if difference < 1.0 {
        percent(difference)
    } else {
        format!("a factor of {:.1}", 1.0 + difference)
    }
}

/// What would show a difference of the margin: so many pairs, and how long they take.
fn advice(comparison: &SideComparison, pairs: Option<usize>) -> String {
    let place = if tainted(comparison).is_some() { " on a quiet machine" } else { "" };
    let Some(pairs) = pairs else {
        return "compare on a quiet machine, or with longer runs".to_owned();
    };
    let pair_ns: u64 = comparison.sides.iter().map(mean_run_ns).sum();
    let takes = match pair_ns {
        0 => String::new(),
        _ => format!(", {}", rough_time(pair_ns as f64 * pairs as f64 / 1e9)),
    };
    format!("run {pairs} pairs{place} (--repeats={pairs}{takes})")
}

/// How long a run of a side takes; 0 where that is not known.
fn mean_run_ns(side: &CompareSide) -> u64 {
    let ledgers = side.runs.iter().filter_map(|run| run.report().ours.ledger.as_ref());
    let walls: Vec<u64> = ledgers.map(|ledger| ledger.machine.wall_ns).collect();
    walls.iter().sum::<u64>().checked_div(walls.len() as u64).unwrap_or(0)
}

/// What else is to be known.
pub fn remarks(comparison: &SideComparison) -> Vec<String> {
    let mut remarks = comparison.remarks.clone();
    for figure in &comparison.figures {
        if let Some((low, high)) = figure.between_modes {
            let text = |ns: f64| iosonde_base::text::duration(ns as u64);
            remarks.push(format!(
                "{} lies between two modes ({}, {}): its changes are jumps from one to the other; \
                 compare other percentiles",
                figure.figure.label(),
                text(low),
                text(high)
            ));
        }
    }
    let differs = |figure: &&JudgedFigure| {
        figure.a > 0.0 && (figure.b / figure.a / figure.ratio - 1.0).abs() > 0.01
    };
    if matches!(comparison.design, RunDesign::Pairs { .. })
        && comparison.figures.iter().any(|figure| differs(&figure))
    {
        remarks.push(
            "A and B are of all runs together; the ratio is the mean of the ratios of the pairs"
                .to_owned(),
        );
    }
    if comparison.figures.iter().any(|figure| figure.is_median) {
        remarks.push(
            "* median of the runs' percentiles: not all results have latency bins (json+)"
                .to_owned(),
        );
    }
    if !comparison.incomplete.is_empty() {
        remarks.push(format!("not in all results: {}", comparison.incomplete.join(", ")));
    }
    remarks
}

/// The comparison as a table of Markdown.
pub fn markdown(comparison: &SideComparison, seed: Option<u64>) -> String {
    let cell =
        |text: &str| printable(text).replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;");
    let [a, b] = &comparison.sides;
    let mut out = format!(
        "**A:** {}, **B:** {}; {}\n\n| figure | A | B | B against A | interval | |\n\
         | --- | ---: | ---: | ---: | --- | --- |\n",
        cell(&a.name),
        cell(&b.name),
        design_words(comparison, seed)
    );
    for figure in &comparison.figures {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            label(figure),
            figure.figure.text(figure.a),
            figure.figure.text(figure.b),
            change(figure.ratio),
            interval_words(figure),
            decision_words(comparison, figure)
        );
    }
    out.push('\n');
    let likeness = Some(likeness_words(comparison)).filter(|words| !words.is_empty());
    let lines = conclusion(comparison).into_iter().chain(likeness);
    for line in lines.chain(comparison.likeness.warnings()).chain(remarks(comparison)) {
        let _ = writeln!(out, "- {}", cell(&line));
    }
    out
}
