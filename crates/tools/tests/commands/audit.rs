//! `iosonde audit` on results of the installed fio.

use crate::ask::{Asked, ask};
use iosonde_testing::{Folder, has_fio, skip};
use iosonde_tools::audit;
use serde_json::Value;
use std::process::{Command, Stdio};

fn audit(folder: &Folder, line: &str) -> Asked {
    ask(folder, audit::answer, line)
}

/// Run fio's job in the folder.
fn run_fio(folder: &Folder, line: &str) {
    let mut fio = Command::new("fio");
    fio.arg("--name=a").args(line.split_whitespace()).current_dir(folder.path());
    let status = fio.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{line}");
}

/// Run fio and leave its result in `name`; false where its result has no disk.
fn result(folder: &Folder, name: &str, line: &str) -> bool {
    run_fio(folder, &format!("--output-format=json --output={name} {line}"));
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let whole: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let reported = whole["disk_util"].as_array().is_some_and(|disks| !disks.is_empty());
    if !reported {
        skip::test(format_args!("fio reports no disk below {}", folder.path().display()));
    }
    reported
}

fn ids(ran: &Asked) -> Vec<String> {
    let found = ran.json()["results"][0]["findings"].as_array().unwrap().clone();
    found.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn reads_of_a_cached_file_are_reported_as_such_and_direct_ones_are_not() {
    let folder = Folder::new("audit-reads");
    folder.write("data", vec![7; 8 << 20]);
    // What is dirty may be dropped or not.
    std::fs::File::open(folder.join("data")).unwrap().sync_all().unwrap();
    let job = "--filename=data --size=8m --bs=4k --rw=randread --time_based --runtime=2";
    if !has_fio() || !result(&folder, "cached.json", &format!("{job} --invalidate=0")) {
        return;
    }
    assert!(result(&folder, "direct.json", &format!("{job} --direct=1")));
    let cached = audit(&folder, "--json cached.json").well();
    assert!(ids(&cached).contains(&"page-cache-reads".to_owned()), "{cached:?}");
    let direct = audit(&folder, "--json direct.json").well();
    assert!(!ids(&direct).contains(&"page-cache-reads".to_owned()), "{direct:?}");

    let strict = audit(&folder, "--strict cached.json");
    assert_eq!(strict.code, 3, "{strict:?}");
    assert!(strict.stdout.contains("[page-cache-reads]"), "{strict:?}");
    // The first names the file.
    let mut findings = strict.stdout.lines().skip(1);
    assert!(findings.all(|line| line.chars().count() <= 80), "{strict:?}");
}

#[test]
fn a_result_without_disks_is_a_finding() {
    let folder = Folder::new("audit-none");
    if !has_fio() {
        return;
    }
    let line = "--filename=data --size=1m --disk_util=0 --output=none.json --output-format=json";
    run_fio(&folder, line);
    assert_eq!(ids(&audit(&folder, "--json none.json").well())[0], "no-disk-counts");
}

#[test]
fn what_is_no_result_is_refused_and_named() {
    let folder = Folder::new("audit-refused");
    folder.write("text", b"hello");
    for (line, words) in [
        ("missing.json", "missing.json: cannot read it: "),
        ("text", "text: it contains no JSON"),
        ("", "the required argument <FILE.json>... is missing"),
        ("--frobnicate x", "unknown option --frobnicate"),
        (".", "cannot read it: "),
    ] {
        let ran = audit(&folder, line);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(words), "{line}: {ran:?}");
    }
}
