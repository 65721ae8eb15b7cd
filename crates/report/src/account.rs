//! From what jobs counted to the jobs and groups of a report.

use crate::facts::{JobFacts, MeasuredKinds, Percentiles};
use crate::report::*;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_stats::{HistogramSnapshot, LaneSnapshot, MomentsSnapshot, Snapshot};

/// Sums over latencies, and their histogram if one was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    /// Extremes and sums.
    pub moments: MomentsSnapshot,
    /// Counts in buckets.
    pub histogram: Option<HistogramSnapshot>,
}

impl LatencyCounts {
    /// Add another's.
    pub fn merge(&mut self, other: &LatencyCounts) {
        self.moments.merge(&other.moments);
        if let Some(theirs) = &other.histogram {
            self.histogram.get_or_insert_default().merge(theirs);
        }
    }

    /// As it is reported; `percentiles` lists those to report, if any.
    pub fn report(&self, percentiles: Option<&[f64]>) -> LatencyReport {
        LatencyReport::new(&self.moments, self.histogram.as_ref(), percentiles)
    }
}

/// The latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrioCounts {
    /// I/O priority class.
    pub class: u32,
    /// Level within the class.
    pub level: u32,
    /// I/O hint.
    pub hint: u32,
    /// What was counted.
    pub latency: LatencyCounts,
}

/// What one job counted, or several taken together, and the facts around it.
#[derive(Clone, Debug)]
pub struct JobAccount {
    /// The facts; of the first, where several are taken together.
    pub facts: JobFacts,
    /// The counts.
    pub counts: Snapshot,
    /// Due time to completion, for paced jobs.
    pub response: PerDir<Option<LatencyCounts>>,
    /// Due time to start, for jobs that do again what was recorded.
    pub lateness: Option<LatencyCounts>,
    /// What was checked of what was written, for jobs that verify.
    pub verify: Option<VerifyReport>,
    /// By priority.
    pub prios: PerDir<Vec<PrioCounts>>,
    /// How many jobs.
    clones: u32,
    /// Rates of windows, of each clone by itself: their sum is the rate of
    /// the group, which merged moments cannot tell. Bandwidth, then IOPS.
    windows: PerDir<[Vec<MomentsSnapshot>; 2]>,
}

impl JobAccount {
    /// The account of one job.
    pub fn new(facts: JobFacts, counts: Snapshot) -> JobAccount {
        let windows = PerDir(
            counts.lanes.each_ref().map(|lane| [vec![lane.window_bw], vec![lane.window_iops]]),
        );
        let (response, lateness, prios) = Default::default();
        JobAccount { facts, counts, response, lateness, verify: None, prios, clones: 1, windows }
    }

