//! What the figures of each workload mean, in a sentence.

use super::preset::{DESKTOP_TESTS, LikeGoal, LikeReading, StepResult};
use crate::trials::figures::{Figure, FigureLane, Measure};
use iosonde_base::Dir;
use iosonde_base::text::{count, counted, duration, percent, percent_of, rate};
use iosonde_judge::{LoadPoint, NoKnee, knee, median};
use iosonde_report::{JobReport, Report};

/// The goal of etcd: nanoseconds.
const ETCD_SYNC_NS: f64 = 10e6;
/// A frame of 25 a second.
const FRAME_NS: u64 = 40_000_000;
/// The seed of the knee's interval, so that the same figures give the same.
const KNEE_SEED: u64 = 1;

/// A figure of a report, of a direction.
fn figure(report: &Report, dir: Dir, measure: Measure) -> Option<f64> {
    Figure { lane: Some(FigureLane::Only(dir)), measure }.value(report)
}

fn whole(report: &Report, measure: Measure) -> Option<f64> {
    Figure { lane: None, measure }.value(report)
}

/// A time, or that it rests on too few I/Os.
fn time(ns: Option<f64>) -> String {
    ns.map_or("unknown (too few I/Os)".to_owned(), |ns| duration(ns.round() as u64))
}

fn speed(bytes_per_s: Option<f64>) -> String {
    bytes_per_s.map_or("unknown".to_owned(), rate)
}

/// All directions together.
fn total_iops(report: &Report) -> f64 {
    [Dir::Read, Dir::Write].iter().filter_map(|&dir| figure(report, dir, Measure::Iops)).sum()
}

fn longest_ns(report: &Report, dir: Dir) -> u64 {
    report.jobs.iter().map(|job| job.dirs[dir].shown_latency().max_ns).max().unwrap_or(0)
}

pub fn etcd_wal(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let p99 = whole(report, Measure::SyncLatency(99.0));
    let syncs = report.jobs.iter().map(|job| job.sync.total_ios).sum::<u64>();
    let iops = figure(report, Dir::Write, Measure::Iops).unwrap_or(0.0);
    LikeReading {
        sentence: format!("sync p99 {}", time(p99)),
        lines: vec![
            format!("p99 rests on {} of {}", syncs / 100, counted(syncs, "sync")),
            format!(
                "{} sequential writes a second; etcd's guide wants 50, 500 under heavy load",
                count(iops)
            ),
            "backend commits (p99 below 25 ms) are not tested".to_owned(),
        ],
        table: Vec::new(),
        goal: Some(LikeGoal {
            words: "< 10 ms".to_owned(),
            is_met: p99.is_some_and(|ns| ns < ETCD_SYNC_NS),
        }),
    }
}

pub fn pg_wal(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let sync = whole(report, Measure::SyncLatency(50.0));
    let write = figure(report, Dir::Write, Measure::Latency(50.0));
    let commits = sync.zip(write).map(|(sync, write)| 1e9 / (sync + write));
    LikeReading {
        sentence: match commits {
            Some(commits) => format!("one session commits {} times a second", count(commits)),
            None => "too few commits".to_owned(),
        },
        lines: vec![
            format!(
                "fdatasync p50 {}, p99 {}",
                time(sync),
                time(whole(report, Measure::SyncLatency(99.0)))
            ),
            "20 us or less with a volatile write cache means that flushes do not arrive".to_owned(),
        ],
        table: Vec::new(),
        goal: None,
    }
}

pub fn pg_checkpoint(results: &[StepResult]) -> LikeReading {
    let p99 = |step: &StepResult| figure(&step.report, Dir::Read, Measure::Latency(99.0));
    let (alone, beside) = (p99(&results[0]), p99(&results[1]));
    let ratio = alone.zip(beside).map(|(alone, beside)| beside / alone);
    LikeReading {
        sentence: match ratio {
            Some(ratio) => format!(
                "with a checkpoint at the same time, reads take {ratio:.1} times as long at p99: {} instead of {}",
                time(beside),
                time(alone)
            ),
            None => "too few reads for a p99".to_owned(),
        },
        lines: vec![format!(
            "the checkpoint wrote {}",
            speed(figure(&results[1].report, Dir::Write, Measure::Bandwidth))
        )],
        table: Vec::new(),
        goal: None,
    }
}

