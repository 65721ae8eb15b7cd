//! Trying cases: set-up, job, judgement.

use crate::counters::{Activity, Counters, count_calls, count_file, count_process, now_ms};
use crate::files;
use crate::meanwhile::{Beside, DirtySampler};
use crate::places::{Place, Places};
use crate::record::{Record, ShownOutput};
use crate::table::{Call, Case};
use crate::value::Truths;
use iosonde_testing::{Cleaner, Undo, quoted, run as command};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
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

impl Bench {
    /// Try these cases one after the other; `done` with each.
    ///
    /// # Errors
    /// If nothing can be tried here.
    pub fn run_all(
        &self,
        cases: &[Case],
        mut done: impl FnMut(&Case, Result<Record, String>) + Send,
    ) -> Result<(), String> {
        let cleaner = Cleaner::start()?;
        cleaner.at_end(&format!("rm -rf {}", quoted(&self.directory)))?;
        let made = fs::create_dir_all(&self.directory);
        made.map_err(|error| format!("{}: {error}", self.directory.display()))?;
        iosonde_faults::with_own_mounts(|| {
            let mut places = Places::new(&self.directory, &cleaner);
            for case in cases {
                let record = places.get(&case.on).and_then(|place| {
                    let record = self.run_on(case, &place, &mut places);
                    empty(&place.on);
                    record
                });
                done(case, record);
            }
        })
    }

    fn run_on(
        &self,
        case: &Case,
        place: &Place,
        places: &mut Places<'_>,
    ) -> Result<Record, String> {
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
        let mut truths = Truths::new();
        if let Some(file) = &case.stat {
            count_file(&text(file), &mut truths)?;
        }
        let sampler = case.sample.as_deref().map(|file| DirtySampler::start(&text(file)));
        let sampler = sampler.transpose()?;
        let before = Counters::read(place);
        truths.insert("began-ms".to_owned(), now_ms());
        let began = Instant::now();
        let activity = Activity::of(place);
        let (line, printed) = self.job(case, &text, group, &aside, activity, &mut truths)?;
        let took = began.elapsed();
        truths.insert("took-s".to_owned(), took.as_secs_f64());
        truths.insert("ended-ms".to_owned(), now_ms());
        let after = Counters::read(place);
        after.since(&before, &mut truths);
        let pressure = after.waited_us_since(&before) / took.as_micros() as f64;
        truths.insert("pressure.cpu".to_owned(), pressure);
        let is_busy = pressure > 0.05;
        drop(beside);
        if let Some(dirty) = sampler.and_then(DirtySampler::end) {
            truths.insert("peak-dirty".to_owned(), dirty);
        }
        if let Some(calls) = &case.trace {
            count_calls(&aside.join("trace"), calls, &mut truths);
        }
        Ok(Record { line, printed, truths, is_busy, device: place.device.clone() })
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
        activity: Activity,
        truths: &mut Truths,
    ) -> Result<(String, ShownOutput), String> {
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
        let code = wait(&mut child, &case.at, text, activity, truths)?;
        kill.cancel();
        let read = |name: &str| {
            let bytes = fs::read(aside.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok((line, ShownOutput { stdout: read("stdout"), stderr: read("stderr"), code }))
    }
}

/// Wait for the end, with the commands that are due meanwhile; the exit code.
fn wait(
    child: &mut Child,
    at: &[(f64, String)],
    text: &dyn Fn(&str) -> String,
    mut activity: Activity,
    truths: &mut Truths,
) -> Result<Option<i32>, String> {
    let began = Instant::now();
    let mut due = at.iter().peekable();
    // Its counters are there until it is waited for.
    while !has_ended(child)? {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not end in {} s", PATIENCE.as_secs()));
        }
        if let Some((_, line)) = due.next_if(|(when, _)| began.elapsed().as_secs_f64() >= *when) {
            let line = text(line).replace("{pid}", &child.id().to_string());
            command("sh", &["-c", &line])?;
        }
        activity.look();
        std::thread::sleep(Duration::from_millis(5));
    }
    activity.end(truths);
    count_process(child.id(), truths);
    child.wait().map(|status| status.code()).map_err(|error| error.to_string())
}

/// Whether a child has ended; it is not waited for.
fn has_ended(child: &Child) -> Result<bool, String> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let ended = waitid(WaitId::Pid(Pid::from_child(child)), options);
    ended.map(|status| status.is_some()).map_err(|error| error.to_string())
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
