//! The first sentence on a run: what failed, what limited it, how sure that is.

#[path = "common/ledgers.rs"]
mod ledgers;

use iosonde_base::Errno;
use iosonde_report::conclusion::*;
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::ledger::*;
use iosonde_report::*;
use ledgers::{clean, series, writer};

fn job_that_ran() -> JobReport {
    let mut job = JobReport { name: "db".into(), clones: 1, ..JobReport::default() };
    (job.dirs.0[0].issued_ios, job.dirs.0[0].total_ios) = (100, 100);
    job.dirs.0[0].runtime_ms = 1000;
    job
}

fn report_with(ledger: Option<Ledger>) -> Report {
    let ours = Ours { ledger: ledger.map(Box::new), ..Ours::default() };
    Report { jobs: vec![job_that_ran()], ours, ..Report::default() }
}

fn of(ledger: Ledger) -> Conclusion {
    conclude(&report_with(Some(ledger)), &RunEnding { jobs: 1, ..RunEnding::default() })
}

fn of_clean(change: impl FnOnce(&mut Ledger)) -> Conclusion {
    let mut ledger = clean();
    change(&mut ledger);
    of(ledger)
}

fn busy(ledger: &mut Ledger, on: f64, waiting: f64) {
    ledger.jobs[0].cpu.busy_share = on;
    ledger.jobs[0].cpu.waited_share = Fact::Known(waiting);
}

/// One I/O at a time, and a device that is busy for that share of the time.
fn one_at_a_time(ledger: &mut Ledger, device: f64) {
    ledger.jobs[0].depth =
        DepthLedger { requested: 1, requested_by_all: 1, ..DepthLedger::default() };
    let Fact::Known(used) = &mut ledger.devices[0].used else { unreachable!() };
    (used.depth, used.busy_share) = (device, device);
}

fn finding(id: &'static str, severity: Severity) -> Finding {
    let (statement, remedy) = (String::new(), "".into());
    Finding { id: id.into(), severity, jobs: Vec::new(), statement, remedy }
}

#[test]
fn a_clean_run_is_limited_by_its_device_and_usable() {
    let found = of_clean(|_| {});
    assert_eq!((found.outcome, found.usable), (Outcome::Completed, Usable::Yes));
    assert_eq!((found.limit, found.certainty), (LimitedBy::Storage, Certainty::Certain));
    assert_eq!(
        found.text,
        "Limited by nvme0n1 at queue depth 32 (waiting for it 60.0 % of the time); usable as rate \
         and latency of nvme0n1 under this load."
    );
    let time = found.time.unwrap();
    assert!((time.asleep - 0.6).abs() < 1e-9 && (time.on_processor - 0.4).abs() < 1e-9);
}

#[test]
fn a_wrong_block_comes_first_whatever_the_ledger_says() {
    let mut report = report_with(Some(clean()));
    let place = WrongPlace { file: "vf".into(), offset: 20480, bytes: 4096, ..Default::default() };
    let mut wrong_blocks = WrongBlocks::default();
    wrong_blocks.add(place);
    let counts = VerifyCounts { checked: 6, wrong: 1, ..VerifyCounts::default() };
    let verify = VerifyReport { counts, wrong_blocks, ..VerifyReport::default() };
    report.ours.jobs = vec![OurJob { name: "w".into(), verify: Some(verify), ..OurJob::default() }];
    let argv = ["iosonde", "job.fio", "--html=x.html"].map(String::from).into();
    report.ours.settings = Some(RunSettings { argv, ..RunSettings::default() });
    let failure = JobFailure { errno: Errno::EILSEQ, place: "vf".into(), doing: "verify".into() };
    report.jobs[0].failure = Some(failure);
    report.jobs[0].name = "w".into();
    let found = conclude(&report, &RunEnding::of_jobs(&report.jobs));
    assert_eq!((found.outcome, found.usable), (Outcome::Failed, Usable::No));
    assert_eq!(
        found.text,
        "FAILED: 1 of 6 blocks is not what was written (job w, vf at offset 20480; iosonde \
         diagnose vf --offset 20480 job.fio)."
    );
}

