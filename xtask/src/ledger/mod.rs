//! `ledger`: the ledger held against what is known without it. The table is in
//! crates/truth/table.

mod liars;

pub(crate) use liars::lie;

use iosonde_truth::{Bench, CASES, Case, CaseResult, Outcome, Record, cases, measure_cost};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What was asked on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct LedgerArguments {
    only: Option<String>,
    program: Option<PathBuf>,
    list: bool,
    without_cost: bool,
    liars: bool,
    keep: Option<PathBuf>,
    recorded: Option<PathBuf>,
}

impl LedgerArguments {
    fn parse(words: &[&str]) -> Result<LedgerArguments, String> {
        let mut arguments = LedgerArguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("ledger: {word} needs a value"));
            match *word {
                "--only" => arguments.only = Some((*value()?).to_owned()),
                "--program" => arguments.program = Some(PathBuf::from(value()?)),
                "--list" => arguments.list = true,
                "--without-cost" => arguments.without_cost = true,
                "--liars" => arguments.liars = true,
                "--keep" => arguments.keep = Some(PathBuf::from(value()?)),
                "--recorded" => arguments.recorded = Some(PathBuf::from(value()?)),
                _ => {
                    return Err(format!(
                        "ledger: unknown option {word}: use --only TEXT, --program PATH, --list, \
                         --liars, --keep DIRECTORY, --recorded DIRECTORY or --without-cost"
                    ));
                }
            }
        }
        Ok(arguments)
    }
}

/// How often each outcome came.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    right: u32,
    silent: u32,
    accused: u32,
    wrong: u32,
    not_tried: u32,
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Silent(_) => self.silent += 1,
            Outcome::Accused(_) => self.accused += 1,
            Outcome::WrongFigure(_) => self.wrong += 1,
            Outcome::NotTried(_) => self.not_tried += 1,
        }
    }

    fn all(&self) -> u32 {
        self.right + self.silent + self.accused + self.wrong + self.not_tried
    }
}

/// Try the table; `Err` if a check does not hold or a liar passes.
pub fn run(words: &[&str]) -> Result<(), String> {
    let arguments = LedgerArguments::parse(words)?;
    let mut cases = cases(CASES)?;
    if let Some(only) = &arguments.only {
        cases.retain(|case| {
            [&case.title, &case.kind, &case.place].iter().any(|text| text.contains(only))
        });
    }
    if arguments.list {
        cases.iter().for_each(|case| println!("{:16} {:14} {}", case.place, case.kind, case.title));
        return Ok(());
    }
    let root = crate::docs::root();
    let began = Instant::now();
    let mut table = Tried::default();
    if let Some(directory) = &arguments.recorded {
        for case in &cases {
            table.add(case, Record::load(directory, case));
        }
        table.print(began);
        return table.end(arguments.liars.then(|| liars::try_all(&table.records)));
    }
    let program = match &arguments.program {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => crate::faults::build(&root)?,
    };
    let directory = root.join("target/ledger");
    let _ = std::fs::remove_dir_all(&directory);
    let bench = Bench { program: program.clone(), directory };
    let mut kept = Ok(());
    bench.run_all(&cases, |case, record| {
        if let (Some(directory), Ok(record)) = (&arguments.keep, &record) {
            kept = kept.clone().and(record.save(directory, case));
        }
        table.add(case, record);
    })?;
    kept?;
    table.print(began);
    let liars = arguments.liars.then(|| {
        let (judged, wrapped) =
            (liars::try_all(&table.records), liars::try_wrapped(&bench, &table.records));
        judged.and(wrapped)
    });
    if !arguments.without_cost {
        print_cost(&program, &root.join("target/ledger-cost"))?;
    }
    table.end(liars)
}

/// What came of the cases so far.
#[derive(Default)]
struct Tried {
    kinds: BTreeMap<String, Counts>,
    all: Counts,
    /// Figures that are held against a counter, and those that are against what is known by
    /// construction.
    figures: [u32; 2],
    records: Vec<(Case, Record)>,
}

