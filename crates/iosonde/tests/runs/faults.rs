//! Faults around a run: limits, endless interruptions, full outputs, signals. Each
//! ends with a report or an error, and leaves nothing behind.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, has_strace, skip_part};
use rustix::process::Signal;
use std::process::{Command, Stdio};

const NAMES: [Who; 2] = [Who::Native, Who::AsFio];

fn ran(who: Who, line: &str, output: std::process::Output) -> Ran {
    Ran {
        who,
        arguments: line.to_owned(),
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Run in a shell after `setting`.
fn under(setting: &str, who: Who, folder: &Folder, line: &str) -> Ran {
    let program = who.command(folder).get_program().to_owned();
    let script = format!("{setting}; exec \"$0\" {line}");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(program).current_dir(folder.path()).stdin(Stdio::null());
    ran(who, line, shell.output().unwrap())
}

/// Run under strace(1), which answers calls on the file `f` with an error.
fn injected(call: &str, fault: &str, who: Who, folder: &Folder, line: &str) -> Ran {
    injected_on(Some("f"), call, fault, who, folder, line)
}

/// The same of calls on one file, or of all.
fn injected_on(
    file: Option<&str>,
    call: &str,
    fault: &str,
    who: Who,
    folder: &Folder,
    line: &str,
) -> Ran {
    let program = who.command(folder).get_program().to_owned();
    let mut strace = Command::new("strace");
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:{fault}"));
    strace.args(["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject]);
    if let Some(file) = file {
        strace.arg("-P").arg(folder.join(file));
    }
    strace.arg(program).args(words(line));
    strace.current_dir(folder.path()).stdin(Stdio::null());
    ran(who, line, strace.output().unwrap())
}

#[test]
fn a_limit_of_file_sizes_is_the_jobs_error_and_a_report_is_printed() {
    for who in NAMES {
        let folder = Folder::new("xfsz");
        let line = "--name=j --filename=f --rw=write --size=4m --bs=64k --fallocate=none";
        let ran = under("ulimit -f 1024", who, &folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("File too large"), "{ran:?}");
        assert!(!ran.stdout.is_empty(), "{ran:?}");
    }
}

#[test]
fn unlink_removes_the_file_also_after_an_error() {
    let folder = Folder::new("unlink-error");
    let line = "--name=j --filename=f --rw=write --size=4m --bs=64k --fallocate=none --unlink=1";
    let ran = under("ulimit -f 1024", Who::AsFio, &folder, line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!folder.join("f").exists(), "{ran:?}");
}

#[test]
fn unlink_removes_what_was_laid_out_for_a_job_that_never_ran() {
    let folder = Folder::new("unlink-early");
    folder.write("old", "the user's");
    // The second job waits for the first; both are laid out before it starts.
    let line = "--name=first --ioengine=null --size=4k --time_based --runtime=600 \
                --name=second --stonewall --rw=read --size=1m --filename=new:old --unlink=1";
    let mut program = Running::start(Who::AsFio, &folder, line);
    program.wait_for_thread("first");
    wait_until("the files are there", || folder.join("new").exists());
    program.signal(Signal::INT);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert_eq!(folder.names(), ["old"], "{ran:?}");
    assert_eq!(folder.read("old"), "the user's", "as before");
}

#[test]
fn hangup_and_quit_end_a_run_with_its_report_and_leave_nothing() {
    for signal in [Signal::HUP, Signal::QUIT] {
        let folder = Folder::new("hangup");
        let line = "--name=j --filename=f --rw=randwrite --size=1m --time_based --runtime=600 \
                    --unlink=1";
        let mut program = Running::start(Who::AsFio, &folder, line);
        program.wait_for_work("j");
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        assert!(ran.stdout.contains("WRITE: bw="), "{ran:?}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());

        let line = "matrix --modes=buffered --bs=4k --size=1m --time-per-cell=600s --json";
        let mut program = Running::start(Who::Native, &folder, line);
        wait_until("the temporary file is there", || !folder.names().is_empty());
        program.wait_for_thread("matrix");
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let folder = Folder::new("nohup");
    let line = "--name=j --ioengine=null --size=4k --number_ios=10 --exec_prerun='kill -HUP $PPID'";
    let ran = under("trap '' HUP", Who::AsFio, &folder, line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_file_that_is_interrupted_for_ever_is_an_error_in_the_end() {
    if !has_strace() {
        return;
    }
    for (engine, call) in
        [("psync", "pread64"), ("vsync", "readv"), ("posixaio", "pread64"), ("pvsync", "preadv")]
    {
        let folder = Folder::new("interrupted");
        folder.write("f", vec![1; 64 << 10]);
        let line = format!("--name=j --filename=f --rw=read --bs=4k --ioengine={engine}");
        let ran = injected(call, "error=EINTR:when=3+", Who::AsFio, &folder, &line);
        assert_eq!(ran.code, Some(1), "{engine}: {ran:?}");
        assert!(ran.stderr.contains("Interrupted system call"), "{engine}: {ran:?}");
        assert!(ran.stdout.contains("groupid=0"), "{engine}: {ran:?}");
        // One interruption, or a few, is no failure.
        injected(call, "error=EINTR:when=3..9", Who::AsFio, &folder, &line).well();
    }
}

#[test]
fn a_submission_that_is_refused_for_ever_is_an_error_in_the_end() {
    if !has_strace() {
        return;
    }
    for (engine, call, errno, text) in [
        ("libaio", "io_submit", "EAGAIN", "Resource temporarily unavailable"),
        ("libaio", "io_submit", "EINTR", "Interrupted system call"),
        ("io_uring", "io_uring_enter", "EAGAIN", "Resource temporarily unavailable"),
    ] {
        let folder = Folder::new("refused");
        folder.write("f", vec![1; 64 << 10]);
        let line =
            format!("--name=j --filename=f --rw=read --bs=4k --iodepth=4 --ioengine={engine}");
        let ran = Who::AsFio.run(&folder, &words(&line));
        if ran.stderr.contains("cannot run here") {
            skip_part!("{engine} is not to be had here");
            continue;
        }
        let all = |fault: &str| injected_on(None, call, fault, Who::AsFio, &folder, &line);
        let ran = all(&format!("error={errno}"));
        assert_eq!(ran.code, Some(1), "{engine} {errno}: {ran:?}");
        assert!(ran.stderr.contains(text), "{engine} {errno}: {ran:?}");
        assert!(ran.stderr.contains("nothing moved for 2 s"), "{engine} {errno}: {ran:?}");
        assert!(ran.stdout.contains("groupid=0"), "{engine} {errno}: {ran:?}");
        // A few refusals are none.
        all(&format!("error={errno}:when=1..9")).well();
    }
}

/// A wait that is interrupted for ever is an error in the end; a few interruptions are none.
fn interrupted_for_ever(folder: &str, call: &str, line: &str) {
    if !has_strace() {
        return;
    }
    let folder = Folder::new(folder);
    folder.write("f", vec![1; 64 << 10]);
    let line = format!("--name=j --filename=f --rw=read --bs=4k --iodepth=4 {line}");
    let ran = Who::AsFio.run(&folder, &words(&line));
    if ran.code != Some(0) || ran.stderr.contains("cannot run here") {
        skip_part!("it cannot run here: {}", ran.stderr);
        return;
    }
    // With I/Os in flight.
    let all = |fault: &str| injected_on(None, call, fault, Who::AsFio, &folder, &line);
    let ran = all("error=EINTR:when=2+");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("collect completions: Interrupted system call"), "{ran:?}");
    assert!(ran.stderr.contains("nothing moved for 2 s"), "{ran:?}");
    assert!(ran.stdout.contains("groupid=0"), "{ran:?}");
    all("error=EINTR:when=2..9").well();
}

#[test]
fn a_queue_whose_wait_is_interrupted_for_ever_is_an_error_in_the_end() {
    interrupted_for_ever("wait-interrupted", "io_uring_enter", "--ioengine=io_uring");
}

#[test]
fn a_wait_of_libaio_that_is_interrupted_for_ever_is_an_error_in_the_end() {
    // Completions of direct I/O are waited for in the kernel.
    interrupted_for_ever("libaio-interrupted", "io_getevents", "--ioengine=libaio --direct=1");
}

#[test]
fn a_sync_that_is_interrupted_is_made_again_and_given_up_in_the_end() {
    if !has_strace() {
        return;
    }
    for (call, option) in [("fsync", "fsync"), ("fdatasync", "fdatasync"), ("fsync", "end_fsync")] {
        let folder = Folder::new("sync-interrupted");
        let line = format!("--name=j --filename=f --rw=write --bs=4k --size=64k --{option}=1");
        let inject = |fault: &str| injected_on(None, call, fault, Who::Native, &folder, &line);
        inject("error=EINTR:when=1..5").well();
        // The ledger's own sync after the run ends, too.
        let ran = inject("error=EINTR");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("Interrupted system call"), "{ran:?}");
    }
}

#[test]
fn an_error_of_close_is_the_jobs() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new("close");
    folder.write("f", vec![1; 64 << 10]);
    let line = "--name=j --filename=f --rw=write --bs=4k --size=64k";
    let ran = injected("close", "error=EIO", Who::AsFio, &folder, line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("close"), "{ran:?}");
    assert!(ran.stderr.contains("Input/output error"), "{ran:?}");
}

#[test]
fn output_that_is_lost_is_an_error_of_every_command() {
    let folder = Folder::new("full");
    folder.write("f", vec![1; 4096]);
    for line in [
        "--help",
        "--version",
        "--cmdhelp=all",
        "--enghelp",
        "help",
        "help matrix",
        "probe .",
        "cache f",
        "explain --name=j --rw=read --size=4k",
        "explain not-durable",
        "matrix f --modes=read --bs=4k --size=4k --time-per-cell=10ms",
        "completions bash",
        "sbk -help",
        "--name=j --ioengine=null --size=4k",
        "--name=j --ioengine=null --size=4k --output-format=json",
    ] {
        let ran = under("exec >/dev/full", Who::Native, &folder, line);
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
    }
}

#[test]
fn a_recording_that_cannot_be_written_ends_the_job() {
    let folder = Folder::new("full-iolog");
    let line = "--name=j --ioengine=null --size=64k --time_based --runtime=600 \
                --write_iolog=/dev/full";
    let program = Running::start(Who::AsFio, &folder, line);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("write the iolog"), "{ran:?}");
}

#[test]
fn more_jobs_or_files_than_there_is_memory_for_are_refused() {
    let folder = Folder::new("need");
    for (more, option) in [
        ("--numjobs=2147483647", "numjobs"),
        ("--nrfiles=4000000000 --size=4g", "nrfiles"),
        ("--nrfiles=100000 --numjobs=1000000", "numjobs"),
    ] {
        for who in NAMES {
            let line = format!("--name=j --ioengine=null --size=64k {more}");
            let ran = who.run(&folder, &words(&line));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains(option), "{ran:?}");
            assert!(ran.stderr.contains("of memory, and"), "{ran:?}");
            assert!(ran.stderr.contains("available: use fewer"), "{ran:?}");
        }
    }
    let line = "--name=j --ioengine=null --size=4k --numjobs=4000";
    let ran = under("ulimit -v 500000", Who::AsFio, &folder, line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("4000 jobs with 4000 files need about"), "{ran:?}");
}

#[test]
fn more_threads_than_a_process_may_have_mappings_for_are_refused() {
    let folder = Folder::new("threads-need");
    folder.write("f", vec![1; 256 << 10]);
    let job = "--name=j --filename=f --rw=randread --bs=4k --size=256k";
    for more in [
        "--ioengine=posixaio --iodepth=4000000",
        "--ioengine=posixaio --iodepth=100000 --numjobs=40",
        "--ioengine=psync --io_submit_mode=offload --iodepth=4000000",
    ] {
        let ran = Who::Native.run(&folder, &words(&format!("{job} {more}")));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("one for each I/O in flight"), "{ran:?}");
        assert!(ran.stderr.contains("a process may have"), "{ran:?}");
    }
    let line = format!("{job} --ioengine=posixaio --iodepth=64");
    Who::Native.run(&folder, &words(&line)).well();
}

#[test]
fn buffers_that_memory_has_no_room_for_are_refused_before_anything_is_written() {
    let folder = Folder::new("buffers-need");
    for who in NAMES {
        let line = "--name=j --filename=f --rw=write --size=64g --bs=1g --iodepth=4000 \
                    --ioengine=libaio --numjobs=20";
        let ran = who.run(&folder, &words(line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let need = "the buffers of 20 job(s) need 78.1 TiB of memory (job j: iodepth 4000 of 1 GiB";
        assert!(ran.stderr.contains(need), "{ran:?}");
        assert!(ran.stderr.contains("are available"), "{ran:?}");
        assert!(ran.stderr.contains("smaller iodepth or bs"), "{ran:?}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn data_that_cannot_be_written_back_after_the_run_is_the_jobs_error() {
    if !has_strace() {
        return;
    }
    for engine in ["psync", "libaio"] {
        let folder = Folder::new("write-back");
        folder.write("f", vec![1; 128 << 10]);
        let line =
            format!("--name=j --filename=f --rw=write --bs=4k --size=128k --ioengine={engine}");
        let ran = injected_on(None, "fdatasync", "error=EIO:when=1", Who::Native, &folder, &line);
        assert_eq!(ran.code, Some(1), "{engine}: {ran:?}");
        assert!(ran.stderr.contains("could not be written back and may be lost"), "{ran:?}");
        assert!(ran.stdout.contains("write 4k"), "{engine}: {ran:?}");
    }
}

#[test]
fn a_file_of_buffers_that_is_cut_off_is_the_jobs_error() {
    let psync = "--ioengine=psync --refill_buffers --rw=randwrite";
    // Engines that copy from and to the buffers themselves.
    let copying = [
        "--ioengine=mmap --rw=randwrite",
        "--ioengine=mmap --rw=randread",
        "--ioengine=sim --rw=randrw --verify=null",
        "--ioengine=sim --rw=randwrite --verify=crc32c --verify_backlog=16",
    ];
    let runs = NAMES.map(|who| (who, psync));
    for (who, more) in runs.into_iter().chain(copying.map(|more| (Who::Native, more))) {
        let folder = Folder::new("buffers-cut");
        folder.write("memory", vec![1; 1 << 20]);
        let line = format!(
            "--name=j --filename=f --bs=4k --size=1m --iomem=mmapshared:memory --time_based \
             --runtime=600 {more}"
        );
        let mut program = Running::start(who, &folder, &line);
        program.wait_for_work("j");
        std::fs::File::options()
            .write(true)
            .open(folder.join("memory"))
            .unwrap()
            .set_len(0)
            .unwrap();
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let why = ["use the buffers: Input/output error", "Bad address"];
        assert!(why.iter().any(|why| ran.stderr.contains(why)), "{ran:?}");
        assert!(!ran.stdout.is_empty(), "{ran:?}");
    }
}

#[test]
fn a_standard_error_that_takes_nothing_ends_no_run() {
    let folder = Folder::new("no-stderr");
    folder.write("f", vec![1; 64 << 10]);
    let full = "exec 2>/dev/full";
    for (line, code) in [
        ("--name=j --filename=f --rw=read --write_iolog=/none/x", 1),
        ("--name=j --filename=f --rw=read --bs=4k --erase=x --no-such-option", 1),
        ("sbk -class null -writers 1 -size 100 -records 10", 0),
        ("sbk -class none", 1),
        ("matrix f --bs=none", 2),
        ("meta f", 1),
        ("nonsense", 1),
    ] {
        let ran = under(full, Who::Native, &folder, line);
        assert_ne!(ran.code, Some(101), "it panicked: {ran:?}");
        assert_eq!(ran.code == Some(0), code == 0, "{ran:?}");
    }
}

#[test]
fn a_limit_of_file_sizes_ends_every_command_with_an_error_and_leaves_nothing() {
    for line in
        ["selftest .", ".", "meta . --files=100", "matrix . --modes=buffered --bs=4k --size=1m"]
    {
        let folder = Folder::new("xfsz-commands");
        // What it prints has the same limit.
        let ran = under("ulimit -f 1; exec 2>messages", Who::Native, &folder, line);
        assert!(ran.code.is_some_and(|code| code != 0 && code != 101), "{ran:?}");
        assert_eq!(folder.names(), ["messages"], "{ran:?}");
        // It is no fault of iosonde's own.
        let is_named = folder.read("messages").contains("File too large");
        assert!(is_named || line != "selftest .", "{ran:?}");
    }
}

#[test]
fn a_job_file_or_a_result_without_end_is_refused() {
    let folder = Folder::new("endless");
    folder.write("job", "[global]\ninclude /dev/zero\n[j]\nsize=4k\n");
    let mut lines = vec![(Who::AsFio, "/dev/zero"), (Who::AsFio, "job"), (Who::Native, "job")];
    lines.push((Who::Native, "audit /dev/zero"));
    for (who, line) in lines {
        let ran = under("ulimit -v 4000000", who, &folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let why = ["longer than", "is a device", "unable to open '/dev/zero'"];
        assert!(why.iter().any(|why| ran.stderr.contains(why)), "{ran:?}");
    }
}

#[test]
fn a_temporary_file_is_not_the_one_that_somebody_prepared() {
    let folder = Folder::new("prepared");
    let victim = folder.write("victim", "kept");
    let mut program = Running::start(Who::Native, &folder, "");
    let id = program.id();
    // Under the name that could be guessed, in time or not.
    let link = folder.join(&format!("iosonde-first-job.{id}.tmp"));
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    wait_until("the temporary file is there", || folder.names().len() == 3);
    let ran = program.end_within(PATIENCE).well();
    assert_eq!(folder.read("victim"), "kept", "{ran:?}");
    assert_eq!(folder.names().len(), 2, "its own file is gone, the link is not");
}
