//! Logs, recordings, states, pages and reports on storage without room for them, or
//! that fails: what is lost is reported, and the job's own data is untouched.

use super::before::content;
use super::job::DATA;
use super::{Findings, SeedResult, Stage};
use crate::{Caching, EVERY_FILE, Fault, FaultMount, Rule, Script, Store, Target};

/// Options that write something; `{}` is the directory.
const OUTPUTS: [&str; 9] = [
    "--write_bw_log={}/log --write_iops_log={}/log",
    "--write_lat_log={}/log",
    "--write_hist_log={}/log --log_hist_msec=1",
    "--write_iolog={}/iolog",
    "--output={}/report",
    "--verify=crc32c --aux-path={}",
    "--html={}/page.html",
    "--live=json --live-file={}/live",
    "--metrics-file={}/metrics.prom",
];

/// Ways to fail: room for so many bytes, or a fault of some requests.
#[derive(Clone, Copy, Debug)]
enum Way {
    Room(u64),
    Rule(Target, Fault),
}

const WAYS: [Way; 7] = [
    Way::Room(1 << 30),
    Way::Room(0),
    Way::Room(1000),
    Way::Room(10_000),
    Way::Rule(Target::Write, Fault::NoSpace),
    Way::Rule(Target::Write, Fault::InputOutputError),
    Way::Rule(Target::Open, Fault::InputOutputError),
];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let dice = &mut stage.dice;
    let (output, way) = (dice.pick(&OUTPUTS), dice.pick(&WAYS));
    let before = content(dice, 512 << 10);
    let engine = dice.pick(&["psync", "libaio", "io_uring"]);
    let writes = output.contains("verify");
    let pattern = if writes { "randwrite" } else { dice.pick(&["read", "randread"]) };
    let mut store = Store::new(script(stage.seed, way, dice.pick(&[200, 1000])), EVERY_FILE);
    if let Way::Room(bytes) = way {
        store = store.with_capacity(bytes);
    }
    let data = stage.aside.join(DATA);
    std::fs::write(&data, &before).map_err(|error| error.to_string())?;
    let mount = FaultMount::mount(store, Caching::None, &stage.mount)?;
    let output = output.replace("{}", &stage.mount.display().to_string());
    let line = format!(
        "--name=j --output-format=json --filename={} --rw={pattern} --bs=4k --ioengine={engine} \
         --iodepth=4 {output}",
        data.display()
    );
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let ended = stage.program.run(&words);

    let store = mount.store();
    let injected = store.injected().values().sum::<u64>() + store.refused();
    let mut findings = Findings::of(&ended);
    findings.must((ended.code != Some(0)) == (injected > 0), || {
        format!("outputs failed {injected} times, and it ended with {:?}", ended.code)
    });
    let names = ["Input/output error", "No space left on device"];
    findings.must(injected == 0 || names.iter().any(|name| ended.stderr.contains(name)), || {
        "no error message names the cause".to_owned()
    });
    if !writes {
        findings.must(std::fs::read(&data).is_ok_and(|now| now == before), || {
            "a job of reads changed its file".to_owned()
        });
    }
    Ok(SeedResult { injected, findings: findings.end(), skipped: None })
}

fn script(seed: u64, way: Way, per_mille: u64) -> Script {
    let rules = match way {
        Way::Room(_) => Vec::new(),
        Way::Rule(target, fault) => vec![Rule { target, fault, per_mille }],
    };
    Script::new(seed, rules)
}
