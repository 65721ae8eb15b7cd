//! `iosonde write-cache` on real loop devices, which take either view.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, copy_of_program, words};
use iosonde_testing::{Folder, LoopDevice, filesystem, is_root, or_skip, skip};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device with a write cache, as all have with a file that can be synced.
/// A later file of the same device finds the view that an earlier one left, so
/// it is put back.
struct Cached {
    device: LoopDevice,
    _folder: Folder,
}

impl Cached {
    fn new() -> Option<Cached> {
        if !is_root("attach a loop device") {
            return None;
        }
        let folder = Folder::temporary("device");
        let device = or_skip(LoopDevice::attach(&folder.image("image", 16 << 20), &[]))?;
        let cached = Cached { device, _folder: folder };
        cached.set("write back");
        or_skip(match cached.view().as_str() {
            "write back" => Ok(()),
            view => Err(format!("this kernel's loop devices stay {view}")),
        })?;
        Some(cached)
    }

    fn attribute(&self) -> PathBuf {
        attribute(self.device.name())
    }

    fn view(&self) -> String {
        std::fs::read_to_string(self.attribute()).unwrap().trim().to_owned()
    }

    fn set(&self, view: &str) {
        std::fs::write(self.attribute(), view).unwrap();
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        self.set("write back");
    }
}

fn attribute(disk: &str) -> PathBuf {
    Path::new("/sys/class/block").join(disk).join("queue/write_cache")
}

fn write_cache(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("write-cache {line}")))
}

fn write_cache_json(folder: &Folder, line: &str) -> Value {
    write_cache(folder, &format!("{line} --json")).well().json()
}

/// Run a comparison of a job on the device itself.
fn compare(cached: &Cached, folder: &Folder, line: &str) -> Ran {
    let device = cached.device.text();
    write_cache(folder, &format!("{device} --compare --name=j --filename={device} --bs=4k {line}"))
}

