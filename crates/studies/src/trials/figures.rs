//! The figures that runs are compared by: rates, latencies, processor time.

use iosonde_base::Dir;
use iosonde_base::text::{count, duration, rate};
use iosonde_report::{DirReport, JobReport, LatencyReport, Report, Unified, percentile_of_all};

/// The direction that a figure is of; all together where a job reports only
/// their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureLane {
    /// One direction.
    Only(Dir),
    /// `unified_rw_reporting=mixed`.
    Mixed,
}

impl FigureLane {
    const ALL: [FigureLane; 4] = [
        FigureLane::Only(Dir::Read),
        FigureLane::Only(Dir::Write),
        FigureLane::Only(Dir::Trim),
        FigureLane::Mixed,
    ];

    /// As fio's JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            FigureLane::Only(dir) => dir.name(),
            FigureLane::Mixed => "mixed",
        }
    }

    fn of(self, job: &JobReport) -> Option<&DirReport> {
        let is_mixed = job.unified == Unified::Mixed;
        let report = match self {
            FigureLane::Only(dir) if !is_mixed => Some(&job.dirs[dir]),
            FigureLane::Mixed if is_mixed => job.mixed.as_ref(),
            _ => None,
        };
        report.filter(|report| report.total_ios > 0)
    }

    /// The lanes that a result has I/Os in.
    pub fn used(report: &Report) -> Vec<FigureLane> {
        let is_used = |lane: &FigureLane| report.jobs.iter().any(|job| lane.of(job).is_some());
        FigureLane::ALL.into_iter().filter(is_used).collect()
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// A percentile of the time from issue to completion.
    Latency(f64),
    /// A percentile of the time since an I/O was due.
    Response(f64),
    /// A percentile of the time of syncs.
    SyncLatency(f64),
    /// Bytes a second, write-back included.
    Durable,
    /// Processor time of an I/O.
    CpuPerIo,
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterWhen {
    /// Rates.
    Higher,
    /// Times.
    Lower,
}

/// One figure: a measure, of a direction where it is of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Of which direction; `None` for all of a run, or, where a user names a
    /// figure, for any.
    pub lane: Option<FigureLane>,
    /// What is measured.
    pub measure: Measure,
}

/// A percentile that rests on fewer I/Os says nothing.
const TAIL_LEAST: f64 = 10.0;

impl Figure {
    /// All figures that a result has.
    pub fn of(report: &Report) -> Vec<Figure> {
        let mut figures = Vec::new();
        for lane in FigureLane::used(report) {
            let measures = [
                Measure::Iops,
                Measure::Bandwidth,
                Measure::Latency(50.0),
                Measure::Latency(99.0),
                Measure::Latency(99.9),
                Measure::Response(99.0),
            ];
            figures.extend(measures.map(|measure| Figure { lane: Some(lane), measure }));
        }
        let whole = [Measure::SyncLatency(99.0), Measure::Durable, Measure::CpuPerIo];
        figures.extend(whole.map(|measure| Figure { lane: None, measure }));
        figures.retain(|figure| figure.value(report).is_some());
        figures
    }

    /// Its value: a second, bytes a second, or nanoseconds. `None` where the
    /// result does not have it, or a percentile rests on too few I/Os.
    pub fn value(&self, report: &Report) -> Option<f64> {
        let value = match self.measure {
            Measure::Iops => self.sum(report, DirReport::iops),
            Measure::Bandwidth => {
                self.sum(report, |dir| dir.io_bytes as f64 * 1000.0 / dir.runtime_ms.max(1) as f64)
            }
            Measure::Latency(_) | Measure::Response(_) | Measure::SyncLatency(_) => {
                let (latencies, percent) = self.latencies(report)?;
                percentile(&latencies, percent)?
            }
            Measure::Durable => {
                let writes = report.ours.ledger.as_ref()?.writes.as_ref()?;
                writes.durable_bytes_per_s.get()?
            }
            Measure::CpuPerIo => {
                let ns: u64 =
                    report.jobs.iter().map(|job| job.cpu.user_ns + job.cpu.system_ns).sum();
                let ios: u64 = report.jobs.iter().map(JobReport::issued_ios).sum();
                if ios == 0 { 0.0 } else { ns as f64 / ios as f64 }
            }
        };
        (value > 0.0 && value.is_finite()).then_some(value)
    }

