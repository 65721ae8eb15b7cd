//! Command lines and job files to jobs: which jobs, with which options, from where.

use std::collections::HashMap;

mod common;

use common::{FixtureHost, shell_words};
use iosonde_options::{Level, Origin};
use iosonde_spec::cli::flag_table::{FIO, OURS};
use iosonde_spec::cli::flags::InfoRequest;
use iosonde_spec::cli::{Parsed, ParsedJob, World, parse};

fn parsed(line: &str, files: &[(&'static str, &'static str)]) -> Parsed {
    let arguments = shell_words(line);
    let files: HashMap<&str, &str> = files.iter().copied().collect();
    parse(&arguments, &World { files: &files, host: &FixtureHost, flags: &[FIO, OURS] })
}

fn file(text: &'static str) -> Parsed {
    parsed("a.fio", &[("a.fio", text)])
}

fn names(parsed: &Parsed) -> Vec<&str> {
    parsed.jobs.iter().map(|job| job.name.as_str()).collect()
}

fn show(job: &ParsedJob, option: &str) -> String {
    job.spec.show(option).unwrap_or_else(|| panic!("no option {option}"))
}

/// `globals | own`, each option as it was written.
fn asked(job: &ParsedJob) -> String {
    let described = |asked: &[iosonde_spec::TypedOption]| {
        let each = asked.iter().map(|asked| match &asked.value {
            Some(value) => format!("{}={value}", asked.name),
            None => asked.name.to_string(),
        });
        each.collect::<Vec<_>>().join(" ")
    };
    format!("{} | {}", described(&job.globals), described(&job.typed))
}

fn errors(parsed: &Parsed) -> Vec<String> {
    let errors = parsed.notices.iter().filter(|notice| notice.is_error());
    errors.map(|notice| notice.diagnostic.to_string()).collect()
}

fn fio_says(parsed: &Parsed) -> Vec<&str> {
    parsed.notices.iter().flat_map(|notice| &notice.fio).map(String::as_str).collect()
}

#[test]
fn options_before_the_first_name_are_for_every_job() {
    let parsed = parsed("--bs=8k --name=x --size=1m --name=y --bs=2k --blocksize=1k", &[]);
    assert_eq!(names(&parsed), ["x", "y"]);
    assert_eq!(asked(&parsed.jobs[0]), "bs=8k | name=x size=1m");
    assert_eq!(asked(&parsed.jobs[1]), "bs=8k | name=y bs=2k bs=1k");
    assert_eq!(show(&parsed.jobs[0], "size"), "1048576");
    assert_eq!(parsed.jobs[1].origin, Origin::CommandLine { index: 4 });
}

#[test]
fn a_later_global_is_for_later_jobs_only() {
    let parsed = file("[global]\nbs=1k\n[a]\n[global]\nbs=2k\niodepth=4\n[b]\nbs=3k\n");
    assert_eq!(asked(&parsed.jobs[0]), "bs=1k | ");
    assert_eq!(asked(&parsed.jobs[1]), "bs=1k bs=2k iodepth=4 | bs=3k");
    assert_eq!(show(&parsed.jobs[1], "iodepth"), "4");
}

#[test]
fn jobs_of_the_command_line_come_before_those_of_files() {
    let files = [("a.fio", "[a]\n[b]\n"), ("b.fio", "[c]\n[d]\n")];
    let parsed = parsed("--bs=8k a.fio --name=x --size=1m b.fio", &files);
    assert_eq!(names(&parsed), ["x", "a", "b", "c", "d"]);
    // The defaults of the command line are for the first file, not for the second.
    assert_eq!(asked(&parsed.jobs[1]), "bs=8k | ");
    assert_eq!(asked(&parsed.jobs[3]), " | ");
}

#[test]
fn the_first_job_of_a_second_file_waits_for_all_before() {
    let files = [("a.fio", "[a]\n[b]\n"), ("b.fio", "[global]\nbs=1k\n[c]\n[d]\n")];
    let parsed = parsed("a.fio b.fio", &files);
    let waits: Vec<String> = parsed.jobs.iter().map(|job| show(job, "stonewall")).collect();
    assert_eq!(waits, ["0", "0", "1", "0"]);
    let begins: Vec<bool> = parsed.jobs.iter().map(|job| job.begins_file).collect();
    assert_eq!(begins, [false, false, true, false]);
    assert!(matches!(parsed.jobs[2].spec.origin("stonewall"), Some(Origin::Implied { .. })));
    assert_eq!(asked(&parsed.jobs[2]), "bs=1k | ");
}

