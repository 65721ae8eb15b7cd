//! EIO and ENOSPC: each is counted or ends the job, and none is invented.

use super::job::{CACHED, EXACT, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Caching, Fault, Rule, Target};

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let exact = stage.dice.happens(800);
    let engines = if exact { &EXACT[..] } else { &CACHED[..] };
    let mut job = Job::draw(&mut stage, engines, &[512, 4096, 4096, 16384, 65536]);
    let pattern = stage.dice.pick(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
    job.add(&format!("--rw={pattern}"));
    let goes_on = stage.dice.happens(500);
    if goes_on {
        job.add("--continue_on_error=io");
    }
    // ENOSPC is none of the errors that a job may go on after (fio(1), continue_on_error).
    let no_space = !goes_on && stage.dice.happens(500);
    let fault = if no_space { Fault::NoSpace } else { Fault::InputOutputError };
    let per_mille = stage.dice.pick(&[0, 10, 50, 200]);
    let mut rules = vec![
        Rule { target: Target::Read, fault: Fault::InputOutputError, per_mille },
        Rule { target: Target::Write, fault, per_mille },
    ];
    // A sync that fails ends the job, or is reported at its end.
    if !goes_on && stage.dice.happens(400) {
        let sync = stage.dice.pick(&["fsync", "fdatasync"]);
        job.add(&format!("--{sync}={}", 1 + stage.dice.below(8)));
        rules.push(Rule { target: Target::Sync, fault: Fault::InputOutputError, per_mille: 100 });
    }
    let (store, before) = stage.store(&job, rules);
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let injected = store.injected().values().sum();
    let mut findings = Findings::of(&ended);
    let report = Report::of(&ended);
    findings.must(report.is_some(), || "there is no report".to_owned());
    let counted = report.as_ref().map_or(0, Report::total_errors);
    let failed = ended.code != Some(0);
    findings.must(!failed || injected > 0, || "it failed, and nothing was injected".to_owned());
    if job.engine.caching == Caching::None {
        // Tolerated errors are counted and no failure, as in fio.
        findings.must(failed == (injected > 0 && !goes_on), || {
            format!("{injected} errors were injected, and it ended with {:?}", ended.code)
        });
        findings.must(!goes_on || counted == injected, || {
            format!("{injected} errors were injected and {counted} reported")
        });
    }
    let error = report.as_ref().map_or(0, Report::error);
    findings.must(!failed || error != 0 || ended.hung, || "the job has no error number".to_owned());
    let names = ["Input/output error", "No space left on device"];
    findings.must(!failed || names.iter().any(|name| ended.stderr.contains(name)), || {
        "no error message names the cause".to_owned()
    });
    if pattern.ends_with("read") {
        let writes = store.requests(Target::Write);
        findings.must(writes == 0, || format!("a job of reads wrote {writes} times"));
    }
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected, findings: findings.end(), skipped: None })
}