    /// The latencies that its percentile is of, if it is one.
    pub fn latencies<'a>(&self, report: &'a Report) -> Option<(Vec<&'a LatencyReport>, f64)> {
        let lane = self.lane;
        let (latencies, percent): (Vec<&LatencyReport>, f64) = match self.measure {
            Measure::Latency(percent) => {
                let dirs = report.jobs.iter().filter_map(|job| lane?.of(job));
                (dirs.map(service).collect(), percent)
            }
            Measure::Response(percent) => {
                let Some(FigureLane::Only(dir)) = lane else { return None };
                let jobs = report.ours.jobs.iter();
                (jobs.filter_map(|job| job.response[dir].as_ref()).collect(), percent)
            }
            Measure::SyncLatency(percent) => {
                (report.jobs.iter().map(|job| &job.sync.lat).collect(), percent)
            }
            _ => return None,
        };
        let used: Vec<&LatencyReport> =
            latencies.into_iter().filter(|latency| latency.n > 0).collect();
        (!used.is_empty()).then_some((used, percent))
    }

    fn sum(&self, report: &Report, of: impl Fn(&DirReport) -> f64) -> f64 {
        let dirs = report.jobs.iter().filter_map(|job| self.lane?.of(job));
        dirs.map(of).sum()
    }

    /// Which way it is better.
    pub fn better(&self) -> BetterWhen {
        match self.measure {
            Measure::Iops | Measure::Bandwidth | Measure::Durable => BetterWhen::Higher,
            _ => BetterWhen::Lower,
        }
    }

    /// Its name on command lines and in JSON: `read.p99`.
    pub fn key(&self) -> String {
        let measure = match self.measure {
            Measure::Iops => "iops".to_owned(),
            Measure::Bandwidth => "bw".to_owned(),
            Measure::Latency(percent) => format!("p{percent}"),
            Measure::Response(percent) => format!("response.p{percent}"),
            Measure::SyncLatency(percent) => format!("sync.p{percent}"),
            Measure::Durable => "durable".to_owned(),
            Measure::CpuPerIo => "cpu".to_owned(),
        };
        match self.lane {
            Some(lane) => format!("{}.{measure}", lane.name()),
            None => measure,
        }
    }

    /// Its name in a table.
    pub fn label(&self) -> String {
        let measure = match self.measure {
            Measure::Iops => "IOPS".to_owned(),
            Measure::Bandwidth => "bandwidth".to_owned(),
            Measure::Latency(percent) => format!("p{percent}"),
            Measure::Response(percent) => format!("response p{percent}"),
            Measure::SyncLatency(percent) => format!("sync p{percent}"),
            Measure::Durable => "durable rate".to_owned(),
            Measure::CpuPerIo => "CPU per I/O".to_owned(),
        };
        match self.lane {
            Some(lane) => format!("{} {measure}", lane.name()),
            None => measure,
        }
    }

    /// A value of it as text.
    pub fn text(&self, value: f64) -> String {
        match self.measure {
            Measure::Iops => count(value),
            Measure::Bandwidth | Measure::Durable => rate(value),
            _ => duration(value.round() as u64),
        }
    }

    /// Whether a figure that a user named means this one.
    pub fn is_meant_by(&self, named: &Figure) -> bool {
        let is_lane = named.lane.is_none() || named.lane == self.lane;
        is_lane && named.measure == self.measure
    }

    /// From a name: `p99`, `read.iops`, `response.p99.9`.
    ///
    /// # Errors
    /// It is not one.
    pub fn parse(word: &str) -> Result<Figure, String> {
        let unknown = || {
            format!(
                "unknown figure {word:?}: use iops, bw, p50, p99 or another percentile, \
                 response.p99, sync.p99, durable or cpu; before it read., write. or trim."
            )
        };
        let lane = FigureLane::ALL
            .into_iter()
            .find_map(|lane| Some((lane, word.strip_prefix(lane.name())?.strip_prefix('.')?)));
        let (lane, rest) = lane.map_or((None, word), |(lane, rest)| (Some(lane), rest));
        let percent = |text: &str| -> Option<f64> {
            let percent = text.strip_prefix('p')?.parse().ok()?;
            (0.0 < percent && percent < 100.0).then_some(percent)
        };
        let measure = match rest {
            "iops" => Measure::Iops,
            "bw" => Measure::Bandwidth,
            "durable" => Measure::Durable,
            "cpu" => Measure::CpuPerIo,
            other => match (other.strip_prefix("response."), other.strip_prefix("sync.")) {
                (Some(rest), _) => Measure::Response(percent(rest).ok_or_else(unknown)?),
                (_, Some(rest)) => Measure::SyncLatency(percent(rest).ok_or_else(unknown)?),
                _ => Measure::Latency(percent(other).ok_or_else(unknown)?),
            },
        };
        let is_whole =
            matches!(measure, Measure::SyncLatency(_) | Measure::Durable | Measure::CpuPerIo);
        if is_whole && lane.is_some() {
            Err(format!("{word:?}: this figure is of a whole run: leave the direction out"))
        } else {
            Ok(Figure { lane, measure })
        }
    }
}