    /// Take another job into this one. The name and the options stay.
    pub fn merge(&mut self, other: &JobAccount) {
        self.counts.merge(&other.counts);
        self.clones += other.clones;
        if let Some(theirs) = &other.lateness {
            self.lateness.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.verify {
            self.verify.get_or_insert_default().merge(theirs);
        }
        for dir in DIRS {
            if let Some(theirs) = &other.response[dir] {
                self.response[dir].get_or_insert_default().merge(theirs);
            }
            for theirs in &other.prios[dir] {
                merge_prio(&mut self.prios[dir], theirs);
            }
            for (mine, theirs) in self.windows[dir].iter_mut().zip(&other.windows[dir]) {
                mine.extend(theirs);
            }
        }
        self.facts.merge(&other.facts);
    }

    /// The entry of this account in a report. `bw_agg_percent` is left at
    /// zero: it takes the group.
    pub fn report(&self) -> JobReport {
        let facts = &self.facts;
        let dirs = PerDir(DIRS.map(|dir| self.dir_report(dir)));
        let sync = LatencyCounts {
            moments: self.counts.sync.lat,
            histogram: self.counts.sync.lat_histogram.clone(),
        };
        let sync_list = facts.percentiles.clat || facts.percentiles.lat;
        JobReport {
            clones: self.clones,
            prios_by_lat: facts.percentiles.lat,
            percentile_list: if sync_list { facts.percentiles.list.clone() } else { Vec::new() },
            dirs,
            mixed: (facts.report.unified != Unified::None).then(|| self.mixed_report()),
            sync: SyncReport {
                total_ios: self.counts.sync.ios,
                lat: sync.report(sync_list.then_some(&facts.percentiles.list)),
            },
            depth: DepthReport {
                level: self.counts.depth_level,
                submit: self.counts.depth_submit,
                complete: self.counts.depth_complete,
                submits: self.counts.submits,
                completes: self.counts.completes,
            },
            latency_classes: self.classes(),
            ..facts.report.clone()
        }
    }

    /// What only our own formats tell of it.
    pub fn ours(&self) -> OurJob {
        let list = &self.facts.percentiles.list;
        let response = self
            .response
            .0
            .each_ref()
            .map(|counts| counts.as_ref().map(|counts| counts.report(Some(list))));
        OurJob {
            name: self.facts.report.name.clone(),
            phases: self.facts.phases.clone(),
            response: PerDir(response),
            lateness: self.lateness.as_ref().map(|counts| counts.report(Some(list))),
            what: self.facts.what.clone(),
            verify: self.verify.clone(),
        }
    }

    fn dir_report(&self, dir: Dir) -> DirReport {
        let facts = &self.facts;
        let lane = self.counts.lanes.get(dir as usize).expect("three lanes");
        let mut report = DirReport::from_lane(lane, facts.runtime_ms[dir], &facts.percentiles);
        report.keep_measured(&facts.measured);
        report.drop_ios = facts.dropped[dir];
        report.gone_over_ios = facts.gone_over[dir];
        report.cachehit_percent = facts.cachehit_percent[dir];
        report.zone_resets = facts.zone_resets.filter(|_| dir == Dir::Write);
        if facts.measured.bw {
            [report.bw_kib, report.iops_windows] =
                self.windows[dir].each_ref().map(|windows| WindowReport::sum(windows));
        }
        report.prios = self.prio_reports(&self.prios[dir]);
        report
    }

    fn mixed_report(&self) -> DirReport {
        let facts = &self.facts;
        let mut lane = LaneSnapshot::default();
        self.counts.lanes.iter().for_each(|other| lane.merge(other));
        let runtime_ms = facts.runtime_ms.0.into_iter().max().unwrap_or(0);
        let mut report = DirReport::from_lane(&lane, runtime_ms, &facts.percentiles);
        report.keep_measured(&facts.measured);
        report.drop_ios = facts.dropped.0.iter().sum();
        report.gone_over_ios = facts.gone_over.0.iter().sum();
        report.zone_resets = facts.zone_resets;
        let windows = |which: usize| {
            let all: Vec<_> = self.windows.0.iter().flat_map(|dir| dir[which].clone()).collect();
            WindowReport::sum(&all)
        };
        if facts.measured.bw {
            (report.bw_kib, report.iops_windows) = (windows(0), windows(1));
        }
        let mut prios = Vec::new();
        self.prios.0.iter().flatten().for_each(|theirs| merge_prio(&mut prios, theirs));
        report.prios = self.prio_reports(&prios);
        report
    }

    /// Priorities are reported only where there are two or more, as fio does, and in
    /// the order of the account: the job's own comes first.
    fn prio_reports(&self, prios: &[PrioCounts]) -> Vec<PrioReport> {
        let percentiles = &self.facts.percentiles;
        let list = (percentiles.clat || percentiles.lat).then_some(percentiles.list.as_slice());
        let reports: Vec<PrioReport> = prios
            .iter()
            .filter(|prio| prio.latency.moments.n > 0)
            .map(|prio| PrioReport {
                class: prio.class,
                level: prio.level,
                hint: prio.hint,
                latency: prio.latency.report(list),
            })
            .collect();
        if reports.len() < 2 { Vec::new() } else { reports }
    }

    /// The latency classes of all data I/Os. They are of clat, as fio's: where
    /// clat is not measured there are none.
    fn classes(&self) -> [u64; 32] {
        let mut classes = [0; 32];
        if !self.facts.measured.clat {
            return classes;
        }
        for lane in &self.counts.lanes {
            if let Some(histogram) = &lane.clat_histogram {
                classes.iter_mut().zip(histogram.classes()).for_each(|(sum, n)| *sum += n);
            }
        }
        classes
    }
}

fn merge_prio(mine: &mut Vec<PrioCounts>, theirs: &PrioCounts) {
    let key = |prio: &PrioCounts| (prio.class, prio.level, prio.hint);
    match mine.iter_mut().find(|mine| key(mine) == key(theirs)) {
        Some(mine) => mine.latency.merge(&theirs.latency),
        None => mine.push(theirs.clone()),
    }
}

impl DirReport {
    /// One direction from its counts. What counts do not tell (dropped I/Os,
    /// priorities, the share of the group) is left empty.
    pub fn from_lane(lane: &LaneSnapshot, runtime_ms: u64, percentiles: &Percentiles) -> DirReport {
        let list = |wanted: bool| wanted.then_some(percentiles.list.as_slice());
        DirReport {
            io_bytes: lane.bytes,
            runtime_ms: if lane.ios == 0 { 0 } else { runtime_ms },
            issued_ios: lane.ios + lane.errors,
            total_ios: lane.ios,
            short_ios: lane.short,
            slat: LatencyReport::new(
                &lane.slat,
                lane.slat_histogram.as_ref(),
                list(percentiles.slat),
            ),
            clat: LatencyReport::new(
                &lane.clat,
                lane.clat_histogram.as_ref(),
                list(percentiles.clat),
            ),
            lat: LatencyReport::new(&lane.lat, lane.lat_histogram.as_ref(), list(percentiles.lat)),
            bw_kib: WindowReport::sum(&[lane.window_bw]),
            iops_windows: WindowReport::sum(&[lane.window_iops]),
            ..DirReport::default()
        }
    }

