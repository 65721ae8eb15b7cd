//! A fixed report of a run that was looked at: ledger, series, findings.

use super::{NOW_MS, Recorder, facts, ledgers, report_of};
use iosonde_base::Dir;
use iosonde_report::conclusion::{RunEnding, conclude};
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::ledger::*;
use iosonde_report::series::{DeviceCounts, JobSeries, RateChange, RunSeries, SeriesWindow};
use iosonde_report::*;
use iosonde_stats::CoarseCounts;

/// Buffered writes with syncs whose rate fell, most of them still in memory.
pub fn judged() -> Report {
    let counts = Recorder::new()
        .ios(Dir::Write, 6000, 65_536, 140_000)
        .syncs(60, 3_000_000)
        .windows(Dir::Write, &[40_000, 20_000], &[600, 300])
        .done();
    let facts = facts("copy", "write 64 KiB, psync, depth 1", [0, 6000, 0]);
    let mut report = report_of(&[JobAccount::new(facts, counts)]);
    report.ours.ledger = Some(Box::new(ledger()));
    let ending = RunEnding::of_jobs(&report.jobs);
    report.ours.conclusion = Some(conclude(&report, &ending));
    report.ours.settings = Some(settings());
    report.time_unix_ms = NOW_MS;
    report
}

fn settings() -> RunSettings {
    let option = |name: &str, value: &str, origin: &str| SetOption {
        name: name.into(),
        value: value.into(),
        origin: origin.into(),
    };
    RunSettings {
        argv: ["iosonde", "copy.fio", "--runtime=6"].map(String::from).into(),
        environment: Vec::new(),
        jobs: vec![JobSettings {
            name: "copy".into(),
            seed: 4711,
            options: vec![
                option("rw", "write", "copy.fio:2"),
                option("bs", "64k", "copy.fio:3"),
                option("runtime", "6s", "command line"),
            ],
        }],
    }
}

fn ledger() -> Ledger {
    let mut ledger = ledgers::writer();
    let writes = Writes {
        completed_bytes: 6000 << 16,
        dirty_at_end_bytes: Fact::Known(4000 << 16),
        reported_bytes_per_s: 65_536_000.0,
        durable_bytes_per_s: Fact::Known(31_000_000.0),
        until_durable_ns: Fact::Known(6_680_000_000),
        durable_estimated: true,
        dirty_at_least: false,
        in_volatile_cache: Fact::unknown("the device does not report its write cache"),
        first_write_share: Fact::Known(0.5),
        device_bytes_per_byte: Fact::Known(0.33),
    };
    copy(&mut ledger.jobs[0], &writes);
    ledger.writes = Some(writes);
    ledger.span_bytes = SpanBytes { buffered: 1 << 30, direct: 0 };
    ledger.devices[0].used = Fact::Known(DeviceUse {
        read_ios: 1,
        write_ios: 500,
        read_bytes: 4096,
        write_bytes: 2000 << 16,
        read_ns: 1_000_000,
        write_ns: 74_000_000_000,
        flushes: 60,
        flush_ns: 90_000_000,
        depth: 12.5,
        busy_share: 0.9,
        ..DeviceUse::default()
    });
    ledger.devices[0].facts = DeviceDescription {
        model: Some("EXAMPLE SSD".into()),
        scheduler: Some("none".into()),
        rotational: Some(false),
        ..DeviceDescription::default()
    };
    ledger.other_traffic.read_bytes = Fact::Known(4096);
    ledger.other_traffic.written_bytes = Fact::unknown("the journal cannot be separated");
    ledger.phases =
        vec![JobPhase { name: "until durable".into(), duration_ns: 6_680_000_000, start_ns: None }];
    ledger.machine.wall_ns = 6_000_000_000;
    ledger.machine.throttled = Fact::unknown("no control group limits processors");
    environment(&mut ledger.environment);
    ledger.tool = Tool { clock_read_ns: Fact::Known(9.5), counter_read_ns: 1_200_000 };
    ledger.series = series();
    ledger.changes = vec![RateChange {
        at_ns: 2_400_000_000,
        at_bytes: 12 * (400 << 16),
        before_bytes_per_s: 131_072_000.0,
        after_bytes_per_s: 32_768_000.0,
        stat: 312.5,
    }];
    ledger.fingerprint = Fingerprint {
        job: "bs=64k; rw=write".into(),
        machine: "cpu=Example 9000; cpus=8; memory_bytes=17179869184".into(),
        kernel: "release=6.18".into(),
        device: "kind=disk; model=EXAMPLE SSD; scheduler=none".into(),
        filesystem: "type=ext4; options=rw,relatime; bytes=107374182400".into(),
        tool: "version=iosonde 0.1.0".into(),
    };
    ledger.verdict = verdict();
    ledger
}

