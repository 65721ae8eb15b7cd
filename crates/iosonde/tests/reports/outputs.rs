//! What the program prints: fio's formats beside the installed fio's, and what
//! our own personality adds.

use crate::support::{Who, at_once, with, words};
use iosonde_testing::{Folder, has_fio, has_fio_for_part, json_shape};
use serde_json::Value;

/// Jobs with reports that have every possible part.
const JOBS: &[&str] = &[
    "--ioengine=null --rw=randrw --size=1m",
    "--ioengine=null --rw=trimwrite --size=1m",
    "--ioengine=libaio --iodepth=4 --rw=write --size=256k --fsync=8 --slat_percentiles=1",
    "--ioengine=psync --rw=read --size=256k --lat_percentiles=1 --clat_percentiles=0",
    "--ioengine=psync --rw=rw --size=256k --gtod_reduce=1",
    "--ioengine=io_uring --rw=read --size=256k --disable_clat=1",
    "--ioengine=libaio --rw=read --size=256k --disable_slat=1",
    "--ioengine=null --rw=read --size=1m --disable_lat=1 --percentile_list=50:99:99.9999",
    "--ioengine=psync --rw=write --size=256k --percentile_list=99:1:50 --disable_clat=1 --fsync=8",
    "--ioengine=psync --rw=read --size=256k --percentile_list=99:1:50",
    "--ioengine=libaio --rw=randrw --size=256k --fsync=8 --lat_percentiles=1 --gtod_reduce=1",
    "--ioengine=null --rw=randrw --size=1m --unified_rw_reporting=mixed",
    "--ioengine=null --rw=randrw --size=1m --unified_rw_reporting=both",
    "--ioengine=null --rw=read --size=1m --numjobs=3",
    "--ioengine=null --rw=read --size=1m --numjobs=3 --group_reporting",
    "--ioengine=null --rw=read --size=1m --continue_on_error=all --description=words",
    "--ioengine=null --rw=read --size=1m --disk_util=0 --name=w --ioengine=null --size=4k",
    "--filename=/dev/full --rw=write --bs=4k --size=64k",
];

/// Keys that fio 3.42 has and 3.33 has not.
const SINCE_3_33: [&str; 5] = [
    "/job_start:",
    "/latency_target_ns:",
    "/latency_window_us:",
    "/read_sectors:",
    "/write_sectors:",
];

fn shape_of(document: &Value) -> Vec<String> {
    // Which options were given, and which latencies were met, is no matter of form.
    let mut shapes = json_shape(document, &["options", "/bins"]);
    shapes.retain(|shape| !SINCE_3_33.iter().any(|key| shape.contains(key)));
    shapes
}

fn first_difference(ours: &[String], theirs: &[String]) -> Option<String> {
    let at = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let described =
        |of: &[String]| format!("{:?}", &of[at.saturating_sub(1)..of.len().min(at + 2)]);
    (at < ours.len().max(theirs.len()))
        .then(|| format!("after {at} keys: ours {} fio {}", described(ours), described(theirs)))
}

/// Options as they are reported, without those given bare: fio 3.33 leaves them out.
fn options(document: &Value) -> Vec<Value> {
    let jobs = document["jobs"].as_array().unwrap().iter().map(|job| &job["job options"]);
    let all = std::iter::once(&document["global options"]).chain(jobs);
    all.cloned()
        .map(|mut options| {
            if let Some(map) = options.as_object_mut() {
                map.retain(|_, value| value != "");
            }
            options
        })
        .collect()
}

/// In what the documents of the two programs about one job differ.
fn document_differs(format: &str, job: &str) -> Vec<String> {
    let arguments = with(&format!("--output-format={format} --name=v"), job);
    let [ours, theirs] = [Who::AsFio, Who::Fio].map(|who| {
        let ran = who.run(&Folder::new("outputs"), &arguments);
        (ran.code, ran.json())
    });
    let mut wrong = Vec::new();
    if let Some(difference) = first_difference(&shape_of(&ours.1), &shape_of(&theirs.1)) {
        wrong.push(format!("{job}\n  {difference}"));
    }
    if options(&ours.1) != options(&theirs.1) || ours.0 != theirs.0 {
        let described = |(code, document): &(Option<i32>, Value)| {
            format!("exit {code:?} {:?}", options(document))
        };
        wrong.push(format!("{job}\n  ours {}\n  fio  {}", described(&ours), described(&theirs)));
    }
    wrong
}

