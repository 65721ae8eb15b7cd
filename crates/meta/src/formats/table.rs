//! A table of 80 columns, and what it shows.

use super::PERCENTILES;
use crate::arguments::MetaOptions;
use crate::result::{MetaResult, PhaseResult, RateSummary, RowName};
use iosonde_base::text;
use std::fmt::Write;

/// Letters of a line of text.
const LINE: usize = 80;
/// Durable rates that are lower than the others by more than this share are worth a sentence.
const NOTABLE: f64 = 0.1;

/// For people.
pub fn write(result: &MetaResult) -> String {
    let mut table = String::new();
    if let Some(error) = &result.error {
        table = text::wrap(error, 0, LINE) + "\n\n";
    }
    table += &(text::wrap(&result.title, 0, LINE) + "\n\n");
    let phases = result.by_row();
    head(&mut table);
    for (name, results) in &phases {
        row(&mut table, *name, results);
    }
    if phases.iter().any(|(_, results)| results.len() > 1) {
        repetitions(&mut table, &phases);
    }
    if phases.iter().any(|(_, results)| results[0].ranks.len() > 1) {
        stragglers(&mut table, &phases);
    }
    for sentence in sentences(result, &phases) {
        let _ = write!(table, "\n{}\n", text::wrap(&sentence, 0, LINE));
    }
    if result.stopped {
        table.push_str(
            "\nStopped by a signal: these are the phases until then, the last one in part.\n",
        );
    }
    table
}

fn head(table: &mut String) {
    let [phase, ops, rate, synced, p50, p99, max, first, last] = HEADS;
    let _ = writeln!(
        table,
        "{phase:<10}{ops:>8}{rate:>9}{synced:>10}{p50:>9}{p99:>9}{max:>9}{first:>8}{last:>8}"
    );
}

/// The columns.
pub(super) const HEADS: [&str; 9] =
    ["phase", "ops", "ops/s", "synced/s", "p50", "p99", "max", "first", "last"];

fn row(table: &mut String, name: RowName, results: &[&PhaseResult]) {
    let [first, ops, rest @ ..] = cells(name, results);
    // A long name takes room of the next column.
    let wide = 18usize.saturating_sub(first.chars().count());
    let rest: String = rest
        .iter()
        .zip([9, 10, 9, 9, 9, 8, 8])
        .map(|(cell, wide)| format!("{cell:>wide$}"))
        .collect();
    let _ = writeln!(table, "{first}{ops:>wide$}{rest}");
}

/// The figures of a phase, those of all rounds together.
pub(super) fn cells(name: RowName, results: &[&PhaseResult]) -> [String; 9] {
    let mean = |figure: fn(&PhaseResult) -> f64| {
        results.iter().map(|result| figure(result)).sum::<f64>() / results.len() as f64
    };
    let durable: Vec<f64> = results.iter().filter_map(|result| result.durable_rate()).collect();
    let durable = match durable.as_slice() {
        [] => "-".to_owned(),
        rates => text::count(rates.iter().sum::<f64>() / rates.len() as f64),
    };
    let is_partial = results.iter().any(|result| result.partial);
    let mut latency = results[0].latency.clone();
    results[1..].iter().for_each(|result| latency.merge(&result.latency));
    let [p50, p99] = PERCENTILES.map(|percent| text::duration(latency.percentile(percent)));
    let longest = results.iter().map(|result| result.longest).max().unwrap_or_default();
    let time = |seconds: f64| text::duration((seconds * 1e9) as u64);
    [
        format!("{}{}", name.text(), if is_partial { "*" } else { "" }),
        results[0].operations.to_string(),
        text::count(mean(PhaseResult::rate)),
        durable,
        p50,
        p99,
        text::duration(longest.0),
        time(mean(|result| result.first_done.secs_f64())),
        time(mean(|result| result.last_done.secs_f64())),
    ]
}

/// The rates of all repetitions, as mdtest sums them up.
fn repetitions(table: &mut String, phases: &[(RowName, Vec<&PhaseResult>)]) {
    let _ = writeln!(
        table,
        "\n{:<10}{:>10}{:>12}{:>12}{:>12}{:>12}",
        "ops/s", "rounds", "mean", "least", "most", "deviation"
    );
    for (name, results) in phases {
        let rates: Vec<f64> = results.iter().map(|result| result.rate()).collect();
        let summary = RateSummary::of(&rates);
        let _ = writeln!(
            table,
            "{:<10}{:>10}{:>12}{:>12}{:>12}{:>12}",
            name.text(),
            rates.len(),
            text::count(summary.mean),
            text::count(summary.least),
            text::count(summary.most),
            text::count(summary.deviation),
        );
    }
}

/// Of the last round: how the ranks differ.
fn stragglers(table: &mut String, phases: &[(RowName, Vec<&PhaseResult>)]) {
    let _ = writeln!(
        table,
        "\n{:<10}{:>7}{:>12}{:>12}{:>12}  which",
        "by rank", "ranks", "start skew", "median", "slowest"
    );
    for (name, results) in phases {
        let Some(last) = results.last() else { continue };
        let Some(slowest) = last.slowest() else { continue };
        let _ = writeln!(
            table,
            "{:<10}{:>7}{:>12}{:>12}{:>12}  {}, done {}",
            name.text(),
            last.ranks.len(),
            text::duration(last.start_skew().0),
            format!("{}/s", text::count(last.median_rate())),
            format!("{}/s", text::count(slowest.rate())),
            slowest.name,
            text::duration(slowest.last_done.0),
        );
    }
}

