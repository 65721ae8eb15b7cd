//! System calls that fail, which a file system cannot make fail: by strace(1).

use super::before::{BYSTANDER, content};
use super::report::Report;
use super::{Findings, SeedResult, Stage};

/// Calls, and errors that they may give.
type Failing = (&'static str, &'static [&'static str]);

/// Those of any job. Not those for memory: the allocator ends a program that gets
/// none, as in every Rust program.
const OF_ALL: [Failing; 20] = [
    ("openat", &["EMFILE", "EACCES", "EIO", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("write", &["EIO", "ENOSPC", "EINTR"]),
    ("fsync", &["EIO", "ENOSPC", "EINTR"]),
    ("fdatasync", &["EIO", "EINTR"]),
    ("sync_file_range", &["EIO", "ENOSPC", "EINTR"]),
    ("ftruncate", &["EIO", "ENOSPC", "EFBIG"]),
    ("fallocate", &["EIO", "ENOSPC", "EOPNOTSUPP", "EINTR"]),
    ("fadvise64", &["EINVAL"]),
    ("statx", &["EIO", "EACCES", "ENOMEM"]),
    ("fstat", &["EIO"]),
    ("close", &["EIO", "EINTR"]),
    ("lseek", &["EIO"]),
    ("madvise", &["EINVAL", "ENOMEM"]),
    ("sched_setaffinity", &["EINVAL", "EPERM"]),
    ("ioctl", &["ENOTTY", "EIO"]),
    ("statfs", &["EIO", "ENOSYS"]),
    ("clone3", &["EAGAIN", "ENOMEM"]),
    ("unlink", &["EIO", "EBUSY"]),
    ("pipe2,eventfd2,epoll_create1", &["EMFILE", "ENFILE"]),
];

/// Engines, and the calls that only they make.
const ENGINES: [(&str, &[Failing]); 10] = [
    ("psync", &[("pread64", READ), ("pwrite64", WRITE)]),
    ("posixaio", &[("pread64", READ), ("pwrite64", WRITE)]),
    ("sync", &[("lseek", &["EIO"]), ("read", READ), ("write", WRITE)]),
    ("vsync", &[("readv", READ), ("writev", WRITE)]),
    ("pvsync", &[("preadv", READ), ("pwritev", WRITE)]),
    ("pvsync2", &[("preadv2", READ), ("pwritev2", WRITE)]),
    ("splice", &[("splice", READ), ("vmsplice", READ)]),
    ("mmap", &[("msync", &["EIO", "EINTR", "EBUSY"]), ("mmap", &["ENODEV", "EACCES"])]),
    (
        "libaio",
        &[
            ("io_setup", &["EAGAIN", "ENOMEM", "ENOSYS"]),
            ("io_submit", &["EAGAIN", "EIO", "EINTR"]),
            ("io_getevents", &["EINTR"]),
            ("io_destroy", &["EINVAL"]),
        ],
    ),
    (
        "io_uring",
        &[
            ("io_uring_setup", &["EPERM", "ENOSYS", "ENOMEM"]),
            ("io_uring_enter", &["EAGAIN", "EINTR", "EBUSY"]),
            ("io_uring_register", &["ENOMEM", "EINVAL"]),
        ],
    ),
];

const READ: &[&str] = &["EIO", "EINTR", "EAGAIN"];
const WRITE: &[&str] = &["EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR"];

/// Calls whose failure on the job's file must be reported: data is lost or not there.
const REPORTED: [&str; 10] = [
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "fsync",
    "fdatasync",
];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    strace_is_here()?;
    let dice = &mut stage.dice;
    let (engine, own) = dice.pick(&ENGINES);
    let pattern = dice.pick(&["read", "randread", "write", "randrw"]);
    let is_own = dice.happens(600);
    let (call, errors) = if is_own { dice.pick(own) } else { dice.pick(&OF_ALL) };
    let error = dice.pick(errors);
    let most = dice.pick(&[1, 4, 20]);
    let first = 1 + dice.below(most);
    // What interrupts an open, read or write of Rust's standard library is tried again
    // without a limit; a file system that interrupts those for ever holds every program.
    let is_of_library = matches!(call, "openat" | "read" | "write" | "close" | "ftruncate");
    // Only of the job's file: what the dynamic linker maps and reads is none of ours. The
    // standard library takes no error of closing a directory.
    let of_file = call == "close" || is_own && !call.starts_with("io_") && call != "msync";
    let lasts = dice.happens(250) && (of_file || !(error == "EINTR" && is_of_library));
    let letters = content(dice, 10_000);
    let before = content(dice, 128 << 10);
    let (aside, file) = (stage.aside.clone(), stage.mount.join("data"));
    let bystander = stage.mount.join(BYSTANDER);
    let written = std::fs::write(&bystander, &letters);
    written.and_then(|()| std::fs::write(&file, &before)).map_err(|error| error.to_string())?;
    let sync = dice.pick(&["", "", "--fsync=8 --end_fsync=1", "--sync_file_range=write:8"]);
    let line = format!(
        "--name=j --output-format=json --filename={} --rw={pattern} --bs=4k --size=128k \
         --ioengine={engine} --iodepth=4 {sync}",
        file.display()
    );
    let when = format!("{first}{}", if lasts { "+" } else { "" });
    let trace = aside.join("trace");
    let only = if of_file { format!("-P {}", file.display()) } else { String::new() };
    let before_it = format!(
        "strace -f -y -qq {only} -o {} -e trace={call} -e signal=none -e inject={call}:error={error}:when={when}",
        trace.display()
    );
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ended = stage.program.run_under(&words(&before_it), &words(&line), |_, _| ());

    let trace = String::from_utf8_lossy(&std::fs::read(&trace).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = trace.lines().filter(|line| line.contains("(INJECTED)")).collect();
    let mut findings = Findings::of(&ended);
    let name = file.display().to_string();
    let on_data = lines.iter().filter(|line| line.contains(&name)).count();
    let moves_data = is_own && matches!(call, "read" | "write") || REPORTED.contains(&call);
    let is_reported = moves_data && !matches!(error, "EINTR" | "EAGAIN");
    findings.must(!is_reported || on_data == 0 || ended.code != Some(0), || {
        format!("{call} of the job's file failed {on_data} times, and it ended with 0")
    });
    findings.must(ended.code != Some(0) || Report::of(&ended).is_some(), || {
        "it ended with 0 and without a report".to_owned()
    });
    let is_told = Report::of(&ended).is_some() || !ended.stderr.is_empty();
    findings.must(ended.hung || is_told || call == "write", || {
        "neither a report nor a word".to_owned()
    });
    findings.must(std::fs::read(&bystander).is_ok_and(|now| now == letters), || {
        "it changed another file".to_owned()
    });
    if pattern.ends_with("read") {
        findings.must(std::fs::read(&file).is_ok_and(|now| now == before), || {
            "it changed its file".to_owned()
        });
    }
    Ok(SeedResult { injected: lines.len() as u64, findings: findings.end(), skipped: None })
}

fn strace_is_here() -> Result<(), String> {
    let found = std::process::Command::new("strace").arg("-V").output();
    found.map(|_| ()).map_err(|error| format!("strace: {error}"))
}