fn compare_documents(format: &str) {
    if !has_fio() {
        return;
    }
    let wrong: Vec<String> = at_once(JOBS, |job| document_differs(format, job)).concat();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn json_has_the_keys_the_order_the_types_and_the_options_of_fio() {
    compare_documents("json");
}

#[test]
fn json_plus_has_them_too() {
    compare_documents("json+");
}

#[test]
fn job_files_tell_their_options_as_fio_does() {
    if !has_fio() {
        return;
    }
    let job = "[global]\nioengine=null\nblocksize=8k\nsize=1m\n\n\
        [first]\nreadwrite=randread\n[second]\nrw=write\nbs=4k\nstonewall\n";
    let [ours, theirs] = [Who::AsFio, Who::Fio].map(|who| {
        let folder = Folder::new("outputs");
        folder.write("job.fio", job);
        who.run(&folder, &words("job.fio --output-format=json")).well().json()
    });
    assert_eq!(options(&ours), options(&theirs));
    assert_eq!(shape_of(&ours), shape_of(&theirs));
}

#[test]
fn several_formats_come_in_the_order_terse_json_text() {
    for list in ["normal,json,terse", "terse,normal,json"] {
        let folder = Folder::new("outputs");
        let job = with("--name=v --ioengine=null --size=64k", &format!("--output-format={list}"));
        let ran = Who::AsFio.run(&folder, &job).well();
        let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text} in {ran:?}"));
        assert!(at("\n3;fio-3.42;v;0;0;") < at("\n{\n"), "{list}");
        assert!(at("\n}\n") < at("\nv: (groupid=0, jobs=1): err= 0"), "{list}");
    }
}

#[test]
fn the_last_word_on_formats_holds_as_with_fio() {
    let lines = [
        ("--append-terse", "terse text"),
        ("--append-terse --output-format=json", "json"),
        ("--append-terse --output-format=normal", "text"),
        ("--output-format=json --append-terse", "terse json"),
        ("--minimal --output-format=json", "json"),
        ("--output-format=json --minimal", "terse"),
        ("--output-format=json,json+", "json"),
    ];
    for who in if has_fio_for_part() { &[Who::AsFio, Who::Fio][..] } else { &[Who::AsFio] } {
        for (options, expected) in lines {
            let job = with("--name=v --ioengine=null --size=64k", options);
            let ran = who.run(&Folder::new("outputs"), &job).well();
            let begins = |form: &str| ran.stdout.lines().any(|line| line.starts_with(form));
            let forms = [("terse", "3;fio-3."), ("json", "{"), ("text", "v: (groupid=0")];
            let described =
                forms.into_iter().filter(|(_, form)| begins(form)).map(|(name, _)| name);
            assert_eq!(described.collect::<Vec<_>>().join(" "), expected, "{who:?} {options}");
        }
    }
}

#[test]
fn a_report_goes_to_a_file_and_nothing_elsewhere() {
    for who in [Who::AsFio, Who::Native] {
        for format in ["json", "json+", "terse", "normal"] {
            let folder = Folder::new("outputs");
            let job =
                format!("--name=v --ioengine=null --size=64k --output=o --output-format={format}");
            let ran = who.run(&folder, &words(&job)).well();
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{who:?} {format}");
            assert!(folder.read("o").len() > 500, "{who:?} {format}");
        }
    }
}

