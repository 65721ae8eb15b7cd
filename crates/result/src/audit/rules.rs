//! The rules of an audit, in one table.

use super::checks;
use super::fio_result::FioResult;
use iosonde_report::finding::{FindingRule, Severity};

/// All rules, in the order they are printed among equals.
pub static RULES: &[FindingRule<FioResult>] = &[
    FindingRule {
        id: "failed",
        severity: Severity::Warning,
        condition: "a job ended with an error",
        meaning: "The job did not do all of its I/O: its results are incomplete.",
        remedy: "fix the error and rerun",
        check: checks::errors,
    },
    FindingRule {
        id: "no-disk-counts",
        severity: Severity::Note,
        condition: "an engine that uses storage ran and the result has no disk_util",
        meaning: "Without the counts of the disks nothing shows which I/O reached a device. fio writes none on tmpfs, overlayfs and network file systems, and with disk_util=0.",
        remedy: "use files on a file system of a disk, and leave disk_util on",
        check: checks::no_counts,
    },
    FindingRule {
        id: "late-disk-counts",
        severity: Severity::Note,
        condition: "the jobs ran for less than 1 s",
        meaning: "fio begins to count disks up to 250 ms after the jobs begin, so the counts of a short run prove nothing.",
        remedy: "set runtime=60 or more and time_based",
        check: checks::late_counts,
    },
    FindingRule {
        id: "page-cache-reads",
        severity: Severity::Warning,
        condition: "the disks did fewer read requests than buffered reads need: one for each 4 MiB, or one for each random read (10 % are tolerated)",
        meaning: "Reads that no disk did came from the page cache: the rate and the latencies are those of memory, or a mixture.",
        remedy: "set direct=1, or use a file larger than memory with invalidate=1; run the same job with iosonde for the exact share",
        check: checks::from_memory,
    },
    FindingRule {
        id: "holes-read",
        severity: Severity::Warning,
        condition: "the disks did fewer read requests than direct reads need: one for each (10 % are tolerated)",
        meaning: "Direct reads that no disk did were of holes, parts of the file that were never written, or a cache below the file system answered: the rate is that of the processor or of memory.",
        remedy: "write the file first: remove it and let the job lay it out, or run a write job over all of it; run the same job with iosonde for the share of holes",
        check: checks::of_holes,
    },
    FindingRule {
        id: "not-durable",
        severity: Severity::Warning,
        condition: "the disks did fewer write requests than the writes need: one for each 4 MiB",
        meaning: "The missing writes were still in the page cache when the run ended: the rate is that of memory.",
        remedy: "set end_fsync=1 to include write-back, or set direct=1",
        check: checks::not_written,
    },
    FindingRule {
        id: "no-sync",
        severity: Severity::Note,
        condition: "a job wrote and its result shows no sync: none counted, no end_fsync, fsync_on_close or sync",
        meaning: "The data may be in the page cache or in the volatile write cache of the device, where a loss of power undoes it.",
        remedy: "set end_fsync=1, or fsync=N or sync=dsync as the application does",
        check: checks::not_durable,
    },
    FindingRule {
        id: "other-traffic",
        severity: Severity::Note,
        condition: "one disk did at least 10 % more requests than small direct jobs without syncs issued; not of jobs with ramp_time, as the disks count their ramp",
        meaning: "Another program, or the layout of files, used the disk at the same time.",
        remedy: "stop what else uses the disk (iotop, biotop) and repeat; lay out files in a run before",
        check: checks::others,
    },
    FindingRule {
        id: "depth-not-reached",
        severity: Severity::Warning,
        condition: "a queue depth of 4 or more was requested and the disks had less than a third of it in flight on average; not of jobs with a rate or think time",
        meaning: "The results are those of the observed depth. Most engines submit buffered I/O one at a time, or the processor was the limit.",
        remedy: "use io_uring, or libaio with direct=1, and check the processor time",
        check: checks::depth,
    },
    FindingRule {
        id: "cpu-bound",
        severity: Severity::Warning,
        condition: "a job used 95 % of a processor while no disk was busy for 90 % of the time",
        meaning: "The processor set the rate, not a disk.",
        remedy: "use more jobs, larger blocks, or an engine with less work per I/O",
        check: checks::not_busy,
    },
    FindingRule {
        id: "short-run",
        severity: Severity::Note,
        condition: "the jobs ran for less than 10 s",
        meaning: "Caches and the garbage collection of a device need longer to show.",
        remedy: "set runtime=60 or more and time_based",
        check: checks::short,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_report::finding::{faults, judge};
    use serde_json::{Value, json};

    /// A run of one job that read 1000 blocks of 4 KiB, with what is put in it.
    fn found(job: Value, disk: Option<Value>) -> Vec<String> {
        let mut whole = json!({
            "fio version": "fio-3.33",
            "jobs": [{
                "jobname": "a", "error": 0, "job options": { "rw": "randread", "direct": "1" },
                "read": way(1000, 60_000), "write": way(0, 0),
                "sync": { "total_ios": 0 }, "usr_cpu": 1.0, "sys_cpu": 2.0,
            }],
            "disk_util": [],
        });
        let of = whole["jobs"][0].as_object_mut().unwrap();
        of.extend(job.as_object().unwrap().clone());
        whole["disk_util"].as_array_mut().unwrap().extend(disk);
        let stored = crate::read(&format!("fio: a note\n{whole}\n")).unwrap();
        let run = FioResult::of(&stored);
        judge(RULES, &run).into_iter().map(|finding| finding.id.into_owned()).collect()
    }

    /// A direction: so many I/Os of 4 KiB.
    fn way(ios: u64, runtime: u64) -> Value {
        let iops = ios as f64 * 1000.0 / runtime.max(1) as f64;
        json!({ "total_ios": ios, "io_bytes": ios * 4096, "runtime": runtime, "iops": iops })
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
        let buffered = json!({ "job options": { "rw": "randread" } });
        assert_eq!(found(buffered.clone(), disk(0, 0)), ["page-cache-reads"]);
        assert_eq!(found(buffered, disk(800, 0)), ["page-cache-reads"]);
        assert_eq!(found(json!({}), disk(800, 0)), ["holes-read"]);
        // In order a request may carry a thousand.
        let order = json!({ "job options": { "rw": "read" } });
        assert!(found(order.clone(), disk(4, 0)).is_empty());
        assert_eq!(found(order, disk(0, 0)), ["page-cache-reads"]);
    }

    #[test]
    fn writes_are_on_the_disk_or_not_and_durable_or_not() {
        let with = |options: Value| json!({ "read": way(0, 0), "write": way(1000, 60_000), "job options": options });
        let buffered = with(json!({ "rw": "write" }));
        assert_eq!(found(buffered.clone(), disk(0, 0)), ["not-durable", "no-sync"]);
        assert_eq!(found(buffered, disk(0, 1000)), ["no-sync"]);
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
        assert_eq!(found(json!({ "usr_cpu": 60.0, "sys_cpu": 38.0 }), idle), ["cpu-bound"]);
        assert_eq!(found(json!({}), disk(2000, 0)), ["other-traffic"]);
        assert_eq!(found(json!({ "error": 5 }), disk(1000, 0)), ["failed"]);
        let brief = found(json!({ "read": way(1000, 200) }), disk(10, 0));
        assert_eq!(brief, ["late-disk-counts", "short-run"]);
        assert_eq!(found(json!({}), None), ["no-disk-counts"]);
    }

    #[test]
    fn holes_read_directly_a_pace_and_a_mixed_queue_are_not_accused() {
        let ids =
            |disk: Option<Value>, options: Value| found(json!({ "job options": options }), disk);
        let holes = json!({ "rw": "randread", "direct": "1" });
        assert_eq!(ids(disk(3, 0), holes), ["holes-read"]);
        let ramped = json!({ "rw": "randread", "direct": "1", "ramp_time": "2s" });
        assert_eq!(ids(disk(2200, 0), ramped), [""; 0]);
        let paced = json!({ "rw": "randread", "direct": "1", "iodepth": "32", "rate_iops": "17" });
        assert_eq!(ids(disk(1000, 0), paced), [""; 0]);
        let mut half = disk(1000, 0);
        half.as_mut().unwrap()["in_queue"] = json!(15.3 * 60_000.0);
        let deep = json!({ "rw": "randread", "direct": "1", "iodepth": "32" });
        assert_eq!(ids(half, deep), [""; 0]);
    }

    #[test]
    fn the_texts_of_all_rules_are_fragments_and_sentences() {
        for rule in RULES {
            assert_eq!(faults(rule), [""; 0]);
        }
    }
}
