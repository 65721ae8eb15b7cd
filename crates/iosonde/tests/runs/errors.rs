//! What goes wrong while jobs run: what ends, what is said, what is counted.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, has_fio, is_root, or_skip, run, skip};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const ENGINES: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring"];

fn ours(folder: &Folder, line: &str) -> Ran {
    Who::AsFio.run(folder, &words(line))
}

fn job(ran: &Ran, index: usize) -> Value {
    ran.json()["jobs"][index].clone()
}

/// A device of two megabytes of which only the first can be had: it lies in a
/// file that ends there, in a file system that has no room for more. Reading
/// beyond is EIO, writing is ENOSPC.
struct Failing {
    // In this order they are taken away.
    device: LoopDevice,
    _room: Mounted,
}

impl Failing {
    fn make(folder: &Folder) -> Option<Failing> {
        if !is_root("attach devices") {
            return None;
        }
        let on = folder.join("room");
        std::fs::create_dir_all(&on).unwrap();
        or_skip(run("mount", &["-t", "tmpfs", "-o", "size=1m", "none", on.to_str().unwrap()]))?;
        let room = Mounted::at(on);
        let image = room.0.join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(2 << 20).unwrap();
        // Through the page cache the device would read zeroes there.
        let device = or_skip(LoopDevice::attach(&image, &["--direct-io=on"]))?;
        file.set_len(1 << 20).unwrap();
        Some(Failing { device, _room: room })
    }

    fn path(&self) -> PathBuf {
        self.device.0.clone()
    }
}

fn errno_of(rw: &str) -> i32 {
    if rw == "read" { 5 } else { 28 }
}

#[test]
fn an_io_error_ends_the_job_with_its_place_and_reason() {
    let folder = Folder::new("eio");
    let Some(device) = Failing::make(&folder) else { return };
    for engine in ENGINES {
        for (rw, errno, reason) in
            [("read", 5, "Input/output error"), ("write", 28, "No space left on device")]
        {
            let line = format!(
                "--name=j --filename={} --ioengine={engine} --direct=1 --rw={rw} --bs=64k --size=2m \
                 --output-format=json",
                device.path().display()
            );
            let ran = ours(&folder, &line);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            let job = job(&ran, 0);
            assert_eq!(job["error"], errno, "{ran:?}");
            assert_eq!(job[rw]["total_ios"], 17, "{engine} {rw}: the good megabyte, and one");
            assert_eq!(job[rw]["clat_ns"]["N"], 16, "{engine} {rw}: the good megabyte");
            assert_eq!(job[rw]["io_bytes"], 1 << 20, "{engine} {rw}");
            let place = format!("{rw} of 65536 bytes at 1048576 in {}", device.path().display());
            assert!(ran.stderr.contains(&place), "{place}: {ran:?}");
            assert!(ran.stderr.contains(reason), "{ran:?}");
        }
    }
}

#[test]
fn tolerated_errors_are_counted_and_the_job_continues() {
    let folder = Folder::new("tolerated");
    let Some(device) = Failing::make(&folder) else { return };
    for engine in ["psync", "libaio", "io_uring"] {
        let run = |rw: &str, words: &str| {
            let line = format!(
                "--name=j --filename={} --ioengine={engine} --direct=1 --rw={rw} --bs=64k --size=2m \
                 --output-format=json {words}",
                device.path().display()
            );
            ours(&folder, &line)
        };
        for (rw, words) in [
            ("read", "--continue_on_error=read"),
            ("read", "--continue_on_error=io"),
            ("read", "--continue_on_error=all"),
            ("read", "--ignore_error=EIO"),
            ("read", "--continue_on_error=write --ignore_error=EIO"),
            ("write", "--ignore_error=,ENOSPC"),
            ("write", "--continue_on_error=read --ignore_error=,EIO:28"),
        ] {
            let ran = run(rw, words);
            assert_eq!(ran.code, Some(0), "{engine} {words}: {ran:?}");
            let job = job(&ran, 0);
            assert_eq!(job[rw]["total_ios"], 32, "{engine} {words}: {ran:?}");
            assert_eq!(job[rw]["io_bytes"], 1 << 20, "{engine} {words}: {ran:?}");
            assert_eq!(
                job["error"],
                errno_of(rw),
                "the first that was tolerated: {engine} {words}"
            );
            assert_eq!(job["total_err"], 16, "{engine} {words}: {ran:?}");
            assert_eq!(job["first_error"], errno_of(rw), "{engine} {words}");
        }
        // An error that is not tolerated ends the job; a full device is such an error.
        for (rw, words) in [
            ("write", "--continue_on_error=write"),
            ("write", "--continue_on_error=all --ignore_error=,EIO"),
            ("read", "--continue_on_error=write"),
            ("write", "--continue_on_error=read"),
            ("write", "--ignore_error=ENOSPC"),
            ("read", "--ignore_error=EINVAL"),
            ("read", "--continue_on_error=none"),
        ] {
            let ran = run(rw, words);
            assert_eq!(ran.code, Some(1), "{words} {ran:?}");
            assert_eq!(job(&ran, 0)["error"], errno_of(rw), "{words} {ran:?}");
        }
    }
}