#[test]
fn only_the_sections_asked_for_become_jobs() {
    let files = [("a.fio", "[global]\nbs=1k\n[a]\n[b]\n[global]\nbs=2k\n[c]\n")];
    let parsed = parsed("--section=a --section c a.fio", &files);
    assert_eq!(names(&parsed), ["a", "c"]);
    assert_eq!(show(&parsed.jobs[1], "bs"), "2048");
}

#[test]
fn a_section_that_no_file_has_is_reported() {
    let parsed = parsed("--section=a --section=z a.fio", &[("a.fio", "[a]\n")]);
    assert_eq!(names(&parsed), ["a"]);
    assert_eq!(parsed.notices[0].diagnostic.message, "no job file has a section [z]");
    assert!(!parsed.is_refused());
}

#[test]
fn an_option_before_a_file_that_sets_it_has_no_effect_and_says_so() {
    let warnings = |line: &str, text: &'static str| -> Vec<String> {
        let notices = parsed(line, &[("a.fio", text)]).notices;
        assert!(notices.iter().all(|notice| notice.fio.is_empty() && !notice.is_error()));
        notices.into_iter().map(|notice| notice.diagnostic.message).collect()
    };
    let file = "[global]\nruntime=60\n[a]\nbs=8k\n[b]\n";
    let both = warnings("a.fio --runtime=3 --bs=4k --size=1m", file);
    assert_eq!(
        both,
        ["has no effect: a.fio sets it, too", "has no effect on job a: a.fio sets it, too"]
    );
    assert_eq!(warnings("a.fio --size=1m", file), [""; 0]);
    assert_eq!(warnings("--name=x --runtime=3 a.fio", file), [""; 0]);
}

#[test]
fn name_inside_a_section_renames_the_job() {
    let parsed = file("[a]\nname=b\n[c]\n");
    assert_eq!(names(&parsed), ["b", "c"]);
    assert_eq!(asked(&parsed.jobs[0]), " | name=b");
}

#[test]
fn each_option_keeps_its_place() {
    let files = [("d/a.fio", "[a]\n  bs = 4k\ninclude b\n"), ("d/b", "\nsize=1m")];
    let parsed = parsed("d/a.fio", &files);
    let place = |option| parsed.jobs[0].spec.origin(option).unwrap().to_string();
    assert_eq!(place("bs"), "d/a.fio:2:3");
    assert_eq!(place("size"), "d/b:2:1");
    assert_eq!(parsed.jobs[0].typed[0].value.as_deref(), Some(" 4k"));
}

#[test]
fn kb_base_counts_before_the_sizes_above_it() {
    let parsed = file("[a]\nsize=4k\nkb_base=1000\nfilename=x\nbs=1k\n");
    assert_eq!(show(&parsed.jobs[0], "size"), "4000");
    assert_eq!(asked(&parsed.jobs[0]), " | kb_base=1000 size=4k bs=1k filename=x");
}

#[test]
fn a_kib_of_1000_is_noted_wherever_the_parser_warns_of_it() {
    let noted = |options: &str| {
        let parsed = parsed(&format!("--name=j --size=4m {options}"), &[]);
        let warns =
            |option: &str| parsed.notices.iter().any(|n| n.diagnostic.to_string().contains(option));
        let noted = parsed.jobs[0].spec.iec_as_si();
        assert!(noted.iter().all(|text| warns(text.split('=').next().unwrap())), "{options}");
        noted
    };
    for option in ["bs", "bssplit", "ba", "rate_min", "ramp_size", "zonerange", "zonesize"] {
        let text = if option == "bssplit" { "4KiB/100" } else { "4KiB" };
        let typed = format!("{option}={text}");
        assert_eq!(noted(&format!("--rw=randread --{typed}")), [typed.as_str()]);
        assert_eq!(noted(&format!("--kb_base=1000 --{typed}")), [""; 0], "a KiB of 1024");
    }
    assert_eq!(noted("--bs=4KiB --bs=4k"), [""; 0], "the last one holds");
    assert_eq!(noted("--name=k --bs=4k --filename=4KiB"), [""; 0], "no size");
}

