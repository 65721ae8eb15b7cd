//! A job printed as a job file reads back as the same job.

#[path = "../../../fuzz/src/bodies.rs"]
mod bodies;
mod common;

use common::{command_lines, job_files, parse_in_jobs};
use iosonde_options::Origin;
use iosonde_spec::JobSpec;
use iosonde_spec::print::print;
use proptest::prelude::*;

#[test]
fn every_job_of_the_corpus_reads_back() {
    let lines = ["commands.txt", "habits.txt"].into_iter().flat_map(command_lines);
    let files = job_files("jobs").into_iter().map(|file| vec![file]);
    let mut printed = 0;
    for arguments in lines.chain(files) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for job in parse_in_jobs(&arguments).jobs {
            printed += usize::from(print(&job.name, &job.spec).is_ok());
            bodies::reads_back(&job.name, &job.spec);
        }
    }
    assert!(printed > 500, "only {printed} jobs printed");
}

#[test]
fn every_example_of_every_option_reads_back() {
    for row in iosonde_spec::all() {
        for value in row.good {
            let mut spec = JobSpec::default();
            if spec.set(row.name, Some(value), Origin::CommandLine { index: 1 }).is_ok() {
                bodies::reads_back("job", &spec);
            }
        }
    }
}

#[test]
fn a_job_prints_what_was_set_and_nothing_else() {
    let jobs = parse_in_jobs(&["--name=x", "--blocksize=8k", "--time_based", "--size=1m"]).jobs;
    let text = print(&jobs[0].name, &jobs[0].spec).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, ["[x]", "bs=8192", "time_based=1", "size=1048576"]);
}

#[test]
fn a_name_that_no_header_holds_gets_a_line_of_its_own() {
    let text = print("global", &JobSpec::default()).unwrap();
    assert_eq!(text, "[job]\nname=global\n");
    assert_eq!(print("a;b", &JobSpec::default()).unwrap_err().option, "name");
}

#[test]
fn what_a_job_file_cannot_hold_is_refused() {
    for value in ["a;b", "a#b", "a\nb", "${HOME}", "$ncpus", "a\0b"] {
        let mut spec = JobSpec::default();
        spec.set("description", Some(value), Origin::CommandLine { index: 1 }).unwrap();
        let error = print("x", &spec).expect_err(value);
        assert_eq!((error.option, error.value.as_str()), ("description", value));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_few_options_read_back(picks in prop::collection::vec((any::<usize>(), any::<usize>()), 0..12)) {
        let rows: Vec<_> = iosonde_spec::all().filter(|row| !row.good.is_empty()).collect();
        let mut spec = JobSpec::default();
        for (row, value) in picks {
            let row = rows[row % rows.len()];
            let value = row.good[value % row.good.len()];
            // Some are refused beside others; what was taken must read back.
            let _ = spec.set(row.name, Some(value), Origin::CommandLine { index: 1 });
        }
        bodies::reads_back("job", &spec);
    }
}
