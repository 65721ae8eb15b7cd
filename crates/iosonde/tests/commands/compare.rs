//! `iosonde compare`: pairs on the simulated engine, stored results, gates.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use rustix::process::Signal;
use serde_json::{Value, json};

/// A job that ends soon and needs no disk.
const JOB: &str = "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --number_ios=400";

fn compare(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("compare {line}")))
}

fn compare_jobs(folder: &Folder, line: &str) -> Ran {
    compare(folder, &format!("{JOB} --between=none {line}"))
}

/// A result of fio 3.42 with this rate, in the file `name`.
fn result(folder: &Folder, name: &str, iops: f64, more: &[(&str, &str)]) {
    let mut options = json!({"rw": "randread", "bs": "4k", "runtime": "10"});
    for (option, value) in more {
        options[option] = (*value).into();
    }
    let bs = if options["bs"] == "8k" { 8192 } else { 4096 };
    let ios = (iops * 10.0) as u64;
    let read = json!({
        "io_bytes": ios * bs, "runtime": 10_000, "iops": iops, "total_ios": ios,
        "clat_ns": {
            "min": 90_000, "max": 110_000, "mean": 100_000.0, "stddev": 1.0, "N": ios,
            "percentile": {"50.000000": 100_000, "99.000000": 105_000},
        },
    });
    let document = json!({
        "fio version": "fio-3.42",
        "timestamp": 1,
        "jobs": [{"jobname": "j", "error": 0, "job options": options, "read": read}],
    });
    folder.write(name, format!("fio: a note before the document\n{document:#}\n"));
}

fn stored(folder: &Folder, side: &str, values: &[f64]) -> String {
    let names = values.iter().enumerate().map(|(at, &iops)| {
        let name = format!("{side}{at}.json");
        result(folder, &name, iops, &[]);
        name
    });
    names.collect::<Vec<_>>().join(" ")
}

fn primary(document: &Value) -> &Value {
    &document["figures"][0]
}

#[test]
fn pairs_are_run_in_balanced_random_order_and_judged() {
    let folder = Folder::temporary("compare-pairs");
    let line = "--a=--iodepth=1 --b=--iodepth=8 --repeats=6 --seed=7 --format=json";
    let ran = compare_jobs(&folder, line).well();
    let document = ran.json();
    assert_eq!(document["design"]["pairs"], 6);
    let order: Vec<&str> =
        document["design"]["order"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(order.iter().filter(|order| **order == "ab").count(), 3, "{order:?}");
    assert_eq!(primary(&document)["figure"], "read.iops");
    assert_eq!(primary(&document)["a_runs"].as_array().unwrap().len(), 6);
    let differing = &document["differences"][0];
    assert_eq!(
        (differing["what"].as_str(), &differing["intended"]),
        (Some("iodepth"), &json!(true))
    );
    // The journal has the runs in the order in which they were made.
    let journal = folder.read("compare.d/journal.jsonl");
    let lines: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1 + 2 * (1 + 6));
    let sides: Vec<String> = lines[3..]
        .chunks(2)
        .map(|pair| {
            format!("{}{}", pair[0]["side"].as_str().unwrap(), pair[1]["side"].as_str().unwrap())
        })
        .collect();
    assert_eq!(sides, order);
}

#[test]
fn earlier_runs_are_judged_again_gone_on_with_or_refused() {
    let folder = Folder::temporary("compare-resume");
    let line = "--a=--iodepth=1 --b=--iodepth=2 --seed=7 --format=json";
    compare_jobs(&folder, &format!("{line} --repeats=2")).well();
    let again = compare_jobs(&folder, &format!("{line} --repeats=2"));
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("--resume") && again.stderr.contains("--force"), "{again:?}");
    // Taken as it is, and read as a directory: the same figures.
    let resumed = compare_jobs(&folder, &format!("{line} --repeats=2 --resume")).well().json();
    let read = compare(&folder, "compare.d --format=json").well().json();
    assert_eq!(primary(&resumed)["a_runs"], primary(&read)["a_runs"]);
    // One run is lost, as by kill -9: it is made again.
    let journal = folder.read("compare.d/journal.jsonl");
    let kept: Vec<&str> = journal.lines().take(5).collect();
    folder.write("compare.d/journal.jsonl", format!("{}\n{{\"pair\": 2, ", kept.join("\n")));
    compare_jobs(&folder, &format!("{line} --repeats=2 --resume")).well();
    assert_eq!(folder.read("compare.d/journal.jsonl").lines().count(), 7);
    let other =
        compare_jobs(&folder, "--a=--iodepth=1 --b=--iodepth=4 --seed=7 --repeats=2 --resume");
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("of something else"), "{other:?}");
}

