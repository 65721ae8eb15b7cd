//! Runs of A and B in pairs, kept as they end.

use super::arguments::CompareArgs;
use super::comparison::{JudgeRequest, RunDesign, SideComparison};
use super::jobs;
use super::likeness::Likeness;
use super::side::{CompareSide, SideRun};
use crate::trials::between::shell;
use crate::trials::folder::{BegunRuns, EarlierRuns, FolderRequest, TrialFolder};
use crate::trials::settings::identity;
use iosonde_judge::{Decision, PairOrder, pair_orders};
use iosonde_session::{RunEnd, RunLine, Session, document};
use iosonde_spec::cli::Parsed;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What runs as one side.
pub struct RunSide {
    /// In words.
    pub name: String,
    /// The jobs.
    pub parsed: Parsed,
    /// Commands before each run.
    pub before: Vec<String>,
}

/// Pairs under way.
pub struct PairedRuns<'a> {
    arguments: &'a CompareArgs,
    sides: [RunSide; 2],
    /// The seed of the order.
    pub seed: u64,
    orders: Vec<PairOrder>,
    folder: TrialFolder,
    session: &'a Session,
    /// The results, by side and number; warm-up pairs come first.
    runs: [Vec<Option<SideRun>>; 2],
    longest: Duration,
    begun: Instant,
}

/// How the runs ended.
pub enum PairsEnd {
    /// There is a comparison.
    JudgedRuns(Box<SideComparison>),
    /// The sides are not the same thing: why.
    Unlike(Vec<String>),
}

