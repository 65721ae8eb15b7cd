//! What holds for every report.

mod common;

use common::{Recorder, facts, judged, mixed, rare, several};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::formats::*;
use iosonde_report::*;
use iosonde_stats::{HistogramSnapshot, MomentsSnapshot};
use proptest::prelude::*;

fn an_account() -> impl Strategy<Value = JobAccount> {
    let dir = prop_oneof![Just(Dir::Read), Just(Dir::Write), Just(Dir::Trim)];
    let windows = prop::collection::vec(0u64..5_000_000, 0..4);
    (dir, 0u64..200, 1u64..2_000_000_000, windows, 0u64..100_000).prop_map(
        |(dir, ios, base_ns, windows, runtime_ms)| {
            let counts = Recorder::new()
                .ios(dir, ios, 4096, base_ns)
                .windows(dir, &windows, &windows)
                .syncs(ios / 7, base_ns)
                .done();
            let mut facts = facts("any", "", [runtime_ms; 3]);
            facts.group_reporting = true;
            facts.report.unified = Unified::Both;
            facts.percentiles =
                Percentiles { slat: true, clat: true, lat: true, ..facts.percentiles };
            JobAccount::new(facts, counts)
        },
    )
}

fn latencies(job: &JobReport) -> Vec<&LatencyReport> {
    let dirs = job.dirs.0.iter().chain(&job.mixed);
    let latencies = dirs.flat_map(|dir| [&dir.slat, &dir.clat, &dir.lat]);
    latencies.chain([&job.sync.lat]).collect()
}

proptest! {
    #[test]
    fn clones_give_the_same_report_in_any_order(
        accounts in prop::collection::vec(an_account(), 1..6),
        turn in 0usize..6,
    ) {
        let (jobs, groups, _) = account(&accounts);
        let mut turned = accounts.clone();
        turned.rotate_left(turn % accounts.len());
        turned.reverse();
        let (turned_jobs, turned_groups, _) = account(&turned);
        prop_assert_eq!(jobs, turned_jobs);
        prop_assert_eq!(groups, turned_groups);
    }

    #[test]
    fn percentiles_lie_between_the_extremes_and_rise(
        accounts in prop::collection::vec(an_account(), 1..4),
    ) {
        let (jobs, ..) = account(&accounts);
        for latency in latencies(&jobs[0]) {
            let list = latency.percentiles.as_deref().unwrap_or_default();
            prop_assert!(list.iter().all(|(_, ns)| (latency.min_ns..=latency.max_ns).contains(ns)));
            prop_assert!(list.is_sorted_by_key(|(_, ns)| *ns));
            prop_assert_eq!(latency.percentiles.is_some(), latency.n > 0);
        }
    }

    #[test]
    fn every_format_takes_every_report(accounts in prop::collection::vec(an_account(), 0..4)) {
        let (jobs, groups, ours) = account(&accounts);
        let report =
            Report { jobs, groups, ours: Ours { jobs: ours, ..Ours::default() }, ..Report::default() };
        fio_normal(&report);
        let json = fio_json(&report, &JsonOptions { ours: true });
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
        for number in 2..=5 {
            fio_terse(&report, TerseVersion::of(number).unwrap());
        }
        for columns in [0, 60, 80, 200] {
            native(&report, &Style { columns, ..Style::default() });
        }
    }
}

#[test]
fn a_percentile_is_never_above_the_maximum_although_its_bucket_is() {
    // 1000 falls in a bucket of 8 with the middle 1004.
    let mut moments = MomentsSnapshot::default();
    let one = MomentsSnapshot { n: 1, sum: 1000, min: 1000, max: 1000, squares: 1_000_000 };
    moments.merge(&one);
    let histogram = iosonde_stats::Histogram::default();
    histogram.add_many(1000, 1);
    let histogram: HistogramSnapshot = histogram.snapshot();
    assert_eq!(histogram.percentile(50.0), 1004);
    let report = LatencyReport::new(&moments, Some(&histogram), Some(&[50.0, 99.0]));
    assert_eq!(report.percentiles, Some(vec![(50.0, 1000), (99.0, 1000)]));
    assert_eq!(report.quick.unwrap().p99_ns, 1000);
}