/// The latency of an I/O: fio's completion latency, where it was kept.
fn service(dir: &DirReport) -> &LatencyReport {
    if dir.clat.n > 0 { &dir.clat } else { &dir.lat }
}

/// A percentile over latencies, in nanoseconds: of the sum of their bins; of
/// one without bins as it was reported.
pub fn percentile(latencies: &[&LatencyReport], percent: f64) -> Option<f64> {
    let n: u64 = latencies.iter().map(|latency| latency.n).sum();
    if n as f64 * (1.0 - percent / 100.0) < TAIL_LEAST - 1e-6 && percent > 50.0 {
        return None;
    }
    let merged = percentile_of_all(latencies, percent);
    let alone = || match latencies {
        [one] => one.at(percent),
        _ => None,
    };
    merged.or_else(alone).map(|ns| ns as f64)
}

/// I/Os of a result that failed.
pub fn errors(report: &Report) -> u64 {
    let of = |job: &JobReport| {
        let ignored = job.errors.map_or(0, |errors| errors.total);
        ignored + u64::from(job.failure.is_some())
    };
    report.jobs.iter().map(of).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use iosonde_result::{ResultSource, StoredResult};

    /// A result with this many reads a second, each of this latency.
    pub fn result(iops: f64, ns: u64) -> StoredResult {
        let mut job = JobReport { name: "j".into(), ..JobReport::default() };
        let ios = (iops * 10.0) as u64;
        let clat = LatencyReport {
            n: ios,
            min_ns: ns,
            max_ns: ns,
            bins: vec![(ns, ios)],
            ..LatencyReport::default()
        };
        job.dirs[Dir::Read] = DirReport {
            io_bytes: ios * 4096,
            runtime_ms: 10_000,
            issued_ios: ios,
            total_ios: ios,
            clat,
            ..DirReport::default()
        };
        let report = Report { jobs: vec![job], ..Report::default() };
        let source = ResultSource::Fio { version: "fio-3.42".into() };
        StoredResult { report, source, notes: Vec::new() }
    }

    #[test]
    fn a_name_reads_back_as_itself() {
        for word in
            ["read.iops", "write.bw", "p99", "read.p99.9", "response.p99", "sync.p99", "cpu"]
        {
            assert_eq!(Figure::parse(word).unwrap().key(), word);
        }
        for word in ["", "iop", "read", "p0", "p100", "read.", "response.x", "q99", "write.cpu"] {
            assert!(Figure::parse(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_figure_without_a_direction_means_each() {
        let read = Figure::parse("read.p99").unwrap();
        assert!(read.is_meant_by(&Figure::parse("p99").unwrap()));
        assert!(!read.is_meant_by(&Figure::parse("write.p99").unwrap()));
        assert!(!read.is_meant_by(&Figure::parse("p50").unwrap()));
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let of = |n: u64| LatencyReport {
            n,
            min_ns: 5,
            max_ns: 5,
            bins: vec![(5, n)],
            ..LatencyReport::default()
        };
        assert_eq!(percentile(&[&of(1000)], 99.0), Some(5.0));
        assert_eq!(percentile(&[&of(999)], 99.0), None);
        assert_eq!(percentile(&[&of(3)], 50.0), Some(5.0));
    }
}