impl Tried {
    fn add(&mut self, case: &Case, record: Result<Record, String>) {
        let result = match &record {
            Ok(record) => record.judge(case),
            Err(why) => CaseResult::not_tried(case, why),
        };
        let kind = case.kind.split(' ').next().unwrap_or_default().to_owned();
        let total = self.kinds.entry(kind).or_default();
        for (check, outcome) in &result.outcomes {
            total.add(outcome);
            self.all.add(outcome);
            if let Some(has_counter) = check.has_counter() {
                self.figures[usize::from(!has_counter)] += 1;
            }
        }
        print(case, &result);
        self.records.extend(record.ok().map(|record| (case.clone(), record)));
    }

    fn print(&self, began: Instant) {
        println!(
            "{:14} {:>6} {:>6} {:>7} {:>8} {:>12} {:>9}",
            "kind", "checks", "right", "silent", "accused", "wrong figure", "not tried"
        );
        for (kind, counts) in &self.kinds {
            let Counts { right, silent, accused, wrong, not_tried } = counts;
            println!(
                "{kind:14} {:6} {right:6} {silent:7} {accused:8} {wrong:12} {not_tried:9}",
                counts.all()
            );
        }
        let [counted, constructed] = self.figures;
        println!(
            "{counted} figures are held against counters, {constructed} against what was made"
        );
        println!(
            "{} checks: {} right, {} silent, {} accused wrongly, {} figures wrong, {} could not be \
             tried ({:.0} s)",
            self.all.all(),
            self.all.right,
            self.all.silent,
            self.all.accused,
            self.all.wrong,
            self.all.not_tried,
            began.elapsed().as_secs_f64()
        );
    }

    /// `Err` with what does not hold.
    fn end(&self, liars: Option<Result<(), String>>) -> Result<(), String> {
        let failed = match self.all.silent + self.all.accused + self.all.wrong {
            0 => None,
            wrong => Some(format!("{wrong} checks do not hold")),
        };
        let all: Vec<String> = failed.into_iter().chain(liars.and_then(Result::err)).collect();
        if all.is_empty() { Ok(()) } else { Err(all.join("; ")) }
    }
}

/// What does not hold, and what could not be tried.
fn print(case: &Case, result: &CaseResult) {
    let mut lines: Vec<String> = Vec::new();
    for (check, outcome) in &result.outcomes {
        let (what, why) = match outcome {
            Outcome::Right => continue,
            Outcome::Silent(why) => ("silent", why),
            Outcome::Accused(why) => ("accused wrongly", why),
            Outcome::WrongFigure(why) => ("wrong figure", why),
            Outcome::NotTried(why) => ("not tried", why),
        };
        let why = why.lines().next().unwrap_or_default();
        lines.push(format!("  {what}: {}: {why}", check.words));
    }
    let reason = |(_, outcome): &(_, Outcome)| match outcome {
        Outcome::NotTried(why) => Some(why.clone()),
        _ => None,
    };
    let reasons: BTreeSet<Option<String>> = result.outcomes.iter().map(reason).collect();
    if let (Some(Some(why)), 1, 2..) = (reasons.first(), reasons.len(), lines.len()) {
        let why = why.lines().next().unwrap_or_default();
        lines = vec![format!("  not tried, all {} checks: {why}", result.outcomes.len())];
    }
    if !lines.is_empty() {
        println!("{} ({}; {})\n  {}", case.title, case.place, case.kind, result.line);
        lines.iter().for_each(|line| println!("{line}"));
    }
}

fn print_cost(program: &Path, file: &Path) -> Result<(), String> {
    let cost = measure_cost(program, file);
    let _ = std::fs::remove_file(file);
    let cost = cost?;
    let (all, reading) = cost.shares();
    println!(
        "the ledger's cost of a job of 10 s: {:.3} s of processor time with it, {:.3} s without: \
         {:.2} % of the time; of that, reading signals {:.2} ms: {:.3} %",
        cost.with,
        cost.without,
        all * 100.0,
        cost.reading * 1e3,
        reading * 100.0
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_a_mistake_names_what_is_accepted() {
        let arguments = LedgerArguments::parse(&["--only", "overlay", "--list"]).unwrap();
        assert_eq!((arguments.only.as_deref(), arguments.list), (Some("overlay"), true));
        let arguments = LedgerArguments::parse(&["--liars", "--recorded", "d"]).unwrap();
        assert!(arguments.liars && arguments.recorded == Some(PathBuf::from("d")));
        assert!(LedgerArguments::parse(&["--olny", "x"]).unwrap_err().contains("--only TEXT"));
        assert!(LedgerArguments::parse(&["--only"]).unwrap_err().contains("needs a value"));
    }
}
