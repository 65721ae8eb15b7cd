//! Results of several hosts as one report, added one at a time: what is kept of each is a
//! row, its moments, and its bytes over time.

mod agreement;
mod clients;
mod conclusion;
mod curve;
mod job_sum;
mod machine;
mod shared;
mod span;
mod together;

pub use agreement::first_difference;

use agreement::FirstResult;
use clients::ClientSum;
use curve::RateCurve;
use iosonde_base::{DIRS, PerDir};
use iosonde_report::conclusion::Conclusion;
use iosonde_report::hosts::{
    ClockOffset, DirRates, GroupTogether, HostGroup, HostJobs, HostRow, HostsReport,
};
use iosonde_report::{DiskReport, JobReport, LatencyTotal, OurJob, Ours, Report, groups_of};
use iosonde_result::StoredResult;
use job_sum::JobSum;
use machine::Machines;
use shared::SharedTexts;
use span::ClockSpan;
use std::collections::{BTreeMap, BTreeSet};

/// Disks are listed for so many machines at most.
const DISKS_OF_MACHINES: usize = 16;

/// The sum of results so far.
#[derive(Debug, Default)]
pub struct HostsMerge {
    /// What all have to agree in, and the report that the rest is taken from.
    first: Option<(FirstResult, Report)>,
    jobs: Vec<JobSum>,
    hosts: Vec<MergedHost>,
    /// Latency of all hosts by group and direction.
    latencies: BTreeMap<u32, PerDir<LatencyTotal>>,
    texts: SharedTexts,
    machines: Machines,
    /// All jobs of all hosts, where each is kept for itself.
    clients: Option<ClientSum>,
    /// Hosts may have jobs of their own: those of one name and group are added up.
    may_differ: bool,
}

/// What is kept of a host until all are known.
#[derive(Debug)]
struct MergedHost {
    row: HostRow,
    groups: Vec<MergedGroup>,
    jobs: Option<HostJobs>,
    conclusion: Option<Conclusion>,
    /// The machine that it ran on: hosts of one see the traffic of each other.
    machine: String,
    /// Its conclusion without a finding on its machine, where it has one.
    without_machine: Option<Conclusion>,
}

/// A reporting group of a host.
#[derive(Debug)]
struct MergedGroup {
    group: u32,
    span: ClockSpan,
    dirs: PerDir<DirRates>,
    curve: Option<RateCurve>,
}

impl HostsMerge {
    /// A sum in which the jobs of each host are kept, for a report like that of fio's client. It
    /// takes memory for each host.
    pub fn with_jobs() -> HostsMerge {
        HostsMerge { clients: Some(ClientSum::default()), ..HostsMerge::default() }
    }

    /// A sum as [`HostsMerge::with_jobs`] makes it, whose total is that of fio's client: its run
    /// time is the longest of a job.
    pub fn as_fio_client() -> HostsMerge {
        HostsMerge { clients: Some(ClientSum::as_fio()), may_differ: true, ..HostsMerge::default() }
    }

    /// A sum of hosts that may have jobs of their own.
    pub fn of_different_jobs() -> HostsMerge {
        HostsMerge { may_differ: true, ..HostsMerge::default() }
    }

    /// Add a host's result; `file` is what it is called where it has no name of its own.
    ///
    /// # Errors
    /// It cannot be added to the ones before: a sentence that begins with "it".
    pub fn add(&mut self, file: &str, stored: StoredResult) -> Result<(), String> {
        let StoredResult { mut report, source, notes } = stored;
        if report.ours.hosts.is_some() {
            return Err("it is a merged result: merge the results of the hosts".to_owned());
        }
        let stamp = report.ours.host.take();
        let conclusion = report.ours.conclusion.take();
        let named = stamp.as_ref().map(|stamp| stamp.name.clone()).filter(|name| !name.is_empty());
        let name = named.unwrap_or_else(|| name_of_file(file));
        let rank = stamp.as_ref().map(|stamp| stamp.rank);
        let fingerprint = report.ours.ledger.as_ref().map(|ledger| &ledger.fingerprint.job);
        let job = stamp.as_ref().map(|stamp| stamp.job.clone());
        let job = job.or_else(|| fingerprint.cloned()).unwrap_or_default();
        let ranks = stamp.as_ref().map(|stamp| stamp.ranks);
        let known = FirstResult {
            name: name.clone(),
            version: source.version().to_owned(),
            job,
            ranks,
            jobs: agreement::jobs(&report),
        };
        if let Some(first) = &self.first {
            if !self.may_differ {
                agreement::check(&first.0, &known)?;
            }
            self.rank_is_free(rank)?;
        }
        let spans = span::of(&report, stamp.as_deref())?;
        let machine = stamp.as_ref().map(|stamp| stamp.machine.clone());
        // Without an identity it is a machine by itself.
        let machine = machine
            .filter(|machine| !machine.is_empty())
            .unwrap_or_else(|| format!("host {}", self.hosts.len()));
        let clock = stamp.as_ref().and_then(|stamp| match (stamp.rank, stamp.start.as_str()) {
            (0, "mpi") => Some(ClockOffset::default()),
            _ => stamp.clock,
        });
        let mut row = HostRow {
            name: name.clone(),
            rank,
            clock,
            failure: failure(&report, stamp.and_then(|stamp| stamp.ended_early)),
            ..HostRow::default()
        };
        let jobs = self.clients.as_mut().map(|clients| clients.add(&name, &report));
        let took = self.machines.add(&machine, &name, &mut report);
        let without_machine = conclusion
            .as_ref()
            .filter(|_| took)
            .map(|stored| machine::without_finding(&report, stored));
        if let Some(ledger) = &report.ours.ledger {
            (row.reads, row.writes) = (ledger.reads.clone(), ledger.writes.clone());
            self.texts.findings(&name, &ledger.verdict);
        }
        let remarks = report.diagnostics.iter().chain(&report.ours.notes).chain(&notes);
        self.texts.notes(&name, remarks);
        let groups = self.groups(&report, spans);
        self.add_jobs(&name, &report);
        if self.first.is_none() {
            report.jobs.iter_mut().for_each(JobSum::forget_counts);
            let settings = report.ours.settings.take();
            report.ours = Ours { settings, ..Ours::default() };
            self.first = Some((known, report));
        }
        self.hosts.push(MergedHost { row, groups, jobs, conclusion, machine, without_machine });
        Ok(())
    }

