//! One job as fio 2.1 to 3.43 write it: the same figures, or named as missing.

use iosonde_base::Dir;
use iosonde_report::Report;
use iosonde_result::{ResultSource, StoredResult, read};

macro_rules! document {
    ($name:literal) => {
        (
            $name,
            read(include_str!(concat!("documents/", $name)))
                .unwrap_or_else(|error| panic!("{}: {error}", $name)),
        )
    };
}

fn all() -> [(&'static str, StoredResult); 6] {
    [
        document!("fio-2.1.json"),
        document!("fio-2.21.json"),
        document!("fio-3.1.json"),
        document!("fio-3.33.json"),
        document!("fio-3.42-notes.json"),
        document!("fio-3.43-client.json"),
    ]
}

/// A figure, equal within a share of it.
fn near(found: f64, wanted: f64, share: f64) -> bool {
    (found - wanted).abs() <= wanted.abs() * share
}

#[test]
fn each_version_of_fio_gives_the_same_figures() {
    for (name, stored) in all() {
        let Report { jobs, disks, .. } = &stored.report;
        let [job] = jobs.as_slice() else { panic!("{name}: {} jobs", jobs.len()) };
        let read = &job.dirs[Dir::Read];
        assert_eq!(read.io_bytes, 7116 * 1024, "{name}");
        assert_eq!(read.runtime_ms, 25_788, "{name}");
        // 2.1 writes whole I/Os per second, and no number of I/Os.
        let share = if name == "fio-2.1.json" { 0.02 } else { 1e-3 };
        assert!(near(read.issued_ios as f64, 1779.0, share), "{name}: {}", read.issued_ios);
        assert!(near(read.iops(), 68.985, share), "{name}: {}", read.iops());
        let quick = read.clat.quick.unwrap_or_else(|| panic!("{name}: no percentiles"));
        assert!(near(quick.p50_ns as f64, 1.8e6, 0.01), "{name}: {quick:?}");
        assert!(near(quick.p99_ns as f64, 3e6, 0.01), "{name}: {quick:?}");
        assert!(near(quick.p999_ns as f64, 6e6, 0.01), "{name}: {quick:?}");
        assert_eq!((read.lat.min_ns, read.lat.max_ns), (53_000, 6_329_000), "{name}");
        assert!(near(read.clat.mean_ns, 1_812_310.0, 1e-6), "{name}");
        assert!(near(job.cpu.system_percent(), 1.25, 1e-6), "{name}");
        assert_eq!(job.depth.level[0], read.issued_ios, "{name}");
        assert_eq!(job.dirs[Dir::Write].issued_ios, 0, "{name}");
        assert_eq!((disks[0].name.as_str(), disks[0].counts.ios), ("sda", [1779, 2]), "{name}");
        assert!(
            matches!(&stored.source, ResultSource::Fio { version } if version.starts_with("fio-"))
        );
    }
}

#[test]
fn what_an_old_version_does_not_write_is_named() {
    let [(_, oldest), (_, older), (_, new), ..] = all();
    let says =
        |stored: &StoredResult, words: &str| stored.notes.iter().any(|note| note.contains(words));
    assert!(says(&oldest, "total_ios is missing") && says(&oldest, "microseconds"));
    assert!(!says(&older, "total_ios") && says(&older, "microseconds"));
    assert_eq!(new.notes, [""; 0]);
    assert_eq!(oldest.report.time_unix_ms, 0);
    assert_eq!(older.report.time_unix_ms, 1_444_144_664_000);
}

#[test]
fn a_client_is_named_with_its_host_and_the_sum_of_clients_counts_once() {
    let [.., (_, client)] = all();
    let [job] = client.report.jobs.as_slice() else { panic!("{:?}", client.report.jobs) };
    assert_eq!(job.name, "vm: reader");
    assert!(job.options.contains(&("ioengine".into(), "libaio".into())), "{:?}", job.options);
}

#[test]
fn what_is_no_result_is_refused_with_what_is_missing() {
    for (text, words) in [
        ("hello", "no JSON object"),
        ("{}", "\"fio version\" is missing"),
        (r#"{"fio version": "x"}"#, "\"jobs\" is missing"),
        (r#"{"fio version": "x", "jobs": []}"#, "jobs is empty"),
        (r#"{"fio version": "x", "jobs": [{"jobname": "a"}]}"#, "jobs[0].read is missing"),
        (
            r#"{"fio version": "x", "jobs": [{"read": {"io_bytes": 1}}]}"#,
            "jobs[0].read.runtime is missing",
        ),
        (
            r#"{"fio version": "x", "jobs": [{"read": {"io_bytes": 1, "runtime": 1, "iops": 1}}],
               "iosonde": {"version": "iosonde 9", "schema": 2, "jobs": [{}]}}"#,
            "schema 2 of iosonde 9",
        ),
        (
            r#"{"fio version": "x", "jobs": [{"read": {"io_bytes": 1, "runtime": 1, "iops": 1}}],
               "iosonde": {}}"#,
            "iosonde.version is missing",
        ),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn a_result_that_is_cut_off_anywhere_is_refused_and_never_read_in_part() {
    let text = include_str!("documents/fio-3.33.json");
    let whole = text.trim_end().len();
    for at in (1..whole).step_by(7).filter(|&at| text.is_char_boundary(at)) {
        let error = read(&text[..at]).expect_err("a part");
        assert!(error.to_string().contains("cut off"), "{at}: {error}");
    }
}