fn verdict() -> Vec<Finding> {
    vec![
        Finding {
            id: "not-durable".into(),
            severity: Severity::Wrong,
            jobs: vec!["copy".into()],
            statement: "250 MiB of 375 MiB written (66.7 %) was still dirty in the page \
                            cache at the end of the run"
                .into(),
            remedy: "set end_fsync=1 to include write-back; or quote the durable rate".into(),
        },
        Finding {
            id: "not-steady".into(),
            severity: Severity::Warning,
            jobs: Vec::new(),
            statement: "the rate fell by 75 %, from 125 MiB/s to 31.2 MiB/s, after 300 MiB \
                            and 2.40 s"
                .into(),
            remedy: "run until the rate is steady".into(),
        },
    ]
}

/// The writer as a buffered copy that syncs.
fn copy(job: &mut JobLedger, writes: &Writes) {
    job.name = "copy".into();
    job.runtime_ns = 6_000_000_000;
    job.writes = Some(writes.clone());
    job.direct = DirectLedger::default();
    job.depth = DepthLedger {
        requested: 1,
        requested_by_all: 1,
        observed_by_job: Fact::Known(1.0),
        observed_at_device: Fact::Known(12.5),
    };
    job.options = LedgerOptions {
        engine: "psync".into(),
        block_bytes_min: 65_536,
        block_bytes_max: 65_536,
        seed: 4711,
        ..LedgerOptions::default()
    };
    job.files.range_bytes = 1 << 30;
    job.latency = LatencySummary {
        ios: 6000,
        mean_ns: 230_000.0,
        p50_ns: 224_000,
        p99_ns: 293_000,
        max_ns: 2_760_000,
    };
    job.syncs = SyncLedger {
        requested: 60,
        p50_ns: Some(4_400_000),
        mean_ns: 4_500_000.0,
        max_ns: 9_000_000,
        without_flush: None,
    };
    job.cpu = CpuLedger {
        user_ns_per_io: 900.0,
        system_ns_per_io: 24_000.0,
        busy_share: 0.25,
        waited_share: Fact::Known(0.01),
        iops: 1000.0,
        upper_bound_iops: Fact::Known(41_000.0),
    };
}

fn environment(environment: &mut Environment) {
    environment.tool = "iosonde 0.1.0".into();
    environment.cpu_model = Some("Example 9000".into());
    environment.cpus = 8;
    environment.filesystems = vec![FilesystemFacts {
        kind: "ext4".into(),
        mount_point: "/data".into(),
        source: "/dev/nvme0n1p1".into(),
        options: "rw,relatime".into(),
        bytes: 100 << 30,
        fill_share: Fact::Known(0.4),
    }];
    environment.fingerprint = "0123456789abcdef".into();
}

/// Thirty windows of 200 ms: fast, one that was not sampled, slow.
fn series() -> RunSeries {
    let window = |at: u64| {
        let mut window = SeriesWindow { sampled: at != 11, ..SeriesWindow::default() };
        if window.sampled {
            let ios = if at < 12 { 400 + at % 3 * 8 } else { 100 + at % 4 * 3 };
            let counts = &mut window.dirs[Dir::Write];
            (counts.ios, counts.bytes) = (ios, ios << 16);
            let bucket = if at < 12 { 47 } else { 55 };
            counts.latency = CoarseCounts::new(bucket, &[ios / 2, ios - ios / 2 - 2, 0, 2]);
        }
        window.dirty_bytes = Some(at << 24);
        window.device = (at != 11).then_some(DeviceCounts {
            read_bytes: 0,
            written_bytes: at << 20,
            flushes: at % 5,
        });
        window.steal_share = Some(at as f64 / 1000.0);
        window
    };
    RunSeries {
        interval_ns: 200_000_000,
        latency_max_ns: 0,
        sync_max_ns: 0,
        last_ns: None,
        windows: (0..30).map(window).collect(),
        jobs: vec![JobSeries {
            name: "copy".into(),
            interval_ns: 400_000_000,
            last_ns: None,
            bytes: (0..15).map(|at| if at < 6 { 800 << 16 } else { 200 << 16 }).collect(),
        }],
    }
}
