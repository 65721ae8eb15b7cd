//! EINTR, short I/O, delays and hangs: no error, and the data is right.

use super::job::{DATA, EXACT, Engine, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage, short};
use crate::{Fault, Rule, Target};

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let fault = stage.dice.pick(&[Fault::Interrupted, Fault::Short, Fault::Delay, Fault::Hang]);
    if fault == Fault::Short && stage.dice.happens(400) {
        return short::run(stage);
    }
    // What Linux makes of short I/O of io_uring on FUSE is `short`'s.
    let engines = EXACT.iter().filter(|engine| fault != Fault::Short || engine.name != "io_uring");
    let engines: Vec<Engine> = engines.copied().collect();
    let mut job = Job::draw(&mut stage, &engines, &[4096, 4096, 16384, 65536]);
    let pattern = stage.dice.pick(&["write", "randwrite", "randrw"]);
    job.add(&format!("--rw={pattern} --verify=crc32c"));
    // A hang takes more than a second; a few of them are enough.
    let per_mille = if fault == Fault::Hang { 4 } else { stage.dice.pick(&[20, 100, 300]) };
    let rule = |target| Rule { target, fault, per_mille };
    // A short sync there is not.
    let mut rules = vec![rule(Target::Read), rule(Target::Write)];
    if fault != Fault::Short && stage.dice.happens(400) {
        job.add(&format!("--fsync={} --end_fsync=1", 1 + stage.dice.below(16)));
        rules.push(rule(Target::Sync));
    }
    let (store, before) = stage.store(&job, rules);
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let injected = store.injected().values().sum();
    let mut findings = Findings::of(&ended);
    let report = Report::of(&ended);
    findings.must(ended.code == Some(0), || format!("{fault:?} made it fail"));
    let wrong = store.wrong_blocks(DATA, job.block);
    findings.must(wrong.is_empty(), || format!("{fault:?}: it left {wrong:?} wrong"));
    let count = |key| report.as_ref().map_or(0, |report| report.verify(key));
    findings.must(count("checked") == count("written"), || {
        format!("{} of {} blocks were checked", count("checked"), count("written"))
    });
    let short = report.as_ref().map_or(0, Report::short);
    findings.must(short == store.count(Fault::Short), || {
        format!("{} I/Os were short and {short} reported", store.count(Fault::Short))
    });
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected, findings: findings.end(), skipped: None })
}
