//! What of jobs' files is in the page cache while they read: looked at by the
//! conductor now and then, so that hits are not judged by what was there at the start.

use crate::control::Shared;
use crate::job::{FileKind, JobId, JobPlan, Plan};
use iosonde_base::Dir;
use iosonde_direct::cache;
use iosonde_sys::files::without_waiting;
use iosonde_witness::ResidencySample;
use iosonde_witness::reading::sample;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between two looks.
const EVERY: Duration = Duration::from_millis(200);
/// A look costs this share of a processor at most: the next one waits so many times as
/// long as it took. A GiB of cached pages of 4 KiB takes some milliseconds.
const REST: u32 = 1000;
/// Files of a job that are looked at, spread over all.
const FILES_MOST: usize = 8;
/// Jobs that are looked at.
const JOBS_MOST: usize = 16;
/// Samples of a job; when there are more, each second one goes.
const SAMPLES_MOST: usize = 64;

/// Looks at the files of jobs that read at random through the page cache.
#[derive(Default)]
pub(super) struct ResidencyWatch {
    jobs: Vec<Watched>,
    due: Option<Instant>,
}

/// The files of one job.
struct Watched {
    job: JobId,
    ranges: Vec<(PathBuf, u64, u64)>,
    files: Vec<File>,
    samples: Vec<ResidencySample>,
    /// Only each of so many looks is kept.
    thinned: usize,
    looks: usize,
}

impl ResidencyWatch {
    /// For a plan of which nothing has begun.
    pub fn new(plan: &Plan) -> ResidencyWatch {
        let jobs = plan.jobs.iter().enumerate().filter(|(_, job)| may_hit(job));
        let watched = |(at, job): (JobId, &JobPlan)| Watched {
            job: at,
            ranges: ranges(job),
            files: Vec::new(),
            samples: Vec::new(),
            thinned: 1,
            looks: 0,
        };
        ResidencyWatch { jobs: jobs.take(JOBS_MOST).map(watched).collect(), due: None }
    }

    /// These jobs are about to be let go; their files are laid out.
    pub fn begin(&mut self, jobs: &[JobId]) {
        for watched in self.jobs.iter_mut().filter(|watched| jobs.contains(&watched.job)) {
            let open = |(path, _, _): &(PathBuf, u64, u64)| {
                without_waiting(File::options().read(true)).open(path)
            };
            // A file that is not there yet has nothing in the page cache either.
            watched.files =
                watched.ranges.iter().map(open).collect::<Result<_, _>>().unwrap_or_default();
        }
        if self.jobs.iter().any(|watched| !watched.files.is_empty()) {
            self.due = Some(Instant::now() + EVERY);
        }
    }

    /// Look, if it is time.
    pub fn look(&mut self, now: Instant, shared: &[Arc<Shared>]) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        for watched in self.jobs.iter_mut().filter(|watched| !watched.files.is_empty()) {
            watched.look(&shared[watched.job]);
        }
        let is_over = self.jobs.iter().all(|watched| watched.files.is_empty());
        self.due = (!is_over).then(|| Instant::now() + (now.elapsed() * REST).max(EVERY));
    }

    /// By job, what was seen.
    pub fn finish(self, jobs: usize) -> Vec<Vec<ResidencySample>> {
        let mut all = vec![Vec::new(); jobs];
        for watched in self.jobs {
            all[watched.job] = watched.samples;
        }
        all
    }
}

impl Watched {
    fn look(&mut self, shared: &Shared) {
        let (mut cached, mut bytes) = (0, 0);
        for ((_, offset, length), file) in self.ranges.iter().zip(&self.files) {
            let found = cache::residency(file, *offset, (*length).max(1));
            let Some(found) = found.known() else {
                self.files.clear();
                return;
            };
            cached += found.cached_bytes();
            bytes += length;
        }
        let read_bytes = shared.counters.lane(Dir::Read).bytes.get();
        let share = if bytes == 0 { 0.0 } else { (cached as f64 / bytes as f64).min(1.0) };
        self.add(ResidencySample { read_bytes, share });
        // What is there from now on the job has brought itself.
        if cached == 0 || self.samples.last().is_some_and(|last| last.read_bytes > read_bytes) {
            self.files.clear();
        }
    }

    fn add(&mut self, sample: ResidencySample) {
        if self.looks.is_multiple_of(self.thinned) || sample.share == 0.0 {
            self.samples.push(sample);
        }
        self.looks += 1;
        if self.samples.len() >= SAMPLES_MOST {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.thinned *= 2;
        }
    }
}

/// Whether its reads may find pages that nobody but the cache explains.
fn may_hit(job: &JobPlan) -> bool {
    let caps = &job.engine.caps;
    let reads_only = job.dirs[Dir::Read] && !job.dirs[Dir::Write];
    let is_read = reads_only && job.source.directions.random && !job.open.mode.direct;
    is_read && !caps.diskless && !caps.no_io && !caps.by_name && job.measure.readings.is_some()
}

fn ranges(job: &JobPlan) -> Vec<(PathBuf, u64, u64)> {
    let holds_data = |kind| matches!(kind, FileKind::Regular | FileKind::Block);
    let files = sample(job.files.len(), FILES_MOST).map(|at| &job.files[at]);
    let files = files.filter(|file| holds_data(file.kind));
    files.map(|file| (file.path.clone(), file.offset, file.bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_samples_spread_over_all_of_it() {
        let mut watched = Watched {
            job: 0,
            ranges: Vec::new(),
            files: Vec::new(),
            samples: Vec::new(),
            thinned: 1,
            looks: 0,
        };
        for at in 0..10_000 {
            watched.add(ResidencySample { read_bytes: at, share: 0.5 });
        }
        assert!((16..64).contains(&watched.samples.len()), "{}", watched.samples.len());
        let gaps: Vec<u64> = watched
            .samples
            .windows(2)
            .map(|pair| pair[1].read_bytes - pair[0].read_bytes)
            .collect();
        assert!(gaps.iter().all(|&gap| gap <= 512), "{gaps:?}");
    }
}
