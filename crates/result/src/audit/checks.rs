//! What the counts in a fio result prove: a function for each rule.

use super::fio_result::{FioJob, FioResult};
use iosonde_base::text::{
    bytes, count, counted as number_of, duration_of_ms, percent, percent_of, short_duration,
};
use iosonde_report::finding::{Severity, Statement};

/// No request of a disk is larger, whatever is read ahead or merged
/// (max_sectors_kb is a few MiB at most).
const REQUEST_MOST: u64 = 4 << 20;

/// Engines that touch no storage, or none that a disk would count.
const DISKLESS: [&str; 5] = ["null", "net", "netsplice", "cpuio", "exec"];

/// fio begins to count disks up to this long after the jobs begin (seen on
/// 3.33: a job of 0.2 s lacks a quarter of its requests, one of 2 s a twentieth).
const COUNT_LATE_MS: u64 = 250;

/// A run shorter than this is mostly missed by the counts.
const COUNT_LEAST_MS: u64 = 1000;

fn counts(run: &FioResult) -> bool {
    !run.disks.is_empty() && run.runtime_ms() >= COUNT_LEAST_MS
}

/// How much of `whole` the disks must have counted at least.
fn seen_at_least(run: &FioResult, whole: u64) -> u64 {
    let runtime = run.runtime_ms().max(1);
    let share = 1.0 - COUNT_LATE_MS.min(runtime) as f64 / runtime as f64;
    (whole as f64 * share) as u64
}

/// A job ended with an error.
pub fn errors(run: &FioResult) -> Vec<Statement> {
    let Some(job) = run.jobs.iter().find(|job| job.error != 0) else { return Vec::new() };
    let text =
        format!("job {} ended with error {}: its results are incomplete", job.name, job.error);
    Statement::one(Severity::Warning, text)
}

/// Storage was used and no disk was counted.
pub fn no_counts(run: &FioResult) -> Vec<Statement> {
    if !run.disks.is_empty() || run.jobs.iter().all(|job| DISKLESS.contains(&&job.engine[..])) {
        return Vec::new();
    }
    let text = "the result has no disk_util: nothing shows which I/O reached a device";
    Statement::one(Severity::Note, text)
}

/// The jobs were too short for the counts to prove anything.
pub fn late_counts(run: &FioResult) -> Vec<Statement> {
    let runtime = run.runtime_ms();
    if run.disks.is_empty() || runtime == 0 || runtime >= COUNT_LEAST_MS {
        return Vec::new();
    }
    let text = format!(
        "the jobs ran for {}, and fio begins to count disks up to {} late: the counts prove nothing",
        duration_of_ms(runtime),
        short_duration(COUNT_LATE_MS * 1_000_000)
    );
    Statement::one(Severity::Note, text)
}

/// Reads that no disk did.
pub fn from_memory(run: &FioResult) -> Vec<Statement> {
    let (ios, read) = (run.sum(|job| job.ios[0]), run.sum(|job| job.bytes[0]));
    if !counts(run) || ios == 0 {
        return Vec::new();
    }
    let requests = run.requests(0);
    // Even the largest requests carry no more than this.
    let carried = requests.saturating_mul(REQUEST_MOST);
    let least = seen_at_least(run, read);
    let one_each = run.jobs.iter().filter(|job| job.ios[0] > 0).all(|job| job.direct || job.random);
    let seen = seen_at_least(run, ios);
    if all_direct(run) {
        return Vec::new();
    }
    if carried < least {
        let text = format!(
            "at least {} of the reads came from the page cache: the jobs read {} in {}, the disks \
             did {}",
            percent_of(least - carried, least),
            bytes(read),
            number_of(ios, "I/O"),
            number_of(requests, "read request")
        );
        return Statement::one(Severity::Warning, text);
    }
    // A direct read is a request at least, and a random one finds little that
    // was read ahead.
    if one_each && requests < seen - seen / 10 {
        let text = format!(
            "at least {} of the reads came from the page cache: the jobs did {}, the disks did {}",
            percent_of(seen - requests, ios),
            number_of(ios, "read"),
            number_of(requests, "read request")
        );
        return Statement::one(Severity::Warning, text);
    }
    Vec::new()
}

fn all_direct(run: &FioResult) -> bool {
    run.jobs.iter().filter(|job| job.ios[0] > 0).all(|job| job.direct)
}

