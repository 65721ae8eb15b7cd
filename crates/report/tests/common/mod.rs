//! Fixed reports, and fio where it is installed.
#![allow(dead_code)] // Each test file uses its part.

mod judged;
mod ledgers;

#[allow(unused_imports)] // Each test file uses its part.
pub use judged::judged;

use iosonde_base::{Dir, Errno, PerDir};
use iosonde_report::*;
use iosonde_stats::{CountersWriter, Snapshot, WhichLatencies, depth_class};

/// Saturday, 21 November 2026, 07:00:43 UTC.
pub const NOW_MS: u64 = 1_795_244_443_694;

/// Counters filled with I/Os with a fixed sequence of latencies.
pub struct Recorder {
    writer: CountersWriter,
    seed: u64,
}

impl Recorder {
    pub fn new() -> Recorder {
        let which = WhichLatencies {
            syncs: true,
            slat: true,
            clat: true,
            lat: true,
            response: PerDir::all(false),
            dirs: PerDir::all(true),
        };
        Recorder { writer: CountersWriter::new(&which).0, seed: 1 }
    }

    /// `n` I/Os of `bytes`, about `base_ns` each; one in a hundred takes ten
    /// times as long.
    pub fn ios(mut self, dir: Dir, n: u64, bytes: u64, base_ns: u64) -> Recorder {
        for at in 0..n {
            let clat = self.latency(base_ns, at);
            let counters = self.writer.counters();
            let lane = counters.lane(dir);
            lane.ios.add(1);
            lane.issued.add(1);
            lane.bytes.add(bytes);
            let slat = base_ns / 10 + at % 7;
            lane.slat.add(slat);
            lane.clat.add(clat);
            lane.lat.add(slat + clat);
            lane.slat_histogram.as_ref().unwrap().add_many(slat, 1);
            lane.clat_histogram.as_ref().unwrap().add_many(clat, 1);
            lane.lat_histogram.as_ref().unwrap().add_many(slat + clat, 1);
            counters.depth.level[depth_class(1 + (at % 5) as u32)].add(1);
            counters.depth.submit[1].add(1);
            counters.depth.complete[usize::from(at % 9 != 0)].add(1);
            counters.depth.submits.add(1);
            counters.depth.completes.add(1);
        }
        self
    }

    pub fn windows(self, dir: Dir, kib_per_s: &[u64], iops: &[u64]) -> Recorder {
        let lane = self.writer.counters().lane(dir);
        kib_per_s.iter().for_each(|rate| lane.window_bw.add(*rate));
        iops.iter().for_each(|rate| lane.window_iops.add(*rate));
        self
    }

    pub fn syncs(mut self, n: u64, base_ns: u64) -> Recorder {
        for at in 0..n {
            let latency = self.latency(base_ns, at);
            let sync = &self.writer.counters().sync;
            sync.ios.add(1);
            sync.lat.add(latency);
            sync.lat_histogram.as_ref().unwrap().add_many(latency, 1);
        }
        self
    }

    fn latency(&mut self, base_ns: u64, at: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        let latency = base_ns + (self.seed >> 33) % base_ns;
        if at % 100 == 99 { latency * 10 } else { latency }
    }

    pub fn done(self) -> Snapshot {
        self.writer.counters().snapshot()
    }
}

pub fn facts(name: &str, what: &str, runtime_ms: [u64; 3]) -> JobFacts {
    let report = JobReport {
        name: name.into(),
        pid: 4711,
        start_unix_ms: NOW_MS - 10_000,
        elapsed_s: 11,
        options: vec![
            ("name".into(), name.into()),
            ("rw".into(), "randrw".into()),
            ("thread".into(), String::new()),
        ],
        cpu: CpuUse {
            wall_ms: 10_001,
            user_ns: 370_000_000,
            system_ns: 3_310_000_000,
            ctx: 7673,
            majf: 1,
            minf: 14,
        },
        ..JobFacts::default().report
    };
    JobFacts { report, what: what.into(), runtime_ms: PerDir(runtime_ms), ..JobFacts::default() }
}

