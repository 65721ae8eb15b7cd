//! The job language beside the installed fio: what is taken, what is refused, how it is shown.
//!
//! fio runs with `--parse-only` or `--showcmd` and does no I/O. Our standard is fio 3.42; where
//! the installed one differs from it, or we differ on purpose, the case and the reason stand in
//! a list below, and a case that no longer differs fails the test too.

mod common;

use std::process::{Command, Output, Stdio};

use common::{command_lines, corpus, job_files, parse_in_jobs};
use iosonde_spec::cli::Parsed;

/// Taken by us, refused by the installed fio.
const WE_TAKE: &[(&str, &str)] = &[
    ("arithmetic.fio", "Debian's fio is built without arithmetic; 3.42 with lex and yacc has it"),
    ("keyword-in-path.fio", "fio pipes a path with a keyword through bc, which cannot read it"),
    ("blank-before-word.fio", "nobody means the blank in `rw = read`; fio takes it before numbers"),
    ("engine-external.fio", "parsing opens no engine; the plan looks for its file"),
    ("--name=x --crctest=nonesuch", "the program knows the checksums and refuses it"),
];

/// IncludeRefused by us, taken by the installed fio.
const WE_REFUSE: &[(&str, &str)] = &[
    ("bad/bssplit-over.fio", "fio cuts shares beyond 100 % without a word"),
    ("bad/bssplit-word.fio", "fio reads a share that is no number as none"),
    ("bad/cpus-word.fio", "fio reads a word as processor 0"),
    ("bad/ignore-error.fio", "fio reads an error it does not know as error 0"),
    ("--name=x --iodepth=-1 --size=4m", "fio calls it out of range, and goes on with it"),
];

/// Job files that both accept, with different `--showcmd` lines.
const SHOWN_OTHERWISE: &[(&str, &str)] = &[
    ("aliases.fio", "allrandrepeat is an alias of randrepeat in 3.42"),
    ("logs.fio", "log_max_value is an alias of log_window_value in 3.42"),
    (
        "fsync-every.fio",
        "fio lists the words of sync_file_range amid the line, and takes the value",
    ),
];

/// Sentences of fio that we do not say: in which case, how they begin, why.
const SAID_OTHERWISE: &[(&str, &str, &str)] = &[
    ("bad/binary.fio", "fio: option <", "not text: we say that instead"),
    ("bad/not-utf8.fio", "fio: ", "not text: we say that instead"),
    ("bad/line-too-long.fio", "", "fio takes the rest of a long line for the next line"),
    ("bad/include-", "fio: option <size=4m> outside", "fio loses the section over a bad include"),
    ("bad/include-cycle.fio", "Error 1", "fio says it for each file around the one that failed"),
    ("bad/include-cycle.fio", "fio: unable", "fio goes round until it may open no more files"),
    ("bad/include-itself.fio", "No new sections", "fio finds the header before the cycle"),
    ("--io=3", "fio: option '--io=3' is ambiguous", "the names are the same, in another order"),
    ("--profile=nonesuch", "fio: profile", "profiles are not supported"),
    ("--crctest=nonesuch", "fio: unknown hash", "speeds of checksums are not measured"),
    (
        "--ioengine=nonesuch",
        "fio: failed to load",
        "we say which option failed, as a job file's does",
    ),
];

/// How the sentences begin that programs look for.
const SENTENCES: &[&str] = &["Bad option", "fio: ", "Option ", "No new sections", "Error 1"];

#[test]
fn command_lines_are_taken_and_refused_as_by_fio() {
    let Some(fio) = Fio::installed() else { return };
    let files = ["commands.txt", "habits.txt", "refused.txt"];
    let cases: Vec<Vec<String>> =
        files.into_iter().flat_map(command_lines).map(without_output).collect();
    fio.compare(&cases, 0);
}

/// fio opens the output file while it parses, and ours leaves that to the program.
fn without_output(line: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = line.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--output" => drop(arguments.next()),
            text if text.starts_with("--output=") => {}
            _ => kept.push(argument),
        }
    }
    kept
}

#[test]
fn job_files_are_taken_and_refused_as_by_fio() {
    let Some(fio) = Fio::installed() else { return };
    let bad = job_files("jobs/bad").into_iter().map(|name| format!("bad/{name}"));
    // What we take goes together: if fio takes files in one run, it takes each.
    let (good, doubtful): (Vec<String>, Vec<String>) =
        job_files("jobs").into_iter().chain(bad).partition(|file| {
            !WE_TAKE.iter().any(|(listed, _)| listed == file)
                && !parse_in_jobs(&["--parse-only", file]).is_refused()
        });
    let taken = |files: &&[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        fio.run("--parse-only", &files).status.success()
    };
    let (together, alone): (Vec<_>, Vec<_>) = good.chunks(16).partition(taken);
    assert!(together.concat().len() > 60, "{} files are taken together", together.concat().len());
    let cases = alone.concat().into_iter().chain(doubtful).map(|file| vec![file]);
    fio.compare(&cases.collect::<Vec<_>>(), together.concat().len());
}