#[test]
fn an_engines_options_may_stand_before_it_in_a_file_but_not_on_the_command_line() {
    let parsed_file = file("[a]\nhipri=1\nsize=1m\nioengine=io_uring\n");
    assert_eq!(errors(&parsed_file), [""; 0]);
    assert_eq!(asked(&parsed_file.jobs[0]), " | size=1m ioengine=io_uring hipri=1");
    let late = parsed("--name=a --hipri=1 --ioengine=io_uring", &[]);
    assert!(fio_says(&late).contains(&"fio: unrecognized option '--hipri=1'"));
    let early = parsed("--ioengine=io_uring --name=a --hipri", &[]);
    assert_eq!(errors(&early), [""; 0]);
}

#[test]
fn an_engines_options_end_with_its_job() {
    let parsed = parsed("--name=a --ioengine=io_uring --hipri --name=b --hipri", &[]);
    assert_eq!(fio_says(&parsed)[0], "fio: unrecognized option '--hipri'");
    assert_eq!(parsed.notices[0].diagnostic.origin, Origin::CommandLine { index: 5 });
}

#[test]
fn arithmetic_is_worked_out_in_numbers_and_left_alone_in_names() {
    let parsed = file("[a]\nsize=(4k*10)\nfilename=f(1+1)\n");
    assert_eq!(show(&parsed.jobs[0], "size"), "40960");
    assert_eq!(show(&parsed.jobs[0], "filename"), "f(1+1)");
    assert_eq!(asked(&parsed.jobs[0]), " | size=(4k*10) filename=f(1+1)");
}

#[test]
fn an_option_that_takes_a_value_eats_the_next_argument() {
    let parsed = parsed("--name=x --direct --rw=write", &[]);
    assert_eq!(fio_says(&parsed), ["fio: failed parsing direct=--rw=write"]);
}

#[test]
fn every_error_is_reported_and_none_hides_another() {
    let parsed = file(
        "bs=4k\n[one]\ncolour=blue\niodepth=0\ninclude no\n[two]\nsize=large\niodeph=4\n[three]\n",
    );
    let described = errors(&parsed);
    let places: Vec<&str> = described.iter().map(|e| e.split(": ").next().unwrap()).collect();
    let wanted = ["a.fio:1:1", "a.fio:5:1", "a.fio:4:1", "a.fio:3:1", "a.fio:7:1", "a.fio:8:1"];
    assert_eq!(places, wanted);
    assert_eq!(names(&parsed), ["one", "two", "three"]);
    assert!(parsed.is_refused());
}

#[test]
fn fios_words_for_a_bad_job_file() {
    let parsed = file("[a]\niodeph=3\nbs=0\nzzzzzz=1\nblocksize\n");
    assert_eq!(
        fio_says(&parsed),
        [
            "bs: min value out of range: 0 (1 min)",
            "fio: failed parsing bs=0",
            "Option blocksize requires an argument",
            "fio: failed parsing blocksize",
            "Bad option <iodeph=3>",
            "Did you mean iodepth?",
            "Bad option <zzzzzz=1>",
            "fio: job a dropped",
        ]
    );
}

#[test]
fn fios_words_for_a_bad_command_line() {
    let described = |line| fio_says(&parsed(line, &[])).join("\n");
    assert_eq!(
        described("--iodeth=3"),
        "fio: unrecognized option '--iodeth=3'\nfio: unrecognized option '--iodeth=3'\nDid you mean iodepth?"
    );
    assert_eq!(
        described("--name=x --iodepth"),
        "fio: option '--iodepth' requires an argument\nfio: unrecognized option '--iodepth'\nDid you mean iodepth?"
    );
    assert_eq!(described("--name="), "fio: option name requires an argument");
    assert_eq!(described("no.fio"), "fio: unable to open 'no.fio' job file");
    let unknown = described("--output-format=xml");
    assert!(unknown.starts_with("fio: unknown output format \"xml\": use normal, "), "{unknown}");
    assert!(unknown.ends_with("\nfio: failed parsing output-format"), "{unknown}");
}

