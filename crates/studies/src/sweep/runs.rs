//! The runs of a sweep: rounds of points in random order, kept as they end.

use super::arguments::{RampChoice, SweepArgs};
use super::grid::{GridPoint, points};
use crate::trials::folder::{BegunRuns, EarlierRuns, FolderRequest, TrialFolder};
use crate::trials::settings::{OptionSetting, identity};
use iosonde_judge::round_order;
use iosonde_report::Report;
use iosonde_result::StoredResult;
use iosonde_run::job::Plan;
use iosonde_session::jobs::plan;
use iosonde_session::prepare::prepare_parsed;
use iosonde_session::{Measured, Personality, RunEnd, RunLine, RunRules, Session, Work, document};
use iosonde_spec::cli::Parsed;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One point of the sweep.
pub struct SweepPoint {
    /// Its values.
    pub grid: GridPoint,
    /// Its jobs; `None` until the free rate is known that a value is a part of.
    pub parsed: Option<Parsed>,
    /// I/Os in flight together, all jobs.
    pub load: f64,
    /// Jobs, copies counted.
    pub jobs: usize,
    /// Its results, by round.
    pub runs: Vec<Option<PointRun>>,
    /// Why it cannot be run; its other rounds are left out.
    pub failure: Option<String>,
}

impl SweepPoint {
    /// A point that has not run; without jobs where a value is a part of the
    /// free rate.
    ///
    /// # Errors
    /// The reasons, a line each.
    pub fn new(
        base: &Parsed,
        grid: GridPoint,
        arguments: &SweepArgs,
    ) -> Result<SweepPoint, Vec<String>> {
        let parsed = if grid.settings.iter().any(is_relative) {
            None
        } else {
            Some(with_settings(base, &grid.settings, arguments.ramp)?)
        };
        let runs = (0..arguments.rounds).map(|_| None).collect();
        Ok(SweepPoint { grid, parsed, load: 0.0, jobs: 0, runs, failure: None })
    }
}

/// One run of a point.
pub struct PointRun {
    /// The file of its result.
    pub file: String,
    /// What it says.
    pub result: StoredResult,
}

impl SweepPoint {
    /// Its jobs as they will run, with their load noted.
    ///
    /// # Errors
    /// They cannot run.
    pub fn measure_load(&mut self) -> Result<Plan, RunEnd> {
        let mut parsed = self.parsed.clone().expect("rates are resolved");
        // Files of other points may be there, and nothing is done to them here.
        parsed.flags.jobs.extend = true;
        let plan = prepare_parsed(Personality::Native, parsed)?.plan;
        self.jobs = plan.jobs.len();
        self.load = plan.jobs.iter().map(|job| f64::from(job.reporting.depth_asked)).sum();
        Ok(plan)
    }
}

/// A sweep under way.
pub struct SweepRuns<'a> {
    pub(super) arguments: &'a SweepArgs,
    /// The jobs without the values of any point.
    pub base: Parsed,
    /// The points, in the order of the axes.
    pub points: Vec<SweepPoint>,
    /// The seed of the orders.
    pub seed: u64,
    /// The directory, and the journal.
    pub folder: TrialFolder,
    session: &'a Session,
    longest: Duration,
    begun: Instant,
    written: u64,
    /// The rate of each job without a limit, if it was measured.
    free_rate: Option<f64>,
    /// Files that the journal of earlier runs has.
    kept: Vec<String>,
    /// The budget ended the runs.
    is_cut: bool,
    /// Points that `--where` leaves out.
    pub left_out: Vec<String>,
    /// `--refine` has been done.
    pub(super) is_refined: bool,
}

/// The points of a grid, and those that `--where` leaves out.
pub struct PlannedPoints {
    /// What is run.
    pub points: Vec<SweepPoint>,
    /// What is not, in words.
    pub left_out: Vec<String>,
}

/// The points that a grid has, before anything runs.
///
/// # Errors
/// The reasons, a line each.
pub fn planned_points(base: &Parsed, arguments: &SweepArgs) -> Result<PlannedPoints, Vec<String>> {
    let own = |why: String| vec![format!("iosonde: sweep: {why}")];
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for grid in points(&arguments.over) {
        if let Some(condition) = &arguments.condition
            && !condition.holds(&grid).map_err(|why| own(format!("--where: {why}")))?
        {
            left_out.push(grid.text());
            continue;
        }
        all.push(SweepPoint::new(base, grid, arguments)?);
    }
    if all.is_empty() {
        Err(own("--where leaves no point: no combination of the values holds".into()))
    } else {
        Ok(PlannedPoints { points: all, left_out })
    }
}