/// Direct reads that no disk did.
pub fn of_holes(run: &FioResult) -> Vec<Statement> {
    let (ios, requests) = (run.sum(|job| job.ios[0]), run.requests(0));
    let least = seen_at_least(run, run.sum(|job| job.bytes[0]));
    let seen = seen_at_least(run, ios);
    let carried = requests.saturating_mul(REQUEST_MOST);
    let missing = carried < least || requests < seen - seen / 10;
    if !counts(run) || ios == 0 || !all_direct(run) || !missing {
        return Vec::new();
    }
    let text = format!(
        "the disks did {} for {} of direct reads: the file may have holes (parts that were \
         never written), or a cache below the file system answered",
        number_of(requests, "read request"),
        number_of(ios, "I/O"),
    );
    Statement::one(Severity::Warning, text)
}

/// Writes that no disk did before the end.
pub fn not_written(run: &FioResult) -> Vec<Statement> {
    let written = run.sum(|job| job.bytes[1]);
    let requests = run.requests(1);
    let carried = requests.saturating_mul(REQUEST_MOST);
    let least = seen_at_least(run, written);
    if !counts(run) || written == 0 || carried >= least {
        return Vec::new();
    }
    let text = format!(
        "at least {} of the {} written were not on the disks at the end of the run: they did {}",
        percent_of(least - carried, written),
        bytes(written),
        number_of(requests, "write request")
    );
    Statement::one(Severity::Warning, text)
}

/// Writes without any sync.
pub fn not_durable(run: &FioResult) -> Vec<Statement> {
    let writes = |job: &&FioJob| job.bytes[1] > 0 && !DISKLESS.contains(&&job.engine[..]);
    let durable = |job: &FioJob| job.syncs > 0 || job.end_sync || job.sync_writes;
    let Some(job) = run.jobs.iter().filter(writes).find(|job| !durable(job)) else {
        return Vec::new();
    };
    let where_it_is = if job.direct {
        "the data may be in the device's write cache"
    } else {
        "the data may be in the page cache"
    };
    Statement::one(Severity::Note, format!("job {} did no sync: {where_it_is}", job.name))
}

/// Requests that these jobs did not issue.
pub fn others(run: &FioResult) -> Vec<Statement> {
    // Small direct I/Os are a request each; larger ones may be split.
    const SMALL: u64 = 64 << 10;
    let small = |job: &FioJob| {
        let ios = job.ios[0] + job.ios[1];
        job.direct && ios > 0 && (job.bytes[0] + job.bytes[1]) / ios <= SMALL
    };
    let ramped = run.jobs.iter().any(|job| job.ramped);
    if !counts(run) || ramped || !run.jobs.iter().all(small) || run.sum(|job| job.syncs) > 0 {
        return Vec::new();
    }
    let ios = run.sum(|job| job.ios[0] + job.ios[1]);
    let requests = run.requests(0) + run.requests(1);
    let more = requests.saturating_sub(ios);
    // Of a mirror each write is done twice.
    if run.disks.len() != 1 || more <= 100 || more <= ios / 10 {
        return Vec::new();
    }
    let text = format!(
        "about {} of the disk's requests were not from these jobs: {} for {}",
        percent_of(more, requests),
        number_of(requests, "request"),
        number_of(ios, "I/O")
    );
    Statement::one(Severity::Note, text)
}

/// A queue depth that the disks never had.
pub fn depth(run: &FioResult) -> Vec<Statement> {
    let runtime = run.runtime_ms();
    let requested: u64 = run.sum(|job| job.depth.saturating_mul(job.count));
    let works = run.sum(|job| job.ios[0] + job.ios[1]) > 0;
    if !counts(run) || runtime == 0 || requested < 4 || !works {
        return Vec::new();
    }
    let observed = run.disks.iter().map(|disk| disk.queue_ms).sum::<u64>() as f64 / runtime as f64;
    if observed >= requested as f64 / 3.0 || run.jobs.iter().any(|job| job.paced) {
        return Vec::new();
    }
    let text = format!(
        "queue depth {requested} requested, {} observed at the disks on average",
        count(observed)
    );
    Statement::one(Severity::Warning, text)
}

/// A busy processor and idle disks.
pub fn not_busy(run: &FioResult) -> Vec<Statement> {
    let busiest = run.disks.iter().map(|disk| disk.util).fold(0.0, f64::max);
    let Some(job) = run.jobs.iter().find(|job| job.cpu >= 95.0) else { return Vec::new() };
    if !counts(run) || busiest >= 90.0 {
        return Vec::new();
    }
    let text = format!(
        "job {} used {} of a processor while no disk was busy for more than {} of the time",
        job.name,
        percent(job.cpu / 100.0),
        percent(busiest / 100.0)
    );
    Statement::one(Severity::Warning, text)
}

/// A short measurement.
pub fn short(run: &FioResult) -> Vec<Statement> {
    let runtime = run.runtime_ms();
    if runtime == 0 || runtime >= 10_000 {
        return Vec::new();
    }
    Statement::one(Severity::Note, format!("measured for {}", duration_of_ms(runtime)))
}