impl<'a> PairedRuns<'a> {
    /// Begin, or go on with what `--resume` names.
    ///
    /// # Errors
    /// The directory cannot be used, or holds other runs.
    pub fn new(
        arguments: &'a CompareArgs,
        sides: [RunSide; 2],
        session: &'a Session,
    ) -> Result<PairedRuns<'a>, String> {
        let request = FolderRequest {
            path: &arguments.out,
            resume: arguments.resume,
            force: arguments.force,
            seed: arguments.seed,
        };
        let begun = TrialFolder::begin(request, |seed| header(arguments, &sides, seed))?;
        let BegunRuns { folder, seed, earlier } = begun;
        let all = arguments.warmup as usize + arguments.repeats.most();
        let mut runs = PairedRuns {
            arguments,
            sides,
            seed,
            orders: pair_orders(seed, arguments.repeats.pairs()),
            folder,
            session,
            runs: [vec![None; all], vec![None; all]],
            longest: Duration::ZERO,
            begun: Instant::now(),
        };
        runs.take_back(earlier)?;
        Ok(runs)
    }

    /// The results of earlier runs.
    fn take_back(&mut self, earlier: Option<EarlierRuns>) -> Result<(), String> {
        for line in earlier.into_iter().flat_map(|earlier| earlier.runs) {
            let (Some(pair), Some(file)) = (line["pair"].as_u64(), line["file"].as_str()) else {
                continue;
            };
            let side = usize::from(line["side"] == "b");
            let place = self.folder.path().join(file);
            let result = iosonde_command::stored::read(&place.to_string_lossy())
                .map_err(|why| format!("{}: {why}", place.display()))?;
            if let Some(run) = self.runs[side].get_mut(pair as usize) {
                *run = Some(SideRun { file: file.to_owned(), result });
            }
        }
        Ok(())
    }

    /// Run pairs until something is decided, the last pair or the budget is
    /// through, or a signal comes.
    ///
    /// # Errors
    /// A run fails, or nothing can be judged.
    pub fn run(&mut self, request: &JudgeRequest) -> Result<PairsEnd, RunEnd> {
        let warmup = self.arguments.warmup as usize;
        for pair in 0..warmup + self.arguments.repeats.most() {
            let is_late = |budget: Duration| self.begun.elapsed() + self.longest > budget;
            if pair > warmup && self.arguments.budget.is_some_and(is_late) {
                break;
            }
            self.run_pair(pair)?;
            if pair == 0 {
                let stops = self.likeness(0, 1).stops;
                if !stops.is_empty() {
                    return Ok(PairsEnd::Unlike(stops));
                }
            }
            if pair >= warmup && self.arguments.repeats.is_look(pair + 1 - warmup) {
                let comparison = self.judge(request).map_err(RunEnd::failed)?;
                if comparison.primary().decision() != Decision::CannotTell {
                    return Ok(PairsEnd::JudgedRuns(Box::new(comparison)));
                }
            }
        }
        self.judge(request)
            .map(|judged| PairsEnd::JudgedRuns(Box::new(judged)))
            .map_err(RunEnd::failed)
    }

    /// Judge the pairs that are there.
    ///
    /// # Errors
    /// There are none, or they have nothing in common.
    pub fn judge(&self, request: &JudgeRequest) -> Result<SideComparison, String> {
        let warmup = self.arguments.warmup as usize;
        let pairs = self.complete();
        if pairs == 0 {
            return Err("no pair has ended, so there is nothing to judge".into());
        }
        let sides = self.side_runs(warmup, pairs);
        let likeness = Likeness::of(&sides, &varied(self.arguments));
        let design = RunDesign::Pairs {
            orders: self.orders[..pairs].to_vec(),
            alpha: self.arguments.repeats.alpha(),
            robust: self.arguments.robust,
        };
        jobs::judge(sides, design, likeness, request)
    }

    /// How many pairs have ended, warm-up not counted.
    fn complete(&self) -> usize {
        let warmup = self.arguments.warmup as usize;
        let both = self.runs[0].iter().zip(&self.runs[1]).skip(warmup);
        both.take_while(|(a, b)| a.is_some() && b.is_some()).count()
    }

    fn side_runs(&self, first: usize, count: usize) -> [CompareSide; 2] {
        [0, 1].map(|side: usize| CompareSide {
            name: self.sides[side].name.clone(),
            runs: self.runs[side].iter().skip(first).take(count).flatten().cloned().collect(),
        })
    }

    fn likeness(&self, first: usize, count: usize) -> Likeness {
        Likeness::of(&self.side_runs(first, count), &varied(self.arguments))
    }

    fn run_pair(&mut self, pair: usize) -> Result<(), RunEnd> {
        let begun = Instant::now();
        let warmup = self.arguments.warmup as usize;
        let order = match pair.checked_sub(warmup) {
            Some(counted) => self.orders[counted],
            None => PairOrder::AFirst,
        };
        let sides = match order {
            PairOrder::AFirst => [0, 1],
            PairOrder::BFirst => [1, 0],
        };
        for side in sides {
            if self.runs[side][pair].is_none() {
                self.run_side(pair, side)?;
            }
        }
        self.longest = self.longest.max(begun.elapsed());
        Ok(())
    }

    fn run_side(&mut self, pair: usize, side: usize) -> Result<(), RunEnd> {
        let letter = ["a", "b"][side];
        let line = RunLine::new(self.words(pair, side));
        line.draw("");
        for command in &self.sides[side].before {
            shell(command)?;
        }
        let ran = self.session.measure_typed(&self.sides[side].parsed, &line);
        let ran = ran.map_err(|end| end.about(&letter.to_uppercase()))?;
        let file = format!("{pair:03}-{letter}.json");
        let failed = RunEnd::failed;
        let document = document(&ran.report());
        self.folder.write(&file, &document).map_err(failed)?;
        let entry = json!({
            "pair": pair,
            "side": letter,
            "file": file,
            "counted": pair >= self.arguments.warmup as usize,
            "wall_s": ran.wall.as_secs_f64(),
        });
        self.folder.log(&entry).map_err(failed)?;
        let result =
            iosonde_result::read(&document).map_err(|error| failed(format!("{file}: {error}")))?;
        self.runs[side][pair] = Some(SideRun { file, result });
        self.arguments.between.act(&ran.plan, self.session)
    }

    fn words(&self, pair: usize, side: usize) -> String {
        let letter = ["A", "B"][side];
        let name = &self.sides[side].name;
        match pair.checked_sub(self.arguments.warmup as usize) {
            None => format!("warm-up, {letter}: {name}"),
            Some(counted) => {
                let most = self.arguments.repeats.most();
                format!("pair {} of at most {most}, {letter}: {name}", counted + 1)
            }
        }
    }
}

/// The options that are meant to differ: those of `--vary`, `--a` and `--b`.
pub fn varied(arguments: &CompareArgs) -> Vec<String> {
    let lines = [&arguments.a, &arguments.b].into_iter().flatten();
    let set = lines.flat_map(|line| &line.0).map(|setting| setting.name.clone());
    arguments.vary.iter().cloned().chain(set).collect()
}

/// The first line of the journal: what two invocations must agree in.
fn header(arguments: &CompareArgs, sides: &[RunSide; 2], seed: u64) -> Value {
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "compare runs",
        "schema": 1,
        "seed": seed,
        "pairs": arguments.repeats.pairs(),
        "warmup": arguments.warmup,
        "a": {"name": sides[0].name, "jobs": identity(&sides[0].parsed), "before": sides[0].before},
        "b": {"name": sides[1].name, "jobs": identity(&sides[1].parsed), "before": sides[1].before},
    })
}