/// Whether a value is a part of the free rate.
fn is_relative(setting: &OptionSetting) -> bool {
    let is_rate = ["rate_iops", "rate"].contains(&setting.name.as_str());
    is_rate && setting.value.as_ref().is_some_and(|value| value.ends_with('%'))
}

/// The jobs with the options of a point, checked.
///
/// # Errors
/// The reasons, a line each.
pub fn with_settings(
    base: &Parsed,
    settings: &[OptionSetting],
    ramp: RampChoice,
) -> Result<Parsed, Vec<String>> {
    let mut parsed = base.clone();
    for setting in settings {
        setting.apply(&mut parsed).map_err(|why| vec![format!("iosonde: sweep: --over: {why}")])?;
    }
    set_ramp(&mut parsed, ramp);
    plan(&parsed)?;
    Ok(parsed)
}

/// A run's first moments are not counted: the larger of these.
const RAMP_LEAST_S: f64 = 2.0;
const RAMP_SHARE: f64 = 0.1;

fn set_ramp(parsed: &mut Parsed, ramp: RampChoice) {
    for job in &mut parsed.jobs {
        let runtime = job.spec.time.runtime.get().secs_f64();
        let seconds = match ramp {
            _ if job.spec.is_set("ramp_time") || runtime <= 0.0 => continue,
            RampChoice::Fixed(span) => span.as_secs_f64(),
            RampChoice::Auto => (runtime * RAMP_SHARE).max(RAMP_LEAST_S),
        };
        let text = format!("{}us", (seconds * 1e6).round() as u64);
        let origin = iosonde_options::Origin::Implied { by: "sweep --ramp" };
        job.spec
            .set("ramp_time", Some(&text), origin)
            .expect("a time in us is a value of ramp_time");
    }
}

