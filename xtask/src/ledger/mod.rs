//! `ledger`: the ledger held against what is known without it. The table is in
//! crates/truth/table.

use iosonde_truth::{Bench, CASES, Case, CaseResult, Outcome, cases, measure_cost};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// What was asked on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct LedgerArguments {
    only: Option<String>,
    program: Option<PathBuf>,
    list: bool,
    without_cost: bool,
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
                _ => {
                    return Err(format!(
                        "ledger: unknown option {word}: use --only TEXT, --program PATH, --list or \
                         --without-cost"
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

/// Try the table; `Err` if a check does not hold.
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
    let program = match arguments.program {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => crate::faults::build(&root)?,
    };
    let directory = root.join("target/ledger");
    let _ = std::fs::remove_dir_all(&directory);
    let bench = Bench { program: program.clone(), directory };
    let began = Instant::now();
    let mut totals: BTreeMap<String, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    bench.run_all(&cases, |case, result| {
        let kind = case.kind.split(' ').next().unwrap_or_default().to_owned();
        let total = totals.entry(kind).or_default();
        for (_, outcome) in &result.outcomes {
            total.add(outcome);
            all.add(outcome);
        }
        print(case, &result);
    })?;
    println!(
        "{:14} {:>6} {:>6} {:>7} {:>8} {:>12} {:>9}",
        "kind", "checks", "right", "silent", "accused", "wrong figure", "not tried"
    );
    for (kind, counts) in &totals {
        let Counts { right, silent, accused, wrong, not_tried } = counts;
        println!(
            "{kind:14} {:6} {right:6} {silent:7} {accused:8} {wrong:12} {not_tried:9}",
            counts.all()
        );
    }
    println!(
        "{} checks: {} right, {} silent, {} accused wrongly, {} figures wrong, {} could not be tried \
         ({:.0} s)",
        all.all(),
        all.right,
        all.silent,
        all.accused,
        all.wrong,
        all.not_tried,
        began.elapsed().as_secs_f64()
    );
    if !arguments.without_cost {
        print_cost(&program, &root.join("target/ledger-cost"))?;
    }
    match all.silent + all.accused + all.wrong {
        0 => Ok(()),
        wrong => Err(format!("{wrong} checks do not hold")),
    }
}

/// What does not hold, and what could not be tried.
fn print(case: &Case, result: &CaseResult) {
    let mut is_named = false;
    for (check, outcome) in &result.outcomes {
        let (what, why) = match outcome {
            Outcome::Right => continue,
            Outcome::Silent(why) => ("silent", why),
            Outcome::Accused(why) => ("accused wrongly", why),
            Outcome::WrongFigure(why) => ("wrong figure", why),
            Outcome::NotTried(why) => ("not tried", why),
        };
        if !is_named {
            println!("{} ({}; {})\n  {}", case.title, case.place, case.kind, result.line);
            is_named = true;
        }
        println!("  {what}: {}: {}", check.words, why.lines().next().unwrap_or_default());
    }
}

fn print_cost(program: &std::path::Path, file: &std::path::Path) -> Result<(), String> {
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
        assert!(LedgerArguments::parse(&["--olny", "x"]).unwrap_err().contains("--only TEXT"));
        assert!(LedgerArguments::parse(&["--only"]).unwrap_err().contains("needs a value"));
    }
}