    /// Forget what was not to be measured, should it have been counted.
    fn keep_measured(&mut self, measured: &MeasuredKinds) {
        let latencies = [
            (&mut self.slat, measured.slat),
            (&mut self.clat, measured.clat),
            (&mut self.lat, measured.lat),
        ];
        for (latency, measured) in latencies {
            if !measured {
                *latency = LatencyReport::default();
            }
        }
        if !measured.bw {
            (self.bw_kib, self.iops_windows) = Default::default();
        }
    }
}

impl LatencyReport {
    /// A latency from its counts. `percentiles` are those to tell, if any are.
    /// A bucket's middle may lie above the largest value in it, so percentiles
    /// are held to the maximum, and to the minimum.
    pub fn new(
        moments: &MomentsSnapshot,
        histogram: Option<&HistogramSnapshot>,
        percentiles: Option<&[f64]>,
    ) -> LatencyReport {
        let histogram = histogram.filter(|histogram| histogram.total() > 0 && moments.n > 0);
        let at = |histogram: &HistogramSnapshot, percent: f64| {
            histogram.percentile(percent).clamp(moments.least(), moments.max)
        };
        LatencyReport {
            n: moments.n,
            min_ns: moments.least(),
            max_ns: moments.max,
            mean_ns: moments.mean(),
            stddev_ns: moments.deviation(),
            percentiles: histogram.zip(percentiles).map(|(histogram, list)| {
                list.iter().map(|&percent| (percent, at(histogram, percent))).collect()
            }),
            quick: histogram.map(|histogram| Quick {
                p50_ns: at(histogram, 50.0),
                p90_ns: at(histogram, 90.0),
                p99_ns: at(histogram, 99.0),
                p999_ns: at(histogram, 99.9),
            }),
            bins: histogram.map(|histogram| histogram.bins().collect()).unwrap_or_default(),
        }
    }
}

impl WindowReport {
    /// The rates of jobs that ran side by side, added up as fio does: extremes
    /// and means are sums, the deviation is that of each about its own mean.
    /// The same in whatever order the jobs come.
    pub fn sum(windows: &[MomentsSnapshot]) -> WindowReport {
        let mut windows: Vec<_> = windows.iter().filter(|window| window.n > 0).collect();
        iosonde_base::sort_by_key(&mut windows, |window| {
            (window.sum, window.n, window.squares, window.max)
        });
        let samples = windows.iter().map(|window| window.n).sum::<u64>();
        // An empty float sum is -0.0, and would be written with its sign.
        let sum = |part: fn(&MomentsSnapshot) -> f64| {
            windows.iter().map(|window| part(window)).fold(0.0, |sum, part| sum + part)
        };
        let spread = sum(|window| window.deviation().powi(2) * (window.n - 1) as f64);
        WindowReport {
            min: windows.iter().map(|window| window.min).sum(),
            max: windows.iter().map(|window| window.max).sum(),
            mean: sum(MomentsSnapshot::mean),
            stddev: if samples < 2 { 0.0 } else { (spread / (samples - 1) as f64).sqrt() },
            samples,
        }
    }
}

/// The jobs and groups of a report, and what only our formats tell of the
/// jobs. A job with `group_reporting` joins the entry before it if that is of
/// the same group; jobs that are not reported are left out.
pub fn account(accounts: &[JobAccount]) -> (Vec<JobReport>, Vec<GroupReport>, Vec<OurJob>) {
    let mut entries: Vec<JobAccount> = Vec::new();
    for account in accounts.iter().filter(|account| account.facts.reported) {
        match entries.last_mut() {
            Some(last)
                if account.facts.group_reporting
                    && last.facts.report.group == account.facts.report.group =>
            {
                last.merge(account);
            }
            _ => entries.push(account.clone()),
        }
    }
    let mut jobs: Vec<JobReport> = entries.iter().map(JobAccount::report).collect();
    let ours = entries.iter().map(JobAccount::ours).collect();
    let groups = groups_of(&jobs);
    for job in &mut jobs {
        let group = groups.iter().find(|group| group.id == job.group);
        share_of_group(job, group.expect("each job's group is there"));
    }
    (jobs, groups, ours)
}

/// Reporting groups, in order of their numbers, from the entries of their jobs.
pub fn groups_of(jobs: &[JobReport]) -> Vec<GroupReport> {
    let mut groups: Vec<GroupReport> = Vec::new();
    for job in jobs {
        let at = groups.iter().position(|group| group.id == job.group).unwrap_or_else(|| {
            groups.push(GroupReport { id: job.group, ..GroupReport::default() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.units = job.units;
        group.significant_figures = job.significant_figures;
        group.unified = job.unified;
        for dir in DIRS {
            add_to_group(&mut group.dirs[dir], &job.dirs[dir]);
        }
        if let Some(mixed) = &job.mixed {
            add_to_group(&mut group.mixed, mixed);
        }
    }
    iosonde_base::sort_by_key(&mut groups, |group| group.id);
    groups
}

fn add_to_group(group: &mut Option<GroupDir>, job: &DirReport) {
    if job.runtime_ms == 0 {
        return;
    }
    let rate = job.bw_bytes_per_s();
    let sum = group.get_or_insert(GroupDir {
        min_bytes_per_s: u64::MAX,
        min_run_ms: u64::MAX,
        ..GroupDir::default()
    });
    sum.io_bytes += job.io_bytes;
    sum.min_bytes_per_s = sum.min_bytes_per_s.min(rate);
    sum.max_bytes_per_s = sum.max_bytes_per_s.max(rate);
    sum.min_run_ms = sum.min_run_ms.min(job.runtime_ms);
    sum.max_run_ms = sum.max_run_ms.max(job.runtime_ms);
    sum.agg_bytes_per_s = per_second(sum.io_bytes, sum.max_run_ms);
}

/// A job's mean bandwidth in percent of its group's: whole KiB/s over the
/// group's, at most 100, as fio reckons it.
fn share_of_group(job: &mut JobReport, group: &GroupReport) {
    let share = |dir: &mut DirReport, group: Option<GroupDir>| {
        let Some(group) = group.filter(|group| group.agg_bytes_per_s > 0) else { return };
        if dir.bw_kib.samples > 0 {
            let percent = dir.bw_kib.mean.floor() * 102_400.0 / group.agg_bytes_per_s as f64;
            dir.bw_agg_percent = percent.min(100.0);
        }
    };
    for dir in DIRS {
        share(&mut job.dirs[dir], group.dirs[dir]);
    }
    if let Some(mixed) = &mut job.mixed {
        share(mixed, group.mixed);
    }
}
