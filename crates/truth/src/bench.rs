//! Trying cases: set-up, job, judgement.

use crate::check::{Check, Evidence, Outcome};
use crate::files;
use crate::meanwhile::{Beside, Counters, DirtySampler, count_calls};
use crate::places::{Place, Places};
use crate::table::{Call, Case};
use crate::value::Truths;
use iosonde_testing::{Cleaner, Undo, quoted, run as command};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No job of the table takes so long; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Until the programs beside a job do what they are there for.
const MOMENT: Duration = Duration::from_millis(400);

/// The program under test and a directory for devices and files.
#[derive(Clone, Debug)]
pub struct Bench {
    /// iosonde.
    pub program: PathBuf,
    /// The bench's own; it is removed at the end.
    pub directory: PathBuf,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The command line, as it was called.
    pub line: String,
    /// Each check and what it has shown.
    pub outcomes: Vec<(Check, Outcome)>,
}

/// What a job printed, and what was counted beside it.
#[derive(Default)]
struct Ran {
    line: String,
    output: String,
    document: Value,
    code: Option<i32>,
    truths: Truths,
    is_busy: bool,
}

impl Bench {
    /// Try these cases one after the other; `done` with each.
    ///
    /// # Errors
    /// If nothing can be tried here.
    pub fn run_all(
        &self,
        cases: &[Case],
        mut done: impl FnMut(&Case, CaseResult) + Send,
    ) -> Result<(), String> {
        let cleaner = Cleaner::start()?;
        cleaner.at_end(&format!("rm -rf {}", quoted(&self.directory)))?;
        let made = fs::create_dir_all(&self.directory);
        made.map_err(|error| format!("{}: {error}", self.directory.display()))?;
        iosonde_faults::with_own_mounts(|| {
            let mut places = Places::new(&self.directory, &cleaner);
            for case in cases {
                let result = self.run(case, &mut places);
                done(case, result);
            }
        })
    }

    fn run(&self, case: &Case, places: &mut Places<'_>) -> CaseResult {
        let place = places.get(&case.on);
        let ran = place.and_then(|place| {
            let ran = self.run_on(case, &place, places);
            empty(&place.on);
            ran
        });
        let judged = |check: &Check| match &ran {
            Err(why) => (check.clone(), Outcome::NotTried(why.clone())),
            Ok(ran) => {
                let seen = Evidence {
                    document: &ran.document,
                    output: &ran.output,
                    code: ran.code,
                    truths: &ran.truths,
                    is_busy: ran.is_busy,
                };
                (check.clone(), check.judge(&seen))
            }
        };
        let line = ran.as_ref().map_or(case.line.clone(), |ran| ran.line.clone());
        CaseResult { line, outcomes: case.checks.iter().map(judged).collect() }
    }

    fn run_on(&self, case: &Case, place: &Place, places: &mut Places<'_>) -> Result<Ran, String> {
        let aside = self.directory.join("aside");
        let _ = fs::remove_dir_all(&aside);
        fs::create_dir_all(&aside).map_err(|error| error.to_string())?;
        let group = match &case.group {
            Some((controller, limits)) => Some(Group::make(controller, limits, place, places)?),
            None => None,
        };
        let group = group.as_ref().map_or("", |group| &group.path);
        let text = |words: &str| self.filled(words, place, &aside).replace("{group}", group);
        for setup in &case.files {
            let path = match setup.name.as_str() {
                "{on}" => place.on.clone(),
                name => place.on.join(name),
            };
            files::make(&path, setup)?;
        }
        for line in &case.before {
            command("sh", &["-c", &text(line)])?;
        }
        let mut beside = Vec::new();
        for line in &case.beside {
            beside.push(Beside::start(&text(line), &aside)?);
        }
        if !beside.is_empty() {
            std::thread::sleep(MOMENT);
        }
        let sampler = case.sample.as_deref().map(|file| DirtySampler::start(&text(file)));
        let sampler = sampler.transpose()?;
        let before = Counters::read(place);
        let began = Instant::now();
        let mut ran = self.job(case, &text, group, &aside)?;
        let took_us = began.elapsed().as_micros() as f64;
        let after = Counters::read(place);
        after.since(&before, &mut ran.truths);
        ran.is_busy = after.waited_us_since(&before) > 0.05 * took_us;
        drop(beside);
        if let Some(dirty) = sampler.and_then(DirtySampler::end) {
            ran.truths.insert("peak-dirty".to_owned(), dirty);
        }
        if let Some(calls) = &case.trace {
            count_calls(&aside.join("trace"), calls, &mut ran.truths);
        }
        Ok(ran)
    }