#[test]
fn a_file_for_the_report_that_cannot_be_written_ends_with_a_reason() {
    let folder = Folder::new("outputs");
    let ran = Who::AsFio.run(&folder, &words("--name=v --ioengine=null --size=4k --output=no/o"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no/o: No such file or directory"), "{ran:?}");
}

/// A job with a note, a warning's occasion and a layout: much to talk about.
const TALKATIVE: &str = "--name=v --ioengine=psync --iodepth=8 --rw=read --size=64k";

#[test]
fn a_json_document_is_only_json_and_notes_are_in_it() {
    let folder = Folder::new("outputs");
    let ran = Who::AsFio.run(&folder, &with(TALKATIVE, "--output-format=json")).well();
    assert_eq!(ran.stderr, "", "{ran:?}");
    assert!(ran.stdout.starts_with("{\n") && ran.stdout.ends_with("}\n"), "{ran:?}");
    assert!(ran.json().get("iosonde").is_none());
    let ours = Who::Native.run(&folder, &with(TALKATIVE, "--output-format=json")).well();
    assert_eq!(ours.stderr, "", "{ours:?}");
    let document = ours.json();
    let notes = document["iosonde"]["diagnostics"].as_array().unwrap();
    let note = notes[0].as_str().unwrap();
    assert!(note.starts_with("note: ") && note.ends_with("capped at 1"), "{notes:?}");
    assert_eq!(document.as_object().unwrap().keys().next_back().unwrap(), "iosonde");
}

#[test]
fn our_key_is_all_that_our_own_documents_add() {
    let folder = Folder::new("outputs");
    let arguments = with(TALKATIVE, "--output-format=json");
    let mut ours = Who::Native.run(&folder, &arguments).well().json();
    let theirs = Who::AsFio.run(&folder, &arguments).well().json();
    ours.as_object_mut().unwrap().shift_remove("iosonde").unwrap();
    assert_eq!(shape_of(&ours), shape_of(&theirs));
}

/// Every object of a document that has percentiles.
fn latencies<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("percentile") {
                found.push(value);
            }
            members.values().for_each(|member| latencies(member, found));
        }
        Value::Array(members) => members.iter().for_each(|member| latencies(member, found)),
        _ => {}
    }
}

#[test]
fn percentiles_rise_and_stay_within_the_largest_value() {
    let folder = Folder::new("outputs");
    let options = "--name=v --size=256k --rw=randrw --fsync=3 --lat_percentiles=1 \
        --slat_percentiles=1 --output-format=json+ --ioengine=libaio --iodepth=4";
    let document = Who::AsFio.run(&folder, &words(options)).well().json();
    let mut found = Vec::new();
    latencies(&document, &mut found);
    assert_eq!(found.len(), 7, "slat, clat and lat of two directions, and of the syncs");
    for latency in found {
        let values: Vec<u64> = latency["percentile"]
            .as_object()
            .unwrap()
            .values()
            .map(|value| value.as_u64().unwrap())
            .collect();
        assert!(values.is_sorted(), "{latency}");
        assert!(values.last().unwrap() <= &latency["max"].as_u64().unwrap(), "{latency}");
        assert!(values[0] >= latency["min"].as_u64().unwrap(), "{latency}");
    }
}

