//! The command line of `iosonde sweep`.

use super::condition::PointCondition;
use super::find::FindOption;
use super::grid::SweepAxis;
use super::precondition::Precondition;
use crate::trials::between::BetweenRuns;
use crate::trials::promise::Promise;
use clap::{Args, ValueEnum, ValueHint};
use iosonde_base::text::time;
use std::path::PathBuf;
use std::time::Duration;

/// The forms that `--help` shows.
pub const USAGE: &str = "iosonde sweep JOBFILE|JOB OPTIONS --over OPTION=VALUES... [OPTIONS]
       iosonde sweep JOBFILE|JOB OPTIONS --slo 'FIGURE < TIME' --find rate_iops";

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Runs the jobs once at every point of a grid, in rounds; each round has every
point once in a fresh random order, so that a drift of the device does not look
like an effect. With --slo it searches the highest rate that keeps a promise,
and confirms it with fresh runs. Results, sweep.json and sweep.csv are kept in
a directory, with a page of charts (sweep.html); --resume goes on there, also after kill -9. docs/sweep.md
describes the syntax and how the knee is found.";

/// What to run, and in which order.
#[derive(Args, Clone, Debug)]
pub struct SweepArgs {
    /// An axis: 1,2,4 or 1..256*2 or 0..100+25 or 10..1000:5; bs+iodepth=4k+32,64k+8
    /// sets two options together; 10% of rate_iops is of the rate without one
    #[arg(long, value_name = "OPTION=VALUES", value_parser = SweepAxis::parse)]
    pub over: Vec<SweepAxis>,
    /// Run only points for which this holds: 'iodepth*numjobs<=256'
    #[arg(long = "where", value_name = "CONDITION", value_parser = PointCondition::parse)]
    pub condition: Option<PointCondition>,
    /// Rounds: how often each point is run
    #[arg(long, visible_alias = "repeats", value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// After the first round, add N points between the neighbours of the knee;
    /// one axis is iodepth or numjobs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub refine: Option<u32>,
    /// Begin no run that would end later than this
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Begin no run after so many bytes were written: 500g
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_writes: Option<u64>,
    /// Seconds of each run that are not counted: auto is max(2 s, 10 % of
    /// runtime), unless the job sets ramp_time
    #[arg(long, value_name = "TIME", default_value = "auto", value_parser = RampChoice::parse)]
    pub ramp: RampChoice,
    /// What to do after each run: auto, none, sync, settle or a command
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = BetweenRuns::parse)]
    pub between: BetweenRuns,
    /// Write the files before the first run; a device with --erase=WORD, its
    /// serial number, model or size
    #[arg(long, value_enum, value_name = "HOW", default_value = "none")]
    pub precondition: Precondition,
    /// A promise to keep: FIGURE < VALUE, as 'read.response.p99 < 2ms'; or
    /// 'errors = 0'
    #[arg(long, value_name = "PROMISE", value_parser = Promise::parse)]
    pub slo: Vec<Promise>,
    /// The option to search the highest value of: rate_iops or numjobs, also with
    /// =LO..HI
    #[arg(long, value_name = "OPTION[=LO..HI]", requires = "slo", value_parser = FindOption::parse)]
    pub find: Option<FindOption>,
    /// Fresh runs at the answer that must all keep the promise
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub confirm: u32,
    /// The seed of the orders; random unless set
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print the points and how long they take; run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How to print the sweep
    #[arg(long, value_enum, default_value = "text")]
    pub format: SweepFormat,
    /// Write the page to FILE, too: sweep.html is kept with the runs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Where runs are kept
    #[arg(short = 'o', long = "out", value_name = "DIR", default_value = "sweep.d", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Go on with the runs in that directory
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Remove earlier runs in that directory, and overwrite the page
    #[arg(long)]
    pub force: bool,
}

/// The form of the sweep on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweepFormat {
    /// A table and the knee
    Text,
    /// As sweep.json; docs/sweep.md describes its keys
    Json,
    /// As sweep.csv
    Csv,
}

/// The ramp of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RampChoice {
    /// By the run's length.
    Auto,
    /// So long.
    Fixed(Duration),
}

impl RampChoice {
    fn parse(text: &str) -> Result<RampChoice, String> {
        match text {
            "auto" => Ok(RampChoice::Auto),
            "0" | "none" => Ok(RampChoice::Fixed(Duration::ZERO)),
            other => time(other).map(RampChoice::Fixed),
        }
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let number = super::grid::number(text).filter(|_| !text.ends_with('%'));
    match number {
        Some(number) if number >= 1.0 && number < u64::MAX as f64 => Ok(number as u64),
        _ => Err(format!("invalid size {text:?}: use a number with k, m, g or t: 500g")),
    }
}
