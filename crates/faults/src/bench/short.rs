//! Short I/O without verify: the counts of what was done, in each direction.

use super::job::{EXACT, Engine, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Fault, Rule, Store, Target};

/// Engines of the three ways in which a short I/O goes on: by the engine with a
/// further call, with a further request, and by the kernel itself (io_uring).
const ENGINES: [&str; 3] = ["psync", "libaio", "io_uring"];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let engines = EXACT.iter().filter(|engine| ENGINES.contains(&engine.name));
    let engines: Vec<Engine> = engines.copied().collect();
    let mut job = Job::draw(&mut stage, &engines, &[4096, 16384, 65536]);
    let pattern = stage.dice.pick(&["read", "randread", "write", "randwrite", "rw", "randrw"]);
    job.add(&format!("--rw={pattern}"));
    let per_mille = stage.dice.pick(&[20, 100, 300]);
    let rule = |target| Rule { target, fault: Fault::Short, per_mille };
    let (store, before) = stage.store(&job, vec![rule(Target::Read), rule(Target::Write)]);
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let mut findings = Findings::of(&ended);
    findings.must(ended.code == Some(0), || "short I/O made it fail".to_owned());
    match Report::of(&ended) {
        Some(report) => compare(&report, &store, &job, &mut findings),
        None => findings.must(false, || "there is no report".to_owned()),
    }
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected: store.count(Fault::Short), findings: findings.end(), skipped: None })
}

/// Each I/O is counted once and with all of its bytes, however many requests it
/// took; each that was short is reported where the program can see it.
fn compare(report: &Report, store: &Store, job: &Job, findings: &mut Findings<'_>) {
    let both = |key: &str| report.lane("read", key) + report.lane("write", key);
    let (ios, bytes) = (both("total_ios"), both("io_bytes"));
    findings.must((ios, bytes) == (job.blocks as u64, job.bytes() as u64), || {
        format!("{ios} I/Os of {bytes} bytes are reported: it is {} of {}", job.blocks, job.bytes())
    });
    let by_kernel = job.engine.name == "io_uring";
    for (lane, target) in [("read", Target::Read), ("write", Target::Write)] {
        let (short, injected) = (report.lane(lane, "short_ios"), store.injected_as(target));
        // What the kernel completes by itself is not short for the program.
        let is_counted = short == injected || by_kernel && short <= injected;
        findings.must(is_counted, || format!("{lane}: {injected} were short and {short} reported"));
        let (ios, requests) = (report.lane(lane, "total_ios"), store.requests(target));
        findings.must(requests == ios + injected, || {
            format!("{lane}: {ios} I/Os, {injected} of the requests short, {requests} requests")
        });
    }
}
