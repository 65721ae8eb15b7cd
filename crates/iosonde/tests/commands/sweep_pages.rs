//! `iosonde sweep`: the page, points that fail or are left out, more points
//! around the knee.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use serde_json::Value;

const JOB: &str =
    "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --number_ios=200 --between=none";

fn sweep(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("sweep {line}")))
}

fn document(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("sweep.d/sweep.json")).unwrap()
}

#[test]
fn a_sweep_keeps_a_page_with_its_results() {
    let folder = Folder::temporary("sweep-page");
    let line = format!("{JOB} --over iodepth=1..8*2 --over bs=4k,8k --where iodepth<8 --rounds=2");
    sweep(&folder, &format!("{line} --html=mine.html")).well();
    let page = folder.read("sweep.d/sweep.html");
    assert_eq!(page, folder.read("mine.html"));
    for part in [
        "Latency against throughput: read",
        "read IOPS by iodepth and bs",
        "read p50 by iodepth and bs",
        "iodepth=8 bs=4k",
        "skipped: --where does not hold",
        "What was tested",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let other = format!("{line} -o other.d --html=mine.html");
    let refused = sweep(&folder, &other);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--html: mine.html: it exists"), "{refused:?}");
    assert!(!folder.join("other.d").exists(), "nothing has run");
}

#[test]
fn a_point_that_fails_leaves_the_others() {
    let folder = Folder::temporary("sweep-fails");
    let job =
        "--name=j --rw=randread --bs=4k --number_ios=50 --ioengine=psync --size=1m --between=none";
    folder.write("no", "a file, not a directory");
    let line = format!("{job} --over filename=data,no/data,more --rounds=2");
    let ran = sweep(&folder, &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("filename=no/data: "), "{ran:?}");
    assert!(ran.stderr.contains("1 point failed"), "{ran:?}");
    let document = document(&folder);
    let runs: Vec<u64> = document["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["runs"].as_u64().unwrap())
        .collect();
    assert_eq!(runs, [2, 0, 2]);
    assert!(document["points"][1]["failed"].as_str().unwrap().contains("no/data"), "{document}");
    assert!(document["points"][0]["failed"].is_null());
    let page = folder.read("sweep.d/sweep.html");
    assert!(page.contains("filename=no/data") && page.contains("failed: "));
    // Once it can be run, --resume makes up for it.
    std::fs::remove_file(folder.join("no")).unwrap();
    std::fs::create_dir(folder.join("no")).unwrap();
    sweep(&folder, &format!("{line} --resume")).well();
}

#[test]
fn a_search_keeps_a_page_of_its_probes() {
    let folder = Folder::temporary("sweep-search-page");
    let job =
        "--name=j --ioengine=sim --rw=randread --bs=4k --size=64m --time_based --runtime=20ms";
    let mut words = words(&format!(
        "sweep {job} --between=none --ramp=0 --confirm=1 --find=rate_iops=100..200 --slo"
    ));
    words.push("p50 < 1ns".into());
    Who::Native.run(&folder, &words).well();
    let page = folder.read("sweep.d/sweep.html");
    assert!(page.contains("does not keep it either") && page.contains("not kept"), "{page}");
}

#[test]
fn a_search_that_fails_writes_the_page_that_was_asked_for() {
    let folder = Folder::temporary("sweep-search-fails");
    let job =
        "--name=j --filename=/dev/full --rw=write --bs=4k --size=64k --time_based --runtime=20ms";
    let mut words = words(&format!("sweep {job} --ramp=0 --html=page.html --slo"));
    words.push("write.p99 < 1s".into());
    let ran = Who::Native.run(&folder, &words);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let page = folder.read("page.html");
    assert!(page.contains("answer failed") && page.contains("FAILED: "), "{page}");
    assert!(page.contains("No space left on device"), "{page}");
    assert!(!folder.join("sweep.d/sweep.html").exists(), "there are no results");
}

#[test]
fn refining_needs_an_axis_of_a_load() {
    let folder = Folder::temporary("sweep-refine-wrong");
    for axes in ["--over bs=4k,8k", "--over iodepth=1,2 --over numjobs=1,2"] {
        let ran = sweep(&folder, &format!("{JOB} {axes} --refine=2"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.stderr.contains("--refine needs --over with one axis of iodepth or numjobs"),
            "{ran:?}"
        );
    }
}