#[test]
fn a_question_ends_the_reading() {
    let asked_first = parsed("--version --nonsense no.fio", &[]);
    assert_eq!(asked_first.flags.info, Some(InfoRequest::Version));
    assert!(asked_first.notices.is_empty());
    let asked_last = parsed("--nonsense --cmdhelp=bs", &[]);
    assert_eq!(asked_last.notices.len(), 1);
    assert!(asked_last.is_refused());
}

#[test]
fn readonly_refuses_what_would_write_wherever_it_stands() {
    for line in ["--readonly --name=x --rw=write", "--name=x --rw=write --readonly"] {
        let parsed = parsed(line, &[]);
        assert_eq!(
            fio_says(&parsed),
            [
                "fio: job <x> has write or trim bit set, but fio is in read-only mode",
                "fio: failed parsing rw=write",
            ]
        );
    }
    for direction in ["trim", "randtrim", "rw", "readwrite", "randrw", "trimwrite", "randwrite:8"] {
        let parsed = parsed(&format!("--readonly --name=x --rw={direction}"), &[]);
        assert!(parsed.is_refused(), "{direction}");
    }
    for direction in ["read", "randread", "randread:8", "read:4k"] {
        let parsed = parsed(&format!("--readonly --name=x --rw={direction}"), &[]);
        assert_eq!(errors(&parsed), [""; 0], "{direction}");
    }
}

#[test]
fn a_global_that_writes_may_be_overridden_under_readonly() {
    let files = [("a.fio", "[global]\nrw=write\n[a]\nrw=read\n[b]\n")];
    let parsed = parsed("--readonly a.fio", &files);
    assert_eq!(errors(&parsed).len(), 1);
    assert_eq!(parsed.notices[0].fio[2], "fio: job b dropped");
}

#[test]
fn a_warning_is_no_error_whatever_is_asked() {
    let files = [("a.fio", "[a\nsize=4k\n")];
    for line in ["a.fio", "--warnings-fatal a.fio"] {
        let parsed = parsed(line, &files);
        assert_eq!(parsed.notices[0].diagnostic.level, Level::Warning);
        assert!(!parsed.is_refused(), "whose warnings are fatal is decided by the name called");
    }
}

#[test]
fn what_is_not_supported_stops_with_one_line() {
    let parsed = parsed("--trigger-remote=x a.fio", &[("a.fio", "[a]\n")]);
    assert_eq!(parsed.notices.len(), 1);
    assert!(parsed.is_refused());
    assert!(fio_says(&parsed)[0].starts_with("fio: --trigger-remote is not supported: "));
}

#[test]
fn nothing_asked_is_nothing_wrong() {
    for line in ["", "--parse-only", "--bs=4k", "--"] {
        let parsed = parsed(line, &[]);
        assert!(parsed.jobs.is_empty() && parsed.notices.is_empty(), "{line}");
    }
}

#[test]
fn showcmd_gives_a_line_for_each_file() {
    let files = [("a.fio", "[global]\nblocksize=1k\n[a]\ntime_based\n"), ("e.fio", "")];
    let parsed = parsed("--showcmd a.fio e.fio", &files);
    assert_eq!(parsed.shown, ["fio --bs=1k --name=a --time_based ", ""]);
}

#[test]
fn fios_own_flags_do_not_know_ours() {
    let arguments = ["--color=never".to_string()];
    let files: HashMap<&str, &str> = HashMap::new();
    let world = World { files: &files, host: &FixtureHost, flags: &[FIO] };
    assert!(parse(&arguments, &world).is_refused());
    assert!(!parsed("--color=never", &[]).is_refused());
}

#[test]
fn the_variables_that_a_job_file_refers_to_are_known() {
    let parsed = file("[a]\nbs=${IOSONDE_TEST_BS}\ndescription=${IOSONDE_TEST_MISSING}x\n");
    let variables: Vec<_> = parsed.variables.iter().collect();
    let expected = [("IOSONDE_TEST_BS", Some("8k")), ("IOSONDE_TEST_MISSING", None)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    assert!(variables.iter().copied().eq(expected.iter().map(|(name, value)| (name, value))));
    assert!(file("[a]\nbs=8k\n").variables.is_empty());
}