/// What the figures show, in sentences.
pub(super) fn sentences(
    result: &MetaResult,
    phases: &[(RowName, Vec<&PhaseResult>)],
) -> Vec<String> {
    let last = |word: &'static str| {
        let found = phases.iter().find(|(name, _)| *name == RowName::alone(word));
        found.and_then(|(_, results)| results.last().copied())
    };
    let mut said = Vec::new();
    if let Some(create) = last("create") {
        said.extend(creation(create));
    }
    if let Some(stat) = last("stat") {
        said.extend(lookups(stat, result.options.cold));
    }
    if let Some((examined, matched)) = last("find").and_then(|find| find.found) {
        said.push(format!(
            "find: {} examined, {matched} matched.",
            text::counted(examined, "name")
        ));
    }
    if result.options.limit.is_some()
        && let Some(create) = last("create")
    {
        said.extend(limited(create, &result.options));
    }
    if let Some((name, _)) = phases.iter().find(|(_, all)| all.iter().any(|one| one.partial)) {
        said.push(format!("{}*: it was ended before all was done.", name.text()));
    }
    if result.disks.is_empty() {
        said.push(
            "No disk is known below this file system: what storage did is not shown.".to_owned(),
        );
    }
    said
}

/// What the limit of time came to.
fn limited(create: &PhaseResult, options: &MetaOptions) -> Option<String> {
    let each = create.operations / create.threads.max(1) as u64;
    let limit = options.limit?.as_nanos() as u64;
    Some(if create.operations == options.files {
        format!("create: all files were made in less than {}.", text::short_duration(limit))
    } else {
        format!(
            "create: after {} each thread made as many files as the fastest had, {each}: the last was done \
             after {}.",
            text::short_duration(limit),
            text::duration(create.last_done.0)
        )
    })
}

/// Where the created files were when the phase ended.
fn creation(create: &PhaseResult) -> Option<String> {
    let durable = create.durable_rate().filter(|&rate| rate < create.rate() * (1.0 - NOTABLE));
    let requests =
        |requests: Option<crate::watch::DiskRequests>| requests.map_or(0, |all| all.writes);
    let durable = durable?;
    let mut said = format!(
        "create: {}/s are returned calls; with the sync after them (synced/s) it is {}/s",
        text::count(create.rate()),
        text::count(durable)
    );
    if create.during.is_some() {
        said += &format!(
            ": the disks were sent {} (by all processes) while files were \
             created, and {} by the sync",
            text::counted(requests(create.during), "write"),
            requests(create.after)
        );
    }
    Some(said + ".")
}

/// Where the answers of stat(2) came from.
fn lookups(stat: &PhaseResult, cold: bool) -> Option<String> {
    let empty = "with caches that were empty at the start";
    Some(match (stat.fetched?, cold) {
        (0, false) => "stat: nothing was read from storage: dentries and inodes were in memory; \
                       --cold empties these caches before each phase."
            .to_owned(),
        (0, true) => format!("stat: nothing was read from storage, {empty}."),
        (bytes, _) => format!(
            "stat: {} were read from storage, {} for each operation{}.",
            text::bytes(bytes),
            text::bytes(bytes / stat.operations.max(1)),
            if cold { format!(", {empty}") } else { String::new() }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::DiskRequests;
    use iosonde_base::Nanos;
    use iosonde_stats::HistogramSnapshot;

    fn phase(word: &'static str, last: u64, synced: Option<u64>) -> PhaseResult {
        PhaseResult {
            began_unix_ns: 0,
            ranks: Vec::new(),
            row: RowName::alone(word),
            found: None,
            partial: false,
            operations: 1000,
            threads: 2,
            first_done: Nanos(last / 2),
            last_done: Nanos(last),
            latency: HistogramSnapshot::default(),
            longest: Nanos(5000),
            synced: synced.map(Nanos),
            fetched: Some(0),
            during: Some(DiskRequests { writes: 3, ..DiskRequests::default() }),
            after: Some(DiskRequests { writes: 40, ..DiskRequests::default() }),
            dentries: None,
        }
    }

    fn result(phases: Vec<PhaseResult>) -> MetaResult {
        MetaResult {
            title: "1000 files".to_owned(),
            file_system: None,
            disks: vec!["vda".to_owned()],
            options: MetaOptions::default(),
            rounds: vec![phases],
            stopped: false,
            error: None,
        }
    }

    #[test]
    fn a_phase_that_failed_comes_first() {
        let failed = MetaResult {
            error: Some("FAILED: create: no space left on device".to_owned()),
            ..result(Vec::new())
        };
        assert!(
            write(&failed).starts_with("FAILED: create: no space left on device\n\n1000 files")
        );
    }

    #[test]
    fn created_files_that_were_only_in_memory_are_said_to_be() {
        let text = write(&result(vec![
            phase("create", 1_000_000, Some(9_000_000)),
            phase("stat", 1_000_000, None),
        ]));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("sent 3 writes (by all processes) while files were created, and 40"),
            "{text}"
        );
        assert!(flat.contains("dentries and inodes were in memory"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_rate_that_the_sync_does_not_change_needs_no_sentence() {
        let text = write(&result(vec![phase("create", 1_000_000, Some(1000))]));
        assert!(!text.contains("returned calls"), "{text}");
    }
}
