//! How long after its clock each job's data was durable.

use crate::job::{FileKind, JobPlan, Plan};
use crate::worker::JobResult;
use iosonde_base::{Dir, Errno};
use iosonde_direct::durability;
use iosonde_engine::FsyncCall;
use iosonde_witness::reading::{SyncFile, drain};
use iosonde_witness::{DurableAfter, Fact};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The watch goes on for a fifth of the time that was counted, within these.
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(15);
/// Files of one job that are watched; with more, it is not known.
const FILES_MOST: usize = 1024;

/// One range of a file, once for all jobs that share it.
type Range<'a> = (&'a Path, u64, u64);
type DrainedRanges<'a> = BTreeMap<Range<'a>, Result<(Instant, Option<Duration>), DrainFailure>>;

/// Why a range did not become durable.
#[derive(Clone)]
struct DrainFailure {
    words: String,
    lost: Option<WriteBackError>,
}

/// Written data that the storage then did not take: it may be lost.
#[derive(Clone, Debug)]
pub struct WriteBackError {
    /// The number of the error.
    pub errno: Errno,
    /// Which file, and why.
    pub words: String,
}

impl DrainFailure {
    fn new(path: &Path, error: &std::io::Error) -> DrainFailure {
        let errnos = [Errno::EIO, Errno::ENOSPC, Errno::EDQUOT];
        let errno = Errno::known(error).filter(|errno| errnos.contains(errno));
        let words = format!(
            "{}: what was written could not be written back and may be lost: {error}",
            path.display()
        );
        DrainFailure {
            words: error.to_string(),
            lost: errno.map(|errno| WriteBackError { errno, words }),
        }
    }
}

/// By job, how its data became durable, and the error if it did not. Jobs of earlier
/// waves are not watched: writing their data out would have disturbed those that came
/// after.
pub(super) fn watch(
    plan: &Plan,
    results: &[Option<JobResult>],
    wave_of: &[usize],
    stop: &dyn Fn() -> bool,
) -> (Vec<Fact<DurableAfter>>, Vec<Option<WriteBackError>>) {
    let last = results
        .iter()
        .zip(wave_of)
        .filter(|(result, _)| result.as_ref().is_some_and(|result| result.seen.is_some()))
        .map(|(_, &wave)| wave)
        .max();
    let counted = results.iter().flatten().map(|result| result.runtime.0).max().unwrap_or(0);
    let begins = Instant::now();
    let limit = begins + Duration::from_nanos(counted / 5).clamp(SHORTEST, LONGEST);
    let mut watched: DrainedRanges<'_> = BTreeMap::new();
    let mut durable = Vec::new();
    let mut errors: Vec<Option<WriteBackError>> = vec![None; plan.jobs.len()];
    for (at, (job, result)) in plan.jobs.iter().zip(results).enumerate() {
        let seen = result.as_ref().and_then(|result| Some((result, result.seen.as_ref()?)));
        durable.push(match seen {
            None => Fact::unknown("the job did not run to its end"),
            Some((result, _)) if result.snapshot.lanes[Dir::Write as usize].bytes == 0 => {
                Fact::unknown("it wrote nothing")
            }
            Some(_) if job.end.unlink || job.end.unlink_each_loop => {
                Fact::unknown("its files were removed at its end")
            }
            Some(_) if Some(wave_of[at]) != last => {
                Fact::unknown("other jobs ran after it, which writing it out would have disturbed")
            }
            Some(_) if job.files.len() > FILES_MOST => {
                Fact::unknown("it has too many files to be watched")
            }
            Some(_) if stop() => Fact::unknown("the run was stopped"),
            Some((_, seen)) => of_job(job, (seen.ended, begins), &mut watched, limit, stop)
                .unwrap_or_else(|failure| {
                    errors[at] = failure.lost;
                    Fact::unknown(failure.words)
                }),
        });
    }
    (durable, errors)
}

/// By what a file is made durable: also where fsync(2) leaves the data in the drive's cache.
fn sync_of(call: FsyncCall) -> SyncFile {
    if call.empties_drive_cache { durability::sync_data } else { durability::full_barrier }
}

fn of_job<'a>(
    job: &'a JobPlan,
    (ended, begins): (Instant, Instant),
    watched: &mut DrainedRanges<'a>,
    limit: Instant,
    stop: &dyn Fn() -> bool,
) -> Result<Fact<DurableAfter>, DrainFailure> {
    let waited_ns = begins.saturating_duration_since(ended).as_nanos() as u64;
    let mut durability = DurableAfter { waited_ns, ..DurableAfter::default() };
    let holds_data = |kind| matches!(kind, FileKind::Regular | FileKind::Block);
    for file in job.files.iter().filter(|file| holds_data(file.kind)) {
        let range: Range<'_> = (&file.path, file.offset, file.bytes);
        let drained = watched.entry(range).or_insert_with(|| {
            let began = Instant::now();
            let drained = iosonde_engine::open_to_sync(range.0).and_then(|open| {
                drain((range.0, open), (range.1, range.2), sync_of(FsyncCall::HERE), (limit, stop))
            });
            match drained {
                Ok(pace) if pace.by_part => Ok((began, Some(pace.took))),
                Ok(_) => Ok((Instant::now(), None)),
                Err(error) => Err(DrainFailure::new(range.0, &error)),
            }
        });
        let (moment, rest) = drained.clone()?;
        let took = moment.saturating_duration_since(ended) + rest.unwrap_or_default();
        durability.took_ns = durability.took_ns.max(took.as_nanos() as u64);
        durability.by_part |= rest.is_some();
    }
    Ok(Fact::Known(durability))
}
