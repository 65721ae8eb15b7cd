//! The command line of `iosonde compare`.

use crate::trials::between::BetweenRuns;
use crate::trials::figures::Figure;
use crate::trials::settings::OptionSetting;
use clap::{Args, ValueEnum, ValueHint};
use iosonde_base::text::time;
use iosonde_judge::{LookSchedule, Margin};
use std::path::PathBuf;
use std::time::Duration;

/// The forms that `--help` shows.
pub const USAGE: &str = "iosonde compare A.fio B.fio [OPTIONS]
       iosonde compare JOBFILE|JOB OPTIONS --a='OPTIONS' --b='OPTIONS'
       iosonde compare A.json... -- B.json...
       iosonde compare NEW.json... --baseline=DIR
       iosonde compare DIRECTORY";

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Runs A and B in pairs, each pair in random order, and reports for each figure
whether it differs, is the same within the margin, or neither is shown (cannot
tell). Results made before are compared too: iosonde's JSON or fio's, of any
version; they were not interleaved, so a drift between them is not excluded.
Exit code: 0 judged; 1 refused or a run failed; 2 A and B are not the same
thing; 3 findings on one side (--strict); 4 B is worse than --gate allows; 5 the
gate is undecided; 128 a signal ended it. docs/compare.md describes the
statistics.";

/// What to compare, and how sure to be.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Options of jobs for A: --a='--iodepth=8 --bs=4k'; SECTION:NAME=VALUE
    /// sets one section only
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = SideOptions::parse)]
    pub a: Option<SideOptions>,
    /// Options of jobs for B
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = SideOptions::parse)]
    pub b: Option<SideOptions>,
    /// Pairs of runs: from LEAST on they are judged, at most five times, up to
    /// MOST; one number is judged once
    #[arg(long, value_name = "LEAST..MOST", default_value = "5..20", value_parser = repeats)]
    pub repeats: LookSchedule,
    /// Pairs that run first and are not counted
    #[arg(long, value_name = "N", default_value = "1")]
    pub warmup: u32,
    /// Begin no pair that would end later than this
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// The difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    pub margin: f64,
    /// Figures to compare; the first decides: iops, bw, p99, response.p99,
    /// sync.p99, durable, cpu; read.p99 is of one direction
    #[arg(long, value_name = "FIGURE,...", value_delimiter = ',', value_parser = Figure::parse)]
    pub metric: Vec<Figure>,
    /// Options of jobs that are meant to differ
    #[arg(long, value_name = "OPTION,...", value_delimiter = ',')]
    pub vary: Vec<String>,
    /// A command to run before each run
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub before: Option<String>,
    /// A command to run before each run of A
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub before_a: Option<String>,
    /// A command to run before each run of B
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub before_b: Option<String>,
    /// After each run: auto, none, sync, settle or a command
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = BetweenRuns::parse)]
    pub between: BetweenRuns,
    /// The seed of the order in pairs; random unless set
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Leave out the smallest and the largest pair (from 8 pairs on): finds
    /// smaller differences where single runs are outliers
    #[arg(long)]
    pub robust: bool,
    /// The known scatter of a run, for one run a side
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub noise: Option<f64>,
    /// Compare with the sessions stored in DIR: a file each, or a directory of
    /// runs each
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub baseline: Option<PathBuf>,
    /// Exit with 4 if B is worse, by so much: --gate=worse:5%
    #[arg(long, value_name = "worse[:PERCENT]", num_args = 0..=1, require_equals = true, default_missing_value = "worse", value_parser = gate)]
    pub gate: Option<GateMargin>,
    /// Result when the gate is undecided
    #[arg(long, value_enum, value_name = "pass|fail", default_value = "fail", requires = "gate")]
    pub gate_undecided: UndecidedGate,
    /// Let a gate judge results that were not interleaved
    #[arg(long, requires = "gate")]
    pub accept_drift: bool,
    /// Exit with 3 if a finding of a side is more than a note
    #[arg(long)]
    pub strict: bool,
    /// How to print the comparison
    #[arg(long, value_enum, default_value = "text")]
    pub format: CompareFormat,
    /// Write the comparison as a page, too; without FILE, compare.html in the
    /// directory of the runs, or here for results
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub html: Option<Option<PathBuf>>,
    /// Where runs are kept
    #[arg(short = 'o', long = "out", value_name = "DIR", default_value = "compare.d", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Go on with the runs in that directory
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Remove earlier runs in that directory, and overwrite the page
    #[arg(long)]
    pub force: bool,
}

/// Options of jobs in one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideOptions(pub Vec<OptionSetting>);

impl SideOptions {
    fn parse(line: &str) -> Result<SideOptions, String> {
        let settings = OptionSetting::parse_line(line)?;
        if settings.is_empty() {
            Err("needs options of jobs: --iodepth=8".into())
        } else {
            Ok(SideOptions(settings))
        }
    }
}

/// By how much B may not be worse; `None` where the margin decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateMargin(pub Option<f64>);

/// The result of a gate that is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UndecidedGate {
    /// Exit with 0
    Pass,
    /// Exit with 5
    Fail,
}

/// The form of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// A table and a conclusion
    Text,
    /// One JSON object; docs/compare.md describes its keys
    Json,
    /// A table of Markdown, as code forges show it
    #[value(alias = "markdown")]
    Md,
    /// A row for each figure
    Csv,
}

impl CompareArgs {
    /// The margin.
    pub fn margin(&self) -> Margin {
        Margin::of_ratio(self.margin)
    }
}

/// More pairs than this are a typing error.
const PAIRS_MOST: usize = 1000;

fn repeats(text: &str) -> Result<LookSchedule, String> {
    let wanted = || {
        format!(
            "invalid number of pairs {text:?}: use N or LEAST..MOST from 2 to {PAIRS_MOST}: 5..20"
        )
    };
    let number = |text: &str| -> Option<usize> {
        text.parse().ok().filter(|pairs| (2..=PAIRS_MOST).contains(pairs))
    };
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = number(least).zip(number(most)).ok_or_else(wanted)?;
    if least <= most { Ok(LookSchedule::between(least, most)) } else { Err(wanted()) }
}

/// A share from a number with or without `%`: always percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("invalid percentage {text:?}: use a number from 0 to 1000: 5%")),
    }
}

fn gate(text: &str) -> Result<GateMargin, String> {
    let wanted = || format!("unknown gate {text:?}: use worse or worse:PERCENT: worse:5%");
    match text.split_once(':') {
        None if text == "worse" => Ok(GateMargin(None)),
        Some(("worse", margin)) => Ok(GateMargin(Some(percent(margin)?))),
        _ => Err(wanted()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pairs() {
        assert_eq!(repeats("5..20").unwrap().pairs(), [5, 8, 12, 16, 20]);
        assert_eq!(repeats("7").unwrap().pairs(), [7]);
        for wrong in ["", "1", "5..4", "x", "5..", "5..2000", "-5"] {
            assert!(repeats(wrong).unwrap_err().contains("5..20"), "{wrong}");
        }
    }

    #[test]
    fn percentages_and_gates() {
        assert_eq!((percent("5%"), percent("2.5")), (Ok(0.05), Ok(0.025)));
        assert!(percent("x").is_err() && percent("-1%").is_err() && percent("nan").is_err());
        assert_eq!(gate("worse"), Ok(GateMargin(None)));
        assert_eq!(gate("worse:10%"), Ok(GateMargin(Some(0.1))));
        assert!(gate("better").is_err() && gate("worse:x").is_err());
    }
}