    /// `{on}` and the like filled in.
    fn filled(&self, words: &str, place: &Place, aside: &Path) -> String {
        let all = [
            ("{on}", place.on.display().to_string()),
            ("{dev}", place.device.clone()),
            ("{id}", place.id()),
            ("{aside}", aside.display().to_string()),
            ("{iosonde}", self.program.display().to_string()),
        ];
        all.iter().fold(words.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    fn job(
        &self,
        case: &Case,
        text: &dyn Fn(&str) -> String,
        group: &str,
        aside: &Path,
    ) -> Result<Ran, String> {
        let mut words: Vec<String> = vec![self.program.display().to_string()];
        match case.call {
            Call::Json => words.extend(["--output-format=json".into(), "--name=j".into()]),
            Call::Text => words.push("--name=j".into()),
            Call::Words => {}
        }
        words.extend(text(&case.line).split_whitespace().map(str::to_owned));
        let line = words.join(" ");
        let mut under: Vec<String> = vec!["--".to_owned()];
        if !group.is_empty() {
            let enter = ["sh", "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"", group];
            under.extend(enter.map(str::to_owned));
        }
        if let Some(calls) = &case.trace {
            let trace = format!("trace={calls}");
            let file = aside.join("trace").display().to_string();
            under.extend(["strace", "-f", "-e", &trace, "-o", &file].map(str::to_owned));
        }
        let output = |name: &str| File::create(aside.join(name)).map_err(|error| error.to_string());
        let mut child = Command::new("env")
            .args(under.iter().chain(&words))
            .current_dir(aside)
            .stdin(Stdio::null())
            .stdout(output("stdout")?)
            .stderr(output("stderr")?)
            .process_group(0)
            .spawn()
            .map_err(|error| format!("env: {error}"))?;
        let kill = Undo::kill_group(&child);
        let code = wait(&mut child, &case.at, text)?;
        kill.cancel();
        let read = |name: &str| {
            let bytes = fs::read(aside.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let document = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        let output = stdout + &stderr;
        Ok(Ran { line, output, document, code, ..Ran::default() })
    }
}

/// Wait for the end, with the commands that are due meanwhile; the exit code.
fn wait(
    child: &mut Child,
    at: &[(f64, String)],
    text: &dyn Fn(&str) -> String,
) -> Result<Option<i32>, String> {
    let began = Instant::now();
    let mut due = at.iter().peekable();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.code());
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not end in {} s", PATIENCE.as_secs()));
        }
        if let Some((_, line)) = due.next_if(|(when, _)| began.elapsed().as_secs_f64() >= *when) {
            let line = text(line).replace("{pid}", &child.id().to_string());
            command("sh", &["-c", &line])?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A control group of either version, in this directory; removed when dropped.
struct Group {
    path: String,
    _undo: Undo,
}

impl Group {
    fn make(
        controller: &str,
        limits: &[(String, String)],
        place: &Place,
        places: &mut Places<'_>,
    ) -> Result<Group, String> {
        let root = Path::new("/sys/fs/cgroup");
        let name = format!("iosonde-truth-{}", std::process::id());
        let one = root.join(controller);
        let is_one = one.join("cgroup.procs").exists();
        let path = if is_one { one.join(name) } else { root.join(name) };
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // The last of its programs may still be on its way out.
        let undo = Undo::by(&format!("again rmdir {}", quoted(&path)));
        let group = Group { path: path.display().to_string(), _undo: undo };
        let (file, limit) = &limits[usize::from(!is_one)];
        let mut limit = limit.replace("{id}", &place.id());
        if limit.contains("{other-id}") {
            limit = limit.replace("{other-id}", &places.get("raw-other")?.id());
        }
        let set = fs::write(path.join(file), limit);
        set.map_err(|error| format!("{file}: {error}"))?;
        Ok(group)
    }
}

/// Take away what a case left in a directory.
fn empty(on: &Path) {
    for entry in fs::read_dir(on).into_iter().flatten().flatten() {
        let path = entry.path();
        let keeps = ["lost+found", "bound"].iter().any(|name| path.ends_with(name));
        let _ = match path.is_dir() {
            true if keeps => Ok(()),
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
    }
}