    fn add_jobs(&mut self, host: &str, report: &Report) {
        for (at, job) in report.jobs.iter().enumerate() {
            let ours = report.ours.jobs.get(at);
            match self.place_of(&report.jobs, at) {
                Some(known) => self.jobs[known].add(host, job, ours),
                None => {
                    self.jobs.push(JobSum::new(host, job, ours));
                    // The first host's are kept with all else of it.
                    if let Some((_, template)) = &mut self.first {
                        let mut job = job.clone();
                        JobSum::forget_counts(&mut job);
                        template.jobs.push(job);
                    }
                }
            }
        }
    }

    /// Which sum a host's job belongs to: that at its place, or of its name and group.
    fn place_of(&self, jobs: &[JobReport], at: usize) -> Option<usize> {
        let (_, template) = self.first.as_ref()?;
        if !self.may_differ {
            return (at < self.jobs.len()).then_some(at);
        }
        let is_same =
            |other: &JobReport| (&other.name, other.group) == (&jobs[at].name, jobs[at].group);
        // Of several with one name, as many are before it as here.
        let before = jobs[..at].iter().filter(|other| is_same(other)).count();
        let known = template.jobs.iter().enumerate().filter(|(_, other)| is_same(other));
        known.map(|(known, _)| known).nth(before)
    }

    /// What each group did on this host.
    fn groups(&mut self, report: &Report, spans: Vec<ClockSpan>) -> Vec<MergedGroup> {
        let series = report.ours.ledger.as_ref().map(|ledger| &ledger.series);
        // A series has no gaps between groups, so that only that of one group has times.
        let series = series.filter(|_| spans.len() == 1);
        let mut groups = Vec::new();
        for span in spans {
            let mut dirs: PerDir<DirRates> = PerDir::default();
            let all = self.latencies.entry(span.group).or_default();
            for dir in DIRS {
                let jobs = || report.jobs.iter().filter(|job| job.group == span.group);
                let mut latency = LatencyTotal::default();
                let mut run_ms = 0;
                for one in jobs().map(|job| &job.dirs[dir]) {
                    dirs[dir].bytes += one.io_bytes;
                    dirs[dir].ios += one.total_ios;
                    run_ms = run_ms.max(one.runtime_ms);
                    latency.add(one.shown_latency());
                    all[dir].add(one.shown_latency());
                }
                let latency = latency.report();
                let own = &mut dirs[dir];
                let seconds = span.run_seconds(run_ms);
                own.bytes_per_s = own.bytes as f64 / seconds;
                own.iops = own.ios as f64 / seconds;
                own.p50_ns = latency.at(50.0);
                own.p99_ns = latency.at(99.0);
                own.max_ns = latency.max_ns;
            }
            let curve = series.and_then(RateCurve::new);
            groups.push(MergedGroup { group: span.group, span, dirs, curve });
        }
        groups
    }

