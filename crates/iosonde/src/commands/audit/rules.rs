//! What the counts in a result prove, a rule in each function.

use super::result::{Job, Run};
use crate::commands::format::{bytes, percent};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The figures are not what they seem.
    Misleading,
    /// It cannot be told.
    Unknown,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// Its name in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Misleading => "warning",
            Severity::Unknown => "unknown",
            Severity::Note => "note",
        }
    }
}

/// What a rule found.
#[derive(Debug)]
pub struct Finding {
    pub id: &'static str,
    pub severity: Severity,
    pub says: String,
    pub remedy: String,
}

impl Finding {
    fn new(id: &'static str, severity: Severity, says: String, remedy: &str) -> Finding {
        Finding { id, severity, says, remedy: remedy.to_owned() }
    }
}

/// No request of a disk is larger, whatever is read ahead or merged
/// (max_sectors_kb is a few MiB at most).
const REQUEST_MOST: u64 = 4 << 20;

/// Engines that touch no storage, or none that a disk would count.
const DISKLESS: [&str; 5] = ["null", "net", "netsplice", "cpuio", "exec"];

/// Everything that can be said.
pub fn judge(run: &Run) -> Vec<Finding> {
    let rules = [
        errors,
        no_counts,
        late_counts,
        from_memory,
        not_written,
        not_durable,
        others,
        depth,
        not_busy,
        short,
    ];
    rules.iter().filter_map(|rule| rule(run)).collect()
}

/// fio begins to count disks up to this long after the jobs begin (seen on
/// 3.33: a job of 0.2 s lacks a quarter of its requests, one of 2 s a twentieth).
const COUNT_LATE_MS: u64 = 250;

/// A run shorter than this is mostly missed by the counts.
const COUNT_LEAST_MS: u64 = 1000;

fn counts(run: &Run) -> bool {
    !run.disks.is_empty() && run.runtime_ms() >= COUNT_LEAST_MS
}

/// How much of `whole` the disks must have counted at least.
fn counted(run: &Run, whole: u64) -> u64 {
    let runtime = run.runtime_ms().max(1);
    let share = 1.0 - COUNT_LATE_MS.min(runtime) as f64 / runtime as f64;
    (whole as f64 * share) as u64
}

fn errors(run: &Run) -> Option<Finding> {
    let job = run.jobs.iter().find(|job| job.error != 0)?;
    Some(Finding::new(
        "failed",
        Severity::Misleading,
        format!("job {} ended with error {}: its figures are of a part.", job.name, job.error),
        "mend the error and repeat.",
    ))
}

fn no_counts(run: &Run) -> Option<Finding> {
    if !run.disks.is_empty() || run.jobs.iter().all(|job| DISKLESS.contains(&&job.engine[..])) {
        return None;
    }
    Some(Finding::new(
        "no-disk-counts",
        Severity::Unknown,
        "the result has no disk_util, so nothing shows that a device did any of this: so it is \
         on tmpfs, overlayfs and network file systems, and with disk_util=0."
            .to_owned(),
        "name files on a file system of a disk, and leave disk_util on.",
    ))
}

fn late_counts(run: &Run) -> Option<Finding> {
    let runtime = run.runtime_ms();
    let missed = !run.disks.is_empty() && 0 < runtime && runtime < COUNT_LEAST_MS;
    missed.then(|| {
        let says = format!(
            "the jobs ran for {runtime} ms, and fio begins to count disks up to {COUNT_LATE_MS} ms \
             late: its counts prove nothing here."
        );
        let remedy = "use time_based=1 and runtime=60 or more.";
        Finding::new("late-disk-counts", Severity::Unknown, says, remedy)
    })
}

fn from_memory(run: &Run) -> Option<Finding> {
    let (ios, asked) = (run.sum(|job| job.ios[0]), run.sum(|job| job.bytes[0]));
    if !counts(run) || ios == 0 {
        return None;
    }
    let requests = run.requests(0);
    let remedy = "use direct=1, or a file that is larger than memory with invalidate=1; then \
                  iosonde run on the same job tells the share exactly.";
    // Even the largest requests carry no more than this.
    let carried = requests.saturating_mul(REQUEST_MOST);
    let asked = counted(run, asked);
    if carried < asked {
        let share = percent(asked - carried, asked);
        let says = format!(
            "at least {share} % of the reads came from memory: the jobs read {} in {ios} I/Os, \
             the disks did {requests} read requests.",
            bytes(run.sum(|job| job.bytes[0])),
        );
        return Some(Finding::new("reads-from-memory", Severity::Misleading, says, remedy));
    }
    // A direct read is a request at least, and a random one finds little that
    // was read ahead.
    let one_each = run.jobs.iter().filter(|job| job.ios[0] > 0).all(|job| job.direct || job.random);
    let seen = counted(run, ios);
    if one_each && requests < seen - seen / 10 {
        let says = format!(
            "at least {} % of the reads came from memory: {ios} reads, of which the disks saw \
             {requests}.",
            percent(seen - requests, ios),
        );
        return Some(Finding::new("reads-from-memory", Severity::Misleading, says, remedy));
    }
    None
}