pub fn report_of(accounts: &[JobAccount]) -> Report {
    let (jobs, groups, ours) = account(accounts);
    Report {
        version: "fio-3.42".into(),
        tool: "iosonde 0.1.0".into(),
        time_unix_ms: NOW_MS,
        jobs,
        groups,
        ours: Ours { jobs: ours, ..Ours::default() },
        ..Report::default()
    }
}

fn disk(name: &str) -> DiskReport {
    let counts = DiskCounts {
        ios: [41_000, 5488],
        sectors: Some([328_000, 43_904]),
        merges: [0, 12],
        ticks_ms: [9000, 309],
        in_queue_ms: 9390,
        util_percent: 53.87,
    };
    DiskReport { name: name.into(), counts, ..DiskReport::default() }
}

/// One mixed job that is paced and syncs.
pub fn mixed() -> Report {
    let counts = Recorder::new()
        .ios(Dir::Read, 3000, 4096, 90_000)
        .ios(Dir::Write, 1300, 4096, 12_000)
        .syncs(130, 210_000)
        .windows(Dir::Read, &[1180, 1204, 1201], &[295, 301, 300])
        .windows(Dir::Write, &[508, 520, 531], &[127, 130, 133])
        .done();
    let mut facts = facts("mix", "randrw 4 KiB, libaio, depth 8", [10_001, 10_001, 0]);
    facts.report.description = Some("reads and writes at 430 a second".into());
    facts.phases = vec![
        JobPhase { name: "lay out".into(), duration_ns: 1_200_000_000, start_ns: Some(0) },
        JobPhase { name: "run".into(), duration_ns: 10_001_000_000, start_ns: Some(1_200_000_000) },
    ];
    facts.report.latency.depth = 8;
    let mut account = JobAccount::new(facts, counts);
    let late = Recorder::new().ios(Dir::Read, 3000, 4096, 900_000).done();
    let [reads, ..] = late.lanes;
    account.response[Dir::Read] =
        Some(LatencyCounts { moments: reads.lat, histogram: reads.lat_histogram });
    let mut report = report_of(&[account]);
    report.global_options = Some(vec![("ioengine".into(), "libaio".into())]);
    report.disks = vec![disk("vda")];
    report.diagnostics = vec!["zipf over 100 GiB: the first block takes 1 % of all I/Os".into()];
    report.ours.notes = vec![
        "the page cache answered 93 % of the reads: what was measured is memory, not vda; \
         direct=1 asks the device"
            .into(),
    ];
    report
}

/// Five jobs of one name and two of another.
pub fn crowd() -> Report {
    let reader = |seed: u64| {
        let counts = Recorder::new().ios(Dir::Read, 2000 + 100 * seed, 4096, 400_000).done();
        JobAccount::new(facts("readers", "randread 4 KiB, psync, depth 1", [1000, 0, 0]), counts)
    };
    let writer = || {
        let counts = Recorder::new().ios(Dir::Write, 300, 16_384, 90_000).done();
        JobAccount::new(facts("log", "write 16 KiB, psync, depth 1", [0, 1000, 0]), counts)
    };
    let accounts = [reader(0), writer(), reader(1), reader(2), writer(), reader(3), reader(4)];
    report_of(&accounts)
}