#[test]
fn bins_hold_as_many_ios_as_were_counted() {
    let folder = Folder::new("outputs");
    let options = "--name=v --ioengine=null --rw=read --size=4m --output-format=json+";
    let document = Who::AsFio.run(&folder, &words(options)).well().json();
    let clat = &document["jobs"][0]["read"]["clat_ns"];
    let bins = clat["bins"].as_object().unwrap();
    let total: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((total, clat["N"].as_u64()), (1024, Some(1024)));
    let places: Vec<u64> = bins.keys().map(|place| place.parse().unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// Names and groups of the jobs of a report.
fn grouping(who: Who, job: &str) -> Vec<(String, u64, u64)> {
    let folder = Folder::new("outputs");
    folder.write("job.fio", job);
    let document = who.run(&folder, &words("job.fio --output-format=json")).well().json();
    let described = |job: &Value| {
        let ios = job["read"]["total_ios"].as_u64().unwrap();
        (job["jobname"].as_str().unwrap().to_owned(), job["groupid"].as_u64().unwrap(), ios)
    };
    document["jobs"].as_array().unwrap().iter().map(described).collect()
}

#[test]
fn jobs_are_grouped_as_fio_groups_them() {
    const GLOBAL: &str = "[global]\nioengine=null\nsize=64k\n";
    let cases = [
        ("[a]\n[b]\n[c]\nstonewall\n[d]\n", vec![("a", 0), ("b", 0), ("c", 1), ("d", 1)]),
        ("[a]\n[b]\nnew_group\n[c]\n", vec![("a", 0), ("b", 1), ("c", 1)]),
        (
            "[a]\nnumjobs=2\n[b]\nnumjobs=2\nstonewall\n",
            vec![("a", 0), ("a", 0), ("b", 1), ("b", 1)],
        ),
        ("group_reporting\n[a]\nnumjobs=2\n[b]\n", vec![("a", 0)]),
        ("group_reporting\n[a]\nnumjobs=2\n[b]\nnew_group\n[c]\n", vec![("a", 0), ("b", 1)]),
        ("group_reporting\n[a]\n[b]\nstonewall\nnumjobs=3\n", vec![("a", 0), ("b", 1)]),
    ];
    for (jobs, expected) in cases {
        let ours = grouping(Who::AsFio, &format!("{GLOBAL}{jobs}"));
        let names: Vec<(&str, u64)> =
            ours.iter().map(|(name, group, _)| (name.as_str(), *group)).collect();
        assert_eq!(names, expected, "{jobs}");
        if has_fio_for_part() {
            assert_eq!(ours, grouping(Who::Fio, &format!("{GLOBAL}{jobs}")), "{jobs}");
        }
    }
}

/// JSON of a job on a file of 1 MiB, called as fio.
fn report_of(options: &str) -> Value {
    let folder = Folder::new("outputs");
    folder.write("f", vec![b'u'; 1 << 20]);
    let job = "--name=v --filename=f --size=1m --output-format=json";
    let ran = Who::AsFio.run(&folder, &with(job, options)).well();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    report["jobs"][0].clone()
}

#[test]
fn the_total_latency_is_that_of_submission_and_completion() {
    for engine in ["libaio", "io_uring", "psync", "sync --rate_iops=100k", "libaio --rate=1g"] {
        for depth in [1, 4] {
            let read =
                &report_of(&format!("--ioengine={engine} --iodepth={depth} --rw=read"))["read"];
            let mean = |kind: &str| read[kind]["mean"].as_f64().unwrap();
            let parts = mean("slat_ns") + mean("clat_ns");
            // Means have six places.
            assert!((mean("lat_ns") - parts).abs() < 1e-4, "{engine} {depth}: {read}");
        }
        let read = &report_of(&format!("--ioengine={engine} --rw=read --number_ios=1"))["read"];
        let most = |kind: &str| read[kind]["max"].as_u64().unwrap();
        assert_eq!(most("lat_ns"), most("slat_ns") + most("clat_ns"), "{engine}: {read}");
    }
}

#[test]
fn syncs_of_a_queue_count_among_the_depths() {
    for (engine, sync) in [("libaio", "fsync"), ("libaio", "fdatasync"), ("io_uring", "fsync")] {
        let job = format!("--ioengine={engine} --iodepth=4 --rw=write --bs=64k --{sync}=1");
        let report = report_of(&job);
        assert_eq!(report["sync"]["total_ios"], 16, "{job}: {report}");
        let shares: f64 = report["iodepth_level"].as_object().unwrap().values().map(share).sum();
        assert!((shares - 200.0).abs() < 0.01, "{job}: {report}");
    }
}

fn share(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn terse_percentiles_are_those_of_lat_where_they_were_asked_for() {
    let job = "--name=v --filename=f --size=1m --bs=1m --rw=read --ioengine=libaio \
        --percentile_list=100 --output-format=terse,json";
    let percentiles = |options: &str| {
        let folder = Folder::new("outputs");
        folder.write("f", vec![b'u'; 1 << 20]);
        let ran = Who::AsFio.run(&folder, &with(job, options)).well();
        let (terse, json) = ran.stdout.split_once('\n').unwrap();
        let terse = terse.split(';').find_map(|field| field.strip_prefix("100.000000%="));
        let report: Value = serde_json::from_str(json).unwrap();
        let micros = |kind: &str| {
            report["jobs"][0]["read"][kind]["percentile"]["100.000000"].as_u64().map(|ns| ns / 1000)
        };
        (terse.unwrap().parse::<u64>().ok(), micros("clat_ns"), micros("lat_ns"))
    };
    let (terse, clat, lat) = percentiles("");
    assert_eq!((terse, lat), (clat, None));
    // The kernel copies within the submission: lat is longer than clat.
    let (terse, clat, lat) = percentiles("--lat_percentiles=1");
    assert!(lat > clat, "{clat:?} {lat:?}");
    assert_eq!(terse, lat);
}

#[test]
fn terse_lines_have_as_many_fields_as_fios_in_every_version() {
    for version in ["2", "3", "4", "5"] {
        let fields = |who: Who| {
            let folder = Folder::new("outputs");
            let options = "--name=v --rw=write --size=64k --output-format=terse --terse-version";
            let ran = who.run(&folder, &with(options, version)).well();
            ran.stdout.trim_end().split(';').count()
        };
        let ours = fields(Who::AsFio);
        assert!(ours >= 121, "version {version}: {ours}");
        if has_fio_for_part() {
            assert_eq!(ours, fields(Who::Fio), "version {version}");
        }
    }
}

#[test]
fn the_exit_code_is_the_number_of_jobs_that_failed() {
    let full = "--filename=/dev/full --rw=write --bs=4k --size=64k --output-format=json";
    for (more, code) in [("", 1), ("--numjobs=3", 3), ("--name=w --ioengine=null --size=4k", 1)] {
        for who in [Who::AsFio, Who::Fio] {
            if who == Who::Fio && !has_fio_for_part() {
                continue;
            }
            let folder = Folder::new("outputs");
            let ran = who.run(&folder, &with("--name=v", &format!("{full} {more}")));
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert_eq!(ran.json()["jobs"][0]["error"], 28, "{ran:?}");
        }
    }
}

#[test]
fn csv_is_comma_separated_in_our_own_name_and_terse_as_fio() {
    let line = "--output-format=csv --name=a,b --ioengine=null --size=64k --rw=read";
    let [ours, as_fio] = [Who::Native, Who::AsFio]
        .map(|who| who.run(&Folder::new("csv"), &words(line)).well().stdout);
    let rows: Vec<&str> = ours.lines().collect();
    assert!(rows[0].starts_with("job,group,jobs,direction,ios,bytes,"), "{ours}");
    assert!(rows[1].starts_with("\"a,b\",0,1,read,16,65536,"), "{ours}");
    assert!(as_fio.starts_with("3;fio-"), "{as_fio}");
    let refused = Who::AsFio.run(&Folder::new("csv"), &words(&line.replace("csv", "markdown")));
    assert_ne!(refused.code, Some(0), "{refused:?}");
}

#[test]
fn markdown_is_a_table_below_the_conclusion() {
    let line = "--output-format=markdown --name=a --ioengine=null --size=64k --rw=read";
    let text = Who::Native.run(&Folder::new("markdown"), &words(line)).well().stdout;
    assert!(text.starts_with("**Limited by the tester itself"), "{text}");
    assert!(text.contains("| a | read |"), "{text}");
}

#[test]
fn the_report_begins_with_a_conclusion_and_folds_findings_until_asked() {
    let line = "--name=a --filename=data --size=4m --rw=write";
    let folder = Folder::new("conclusion");
    let text = Who::Native.run(&folder, &words(line)).well().stdout;
    let conclusion = text.lines().nth(2).unwrap_or_default();
    // How sure it is depends on how busy the machine was.
    let said = conclusion.strip_prefix("Probably ").unwrap_or(conclusion);
    assert!(said.to_lowercase().starts_with("limited by "), "{text}");
    assert!(text.contains("  note      short-run: ") && !text.contains("-> "), "{text}");
    let verbose = Who::Native.run(&folder, &words(&format!("{line} --verbose"))).well().stdout;
    assert!(verbose.contains("[short-run]") && verbose.contains("-> "), "{verbose}");
    assert!(verbose.contains("deviation") && verbose.contains("fingerprint"), "{verbose}");
}