#[test]
fn clones_join_only_their_own_group_and_only_when_asked() {
    let job = |name: &str, group, group_reporting, reported| {
        let mut facts = facts(name, "", [1000, 0, 0]);
        (facts.report.group, facts.group_reporting, facts.reported) =
            (group, group_reporting, reported);
        JobAccount::new(facts, Recorder::new().ios(Dir::Read, 10, 4096, 1000).done())
    };
    // As fio: a job that asks for it joins the entry before, even one that did
    // not ask.
    let accounts = [
        job("a", 0, false, true),
        job("b", 0, true, true),
        job("quiet", 0, true, false),
        job("d", 0, false, true),
        job("e", 1, true, true),
        job("f", 1, true, true),
    ];
    let (jobs, groups, ours) = account(&accounts);
    let seen: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.group, job.clones)).collect();
    assert_eq!(seen, [("a", 0, 2), ("d", 0, 1), ("e", 1, 2)]);
    assert_eq!(groups.iter().map(|group| group.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(ours.len(), 3);
    assert_eq!(groups[0].dirs[Dir::Read].unwrap().io_bytes, 30 * 4096);
}

#[test]
fn windows_of_clones_add_up() {
    let clone = |rates: &[u64]| {
        let mut facts = facts("a", "", [3000, 0, 0]);
        facts.group_reporting = true;
        let counts =
            Recorder::new().ios(Dir::Read, 30, 4096, 1000).windows(Dir::Read, rates, rates);
        JobAccount::new(facts, counts.done())
    };
    let (jobs, ..) = account(&[clone(&[100, 200]), clone(&[300, 300, 300])]);
    let windows = jobs[0].dirs[Dir::Read].bw_kib;
    assert_eq!((windows.min, windows.max, windows.mean, windows.samples), (400, 500, 450.0, 5));
    assert!((windows.stddev - (5000.0f64 / 4.0).sqrt()).abs() < 1e-9);
}

#[test]
fn values_that_are_not_measured_are_not_reported() {
    let mut facts = facts("a", "", [1000, 0, 0]);
    facts.measured = MeasuredKinds { slat: false, clat: false, lat: false, bw: false };
    let counts = Recorder::new().ios(Dir::Read, 30, 4096, 1000).windows(Dir::Read, &[9], &[9]);
    let (jobs, groups, ours) = account(&[JobAccount::new(facts, counts.done())]);
    assert!(latencies(&jobs[0]).iter().all(|latency| **latency == LatencyReport::default()));
    assert_eq!(jobs[0].latency_classes, [0; 32]);
    let ours = Ours { jobs: ours, ..Ours::default() };
    let report = Report { jobs, groups, ours, ..Report::default() };
    let text = fio_normal(&report);
    assert!(text.contains("IOPS=30") && !text.contains("lat (") && !text.contains("samples"));
    assert!(native(&report, &Style::default()).contains("latency not measured"));
}

#[test]
fn terse_fields_stand_where_the_manual_says() {
    let line = fio_terse(&mixed(), TerseVersion::V3);
    let fields: Vec<&str> = line.trim_end().split(';').collect();
    // 121 measured, 9 of the disk, 1 description.
    assert_eq!(fields.len(), 131);
    assert_eq!(&fields[..5], ["3", "fio-3.42", "mix", "0", "0"]);
    assert_eq!(fields[5..9], ["12000", "1199", "299", "10001"]);
    assert_eq!(fields[46], "5200", "write KiB is the 47th");
    assert_eq!(fields[87], "3.699630%", "user time is the 88th");
    assert_eq!(fields[92], "20.0%", "the first depth is the 93rd");
    assert_eq!(fields[121], "vda");
    let measured = |version: u32| {
        let (jobs, ..) = account(&[JobAccount::new(facts("x", "", [1, 1, 1]), Default::default())]);
        let report = Report { jobs, version: "v".into(), ..Report::default() };
        fio_terse(&report, TerseVersion::of(version).unwrap()).split(';').count()
    };
    assert_eq!([2, 3, 4, 5].map(measured), [161, 121, 162, 180]);
    assert!([0, 1, 6].into_iter().all(|number| TerseVersion::of(number).is_none()));
}

#[test]
fn ours_is_one_key_at_the_top_and_nothing_inside_jobs() {
    let parse = |ours| -> serde_json::Value {
        serde_json::from_str(&fio_json(&mixed(), &JsonOptions { ours })).unwrap()
    };
    let (without, mut with) = (parse(false), parse(true));
    assert!(with.as_object_mut().unwrap().remove("iosonde").is_some());
    assert_eq!(without, with);
}

#[test]
fn our_report_keeps_to_its_width_and_length() {
    for report in [mixed(), several(), rare(), judged()] {
        for columns in [80, 100, 132] {
            let text = native(&report, &Style { columns, ..Style::default() });
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{widest} columns:\n{text}");
        }
    }
    assert!(native(&mixed(), &Style::default()).lines().count() <= 25);
    assert!(native(&judged(), &Style::default()).lines().count() <= 30);
    let plain = native(&several(), &Style::default());
    assert!(!plain.contains('\x1b'));
    let coloured = native(&several(), &Style { colour: true, columns: 80, ..Style::default() });
    assert!(coloured.contains("\x1b[1;31m"));
}

#[test]
fn an_empty_report_is_no_trouble() {
    let report = Report::default();
    assert_eq!(fio_normal(&report), "\n");
    assert_eq!(fio_terse(&report, TerseVersion::V3), "");
    assert!(native(&report, &Style::default()).contains("no job"));
    let json: serde_json::Value =
        serde_json::from_str(&fio_json(&report, &JsonOptions::default())).unwrap();
    assert_eq!(json["jobs"], serde_json::json!([]));
    let mut zero = JobAccount::new(JobFacts::default(), Default::default());
    zero.facts.runtime_ms = PerDir::all(u64::MAX);
    let (jobs, groups, _) = account(&[zero]);
    assert!(DIRS.iter().all(|dir| groups[0].dirs[*dir].is_none()));
    assert!(native(&Report { jobs, groups, ..report }, &Style::default()).contains("no I/O"));
}
