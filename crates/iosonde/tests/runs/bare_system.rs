//! A system that lacks what most have: /proc, /sys, HOME, a place for temporary files.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, or_skip, run};
use std::process::Command;

const JOB: &str = "--name=j --filename=f --bs=4k --size=64k";

/// Run in a mount namespace in which these are not mounted; `None` where there are none.
fn without(mounts: &str, folder: &Folder, line: &str) -> Option<Ran> {
    let program = Who::Native.command(folder);
    // Both at once: without /proc umount(8) finds no mounts below another.
    let script = format!(
        "umount --recursive --lazy {mounts} && cd {} && exec {} {line}",
        folder.path().display(),
        program.get_program().display()
    );
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("unshare:") || stderr.contains("umount:") {
        return or_skip(Err(format!("no mount namespace: {stderr}")));
    }
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let (who, arguments) = (Who::Native, line.to_owned());
    Some(Ran { who, arguments, code: output.status.code(), stdout, stderr })
}

#[test]
fn jobs_and_commands_run_without_proc_and_sys() {
    for mounts in ["/proc", "/sys", "/sys /proc"] {
        let folder = Folder::new("bare-system");
        folder.write("f", vec![1; 64 << 10]);
        folder.write("report", "the last one");
        folder.write("big", vec![1; 17 << 20]);
        let lines = [
            format!("{JOB} --rw=read --output=report --write_lat_log=log"),
            format!("{JOB} --rw=randwrite --verify=crc32c --ioengine=libaio --iodepth=8"),
            format!("{JOB} --rw=randread --ioengine=io_uring --numjobs=3 --html=page.html"),
            "probe .".to_owned(),
            "quick big --seconds=1".to_owned(),
        ];
        for line in lines {
            let Some(ran) = without(mounts, &folder, &line) else { return };
            let is_missing_engine = ran.stderr.contains("cannot run here");
            assert!(ran.code == Some(0) || is_missing_engine, "without {mounts}: {ran:?}");
            assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        }
        assert!(folder.read("report").contains("iosonde"), "{mounts}");
    }
}

/// Direct I/O is tried on a file that is opened again through /proc.
#[test]
fn without_proc_a_selftest_accuses_nobody() {
    let folder = Folder::new("bare-selftest");
    let Some(ran) = without("/proc", &folder, "selftest --json .") else { return };
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    assert!(checks.iter().all(|check| check["holds"] != "no"), "{ran:?}");
}

#[test]
fn without_sys_the_image_of_a_mounted_loop_device_is_not_written_to() {
    let folder = Folder::new("bare-image");
    let image = folder.join("f");
    folder.write("f", vec![0; 16 << 20]);
    let made = run("mkfs.ext4", &["-q", image.to_str().unwrap()]);
    let device = made.and_then(|_| LoopDevice::attach(&image, &[]));
    let Some(device) = or_skip(device) else { return };
    let on = folder.join("on");
    std::fs::create_dir(&on).unwrap();
    let mounted = run("mount", &[device.text(), on.to_str().unwrap()]).map(|_| Mounted::at(on));
    let Some(_mounted) = or_skip(mounted) else { return };
    for mounts in ["/sys", "/proc", "/sys /proc"] {
        let Some(ran) = without(mounts, &folder, &format!("{JOB} --rw=write")) else { return };
        assert_eq!(ran.code, Some(1), "without {mounts}: {ran:?}");
        let why = ["is mounted on", "is held by another program"];
        assert!(why.iter().any(|why| ran.stderr.contains(why)), "without {mounts}: {ran:?}");
    }
}

#[test]
fn no_home_and_no_place_for_temporary_files_are_needed() {
    let folder = Folder::new("bare-home");
    folder.write("f", vec![1; 64 << 10]);
    let lines = [
        format!("{JOB} --rw=read --write_bw_log=log --html=page.html"),
        "matrix . --modes=buffered --bs=4k --size=64k --time-per-cell=20ms".to_owned(),
        "meta . --files=20".to_owned(),
        format!("sweep --force --over iodepth=1,2 --repeats=3 {JOB} --rw=read"),
        "completions bash".to_owned(),
    ];
    for (home, line) in lines.iter().flat_map(|line| [(None, line), (Some("/none"), line)]) {
        let mut command = Who::Native.command(&folder);
        command.args(words(line)).env_clear();
        for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
            home.map(|home| command.env(name, home));
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{home:?} {line}: {said}");
        let _ = std::fs::remove_file(folder.join("page.html"));
    }
}
