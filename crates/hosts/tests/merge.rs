//! Results of hosts merged: sums, times, and what is refused.

use iosonde_base::PerDir;
use iosonde_hosts::merge::HostsMerge;
use iosonde_report::finding::Finding;
use iosonde_report::hosts::{ClockOffset, GroupSpan, HostStamp, HostsReport};
use iosonde_report::ledger::{DeviceLedger, DeviceUse, Fact, Ledger, OtherTraffic};
use iosonde_report::series::{RunSeries, SeriesWindow, WindowCounts};
use iosonde_report::{
    DirReport, DiskCounts, DiskReport, JobReport, LatencyReport, OurJob, Ours, Report,
};
use iosonde_result::{ResultSource, StoredResult};
use iosonde_stats::{bucket, middle};

const SECOND: u64 = 1_000_000_000;
/// 2026.
const EPOCH: u64 = 1_770_000_000 * SECOND;

/// A host that read `mib` MiB of 4 KiB in `seconds` from `began_ns` on, each I/O in
/// `latency_ns`.
struct MadeHost {
    name: &'static str,
    rank: u32,
    began_ns: u64,
    seconds: u64,
    mib: u64,
    latency_ns: u64,
}

const H1: MadeHost =
    MadeHost { name: "h1", rank: 0, began_ns: EPOCH, seconds: 10, mib: 1000, latency_ns: 100_000 };
const H2: MadeHost = MadeHost { name: "h2", rank: 1, mib: 3000, latency_ns: 900_000, ..H1 };

impl MadeHost {
    fn stamp(&self) -> HostStamp {
        let ended = self.began_ns + self.seconds * SECOND;
        HostStamp {
            name: self.name.to_owned(),
            rank: self.rank,
            ranks: 2,
            machine: format!("boot of {}", self.name),
            start: "mpi".to_owned(),
            groups: vec![GroupSpan {
                group: 0,
                began_unix_ns: self.began_ns,
                first_done_unix_ns: ended - SECOND,
                ended_unix_ns: ended,
            }],
            clock: (self.rank > 0).then_some(ClockOffset { offset_ns: 0, error_ns: 20_000 }),
            job: "bs=4096; rw=read".to_owned(),
            ended_early: None,
        }
    }

    fn result(&self) -> StoredResult {
        let ios = self.mib * 256;
        let latency = LatencyReport {
            n: ios,
            min_ns: self.latency_ns,
            max_ns: self.latency_ns,
            mean_ns: self.latency_ns as f64,
            bins: vec![(middle(bucket(self.latency_ns)), ios)],
            percentiles: Some(vec![(50.0, self.latency_ns)]),
            ..LatencyReport::default()
        };
        let read = DirReport {
            io_bytes: self.mib << 20,
            runtime_ms: self.seconds * 1000,
            issued_ios: ios,
            total_ios: ios,
            clat: latency.clone(),
            lat: latency,
            ..DirReport::default()
        };
        let mut job = JobReport {
            name: "a".to_owned(),
            clones: 1,
            start_unix_ms: self.began_ns / 1_000_000,
            ..JobReport::default()
        };
        job.dirs.0[0] = read;
        let jobs = vec![OurJob { name: "a".to_owned(), ..OurJob::default() }];
        let host = Some(Box::new(self.stamp()));
        let report = Report {
            jobs: vec![job],
            ours: Ours { jobs, host, ..Ours::default() },
            ..Report::default()
        };
        let version = "iosonde 0.1.0".to_owned();
        StoredResult { report, source: ResultSource::Iosonde { version, schema: 1 }, notes: vec![] }
    }
}

fn merged(results: impl IntoIterator<Item = StoredResult>) -> Result<Report, String> {
    let mut merge = HostsMerge::default();
    for (at, result) in results.into_iter().enumerate() {
        merge.add(&format!("result.{at}.json"), result)?;
    }
    merge.finish()
}

fn hosts(report: &Report) -> &HostsReport {
    report.ours.hosts.as_deref().unwrap()
}

#[test]
fn rates_are_added_and_percentiles_are_those_of_all_values() {
    let report = merged([H1.result(), H2.result()]).unwrap();
    let group = &hosts(&report).groups[0];
    let total = &group.total.as_ref().unwrap().0[0].sum;
    assert_eq!((group.common_ns, group.overlap), (10 * SECOND, 1.0));
    assert_eq!(total.bytes_per_s, (400 << 20) as f64);
    assert_eq!(total.ios, 4000 * 256);
    // A quarter of the values is 100 us: the mean of the medians would be 500 us.
    assert_eq!(total.p50_ns, Some(middle(bucket(900_000))));
    let slowest = group.slowest.as_ref().unwrap();
    assert_eq!((slowest.name.as_str(), slowest.of_median), ("h1", 0.5));
    assert_eq!(group.clock_error_ns, Some(20_000));
    let job = &report.jobs[0];
    assert_eq!((job.clones, job.dirs.0[0].io_bytes), (2, 4000 << 20));
    assert_eq!(job.dirs.0[0].clat.bins.iter().map(|bin| bin.1).sum::<u64>(), 4000 * 256);
}

