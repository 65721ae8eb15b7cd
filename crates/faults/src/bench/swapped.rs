//! Blocks that changed places after they were written, within a file or with another: each
//! is found where it lies now, and no other.

use super::job::{DATA, EXACT};
use super::report::blamed_in;
use super::{Findings, SeedResult, Stage};
use crate::{Dice, FaultMount, Script, Store};
use std::collections::BTreeSet;

/// The other file of the job.
const OTHER: &str = "other";
const METHODS: [&str; 5] = ["crc32c", "md5", "sha256", "xxhash", "crc16"];

/// A block, by its file and offset.
type Place = (&'static str, usize);

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let dice = &mut stage.dice;
    let (engine, block) = (dice.pick(&EXACT), dice.pick(&[512, 4096, 16384]));
    let blocks = 16 + dice.below(48) as usize;
    let bytes = block * blocks;
    let (one, other) = (stage.mount.join(DATA), stage.mount.join(OTHER));
    let within = dice.happens(600);
    // Seeds of contents and numbers of writes would betray a block first.
    let only_offsets = within && dice.happens(700);
    // Of two files only the seeds differ; where nothing is written they are compared on
    // request (fio(1), verify_header_seed).
    let compared = match (within, only_offsets) {
        (true, true) => "--verify_header_seed=0 --verify_write_sequence=0",
        (true, false) => "",
        (false, _) => "--verify_header_seed=1",
    };
    let line = format!(
        "--name=j --output-format=json --filename={}:{} --ioengine={} --bs={block} --size={} \
         --rw={} --verify={} {}",
        one.display(),
        other.display(),
        engine.name,
        2 * bytes,
        dice.pick(&["write", "randwrite"]),
        dice.pick(&METHODS),
        compared
    );
    let words = |more: &str| -> Vec<String> {
        format!("{line} {more}").split_whitespace().map(str::to_owned).collect()
    };
    let mut swaps = swaps(dice, block, blocks, within);
    if dice.happens(200) {
        swaps.clear();
    }
    let store = Store::new(Script::new(stage.seed, Vec::new()), DATA)
        .with_file(DATA, vec![0; bytes])
        .with_file(OTHER, vec![0; bytes]);
    let mount = FaultMount::mount(store, engine.caching, &stage.mount)?;
    let wrote = stage.program.run(&words("--do_verify=0"));
    let mut findings = Findings::of(&wrote);
    findings.must(wrote.code == Some(0), || format!("it ended with {:?}", wrote.code));
    let mut found = findings.end();

    for (from, to) in &swaps {
        mount.store().exchange(*from, *to, block);
    }
    let wrong: BTreeSet<(String, u64)> = swaps
        .iter()
        .flat_map(|(from, to)| [from, to])
        .map(|(name, at)| ((*name).to_owned(), *at as u64))
        .collect();
    let more = "--verify_only=1 --continue_on_error=verify";
    let checked = stage.program.run(&words(more));
    let mut findings = Findings::of(&checked);
    let blamed: BTreeSet<(String, u64)> = blamed_in(&checked).into_iter().collect();
    findings.must(blamed == wrong, || {
        let not: Vec<_> = wrong.difference(&blamed).collect();
        let too: Vec<_> = blamed.difference(&wrong).collect();
        format!("{not:?} are elsewhere and not blamed, {too:?} are blamed and right")
    });
    findings.must((checked.code == Some(0)) == wrong.is_empty(), || {
        format!("{} blocks are elsewhere, and it ended with {:?}", wrong.len(), checked.code)
    });
    found.extend(findings.end());
    Ok(SeedResult { injected: swaps.len() as u64, findings: found, skipped: None })
}

/// Some pairs of places, each place once: of the same file, or the same offset of both.
fn swaps(dice: &mut Dice, block: usize, blocks: usize, within: bool) -> Vec<(Place, Place)> {
    let pairs = 1 + dice.below(3) as usize;
    let first = dice.below((blocks - 2 * pairs) as u64) as usize;
    let pair = |n: usize| {
        let (one, other) = ((first + n) * block, (first + pairs + n) * block);
        if within { ((DATA, one), (DATA, other)) } else { ((DATA, one), (OTHER, one)) }
    };
    (0..pairs).map(pair).collect()
}
