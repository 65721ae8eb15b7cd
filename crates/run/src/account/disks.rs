//! The disks under a run's files, and what they did while it ran.

use crate::job::{FileKind, Plan};
use iosonde_report::{DiskCounts, DiskReport};
use iosonde_sys::counters::DiskCounters;
use iosonde_sys::stack::{DiskLine, Stack};
use std::path::Path;
use std::time::Instant;

/// Disks, with the counters read before a run.
#[derive(Debug)]
pub struct WatchedDisks {
    disks: Vec<WatchedDisk>,
    since: Instant,
}

#[derive(Debug)]
struct WatchedDisk {
    line: DiskLine,
    before: Option<DiskCounters>,
    parts_before: Vec<Option<DiskCounters>>,
}

/// What disks did.
#[derive(Clone, Debug, Default)]
pub struct DiskUse(Vec<DiskReport>);

impl WatchedDisks {
    /// None.
    pub fn none() -> WatchedDisks {
        WatchedDisks { disks: Vec::new(), since: Instant::now() }
    }

    /// Read the counters of every disk under the plan's files. Where there is
    /// none (tmpfs, network, the null engine) nothing is watched.
    pub fn under(plan: &Plan) -> WatchedDisks {
        let mut disks: Vec<WatchedDisk> = Vec::new();
        let mut folders_seen: Vec<&Path> = Vec::new();
        for job in plan.jobs.iter().filter(|job| job.reporting.disk_util) {
            for file in job.files.iter().filter(|file| file.kind != FileKind::None) {
                // Files of one directory are on the same disks.
                let place = match file.kind {
                    FileKind::Regular => file.path.parent().unwrap_or(&file.path),
                    _ => &file.path,
                };
                if folders_seen.contains(&place) {
                    continue;
                }
                folders_seen.push(place);
                let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
                let Ok(stack) = Stack::under(place) else { continue };
                for line in stack.disk_lines() {
                    if !disks.iter().any(|disk| disk.line.name == line.name) {
                        disks.push(WatchedDisk::read(line));
                    }
                }
            }
        }
        WatchedDisks { disks, since: Instant::now() }
    }

    /// What the disks have counted since, by name; one that has gone is left out.
    pub fn counters(&self) -> Vec<(String, DiskCounters)> {
        let since = |disk: &WatchedDisk| {
            let now = DiskCounters::of(&disk.line.name).ok()?;
            Some((disk.line.name.clone(), now.since(disk.before.as_ref()?)))
        };
        self.disks.iter().filter_map(since).collect()
    }

    /// What the disks have done since.
    pub fn used(&self) -> DiskUse {
        let elapsed_ms = self.since.elapsed().as_millis().max(1) as f64;
        DiskUse(self.disks.iter().filter_map(|disk| disk.report(elapsed_ms)).collect())
    }
}

impl DiskUse {
    /// For the report.
    pub fn reports(&self) -> Vec<DiskReport> {
        self.0.clone()
    }
}

impl WatchedDisk {
    fn read(line: DiskLine) -> WatchedDisk {
        let read = |name: &str| DiskCounters::of(name).ok();
        WatchedDisk {
            before: read(&line.name),
            parts_before: line.parts.iter().map(|name| read(name)).collect(),
            line,
        }
    }

    fn report(&self, elapsed_ms: f64) -> Option<DiskReport> {
        let one = |name: &str, before: &Option<DiskCounters>| {
            let now = DiskCounters::of(name).ok()?;
            Some(counts(&now.since(&before.as_ref().copied()?), elapsed_ms))
        };
        let parts = self.line.parts.iter().zip(&self.parts_before);
        let slaves: Vec<DiskReport> = parts
            .filter_map(|(name, before)| {
                Some(DiskReport {
                    name: name.clone(),
                    counts: one(name, before)?,
                    ..DiskReport::default()
                })
            })
            .collect();
        Some(DiskReport {
            name: self.line.name.clone(),
            counts: one(&self.line.name, &self.before)?,
            aggregate: (!slaves.is_empty()).then(|| mean(&slaves)),
            slaves,
        })
    }
}

fn counts(used: &DiskCounters, elapsed_ms: f64) -> DiskCounts {
    DiskCounts {
        ios: [used.reads, used.writes],
        sectors: Some([used.read_sectors, used.write_sectors]),
        merges: [used.read_merges, used.write_merges],
        ticks_ms: [used.read_ms, used.write_ms],
        in_queue_ms: used.queue_ms,
        util_percent: (used.busy_ms as f64 * 100.0 / elapsed_ms).min(100.0),
    }
}

/// fio's aggregate: the mean over the disks below.
fn mean(slaves: &[DiskReport]) -> DiskCounts {
    let n = slaves.len() as u64;
    let sum = |pick: fn(&DiskCounts) -> u64| {
        slaves.iter().map(|disk| pick(&disk.counts)).sum::<u64>() / n
    };
    DiskCounts {
        ios: [sum(|c| c.ios[0]), sum(|c| c.ios[1])],
        sectors: Some([0, 1].map(|at| {
            let of = |disk: &DiskReport| disk.counts.sectors.map_or(0, |sectors| sectors[at]);
            slaves.iter().map(of).sum::<u64>() / n
        })),
        merges: [sum(|c| c.merges[0]), sum(|c| c.merges[1])],
        ticks_ms: [sum(|c| c.ticks_ms[0]), sum(|c| c.ticks_ms[1])],
        in_queue_ms: sum(|c| c.in_queue_ms),
        util_percent: slaves.iter().map(|disk| disk.counts.util_percent).sum::<f64>() / n as f64,
    }
}
