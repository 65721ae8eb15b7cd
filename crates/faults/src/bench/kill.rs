//! Signals at a random moment: a report or an error, and the user's files are as before.

use super::before::{BYSTANDER, content};
use super::job::{EXACT, Job};
use super::program::ProgramEnd;
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Fault, Rule, Target};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

const SIGNALS: [Signal; 5] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::KILL];

/// Commands that make files of their own in the directory `{}`, for some seconds.
const COMMANDS: [&str; 5] = [
    "matrix {} --modes=buffered,fsync --bs=4k --size=1m --time-per-cell=1s --json",
    "matrix {} --modes=direct,dsync,fdatasync --bs=4k,64k --size=1m --time-per-cell=1s",
    "meta {} --files=20000",
    "selftest {}",
    "{}",
];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    if stage.dice.happens(500) { command(stage) } else { job(stage) }
}

/// A command in a directory with a file of the user.
fn command(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let dice = &mut stage.dice;
    let (line, signal) = (dice.pick(&COMMANDS), dice.pick(&SIGNALS));
    let moment = Duration::from_millis(dice.below(2500));
    let letters = content(dice, 10_000);
    let (directory, file) = (stage.mount.clone(), stage.mount.join(BYSTANDER));
    std::fs::write(&file, &letters).map_err(|error| error.to_string())?;
    let line = line.replace("{}", &directory.display().to_string());
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let ended = run_and_signal(&stage, &words, signal, moment);
    let mut findings = findings(&ended, signal);
    findings.must(std::fs::read(&file).is_ok_and(|now| now == letters), || {
        "it changed another file".to_owned()
    });
    // Before it has begun, there is nothing to remove; killed, it cannot.
    if signal != Signal::KILL {
        let names = std::fs::read_dir(&directory).map_err(|error| error.to_string())?;
        let names: Vec<_> = names.flatten().map(|entry| entry.file_name()).collect();
        findings.must(names.len() == 1, || format!("{signal:?}: it left {names:?}"));
    }
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// Run, and send a signal at a moment.
fn run_and_signal(
    stage: &Stage<'_>,
    words: &[String],
    signal: Signal,
    moment: Duration,
) -> ProgramEnd {
    let mut sent = false;
    let program = std::fs::canonicalize(stage.program.path).ok();
    stage.program.run_under(&[], words, |child, since| {
        // Until env(1) has become the program, it may ignore what this bench was started to
        // ignore: a signal then would be lost without anybody's fault.
        let exe = || std::fs::read_link(format!("/proc/{}/exe", child.id())).ok();
        if !sent && since >= moment && exe() == program {
            sent = true;
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, signal));
        }
    })
}

/// What every end by a signal must hold.
fn findings(ended: &ProgramEnd, signal: Signal) -> Findings<'_> {
    let mut findings = if signal == Signal::KILL || ended.stdout.is_empty() && !ended.hung {
        // Before the program has begun, a signal has its default action.
        Findings { ended, found: Vec::new() }
    } else {
        Findings::of(ended)
    };
    findings.must(!ended.hung, || format!("{signal:?} did not end it"));
    findings
}

fn job(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[4096, 65536]);
    let pattern = stage.dice.pick(&["read", "randread", "randwrite", "randrw"]);
    job.add(&format!("--rw={pattern} --time_based=1 --runtime=60"));
    let signal = stage.dice.pick(&SIGNALS);
    let moment = Duration::from_millis(stage.dice.below(800));
    let rule = |target| Rule { target, fault: Fault::Delay, per_mille: 100 };
    let rules = vec![rule(Target::Read), rule(Target::Write)];
    let (store, before) = stage.store(&job, rules);
    let mount = stage.serve(store, &job)?;
    let ended = run_and_signal(&stage, &job.arguments(""), signal, moment);
    let store = mount.store();
    let mut findings = findings(&ended, signal);
    if signal != Signal::KILL && ended.killed_by.is_none() {
        findings.must(ended.code != Some(0), || format!("{signal:?}, and it ended with 0"));
        findings.must(Report::of(&ended).is_some() || !ended.stderr.is_empty(), || {
            format!("{signal:?}: neither a report nor a word")
        });
    }
    before.compare(&store, pattern, &mut findings);
    let left = store.names().len();
    findings.must(left == 2, || format!("it left {:?}", store.names()));
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}
