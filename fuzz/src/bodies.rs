//! What each fuzz target does with its bytes. Shared with an ordinary test.
#![allow(dead_code, reason = "each target uses its own part")]

use std::collections::HashMap;
use std::env::VarError;

use iosonde_options::Origin;
use iosonde_spec::JobSpec;
use iosonde_spec::cli::flag_table::{FIO, OURS};
use iosonde_spec::cli::{Parsed, World, parse};
use iosonde_spec::engine_options;
use iosonde_spec::print::print;
use iosonde_spec::text::arithmetic::{Suffixes, evaluate, rewrite};
use iosonde_spec::text::expand::Host;
use iosonde_spec::values::KbBase;

/// Any bytes are a job file: read it, and print each job and read that.
pub fn job_file(data: &[u8]) {
    let parsed = parse_files(&["f.fio"], &[("f.fio", data), ("inc", b"bs=8k\n")]);
    for job in &parsed.jobs {
        reads_back(&job.name, &job.spec);
    }
}

/// Any bytes are a command line, an argument a line.
pub fn command_line(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let arguments: Vec<&str> = text.split('\n').collect();
    let parsed = parse_files(&arguments, &[("a.fio", b"[global]\nbs=4k\n[a]\nsize=1m\n")]);
    for job in &parsed.jobs {
        reads_back(&job.name, &job.spec);
    }
}

/// `name=value`, or `name`: set it in a job, and what it shows as sets it again.
pub fn option_value(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (&*text, None),
    };
    let mut spec = JobSpec::default();
    if spec.set(name, value, Origin::CommandLine { index: 1 }).is_ok() {
        let shown = spec.show(name).expect("an option that was set can be shown");
        let mut again = JobSpec::default();
        let origin = Origin::CommandLine { index: 1 };
        let set = again.set(name, Some(&shown), origin);
        // An empty text can be held, and cannot be typed.
        if !shown.is_empty() {
            set.unwrap_or_else(|error| panic!("{text:?} shows as {shown:?}: {error}"));
            assert_eq!(again.show(name), Some(shown), "{text:?}");
        }
    }
}

/// An expression, in each kind of suffix.
pub fn arithmetic(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let size = |kb_base| Suffixes::Size { kb_base };
    for suffixes in [Suffixes::Plain, Suffixes::Time, size(KbBase::Binary), size(KbBase::Decimal)] {
        let value = evaluate(&text, suffixes);
        let _ = rewrite(&text, suffixes);
        if let Ok(value) = value {
            let within = format!("({text})");
            let rewritten = rewrite(&within, suffixes).expect("an expression in parentheses");
            let number = rewritten.strip_suffix("us").unwrap_or(&rewritten);
            assert_eq!(number.parse(), Ok(value), "{text:?}");
        }
    }
}

fn parse_files(arguments: &[&str], files: &[(&str, &[u8])]) -> Parsed {
    let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
    let files: HashMap<&str, &[u8]> = files.iter().copied().collect();
    parse(&arguments, &World { files: &files, host: &Nowhere, flags: &[FIO, OURS] })
}

/// What prints reads back as the same job.
pub fn reads_back(name: &str, spec: &JobSpec) {
    let Ok(text) = print(name, spec) else { return };
    let again = parse_files(&["j.fio"], &[("j.fio", text.as_bytes())]);
    let described: Vec<String> = again.notices.iter().map(|n| n.diagnostic.to_string()).collect();
    let [job] = &again.jobs[..] else {
        panic!("{text:?} is {} jobs: {described:?}", again.jobs.len())
    };
    assert_eq!(job.name, name, "{text}");
    for row in iosonde_spec::all().filter(|row| row.name != "name") {
        assert_eq!(
            job.spec.show(row.name),
            spec.show(row.name),
            "{}: {text}{described:?}",
            row.name
        );
    }
    let taken = engine_options::rows(spec.engine.ioengine.get().name());
    for option in spec.private().iter().filter(|o| taken.iter().any(|row| row.name == o.name)) {
        assert_eq!(job.spec.show(option.name), spec.show(option.name), "{}", option.name);
    }
}

/// No variables; a small machine.
struct Nowhere;

impl Host for Nowhere {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        if name == "BS" { Ok("8k".to_owned()) } else { Err(VarError::NotPresent) }
    }
    fn processors(&self) -> u64 {
        2
    }
    fn page_bytes(&self) -> u64 {
        4096
    }
    fn memory_mib(&self) -> u64 {
        1024
    }
}