#[test]
fn every_disk_of_the_stack_is_shown_with_the_effect_of_its_view() {
    let Some(cached) = Cached::new() else { return };
    let here = Folder::new("write-cache");
    let found = write_cache_json(&here, cached.device.text());
    let top = &found["devices"][0];
    assert_eq!(top["name"], cached.device.name());
    assert_eq!((&top["kind"], &top["write_cache"]), (&"loop".into(), &"write back".into()));
    assert!(top["effect"].as_str().unwrap().contains("fsync sends a flush"), "{top}");
    assert!(top["device"]["unknown"].is_string(), "a file has no write cache: {top}");
    cached.set("write through");
    let text = write_cache(&here, cached.device.text()).well().stdout;
    assert!(text.contains("write through (queue/write_cache)"), "{text}");
    assert!(text.contains("NO flushes are sent"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn a_file_is_described_by_the_devices_below_it() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::temporary("device");
    let here = Folder::new("write-cache");
    let Some((device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let found = write_cache_json(&here, mounted.0.to_str().unwrap());
    assert_eq!(found["devices"][0]["name"], device.name());
    let line = format!("{} back", mounted.0.display());
    let ran = write_cache(&here, &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains(&format!("it is on /dev/{}", device.name())), "{ran:?}");
}

#[test]
fn the_view_changes_only_with_set_and_is_read_back() {
    let Some(cached) = Cached::new() else { return };
    let here = Folder::new("write-cache");
    let device = cached.device.text();
    let ran = write_cache(&here, &format!("{device} through")).well();
    assert!(ran.stdout.contains("would be write through; nothing was changed"), "{ran:?}");
    assert!(ran.stdout.contains("--set"), "{ran:?}");
    assert_eq!(cached.view(), "write back");
    let ran = write_cache(&here, &format!("{device} through --set")).well();
    assert!(ran.stdout.contains("is now write through, was write back"), "{ran:?}");
    assert!(ran.stdout.contains("NO flushes") && ran.stdout.contains("setting only"), "{ran:?}");
    assert_eq!(cached.view(), "write through");
    let found = write_cache_json(&here, &format!("{device} back --set"));
    assert_eq!(found["now"], "write back");
    assert_eq!(found["flushed"], true, "what was synced meanwhile is made durable: {found}");
    assert_eq!(cached.view(), "write back");
}

#[test]
fn a_device_without_a_cache_does_not_become_write_back() {
    if !is_root("attach a loop device") {
        return;
    }
    let folder = Folder::temporary("device");
    let here = Folder::new("write-cache");
    // A file that nobody may write to needs no sync.
    let image = folder.image("image", 16 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--read-only"])) else { return };
    if std::fs::read_to_string(attribute(device.name())).unwrap().trim() != "write through" {
        skip!("this kernel's read-only loop devices have a write cache");
    }
    let ran = write_cache(&here, &format!("{} back --set", device.text()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no volatile cache"), "{ran:?}");
    let job = "--name=j --ioengine=null --rw=write --size=4k";
    let ran = write_cache(&here, &format!("{} --compare {job}", device.text()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn a_partition_stands_for_its_disk() {
    if !is_root("attach a loop device") {
        return;
    }
    let folder = Folder::temporary("device");
    let here = Folder::new("write-cache");
    let image = folder.image("image", 16 << 20);
    // A table of one partition of Linux: 2048 sectors from sector 2048.
    let mut table = vec![0; 512];
    table[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0]);
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new().write(true).open(&image).unwrap();
        file.write_all_at(&table, 0).unwrap();
    }
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--partscan"])) else { return };
    let part = format!("{}p1", device.text());
    if !Path::new(&part).exists() {
        skip!("this kernel reads no partition tables of DOS");
    }
    let text = write_cache(&here, &part).well().stdout;
    assert!(text.contains(&format!("(a partition of {})", device.name())), "{text}");
    let text = write_cache(&here, &format!("{part} through")).well().stdout;
    assert!(text.contains(&format!("is part of {}: the setting", device.name())), "{text}");
}

#[test]
fn what_cannot_be_changed_is_refused_with_the_reason() {
    let here = Folder::new("write-cache");
    for (line, why) in [
        ("/dev/null back", "no block device"),
        ("/no/such/device", "No such file"),
        ("/dev/null sideways", "unknown value \"sideways\": use back, through"),
        ("", "the required argument <PATH|DEVICE> is missing"),
    ] {
        let ran = write_cache(&here, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert!(ran.stderr.starts_with("iosonde: write-cache: "), "{ran:?}");
    }
}

#[test]
fn only_root_may() {
    let Some(cached) = Cached::new() else { return };
    let nobody = |what: &[&str]| {
        let copy = copy_of_program(&cached._folder);
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(copy)
            .args(["write-cache", cached.device.text()])
            .args(what)
            .output()
    };
    let Ok(shown) = nobody(&[]) else { skip!("setpriv is not installed") };
    assert!(shown.status.success(), "anybody may look: {shown:?}");
    for what in [&["through", "--set"][..], &["--compare", "--name=j", "--rw=write", "--size=4k"]] {
        let refused = nobody(what).unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("only root may"), "{said}");
    }
    assert_eq!(cached.view(), "write back");
}

#[test]
fn a_job_without_syncs_is_compared_in_three_ways_and_the_view_put_back() {
    let Some(cached) = Cached::new() else { return };
    let here = Folder::new("write-cache");
    let ran = compare(&cached, &here, "--rw=write --size=40k --rounds=2 --json").well();
    let found = ran.json();
    assert_eq!(cached.view(), "write back");
    assert!(ran.stderr.contains("is write back and will be restored"), "{ran:?}");
    let hand = format!("echo 'write back' > {}", cached.attribute().display());
    assert!(ran.stderr.contains(&hand), "{ran:?}");
    assert_eq!((&found["restored"], &found["rounds"]), (&true.into(), &2.into()));
    let rows = found["workloads"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["workload"].as_str().unwrap()).collect();
    assert_eq!(names, ["no syncs", "fsync=1", "fdatasync=1000"]);
    let flushes = |row: &Value, view: &str| -> u64 {
        let counts = row[view]["flushes_per_round"].as_array().unwrap();
        assert_eq!(counts.len(), 2);
        counts.iter().map(|count| count.as_u64().unwrap()).sum()
    };
    for row in rows {
        let [back, through] = ["back", "through"].map(|view| &row[view]["jobs"][0]);
        assert_eq!(back["writes"]["ios"], 20, "{row}");
        assert_eq!(through["writes"]["ios"], 20, "{row}");
        assert!(through["writes"]["latency_ns_p99"].as_u64().unwrap() > 0, "{row}");
        assert_eq!(flushes(row, "through"), 0, "none is ever sent: {row}");
    }
    // Each fsync of a device is a flush; the last write is synced in any case.
    let syncs = rows[1]["back"]["jobs"][0]["syncs"]["ios"].as_u64().unwrap();
    assert_eq!(syncs, 20);
    assert!(flushes(&rows[1], "back") >= syncs, "{found}");
    assert_eq!(rows[0]["back"]["jobs"][0]["syncs"]["ios"], 0);
    assert!(rows[0]["back"]["jobs"][0]["syncs"]["latency_ns_p50"]["unknown"].is_string());
}

#[test]
fn a_job_that_says_how_it_syncs_is_run_as_it_is() {
    let Some(cached) = Cached::new() else { return };
    cached.set("write through");
    let here = Folder::new("write-cache");
    let device = cached.device.text();
    let job = format!(
        "[global]\nfilename={device}\nbs=4k\nsize=8k\nrw=write\nfsync=1\n[one]\n[two]\nstonewall\n"
    );
    here.write("two.fio", job);
    let ran = write_cache(&here, &format!("{device} --compare=two.fio")).well();
    for part in ["as it is", "  one\n", "  two\n", "write through again", "--rounds=3"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
    assert!(!ran.stdout.contains("fdatasync"), "{ran:?}");
    assert_eq!(cached.view(), "write through", "as it was found");
    assert!(ran.stdout.lines().all(|line| line.len() <= 80), "{ran:?}");
}

#[test]
fn a_job_elsewhere_or_that_does_not_write_changes_nothing() {
    let Some(cached) = Cached::new() else { return };
    let here = Folder::new("write-cache");
    let device = cached.device.text();
    let elsewhere = here.join("file").display().to_string();
    for (job, why) in [
        (format!("--name=j --filename={elsewhere} --rw=write --size=4k"), "and not on"),
        (format!("--name=j --filename={device} --rw=read --size=4k"), "no job writes"),
        ("--name=j --ioengine=null --rw=write --size=4k".into(), "does not write to storage"),
        (format!("--name=j --filename={device} --rw=wirte"), "wirte"),
        ("/no/such/job.fio".into(), "job.fio"),
        (format!("--output=x --name=j --filename={device} --rw=write"), "--output has no effect"),
    ] {
        let ran = write_cache(&here, &format!("{device} --compare {job}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{why}: {ran:?}");
        assert!(!ran.stderr.contains("will be restored"), "it had not begun: {ran:?}");
        assert_eq!(cached.view(), "write back");
    }
    assert!(!here.join("file").exists());
}

#[test]
fn a_device_that_is_mounted_is_not_written_to() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::temporary("device");
    let here = Folder::new("write-cache");
    let Some((device, _mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let before = std::fs::read_to_string(attribute(device.name())).unwrap();
    let device_text = device.text();
    let job = format!("--name=j --filename={device_text} --rw=write --size=4k");
    let ran = write_cache(&here, &format!("{device_text} --compare {job}"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("mounted"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(attribute(device.name())).unwrap(), before);
}

#[test]
fn a_job_that_fails_leaves_the_view_as_it_was() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::temporary("device");
    let here = Folder::new("write-cache");
    let Some((device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let attribute = attribute(device.name());
    std::fs::write(&attribute, "write through").unwrap();
    let file = mounted.0.join("file").display().to_string();
    let job = format!("--name=j --filename={file} --rw=write --bs=64k --size=64m --fallocate=none");
    let ran = write_cache(&here, &format!("{} --compare {job}", device.text()));
    let view = std::fs::read_to_string(&attribute).unwrap();
    // The next file of this loop device would find it.
    std::fs::write(&attribute, "write back").unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("No space left"), "{ran:?}");
    assert_eq!(view.trim(), "write through", "{ran:?}");
}

#[test]
fn a_signal_ends_the_runs_and_the_view_is_put_back() {
    let Some(cached) = Cached::new() else { return };
    cached.set("write through");
    let here = Folder::new("write-cache");
    let device = cached.device.text();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let line = format!(
            "write-cache {device} --compare --name=j --filename={device} --rw=write --bs=4k \
             --size=4m --runtime=60 --time_based --fsync=1"
        );
        let mut program = Running::start(Who::Native, &here, &line);
        // The first run is under write back: the view has been changed.
        wait_until("the first run begins", || cached.view() == "write back");
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{signal:?}: {ran:?}");
        assert_eq!(cached.view(), "write through", "{signal:?}: {ran:?}");
    }
}

#[test]
fn two_at_once_do_not_take_each_others_view_for_the_original() {
    let Some(cached) = Cached::new() else { return };
    cached.set("write through");
    let here = Folder::new("write-cache");
    let device = cached.device.text();
    let job = "--rw=write --bs=4k --size=4m --runtime=60 --time_based --fsync=1";
    let line = format!("write-cache {device} --compare --name=j --filename={device} {job}");
    let mut first = Running::start(Who::Native, &here, &line);
    wait_until("the first run begins", || cached.view() == "write back");
    let second = compare(&cached, &here, "--rw=write --size=4k");
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another iosonde write-cache"), "{second:?}");
    first.signal(Signal::INT);
    first.end_within(PATIENCE);
    assert_eq!(cached.view(), "write through");
}
