//! Random mixes of options do what fio 3.42 was recorded to do with them: exit
//! code, I/Os and bytes by direction, the sequence I/O by I/O, syncs among them,
//! and the sizes of the files afterwards.
//!
//! `make test` runs a fixed sample, `make exact` (IOSONDE_EXACT=all) all 1205.
//! Differences are listed in fixtures/random-jobs-differences.txt, each with its
//! row of docs/differences.md: one more, or one less, fails.

use crate::support::{Ran, Who};
use iosonde_testing::Folder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The recordings; of each, every so many jobs are the sample.
const RECORDINGS: [(&str, &str); 2] = [
    ("new", include_str!("../fixtures/random-jobs.jsonl")),
    ("existing", include_str!("../fixtures/random-jobs-existing.jsonl")),
];
const SAMPLE_EVERY: usize = 14;

/// Lines of `recording number id`; what follows is for the reader.
const DIFFERENCES: &str = include_str!("../fixtures/random-jobs-differences.txt");

#[test]
fn random_jobs_do_what_fio_does() {
    let every = match std::env::var("IOSONDE_EXACT").as_deref() {
        Ok("all") => 1,
        _ => SAMPLE_EVERY,
    };
    let explained = explained();
    let mut wrong = Vec::new();
    for (recording, lines) in RECORDINGS {
        for line in lines.lines().step_by(every) {
            let recorded: Value = serde_json::from_str(line).unwrap();
            let number = recorded["n"].as_u64().unwrap();
            let found = differences(&recorded, &run(&recorded));
            let job = recorded["job"].as_str().unwrap();
            match explained.get(&(recording, number)) {
                None if !found.is_empty() => {
                    wrong.push(format!("{recording} {number} {job}\n    {}", found.join("\n    ")));
                }
                Some(&(id, always)) if always && found.is_empty() => {
                    wrong.push(format!("{recording} {number} is as fio's, though listed ({id})"));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} jobs differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_listed_difference_names_a_row_of_the_documentation() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/differences.md");
    let page = std::fs::read_to_string(page).unwrap();
    for ((recording, number), (id, _)) in explained() {
        assert!(page.contains(&format!("({id})")), "{recording} {number}: no row ({id})");
    }
}

/// The id of each difference that is listed, and whether it is always there: one
/// that depends on timing has a `?`.
fn explained() -> BTreeMap<(&'static str, u64), (&'static str, bool)> {
    let lines = DIFFERENCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut word = || words.next().unwrap_or_else(|| panic!("incomplete: {line}"));
            let (recording, number, id) = (word(), word().parse().unwrap(), word());
            ((recording, number), (id.trim_end_matches('?'), !id.ends_with('?')))
        })
        .collect()
}

/// Run a job as it was recorded; what came of it, in the form of the recording.
fn run(recorded: &Value) -> Value {
    let folder = Folder::new("exact");
    let job = Folder::within(folder.path(), "job");
    let exists = recorded["exists"].as_object().into_iter().flatten();
    for (name, bytes) in exists {
        job.write(name, pattern(bytes.as_u64().unwrap()));
    }
    let arguments = recorded["job"].as_str().unwrap();
    let logged = !arguments.contains("--numjobs=");
    let mut line = "--name=a --thread --output-format=json --eta=never".to_owned();
    if logged {
        line.push_str(" --write_iolog=../job.iolog");
    }
    let ran = Who::AsFio.run(&job, &crate::support::words(&format!("{line} {arguments}")));
    if ran.code != Some(0) {
        return json!({ "exit": ran.code, "stderr": ran.stderr });
    }
    let mut result = json!({ "exit": 0, "jobs": totals(&ran), "files": sizes(&job) });
    let log = folder.join("job.iolog");
    if logged && log.exists() {
        add_sequence(&std::fs::read_to_string(log).unwrap(), &mut result);
    }
    result
}

/// What the files held that were there before.
fn pattern(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| ((at % 4096) * 7 + 3) as u8).collect()
}

/// I/Os and bytes by direction, and syncs, of each job.
fn totals(ran: &Ran) -> Value {
    let of_job = |job: &Value| {
        let mut totals = serde_json::Map::new();
        for dir in ["read", "write"].iter().filter(|dir| !job[**dir].is_null()) {
            let lane = &job[*dir];
            totals.insert((*dir).to_owned(), json!([lane["total_ios"], lane["io_bytes"]]));
        }
        let syncs = &job["sync"]["total_ios"];
        totals.insert("sync".to_owned(), if syncs.is_null() { json!(0) } else { syncs.clone() });
        Value::Object(totals)
    };
    let document = &ran.stdout[ran.stdout.find('{').unwrap_or(0)..];
    let document: Value = serde_json::from_str(document).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    document["jobs"].as_array().unwrap().iter().map(of_job).collect()
}

fn sizes(folder: &Folder) -> Value {
    folder.sizes().into_iter().map(|(name, bytes)| (name, json!(bytes))).collect()
}

/// The I/Os of an iolog, as digests of all of them; syncs without their offsets.
fn add_sequence(log: &str, result: &mut Value) {
    let (mut data, mut with_syncs) = (Vec::new(), Vec::new());
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let timed = words.len() >= 4 && words[0].bytes().all(|byte| byte.is_ascii_digit());
        if !timed || matches!(words[2], "open" | "close" | "add") {
            continue;
        }
        let file = words[1].rsplit('/').next().unwrap();
        if matches!(words[2], "read" | "write" | "trim") {
            let entry = format!("{file} {}", words[2..].join(" "));
            data.push(entry.clone());
            with_syncs.push(entry);
        } else {
            with_syncs.push(format!("{file} {}", words[2]));
        }
    }
    result["ios"] = json!(data.len());
    result["first"] = json!(data.iter().take(2).collect::<Vec<_>>());
    result["sha256"] = json!(digest(&data));
    result["with_syncs"] = json!([with_syncs.len(), digest(&with_syncs)]);
}

/// The first 16 digits.
fn digest(lines: &[String]) -> String {
    let digest = Sha256::digest(lines.join("\n"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Where a job's result is not the recorded one.
fn differences(recorded: &Value, ours: &Value) -> Vec<String> {
    if recorded["exit"] != ours["exit"] {
        let words = ours["stderr"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
        return vec![format!("exit {} for {}: {words}", ours["exit"], recorded["exit"])];
    }
    let is_other = |key: &&str| !recorded[*key].is_null() && recorded[*key] != ours[*key];
    let keys = ["ios", "first", "sha256", "jobs", "files", "with_syncs"];
    let other = keys.iter().filter(|key| is_other(key));
    other.map(|key| format!("{key}: {} for {}", ours[*key], recorded[*key])).collect()
}
