//! Runs on several hosts without MPI: ranks, a common start, split files.

use crate::support::Who;
use iosonde_testing::Folder;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[test]
fn ranks_that_start_at_a_moment_leave_results_that_can_be_merged() {
    let folder = Folder::new("start-at");
    // A machine that is too busy to be ready in time gets more of it.
    let started = [4, 60].into_iter().find_map(|seconds| run_both(&folder, seconds));
    let at = started.expect("both ranks are ready within a minute");
    assert_eq!(fs::metadata(folder.join("f.1")).unwrap().len(), 4 << 20);
    let words = ["merge", "result.0.json", "result.1.json", "--format=json"];
    let merged = Who::Native.run(&folder, &words).json();
    assert!(merged["iosonde"]["overlap"][0]["share"].is_number(), "{merged}");
    let hosts = &merged["iosonde"]["hosts"];
    assert_eq!((&hosts[0]["rank"], &hosts[1]["rank"]), (&0.into(), &1.into()));
    // A start is never before its moment.
    let text = fs::read_to_string(folder.join("result.1.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let began = result["iosonde"]["host"]["groups"][0]["began_unix_ns"].as_u64().unwrap();
    assert!(began >= at * 1_000_000_000, "{began}");
}

/// Run two ranks that start so many seconds from now; when that was, unless one was late.
fn run_both(folder: &Folder, seconds: u64) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let at = (now + Duration::from_secs(seconds)).as_secs();
    let flag = format!("--start-at={at}");
    let start = |rank: &str| {
        let job = ["--name=a", "--rw=write", "--bs=4k", "--size=4m", "--filename=f.{rank}"];
        let mut command = Who::Native.command(folder);
        command.args([rank, "--ranks=2", "--force", &flag, "--runtime=1", "--time_based"]);
        command.args(job).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut children = ["--rank=0", "--rank=1"].map(start);
    let ended = children.each_mut().map(|child| child.wait().unwrap().success());
    (ended == [true, true]).then_some(at)
}

#[test]
fn a_split_file_is_written_once_and_with_reorder_each_reads_another_part() {
    let folder = Folder::new("split");
    let job = ["--name=w", "--rw=write", "--bs=64k", "--size=1m", "--filename=shared"];
    let read =
        ["--name=r", "--stonewall", "--rw=read", "--bs=64k", "--size=1m", "--filename=shared"];
    for rank in ["--rank=0", "--rank=1", "--rank=2"] {
        let flags = [rank, "--ranks=3", "--split", "--reorder", "--write_iolog=log"];
        let log = format!("--write_iolog={}", rank.trim_start_matches("--"));
        let words: Vec<&str> =
            flags[..4].iter().chain(&job).copied().chain([log.as_str()]).chain(read).collect();
        Who::Native.run(&folder, &words).well();
    }
    // 16 blocks: 6, 5 and 5, each rank its own.
    let mut written: Vec<u64> = Vec::new();
    for (rank, blocks) in [(0, 6), (1, 5), (2, 5)] {
        let log = fs::read_to_string(folder.join(&format!("rank={rank}"))).unwrap();
        let own: Vec<u64> = log
            .lines()
            .filter(|line| line.contains(" write "))
            .map(|line| line.split_whitespace().nth_back(1).unwrap().parse().unwrap())
            .collect();
        assert_eq!(own.len(), blocks, "{rank}\n{log}");
        written.extend(own);
    }
    assert_eq!(written, (0..16).map(|block| block << 16).collect::<Vec<u64>>());
    let result = |rank: u32| -> serde_json::Value {
        let text = fs::read_to_string(folder.join(&format!("result.{rank}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    // The last rank reads the first one's part.
    assert_eq!(result(2)["jobs"][1]["read"]["io_bytes"], 6 << 16);
    assert_eq!(result(0)["jobs"][1]["read"]["io_bytes"], 5 << 16);
}

#[test]
fn an_interleaved_file_is_written_by_all_in_turns() {
    let folder = Folder::new("interleaved");
    let job = ["--name=w", "--rw=write", "--bs=47008", "--size=470080", "--filename=shared"];
    let log = |rank: u32| -> Vec<u64> {
        let (rank, file) = (format!("--rank={rank}"), format!("log.{rank}"));
        let log = format!("--write_iolog={file}");
        let flags = ["--split=interleaved", "--ranks=3", &rank, &log, "--force"];
        Who::Native.run(&folder, &[&flags[..], &job].concat()).well();
        let lines = std::fs::read_to_string(folder.join(&file)).unwrap();
        let offset = |line: &str| {
            let mut words = line.split_whitespace().skip_while(|&word| word != "write");
            words.nth(1)?.parse::<u64>().ok()
        };
        lines.lines().filter_map(offset).map(|offset| offset / 47008).collect()
    };
    assert_eq!(log(0), [0, 3, 6, 9]);
    assert_eq!(log(1), [1, 4, 7]);
    assert_eq!(log(2), [2, 5, 8]);
    assert_eq!(std::fs::metadata(folder.join("shared")).unwrap().len(), 470_080);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let folder = Folder::new("hosts-refused");
    let refused = |flags: &[&str]| {
        let job = ["--name=a", "--rw=write", "--size=8k", "--bs=4k", "--filename=f"];
        let words: Vec<&str> = flags.iter().chain(&job).copied().collect();
        let ran = Who::Native.run(&folder, &words);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        ran.stderr
    };
    for (flags, words) in [
        (&["--start-at=1", "--rank=0", "--ranks=2"][..], "choose a later one"),
        (&["--start-at=soon", "--rank=0", "--ranks=2"], "seconds since 1970"),
        (&["--rank=2", "--ranks=2"], "not below --ranks=2"),
        (&["--rank=0"], "--ranks=N is missing"),
        (
            &["--rank=0", "--ranks=3", "--split"],
            "cannot be split between 3 ranks in blocks of 4096",
        ),
        (&["--mpi"], "no launcher of MPI has started this program"),
        (&["--mpi", "--rank=0"], "leave out --rank"),
        (&["--client=h", "--rank=0"], "are for hosts that a launcher starts"),
    ] {
        let stderr = refused(flags);
        assert!(stderr.contains(words), "{flags:?}: {stderr}");
    }
    fs::write(folder.join("result.0.json"), "mine").unwrap();
    let stderr = refused(&["--rank=0", "--ranks=2"]);
    assert!(stderr.contains("result.0.json: it exists; use --force"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.join("result.0.json")).unwrap(), "mine");
}