#[test]
fn jobs_that_failed_never_started_or_lost_data_are_counted_and_named() {
    let part = |name: &str| FailedPart { name: name.into(), why: "No space left".into() };
    let mut ending =
        RunEnding { jobs: 3, failed: vec![part("a"), part("b")], ..RunEnding::default() };
    let text = |ending: &RunEnding| conclude(&report_with(Some(clean())), ending).text;
    assert_eq!(text(&ending), "FAILED: 2 of 3 jobs: a: No space left; b: No space left.");
    ending.failed = ["a", "b", "c", "d", "e"].map(part).into();
    ending.jobs = 9;
    assert!(text(&ending).ends_with("c: No space left; and 2 more."), "{}", text(&ending));
    ending = RunEnding { jobs: 1, failed: vec![part("a")], ..RunEnding::default() };
    assert_eq!(text(&ending), "FAILED: job a: No space left.");
    ending = RunEnding { jobs: 2, not_started: vec!["a".into()], ..RunEnding::default() };
    assert_eq!(text(&ending), "FAILED: 1 of 2 jobs never started: a.");
    ending = RunEnding { jobs: 2, not_written_back: vec![part("a")], ..RunEnding::default() };
    assert!(text(&ending).starts_with("FAILED: what job a wrote was not written back"));
}

#[test]
fn a_run_that_was_stopped_says_after_how_long() {
    let stop = |ran_ns, planned_ns| StoppedRun { by: "SIGINT".into(), ran_ns, planned_ns };
    let with = |stopped: StoppedRun| {
        let ending = RunEnding { jobs: 1, stopped: Some(stopped), ..RunEnding::default() };
        conclude(&report_with(Some(clean())), &ending)
    };
    let found = with(stop(1_940_000_000, Some(20_000_000_000)));
    assert_eq!(found.outcome, Outcome::Stopped);
    assert!(found.text.starts_with("Stopped after 1.9 of 20 s (SIGINT), so"), "{found:?}");
    assert!(found.text.contains("Limited by nvme0n1"), "{found:?}");
    assert!(with(stop(2_000_000_000, None)).text.starts_with("Stopped after 2 s (SIGINT)"));
}

#[test]
fn nothing_measured_says_why() {
    let idle = vec!["job a did no I/O: why".into()];
    let ending = RunEnding { jobs: 1, idle, ..RunEnding::default() };
    let found = conclude(&Report::default(), &ending);
    assert_eq!((found.outcome, found.usable), (Outcome::Nothing, Usable::No));
    assert_eq!(found.text, "Nothing was measured: job a did no I/O: why.");
}

#[test]
fn without_a_ledger_nothing_is_judged_and_tolerated_errors_are_named() {
    let mut report = report_with(None);
    report.jobs[0].errors = Some(ErrorCount { total: 3, first_errno: 5 });
    let found = conclude(&report, &RunEnding::default());
    assert_eq!(found.usable, Usable::Unknown);
    assert!(found.text.ends_with("3 of 100 I/Os failed and were tolerated."), "{found:?}");
}

#[test]
fn own_use_of_the_processor_and_what_others_took_are_told_apart() {
    let on = |on, waiting| {
        of_clean(|ledger| {
            one_at_a_time(ledger, 0.1);
            busy(ledger, on, waiting);
        })
    };
    let own = on(0.9, 0.05);
    assert_eq!(
        (own.limit.clone(), own.certainty.clone()),
        (LimitedBy::Processor, Certainty::Certain)
    );
    assert!(
        own.text.contains("the processor (on it 90.0 % of the time, waiting for one 5.0 %)"),
        "{own:?}"
    );
    let taken = on(0.1, 0.6);
    assert_eq!(
        (taken.limit.clone(), taken.certainty.clone()),
        (LimitedBy::Processor, Certainty::Likely)
    );
    assert!(taken.text.starts_with("Probably limited by others on the processors"), "{taken:?}");
    // A little waiting is no limit.
    let little = of_clean(|ledger| {
        one_at_a_time(ledger, 0.9);
        busy(ledger, 0.003, 0.12);
        ledger.verdict = vec![finding("cpu-taken", Severity::Warning)];
    });
    assert_eq!(little.limit, LimitedBy::Storage);
    assert!(little.text.contains("waited for a processor for 12.0 % of the time"), "{little:?}");
    assert_eq!(little.usable, Usable::Warnings);
}

