//! The result as a page: what was done, what it shows, the table, what was tested.

use super::table::{HEADS, cells, sentences};
use crate::result::{MetaResult, PhaseResult};
use iosonde_command::tested::{TestedRows, with_machine};
use iosonde_html::{PlotCell, PlotPart, PlotTable, StudyAnswer, plot_page};

/// The page.
pub fn write(result: &MetaResult) -> String {
    let phases = result.by_row();
    let sentence = match &result.error {
        Some(error) => format!("FAILED: {error}."),
        None if result.stopped => {
            "Stopped by a signal: these are the phases until then, the last one in part.".to_owned()
        }
        None => format!("{}.", result.title.trim_end_matches('.')),
    };
    let answer = StudyAnswer {
        sentence,
        is_bad: result.stopped || result.error.is_some(),
        lines: sentences(result, &phases),
        ..StudyAnswer::default()
    };
    let rate = |all: &[&PhaseResult]| {
        all.iter().map(|one| one.rate()).sum::<f64>() / all.len().max(1) as f64
    };
    let most = phases.iter().map(|(_, all)| rate(all)).fold(f64::MIN_POSITIVE, f64::max);
    let rows = phases.iter().map(|(row, all)| {
        let named = cells(*row, all).into_iter().zip(HEADS);
        let cell = |(words, head): (String, &str)| PlotCell {
            share: (head == "ops/s").then(|| rate(all) / most),
            words,
        };
        named.map(cell).collect()
    });
    let table = PlotTable { heads: HEADS.map(str::to_owned).into(), rows: rows.collect() };
    let parts =
        [PlotPart::Answer(answer), PlotPart::Table(table), PlotPart::Tested(tested(result))];
    plot_page(&format!("iosonde meta {}", result.options.dir.display()), &parts)
}

fn tested(result: &MetaResult) -> TestedRows {
    let mut between = Vec::new();
    if !result.disks.is_empty() {
        between.push(("disk", result.disks.join(", ")));
    }
    between.extend(result.file_system.clone().map(|kind| ("file system", kind)));
    with_machine(between)
}