#[test]
fn errors_are_counted_as_by_fio() {
    let folder = Folder::new("counted");
    let Some(device) = Failing::make(&folder) else { return };
    if !has_fio() {
        return;
    }
    for options in [
        "read",
        "read --continue_on_error=read",
        "read --continue_on_error=write",
        "read --continue_on_error=verify --ignore_error=5",
        "write --continue_on_error=all",
        "write --continue_on_error=read",
        "write --continue_on_error=write --ignore_error=,EIO",
        "write --ignore_error=,ENOSPC",
        "read --continue_on_error=io --numjobs=2 --group_reporting",
    ] {
        let line = format!(
            "--name=j --filename={} --direct=1 --bs=64k --size=2m --output-format=json --output=o \
             --rw={options}",
            device.path().display()
        );
        let reported = [Who::AsFio, Who::Fio].map(|who| {
            let ran = who.run(&folder, &words(&line));
            let text = std::fs::read_to_string(folder.join("o")).unwrap();
            let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
            let job = &document["jobs"][0];
            let count = |way: &str| job[way]["total_ios"].as_u64();
            let errors = ["error", "total_err", "first_error"].map(|name| job[name].as_u64());
            (ran.code, count("read"), count("write"), errors)
        });
        assert_eq!(reported[0], reported[1], "{options}");
    }
}

#[test]
fn a_file_that_shrinks_under_a_reader_ends_it() {
    let folder = Folder::new("shrinks");
    // With a queue, a read past the end counts as one of nothing, as in fio.
    let queued = ["vsync", "libaio", "io_uring"];
    for engine in ENGINES.into_iter().filter(|engine| !queued.contains(engine)) {
        let path = PathBuf::from(folder.write("f", vec![0; 1 << 20]));
        let line = format!(
            "--name=j --filename=f --ioengine={engine} --rw=randread --bs=4k --size=1m --time_based \
             --runtime=60 --norandommap --output-format=json"
        );
        let mut program = Running::start(Who::AsFio, &folder, &line);
        program.wait_for_work("j");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(1), "{engine}: {ran:?}");
        assert!(ran.stderr.contains("end of file"), "{engine}: {ran:?}");
        assert!(ran.stderr.contains("in f:"), "{engine}: {ran:?}");
        assert_ne!(job(&ran, 0)["error"], 0, "{engine}");
    }
}

#[test]
fn a_file_that_is_removed_while_it_is_open_is_no_error() {
    let folder = Folder::new("removed");
    let path = folder.write("f", vec![0; 1 << 20]);
    // It reads until it is stopped, so that it cannot have ended before the file is removed.
    let line = "--name=j --filename=f --rw=read --bs=4k --size=1m --time_based --runtime=600 \
                --output-format=json";
    let mut program = Running::start(Who::AsFio, &folder, line);
    program.wait_for_work("j");
    std::fs::remove_file(path).unwrap();
    program.wait_for_more_work("j");
    program.signal(rustix::process::Signal::INT);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "the code of an interruption: {ran:?}");
    assert_eq!(job(&ran, 0)["error"], 0, "{ran:?}");
}