#[test]
fn a_device_that_did_nothing_is_not_the_limit() {
    let found = of_clean(|ledger| {
        one_at_a_time(ledger, 0.0);
        busy(ledger, 0.01, 0.0);
        let Fact::Known(used) = &mut ledger.devices[0].used else { unreachable!() };
        (used.read_ios, used.write_ios) = (0, 0);
    });
    assert_eq!(
        (found.limit.clone(), found.certainty.clone()),
        (LimitedBy::Unknown, Certainty::Unknown)
    );
    assert!(found.text.contains("nvme0n1 was busy for 0 %"), "{found:?}");
    assert!(!found.text.contains("figures of nvme0n1"), "{found:?}");
}

#[test]
fn reads_from_memory_are_no_figures_of_the_device() {
    let found = of_clean(|ledger| {
        busy(ledger, 0.95, 0.0);
        one_at_a_time(ledger, 0.0);
        let reads = ledger.jobs[0].reads.as_mut().unwrap();
        reads.cache_bytes = Fact::Known(reads.completed_bytes);
        reads.device_bytes = Fact::Known(0);
        ledger.verdict = vec![finding("page-cache-reads", Severity::Wrong)];
    });
    assert_eq!(
        (found.limit.clone(), found.certainty.clone()),
        (LimitedBy::Memory, Certainty::Certain)
    );
    assert!(found.text.contains("100 % of the bytes stayed in the page cache;"), "{found:?}");
    assert_eq!(found.usable, Usable::No);
}

#[test]
fn few_misses_that_take_all_of_the_time_make_the_device_the_limit() {
    let found = of_clean(|ledger| {
        busy(ledger, 0.02, 0.0);
        one_at_a_time(ledger, 0.95);
        let reads = ledger.jobs[0].reads.as_mut().unwrap();
        reads.cache_bytes = Fact::Known(reads.completed_bytes / 10 * 9);
    });
    assert_eq!(found.limit, LimitedBy::Storage, "{found:?}");
}

#[test]
fn a_rate_is_the_limit_if_it_was_reached() {
    let paced = |reached: f64, in_flight: f64| {
        of_clean(|ledger| {
            one_at_a_time(ledger, in_flight);
            busy(ledger, 0.05, 0.0);
            let job = &mut ledger.jobs[0];
            job.options.paced = true;
            job.latency.mean_ns = in_flight * job.runtime_ns as f64 / job.latency.ios as f64;
            job.options.pace = Some(PaceKept { in_bytes: false, requested: 300_000.0, reached });
        })
    };
    let kept = paced(299_000.0, 0.9);
    assert_eq!((kept.limit.clone(), kept.certainty.clone()), (LimitedBy::Pace, Certainty::Certain));
    assert!(kept.text.ends_with("use the latencies, not the rate."), "{kept:?}");
    let missed = paced(3_000.0, 0.9);
    assert_eq!(missed.limit, LimitedBy::Storage);
    assert!(missed.text.contains("the rate set was not reached: 3.00k of 300k IOPS"), "{missed:?}");
    let nearly = paced(280_000.0, 0.2);
    assert_eq!(nearly.limit, LimitedBy::Pace);
    assert!(nearly.text.contains("the rate set was not reached: 280k of 300k IOPS"), "{nearly:?}");
    assert!(!nearly.text.contains("which was reached"), "{nearly:?}");
}

#[test]
fn think_time_is_the_limit_if_it_is_most_of_the_time() {
    let pausing = |mean_ns: f64| {
        of_clean(|ledger| {
            one_at_a_time(ledger, 0.9);
            busy(ledger, 0.05, 0.0);
            let job = &mut ledger.jobs[0];
            (job.options.paced, job.options.pauses) = (true, true);
            (job.latency.ios, job.latency.mean_ns) = (6_000, mean_ns);
        })
    };
    assert_eq!(pausing(1e6).limit, LimitedBy::Pace);
    assert_eq!(pausing(9e6).limit, LimitedBy::Storage);
}