/// The value of an option of the first job, or of all.
fn option(report: &Report, name: &str) -> Option<f64> {
    let job: &JobReport = report.jobs.first()?;
    let of = |(known, value): &(String, String)| (known == name).then(|| value.parse().ok())?;
    let own = job.options.iter().find_map(of);
    own.or_else(|| report.global_options.as_ref()?.iter().find_map(of))
}

pub fn oltp(results: &[StepResult]) -> LikeReading {
    let load = |step: &StepResult| {
        let jobs = option(&step.report, "numjobs").unwrap_or(1.0);
        jobs * option(&step.report, "iodepth").unwrap_or(1.0)
    };
    let points: Vec<LoadPoint> = results
        .iter()
        .map(|step| LoadPoint { load: load(step), rates: vec![total_iops(&step.report)] })
        .collect();
    let at_half = |knee: f64| {
        let distance = |step: &&StepResult| (load(step) - knee / 2.0).abs();
        results.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
    };
    let sentence = match knee(&points, KNEE_SEED) {
        Ok(knee) => {
            let half = at_half(knee.load).expect("a knee has loads");
            let p99 = figure(&half.report, Dir::Read, Measure::Latency(99.0));
            format!(
                "the knee is at {} I/Os in flight and {} IOPS; at {} in flight, near half of it, reads \
                 have a p99 of {}",
                count(knee.load.round()),
                count(knee.rate_most),
                count(load(half)),
                time(p99)
            )
        }
        Err(NoKnee::StillGrows { load, .. }) => {
            format!("no knee up to {} I/Os in flight: the rate still grows", count(load))
        }
        Err(_) => "no knee: the rates do not form one".to_owned(),
    };
    LikeReading { sentence, ..depths(results) }
}

pub fn depths(results: &[StepResult]) -> LikeReading {
    let row = |step: &StepResult| {
        let read = figure(&step.report, Dir::Read, Measure::Latency(99.0));
        let write = figure(&step.report, Dir::Write, Measure::Latency(99.0));
        format!(
            "{:<13} {:>8} IOPS   read p99 {:<9} write p99 {}",
            step.name,
            count(total_iops(&step.report)),
            time(read),
            time(write)
        )
    };
    let best = results
        .iter()
        .max_by(|one, other| total_iops(&one.report).total_cmp(&total_iops(&other.report)));
    let sentence = best.map_or(String::new(), |best| {
        format!("{} IOPS at most, with {}", count(total_iops(&best.report)), best.name)
    });
    LikeReading {
        sentence,
        lines: results.iter().map(row).collect(),
        table: Vec::new(),
        goal: None,
    }
}

pub fn kafka(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let durable = whole(report, Measure::Durable);
    let reported = figure(report, Dir::Write, Measure::Bandwidth);
    LikeReading {
        sentence: format!(
            "appends reach {} to durability ({} reported); the longest took {}",
            speed(durable),
            speed(reported),
            duration(longest_ns(report, Dir::Write))
        ),
        lines: vec![format!(
            "readers: {}, p99 {}",
            speed(figure(report, Dir::Read, Measure::Bandwidth)),
            time(figure(report, Dir::Read, Measure::Latency(99.0)))
        )],
        table: Vec::new(),
        goal: None,
    }
}

pub fn backup(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let dir =
        if figure(report, Dir::Write, Measure::Iops).is_some() { Dir::Write } else { Dir::Read };
    let last = report.ours.ledger.as_ref().and_then(|ledger| ledger.changes.last());
    let mean = figure(report, dir, Measure::Bandwidth);
    let steady = last.map(|change| change.after_bytes_per_s).or(mean);
    let hours = steady.map(|steady| (1u64 << 40) as f64 / steady / 3600.0);
    let after = match last {
        Some(_) => " after the last change of the rate",
        None => "; the rate did not change",
    };
    LikeReading {
        sentence: format!(
            "{}{after}: 1 TiB takes {}",
            speed(steady),
            hours.map_or("unknown".to_owned(), |hours| format!("{hours:.2} h"))
        ),
        lines: vec![format!("over all of it {}", speed(mean))],
        table: Vec::new(),
        goal: None,
    }
}

pub fn vm_boot(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let p99 = figure(report, Dir::Read, Measure::Response(99.0));
    let iops = total_iops(report);
    LikeReading {
        sentence: format!("the p99 of reads is {}, from the moment they were due", time(p99)),
        lines: vec![format!(
            "{} IOPS of all machines; users notice 100 ms (no public bound)",
            count(iops)
        )],
        table: Vec::new(),
        goal: None,
    }
}

