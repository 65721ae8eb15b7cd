//! The status line of a run: where it is printed, and where it would be in the way
//! of a document. Beside fio.

use crate::support::{Who, words};
use iosonde_testing::{Folder, has_fio_for_part, skip};
use std::process::Command;

const JOB: &str = "--name=a --ioengine=null --size=1g --rw=randread --rate_iops=500 --time_based \
                   --runtime=2";

/// Our program, and fio where it is installed, all at the same time: who, the options, and what
/// came on standard output.
fn standard_outputs(options: &[&'static str], terminal: bool) -> Vec<(Who, &'static str, String)> {
    let whom: &[Who] = if has_fio_for_part() { &[Who::AsFio, Who::Fio] } else { &[Who::AsFio] };
    let all = whom.iter().flat_map(|&who| options.iter().map(move |&options| (who, options)));
    let running: Vec<_> = all
        .map(|(who, options)| {
            std::thread::spawn(move || {
                let folder = Folder::new("live");
                let line = format!("{JOB} {options}");
                let text = if terminal {
                    on_a_terminal(who, &folder, &line)
                } else {
                    let ran = who.run(&folder, &words(&line));
                    assert_eq!(ran.stderr, "", "{ran:?}");
                    ran.well().stdout
                };
                (who, options, text)
            })
        })
        .collect();
    running.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// With all of the program's streams on a new terminal, by script(1).
fn on_a_terminal(who: Who, folder: &Folder, line: &str) -> String {
    let program = who.command(folder).get_program().to_owned();
    let mut command = Command::new("script");
    let line = format!("{} {line}", program.to_str().unwrap());
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{who:?} {line}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether fio shows the line with these options, wherever output goes.
const PLACES: [(&str, bool); 7] = [
    ("", true),
    ("--output-format=normal,json", true),
    ("--output=x", true),
    ("--output=x --output-format=json", true),
    ("--output-format=json", false),
    ("--output-format=json,terse", false),
    ("--minimal", false),
];

#[test]
fn the_line_is_asked_for_and_a_document_stays_alone_as_in_fio() {
    let options = [
        "--eta=always",
        "--eta=always --output-format=normal,json",
        "--eta=always --output=x",
        "--eta=always --output=x --output-format=json",
        "--eta=always --output-format=json",
        "--eta=always --output-format=json,terse",
        "--eta=always --minimal",
        "--eta=auto",
        "--eta=never",
    ];
    for (who, options, text) in standard_outputs(&options, false) {
        let rest = options.strip_prefix("--eta=always");
        let expected = rest
            .is_some_and(|rest| PLACES.iter().any(|&(place, shown)| place == rest.trim() && shown));
        assert_eq!(text.contains("Jobs: "), expected, "{who:?} {options}: {text}");
    }
}

#[test]
fn a_terminal_shows_the_line_also_where_the_report_goes_to_a_file() {
    if Command::new("script").arg("--version").output().is_err() {
        skip!("script is not installed (apt-get install bsdutils)");
    }
    let options = PLACES.map(|(options, _)| options);
    for (who, options, text) in standard_outputs(&options, true) {
        let expected = PLACES.iter().any(|&(place, shown)| place == options && shown);
        assert_eq!(text.contains("Jobs: "), expected, "{who:?} {options}: {text}");
    }
}

#[test]
fn the_line_shows_the_limits_of_jobs_and_the_report_follows_it() {
    for (who, options, text) in standard_outputs(&["--eta=always"], false) {
        assert!(text.contains("Jobs: 1 (f="), "{who:?} {options}: {text}");
        assert!(text.contains("), 0-500 IOPS"), "{who:?} {options}: {text}");
        let (_, after) = text.rsplit_once('\r').unwrap();
        assert!(after.starts_with("\na: (groupid=0"), "{who:?} {options}: {after}");
    }
}