#[test]
fn limits_of_control_groups_count_where_they_are_reached() {
    let io = |limit: &str| {
        of_clean(|ledger| {
            one_at_a_time(ledger, 0.05);
            busy(ledger, 0.02, 0.0);
            ledger.environment.cgroup_io = vec![limit.into()];
        })
    };
    // 15 Mi reads in 60 s.
    let reached = io("8:0 riops=262144 rbps=max");
    assert_eq!((reached.limit, reached.certainty), (LimitedBy::Quota, Certainty::Certain));
    assert_eq!(io("8:0 riops=400000").certainty, Certainty::Likely);
    let cpu = of_clean(|ledger| {
        one_at_a_time(ledger, 0.05);
        busy(ledger, 0.2, 0.75);
        ledger.machine.throttled = Fact::Known(Throttling { periods: 500, ns: 48_000_000_000 });
        ledger.environment.cgroup_cpus = Some(0.2);
    });
    assert_eq!(cpu.limit, LimitedBy::Quota);
    assert!(cpu.text.contains("limit of 0.2 processors (throttled for 80.0 % of"), "{cpu:?}");
}

#[test]
fn most_of_the_time_without_progress_is_a_stall_and_no_rate_to_use() {
    let stalled = |still: usize, max_ns: u64| {
        of_clean(|ledger| {
            let bytes: Vec<u64> = (0..60)
                .map(|at| if (10..10 + still).contains(&at) { 0 } else { 1 << 30 })
                .collect();
            ledger.series = series(&bytes);
            ledger.jobs[0].latency.max_ns = max_ns;
            ledger.verdict = vec![finding("not-steady", Severity::Warning)];
        })
    };
    let most = stalled(40, 40_000_000_000);
    assert_eq!(
        (most.limit.clone(), most.certainty.clone()),
        (LimitedBy::Stall, Certainty::Certain)
    );
    assert!(
        most.text.starts_with(
            "Stalled: nothing completed for 40.0 s of 60.0 s (66.7 %), from 10.0 s on;"
        ),
        "{most:?}"
    );
    assert!(!most.text.contains("after the change"), "{most:?}");
    let some = stalled(12, 12_000_000_000);
    assert_eq!(some.limit, LimitedBy::Storage);
    assert!(some.text.contains("nothing completed for 12.0 s of 60.0 s (20.0 %)"), "{some:?}");
    // Nothing was in flight: that is no stall.
    assert!(!stalled(12, 4_000_000).text.contains("nothing completed"));
}

#[test]
fn a_process_that_was_stopped_stalls_too() {
    let found = of_clean(|ledger| ledger.machine.stopped_ns = 45_000_000_000);
    assert_eq!(found.limit, LimitedBy::Stall);
    assert!(
        found.text.starts_with("Stopped: the process was stopped for 45.0 s of 60.0 s"),
        "{found:?}"
    );
}

#[test]
fn what_is_unknown_is_in_the_sentence_whatever_the_limit() {
    let mut ledger = writer();
    one_at_a_time(&mut ledger, 0.05);
    busy(&mut ledger, 0.9, 0.0);
    ledger.jobs[0].direct.honoured = Fact::unknown("a program serves it");
    let found = of(ledger);
    assert_eq!((found.limit, found.usable), (LimitedBy::Processor, Usable::Unknown));
    assert!(found.text.contains("is unknown, as stated below"), "{}", found.text);
}

#[test]
fn jobs_with_different_limits_are_named() {
    let found = of_clean(|ledger| {
        let mut paced = ledger.jobs[0].clone();
        paced.name = "log".into();
        paced.options.paced = true;
        paced.options.pace = Some(PaceKept { in_bytes: false, requested: 10.0, reached: 10.0 });
        ledger.jobs.push(paced);
    });
    assert_eq!(found.limit, LimitedBy::Mixed);
    assert!(
        found.text.contains("db by nvme0n1") && found.text.contains("log by the job's own"),
        "{found:?}"
    );
}
