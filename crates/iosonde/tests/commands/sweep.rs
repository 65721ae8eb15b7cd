//! `iosonde sweep` on the simulated engine: grids, resumed runs, searches.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use serde_json::json;

/// A job that ends soon and needs no disk.
const JOB: &str = "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --number_ios=200";

fn sweep(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("sweep {line}")))
}

fn sweep_jobs(folder: &Folder, line: &str) -> Ran {
    sweep(folder, &format!("{JOB} --between=none {line}"))
}

fn journal(folder: &Folder) -> Vec<Value> {
    let text = folder.read("sweep.d/journal.jsonl");
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each point and round of the journal, in rising order.
fn runs(folder: &Folder) -> Vec<(u64, u64)> {
    let number = |line: &Value, key: &str| line[key].as_u64().unwrap();
    let mut runs: Vec<(u64, u64)> =
        journal(folder).iter().map(|line| (number(line, "round"), number(line, "point"))).collect();
    runs.sort_unstable();
    runs
}

fn all_runs(rounds: u64, points: u64) -> Vec<(u64, u64)> {
    (0..rounds).flat_map(|round| (0..points).map(move |point| (round, point))).collect()
}

/// The columns of sweep.csv that do not depend on the clock.
fn fixed_columns(folder: &Folder) -> Vec<String> {
    let text = folder.read("sweep.d/sweep.csv");
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let fixed = head.iter().position(|name| *name == "runs").unwrap() + 1;
    text.lines().map(|line| line.split(',').take(fixed).collect::<Vec<_>>().join(",")).collect()
}

#[test]
fn each_round_has_every_point_once_in_an_order_of_its_own() {
    let folder = Folder::temporary("sweep-rounds");
    let ran =
        sweep_jobs(&folder, "--over iodepth=1..8*2 --over bs=4k,8k --rounds=3 --seed=5").well();
    assert_eq!(runs(&folder), all_runs(3, 8));
    let order: Vec<u64> =
        journal(&folder).iter().map(|line| line["point"].as_u64().unwrap()).collect();
    assert_ne!(order[..8], order[8..16]);
    assert!(ran.stdout.contains("8 points, 3 rounds in random order (seed 5)"), "{ran:?}");
    let document: Value = serde_json::from_str(&folder.read("sweep.d/sweep.json")).unwrap();
    let point = &document["points"][3];
    assert_eq!(
        (&point["settings"]["iodepth"], &point["settings"]["bs"]),
        (&"2".into(), &"8k".into())
    );
    assert_eq!((&point["load"], &point["runs"]), (&2.0.into(), &3.into()));
    let (low, high) =
        (&point["figures"]["read.iops"]["low"], &point["figures"]["read.iops"]["high"]);
    assert!(low.as_f64() <= high.as_f64(), "{point}");
    // The points without the values of the runs are the rows of the CSV.
    let rows = fixed_columns(&folder);
    assert_eq!((rows.len(), &rows[0][..], &rows[4][..]), (9, "iodepth,bs,runs", "2,8k,3"));
    // The simulated device is never busy: the rate grows to the end, at each block size.
    assert_eq!(document["knees"].as_array().unwrap().len(), 2);
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let undisturbed = Folder::temporary("sweep-whole");
    let line = "--over iodepth=1..64*2 --rounds=3 --seed=11";
    sweep_jobs(&undisturbed, line).well();
    let folder = Folder::temporary("sweep-killed");
    let whole = format!("sweep {JOB} --between=none {line}");
    // After so many lines of the journal it is killed, wherever it then is.
    for (kill, lines) in (1..=20).enumerate() {
        let resume = if kill == 0 { "" } else { " --resume" };
        let mut running = Running::start(Who::Native, &folder, &format!("{whole}{resume}"));
        let journal = folder.join("sweep.d/journal.jsonl");
        wait_until("runs have ended", || {
            let text = std::fs::read_to_string(&journal).unwrap_or_default();
            text.lines().count() >= lines || !running.is_running()
        });
        if running.is_running() {
            let id = i32::try_from(running.id()).ok().and_then(Pid::from_raw).unwrap();
            // It may have ended just now, and waits to be collected.
            kill_process(id, Signal::KILL).unwrap();
        }
        running.end_within(PATIENCE);
    }
    sweep_jobs(&folder, &format!("{line} --resume")).well();
    assert_eq!(runs(&folder), all_runs(3, 7));
    assert_eq!(fixed_columns(&folder), fixed_columns(&undisturbed));
    let kept = std::fs::read_dir(folder.join("sweep.d")).unwrap();
    let halves = kept.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "half")
    });
    assert_eq!(halves.count(), 0);
    // Each result is whole.
    for line in journal(&folder) {
        let text = folder.read(&format!("sweep.d/{}", line["file"].as_str().unwrap()));
        let _: Value = serde_json::from_str(&text).unwrap();
    }
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let folder = Folder::temporary("sweep-signal");
    let line = format!("sweep {JOB} --between=none --over iodepth=1,2 --rounds=1000");
    let mut running = Running::start(Who::Native, &folder, &line);
    let journal = folder.join("sweep.d/journal.jsonl");
    wait_until("a round has ended", || {
        std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 4)
    });
    running.signal(Signal::INT);
    let ran = running.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("read IOPS"), "{ran:?}");
    assert!(ran.stderr.contains("--resume goes on"), "{ran:?}");
    let _: Value = serde_json::from_str(&folder.read("sweep.d/sweep.json")).unwrap();
}