/// Clones reported as a group, a job that failed, two groups.
pub fn several() -> Report {
    let reader = |seed: u64| {
        let counts = Recorder::new()
            .ios(Dir::Read, 2000 + seed, 65_536, 400_000)
            .windows(Dir::Read, &[128_000 + seed, 131_072], &[2000, 2048])
            .done();
        let mut facts = facts("reader", "read 64 KiB, psync, depth 1", [1000 + seed, 0, 0]);
        facts.group_reporting = true;
        facts.percentiles.list = vec![50.0, 99.0, 99.9999];
        JobAccount::new(facts, counts)
    };
    let mut trimmer = facts(
        "a-trimmer-with-a-very-long-name-indeed",
        "randtrim 1 MiB, psync, depth 1",
        [0, 0, 2500],
    );
    trimmer.report.errors = Some(ErrorCount { total: 3, first_errno: 5 });
    let trims = Recorder::new().ios(Dir::Trim, 640, 1 << 20, 3_000_000).done();
    let slower = facts("trimmer-2", "randtrim 1 MiB, psync, depth 1", [0, 0, 2600]);
    let more = Recorder::new().ios(Dir::Trim, 320, 1 << 20, 6_000_000).done();
    let mut full = facts("full", "write 4 KiB, psync, depth 1", [0, 0, 0]);
    full.report.group = 1;
    full.report.failure = Some(JobFailure {
        errno: Errno::ENOSPC,
        place: "/dev/full".into(),
        doing: "write of 4096 bytes at 0".into(),
    });
    let mut writer = facts("writer", "write 1 MiB, io_uring, depth 32", [0, 2000, 0]);
    writer.report.group = 1;
    let writes = Recorder::new()
        .ios(Dir::Write, 4000, 1 << 20, 5_000_000)
        .windows(Dir::Write, &[2_048_000, 2_100_000], &[2000, 2050])
        .done();
    let accounts = [
        reader(1),
        reader(7),
        JobAccount::new(trimmer, trims),
        JobAccount::new(slower, more),
        JobAccount::new(full, Snapshot::default()),
        JobAccount::new(writer, writes),
    ];
    report_of(&accounts)
}

/// What is rarely there: all of it.
pub fn rare() -> Report {
    let counts = Recorder::new()
        .ios(Dir::Read, 500, 4096, 300)
        .ios(Dir::Write, 300, 4096, 2_500_000)
        .windows(Dir::Read, &[2, 4], &[0, 1])
        .done();
    let mut facts = facts("rare", "", [1001, 1500, 0]);
    facts.report.unified = Unified::Both;
    facts.report.units = TextUnits { kb_base: 1000, bits: true };
    facts.percentiles = Percentiles { slat: true, clat: false, lat: true, list: vec![50.0, 99.5] };
    facts.report.errors = Some(ErrorCount { total: 2, first_errno: 28 });
    facts.report.latency = LatencyTarget {
        depth: 12,
        target_ns: 10_000_000,
        window_ns: 100_000_000,
        percentile: 99.5,
    };
    let sample = |iops| SteadySample { iops, bw_bytes_per_s: iops * 4096, lat_ns: 1_000_000 };
    facts.report.steady = Some(SteadyResult {
        what: "lat_slope".into(),
        limit: 5.0,
        limit_is_percent: true,
        duration_s: 3,
        attained: true,
        criterion: 0.493,
        max_deviation: 0.0,
        slope: 152_796.0,
        samples: vec![sample(2900), sample(2800), sample(3001)],
        samples_max: 3,
    });
    facts.zone_resets = Some(4);
    facts.report.block_life = Some(BlockLife {
        percentiles: vec![(1.0, 3), (50.0, 17)],
        states: vec![
            BlockState { name: "unwritten".into(), blocks: 1 },
            BlockState { name: "trimmed".into(), blocks: 20 },
        ],
    });
    let mut account = JobAccount::new(facts, counts);
    for (class, base_ns) in [(1, 40_000), (0, 300_000)] {
        let [reads, ..] = Recorder::new().ios(Dir::Read, 250, 4096, base_ns).done().lanes;
        let latency = LatencyCounts { moments: reads.lat, histogram: reads.lat_histogram };
        account.prios[Dir::Read].push(PrioCounts { class, level: 0, hint: 0, latency });
    }
    let mut report = report_of(&[account]);
    let mut stacked = disk("dm-0");
    stacked.aggregate = Some(stacked.counts);
    stacked.slaves = vec![disk("vda"), disk("vdb")];
    report.disks = vec![stacked];
    report.cpu_idle = Some(CpuIdle {
        system_percent: 96.679_545,
        per_cpu_percent: vec![97.184_365, 96.174_724],
        unit_mean_us: 13.6765,
        unit_stddev_us: 0.017_678,
    });
    report
}

/// A run of the installed fio: what it printed, or `None` if it did not run.
pub fn fio(arguments: &[&str]) -> Option<String> {
    let directory = std::env::temp_dir();
    let run = std::process::Command::new("fio").args(arguments).current_dir(directory).output();
    match run {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            iosonde_testing::skip::test(format_args!("fio cannot be run: {error}"));
            None
        }
    }
}