#[test]
fn a_signal_keeps_and_judges_what_was_measured() {
    let folder = Folder::temporary("compare-signal");
    let line =
        format!("compare {JOB} --a=--iodepth=1 --b=--iodepth=2 --repeats=1000 --between=none");
    let mut running = Running::start(Who::Native, &folder, &line);
    let journal = folder.join("compare.d/journal.jsonl");
    wait_until("two pairs have ended", || {
        std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 8)
    });
    running.signal(Signal::INT);
    let ran = running.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("read IOPS"), "{ran:?}");
    assert!(ran.stderr.contains("--resume goes on"), "{ran:?}");
    let kept = std::fs::read_dir(folder.join("compare.d")).unwrap();
    let names: Vec<String> =
        kept.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        names.iter().all(|name| name.ends_with(".json") || name == "journal.jsonl"),
        "{names:?}"
    );
}

#[test]
fn stored_results_differ_only_with_a_word_on_drift() {
    let folder = Folder::temporary("compare-stored");
    let a = stored(&folder, "a", &[1000.0, 1010.0, 990.0, 1005.0, 995.0]);
    let b = stored(&folder, "b", &[800.0, 810.0, 790.0, 805.0, 795.0]);
    let ran = compare(&folder, &format!("{a} -- {b}")).well();
    assert!(ran.stdout.contains("differs, and drift is not excluded"), "{ran:?}");
    assert!(ran.stdout.contains("-20.0 %"), "{ran:?}");
    assert!(ran.stdout.contains("not known to be the same"), "{ran:?}");
    let gated = compare(&folder, &format!("--gate {a} -- {b}"));
    assert_eq!(gated.code, Some(5), "{gated:?}");
    let accepted = compare(&folder, &format!("--gate --accept-drift {a} -- {b}"));
    assert_eq!(accepted.code, Some(4), "{accepted:?}");
    let better = compare(&folder, &format!("--gate=worse:2% --accept-drift {b} -- {a}")).well();
    assert!(better.stdout.contains("gate: passed"), "{better:?}");
}

#[test]
fn one_run_each_cannot_tell() {
    let folder = Folder::temporary("compare-single");
    stored(&folder, "a", &[1000.0]);
    stored(&folder, "b", &[2000.0]);
    let ran = compare(&folder, "a0.json b0.json").well();
    assert!(ran.stdout.contains("one run each: cannot tell"), "{ran:?}");
    assert!(ran.stdout.contains("2.00 x") && !ran.stdout.contains("differs"), "{ran:?}");
    let gated = compare(&folder, "a0.json b0.json --gate");
    assert_eq!(gated.code, Some(5), "{gated:?}");
    compare(&folder, "a0.json b0.json --gate --gate-undecided=pass").well();
    let document = compare(&folder, "a0.json b0.json --format=json").well().json();
    assert!(primary(&document)["p_adjusted"].is_null());
    let noise = compare(&folder, "a0.json b0.json --noise=4%").well();
    assert!(noise.stdout.contains("differs"), "{noise:?}");
}

#[test]
fn a_session_is_held_against_stored_ones() {
    let folder = Folder::temporary("compare-baseline");
    std::fs::create_dir(folder.join("history")).unwrap();
    for (at, iops) in [1000.0, 1040.0, 960.0, 1020.0, 980.0, 1010.0].into_iter().enumerate() {
        result(&folder, &format!("history/{at}.json"), iops, &[]);
    }
    stored(&folder, "same", &[1005.0]);
    stored(&folder, "slow", &[700.0]);
    let same = compare(&folder, "same0.json --baseline=history --gate=worse:15%").well();
    assert!(same.stdout.contains("6 stored sessions"), "{same:?}");
    let slow = compare(&folder, "slow0.json --baseline=history --gate");
    assert_eq!(slow.code, Some(4), "{slow:?}");
    // Sessions of another job are left out, and too few show nothing.
    result(&folder, "other.json", 1000.0, &[("bs", "8k")]);
    let other = compare(&folder, "other.json --baseline=history");
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("no session of the same thing"), "{other:?}");
    for at in [4, 5] {
        std::fs::remove_file(folder.join(&format!("history/{at}.json"))).unwrap();
    }
    let few = compare(&folder, "slow0.json --baseline=history --gate");
    assert_eq!(few.code, Some(5), "{few:?}");
}

