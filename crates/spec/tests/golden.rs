//! What is said of every job file in `tests/jobs/bad`, ours and in fio's words.
//!
//! `UPDATE=1 cargo test -p iosonde-spec --test golden` writes the file; a person reads the change.

mod common;

use std::fmt::Write;

use common::{corpus, job_files, parse_in_jobs};

#[test]
fn each_bad_job_file_is_reported_what_is_wrong_and_where() {
    let mut described = String::new();
    for file in job_files("jobs/bad") {
        let parsed = parse_in_jobs(&[&format!("bad/{file}")]);
        assert!(parsed.is_refused(), "{file} is taken");
        writeln!(described, "{file}").unwrap();
        for notice in &parsed.notices {
            writeln!(described, "    {}", shortened(&notice.diagnostic.to_string())).unwrap();
            for line in &notice.fio {
                writeln!(described, "        {}", shortened(line)).unwrap();
            }
        }
    }
    let path = corpus("golden/bad-jobs.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &described).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    for (ours, theirs) in described.lines().zip(golden.lines()) {
        assert_eq!(ours, theirs, "see {}", path.display());
    }
    assert_eq!(described.lines().count(), golden.lines().count(), "see {}", path.display());
}

/// A line of the binary file may be long, and hold control characters.
fn shortened(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    visible.take(200).collect()
}