#[test]
fn a_file_that_is_not_there_and_may_not_be_made_is_an_error() {
    let folder = Folder::new("missing");
    let ran = ours(&folder, "--name=j --filename=f --rw=read --size=4k --allow_file_create=0");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("No such file or directory"), "{ran:?}");
    assert!(ran.stderr.contains("allow_file_create=0"), "{ran:?}");
    assert!(!folder.join("f").exists());
}

#[test]
fn a_file_that_may_not_be_opened_ends_its_job_and_no_other() {
    // Where every user may enter.
    let folder = Folder::temporary("denied");
    let denied = PathBuf::from(folder.write("denied", vec![0; 4096]));
    std::fs::set_permissions(&denied, std::fs::Permissions::from_mode(0o000)).unwrap();
    folder.write("granted", vec![0; 4096]);
    let line = "--output-format=json --rw=read --size=4k --name=a --filename=denied \
                --name=b --filename=granted";
    // Root may open anything; nobody may not.
    let ran = if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(crate::support::link_named_fio()).args(words(line)).current_dir(folder.path());
        let Ok(output) = command.output() else {
            skip!("setpriv is not installed");
        };
        Ran {
            who: Who::AsFio,
            arguments: line.to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    } else {
        ours(&folder, line)
    };
    if ran.stderr.contains("setpriv") || ran.code == Some(127) || ran.code == Some(126) {
        skip!("the program may not be run by nobody: {ran:?}");
    }
    if ran.stderr.contains("granted: Permission denied") {
        skip!("nobody may not enter the directories above {}", folder.path().display());
    }
    assert_eq!(ran.code, Some(1), "one job of two failed: {ran:?}");
    assert!(ran.stderr.contains("denied: Permission denied"), "{ran:?}");
    assert_eq!(job(&ran, 0)["error"], 13, "{ran:?}");
    assert_eq!(job(&ran, 1)["error"], 0, "{ran:?}");
    assert_eq!(job(&ran, 1)["read"]["io_bytes"], 4096, "{ran:?}");
}

#[test]
fn the_exit_code_is_how_many_jobs_failed_and_the_others_finish() {
    let folder = Folder::new("several");
    folder.write("good", vec![0; 64 << 10]);
    std::fs::create_dir(folder.join("d")).unwrap();
    let line = "--output-format=json --rw=read --bs=4k --size=64k --allow_file_create=0 \
                --name=a --filename=missing1 --name=b --filename=good --name=c --filename=missing2 \
                --name=d --filename=d --name=e --filename=good";
    let ran = ours(&folder, line);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let errors: Vec<i64> =
        (0..5).map(|index| job(&ran, index)["error"].as_i64().unwrap()).collect();
    assert!(errors[0] != 0 && errors[2] != 0 && errors[3] != 0, "{errors:?}");
    assert_eq!((errors[1], errors[4]), (0, 0), "{errors:?}");
    for index in [1, 4] {
        assert_eq!(job(&ran, index)["read"]["io_bytes"], 64 << 10, "{ran:?}");
    }
}

#[test]
fn too_many_open_files_is_said_with_its_remedy() {
    let folder = Folder::new("limits");
    let program = crate::support::link_named_fio();
    let line = format!(
        "ulimit -n 64 && exec {} --name=j --nrfiles=200 --rw=read --bs=4k --size=800k \
         --output-format=json",
        program.display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("open files"), "{said}");
    assert!(said.contains("openfiles="), "how to go on is said: {said}");
    // With the remedy it runs.
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("{line} --openfiles=16")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn an_engine_that_cannot_run_says_why_and_what_else_there_is() {
    let folder = Folder::new("engines");
    let ran = ours(&folder, "--name=j --filename=f --ioengine=nonesuch --rw=read --size=4k");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("nonesuch"), "{ran:?}");
    assert!(!folder.join("f").exists(), "nothing was laid out");

    folder.write("g", vec![0; 4096]);
    let ran = ours(&folder, "--name=j --filename=g --rw=randtrim --bs=4k --size=4k");
    assert_eq!(ran.code, Some(1), "a trim needs a device: {ran:?}");
}
