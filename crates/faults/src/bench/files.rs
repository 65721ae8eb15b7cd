//! open, stat, ftruncate, fallocate and close that fail: the job ends with an error
//! that names the cause, or has done all of its I/O.

use super::before::{BYSTANDER, content};
use super::job::{CACHED, DATA, EXACT, Engine, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Fault, FaultMount, Rule, Script, Store, Target};

/// What fails, and how.
const FAILS: [(Target, Fault); 8] = [
    (Target::Open, Fault::InputOutputError),
    (Target::Attributes, Fault::InputOutputError),
    (Target::Resize, Fault::InputOutputError),
    (Target::Resize, Fault::NoSpace),
    (Target::Reserve, Fault::InputOutputError),
    (Target::Reserve, Fault::NoSpace),
    (Target::Close, Fault::InputOutputError),
    (Target::Close, Fault::NoSpace),
];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let engines: Vec<Engine> = EXACT.into_iter().chain(CACHED).collect();
    let mut job = Job::draw(&mut stage, &engines, &[4096, 16384]);
    let dice = &mut stage.dice;
    let pattern = dice.pick(&["read", "randread", "write", "randwrite", "randrw"]);
    let (target, fault) = dice.pick(&FAILS);
    let layout = match target {
        Target::Resize => dice.pick(&["none", "truncate"]),
        Target::Reserve => dice.pick(&["posix", "keep", "native"]),
        _ => dice.pick(&["none", "posix", "keep", "truncate"]),
    };
    job.add(&format!("--rw={pattern} --fallocate={layout}"));
    job.add(dice.pick(&["", "--fsync_on_close=1", "--overwrite=1", "--unlink=1", "--end_fsync=1"]));
    let rule = Rule { target, fault, per_mille: dice.pick(&[100, 300, 1000]) };
    // Of a file that is there nothing is laid out.
    let exists = !matches!(target, Target::Resize | Target::Reserve) && dice.happens(500);
    let (before, letters) = (content(dice, job.bytes()), content(dice, 10_000));
    let mut store = Store::new(Script::new(stage.seed, vec![rule]), DATA);
    store = store.with_file(BYSTANDER, letters.clone());
    if exists {
        store = store.with_file(DATA, before.clone());
    }
    let mount = FaultMount::mount(store, job.engine.caching, &stage.mount)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let injected = store.injected().values().sum();
    let mut findings = Findings::of(&ended);
    let (report, failed) = (Report::of(&ended), ended.code != Some(0));
    findings.must(!failed || injected > 0, || "it failed, and nothing was injected".to_owned());
    let names = ["Input/output error", "No space left on device"];
    findings.must(!failed || names.iter().any(|name| ended.stderr.contains(name)), || {
        "no error message names the cause".to_owned()
    });
    let done = report
        .as_ref()
        .map_or(0, |report| report.lane("read", "io_bytes") + report.lane("write", "io_bytes"));
    findings.must(failed || done == job.bytes() as u64, || {
        format!("{done} of {} bytes were done, and it ended with 0", job.bytes())
    });
    // What close(2) reports of a file that may be written to is lost data.
    findings.must(failed || target != Target::Close || injected == 0, || {
        format!("close failed {injected} times, and it ended with 0")
    });
    findings.must(store.content(BYSTANDER) == Some(&letters[..]), || {
        "it changed another file".to_owned()
    });
    let reads_only = pattern.ends_with("read");
    let removes = job.arguments("").contains(&"--unlink=1".to_owned());
    if reads_only && exists && !removes {
        let is_same = store.content(DATA) == Some(&before[..]);
        findings.must(is_same, || "a job of reads changed its file".to_owned());
    }
    if reads_only && !exists && failed && report.is_none() {
        // Nothing ran: the layout failed and gives back what it took.
        findings.must(store.content(DATA).is_none(), || "a layout that failed is left".to_owned());
    }
    Ok(SeedResult { injected, findings: findings.end(), skipped: None })
}
