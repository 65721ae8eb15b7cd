//! Signals, in every phase of a run.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who};
use iosonde_testing::{Folder, LoopDevice, freeze, is_root, or_skip, skip};
use rustix::process::Signal;

/// Start a job called `j`, wait until its thread runs, then stop it.
fn stopped(folder: &Folder, line: &str, signal: Signal) -> Ran {
    let mut program = Running::start(Who::AsFio, folder, line);
    program.wait_for_thread("j");
    program.signal(signal);
    program.end_within(PATIENCE)
}

#[track_caller]
fn is_full_report(ran: &Ran) {
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("j: (groupid=0, jobs=1): err= 0"), "{ran:?}");
    assert!(ran.stdout.contains("Run status group 0 (all jobs):"), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
}

#[test]
fn a_layout_that_is_stopped_leaves_no_hole_that_passes_for_data() {
    let folder = Folder::new("layout");
    for signal in [Signal::INT, Signal::TERM] {
        let line = "--name=j --filename=f --rw=read --bs=64k --size=8g";
        let mut program = Running::start(Who::AsFio, &folder, line);
        let path = folder.join("f");
        wait_until("the file grows", || path.metadata().is_ok_and(|file| file.len() > 0));
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        assert!(ran.stdout.contains("terminating on signal"), "{ran:?}");
        let bytes = path.metadata().unwrap().len();
        assert!(bytes < 8 << 30, "cut back to what was written, not {bytes}");
        // A job that finds this file finishes the layout, it does not read holes.
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_layout_side_by_side_is_stopped_too() {
    let folder = Folder::new("layout");
    let line = "--create_serialize=0 --name=j --filename=f --rw=read --bs=64k --size=8g";
    let mut program = Running::start(Who::AsFio, &folder, line);
    let path = folder.join("f");
    wait_until("the file grows", || path.metadata().is_ok_and(|file| file.len() > 0));
    program.signal(Signal::INT);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(path.metadata().unwrap().len() < 8 << 30);
}

#[test]
fn jobs_that_wait_for_their_start_are_stopped() {
    let folder = Folder::new("delay");
    for signal in [Signal::INT, Signal::TERM] {
        let line = "--name=j --ioengine=null --rw=read --size=1g --startdelay=60";
        let ran = stopped(&folder, line, signal);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        assert!(ran.stdout.contains("j: (groupid=0, jobs=1): err= 0"), "{ran:?}");
    }
}

#[test]
fn jobs_in_their_ramp_are_stopped() {
    let folder = Folder::new("ramp");
    let line = "--name=j --ioengine=null --rw=read --size=1g --time_based --runtime=60";
    let ran = stopped(&folder, &format!("{line} --ramp_time=60"), Signal::INT);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("j: (groupid=0, jobs=1): err= 0"), "{ran:?}");
}

#[test]
fn jobs_of_every_engine_are_stopped_and_reported() {
    let folder = Folder::new("engines");
    for engine in ["psync", "libaio", "io_uring", "mmap", "sync", "null"] {
        for signal in [Signal::INT, Signal::TERM] {
            let line = format!(
                "--name=j --filename=f --ioengine={engine} --iodepth=4 --rw=randrw --bs=4k \
                 --size=1m --time_based --runtime=60 --norandommap"
            );
            let mut program = Running::start(Who::AsFio, &folder, &line);
            program.wait_for_work("j");
            program.signal(signal);
            let ran = program.end_within(PATIENCE);
            is_full_report(&ran);
            assert!(ran.stdout.contains("  read: IOPS="), "{ran:?}");
        }
    }
}

#[test]
fn a_job_without_a_runtime_is_stopped_and_its_counts_are_whole() {
    let folder = Folder::new("counts");
    let line = "--name=j --ioengine=null --rw=read --bs=4k --size=900t --output-format=json";
    let ran = stopped(&folder, line, Signal::INT);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    let job = ran.json()["jobs"][0].clone();
    let ios = job["read"]["total_ios"].as_u64().unwrap();
    assert_eq!(job["read"]["io_bytes"].as_u64().unwrap(), ios * 4096);
    assert_eq!(job["read"]["clat_ns"]["N"].as_u64().unwrap(), ios);
    assert_eq!(job["error"], 0);
}

#[test]
fn waves_that_have_not_started_do_not_start() {
    let folder = Folder::new("waves");
    let line = "--name=j --ioengine=null --rw=read --size=1g --time_based --runtime=60 \
                --name=later --stonewall --ioengine=null --rw=read --size=1g";
    let ran = stopped(&folder, line, Signal::INT);
    is_full_report(&ran);
}

#[test]
fn a_final_fsync_is_waited_for() {
    let folder = Folder::new("fsync");
    let line =
        "--name=j --filename=f --rw=write --bs=1m --size=256m --fallocate=none --end_fsync=1";
    let mut program = Running::start(Who::AsFio, &folder, line);
    let path = folder.join("f");
    wait_until("all is written", || {
        !program.is_running() || path.metadata().is_ok_and(|file| file.len() >= 256 << 20)
    });
    if !program.is_running() {
        skip!("the storage is too fast to be caught at the final fsync");
    }
    program.signal(Signal::INT);
    let ran = program.end_within(PATIENCE);
    // Where the run was over already there was nothing left to stop.
    if ran.code != Some(0) {
        is_full_report(&ran);
    }
    assert!(ran.stdout.contains("io=256MiB"), "{ran:?}");
}

#[test]
fn a_second_signal_ends_a_run_with_a_stuck_job() {
    if !is_root("read the kernel's messages") {
        return;
    }
    // At the end of the kernel's messages a read blocks.
    let folder = Folder::new("stuck");
    let line = "--name=j --filename=/dev/kmsg --rw=read --bs=8k --size=1g --ignore_error=EPIPE:EINVAL \
                --name=other --filename=x --ioengine=null --rw=read --size=1m";
    let mut program = Running::start(Who::AsFio, &folder, line);
    program.wait_for_wait_in("devkmsg_read");
    program.signal(Signal::INT);
    if !program.is_running() {
        skip!("/dev/kmsg does not block here");
    }
    // Another signal: two of one kind become one if the program is slow to take the first.
    program.signal(Signal::TERM);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("j: (groupid=0, jobs="), "{ran:?}");
    assert!(ran.stdout.contains("Run status group 0 (all jobs):"), "{ran:?}");
}

