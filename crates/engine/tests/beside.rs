//! Engines that run beside I/O: cpuio and exec.
#![cfg(unix)]

mod common;
#[path = "common/job.rs"]
mod job;

use common::nowhere;
use iosonde_base::{Errno, Op};
use iosonde_engine::settings::{CpuMode, CpuSettings, ExecSettings};
use iosonde_engine::{Ended, EngineSettings, find};
use iosonde_sys::counters::Usage;
use iosonde_testing::Folder;
use job::{TestJob, one_file, ready};
use std::time::{Duration, Instant};

fn job(name: &str, settings: EngineSettings, runs_ms: u64) -> TestJob {
    let job = ready(name, settings, &one_file(Op::Read, 4096, 1), vec![nowhere(4096)], 1);
    let clock = job.drive.clock;
    job.drive.control.arm(clock.after(clock.now(), runs_ms * 1_000_000));
    job
}

fn cpu(load_percent: u32, burn: CpuMode) -> EngineSettings {
    EngineSettings::new(CpuSettings { load_percent, chunk_us: 5000, burn })
}

fn exec(program: &str, arguments: &[&str]) -> ExecSettings {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    ExecSettings { program: program.to_owned(), arguments, grace_s: 5, ..ExecSettings::default() }
}

#[test]
fn cpuio_burns_no_more_than_its_share_and_counts_each_burn() {
    for burn in [CpuMode::Noop, CpuMode::Qsort] {
        let before = Usage::of_thread().unwrap();
        let job = job("cpuio", cpu(25, burn), 200).go();
        let used = Usage::of_thread().unwrap().since(&before);
        assert!(matches!(job.ended, Ended::Time), "{:?}", job.ended);
        let (turns, bytes, latencies) = job.counts(Op::Read);
        // 5 ms of 20 ms, ten times; fewer where others want the processor.
        assert!((1..=11).contains(&turns), "{turns} turns");
        assert_eq!((bytes, latencies), (0, turns));
        let least = job.counters.lanes[0].clat.snapshot().least();
        assert!(least >= 5_000_000, "a burn of {least} ns");
        let used = used.user_ns + used.system_ns;
        assert!(used <= 11 * 7_000_000, "{used} ns burnt");
        assert!(burn == CpuMode::Qsort || used > 0);
    }
}

#[test]
fn what_cannot_run_says_what_to_set() {
    for name in ["cpuio", "exec"] {
        let with = iosonde_engine::OpenWith {
            depth: 1,
            files: 1,
            memory: (std::ptr::null_mut(), 0),
            clock: iosonde_sys::clock::Clock::monotonic(),
            settings: EngineSettings::default(),
            sync_range: Default::default(),
        };
        let opened = (find(name).unwrap().open)(&with, iosonde_engine::Accounting::Full);
        let error = opened.err().expect("nothing was set");
        assert_eq!(error.errno, Errno::EINVAL);
        assert!(error.help.unwrap().contains("set "));
    }
}

#[test]
fn exec_keeps_what_the_program_says_and_ends_with_it() {
    let folder = Folder::temporary("exec");
    let output = Some(folder.join("a.b"));
    let echo = ExecSettings { output, ..exec("/bin/echo", &["one", "two"]) };
    let job = job("exec", EngineSettings::new(echo), 20_000).go();
    assert!(matches!(job.ended, Ended::Done), "{:?}", job.ended);
    let said = std::fs::read_to_string(folder.join("a.b.stdout")).unwrap();
    assert_eq!(said, "one two\n");
    assert_eq!(std::fs::read_to_string(folder.join("a.b.stderr")).unwrap(), "");
}

#[test]
fn exec_with_a_runtime_outlasts_the_program() {
    let echo = ExecSettings { outlasts: true, ..exec("/bin/true", &[]) };
    let job = job("exec", EngineSettings::new(echo), 250).go();
    assert!(matches!(job.ended, Ended::Time), "{:?}", job.ended);
    assert!((1..=3).contains(&job.counts(Op::Read).0), "a look each 100 ms");
}

#[test]
fn a_program_is_asked_to_end_and_then_made_to() {
    // Were it not asked, its grace would not be over for an hour.
    let polite = ExecSettings { grace_s: 3600, ..exec("/bin/sleep", &["3600"]) };
    let mut polite = job("exec", EngineSettings::new(polite), 50).go();
    let begun = Instant::now();
    polite.engine.drain(&mut polite.drive).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(600), "it ended when it was asked");

    let folder = Folder::temporary("deaf");
    let ready = folder.join("ready");
    let script = folder.join("deaf.sh");
    let lines = format!("trap '' TERM\n: > {}\nexec sleep 60\n", ready.display());
    std::fs::write(&script, lines).unwrap();
    let deaf = ExecSettings { grace_s: 1, ..exec("/bin/sh", &[script.to_str().unwrap()]) };
    let mut deaf = job("exec", EngineSettings::new(deaf), 50).go();
    while !ready.exists() {
        std::thread::yield_now();
    }
    let begun = Instant::now();
    deaf.engine.drain(&mut deaf.drive).unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1), "it had its grace");
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let missing = exec("/nowhere/at/all", &[]);
    let job = job("exec", EngineSettings::new(missing), 1000).go();
    assert_eq!(job.failure().errno, Errno::ENOENT);
    assert_eq!(job.failure().doing, "run the program");
}
