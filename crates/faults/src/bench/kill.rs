//! Signals at a random moment: a report or an error, and the user's files are as before.

use super::job::{EXACT, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Fault, Rule, Target};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[4096, 65536]);
    let pattern = stage.dice.pick(&["read", "randread", "randwrite", "randrw"]);
    job.add(&format!("--rw={pattern} --time_based=1 --runtime=60"));
    let signal =
        stage.dice.pick(&[Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::KILL]);
    let moment = Duration::from_millis(stage.dice.below(800));
    let rule = |target| Rule { target, fault: Fault::Delay, per_mille: 100 };
    let rules = vec![rule(Target::Read), rule(Target::Write)];
    let (store, before) = stage.store(&job, rules);
    let mount = stage.serve(store, &job)?;
    let mut sent = false;
    let ended = stage.program.run_under(&[], &job.arguments(""), |child, since| {
        if !sent && since >= moment {
            sent = true;
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, signal));
        }
    });
    let store = mount.store();
    let mut findings = if signal == Signal::KILL || ended.stdout.is_empty() && !ended.hung {
        // Before the program has begun, a signal has its default action.
        Findings { ended: &ended, found: Vec::new() }
    } else {
        Findings::of(&ended)
    };
    findings.must(!ended.hung, || format!("{signal:?} did not end it"));
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