#[test]
fn a_second_signal_reports_at_once_though_the_storage_does_not_answer() {
    let folder = Folder::new("frozen");
    let Some((mounted, _device)) = LoopDevice::mounted(&folder, "ext4", 64 << 20) else { return };
    let mounted_on = mounted.0.to_str().unwrap();
    // Waiting in a write, and in the layout.
    for line in
        ["--rw=write --size=4m --time_based --runtime=60", "--rw=read --size=40m --fallocate=none"]
    {
        std::fs::write(mounted.0.join("f"), vec![0; 4 << 20]).unwrap();
        let Some(frozen) = or_skip(freeze(mounted_on)) else { return };
        let line = format!("--name=j --filename=on/f --output=report {line}");
        let report = || std::fs::read_to_string(folder.join("report")).unwrap_or_default();
        let mut program = Running::start(Who::AsFio, &folder, &line);
        program.wait_for_stuck_thread();
        program.signal(Signal::INT);
        assert!(program.is_running(), "{line}");
        assert!(!report().contains("Run status"), "{}", report());
        program.signal(Signal::TERM);
        // A job that is stuck in the kernel keeps the process, not the report:
        // the file system is frozen still.
        wait_until("the report is there", || {
            report().contains("Run status") || !program.is_running()
        });
        drop(frozen);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        std::fs::remove_file(folder.join("report")).unwrap();
    }
}

#[test]
fn usr1_asks_for_a_report_and_the_run_goes_on() {
    let folder = Folder::new("usr1");
    let line =
        "--name=j --ioengine=null --rw=read --size=1g --time_based --runtime=60 --output=report";
    let mut program = Running::start(Who::AsFio, &folder, line);
    program.wait_for_thread("j");
    let reports = || {
        let text = std::fs::read_to_string(folder.join("report")).unwrap_or_default();
        text.matches("Run status group 0").count()
    };
    assert_eq!(reports(), 0);
    program.signal(Signal::USR1);
    wait_until("an interim report is there", || reports() == 1);
    assert!(program.is_running());
    program.signal(Signal::USR1);
    wait_until("another interim report is there", || reports() == 2);
    program.signal(Signal::INT);
    assert_eq!(program.end_within(PATIENCE).code, Some(128));
    assert_eq!(reports(), 3);
}

/// Run with a standard output that nobody reads any more.
fn with_a_closed_pipe(who: Who, line: &str) -> (Option<i32>, String) {
    let folder = Folder::new("pipe");
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    drop(reader);
    let mut command = who.command(&folder);
    command.args(crate::support::words(line)).stdout(writer);
    let output = command.stderr(std::process::Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    for (who, line) in [
        (Who::AsFio, "--name=j --ioengine=null --rw=read --size=1m"),
        (Who::Native, "--name=j --ioengine=null --rw=read --size=1m"),
        (Who::AsFio, "--name=j --ioengine=null --rw=read --size=1m --output-format=json"),
        (Who::AsFio, "--help"),
        (Who::AsFio, "--cmdhelp=all"),
        (Who::AsFio, "--enghelp"),
        (Who::AsFio, "--name=j --size=1m --showcmd"),
        (Who::Native, "explain --name=j --size=1m"),
    ] {
        let (code, said) = with_a_closed_pipe(who, line);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{who:?} {line}");
    }
}
