//! What the phases come to: rates, geometric means, and what limits them.

use super::phases::Io500Phase;
use super::{Io500Options, LIMIT};
use crate::result::PhaseResult;
use crate::run::MetaOutcome;
use iosonde_base::text;
use std::fmt::Write;

/// What is always said of the score.
pub const LABEL: &str = "like IO500; not a submission";

/// The result, for people and for a page.
#[derive(Clone, Debug, Default)]
pub struct Io500Report {
    /// What was tested.
    pub title: String,
    /// The phases that were measured.
    pub rows: Vec<Io500Row>,
    /// Means and score, each with what it is; none where a phase is missing.
    pub means: Vec<(String, String)>,
    /// What limits the figures.
    pub remarks: Vec<String>,
    /// A signal ended it.
    pub stopped: bool,
    /// The error that ended it.
    pub error: Option<String>,
}

/// A phase.
#[derive(Clone, Debug)]
pub struct Io500Row {
    /// Its name.
    pub name: String,
    /// How much was done.
    pub work: String,
    /// From the first start to the last end.
    pub time: String,
    /// In GiB/s or kIOPS, the units of IO500.
    pub rate: String,
}

/// A rate in the unit that it has in a score.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rate {
    GibPerS(f64),
    Kiops(f64),
}

/// The report of a run.
pub fn report(
    options: &Io500Options,
    ranks: u32,
    outcome: &MetaOutcome,
    file_system: &str,
) -> Io500Report {
    let threads = options.threads * ranks;
    let on = if ranks > 1 { format!(" on {ranks} ranks") } else { String::new() };
    let limit = text::short_duration(options.limit.as_nanos() as u64);
    let title = format!(
        "{}{on} in {}, {file_system}; each phase that writes {limit}",
        text::counted(threads.into(), "thread"),
        options.dir.display()
    );
    let phases = options.kind.phases();
    let measured: Vec<(Io500Phase, &PhaseResult)> =
        phases.clone().zip(outcome.rounds.first().into_iter().flatten()).collect();
    let shown = measured.iter().filter(|(phase, _)| !phase.name().is_empty());
    let rows = shown.clone().map(|(phase, result)| row(*phase, result));
    let is_whole = outcome.error.is_none()
        && !outcome.stopped
        && measured.len() == phases.count()
        && measured.iter().all(|(_, result)| !result.partial);
    let rates: Vec<Rate> = shown.map(|(phase, result)| rate(*phase, result)).collect();
    Io500Report {
        title,
        rows: rows.collect(),
        means: if is_whole { means(&rates) } else { Vec::new() },
        remarks: remarks(options, &measured, is_whole),
        stopped: outcome.stopped,
        error: outcome.error.clone(),
    }
}

/// The rate of a phase until the last thread was done; of find, of the names that it examined.
fn rate(phase: Io500Phase, result: &PhaseResult) -> Rate {
    let seconds = result.last_done.secs_f64().max(1e-9);
    match (phase.block(), result.found) {
        (Some(block), _) => {
            let bytes = result.operations as f64 * block as f64;
            Rate::GibPerS(bytes / (1u64 << 30) as f64 / seconds)
        }
        (None, Some((examined, _))) => Rate::Kiops(examined as f64 / 1000.0 / seconds),
        (None, None) => Rate::Kiops(result.operations as f64 / 1000.0 / seconds),
    }
}

fn row(phase: Io500Phase, result: &PhaseResult) -> Io500Row {
    let work = match (phase.block(), result.found) {
        (Some(block), _) => text::bytes(result.operations.saturating_mul(block)),
        (None, Some((examined, matched))) => format!("{matched} of {examined} names"),
        (None, None) => text::counted(result.operations, "file"),
    };
    let rate = match rate(phase, result) {
        Rate::GibPerS(rate) => format!("{rate:.3} GiB/s"),
        Rate::Kiops(rate) => format!("{rate:.3} kIOPS"),
    };
    Io500Row {
        name: format!("{}{}", phase.name(), if result.partial { "*" } else { "" }),
        work,
        time: text::duration(result.last_done.0),
        rate,
    }
}

/// The geometric means of both kinds of rates, and of these two.
fn means(rates: &[Rate]) -> Vec<(String, String)> {
    let of = |unit: fn(Rate) -> Option<f64>| {
        let all: Vec<f64> = rates.iter().filter_map(|&rate| unit(rate)).collect();
        (geometric_mean(&all), all.len())
    };
    let (bandwidth, blocks) = of(|rate| match rate {
        Rate::GibPerS(rate) => Some(rate),
        Rate::Kiops(_) => None,
    });
    let (metadata, files) = of(|rate| match rate {
        Rate::Kiops(rate) => Some(rate),
        Rate::GibPerS(_) => None,
    });
    let score = (bandwidth * metadata).sqrt();
    vec![
        ("bandwidth".to_owned(), format!("{bandwidth:.3} GiB/s, the geometric mean of {blocks}")),
        ("metadata".to_owned(), format!("{metadata:.3} kIOPS, the geometric mean of {files}")),
        ("score".to_owned(), format!("{score:.3}, the geometric mean of both: {LABEL}")),
    ]
}

fn geometric_mean(values: &[f64]) -> f64 {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (logarithms / values.len().max(1) as f64).exp()
}

fn remarks(
    options: &Io500Options,
    measured: &[(Io500Phase, &PhaseResult)],
    is_whole: bool,
) -> Vec<String> {
    let limit = text::short_duration(options.limit.as_nanos() as u64);
    let mut said = Vec::new();
    if options.limit < LIMIT {
        said.push(format!("IO500 wants phases that write to go on for 300 s; here it was {limit}"));
    }
    let short: Vec<&str> = measured
        .iter()
        .filter(|(phase, result)| {
            let time = u128::from(result.last_done.0);
            phase.is_limited() && !result.partial && time < options.limit.as_nanos()
        })
        .map(|(phase, _)| phase.name())
        .collect();
    if !short.is_empty() {
        said.push(format!(
            "{} ended before {limit}: 1 000 000 files of a thread, or the share of the free space, were written",
            short.join(", ")
        ));
    }
    if !is_whole {
        said.push("without all phases there is no score".to_owned());
    }
    said
}

impl Io500Report {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{LABEL}\n{}\n\n", text::wrap(&self.title, 0, 80));
        if let Some(error) = &self.error {
            text = format!("{}\n\n{text}", text::wrap(error, 0, 80));
        }
        let _ = writeln!(text, "{:<20}{:>24}{:>12}{:>18}", "phase", "work", "time", "rate");
        for row in &self.rows {
            let Io500Row { name, work, time, rate } = row;
            let _ = writeln!(text, "{name:<20}{work:>24}{time:>12}{rate:>18}");
        }
        if !self.means.is_empty() {
            text.push('\n');
        }
        for (name, words) in &self.means {
            let _ = writeln!(text, "{name:<11}{words}");
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "\n{}", text::wrap(remark, 0, 80));
        }
        if self.stopped {
            text.push_str(
                "\nStopped by a signal: these are the phases until then, the last one in part.\n",
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_geometric_mean_of_both_means() {
        let rates = [Rate::GibPerS(1.0), Rate::Kiops(2.0), Rate::GibPerS(4.0), Rate::Kiops(8.0)];
        let means = means(&rates);
        assert!(means[0].1.starts_with("2.000 GiB/s, the geometric mean of 2"), "{means:?}");
        assert!(means[1].1.starts_with("4.000 kIOPS"), "{means:?}");
        assert_eq!(means[2].1, format!("2.828, the geometric mean of both: {LABEL}"));
    }
}