#[test]
fn runs_that_hardly_overlap_have_rows_and_no_total() {
    let just = MadeHost { began_ns: EPOCH + 5 * SECOND, ..H2 };
    let report = merged([H1.result(), just.result()]).unwrap();
    let group = &hosts(&report).groups[0];
    assert_eq!((group.overlap, group.total.is_ok()), (0.5, true));

    let late = MadeHost { began_ns: EPOCH + 6 * SECOND, ..H2 };
    let report = merged([H1.result(), late.result()]).unwrap();
    let group = &hosts(&report).groups[0];
    let why = group.total.as_ref().unwrap_err();
    assert!(why.contains("together for 4.00 s of 10.0 s (40.0 %)"), "{why}");
    assert!(why.contains("h2 began 6.00 s after h1"), "{why}");
    assert_eq!(hosts(&report).hosts.len(), 2);
    // The sum in fio's keys is over the time from the first start to the last end.
    assert_eq!(report.jobs[0].dirs.0[0].runtime_ms, 16_000);

    let longer = MadeHost { seconds: 30, ..H2 };
    let report = merged([H1.result(), longer.result()]).unwrap();
    let why = hosts(&report).groups[0].total.clone().unwrap_err();
    assert!(why.contains("h1 ended 20.0 s before h2"), "{why}");
}

#[test]
fn runs_are_compared_by_the_clock_of_rank_0_and_never_by_a_monotonic_one() {
    let mut ahead = MadeHost { began_ns: EPOCH + 1000 * SECOND, ..H2 }.result();
    let clock = ClockOffset { offset_ns: 1000 * SECOND as i64, error_ns: 9000 };
    ahead.report.ours.host.as_mut().unwrap().clock = Some(clock);
    let report = merged([H1.result(), ahead]).unwrap();
    let group = &hosts(&report).groups[0];
    assert_eq!((group.start_skew_ns, group.overlap), (0, 1.0));
    assert_eq!(group.clock_error_ns, Some(9000));

    // Without a stamp only the jobs' starts are known, and one of a monotonic clock
    // (job_start_clock_id) is refused.
    let mut monotonic = H1.result();
    monotonic.report.ours.host = None;
    monotonic.report.jobs[0].start_unix_ms = 123_456;
    let why = merged([monotonic]).unwrap_err();
    assert!(why.contains("no start by the clock of the day"), "{why}");
}

#[test]
fn the_total_is_of_the_common_time_as_the_series_have_it() {
    let window = |mib: u64| {
        let counts = WindowCounts { bytes: mib << 20, ios: mib * 256, ..WindowCounts::default() };
        let dirs = PerDir([counts, WindowCounts::default(), WindowCounts::default()]);
        SeriesWindow { sampled: true, dirs, ..SeriesWindow::default() }
    };
    // All in the first second.
    let with_series = |host: &MadeHost| {
        let mut windows = vec![window(host.mib)];
        windows.resize_with(10, || window(0));
        let series = RunSeries { interval_ns: SECOND, windows, ..RunSeries::default() };
        let mut result = host.result();
        result.report.ours.ledger = Some(Box::new(Ledger { series, ..Ledger::default() }));
        result
    };
    let late = MadeHost { began_ns: EPOCH + SECOND, ..H2 };
    let report = merged([with_series(&H1), with_series(&late)]).unwrap();
    let group = &hosts(&report).groups[0];
    assert!(group.from_series);
    // h1 had moved all of its bytes before h2 began.
    assert_eq!(group.total.as_ref().unwrap().0[0].sum.bytes, 3000 << 20);
    let report = merged([H1.result(), late.result()]).unwrap();
    let group = &hosts(&report).groups[0];
    assert!(!group.from_series);
    assert_eq!(group.total.as_ref().unwrap().0[0].sum.bytes, 3600 << 20);
}

#[test]
fn what_must_not_be_added_up_is_refused() {
    let refused = |change: fn(&mut StoredResult)| {
        let mut other = H2.result();
        change(&mut other);
        merged([H1.result(), other]).unwrap_err()
    };
    let why = refused(|other| {
        let version = "iosonde 0.2.0".to_owned();
        other.source = ResultSource::Iosonde { version, schema: 1 };
    });
    assert!(why.contains("results of different builds"), "{why}");
    let why = refused(|other| other.report.jobs[0].name = "b".to_owned());
    assert!(why.contains("it has the jobs b, and that of h1 has a"), "{why}");
    let why = refused(|other| {
        other.report.ours.host.as_mut().unwrap().job = "bs=8192; rw=read".to_owned();
    });
    assert!(why.contains("bs=8192, and on h1 bs=4096"), "{why}");
    let why = refused(|other| other.report.ours.host.as_mut().unwrap().rank = 0);
    assert!(why.contains("rank 0, which the result of h1 has, too"), "{why}");
    let why = refused(|other| other.report.ours.host.as_mut().unwrap().ranks = 3);
    assert!(why.contains("a run of 3 ranks"), "{why}");
    let why = refused(|other| other.report.ours.hosts = Some(Box::default()));
    assert!(why.contains("it is a merged result"), "{why}");
}