fn not_written(run: &Run) -> Option<Finding> {
    let asked = run.sum(|job| job.bytes[1]);
    if !counts(run) || asked == 0 {
        return None;
    }
    let requests = run.requests(1);
    let carried = requests.saturating_mul(REQUEST_MOST);
    let seen = counted(run, asked);
    (carried < seen).then(|| {
        let says = format!(
            "at least {} % of the {} written were not on the disks when the run ended: they did \
             {requests} write requests.",
            percent(seen - carried, asked),
            bytes(asked),
        );
        let remedy = "the bandwidth is that of memory: use end_fsync=1, or direct=1.";
        Finding::new("writes-in-memory", Severity::Misleading, says, remedy)
    })
}

fn not_durable(run: &Run) -> Option<Finding> {
    let writes = |job: &&Job| job.bytes[1] > 0 && !DISKLESS.contains(&&job.engine[..]);
    let durable = |job: &Job| job.syncs > 0 || job.end_sync || job.sync_writes;
    let job = run.jobs.iter().filter(writes).find(|job| !durable(job))?;
    let says = match job.direct {
        true => format!(
            "job {} wrote around the page cache but synced nothing: the data may be in the \
             device's write cache.",
            job.name
        ),
        false => format!(
            "job {} synced nothing: its rate is that of writes that a power cut may undo.",
            job.name
        ),
    };
    let remedy =
        "add end_fsync=1, or fsync=N or sync=dsync as the program that it stands for does.";
    Some(Finding::new("not-durable", Severity::Note, says, remedy))
}

fn others(run: &Run) -> Option<Finding> {
    // Small direct I/Os are a request each; larger ones may be split.
    const SMALL: u64 = 64 << 10;
    let small = |job: &Job| {
        let ios = job.ios[0] + job.ios[1];
        job.direct && ios > 0 && (job.bytes[0] + job.bytes[1]) / ios <= SMALL
    };
    if !counts(run) || !run.jobs.iter().all(small) || run.sum(|job| job.syncs) > 0 {
        return None;
    }
    let ios = run.sum(|job| job.ios[0] + job.ios[1]);
    let requests = run.requests(0) + run.requests(1);
    let more = requests.saturating_sub(ios);
    // Of a mirror each write is done twice.
    (run.disks.len() == 1 && more > 100 && more > ios / 10).then(|| {
        let says = format!(
            "about {} % of the disk's requests were not these jobs': {requests} requests for \
             {ios} I/Os.",
            percent(more, requests),
        );
        let remedy = "stop what else uses the disk (iotop, biotop) and repeat; laying out files \
                      counts too, so lay them out in a run before.";
        Finding::new("other-traffic", Severity::Note, says, remedy)
    })
}

fn depth(run: &Run) -> Option<Finding> {
    let runtime = run.runtime_ms();
    let asked: u64 = run.sum(|job| job.depth.saturating_mul(job.count));
    let works = run.sum(|job| job.ios[0] + job.ios[1]) > 0;
    if !counts(run) || runtime == 0 || asked < 4 || !works {
        return None;
    }
    let held = run.disks.iter().map(|disk| disk.queue_ms).sum::<u64>() as f64 / runtime as f64;
    (held < asked as f64 / 2.0).then(|| {
        let says = format!(
            "the jobs asked for {asked} I/Os in flight, the disks had {held:.1} on average."
        );
        let remedy = "an engine of plain system calls, or buffered libaio, holds one at a time: \
                      use io_uring, or libaio with direct=1; or the processor was the limit.";
        Finding::new("depth-not-reached", Severity::Misleading, says, remedy)
    })
}

fn not_busy(run: &Run) -> Option<Finding> {
    let busiest = run.disks.iter().map(|disk| disk.util).fold(0.0, f64::max);
    let job = run.jobs.iter().find(|job| job.cpu >= 95.0)?;
    (counts(run) && busiest < 90.0).then(|| {
        let says = format!(
            "job {} used {:.0} % of a processor while no disk was busy more than {busiest:.0} %: \
             the processor was measured.",
            job.name, job.cpu
        );
        let remedy = "use more jobs, larger blocks, or a cheaper engine.";
        Finding::new("processor-bound", Severity::Misleading, says, remedy)
    })
}