#[test]
fn unlike_things_are_not_compared_unless_they_are_meant_to_differ() {
    let folder = Folder::temporary("compare-unlike");
    result(&folder, "a.json", 1000.0, &[]);
    result(&folder, "b.json", 900.0, &[("bs", "8k")]);
    let refused = compare(&folder, "a.json b.json");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("block sizes differ: 4 KiB in A, 8 KiB in B"), "{refused:?}");
    assert!(refused.stderr.contains("--vary=bs"), "{refused:?}");
    let meant = compare(&folder, "a.json b.json --vary=bs").well();
    assert!(
        meant.stdout.contains("bs 4k -> 8k") && meant.stdout.contains("bandwidth"),
        "{meant:?}"
    );
    // An alias means the same option; one that is not named is a warning.
    compare(&folder, "a.json b.json --vary=blocksize").well();
    result(&folder, "c.json", 900.0, &[("iodepth", "32")]);
    let warned = compare(&folder, "a.json c.json").well();
    assert!(
        warned.stdout.contains("warning: the job differs, iodepth: not set in A, 32 in B"),
        "{warned:?}"
    );
}

#[test]
fn formats_say_the_same() {
    let folder = Folder::temporary("compare-formats");
    let a = stored(&folder, "a", &[1000.0, 1010.0]);
    let b = stored(&folder, "b", &[800.0, 810.0]);
    let of =
        |format: &str| compare(&folder, &format!("--format={format} {a} -- {b}")).well().stdout;
    let (json, md, csv) = (of("json"), of("md"), of("csv"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(md.contains("| read IOPS | 1.00k | 805 | -19.9 % |"), "{md}");
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(row[0], "read.iops");
    assert_eq!(row[3].parse::<f64>().unwrap(), primary(&json)["ratio"].as_f64().unwrap());
    assert_eq!(row[6], primary(&json)["decision"].as_str().unwrap());
}

#[test]
fn wrong_input_is_refused_with_what_is_wanted() {
    let folder = Folder::temporary("compare-wrong");
    result(&folder, "a.json", 1000.0, &[]);
    folder.write("cut.json", "{\n \"fio version\": \"fio-3.42\",\n \"jobs\": [");
    folder.write("job.fio", "[j]\nrw=read\nioengine=null\nsize=1m\n");
    folder.write("bad.fio", "[j]\nrw=raed\n");
    std::fs::create_dir(folder.join("empty")).unwrap();
    for (line, said) in [
        ("", "nothing to compare"),
        ("a.json", "1 result:"),
        ("a.json a.json a.json", "then --, then those of B"),
        ("a.json missing.json", "missing.json: cannot read it"),
        ("a.json cut.json", "cut.json: it is cut off"),
        ("a.json job.fio", "\"job.fio\" is not a result"),
        ("a.json -- a.json --a=--bs=8k", "these are results"),
        ("a.json a.json --metric=durable", "use read.iops"),
        ("job.fio", "nothing that differs"),
        ("job.fio --a=--iodepht=8", "did you mean iodepth"),
        ("job.fio --a=--iodepth=x --b=--iodepth=1", "--a: iodepth=x"),
        ("bad.fio job.fio", "bad.fio:2"),
        ("job.fio --a=--iodepth=8 --output-format=json", "--output-format has no effect"),
        ("job.fio --a=--iodepth=8 --output=no/x", "--output: no is not a directory"),
        ("job.fio --a=--iodepth=8 --resume", "compare.d/journal.jsonl"),
        ("empty", "empty/journal.jsonl"),
        ("--repeats=1", "--repeats: invalid number of pairs \"1\""),
        ("--margin=x", "--margin: invalid percentage \"x\""),
        ("--metric=foo", "--metric: unknown figure \"foo\""),
        ("--gate=better", "--gate: unknown gate \"better\""),
        ("--a=", "--a"),
    ] {
        let ran = compare(&folder, line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains(said), "{line}: {ran:?}");
    }
    assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
}

#[test]
fn a_run_that_fails_ends_the_comparison_with_its_reason() {
    let folder = Folder::temporary("compare-fails");
    let ran = compare_jobs(&folder, "--a=--iodepth=1 --b=--iodepth=2 --before-b=false --repeats=2");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the command \"false\": failed"), "{ran:?}");
}
