//! `iosonde compare`: the page, the rows of each job, and the parts of stored
//! results that say whether A and B are the same thing.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use serde_json::Value;

const JOB: &str = "--ioengine=sim --rw=randread --bs=4k --size=64m --number_ios=400";

fn native(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(line))
}

fn compare(folder: &Folder, line: &str) -> Ran {
    native(folder, &format!("compare {line}"))
}

fn page(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn pairs_have_a_page_beside_their_runs() {
    let folder = Folder::temporary("compare-page");
    let line = format!(
        "--name=j {JOB} --between=none --warmup=0 --repeats=2 --seed=7 --a=--iodepth=1 --b=--iodepth=8"
    );
    compare(&folder, &format!("{line} --html")).well();
    let page = page(&folder, "compare.d/compare.html");
    for part in [
        "B against A",
        "read IOPS of each run, in order",
        "Latency by percentile: read, A and B",
        "iodepth=8",
        "intended",
        "What was tested",
        "--seed=7",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Runs that are there are judged again, without a change of the page.
    compare(&folder, "compare.d --html=again.html").well();
    let again = compare(&folder, "compare.d --html=again.html");
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("--html: again.html: it exists; use --force"), "{again:?}");
    compare(&folder, "compare.d --html=again.html --force").well();
}

#[test]
fn a_page_that_exists_is_refused_before_anything_runs() {
    let folder = Folder::temporary("compare-page-exists");
    folder.write("mine.html", "mine");
    let line = format!("--name=j {JOB} --a=--iodepth=1 --b=--iodepth=8 --html=mine.html");
    let ran = compare(&folder, &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!folder.join("compare.d").exists(), "nothing has run");
    assert_eq!(page(&folder, "mine.html"), "mine");
}

/// A result of iosonde's with jobs of these names.
fn result(folder: &Folder, file: &str, jobs: &[&str]) {
    let jobs: String = jobs.iter().map(|name| format!("--name={name} {JOB} ")).collect();
    let line = format!("{jobs} --output-format=json+ --output={file} --random_generator=lfsr");
    native(folder, &line).well();
}

#[test]
fn jobs_are_matched_by_name_and_have_rows_of_their_own() {
    let folder = Folder::temporary("compare-jobs");
    result(&folder, "a.json", &["db", "old", "log"]);
    result(&folder, "b.json", &["log", "db"]);
    let ran = compare(&folder, "a.json b.json --format=json --html=page.html").well();
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let names: Vec<&str> = jobs.iter().filter_map(|job| job["name"].as_str()).collect();
    assert_eq!(names, ["db", "old", "log"]);
    assert_eq!(jobs[0]["figures"][0]["figure"], "read.iops");
    assert_eq!(
        (&jobs[1]["note"], jobs[1]["figures"].as_array().unwrap().len()),
        (&"only in A".into(), 0)
    );
    assert!(page(&folder, "page.html").contains("only in A"));
    let text = compare(&folder, "a.json b.json").well().stdout;
    assert!(
        text.contains("\n job old (only in A)\n") && text.contains("\n job db\n   read IOPS"),
        "{text}"
    );
}

/// The result with a value in it changed.
fn changed(folder: &Folder, from: &str, to: &str, change: impl Fn(&mut Value)) {
    let mut document: Value = serde_json::from_str(&page(folder, from)).unwrap();
    change(&mut document);
    folder.write(to, document.to_string());
}

#[test]
fn parts_of_stored_results_that_differ_are_named() {
    let folder = Folder::temporary("compare-parts");
    result(&folder, "a.json", &["j"]);
    let differences = |change: &dyn Fn(&mut Value)| {
        changed(&folder, "a.json", "b.json", change);
        compare(&folder, "a.json b.json")
    };
    let same = differences(&|_| {}).well();
    assert!(!same.stdout.contains("differs,") && !same.stdout.contains("warning:"), "{same:?}");
    let kernel = differences(&|document| {
        document["iosonde"]["ledger"]["environment"]["kernel"] = "9.9.9".into();
    });
    assert!(kernel.stdout.contains("warning: the kernel differs:"), "{kernel:?}");
    assert!(kernel.stdout.contains("9.9.9 in B"), "{kernel:?}");
    let tool = differences(&|document| {
        document["iosonde"]["ledger"]["environment"]["tool"] = "iosonde 9.9".into();
    });
    assert!(tool.stdout.contains("note: the tool differs, version:"), "{tool:?}");
    assert!(!tool.stdout.contains("warning:"), "{tool:?}");
    // What no other member names.
    let machine = differences(&|document| {
        let text = &mut document["iosonde"]["fingerprint"]["machine"]["text"];
        *text = format!("{}; limit=7", text.as_str().unwrap()).into();
    });
    let words = "warning: the machine differs, limit: not set in A, 7 in B";
    assert!(machine.stdout.contains(words), "{machine:?}");
}

#[test]
fn another_block_size_stops_the_comparison_unless_it_is_meant() {
    let folder = Folder::temporary("compare-bs");
    result(&folder, "a.json", &["j"]);
    let line =
        format!("--name=j {} --output-format=json+ --output=b.json", JOB.replace("4k", "8k"));
    native(&folder, &line).well();
    let ran = compare(&folder, "a.json b.json --html=page.html");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the block sizes differ: 4 KiB in A, 8 KiB in B"), "{ran:?}");
    assert!(!folder.join("page.html").exists(), "nothing was compared");
    compare(&folder, "a.json b.json --vary=bs --html=page.html").well();
    assert!(page(&folder, "page.html").contains("read bandwidth"));
}
