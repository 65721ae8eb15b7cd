//! Data that is not what was written: verify finds each such block, and no other.

use super::job::{CACHED, DATA, EXACT, Job};
use super::report::{Report, blamed};
use super::{Findings, SeedResult, Stage};
use crate::{Fault, HeaderField, Rule, Target};

const METHODS: [&str; 7] = ["crc32c", "md5", "sha256", "xxhash", "crc64", "sha1", "crc16"];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let exact = stage.dice.happens(700);
    let engines = if exact { &EXACT[..] } else { &CACHED[..] };
    let mut job = Job::draw(&mut stage, engines, &[512, 4096, 4096, 16384]);
    let pattern = stage.dice.pick(&["write", "randwrite", "randwrite"]);
    job.add(&format!("--rw={pattern} --verify={}", stage.dice.pick(&METHODS)));
    job.add("--continue_on_error=verify");
    if stage.dice.happens(300) {
        job.add(&format!("--fsync={}", 1 + stage.dice.below(16)));
    }
    let faults = [
        (Target::Write, Fault::LostWrite),
        (Target::Write, Fault::MisdirectedWrite),
        (Target::Write, Fault::TornWrite),
        (Target::Write, Fault::BitFlip),
        (Target::Read, Fault::BitFlip),
    ];
    // A page is read before a part of it is written: what was wrong then need not stay so.
    let fault = stage.dice.pick(if exact { &faults } else { &faults[..4] });
    // A write has one header where it is one block.
    let forged = (Target::Write, Fault::Forged(stage.dice.pick(&HeaderField::ALL)));
    let fault = if exact && stage.dice.happens(400) { forged } else { fault };
    let per_mille = stage.dice.pick(&[0, 20, 100, 500]);
    let rule = Rule { target: fault.0, fault: fault.1, per_mille };
    let (store, before) = stage.store(&job, vec![rule]);
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let injected = store.injected().values().sum();
    let wrong = store.wrong_blocks(DATA, job.block);
    let mut findings = Findings::of(&ended);
    let report = Report::of(&ended);
    findings.must(report.is_some(), || "there is no report".to_owned());
    let count = |key| report.as_ref().map_or(0, |report| report.verify(key));
    findings.must(count("checked") == job.blocks as u64, || {
        format!("{} of {} blocks were checked", count("checked"), job.blocks)
    });
    findings.must(count("wrong") == wrong.len() as u64, || {
        format!("{} blocks are wrong and {} reported", wrong.len(), count("wrong"))
    });
    let blamed = blamed(&ended);
    findings.must(blamed == wrong, || {
        let silent = wrong.iter().filter(|block| !blamed.contains(block));
        let how: Vec<String> =
            silent.map(|block| store.difference(DATA, *block, job.block)).collect();
        let cached = report.as_ref().map_or(0.0, Report::verified_from_cache);
        format!(
            "{wrong:?} are wrong and {blamed:?} blamed; {how:?}; {cached} of the reads from cache"
        )
    });
    findings.must((ended.code == Some(0)) == wrong.is_empty(), || {
        format!("{} blocks are wrong, and it ended with {:?}", wrong.len(), ended.code)
    });
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected, findings: findings.end(), skipped: None })
}