#[test]
fn a_rank_that_is_missing_or_failed_is_named_and_the_rest_is_kept() {
    let report = merged([H1.result()]).unwrap();
    let words = report.diagnostics.join("\n");
    assert!(words.contains("1 of 2 ranks: no result of rank 1"), "{words}");
    assert!(hosts(&report).groups[0].total.is_ok());

    let mut failed = H2.result();
    failed.report.ours.host.as_mut().unwrap().ended_early = Some("signal 15".to_owned());
    let report = merged([H1.result(), failed]).unwrap();
    assert_eq!(hosts(&report).hosts[1].failure.as_deref(), Some("signal 15"));
}

#[test]
fn ranks_on_one_host_have_rows_of_their_own() {
    let twin = MadeHost { name: "h1", ..H2 };
    let report = merged([twin.result(), H1.result()]).unwrap();
    let names: Vec<&str> = hosts(&report).hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["h1:0", "h1:1"]);
}

/// The result of a rank whose device moved `moved` bytes of which it read `own` itself.
fn on_a_device(host: &MadeHost, machine: &str, own: u64, moved: u64) -> StoredResult {
    let mut result = host.result();
    result.report.ours.host.as_mut().unwrap().machine = machine.to_owned();
    let device = DeviceLedger {
        name: "vda".to_owned(),
        used: Fact::Known(DeviceUse { read_bytes: moved, ..DeviceUse::default() }),
        ..DeviceLedger::default()
    };
    let other_traffic = OtherTraffic {
        read_bytes: Fact::Known(moved - own),
        written_bytes: Fact::Known(0),
        share: Fact::Known((moved - own) as f64 / moved as f64),
    };
    let mut ledger = Ledger { devices: vec![device], other_traffic, ..Ledger::default() };
    let finding = |finding: &Finding| finding.id == "other-traffic";
    ledger.verdict = iosonde_witness::judge(&ledger).into_iter().filter(finding).collect();
    result.report.ours.ledger = Some(Box::new(ledger));
    let counts = DiskCounts { ios: [moved >> 12, 0], ..DiskCounts::default() };
    result.report.disks =
        vec![DiskReport { name: "vda".to_owned(), counts, ..DiskReport::default() }];
    result
}

#[test]
fn ranks_on_one_machine_are_no_strangers_to_each_other_and_its_disk_is_listed_once() {
    let merged = |own: u64, machines: [&str; 2]| {
        let [one, other] = machines;
        let results =
            [on_a_device(&H1, one, own, 100 << 20), on_a_device(&H2, other, own, 100 << 20)];
        let report = merged(results).unwrap();
        let findings: Vec<String> =
            hosts(&report).findings.iter().map(|found| found.statement.clone()).collect();
        (findings, report.disks.len())
    };
    assert_eq!(merged(50 << 20, ["m", "m"]), (vec![], 1));
    let (findings, disks) = merged(25 << 20, ["m", "m"]);
    assert!(findings[0].starts_with("50.0 % of the device's traffic was not"), "{findings:?}");
    assert_eq!((findings.len(), disks), (1, 1));
    // On two machines each has a device of its own.
    let (findings, disks) = merged(50 << 20, ["m", "n"]);
    assert!(findings[0].starts_with("50.0 % of the device's traffic was not"), "{findings:?}");
    assert_eq!((findings.len(), disks), (1, 2));
}

#[test]
fn rates_of_a_few_milliseconds_are_of_nanoseconds() {
    let mut result = H1.result();
    let stamp = result.report.ours.host.as_mut().unwrap();
    stamp.groups[0].ended_unix_ns = EPOCH + 2_798_000;
    let read = &mut result.report.jobs[0].dirs.0[0];
    (read.runtime_ms, read.total_ios, read.io_bytes) = (2, 2000, 2000);
    let report = merged([result]).unwrap();
    let rate = hosts(&report).hosts[0].groups[0].dirs.0[0].iops;
    assert!((rate - 714_796.28).abs() < 0.1, "{rate}");
}

#[test]
fn the_whole_work_is_a_figure_where_hosts_ended_apart() {
    let slow = MadeHost { seconds: 30, ..H2 };
    let report = merged([H1.result(), slow.result()]).unwrap();
    let group = &hosts(&report).groups[0];
    assert!(group.total.is_err() && group.shows_whole());
    let whole = &group.whole;
    assert_eq!((whole.ns, whole.dirs.0[0].bytes), (30 * SECOND, 4000 << 20));
    assert_eq!(whole.dirs.0[0].bytes_per_s, (4000u64 << 20) as f64 / 30.0);
    let report = merged([H1.result(), H2.result()]).unwrap();
    assert!(!hosts(&report).groups[0].shows_whole());
}
