//! The table: runs whose outcome and limit are set.

use super::group::Limit;
use super::stage::StagePlace;
use super::trial::{Trial, Truth};

/// A run that completes, of which this is the limit.
fn limited(name: &str, place: StagePlace, words: &str, limits: &[&'static str]) -> Trial {
    let truth = Truth { outcome: "completed", limits: limits.to_vec(), ..Truth::default() };
    Trial {
        name: format!("{}: {name}", limits.first().copied().unwrap_or("completed")),
        place,
        limit: None,
        words: format!("--name=j {words}"),
        before: Vec::new(),
        at: Vec::new(),
        truth,
    }
}

/// A run that does not complete.
fn ended(name: &str, place: StagePlace, words: &str, outcome: &'static str) -> Trial {
    let mut trial = limited(name, place, words, &[]);
    trial.name = format!("{outcome}: {name}");
    trial.truth.outcome = outcome;
    trial.truth.never = vec!["Limited by the"];
    trial
}

impl Trial {
    fn served(mut self, ms: f64, at_a_time: f64) -> Trial {
        self.truth.service = Some((ms, at_a_time));
        self
    }

    fn says(mut self, words: &[&'static str]) -> Trial {
        self.truth.says.extend(words);
        self
    }

    fn never(mut self, words: &[&'static str]) -> Trial {
        self.truth.never.extend(words);
        self
    }

    fn under(mut self, limit: Limit) -> Trial {
        self.limit = Some(limit);
        self
    }

    fn after(mut self, line: &str) -> Trial {
        self.before.push(line.to_owned());
        self
    }

    fn at(mut self, seconds: f64, line: &str) -> Trial {
        self.at.push((seconds, line.to_owned()));
        self
    }
}

/// All of them.
pub fn trials() -> Vec<Trial> {
    let families = [
        simulated(),
        no_storage(),
        slow_devices(),
        slow_files(),
        paces(),
        missed_rates(),
        pauses(),
        io_quotas(),
        cpu_quotas(),
        memory(),
        processor(),
        stalls(),
        corrupt(),
        failures(),
        signals(),
        nothing(),
        mixed(),
    ];
    families.into_iter().flatten().collect()
}

const SHORT: &str = "--time_based --runtime=700ms";

fn simulated() -> Vec<Trial> {
    let mut all = Vec::new();
    for ms in [2, 5, 10, 20, 50] {
        for depth in [1, 4, 16] {
            let words = format!(
                "--ioengine=sim --sim_latency={ms}ms --iodepth={depth} --size=16m --bs=4k \
                 --rw=randread {SHORT}"
            );
            let name = format!("a simulated device of {ms} ms at depth {depth}");
            let trial = limited(&name, StagePlace::None, &words, &["storage"]);
            all.push(trial.served(f64::from(ms), f64::from(depth)).says(&["at queue depth"]));
        }
    }
    all
}

fn no_storage() -> Vec<Trial> {
    let mut all = Vec::new();
    for bs in ["4k", "64k", "1m"] {
        for rw in ["read", "randwrite", "randrw"] {
            let words = format!("--ioengine=null --size=64m --bs={bs} --rw={rw} {SHORT}");
            let name = format!("the null engine, {rw} of {bs}");
            all.push(limited(&name, StagePlace::None, &words, &["tester"]).says(&["no storage"]));
        }
    }
    all
}

fn slow_devices() -> Vec<Trial> {
    let mut all = Vec::new();
    for ms in [5, 20] {
        for engine in ["psync", "libaio", "io_uring"] {
            for rw in ["randread", "randwrite"] {
                let words = format!(
                    "--filename={{on}} --ioengine={engine} --direct=1 --bs=4k --rw={rw} {SHORT}"
                );
                let name = format!("a device of {ms} ms, {engine}, {rw}");
                let trial = limited(&name, StagePlace::Slow(ms), &words, &["storage"]);
                all.push(trial.served(f64::from(ms), 1.0).says(&["by loop"]));
            }
        }
        for depth in [4, 16] {
            let words = format!(
                "--filename={{on}} --ioengine=libaio --direct=1 --bs=4k --rw=randread \
                 --iodepth={depth} {SHORT}"
            );
            let name = format!("a device of {ms} ms at depth {depth}");
            let trial = limited(&name, StagePlace::Slow(ms), &words, &["storage"]);
            all.push(trial.says(&["at queue depth"]).never(&["processor (on it"]));
        }
        let words =
            format!("--filename={{on}} --direct=1 --bs=4k --rw=randwrite --fsync=1 {SHORT}");
        let name = format!("a device of {ms} ms, a sync after each write");
        all.push(limited(&name, StagePlace::Slow(ms), &words, &["storage"]).says(&["by loop"]));
        let words = format!("--filename={{on}} --bs=4k --rw=randread {SHORT}");
        let name = format!("a device of {ms} ms, cold through the page cache");
        all.push(limited(&name, StagePlace::Slow(ms), &words, &["storage"]).says(&["by loop"]));
        let words =
            format!("--filename={{on}} --direct=1 --bs=4k --rw=randread --numjobs=4 {SHORT}");
        let name = format!("a device of {ms} ms, four jobs");
        all.push(
            limited(&name, StagePlace::Slow(ms), &words, &["storage"]).served(f64::from(ms), 4.0),
        );
    }
    all
}

fn slow_files() -> Vec<Trial> {
    let mut all = Vec::new();
    for ms in [5, 20] {
        for rw in ["randread", "randwrite"] {
            let words = format!("--filename={{on}} --direct=1 --bs=4k --rw={rw} {SHORT}");
            let name = format!("a file of {ms} ms on FUSE, {rw}");
            let trial = limited(&name, StagePlace::SlowFile(ms), &words, &["storage"]);
            all.push(trial.served(f64::from(ms), 1.0).says(&["unknown"]));
        }
    }
    all
}

fn paces() -> Vec<Trial> {
    let mut all = Vec::new();
    for iops in [20, 50, 100] {
        for (what, place, job) in [
            (
                "a simulated device of 1 ms",
                StagePlace::None,
                "--ioengine=sim --sim_latency=1ms --size=16m",
            ),
            ("the null engine", StagePlace::None, "--ioengine=null --size=16m"),
            ("a device of memory", StagePlace::Memory, "--filename={on} --direct=1"),
        ] {
            let words =
                format!("{job} --bs=4k --rw=randread --rate_iops={iops} --time_based --runtime=1");
            let name = format!("{iops} I/Os a second on {what}");
            let never = ["not reached", "Limited by loop"];
            all.push(limited(&name, place, &words, &["pace"]).never(&never));
        }
    }
    for rate in ["200k", "400k"] {
        let words = format!(
            "--ioengine=sim --sim_latency=1ms --size=16m --bs=4k --rw=write --rate={rate} \
             --time_based --runtime=1"
        );
        all.push(limited(&format!("{rate} bytes a second"), StagePlace::None, &words, &["pace"]));
    }
    all
}

fn missed_rates() -> Vec<Trial> {
    let mut all = Vec::new();
    for iops in [500, 2000, 20000] {
        let sim = "--ioengine=sim --sim_latency=20ms --size=16m";
        for (what, place, job) in [
            ("a simulated device of 20 ms", StagePlace::None, sim),
            ("a device of 20 ms", StagePlace::Slow(20), "--filename={on} --direct=1"),
        ] {
            let words =
                format!("{job} --bs=4k --rw=randread --rate_iops={iops} --time_based --runtime=1");
            let name = format!("{iops} I/Os a second set on {what}");
            let trial = limited(&name, place, &words, &["storage"]).served(20.0, 1.0);
            all.push(trial.says(&["the rate set was not reached"]).never(&["own rate"]));
        }
    }
    all
}

fn pauses() -> Vec<Trial> {
    let mut all = Vec::new();
    for ms in [10, 30, 100] {
        let words = format!(
            "--ioengine=sim --sim_latency=1ms --size=16m --bs=4k --rw=randread --thinktime={ms}ms \
             --time_based --runtime=1"
        );
        all.push(limited(&format!("think time of {ms} ms"), StagePlace::None, &words, &["pace"]));
        let words = format!(
            "--filename={{on}} --direct=1 --bs=4k --rw=randread --thinktime={ms}ms --time_based \
             --runtime=1"
        );
        let name = format!("think time of {ms} ms on a device of memory");
        all.push(limited(&name, StagePlace::Memory, &words, &["pace"]));
    }
    for us in [100, 1000] {
        let words = format!(
            "--filename={{on}} --direct=1 --bs=4k --rw=randread --thinktime={us}us {SHORT}"
        );
        let name = format!("think time of {us} us on a device of 20 ms");
        all.push(limited(&name, StagePlace::Slow(20), &words, &["storage"]).served(20.0, 1.0));
    }
    all
}

fn io_quotas() -> Vec<Trial> {
    let mut all = Vec::new();
    let mut add = |limit: Limit, rw: &str, bs: &str| {
        let Limit::Io(_, name, figure) = limit else { return };
        let words = format!(
            "--filename={{on}} --direct=1 --bs={bs} --rw={rw} --time_based --runtime=1500ms"
        );
        let title = format!("{name}={figure}, {rw} of {bs}");
        let mut trial = limited(&title, StagePlace::Memory, &words, &["quota"]).under(limit);
        trial.truth.rate = Some((figure as f64, name.ends_with("bps")));
        all.push(trial.says(&["control group's limit of I/O"]));
    };
    for iops in [50, 100, 200] {
        add(Limit::Io("read_iops", "riops", iops), "randread", "4k");
        add(Limit::Io("write_iops", "wiops", iops), "randwrite", "4k");
    }
    for bytes in [1 << 20, 4 << 20] {
        for bs in ["4k", "64k"] {
            add(Limit::Io("read_bps", "rbps", bytes), "read", bs);
            add(Limit::Io("write_bps", "wbps", bytes), "write", bs);
        }
    }
    for iops in [5_000, 100_000] {
        let words = format!("--filename={{on}} --direct=1 --bs=4k --rw=randread {SHORT}");
        let name = format!("a device of 20 ms under riops={iops}");
        let trial = limited(&name, StagePlace::Slow(20), &words, &["storage"]).served(20.0, 1.0);
        all.push(trial.under(Limit::Io("read_iops", "riops", iops)).says(&["by loop"]));
    }
    all
}

fn cpu_quotas() -> Vec<Trial> {
    let mut all = Vec::new();
    for percent in [10, 20, 30] {
        let says = ["limit of", "processors"];
        let words = "--ioengine=null --size=64m --bs=4k --rw=read --time_based --runtime=1500ms";
        let name = format!("{percent} % of a processor, the null engine");
        let trial = limited(&name, StagePlace::None, words, &["quota"]);
        all.push(trial.under(Limit::Processor(percent)).says(&says));
        let words = format!("{CACHED} --rw=randread --time_based --runtime=1500ms");
        let name = format!("{percent} % of a processor, reads from the page cache");
        let trial = limited(&name, StagePlace::Files, &words, &["quota"]).after(WARM);
        all.push(trial.under(Limit::Processor(percent)).says(&says));
    }
    let words = format!("--filename={{on}} --direct=1 --bs=4k --rw=randread {SHORT}");
    for percent in [60, 90] {
        let name = format!("a device of 20 ms with {percent} % of a processor");
        let trial = limited(&name, StagePlace::Slow(20), &words, &["storage"]).served(20.0, 1.0);
        all.push(trial.under(Limit::Processor(percent)));
    }
    all
}

/// A file of 16 MiB that is in the page cache.
const CACHED: &str = "--filename={on}/warm --size=16m --invalidate=0 --bs=4k";
const WARM: &str = "[ -e {on}/warm ] || dd if=/dev/urandom of={on}/warm bs=1M count=16 conv=fsync; \
                    cat {on}/warm > /dev/null";

fn memory() -> Vec<Trial> {
    let mut all = Vec::new();
    for engine in ["psync", "pvsync2", "libaio", "io_uring", "mmap"] {
        for rw in ["read", "randread"] {
            let words = format!("{CACHED} --ioengine={engine} --rw={rw} {SHORT}");
            let name = format!("cached reads, {engine}, {rw}");
            let trial = limited(&name, StagePlace::Files, &words, &["memory"]).after(WARM);
            all.push(trial.says(&["page cache"]).never(&["Limited by loop"]));
        }
    }
    for bs in ["4k", "64k", "1m"] {
        let words = format!("--filename={{on}}/new --size=32m --bs={bs} --rw=write");
        let name = format!("writes of {bs} that stay in the page cache");
        let trial = limited(&name, StagePlace::Files, &words, &["memory"]).after("rm -f {on}/new");
        all.push(trial.says(&["page cache"]).never(&["Limited by loop"]));
        let words = format!("--filename={{on}}/hole --size=64m --bs={bs} --rw=randread {SHORT}");
        let name = format!("reads of {bs} from a hole");
        let trial =
            limited(&name, StagePlace::Files, &words, &["memory"]).never(&["Limited by loop"]);
        all.push(trial.after("rm -f {on}/hole; truncate -s 64M {on}/hole"));
    }
    all
}

fn processor() -> Vec<Trial> {
    let mut all = Vec::new();
    for hash in ["sha512", "sha3-512", "md5"] {
        for bs in ["64k", "256k"] {
            let words = format!(
                "--filename={{on}} --direct=1 --bs={bs} --rw=write --verify={hash} --do_verify=0 \
                 {SHORT}"
            );
            let name = format!("{hash} of each block of {bs} on a device of memory");
            let trial = limited(&name, StagePlace::Memory, &words, &["processor", "tester"]);
            all.push(trial.never(&["Limited by loop"]));
        }
    }
    all
}

/// Jobs of a steady rate: name, place, options.
const STEADY: [(&str, StagePlace, &str); 3] = [
    ("the null engine", StagePlace::None, "--ioengine=null --size=64m --rw=read"),
    (
        "a simulated device",
        StagePlace::None,
        "--ioengine=sim --sim_latency=2ms --size=16m --rw=read",
    ),
    ("a device of 5 ms", StagePlace::Slow(5), "--filename={on} --direct=1 --bs=4k --rw=randread"),
];

fn stalls() -> Vec<Trial> {
    let mut all = Vec::new();
    let long = "--time_based --runtime=2500ms";
    let stop = |trial: Trial| trial.at(0.9, "kill -STOP {pid}").at(3.6, "kill -CONT {pid}");
    let cached = ("cached reads", StagePlace::Files, "{cached} --rw=read");
    for (what, place, job) in STEADY.into_iter().chain([cached]) {
        let job = job.replace("{cached}", CACHED);
        let name = format!("the process stopped for 2.7 s, {what}");
        let trial = limited(&name, place, &format!("{job} {long}"), &["stall"])
            .after(if place == StagePlace::Files { WARM } else { "true" });
        all.push(stop(trial).says(&["stopped for"]).never(&["after the change"]));
        let name = format!("the control group frozen for 2.7 s, {what}");
        let trial = limited(&name, place, &format!("{job} {long}"), &["stall"])
            .after(if place == StagePlace::Files { WARM } else { "true" });
        let trial = trial.under(Limit::Freezer).at(0.9, "{freeze}").at(3.6, "{thaw}");
        all.push(trial.never(&["after the change"]));
    }
    for rw in ["randwrite", "write"] {
        for engine in ["psync", "libaio"] {
            let words = format!(
                "--filename={{on}}/frozen --size=8m --overwrite=1 --direct=1 --bs=4k --rw={rw} \
                 --ioengine={engine} {long}"
            );
            let name = format!("the file system frozen for 2.7 s, {rw}, {engine}");
            let trial = limited(&name, StagePlace::Files, &words, &["stall"])
                .after(
                    "[ -e {on}/frozen ] || dd if=/dev/zero of={on}/frozen bs=1M count=8 conv=fsync",
                )
                .at(1.0, "fsfreeze -f {on}")
                .at(3.7, "fsfreeze -u {on}");
            all.push(trial.says(&["nothing completed for"]).never(&["after the change"]));
        }
    }
    for rw in ["randread", "randwrite"] {
        for direct in [1, 0] {
            let words = format!(
                "--filename={{on}} --direct={direct} --bs=4k --rw={rw} --fsync={} {long}",
                u8::from(direct == 0 && rw == "randwrite")
            );
            let name = format!("a device that stands still for 2.7 s, {rw}, direct={direct}");
            let trial = limited(&name, StagePlace::Slow(5), &words, &["stall"])
                .at(0.9, "kill -STOP {server}")
                .at(3.6, "kill -CONT {server}");
            all.push(trial.says(&["nothing completed for"]).never(&["after the change"]));
        }
    }
    all
}

fn corrupt() -> Vec<Trial> {
    let mut all = Vec::new();
    for hash in ["crc32c", "md5", "sha256"] {
        for (block, engine) in [(0, "psync"), (5, "libaio"), (63, "io_uring")] {
            let job = format!("--filename={{on}}/verified --size=256k --bs=4k --verify={hash}");
            let byte = block * 4096 + 200;
            let write = format!(
                "rm -f {{on}}/verified; {{iosonde}} --name=j {job} --rw=write --do_verify=0 > /dev/null; \
                 printf ABCD | dd of={{on}}/verified bs=1 seek={byte} conv=notrunc"
            );
            let name = format!("block {block} is not what was written, {hash}, {engine}");
            let words = format!("{job} --ioengine={engine} --rw=read");
            let trial = ended(&name, StagePlace::Files, &words, "failed").after(&write);
            all.push(trial.says(&["FAILED: 1 of", "is not what was written", "iosonde diagnose"]));
        }
    }
    all
}

fn failures() -> Vec<Trial> {
    let read = "--filename={on} --direct=1 --bs=4k --rw=randread --size=4m";
    let full = "--directory={on} --bs=64k --rw=write --size=64m --fallocate=none --end_fsync=1";
    let lost = "--filename=/nowhere-x --size=4k --rw=read --allow_file_create=0";
    let null = "--ioengine=null --size=64m --rw=read";
    let mut all = vec![
        ended("a full file system", StagePlace::Small, full, "failed")
            .says(&["FAILED: job j", "No space left"]),
        ended(
            "a full file system, direct",
            StagePlace::Small,
            &format!("{full} --direct=1"),
            "failed",
        )
        .says(&["No space left"]),
        ended("a file that is not there", StagePlace::None, lost, "failed").says(&["/nowhere-x"]),
    ];
    for engine in ["psync", "libaio", "io_uring"] {
        let words = format!("{read} --ioengine={engine}");
        let name = format!("a device that fails, {engine}");
        all.push(
            ended(&name, StagePlace::Failing, &words, "failed")
                .says(&["FAILED: job j", "Input/output error"]),
        );
        let words = format!("{null} --name=k {lost} --ioengine={engine}");
        let name = format!("one of two jobs fails, {engine}");
        all.push(
            ended(&name, StagePlace::None, &words, "failed").says(&["FAILED: 1 of 2 jobs: k: "]),
        );
        let words = format!("{read} --ioengine={engine} --continue_on_error=all --number_ios=200");
        let name = format!("errors that are tolerated, {engine}");
        let known = ["storage", "processor", "unknown", "tester"];
        let mut trial = limited(&name, StagePlace::HalfFailing, &words, &known);
        trial.name = format!("completed: {name}");
        all.push(trial.says(&["failed and were tolerated"]));
    }
    all
}

fn signals() -> Vec<Trial> {
    let mut all = Vec::new();
    for signal in ["INT", "TERM"] {
        for (what, place, job) in STEADY {
            let name = format!("SIG{signal}, {what}");
            let words = format!("{job} --time_based --runtime=90");
            let mut trial =
                ended(&name, place, &words, "stopped").at(1.2, &format!("kill -{signal} {{pid}}"));
            trial.truth.never.clear();
            all.push(trial.says(&["Stopped after ", " of 90 s (SIG", "results are incomplete"]));
        }
    }
    all
}

fn nothing() -> Vec<Trial> {
    let cpu = "--ioengine=cpuio --cpuload=50 --time_based --runtime=500ms";
    let made = "--directory={on} --size=64k --rw=read --create_only=1";
    vec![
        ended("a job that only uses the processor", StagePlace::None, cpu, "nothing")
            .says(&["Nothing was measured"]),
        ended("files that are only made", StagePlace::Files, made, "nothing")
            .says(&["Nothing was measured"]),
    ]
}

fn mixed() -> Vec<Trial> {
    let mut all = Vec::new();
    for iops in [10, 20, 40] {
        let words = format!(
            "--ioengine=sim --sim_latency=10ms --size=16m --bs=4k --rw=randread --time_based \
             --runtime=1 --name=k --ioengine=sim --sim_latency=1ms --size=16m --bs=4k --rw=randread \
             --rate_iops={iops} --time_based --runtime=1"
        );
        let name = format!("one job free, one with {iops} I/Os a second");
        let trial = limited(&name, StagePlace::None, &words, &["mixed"]);
        all.push(trial.says(&["j by", "k by"]));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_has_150_runs_of_different_names_and_all_kinds() {
        let all = trials();
        let names: BTreeSet<&str> = all.iter().map(|trial| trial.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "a name stands twice");
        assert!(all.len() >= 150, "{}", all.len());
        for kind in ["storage", "pace", "tester", "quota", "memory", "processor", "stall", "mixed"]
        {
            assert!(all.iter().any(|trial| trial.truth.limits.contains(&kind)), "{kind}");
        }
        for outcome in ["completed", "failed", "stopped", "nothing"] {
            assert!(all.iter().any(|trial| trial.truth.outcome == outcome), "{outcome}");
        }
    }
}