#[test]
fn parts_of_the_free_rate_become_numbers() {
    let folder = Folder::temporary("sweep-free");
    sweep_jobs(&folder, "--over rate_iops=50%,100% --rounds=1").well();
    let lines = journal(&folder);
    assert_eq!(lines[0]["free"], true);
    let document: Value = serde_json::from_str(&folder.read("sweep.d/sweep.json")).unwrap();
    let rate = |at: usize| -> f64 {
        document["points"][at]["settings"]["rate_iops"].as_str().unwrap().parse().unwrap()
    };
    assert!((rate(1) / rate(0) - 2.0).abs() < 0.01, "{document}");
}

#[test]
fn files_are_laid_out_and_written_before_the_first_run() {
    let folder = Folder::temporary("sweep-files");
    let job = "--name=j --filename=data --rw=randread --bs=4k --number_ios=50 --ioengine=psync";
    let line =
        format!("{job} --between=none --over size=1m,2m --rounds=1 --precondition=2x-seq+rand");
    sweep(&folder, &line).well();
    assert_eq!(std::fs::metadata(folder.join("data")).unwrap().len(), 2 << 20);
    assert_eq!(runs(&folder), all_runs(1, 2));
}

#[test]
fn files_of_the_user_that_a_sweep_overwrites_are_named_once_before() {
    let folder = Folder::temporary("sweep-named");
    let job = "--name=j --bs=4k --size=64k --between=none --over iodepth=1,2 --rounds=2 --force";
    let named = |more: &str| {
        folder.write("data", vec![7; 64 << 10]);
        let ran = sweep(&folder, &format!("{job} {more}")).well();
        let lines = ran.stderr.lines().filter(|line| line.contains("overwrites data"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let line = |what: &str| vec![format!("iosonde: warning: data: {what} this existing file")];
    let write = "--filename=data --rw=write";
    assert_eq!(named(write), line("job j overwrites data in"));
    let read = "--filename=data --rw=read --precondition=fill";
    assert_eq!(named(read), line("--precondition overwrites data in"));
    assert_eq!(named("--filename=data --rw=read"), Vec::<String>::new());
    // What its own runs made is not the user's.
    assert_eq!(named("--filename=new --rw=write --precondition=fill"), Vec::<String>::new());
    assert_eq!(named("--filename=newer --rw=write"), Vec::<String>::new());
}

#[test]
fn a_search_ends_at_the_highest_rate_that_keeps_the_promise() {
    let folder = Folder::temporary("sweep-slo");
    let job =
        "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --time_based --runtime=20ms";
    let line = format!("{job} --between=none --ramp=0 --confirm=1 --find=rate_iops=100..200");
    // No I/O of a simulated device takes an hour, and none takes no time.
    let promise = |text: &str, more: &str| {
        let mut words = words(&format!("sweep {line} {more} --slo"));
        words.push(text.into());
        Who::Native.run(&folder, &words)
    };
    let kept = promise("errors = 0", "--format=json").json();
    let probes = kept["probes"].as_array().unwrap();
    assert!(probes.iter().all(|probe| probe["file"].as_str().is_some()), "{kept}");
    assert_eq!(kept["probes"][0]["rate_iops"], 100.0);
    let broken = promise("p50 < 1ns", "--force").well();
    assert!(broken.stdout.contains("none: rate_iops 100 does not keep it either"), "{broken:?}");
    // Its probes are not made again.
    let lines = journal(&folder).len();
    let again = promise("p50 < 1ns", "--resume").well();
    assert_eq!((again.stdout, journal(&folder).len()), (broken.stdout, lines));
}

#[test]
fn a_search_finds_how_many_jobs_keep_the_promise() {
    let folder = Folder::temporary("sweep-jobs");
    let job = "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --time_based \
               --runtime=20ms --rate_iops=500";
    let line = format!("{job} --between=none --ramp=0 --confirm=1 --find=numjobs=1..3");
    let mut all = words(&format!("sweep {line} --format=json --slo"));
    all.push("errors = 0".into());
    let kept = Who::Native.run(&folder, &all).json();
    let tried: Vec<f64> = kept["probes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|probe| probe["numjobs"].as_f64().unwrap())
        .collect();
    assert_eq!(tried, [1.0, 2.0, 3.0, 3.0], "{kept}");
    assert_eq!((&kept["answer"], &kept["fails_at"]), (&json!(3.0), &json!(null)));
    let last = folder.read("sweep.d/004.json");
    let last: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["jobs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_dry_run_runs_nothing() {
    let folder = Folder::temporary("sweep-dry");
    let job = "--name=j --ioengine=sim --rw=randread --size=64m --time_based --runtime=10";
    let line = format!("{job} --over iodepth=1..256*2 --where iodepth<=64 --rounds=3 --dry-run");
    let ran = sweep(&folder, &line).well();
    assert!(ran.stdout.contains("7 points, 3 rounds"), "{ran:?}");
    // 7 points of 10 s and a ramp of 2 s.
    assert!(ran.stdout.contains("about 5 min"), "{ran:?}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_budget_ends_the_runs_and_says_so() {
    let folder = Folder::temporary("sweep-budget");
    let ran = sweep_jobs(&folder, "--over iodepth=1,2 --rounds=900 --budget=1ms").well();
    assert!(ran.stderr.contains("the budget is through"), "{ran:?}");
    assert!(journal(&folder).len() < 1800);
    let written = Folder::temporary("sweep-writes");
    let job = "--name=j --ioengine=sim --rw=randwrite --bs=4k --size=64m --number_ios=256";
    let line = format!("{job} --between=none --over iodepth=1,2 --rounds=2 --max-writes=1m");
    sweep(&written, &line).well();
    assert_eq!(journal(&written).len(), 1);
}

#[test]
fn wrong_input_is_refused_with_what_is_wanted() {
    let folder = Folder::temporary("sweep-wrong");
    folder.write("job.fio", "[j]\nrw=read\nioengine=null\nsize=1m\n");
    for (line, said) in [
        ("job.fio", "nothing to sweep"),
        ("--over iodepth=1,2", "no job"),
        ("job.fio --over iodepth", "--over: invalid axis \"iodepth\""),
        ("job.fio --over iodept=1,2", "did you mean iodepth"),
        ("job.fio --over iodepth=1,x", "iodepth=x"),
        ("job.fio --over k:iodepth=1,2", "there is no job \"k\": use one of j"),
        ("job.fio --over iodepth=1,2 --where depth<2", "--where"),
        ("job.fio --over iodepth=1,2 --where iodepth>2", "leaves no point"),
        ("job.fio --over iodepth=1,2 --rounds=0", "--rounds"),
        ("job.fio --over iodepth=1,2 --budget=1w", "--budget: invalid time \"1w\""),
        ("job.fio --over iodepth=1,2 --max-writes=x", "--max-writes: invalid size \"x\""),
        ("job.fio --over iodepth=1,2 --precondition=fill", "no files or devices"),
        ("job.fio --over iodepth=1,2 --resume", "sweep.d/journal.jsonl"),
        ("job.fio --over iodepth=1,2 --slo=p99<2ms", "two kinds of sweep"),
        ("job.fio --slo=p99<2ms --find=rate_iops", "set time_based and runtime"),
        ("job.fio --slo=p99<2", "--slo: invalid promise"),
        ("job.fio --slo=p99<2ms --find=iodepth", "--find: cannot search \"iodepth\""),
        ("missing.fio --over iodepth=1", "missing.fio"),
    ] {
        let ran = sweep(&folder, line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains(said), "{line}: {ran:?}");
    }
    assert_eq!(folder.names(), ["job.fio"]);
    sweep_jobs(&folder, "--over iodepth=1 --rounds=1").well();
    let again = sweep_jobs(&folder, "--over iodepth=1 --rounds=1");
    assert!(again.code == Some(1) && again.stderr.contains("--force"), "{again:?}");
    let other = sweep_jobs(&folder, "--over iodepth=2 --rounds=1 --resume");
    assert!(other.code == Some(1) && other.stderr.contains("of something else"), "{other:?}");
}

#[test]
fn flags_of_a_run_by_itself_are_refused_and_run_nothing() {
    let folder = Folder::temporary("sweep-flags");
    let flags = [
        "--mpi",
        "--rank=1",
        "--start-at=+1s",
        "--metrics-file=m.prom",
        "--live=json",
        "--eta=always",
    ];
    for flag in flags {
        let name = flag.split('=').next().unwrap();
        let ran = sweep_jobs(&folder, &format!("--over iodepth=1,2 {flag}"));
        assert_eq!(ran.code, Some(1), "{flag}: {ran:?}");
        assert!(ran.stderr.contains(&format!("{name} has no effect here: ")), "{flag}: {ran:?}");
    }
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_flag_is_known_by_its_other_name_too() {
    let folder = Folder::temporary("sweep-alias");
    sweep_jobs(&folder, "--over iodepth=1,2 --repeats=1 --seed=5").well();
    assert_eq!(runs(&folder), all_runs(1, 2));
}
