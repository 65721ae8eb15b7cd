//! One run of the table: made ready, run, and its conclusion judged.

use super::group::{Limit, LimitedGroup};
use super::stage::{Stage, StagePlace};
use iosonde_testing::{Undo, run as command};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No run takes so long; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run whose conclusion is known.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What it is: `storage: a device of 10 ms, libaio, depth 4`.
    pub name: String,
    pub(super) place: StagePlace,
    pub(super) limit: Option<Limit>,
    /// Options of the job; `{on}` is the place.
    pub(super) words: String,
    /// Commands before it.
    pub(super) before: Vec<String>,
    /// Commands while it runs: seconds after the start, and the line; `{pid}`, `{freeze}`
    /// and `{thaw}` are filled in.
    pub(super) at: Vec<(f64, String)>,
    pub(super) truth: Truth,
}

/// What is known of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub(super) outcome: &'static str,
    /// What may be named as the limit.
    pub(super) limits: Vec<&'static str>,
    /// Each I/O takes so many milliseconds, and so many of them are served at a time: where
    /// these took less than half of the time, others had the processors.
    pub(super) service: Option<(f64, f64)>,
    /// A limit of so many I/Os a second, or bytes.
    pub(super) rate: Option<(f64, bool)>,
    /// What the sentence must say, and what it must not.
    pub(super) says: Vec<&'static str>,
    pub(super) never: Vec<&'static str>,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct TrialResult {
    /// The command line.
    pub line: String,
    /// The sentence, or why there is none.
    pub text: String,
    /// How it came out.
    pub outcome: TrialOutcome,
}

/// Whether a conclusion is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// It is.
    Right,
    /// It is not, and why; whether it was said to be certain.
    Wrong {
        /// Why.
        why: String,
        /// It was said to be certain.
        certain: bool,
    },
    /// Why it could not be tried.
    NotTried(String),
}

/// Run these, one after the other; `done` with each.
///
/// # Errors
/// If nothing can be tried here.
pub fn try_all(
    program: &Path,
    directory: &Path,
    trials: &[Trial],
    mut done: impl FnMut(&Trial, TrialResult) + Send,
) -> Result<(), String> {
    let made = fs::create_dir_all(directory);
    made.map_err(|error| format!("{}: {error}", directory.display()))?;
    let result = iosonde_faults::with_own_mounts(|| {
        let mut stage = Stage::new(directory);
        for trial in trials {
            let result = trial.run(program, directory, &mut stage);
            done(trial, result);
        }
    });
    let _ = fs::remove_dir_all(directory);
    result
}

impl Trial {
    fn run(&self, program: &Path, directory: &Path, stage: &mut Stage) -> TrialResult {
        match self.document(program, directory, stage) {
            Ok((line, document)) => {
                let conclusion = &document["iosonde"]["conclusion"];
                let text = conclusion["text"].as_str().unwrap_or("no conclusion").to_owned();
                TrialResult { line, outcome: self.judge(&document), text }
            }
            Err(why) => TrialResult {
                line: self.words.clone(),
                text: String::new(),
                outcome: TrialOutcome::NotTried(why),
            },
        }
    }