impl<'a> SweepRuns<'a> {
    /// Begin, or go on with what `--resume` names.
    ///
    /// # Errors
    /// The directory cannot be used, or holds other runs.
    pub fn new(
        arguments: &'a SweepArgs,
        base: Parsed,
        planned: PlannedPoints,
        session: &'a Session,
    ) -> Result<SweepRuns<'a>, String> {
        let request = FolderRequest {
            path: &arguments.out,
            resume: arguments.resume,
            force: arguments.force,
            seed: arguments.seed,
        };
        let PlannedPoints { points, left_out } = planned;
        let begun = TrialFolder::begin(request, |seed| header(arguments, &base, &points, seed))?;
        let BegunRuns { folder, seed, earlier } = begun;
        let (longest, begun) = (Duration::ZERO, Instant::now());
        let mut runs = SweepRuns {
            arguments,
            base,
            points,
            seed,
            folder,
            session,
            longest,
            begun,
            written: 0,
            free_rate: None,
            kept: Vec::new(),
            is_cut: false,
            left_out,
            is_refined: false,
        };
        runs.take_back(earlier)?;
        Ok(runs)
    }

    /// The results of earlier runs.
    fn take_back(&mut self, earlier: Option<EarlierRuns>) -> Result<(), String> {
        for line in earlier.into_iter().flat_map(|earlier| earlier.runs) {
            self.take_back_refined(&line)?;
            let Some(file) = line["file"].as_str() else { continue };
            let result = self.stored(file)?;
            self.kept.push(file.to_owned());
            self.written += written_bytes(&result.report);
            let number = |key: &str| line[key].as_u64().and_then(|n| usize::try_from(n).ok());
            match (number("point"), number("round")) {
                (Some(point), Some(round)) => {
                    let slot =
                        self.points.get_mut(point).and_then(|point| point.runs.get_mut(round));
                    let run = PointRun { file: file.to_owned(), result };
                    if let Some(slot) = slot {
                        *slot = Some(run);
                    }
                }
                _ if line["free"] == true => self.free_rate = Some(rate_of_a_job(&result.report)),
                _ => {}
            }
        }
        Ok(())
    }

    /// A result of the directory.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn stored(&self, file: &str) -> Result<StoredResult, String> {
        let place = self.folder.path().join(file);
        iosonde_command::stored::read(&place.to_string_lossy())
            .map_err(|why| format!("{}: {why}", place.display()))
    }

    /// Everything that a run of the whole sweep does.
    ///
    /// # Errors
    /// A run fails, or a signal comes.
    pub fn run(&mut self) -> Result<(), RunEnd> {
        self.resolve_rates()?;
        self.prepare()?;
        for round in 0..self.arguments.rounds as usize {
            self.run_round(round)?;
            if round == 0 && self.refine()? {
                // The new points' first round.
                self.run_round(0)?;
            }
        }
        Ok(())
    }

    /// Run the missing points of a round, in its order.
    fn run_round(&mut self, round: usize) -> Result<(), RunEnd> {
        let order = round_order(self.seed, round as u64, self.points.len());
        for (position, at) in order.into_iter().enumerate() {
            let point = &self.points[at];
            if point.runs[round].is_some() || point.failure.is_some() {
                continue;
            }
            if self.is_spent() {
                return Ok(());
            }
            self.run_point(at, round, position)?;
        }
        Ok(())
    }

    /// Whether the budget of time or of writes is through.
    pub fn is_spent(&mut self) -> bool {
        let is_late = |budget: Duration| {
            self.begun.elapsed() + self.longest > budget && !self.longest.is_zero()
        };
        let is_full = |most: u64| self.written >= most;
        self.is_cut = self.arguments.budget.is_some_and(is_late)
            || self.arguments.max_writes.is_some_and(is_full);
        self.is_cut
    }

    /// Values that are parts of the free rate become numbers.
    fn resolve_rates(&mut self) -> Result<(), RunEnd> {
        if self.points.iter().all(|point| point.parsed.is_some()) {
            return Ok(());
        }
        let free = self.measure_free_rate()?;
        let base = self.base.clone();
        for point in self.points.iter_mut().filter(|point| point.parsed.is_none()) {
            let mut settings = point.grid.settings.clone();
            for setting in settings.iter_mut().filter(|setting| is_relative(setting)) {
                let percent = setting.value.as_deref().and_then(super::grid::number).unwrap_or(0.0);
                setting.value =
                    Some(((free * percent / 100.0).round().max(1.0) as u64).to_string());
            }
            let parsed = with_settings(&base, &settings, self.arguments.ramp);
            point.parsed = Some(parsed.map_err(RunEnd::Failed)?);
            point.grid.settings = settings;
        }
        Ok(())
    }

    /// The rate of a job without a limit: I/Os a second.
    ///
    /// # Errors
    /// The run fails, or a signal comes.
    pub fn measure_free_rate(&mut self) -> Result<f64, RunEnd> {
        if let Some(rate) = self.free_rate {
            return Ok(rate);
        }
        let mut parsed = self.base.clone();
        set_ramp(&mut parsed, self.arguments.ramp);
        let entry = json!({ "free": true });
        let result = self.run_once(&parsed, "free.json", entry, "the rate without a limit")?;
        let rate = rate_of_a_job(&result.report);
        self.free_rate = Some(rate);
        Ok(rate)
    }

    /// Write targets as `--precondition` says, and lay out the files of all
    /// points, so that no run does it.
    fn prepare(&mut self) -> Result<(), RunEnd> {
        let mut plans: Vec<Plan> = Vec::new();
        for point in &mut self.points {
            plans.push(point.measure_load()?);
        }
        let is_begun = self.points.iter().any(|point| point.runs.iter().any(Option::is_some));
        if is_begun {
            return Ok(());
        }
        self.arguments.precondition.act(&plans, &self.base.flags.jobs.erase, self.session)?;
        for at in 0..self.points.len() {
            let parsed = self.points[at].parsed.clone().expect("rates are resolved");
            match self.lay_out(&parsed) {
                Err(RunEnd::Failed(why)) => self.note_failure(at, 0, why.join("; "))?,
                other => other?,
            }
        }
        Ok(())
    }

    /// A point that cannot be run: the others go on.
    fn note_failure(&mut self, at: usize, round: usize, why: String) -> Result<(), RunEnd> {
        let point = &mut self.points[at];
        iosonde_sys::standard_error::print_error(&format!(
            "iosonde: sweep: {}: {why}",
            point.grid.text()
        ));
        let entry = json!({
            "failed": why, "point": at, "round": round, "settings": point.grid.text(),
        });
        point.failure = Some(why);
        self.folder.log(&entry).map_err(RunEnd::failed)
    }

    fn run_point(&mut self, at: usize, round: usize, position: usize) -> Result<(), RunEnd> {
        let file = format!("{:03}.json", round * self.points.len() + at + 1);
        let point = &self.points[at];
        let parsed = point.parsed.clone().expect("rates are resolved");
        let words = format!(
            "round {} of {}, run {} of {}: {}",
            round + 1,
            self.arguments.rounds,
            position + 1,
            self.points.len(),
            point.grid.text()
        );
        let entry = json!({
            "point": at,
            "round": round,
            "order": position,
            "settings": point.grid.text(),
        });
        let ran = match self.run_jobs(&parsed, &words) {
            Err(RunEnd::Failed(why)) => return self.note_failure(at, round, why.join("; ")),
            other => other?,
        };
        let result = self.keep(&ran, &file, entry)?;
        self.points[at].runs[round] = Some(PointRun { file, result });
        Ok(())
    }

    /// Run jobs, and keep the result in `file` with a line in the journal.
    ///
    /// # Errors
    /// The run fails, or a signal comes.
    pub fn run_once(
        &mut self,
        parsed: &Parsed,
        file: &str,
        entry: Value,
        words: &str,
    ) -> Result<StoredResult, RunEnd> {
        let ran = self.run_jobs(parsed, words).map_err(|end| end.about(words))?;
        self.keep(&ran, file, entry)
    }

    fn run_jobs(&self, parsed: &Parsed, words: &str) -> Result<Measured, RunEnd> {
        let line = RunLine::new(words);
        line.draw("");
        self.session.measure_typed(parsed, &line)
    }

    /// Keep a result in `file`, with a line in the journal, and do what is to be
    /// done after a run.
    fn keep(&mut self, ran: &Measured, file: &str, entry: Value) -> Result<StoredResult, RunEnd> {
        let begun = Instant::now();
        let failed = RunEnd::failed;
        let document = document(&ran.report());
        let result =
            iosonde_result::read(&document).map_err(|error| failed(format!("{file}: {error}")))?;
        self.folder.write(file, &document).map_err(failed)?;
        let mut entry = entry;
        entry["file"] = file.into();
        entry["wall_s"] = ran.wall.as_secs_f64().into();
        self.folder.log(&entry).map_err(failed)?;
        self.written += written_bytes(&result.report);
        self.arguments.between.act(&ran.plan, self.session)?;
        self.longest = self.longest.max(ran.wall + begun.elapsed());
        Ok(result)
    }

    /// Make the files of jobs, outside of any run.
    ///
    /// # Errors
    /// They cannot be made, or a signal comes.
    pub fn lay_out(&self, parsed: &Parsed) -> Result<(), RunEnd> {
        let mut parsed = parsed.clone();
        let only = OptionSetting::parse("create_only=1").expect("it is an option");
        only.apply(&mut parsed).map_err(RunEnd::failed)?;
        let line = RunLine::new("lay out files");
        let plan = self.session.prepared(parsed)?.plan;
        let rules = RunRules::may_erase(&self.base.flags.jobs.erase);
        self.session.measure(Work::Planned(plan), &rules, &mut line.clone())?;
        line.clear();
        Ok(())
    }

    /// Whether the journal has a run with this file.
    pub fn is_kept(&self, file: &str) -> bool {
        self.kept.iter().any(|kept| kept == file)
    }

    /// Whether nothing is left to run.
    pub fn is_whole(&self) -> bool {
        let (ended, all) = self.progress();
        ended == all && !self.is_cut
    }

    /// Whether the budget of time or of writes ended the runs.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Points that failed, in words, and why.
    pub fn failures(&self) -> Vec<(String, String)> {
        let failed = self.points.iter().filter_map(|point| Some((point, point.failure.as_ref()?)));
        failed.map(|(point, why)| (point.grid.text(), why.clone())).collect()
    }

    /// How many runs have ended, of how many.
    pub fn progress(&self) -> (usize, usize) {
        let all = self.points.iter().flat_map(|point| &point.runs);
        (all.clone().filter(|run| run.is_some()).count(), all.count())
    }
}

