//! Ledgers in which no rule finds anything: where tests that need one begin, here and in the
//! crate of the rules.

use iosonde_base::Dir;
use iosonde_report::ledger::*;
use iosonde_report::series::{RunSeries, SeriesWindow};

/// A minute of random reads of 4 KiB, direct, 32 at a time, from an NVMe drive.
pub fn clean() -> Ledger {
    Ledger {
        jobs: vec![job()],
        reads: Some(reads()),
        devices: vec![device()],
        span_bytes: SpanBytes { buffered: 0, direct: 100 << 30 },
        other_traffic: OtherTraffic {
            read_bytes: Fact::Known(1 << 20),
            written_bytes: Fact::Known(1 << 20),
            share: Fact::Known(0.0001),
        },
        machine: MachineLedger {
            wall_ns: 60_000_000_000,
            steal_share: Fact::Known(0.0),
            pressure: PressureShares {
                cpu: Fact::Known(0.01),
                memory: Fact::Known(0.0),
                io: Fact::Known(0.9),
            },
            throttled: Fact::Known(Throttling::default()),
            ..MachineLedger::default()
        },
        environment: Environment {
            tool: "iosonde".into(),
            kernel: "6.18".into(),
            cpus: 16,
            memory_bytes: 16 << 30,
            available_memory_bytes: Some(12 << 30),
            ..Environment::default()
        },
        series: series(&[1 << 30; 60]),
        ..Ledger::default()
    }
}

fn reads() -> Reads {
    Reads {
        completed_bytes: 60 << 30,
        device_bytes: Fact::Known(60 << 30),
        cache_bytes: Fact::Known(0),
        hole_bytes: Fact::Known(0),
        readahead_bytes: Fact::Known(0),
        requests_per_read: Fact::Known(1.0),
        cached_at_start_bytes: Fact::Known(0),
        ..Reads::default()
    }
}

fn job() -> JobLedger {
    JobLedger {
        name: "db".into(),
        number: 1,
        runtime_ns: 60_000_000_000,
        reads: Some(reads()),
        direct: DirectLedger {
            requested: true,
            honoured: Fact::Known(true),
            reason: "seen".into(),
        },
        depth: DepthLedger {
            requested: 32,
            observed_by_job: Fact::Known(31.9),
            observed_at_device: Fact::Known(30.5),
            requested_by_all: 32,
        },
        options: LedgerOptions {
            engine: "libaio".into(),
            block_bytes_min: 4096,
            block_bytes_max: 4096,
            random: true,
            ..LedgerOptions::default()
        },
        files: FilesLedger {
            files: 1,
            inspected: 1,
            range_bytes: 100 << 30,
            filesystems: vec!["ext4".into()],
            devices: vec!["nvme0n1".into()],
            unallocated_share: Fact::Known(0.0),
            ..FilesLedger::default()
        },
        latency: LatencySummary {
            ios: 15 << 20,
            mean_ns: 110_000.0,
            p50_ns: 100_000,
            p99_ns: 300_000,
            max_ns: 4_000_000,
        },
        cpu: CpuLedger {
            user_ns_per_io: 200.0,
            system_ns_per_io: 1500.0,
            busy_share: 0.4,
            waited_share: Fact::Known(0.0),
            iops: 262_144.0,
            upper_bound_iops: Fact::Known(5e6),
        },
        ..JobLedger::default()
    }
}

fn device() -> DeviceLedger {
    DeviceLedger {
        name: "nvme0n1".into(),
        kind: "disk".into(),
        used: Fact::Known(DeviceUse {
            read_ios: 15 << 20,
            write_ios: 100,
            read_bytes: 60 << 30,
            write_bytes: 1 << 20,
            depth: 30.5,
            busy_share: 1.0,
            ..DeviceUse::default()
        }),
        facts: DeviceDescription {
            rotational: Some(false),
            write_cache: Some("write back".into()),
            ..DeviceDescription::default()
        },
        ..DeviceLedger::default()
    }
}

/// Windows of a second in which so many bytes were read.
pub fn series(bytes: &[u64]) -> RunSeries {
    let window = |&bytes: &u64| {
        let mut window = SeriesWindow { sampled: true, ..SeriesWindow::default() };
        window.dirs[Dir::Read].bytes = bytes;
        window
    };
    let windows = bytes.iter().map(window).collect();
    RunSeries { interval_ns: 1_000_000_000, windows, ..RunSeries::default() }
}

/// The same with a writer in the reader's place.
pub fn writer() -> Ledger {
    let mut ledger = clean();
    ledger.reads = None;
    let writes = Writes {
        completed_bytes: 60 << 30,
        dirty_at_end_bytes: Fact::Known(0),
        reported_bytes_per_s: 1e9,
        durable_bytes_per_s: Fact::Known(1e9),
        until_durable_ns: Fact::Known(1_000_000),
        in_volatile_cache: Fact::Known(false),
        first_write_share: Fact::Known(0.0),
        device_bytes_per_byte: Fact::Known(1.0),
        ..Writes::default()
    };
    let job = &mut ledger.jobs[0];
    job.reads = None;
    job.writes = Some(writes.clone());
    ledger.writes = Some(writes);
    ledger
}