    fn document(
        &self,
        program: &Path,
        directory: &Path,
        stage: &mut Stage,
    ) -> Result<(String, Value), String> {
        let made = stage.get(self.place)?;
        let group =
            self.limit.as_ref().map(|limit| LimitedGroup::make(limit, &made.id)).transpose()?;
        let program_text = program.display().to_string();
        let fill = |text: &str| text.replace("{on}", &made.on).replace("{iosonde}", &program_text);
        for line in &self.before {
            let aside = directory.display().to_string();
            command("env", &["-C", &aside, "sh", "-c", &fill(line)])?;
        }
        let mut words = vec![program.display().to_string(), "--output-format=json".to_owned()];
        words.extend(fill(&self.words).split_whitespace().map(str::to_owned));
        let line = words.join(" ");
        let (out, path) = (directory.join("out"), group.as_ref().map_or("", |group| &group.path));
        let enter = "[ -z \"$0\" ] || echo $$ > \"$0/cgroup.procs\"; exec \"$@\"";
        let mut child = Command::new("sh")
            .args(["-c", enter, path])
            .args(&words)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(File::create(&out).map_err(|error| error.to_string())?)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let kill = Undo::kill_group(&child);
        let at: Vec<(f64, String)> = self
            .at
            .iter()
            .map(|(when, line)| (*when, fill(line).replace("{server}", &made.server)))
            .collect();
        wait(&mut child, &at, group.as_ref())?;
        kill.cancel();
        let text = fs::read_to_string(&out).map_err(|error| error.to_string())?;
        let begin = text.find('{').ok_or("it printed no result")?;
        let document = serde_json::from_str(&text[begin..]).map_err(|error| error.to_string())?;
        Ok((line, document))
    }

    fn judge(&self, document: &Value) -> TrialOutcome {
        let conclusion = &document["iosonde"]["conclusion"];
        let word = |key: &str| conclusion[key].as_str().unwrap_or_default();
        let text = word("text");
        let certain = word("certainty") == "certain";
        let wrong = |why: String, certain: bool| TrialOutcome::Wrong { why, certain };
        if word("outcome") != self.truth.outcome {
            return wrong(format!("outcome {} for {}", word("outcome"), self.truth.outcome), true);
        }
        let allowed = self.allowed(document);
        if self.truth.outcome == "completed" && !allowed.contains(&word("limited_by")) {
            return wrong(format!("limited by {} for {allowed:?}", word("limited_by")), certain);
        }
        let missing = self.truth.says.iter().find(|says| !text.contains(**says));
        let forbidden = self.truth.never.iter().find(|never| text.contains(**never));
        match (missing, forbidden) {
            (Some(says), _) => wrong(format!("it does not say {says:?}"), false),
            (_, Some(never)) => wrong(format!("it says {never:?}"), certain),
            _ => TrialOutcome::Right,
        }
    }

    /// What may be named as the limit, by what was set and by the rate that came of it.
    fn allowed(&self, document: &Value) -> Vec<&'static str> {
        let mut allowed = self.truth.limits.clone();
        let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        let sum = |key: &str| -> f64 {
            let dirs = jobs.iter().flat_map(|job| [&job["read"], &job["write"]]);
            dirs.filter_map(|dir| dir[key].as_f64()).sum()
        };
        let of_set = match (self.truth.service, self.truth.rate) {
            (Some((ms, at_a_time)), _) => sum("iops") * ms / 1e3 / at_a_time,
            (_, Some((rate, in_bytes))) => sum(if in_bytes { "bw_bytes" } else { "iops" }) / rate,
            _ => return allowed,
        };
        if of_set < 0.6 {
            allowed.push("processor");
        }
        if of_set < 0.4 {
            allowed.retain(|limit| *limit == "processor");
        }
        allowed
    }
}

/// Wait for the end, with the commands that are due meanwhile.
fn wait(
    child: &mut Child,
    at: &[(f64, String)],
    group: Option<&LimitedGroup>,
) -> Result<(), String> {
    let began = Instant::now();
    let mut due = at.iter().peekable();
    let [freeze, thaw] = group.map(LimitedGroup::freezing).unwrap_or_default();
    let filled = |line: &str, pid: &str| {
        line.replace("{freeze}", &freeze).replace("{thaw}", &thaw).replace("{pid}", pid)
    };
    loop {
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            // What was stopped goes on, for those that come after.
            due.for_each(|(_, line)| drop(command("sh", &["-c", &filled(line, "")])));
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not end in {} s", PATIENCE.as_secs()));
        }
        if let Some((_, line)) = due.next_if(|(when, _)| began.elapsed().as_secs_f64() >= *when) {
            command("sh", &["-c", &filled(line, &child.id().to_string())])?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