pub fn video(results: &[StepResult]) -> LikeReading {
    let report = &results[0].report;
    let all = report.ours.jobs.iter().filter_map(|job| job.response[Dir::Read].as_ref());
    let (mut reads, mut late) = (0u64, 0u64);
    for latency in all {
        reads += latency.n;
        late += latency.bins.iter().filter(|bin| bin.0 > FRAME_NS).map(|bin| bin.1).sum::<u64>();
    }
    let sentence = match (reads, late) {
        (0, _) => "nothing was read".to_owned(),
        (_, 0) => format!("none of {} came late", counted(reads, "read")),
        _ => {
            format!("{late} of {} came late ({})", counted(reads, "read"), percent_of(late, reads))
        }
    };
    LikeReading {
        sentence,
        lines: vec![
            "late: more than 40 ms after it was due, a frame of 25 a second".to_owned(),
            format!("{} of all streams", speed(figure(report, Dir::Read, Measure::Bandwidth))),
        ],
        table: Vec::new(),
        goal: None,
    }
}

/// Millions of bytes a second: the least, the median, the most.
fn spread(results: &[StepResult], section: &str, dir: Dir) -> Option<[f64; 3]> {
    let of = results.iter().filter(|step| step.name == section);
    let mut all: Vec<f64> = of
        .filter_map(|step| figure(&step.report, dir, Measure::Bandwidth))
        .map(|rate| rate / 1e6)
        .collect();
    all.sort_by(f64::total_cmp);
    let median = median(&all);
    all.first()?;
    Some([all[0], median, all[all.len() - 1]])
}

pub fn desktop(results: &[StepResult]) -> LikeReading {
    let head = format!("{:<13} {:>9}  {:<17} {:>9}  range", "", "read MB/s", "range", "write MB/s");
    let mut lines = vec![head];
    let heads = ["test", "read MB/s", "least to most", "write MB/s", "least to most"];
    let mut table: Vec<Vec<String>> = vec![heads.map(str::to_owned).into()];
    let mut widest: f64 = 0.0;
    for test in DESKTOP_TESTS {
        let mut cell = |dir: Dir| {
            let section = format!("{test}-{}", dir.name());
            let Some([low, median, high]) = spread(results, &section, dir) else {
                return (String::from("-"), String::new());
            };
            widest = widest.max((high - low) / median.max(f64::MIN_POSITIVE));
            (format!("{median:.1}"), format!("{low:.1}..{high:.1}"))
        };
        let (read, reads) = cell(Dir::Read);
        let (write, writes) = cell(Dir::Write);
        table.push([test, &read, &reads, &write, &writes].map(str::to_owned).into());
        lines.push(
            format!("{test:<13} {read:>9}  {reads:<17} {write:>10}  {writes}")
                .trim_end()
                .to_owned(),
        );
    }
    let loops = results.iter().filter(|step| step.name == results[0].name).count() as u64;
    LikeReading {
        sentence: format!(
            "{}; a span so small fits the memory of many drives",
            match loops {
                1 => "of 1 run: how much runs vary is unknown".to_owned(),
                _ => format!(
                    "median of {}; runs vary by {} at most",
                    counted(loops, "run"),
                    percent(widest)
                ),
            }
        ),
        lines,
        table,
        goal: None,
    }
}

pub fn k8s_volume(results: &[StepResult]) -> LikeReading {
    let line = |step: &StepResult| {
        let dir = if step.name.starts_with("read") { Dir::Read } else { Dir::Write };
        let iops = figure(&step.report, dir, Measure::Iops).unwrap_or(0.0);
        format!(
            "{:<11} {:>8} IOPS  {}",
            step.name,
            count(iops),
            speed(figure(&step.report, dir, Measure::Bandwidth))
        )
    };
    let of = |at: usize, dir: Dir| {
        results.get(at).and_then(|step| figure(&step.report, dir, Measure::Iops))
    };
    LikeReading {
        sentence: format!(
            "{} random reads and {} random writes of 4 KiB a second",
            count(of(0, Dir::Read).unwrap_or(0.0)),
            count(of(1, Dir::Write).unwrap_or(0.0))
        ),
        lines: results.iter().map(line).collect(),
        table: Vec::new(),
        goal: None,
    }
}
