//! A quick look as a page: the conclusion, the table, what was tested.

use super::measure::{QuickFigures, QuickLook};
use super::text::{conclusion, title};
use iosonde_base::Dir;
use iosonde_base::text::{count, duration, rate};
use iosonde_command::tested::{TestedRows, program};
use iosonde_html::{PlotCell, PlotPart, PlotTable, StudyAnswer, plot_page, tested_rows};

/// The page.
pub fn page(measured: &QuickLook) -> String {
    let tests = measured.tests.len();
    let answer = StudyAnswer {
        sentence: conclusion(measured),
        is_bad: measured.stopped || measured.findings.is_wrong(),
        lines: vec![format!("{}.", title(measured))],
        findings: measured
            .findings
            .all()
            .iter()
            .map(|(finding, number)| {
                let words =
                    format!("in {number} of {tests} tests, {} [{}]", finding.statement, finding.id);
                (finding.severity.clone(), words)
            })
            .collect(),
        ..StudyAnswer::default()
    };
    let parts = [
        PlotPart::Answer(answer),
        PlotPart::Table(table(measured)),
        PlotPart::Tested(tested(measured)),
    ];
    plot_page(&format!("iosonde quick {}", measured.path.display()), &parts)
}

/// A row for each test, with bars that compare the rates of a direction.
fn table(measured: &QuickLook) -> PlotTable {
    let heads = ["test", "direction", "rate", "IOPS", "p50", "p99", "p99.9"];
    let most = |dir: Dir, of: fn(&QuickFigures) -> f64| {
        let all = measured.tests.iter().filter(|one| one.test.dir == dir);
        all.map(of).fold(f64::MIN_POSITIVE, f64::max)
    };
    let row = |one: &QuickFigures| {
        let bar = |words: String, of: fn(&QuickFigures) -> f64| PlotCell {
            words,
            share: Some(of(one) / most(one.test.dir, of)),
        };
        let time = |ns: fn(&iosonde_report::Quick) -> u64| {
            PlotCell::plain(one.latency.as_ref().map_or("-".to_owned(), |all| duration(ns(all))))
        };
        vec![
            PlotCell::plain(one.test.name),
            PlotCell::plain(one.test.dir.name()),
            bar(rate(one.bytes_per_s as f64), |one| one.bytes_per_s as f64),
            bar(count(one.iops), |one| one.iops),
            time(|all| all.p50_ns),
            time(|all| all.p99_ns),
            time(|all| all.p999_ns),
        ]
    };
    PlotTable {
        heads: heads.map(str::to_owned).into(),
        rows: measured.tests.iter().map(row).collect(),
    }
}

fn tested(measured: &QuickLook) -> TestedRows {
    let mut rows = measured.ledger.as_ref().map_or_else(Vec::new, |ledger| tested_rows(ledger));
    rows.extend(program());
    rows
}