fn short(run: &Run) -> Option<Finding> {
    let runtime = run.runtime_ms();
    (0 < runtime && runtime < 10_000).then(|| {
        let seconds = runtime as f64 / 1000.0;
        let says =
            format!("it ran for {seconds:.1} s: caches and collections of a device take longer.");
        Finding::new("short-run", Severity::Note, says, "use time_based=1 and runtime=60 or more.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A run of one job that read 1000 blocks of 4 KiB, with what is put in it.
    fn found(job: Value, disk: Option<Value>) -> Vec<&'static str> {
        let mut whole = json!({
            "fio version": "fio-3.33",
            "jobs": [{
                "jobname": "a", "error": 0, "job options": { "rw": "randread", "direct": "1" },
                "read": { "total_ios": 1000, "io_bytes": 4_096_000, "runtime": 60_000 },
                "write": { "total_ios": 0, "io_bytes": 0, "runtime": 0 },
                "sync": { "total_ios": 0 }, "usr_cpu": 1.0, "sys_cpu": 2.0,
            }],
            "disk_util": [],
        });
        let of = whole["jobs"][0].as_object_mut().unwrap();
        of.extend(job.as_object().unwrap().clone());
        whole["disk_util"].as_array_mut().unwrap().extend(disk);
        let run = Run::parse(&format!("fio: a note\n{whole}\n")).unwrap();
        judge(&run).into_iter().map(|finding| finding.id).collect()
    }

    fn disk(reads: u64, writes: u64) -> Option<Value> {
        Some(json!({
            "name": "vda", "read_ios": reads, "write_ios": writes, "read_merges": 0,
            "write_merges": 0, "in_queue": 59_000, "util": 99.0,
        }))
    }

    #[test]
    fn a_run_whose_disk_did_it_is_clean() {
        assert!(found(json!({}), disk(1000, 0)).is_empty());
        assert!(found(json!({}), disk(1050, 20)).is_empty());
    }

    #[test]
    fn reads_that_no_disk_did_came_from_memory() {
        assert_eq!(found(json!({}), disk(0, 0)), ["reads-from-memory"]);
        assert_eq!(found(json!({}), disk(800, 0)), ["reads-from-memory"]);
        // In order a request may carry a thousand.
        let order = json!({ "job options": { "rw": "read" } });
        assert!(found(order.clone(), disk(4, 0)).is_empty());
        assert_eq!(found(order, disk(0, 0)), ["reads-from-memory"]);
    }

    #[test]
    fn writes_are_on_the_disk_or_not_and_durable_or_not() {
        let way = json!({ "total_ios": 1000, "io_bytes": 4_096_000, "runtime": 60_000 });
        let none = json!({ "total_ios": 0, "io_bytes": 0, "runtime": 0 });
        let with = |options: Value| json!({ "read": none, "write": way, "job options": options });
        let buffered = with(json!({ "rw": "write" }));
        assert_eq!(found(buffered.clone(), disk(0, 0)), ["writes-in-memory", "not-durable"]);
        assert_eq!(found(buffered, disk(0, 1000)), ["not-durable"]);
        let synced = with(json!({ "rw": "write", "end_fsync": "1" }));
        assert!(found(synced, disk(0, 1000)).is_empty());
        let dsync = with(json!({ "rw": "write", "sync": "dsync" }));
        assert!(found(dsync, disk(0, 1000)).is_empty());
    }

    #[test]
    fn depth_processor_others_errors_and_a_missing_count_are_told() {
        let deep = json!({ "job options": { "rw": "randread", "direct": "1", "iodepth": "32" } });
        assert_eq!(found(deep, disk(1000, 0)), ["depth-not-reached"]);
        let mut idle = disk(1000, 0);
        idle.as_mut().unwrap()["util"] = json!(30.0);
        assert_eq!(found(json!({ "usr_cpu": 60.0, "sys_cpu": 38.0 }), idle), ["processor-bound"]);
        assert_eq!(found(json!({}), disk(2000, 0)), ["other-traffic"]);
        assert_eq!(found(json!({ "error": 5 }), disk(1000, 0)), ["failed"]);
        let way = json!({ "total_ios": 1000, "io_bytes": 4_096_000, "runtime": 200 });
        let brief = found(json!({ "read": way }), disk(10, 0));
        assert_eq!(brief, ["late-disk-counts", "short-run"]);
        assert_eq!(found(json!({}), None), ["no-disk-counts"]);
    }

    #[test]
    fn what_is_no_result_is_refused_with_words() {
        for text in ["", "hello", "{", "{}", "[1]", r#"{"fio version": "x", "jobs": []}"#] {
            assert!(Run::parse(text).is_err(), "{text}");
        }
    }
}
