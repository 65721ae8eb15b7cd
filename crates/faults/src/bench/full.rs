//! Files that do not fit: what was taken is given back.

use super::before::{BYSTANDER, content};
use super::{Findings, SeedResult, Stage};
use crate::{Caching, FaultMount, Script, Store};

/// Capacity of the file system.
const CAPACITY: u64 = 1 << 20;

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let dice = &mut stage.dice;
    let engine = dice.pick(&["psync", "libaio", "io_uring", "mmap"]);
    let caching = if engine == "mmap" { Caching::Pages } else { Caching::None };
    let letters = content(dice, 100_000);
    let exists = dice.happens(500);
    let before = content(dice, 200_000);
    let mut store = Store::new(Script::new(stage.seed, Vec::new()), "").with_capacity(CAPACITY);
    store = store.with_file(BYSTANDER, letters.clone());
    if exists {
        store = store.with_file("data", before.clone());
    }
    let pattern = dice.pick(&["read", "randread", "write", "randrw"]);
    let layout = dice.pick(&["none", "posix", "keep", "truncate"]);
    let bytes = CAPACITY + 4096 * (1 + dice.below(500));
    let file = stage.mount.join("data");
    let line = format!(
        "--extend --name=j --output-format=json --filename={} --rw={pattern} --bs=4k --size={bytes} \
         --ioengine={engine} --fallocate={layout}",
        file.display()
    );
    let names = store.names();
    let mount = FaultMount::mount(store, caching, &stage.mount)?;
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let ended = stage.program.run(&arguments);
    let store = mount.store();
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || "it did not fit, and it ended with 0".to_owned());
    findings.must(
        ended.stderr.contains("No space left on device") || ended.stderr.contains("free"),
        || "no error message names the cause".to_owned(),
    );
    findings.must(store.content(BYSTANDER) == Some(&letters[..]), || {
        "it changed another file".to_owned()
    });
    // A job that writes may leave what it wrote; one that reads leaves all as it was.
    if pattern.ends_with("read") {
        let kept = store.content("data");
        let expected = exists.then_some(&before[..]);
        findings.must(kept == expected, || {
            let length = kept.map(<[u8]>::len);
            format!("it left a file of {length:?} bytes where {:?} were", expected.map(<[u8]>::len))
        });
    }
    let known = |name: &String| names.contains(name) || name == "data" || name.is_empty();
    let left: Vec<String> = store.names().into_iter().filter(|name| !known(name)).collect();
    findings.must(left.is_empty(), || format!("it left {left:?}"));
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}