    /// The report of all hosts.
    ///
    /// # Errors
    /// There are no results.
    pub fn finish(mut self) -> Result<Report, String> {
        let (first, template) = self.first.take().ok_or("no result to merge")?;
        iosonde_base::sort_by_key(&mut self.hosts, |host| host.row.rank);
        name_apart(&mut self.hosts);
        let disks = self.judge_machines();
        let mut diagnostics = Vec::new();
        diagnostics.extend(self.missing_ranks(first.ranks));
        diagnostics.extend(self.without_io());
        diagnostics.extend(self.texts.note_lines(self.hosts.len()));
        let groups: BTreeSet<u32> =
            self.hosts.iter().flat_map(|host| &host.groups).map(|group| group.group).collect();
        let origin = self.hosts.iter().flat_map(|host| &host.groups);
        let origin = origin.map(|group| group.span.began_ns).min().unwrap_or(0);
        let together: Vec<GroupTogether> = groups
            .into_iter()
            .map(|group| together::of(group, &self.hosts, self.latencies.get(&group)))
            .collect();
        let run_ms = |group: u32| span::union_ms(&self.hosts, group);
        let templates = template.jobs.iter();
        let jobs: Vec<_> = self
            .jobs
            .iter()
            .zip(templates)
            .map(|(sum, template)| sum.report(template, run_ms(template.group)))
            .collect();
        let our_jobs: Vec<OurJob> = self.jobs.into_iter().map(JobSum::into_ours).collect();
        let clients = self.clients.take().map(|clients| clients.report(&mut self.hosts));
        let conclusions = conclusion::taken(&mut self.hosts);
        let hosts: Vec<HostRow> =
            self.hosts.into_iter().map(|host| with_groups(host, origin)).collect();
        let findings = self.texts.into_findings();
        let merged = HostsReport { hosts, groups: together, findings, clients };
        let mut report = Report {
            groups: groups_of(&jobs),
            jobs,
            disks,
            cpu_idle: None,
            diagnostics,
            ours: Ours {
                jobs: our_jobs,
                settings: template.ours.settings,
                hosts: Some(Box::new(merged)),
                ..Ours::default()
            },
            ..template
        };
        let rows = report.ours.hosts.as_ref().map_or(&[][..], |merged| merged.hosts.as_slice());
        report.ours.conclusion = Some(conclusion::of(&report, rows, &conclusions));
        Ok(report)
    }

    /// Judge what several ranks saw of one machine; the disks of all machines.
    fn judge_machines(&mut self) -> Vec<DiskReport> {
        let mut machines = std::mem::take(&mut self.machines);
        for host in &mut self.hosts {
            let without = host.without_machine.take();
            if let Some(without) = without.filter(|_| machines.is_shared(&host.machine)) {
                host.conclusion = Some(without);
            }
        }
        let disks = match machines.count() {
            0..=DISKS_OF_MACHINES => machines.disks(),
            _ => Vec::new(),
        };
        machines.judge(&mut self.texts);
        disks
    }

    fn rank_is_free(&self, rank: Option<u32>) -> Result<(), String> {
        let same = self.hosts.iter().find(|host| rank.is_some() && host.row.rank == rank);
        same.zip(rank).map_or(Ok(()), |(host, rank)| {
            Err(format!("it has rank {rank}, which the result of {} has, too", host.row.name))
        })
    }

    /// Ranks whose results are not there.
    fn missing_ranks(&self, ranks: Option<u32>) -> Option<String> {
        let there: BTreeSet<u32> = self.hosts.iter().filter_map(|host| host.row.rank).collect();
        let missing: Vec<u32> = (0..ranks?).filter(|rank| !there.contains(rank)).collect();
        if missing.is_empty() {
            return None;
        }
        let named: Vec<String> = missing.iter().take(8).map(u32::to_string).collect();
        let more = match missing.len().saturating_sub(8) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "the total is of {} of {} ranks: no result of rank {}{more}",
            self.hosts.len(),
            ranks.unwrap_or_default(),
            named.join(", ")
        ))
    }

    /// Hosts that did no I/O and so are in no total.
    fn without_io(&self) -> Option<String> {
        let idle: Vec<&str> = self
            .hosts
            .iter()
            .filter(|host| host.groups.is_empty())
            .map(|host| host.row.name.as_str())
            .collect();
        (!idle.is_empty() && self.hosts.len() > idle.len()).then(|| {
            let named = idle[..idle.len().min(8)].join(", ");
            format!("the total is without {} that did no I/O: {named}", idle.len())
        })
    }
}

/// The row of a host with the times of its groups since the first start of any.
fn with_groups(host: MergedHost, origin_ns: u64) -> HostRow {
    let group = |group: &MergedGroup| HostGroup {
        group: group.group,
        began_ns: group.span.began_ns - origin_ns,
        first_done_ns: group.span.first_done_ns.saturating_sub(origin_ns),
        ended_ns: group.span.ended_ns.saturating_sub(origin_ns),
        dirs: group.dirs,
    };
    HostRow { groups: host.groups.iter().map(group).collect(), ..host.row }
}

/// Why a host failed or ended early.
fn failure(report: &Report, ended_early: Option<String>) -> Option<String> {
    let failed = report.jobs.iter().find_map(|job| {
        let failure = job.failure.as_ref()?;
        Some(format!("{}: {}", job.name, failure.words()))
    });
    failed.or(ended_early)
}

/// Ranks on one host have names of their own.
fn name_apart(hosts: &mut [MergedHost]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    hosts.iter().for_each(|host| *seen.entry(host.row.name.clone()).or_default() += 1);
    for (at, host) in hosts.iter_mut().enumerate() {
        if seen.get(&host.row.name).is_some_and(|&times| times > 1) {
            let rank = host.row.rank.unwrap_or(at as u32);
            host.row.name = format!("{}:{rank}", host.row.name);
        }
    }
}

/// A file's name without its directory and ending.
fn name_of_file(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}