/// The first line of the journal: what two invocations must agree in.
fn header(arguments: &SweepArgs, base: &Parsed, points: &[SweepPoint], seed: u64) -> Value {
    let slo: Vec<&str> = arguments.slo.iter().map(|one| one.text.as_str()).collect();
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "sweep runs",
        "schema": 1,
        "seed": seed,
        "rounds": arguments.rounds,
        "jobs": identity(base),
        "points": points.iter().map(|point| point.grid.text()).collect::<Value>(),
        "slo": slo,
        "find": arguments.find.as_ref().map(|find| json!([find.option.name(), find.range])),
        "confirm": arguments.confirm,
    })
}

fn written_bytes(report: &Report) -> u64 {
    report.jobs.iter().map(|job| job.dirs[iosonde_base::Dir::Write].io_bytes).sum()
}

/// I/Os a second of one job, of the direction that does most.
fn rate_of_a_job(report: &Report) -> f64 {
    let jobs = report.jobs.iter().map(|job| job.clones.max(1)).sum::<u32>().max(1);
    let most = iosonde_base::DIRS
        .map(|dir| report.jobs.iter().map(|job| job.dirs[dir].iops()).sum::<f64>())
        .into_iter()
        .fold(0.0, f64::max);
    most / f64::from(jobs)
}
