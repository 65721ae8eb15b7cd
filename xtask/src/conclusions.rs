//! `conclusions`: the first sentence of reports held against runs whose outcome and limit are
//! set. The table is in crates/truth/src/conclusions.

use iosonde_truth::conclusions::{Trial, TrialOutcome, TrialResult, trials, try_all};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// So many must be right, of a hundred.
const RIGHT_LEAST: f64 = 97.0;

#[derive(Debug, Default, PartialEq, Eq)]
struct ConclusionsArguments {
    only: Option<String>,
    program: Option<PathBuf>,
    list: bool,
}

impl ConclusionsArguments {
    fn parse(words: &[&str]) -> Result<ConclusionsArguments, String> {
        let mut arguments = ConclusionsArguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("conclusions: {word} needs a value"));
            match *word {
                "--only" => arguments.only = Some((*value()?).to_owned()),
                "--program" => arguments.program = Some(PathBuf::from(value()?)),
                "--list" => arguments.list = true,
                _ => {
                    return Err(format!(
                        "conclusions: unknown option {word}: use --only TEXT, --program PATH or --list"
                    ));
                }
            }
        }
        Ok(arguments)
    }
}

/// How often each came.
#[derive(Clone, Copy, Debug, Default)]
struct TrialCounts {
    right: u32,
    wrong: u32,
    certain: u32,
    not_tried: u32,
}

impl TrialCounts {
    fn add(&mut self, outcome: &TrialOutcome) {
        match outcome {
            TrialOutcome::Right => self.right += 1,
            TrialOutcome::Wrong { certain: true, .. } => self.certain += 1,
            TrialOutcome::Wrong { .. } => self.wrong += 1,
            TrialOutcome::NotTried(_) => self.not_tried += 1,
        }
    }

    fn right_percent(&self) -> f64 {
        let tried = self.right + self.wrong + self.certain;
        100.0 * f64::from(self.right) / f64::from(tried.max(1))
    }
}

/// Try the table; `Err` if too few are right, or one is wrong and said to be certain.
pub fn run(words: &[&str]) -> Result<(), String> {
    let arguments = ConclusionsArguments::parse(words)?;
    let mut all = trials();
    if let Some(only) = &arguments.only {
        all.retain(|trial| trial.name.contains(only));
    }
    if arguments.list {
        all.iter().for_each(|trial| println!("{}", trial.name));
        return Ok(());
    }
    let root = crate::docs::root();
    let program = match arguments.program {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => crate::faults::build(&root)?,
    };
    let directory = root.join("target/conclusions");
    let began = Instant::now();
    let mut kinds: BTreeMap<String, TrialCounts> = BTreeMap::new();
    let mut sum = TrialCounts::default();
    try_all(&program, &directory, &all, |trial, result| {
        let kind = trial.name.split(':').next().unwrap_or_default().to_owned();
        kinds.entry(kind).or_default().add(&result.outcome);
        sum.add(&result.outcome);
        print(trial, &result);
    })?;
    println!(
        "{:12} {:>6} {:>6} {:>15} {:>10}",
        "truth", "right", "wrong", "certainly wrong", "not tried"
    );
    for (kind, TrialCounts { right, wrong, certain, not_tried }) in &kinds {
        println!("{kind:12} {right:6} {wrong:6} {certain:15} {not_tried:10}");
    }
    println!(
        "{} runs: {} right ({:.1} % of those tried), {} wrong, {} wrong with certainty, {} could \
         not be tried ({:.0} s)",
        all.len(),
        sum.right,
        sum.right_percent(),
        sum.wrong,
        sum.certain,
        sum.not_tried,
        began.elapsed().as_secs_f64()
    );
    if sum.certain > 0 {
        return Err(format!("{} conclusions are wrong and said to be certain", sum.certain));
    }
    match sum.right_percent() {
        right if right < RIGHT_LEAST => Err(format!("less than {RIGHT_LEAST} % are right")),
        _ => Ok(()),
    }
}

/// What is not right, and what could not be tried.
fn print(trial: &Trial, result: &TrialResult) {
    let what = match &result.outcome {
        TrialOutcome::Right => return,
        TrialOutcome::Wrong { why, certain: true } => format!("wrong with certainty: {why}"),
        TrialOutcome::Wrong { why, certain: false } => format!("wrong: {why}"),
        TrialOutcome::NotTried(why) => format!("not tried: {why}"),
    };
    println!("{}\n  {}\n  {what}\n  {}", trial.name, result.line, result.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_a_mistake_names_what_is_accepted() {
        let arguments = ConclusionsArguments::parse(&["--only", "stall", "--list"]).unwrap();
        assert_eq!((arguments.only.as_deref(), arguments.list), (Some("stall"), true));
        assert!(ConclusionsArguments::parse(&["--olny"]).unwrap_err().contains("--only TEXT"));
        assert!(ConclusionsArguments::parse(&["--only"]).unwrap_err().contains("needs a value"));
    }
}
