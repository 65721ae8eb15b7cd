//! The power is cut while a job writes. What an honoured sync covered is there
//! and verify says so; where syncs were not honoured, verify finds what is missing.

use super::job::{DATA, EXACT, Job};
use super::report::{Report, blamed};
use super::{Findings, SeedResult, Stage};
use crate::{Dice, Fault, Rule, Target};

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[4096, 4096, 16384]);
    let pattern = stage.dice.pick(&["write", "randwrite"]);
    let sync = stage.dice.pick(&["fsync", "fdatasync"]);
    let every = 1 + stage.dice.below(8);
    job.add(&format!("--rw={pattern} --verify=crc32c --{sync}={every}"));
    job.add(&format!("--aux-path={}", stage.aside.display()));
    let lies = stage.dice.happens(500);
    let rules = if lies {
        vec![Rule { target: Target::Sync, fault: Fault::LyingSync, per_mille: 700 }]
    } else {
        Vec::new()
    };
    let after = 1 + stage.dice.below(job.blocks as u64 - 1);
    let (store, before) = stage.store(&job, rules);
    let mount = stage.serve(store.with_power_cut_after(after), &job)?;
    let cut = stage.program.run(&job.arguments("--verify_policy=fsynced --do_verify=0"));
    let mut findings = Findings::of(&cut);
    findings.must(Report::of(&cut).is_some(), || "there is no report of the cut".to_owned());
    findings.must(cut.code != Some(0), || "the power was cut, and it ended with 0".to_owned());
    let mut found = findings.end();

    mount.store().restart(&mut Dice::of(stage.seed, &[2]));
    let missing = mount.store().broken_promises(DATA, job.block);
    let syncs = mount.store().count(Fault::LyingSync);
    let promised = mount.store().promised_blocks(DATA, job.block);
    let more = "--verify_only=1 --verify_state_load=1 --continue_on_error=verify";
    let checked = stage.program.run(&job.arguments(more));
    let mut findings = Findings::of(&checked);
    findings.must(lies || missing.is_empty(), || format!("the bench itself lost {missing:?}"));
    let report = Report::of(&checked);
    let wrong = report.as_ref().map_or(0, |report| report.verify("wrong"));
    let blamed = blamed(&checked);
    if promised == 0 {
        // No sync came before the cut: a check of nothing must not pass for a good one.
        findings.must(checked.code != Some(0), || {
            "nothing was checked, and it ended with 0".to_owned()
        });
    } else if job.depth == 1 {
        findings.must(blamed == missing && wrong == missing.len() as u64, || {
            format!("{missing:?} are missing, {wrong} reported, {blamed:?} blamed")
        });
        let count = report.as_ref().map_or(0, |report| report.verify("checked"));
        findings.must(count == promised, || format!("{count} of {promised} were checked"));
        findings.must((checked.code == Some(0)) == missing.is_empty(), || {
            format!("{} blocks are missing: exit {:?}", missing.len(), checked.code)
        });
    } else {
        // Writes in flight with a sync may be covered by it or not.
        let invented: Vec<u64> =
            blamed.iter().copied().filter(|offset| !missing.contains(offset)).collect();
        findings.must(invented.is_empty(), || format!("{invented:?} are right and blamed"));
        findings.must(lies || wrong == 0, || format!("{wrong} blocks are wrong, and none is"));
    }
    before.compare(&mount.store(), pattern, &mut findings);
    found.extend(findings.end());
    Ok(SeedResult { injected: syncs + 1, findings: found, skipped: None })
}