#[test]
fn job_files_show_as_the_same_command_line() {
    let Some(fio) = Fio::installed() else { return };
    let listed = |file: &str| [WE_TAKE, SHOWN_OTHERWISE].concat().iter().any(|(f, _)| *f == file);
    let files: Vec<String> = job_files("jobs").into_iter().filter(|file| !listed(file)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    // One run shows them all, a line each.
    let theirs = fio.shown(&files);
    let ours = shown(&files);
    assert_eq!(theirs.lines().count(), files.len());
    let pairs = ours.lines().zip(theirs.lines()).zip(&files);
    let wrong = pairs.filter(|((ours, theirs), _)| ours != theirs);
    let wrong: Vec<String> =
        wrong.map(|((o, t), f)| format!("{f}\n fio:  {t}\n ours: {o}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (file, reason) in SHOWN_OTHERWISE {
        assert_ne!(shown(&[file]), fio.shown(&[file]), "{file} differs no more: {reason}");
    }
}

#[test]
fn several_files_and_sections_show_as_the_same_command_lines() {
    let Some(fio) = Fio::installed() else { return };
    let cases: &[&[&str]] = &[
        &["several-globals.fio", "name-inside.fio"],
        &["--section=b", "several-globals.fio"],
        &["--section=a", "--section=c", "several-globals.fio"],
        &["--section=nowhere", "several-globals.fio"],
        &["--bs=32k", "several-globals.fio", "several-globals.fio"],
        &["--bs=32k", "simple-read.fio"],
        &["--bs=32k", "several-globals.fio", "--name=x", "--bs=9k", "--size=4k"],
        &["empty.fio", "only-global.fio", "simple-read.fio"],
    ];
    for case in cases {
        assert_eq!(shown(case), fio.shown(case), "{case:?}");
    }
}

fn shown(arguments: &[&str]) -> String {
    let parsed = parse_in_jobs(&[&["--showcmd"], arguments].concat());
    parsed.shown.iter().map(|line| format!("{line}\n")).collect()
}

/// The installed fio.
struct Fio;

impl Fio {
    fn installed() -> Option<Fio> {
        iosonde_testing::has_fio().then_some(Fio)
    }

    fn run(&self, flag: &str, arguments: &[&str]) -> Output {
        // Over a cycle of includes fio ends when it may open no more files, or
        // has no more stack, if that is first.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 256; exec fio \"$@\"", "fio", flag]);
        command.args(arguments).current_dir(corpus("jobs"));
        command.envs(common::VARIABLES).stdin(Stdio::null());
        command.output().expect("fio is installed")
    }

    fn shown(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run("--showcmd", arguments).stdout).into_owned()
    }

    /// Every case given to both: whether it is taken, and what is said of it.
    /// So many others were compared before.
    fn compare(&self, cases: &[Vec<String>], before: usize) {
        // fio takes 0.15 s to start, whatever it is asked: as many at once as there are processors.
        let at_once = std::thread::available_parallelism().map_or(1, |n| n.get());
        let share = cases.len().div_ceil(at_once);
        let differences: Vec<Difference> = std::thread::scope(|scope| {
            let each =
                |cases: &[Vec<String>]| cases.iter().flat_map(|c| self.differences(c)).collect();
            let threads: Vec<_> = cases
                .chunks(share)
                .map(|cases| scope.spawn(move || -> Vec<Difference> { each(cases) }))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let listed = |case: &str| [WE_TAKE, WE_REFUSE].concat().iter().any(|(c, _)| *c == case);
        let mut wrong: Vec<String> = Vec::new();
        for (case, said) in &differences {
            let expected = if said.starts_with("by fio") { listed(case) } else { false };
            if !expected {
                wrong.push(format!("{case}: {said}"));
            }
        }
        for (case, reason) in [WE_TAKE, WE_REFUSE].concat() {
            let here = cases.iter().any(|arguments| arguments.join(" ") == case);
            let differs =
                differences.iter().any(|(c, said)| c == case && said.starts_with("by fio"));
            if here && !differs {
                wrong.push(format!("{case}: no difference any more ({reason})"));
            }
        }
        assert!(before + cases.len() > 100, "only {} cases", cases.len());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn differences(&self, arguments: &[String]) -> Vec<Difference> {
        let case = arguments.join(" ");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let theirs = self.run("--parse-only", &arguments);
        let ours = parse_in_jobs(&[&["--parse-only"], &arguments[..]].concat());
        let stderr = String::from_utf8_lossy(&theirs.stderr).into_owned();
        match (theirs.status.success(), !ours.is_refused()) {
            (true, true) => Vec::new(),
            (false, true) => vec![(case, format!("by fio refused: {stderr}"))],
            (true, false) => vec![(case, format!("by fio taken: {}", errors(&ours)))],
            (false, false) => {
                let unsaid = unsaid(&case, &stderr, &ours);
                unsaid.into_iter().map(|said| (case.clone(), said)).collect()
            }
        }
    }
}

/// A case, and how it differs.
type Difference = (String, String);

/// The sentences of fio that are not among ours. fio stops at its first error where we go on,
/// so ours may be more.
fn unsaid(case: &str, stderr: &str, ours: &Parsed) -> Vec<String> {
    let ours: Vec<&str> = ours.notices.iter().flat_map(|n| &n.fio).map(String::as_str).collect();
    let listed = |line: &str| {
        SAID_OTHERWISE.iter().any(|(c, start, _)| case.contains(c) && line.starts_with(start))
    };
    let sentence = |line: &&str| SENTENCES.iter().any(|start| line.starts_with(start));
    let missing =
        stderr.lines().filter(sentence).filter(|line| !ours.contains(line) && !listed(line));
    missing.map(|line| format!("fio says {line}, we say {ours:?}")).collect()
}

fn errors(ours: &Parsed) -> String {
    let errors = ours.notices.iter().filter(|notice| notice.is_error());
    errors.map(|n| n.diagnostic.to_string()).collect::<Vec<_>>().join("; ")
}
